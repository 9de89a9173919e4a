"""TextResponsesModel: raw texts and several responses in; shared themes, and what they are worth for each, out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, Self

import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from textsignal.data.write import whole_folder
from textsignal.errors import InputError
from textsignal.estimators import Predictions
from textsignal.families import Family
from textsignal.families.auto import AUTO
from textsignal.insight.drivers import DRIVER_TERMS, compared, response_columns
from textsignal.insight.inputs import index_of, name_of, observe_given, texts_and_covariates
from textsignal.insight.revise import Revision, Theme, dropped, merged
from textsignal.model import TextResponseModel
from textsignal.reading import options as parts
from textsignal.reading.observed import Observed, Reading, Tokens
from textsignal.reading.themes import ThemeReader, predict_all, read_all, readers_with_themes
from textsignal.report.values.comparisons import responses_beside
from textsignal.report.values.data import ReportSettings
from textsignal.storage import write_names

#: Options that differ between responses.
OF_EACH = ("family", "levels")


class TextResponsesModel(BaseEstimator):
    """Themes that explain texts and several responses.

    Themes are shared; each response has its own tone, its own family and its own GLM on themes:

        linear predictor = constant + sum over themes of ( gamma * tone about it + beta * share of the text )

    Parameters
    ----------
    n_themes : number of themes; None takes 10, "auto" as in `TextResponseModel`.
    family : as in `TextResponseModel`, for all responses; or a mapping from names of responses, "auto" for others.
    levels : the scale of all responses, such as (1, 5); or a mapping from names, None to learn it from the responses.
    training : "themes" or None; other trainings fit themes to one response, so that themes cannot be shared.
    language, seed_words, max_terms, stop_words, formula, missing, random_state, n_jobs, device : as in
        `TextResponseModel`.

    Attributes
    ----------
    models_ : a fitted TextResponseModel for each response, by its name; `model["stars"]` gives one.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(400, seed=1)
    >>> responses = pd.DataFrame({"stars": reviews.ratings, "happy": reviews.ratings > 3})
    >>> model = TextResponsesModel(n_themes=8).fit(reviews.texts, responses)
    >>> list(model.predict(["The staff were friendly.", "The bathroom was dirty."]))
    ['stars', 'happy']
    >>> model["happy"].family_.name
    'bernoulli'
    """

    def __init__(
        self,
        n_themes: int | str | None = None,
        *,
        family: str | Family | Mapping[str, str | Family] = AUTO,
        levels: ArrayLike | Mapping[str, ArrayLike] | None = None,
        training: str | None = None,
        language: str | None = "english",
        seed_words: Mapping[str, Sequence[str]] | None = None,
        max_terms: int | None = None,
        stop_words: str | Iterable[str] | None = parts.OWN,
        formula: str | None = None,
        missing: str = "error",
        random_state: Any = 0,
        n_jobs: int | None = -1,
        device: str = "cpu",
    ) -> None:
        self.n_themes = n_themes
        self.family = family
        self.levels = levels
        self.training = training
        self.language = language
        self.seed_words = seed_words
        self.max_terms = max_terms
        self.stop_words = stop_words
        self.formula = formula
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    @classmethod
    def of(cls, models: Mapping[str, TextResponseModel]) -> Self:
        """Return a model of several responses, by their names, from models of the same themes."""
        first = next(iter(models.values()))
        shared = _themes(first)
        for name, model in models.items():
            if not _themes(model).shares_themes(shared) or model.labels_ != first.labels_:
                raise ValueError(f"the themes of {name!r} are not those of the other responses")
        options: dict[str, Any] = {name: getattr(first, name) for name in cls._get_param_names()}
        options |= {option: {name: getattr(model, option) for name, model in models.items()} for option in OF_EACH}
        made = cls(**options)
        made.models_ = dict(models)
        return made

    def fit(
        self,
        texts: Iterable[str] | Tokens | pd.DataFrame,
        responses: pd.DataFrame,
        sample_weight: ArrayLike | None = None,
        *,
        covariates: pd.DataFrame | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit shared themes, and for each response tone and the effects of themes.

        Parameters
        ----------
        texts, sample_weight, covariates, groups : as in `TextResponseModel.fit`.
        responses : a column for each response, a row for each document; NaN if missing.
        """
        columns = response_columns(responses)
        models = self.unfitted(columns)
        first = next(iter(models.values()))
        texts, covariates = texts_and_covariates(texts, covariates)
        tokens = parts.tokenise(first, texts)
        observed, to_explain, design = {}, [], None
        for name, model in models.items():
            try:
                observed[name], design = observe_given(
                    parts.observe_response(model, tokens, columns[name], sample_weight),
                    covariates=covariates,
                    offset=None,
                    groups=groups,
                    formula=self.formula,
                    missing=self.missing,
                )
                to_explain.append(parts.response_of(model, observed[name]))
            except InputError as error:
                raise InputError(f"response {name!r}: {error}") from error
        one = next(iter(observed.values()))
        readers = parts.fit_themes(first, to_explain, one.tokens, one.weight)
        for (name, model), reader in zip(models.items(), readers, strict=True):
            model._take(reader, observed[name], design, name)
        self.models_ = models
        return self

    def tokenise(self, texts: Iterable[str] | Tokens) -> Tokens:
        """Return tokenised texts, which `fit` and `predict` accept."""
        return parts.tokenise(TextResponseModel(language=self.language), texts)

    def __getitem__(self, name: str) -> TextResponseModel:
        """Return the model of one response."""
        check_is_fitted(self)
        if name not in self.models_:
            raise InputError(f"response={name!r} is not one of {', '.join(map(repr, self.models_))}")
        return self.models_[name]

    def predictions(
        self, texts: Iterable[str] | Tokens | pd.DataFrame, *, covariates: pd.DataFrame | None = None
    ) -> dict[str, Predictions]:
        """Return the predictions of each response's model by name; texts are read once."""
        check_is_fitted(self)
        texts, covariates = texts_and_covariates(texts, covariates)
        tokens = self.tokenise(texts)
        found = predict_all(self._readers, tokens, self._first._given(len(tokens), covariates, None))
        return dict(zip(self.models_, found, strict=True))

    def read(
        self, texts: Iterable[str] | Tokens | pd.DataFrame, *, covariates: pd.DataFrame | None = None
    ) -> dict[str, Reading]:
        """Return the reading of texts by each response's model, by name; texts are read once."""
        check_is_fitted(self)
        texts, covariates = texts_and_covariates(texts, covariates)
        tokens = self.tokenise(texts)
        given = self._first._given(len(tokens), covariates, None)
        readings = read_all(self._readers, tokens, given)
        return dict(zip(self.models_, readings, strict=True))

    def predict(
        self, texts: Iterable[str] | Tokens | pd.DataFrame, *, covariates: pd.DataFrame | None = None
    ) -> pd.DataFrame:
        """Return expected responses: a row for each text, a column for each response."""
        of_each = self.predictions(texts, covariates=covariates)
        return pd.DataFrame({name: predictions.mean for name, predictions in of_each.items()}, index=index_of(texts))

    def themes(self, n_terms: int = 10) -> pd.DataFrame:
        """Return `TextResponseModel.themes` of each response, with its name in the column `response`."""
        check_is_fitted(self)
        return stacked({name: model.themes(n_terms) for name, model in self.models_.items()})

    def drivers(
        self,
        by: ArrayLike | pd.Series | None = None,
        *,
        texts: Iterable[str] | Tokens | None = None,
        responses: pd.DataFrame | None = None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        n_terms: int = DRIVER_TERMS,
    ) -> pd.DataFrame:
        """Return `TextResponseModel.drivers` of each response, with its name in the column `response`."""
        check_is_fitted(self)
        tokens = None if texts is None else self.tokenise(texts)
        columns = {} if responses is None else response_columns(responses)
        tables = {
            name: model.drivers(
                by,
                texts=tokens,
                responses=columns.get(name),
                sample_weight=sample_weight,
                covariates=covariates,
                n_terms=n_terms,
            )
            for name, model in self.models_.items()
        }
        return stacked(tables)

    def compare(self) -> pd.DataFrame:
        """Return the effects of themes on responses: a row for each theme, a column for each measure and response.

        Measures are cost and gain as in `drivers`, in points of each response, and both in its standard
        deviations (cost_sd, gain_sd), so that responses on different scales can be compared. Themes are sorted by
        their largest cost in standard deviations. These are what-ifs on the fitted model, not causal claims.

        Examples
        --------
        >>> from textsignal.datasets import synthetic_reviews
        >>> reviews = synthetic_reviews(400, seed=1)
        >>> responses = pd.DataFrame({"stars": reviews.ratings, "happy": reviews.ratings > 3})
        >>> table = TextResponsesModel(n_themes=8).fit(reviews.texts, responses).compare()
        >>> table["cost"].shape, list(table["gain_sd"])
        ((8, 2), ['stars', 'happy'])
        """
        check_is_fitted(self)
        spoken = {name: _themes(model).trained.judged(model.naming_.better) for name, model in self.models_.items()}
        return compared(spoken, self._first._theme_names())

    def report(
        self,
        folder: str | Path,
        *,
        texts: Iterable[str] | Tokens | None = None,
        responses: pd.DataFrame | None = None,
        covariates: pd.DataFrame | None = None,
        held_out: ArrayLike | None = None,
        by: ArrayLike | pd.Series | None = None,
        over: ArrayLike | pd.Series | None = None,
        with_texts: bool = True,
        mask: bool = True,
        n_documents: int = 1000,
        force: bool = False,
    ) -> None:
        """Write a page on each response into `folder`: report-stars.html for "stars", each with links to the others.

        Parameters
        ----------
        texts, responses, covariates : the documents, with a column for each response; by default those of training.
        held_out, by, over, with_texts, mask, n_documents, force : as in `TextResponseModel.report`.
        """
        from textsignal.report.page.render import write_report  # charts are slow to import

        first, models = self._first, self.models_
        columns = dict.fromkeys(models) if responses is None else response_columns(responses)
        if absent := [name for name in models if name not in columns]:
            raise InputError(f"responses lack the column {absent[0]!r}")
        tokens = None if texts is None else self.tokenise(texts)
        observed = {name: models[name]._observed(tokens, columns[name], None, covariates) for name in models}
        one = observed[next(iter(models))]
        readings = dict(zip(models, read_all(self._readers, one.tokens, one.given), strict=True))
        answers = {name: found.responses for name, found in observed.items()}
        spoken = {name: _themes(models[name]).spoken(readings[name], answers[name], None) for name in models}
        table = compared(spoken, first._theme_names())
        beside = responses_beside(table, {name: model.naming_ for name, model in models.items()})
        with whole_folder(Path(folder), force=force) as place:
            for name, model in models.items():
                settings = ReportSettings(
                    response_name=model.naming_.response,
                    unit=model.naming_.unit,
                    with_texts=with_texts,
                    mask=mask,
                    n_documents=n_documents,
                    group_name=name_of(by, "group"),
                    time_name=name_of(over, "date"),
                    command=f"model = {self!r}\nmodel.fit(texts, responses)\nmodel.report({Path(folder).name!r})",
                    responses=beside[name],
                )
                file = place / beside[name].pages[name]
                write_report(model, file, readings[name], answers[name], held_out, settings, groups=by, times=over)

    def rename(self, theme: Theme | Mapping[Theme, str | None], label: str | None = None) -> Self:
        """Return a new model in which themes have user-defined labels, for all responses."""
        check_is_fitted(self)
        return self._with({name: model.rename(theme, label) for name, model in self.models_.items()})

    def merge(self, themes: Iterable[Theme], label: str | None = None) -> Self:
        """Return a new model with one theme in place of several, for all responses, as `TextResponseModel.merge`."""
        first = self._first
        profiles, weights = first.reader_.mergeable
        names = first._theme_names()
        return self._revised(merged(themes, label, themes=profiles, weights=weights, own=first.labels_, names=names))

    def drop(self, themes: Iterable[Theme]) -> Self:
        """Return a new model without some themes, for all responses, as `TextResponseModel.drop`."""
        first = self._first
        profiles, weights = first.reader_.mergeable
        return self._revised(
            dropped(themes, themes=profiles, weights=weights, own=first.labels_, names=first._theme_names())
        )

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the model to a new folder `path`, atomically; `force` replaces an existing model."""
        check_is_fitted(self)
        with whole_folder(Path(path), force=force) as folder:
            for name, inner in write_names(list(self.models_), folder).items():
                self.models_[name].save(inner)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "models_")

    @property
    def _first(self) -> TextResponseModel:
        check_is_fitted(self)
        return next(iter(self.models_.values()))

    @property
    def _readers(self) -> list[ThemeReader]:
        check_is_fitted(self)
        return [_themes(model) for model in self.models_.values()]

    def unfitted(self, columns: Iterable[str]) -> dict[str, TextResponseModel]:
        """Return an unfitted model for each response."""
        names = list(columns)
        own = {option: _of_each(option, getattr(self, option), names) for option in OF_EACH}
        if self.training not in (None, "themes"):
            raise InputError(
                f"training={self.training!r} moves themes by one response, so that several cannot share them; "
                'give training="themes", or fit a TextResponseModel for each response'
            )
        options = {name: value for name, value in self.get_params(deep=False).items() if name not in OF_EACH}
        models = {name: TextResponseModel(family=own["family"][name], levels=own["levels"][name]) for name in names}
        for model in models.values():
            parts.check(model.set_params(**options))
        return models

    def _revised(self, revision: Revision) -> Self:
        observed: list[Observed] = [model.training_observed() for model in self.models_.values()]
        readers = readers_with_themes(self._readers, revision.themes, revision.weights, observed)
        found = zip(self.models_.items(), readers, observed, strict=True)
        return self._with({name: model._with_reader(reader, revision, one) for (name, model), reader, one in found})

    def _with(self, models: dict[str, TextResponseModel]) -> Self:
        model = copy(self)
        model.models_ = models
        model.n_themes = model._first.n_themes
        return model


def _themes(model: TextResponseModel) -> ThemeReader:
    assert isinstance(model.reader_, ThemeReader)
    return model.reader_


def _of_each(option: str, given: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return an option by response, from one for all or a mapping."""
    if not isinstance(given, Mapping):
        return dict.fromkeys(names, given)
    unknown = [name for name in given if name not in names]
    if unknown:
        raise InputError(
            f"{option} names {unknown[0]!r}, which is not a response; there are {', '.join(map(repr, names))}"
        )
    otherwise = AUTO if option == "family" else None
    return {name: given.get(name, otherwise) for name in names}


def stacked(tables: Mapping[str, pd.DataFrame], noun: str = "response") -> pd.DataFrame:
    """Concatenate tables of several responses, or classes, with a column `noun` that names them."""
    parts_ = [pd.DataFrame(table).assign(**{noun: name}) for name, table in tables.items()]
    together = pd.concat(parts_, ignore_index=True)
    return together[[noun, *[name for name in together.columns if name != noun]]]
