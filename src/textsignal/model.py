"""TextResponseModel: texts and responses in; themes, their costs and gains, and predictions out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from textsignal import storage, streaming
from textsignal.arrays import Array, Vector
from textsignal.checks import check_choice, check_number
from textsignal.compute.engines import Engine
from textsignal.compute.engines.local import local_compute
from textsignal.data.covariates.design import Design, Given, as_offset, as_table
from textsignal.data.write import whole_folder
from textsignal.errors import InputError
from textsignal.estimators import Predicting, Predictions
from textsignal.families import Family
from textsignal.families.auto import AUTO
from textsignal.insight.drivers import (
    DRIVER_TERMS,
    compared,
    grouped_drivers,
    names_of,
    response_columns,
    stacked,
    theme_table,
    with_words,
)
from textsignal.insight.examples import clause_table, find_clauses, find_texts
from textsignal.insight.explanation import Explanation, explain, slope_of
from textsignal.insight.findings import Drivers
from textsignal.insight.inputs import as_groups, as_times, index_of, name_of, observe_given, texts_and_covariates
from textsignal.insight.naming import PERCENTAGE_POINTS, Naming, check_interval
from textsignal.insight.revise import Revision, Theme, dropped, merged, renamed, theme_number
from textsignal.reading import options as parts
from textsignal.reading.observed import Observed, as_weight, observe
from textsignal.reading.several import ONE_CLASS, ClassReader, Reader, ResponseReader, by_class, of_one
from textsignal.reading.themes import Reading, ThemeReader, predict_all, read_all, refitted
from textsignal.reading.words import UNPLACED, unique_labels
from textsignal.report.values.data import ReportSettings
from textsignal.report.values.wording import without_place
from textsignal.text.tokens import SentenceTexts
from textsignal.training.theme_model import learn_more
from textsignal.uncertainty.checks import Check, Checked, check_all
from textsignal.uncertainty.effects import LEVEL, REFITS, EffectTable, Progress, estimate_effects, with_intervals
from textsignal.uncertainty.stability import stability

#: Message if a loaded model needs its training texts.
NOT_STORED = (
    "this model was loaded, and a stored model does not hold the texts it was trained on; "
    "give them: texts=..., responses=..."
)
Texts = Iterable[str] | SentenceTexts


class TextResponseModel(Predicting, TransformerMixin, BaseEstimator):
    """Themes of texts, and what they have to do with a response.

    Every clause of a text is about one theme, is an overall verdict on the whole, or is unplaced, if it names no theme
    clearly. Tone is what a clause does to the response, and a GLM combines both::

        linear predictor = constant + sum over themes of ( gamma * tone about it + beta * share of the text )

    Words add up to clauses, clauses to themes, themes and constant to the linear predictor. The overall verdict is the
    last row and column wherever themes have one.

    Parameters
    ----------
    n_themes : number of themes; None takes 10. "auto" takes the most themes, from 5 to 30, that are reproduced from
        either half of the texts; `reader_.described` gives the reason. See `search`.
    family : the response's: "auto", a name of `families.FAMILIES` such as "ordinal", or a family such as
        `Binomial(4, 1)`. "auto" looks at the response (two values, steps of a scale, counts, any numbers) and takes
        the family that predicts held-back responses best. With "bernoulli", "ordinal" and "categorical" it is a
        classifier that predicts labels, else a regressor; "auto" takes text, truth values and 0 or 1 for classes,
        predicts labels too, and is a classifier once it is fitted to them. An ordered pandas Categorical, or Arrow
        dictionary, is a scale of all its categories in their order, whether they occur or not ("ordinal"; "bernoulli"
        of two), so that every part of the data has the same levels. For several responses also a mapping by name.
    language : of the texts, by name or code: its stop words and negations are used; None to use none.
    seed_words : label -> words that a theme starts from.
    levels : the response's scale, such as (1, 5) or (1, 5, 0.5); None learns it from the responses seen. Ordered text,
        such as ["low", "mid", "high"], has no order otherwise, unless it is an ordered Categorical. For
        several responses also a mapping by name.
    max_terms : largest number of content terms; None takes 3,000.
    stop_words : words that are not content terms: "auto" for the language's, or as in `TextVectorizer`.
    lexicon : what words are worth in general, which tone starts from: "auto" for that of the language (English has
        one), None for none, or a mapping from words to values, such as {"mouldy": -2.1}. How much it counts is learnt
        from the responses: not at all if it does not help.
    neutral : half the width of the zone of neutral mentions, in log-odds of praise against complaint; None takes about
        two thirds of the typical judgement of a clause.
    formula : how covariates are coded, such as "log(price) * C(country) + bs(age, 4)"; None for all their columns.
    missing : "error", or "drop" to fit without texts of which a covariate is missing.
    random_state, n_jobs : seed; threads, -1 for all cores. Results are the same bits for any number.
    device : "cpu", or "cuda" to learn themes and tone on a graphics card (`textsignal[gpu]`), in single precision.

    Attributes
    ----------
    reader_ : all that was learnt.
    components_ : (themes, terms) shares of terms in each theme; `terms_` their names.
    coherence_ : (themes,) mean NPMI of each theme's ten most probable terms in the training texts.
    labels_ : (themes,) the user's own labels of themes, None if a theme has only its terms.
    family_ : the response's family, with all that was learnt of it; naming_ : name and unit of the response.
    levels_, classes_ : the response's levels, in the order of the columns of `predict_proba`.
    n_texts_ : number of training texts; covariate_effects_ : effects of covariates and their standard errors.

    Notes
    -----
    Several responses share their themes: give `fit` a DataFrame with a column for each. So do classes without an order,
    each against all others. Tables then have the response, or the class, in their first column, and `of` returns the
    model of one.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(400, seed=1)
    >>> model = TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
    >>> good, bad = model.predict(["The staff were friendly and helpful.", "The bathroom was dirty."])
    >>> bool(good > bad)
    True
    >>> responses = pd.DataFrame({"stars": reviews.ratings, "happy": reviews.ratings > 3})
    >>> both = TextResponseModel(n_themes=8).fit(reviews.texts, responses)
    >>> list(both.predict(["The staff were friendly."])), both.of("happy").family_.name
    (['stars', 'happy'], 'bernoulli')
    """

    # Encoding of covariates and offset; None if the model has neither.
    design_: Design | None = None
    # Names of the response, or of each response.
    namings_: tuple[Naming, ...]
    # Training texts, with the response of each reader. A stored model does not hold them.
    _training: tuple[Observed, ...] | None = None
    # Not routed as metadata by scikit-learn.
    __metadata_request__fit = {"texts": UNUSED, "responses": UNUSED}  # noqa: RUF012
    __metadata_request__partial_fit = {"texts": UNUSED, "responses": UNUSED}  # noqa: RUF012
    __metadata_request__transform = {"texts": UNUSED}  # noqa: RUF012

    def __init__(
        self,
        n_themes: int | str | None = None,
        *,
        family: str | Family | Mapping[str, str | Family] = AUTO,
        language: str | None = "english",
        seed_words: Mapping[str, Sequence[str]] | None = None,
        levels: ArrayLike | Mapping[str, ArrayLike] | None = None,
        max_terms: int | None = None,
        stop_words: str | Iterable[str] | None = parts.OWN,
        lexicon: str | Mapping[str, float] | None = parts.OWN_LEXICON,
        neutral: float | None = None,
        formula: str | None = None,
        missing: str = "error",
        random_state: Any = 0,
        n_jobs: int | None = -1,
        device: str = "cpu",
    ) -> None:
        self.n_themes = n_themes
        self.family = family
        self.language = language
        self.seed_words = seed_words
        self.levels = levels
        self.max_terms = max_terms
        self.stop_words = stop_words
        self.lexicon = lexicon
        self.neutral = neutral
        self.formula = formula
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    def fit(
        self,
        texts: Texts | pd.DataFrame,
        responses: Any,
        sample_weight: ArrayLike | None = None,
        *,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        text: str | None = None,
        memory: str | int = streaming.MEMORY,
        folder: str | Path | None = None,
        engine: Engine | None = None,
    ) -> Self:
        """Learn themes, tone and the effects of themes.

        With covariates, all effects are adjusted for them; their effects, which are not penalised, are in the same GLM.

        Parameters
        ----------
        texts : empty ones are allowed, and do not contribute to themes. Or a DataFrame with texts in its first column
            and covariates in the others, as scikit-learn's cross-validation passes both.
        responses : one number or label per text; NaN or None if missing, in which case only the text is used. Or a
            DataFrame with a column for each of several responses.
        sample_weight : weight of each text in training.
        covariates : one row per text: numbers, yes or no, categories. With `formula`, the columns that it names.
        offset : term added to each linear predictor, such as the logarithm of an exposure.
        groups : clusters of dependent texts, such as hotels; standard errors of covariates are robust to them.
        text : column of the texts, if `texts` is a source that need not fit into memory: a file, a pattern such as
            "reviews/*.parquet", an Arrow dataset, or an iterable of tables. `responses` and `sample_weight` are then
            columns too. Tone is learnt from all texts, themes and their effects from a random sample.
        memory, folder, engine : for a source only: memory limit of the fit; folder for its intermediate results, from
            which a stopped fit resumes, or None; engine that reads it, such as `engines.dask.DaskEngine(client)`, or
            None for this process.
        """
        options = self.options
        if text is not None:
            columns = streaming.columns_of(text, responses, sample_weight, covariates, offset, groups)
            with streaming.read_to_fit(options, texts, columns, memory=memory, folder=folder, engine=engine) as read:
                return self.take_source(read.fit(), read.found, columns.response)
        if engine is not None:
            raise InputError("an engine is for a source; give text=, the column of its texts")
        texts, covariates = texts_and_covariates(texts, covariates)
        tokens = parts.tokenise(options, texts)
        given: dict[str, Any] = {
            "covariates": covariates,
            "offset": offset,
            "groups": groups,
            "formula": self.formula,
            "missing": self.missing,
        }
        if isinstance(responses, pd.DataFrame) and len(responses.columns) != 1:
            columns_of = response_columns(responses)
            scales, observed = parts.scales_of(options, list(columns_of)), {}
            for (name, column), scale in zip(columns_of.items(), scales, strict=True):
                with parts.named(name):
                    observed[name], design = observe_given(scale.observe(tokens, column, sample_weight), **given)
            reader, training = parts.fit_several(options, scales, observed)
            return self._take(reader, training, design, list(columns_of))
        if isinstance(responses, pd.DataFrame):
            responses = responses.iloc[:, 0]
        scale = parts.scale_of(options)
        one, design = observe_given(scale.observe(tokens, responses, sample_weight), **given)
        return self._take(*parts.fit_one(options, scale, one), design, [name_of(responses, "response")])

    def take_source(
        self, reader: Reader, found: streaming.Streamed, response: str, held_out: NDArray[np.bool_] | None = None
    ) -> Self:
        """Take over a fit to a source, without held-out texts of its sample; response : name of its column."""
        held_out = np.zeros(len(found.sample.tokens), dtype=bool) if held_out is None else held_out
        self._take(reader, [found.sample.but(held_out)], None, [response])
        self.n_texts_ = found.n_documents - int(held_out.sum())
        return self

    def _take(self, reader: Reader, training: Sequence[Observed], design: Design | None, names: Sequence[str]) -> Self:
        """Take over the results of a fit; training : the texts of each reader; names : of the responses."""
        self.reader_, self.design_, self._training = reader, design, tuple(training)
        n_themes = self._first.fitted.n_themes
        self.labels_ = [*[*(self.seed_words or ()), *[None] * n_themes][:n_themes], None]
        self.n_texts_ = len(training[0])
        given = "" if design is None else design.condition
        families = [self.family_] if len(names) == 1 else [each.family for each in self._readers]
        self.namings_ = tuple(
            Naming.of(family, name, given=given) for family, name in zip(families, names, strict=True)
        )
        return self

    def fit_transform(
        self,
        texts: Texts | pd.DataFrame,
        responses: Any,
        sample_weight: ArrayLike | None = None,
        *,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> Array:
        """Fit the model and return the transformed texts, (texts, themes); texts are tokenised once."""
        texts, covariates = texts_and_covariates(texts, covariates)
        tokens = parts.tokenise(self.options, texts)
        self.fit(tokens, responses, sample_weight, covariates=covariates, offset=offset)
        return self._first.predictions(tokens).weights  # `transform` would return a table without the texts' index

    def partial_fit(self, texts: Texts, responses: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Update the model with more texts, in about a second: for reviews that arrive daily.

        Themes, their labels and the vocabulary are kept. Tone is updated by steps on the new texts, weighted by their
        share of all, and the effects of themes are refitted to texts old and new. After many updates, or if the
        subjects of the texts change, `fit` to all. An unfitted model is fitted.

        Parameters
        ----------
        texts, responses, sample_weight : of the new texts, as in `fit`.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(500, seed=1)
        >>> model = ts.TextResponseModel(n_themes=5).fit(reviews.texts[:400], reviews.ratings[:400])
        >>> model.partial_fit(reviews.texts[400:], reviews.ratings[400:]).n_texts_
        500
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(texts, responses, sample_weight)
        reader = self.reader_
        if not isinstance(reader, ThemeReader):
            raise InputError("partial_fit needs one response, and no classes; fit to all texts")
        if self.design_ is not None:
            raise InputError("partial_fit knows no covariates, but the model was fitted with some; fit to all texts")
        tokens = reader.tokenise(texts)
        if not len(tokens):
            return self
        new = observe(tokens, responses, sample_weight, reader.family)
        with local_compute(self.n_jobs) as compute:
            fitted = learn_more(reader.fitted, tokens, new.responses, new.weight, self.n_texts_, compute)
        self.reader_ = replace(reader, fitted=fitted)
        self.n_texts_ += len(tokens)
        if self._training is not None:
            known = self._training[0]
            together = reader.tokenise([*known.texts, *new.texts])
            answers, weight = [known.responses, new.responses], [known.weight, new.weight]
            self._training = (Observed(together, np.concatenate(answers), np.concatenate(weight), family=known.family),)
        return self

    def tokenise(self, texts: Texts) -> SentenceTexts:
        """Return tokenised texts, which all methods accept, so that texts used twice are tokenised once."""
        return self._first.tokenise(texts) if self.__sklearn_is_fitted__() else parts.tokenise(self.options, texts)

    def know(self, readings: Sequence[Reading]) -> None:
        """Take over texts, in place of those of training, as those that `drivers` are of by default."""
        readers = [one.knowing(reading) for one, reading in zip(self._readers, readings, strict=True)]
        self._set_readers(readers)

    def for_workers(self, n_jobs: int) -> Self:
        """Return the model with another number of threads and without its training texts."""
        model = copy(self)
        model._training = None
        model._set_readers([replace(one, n_jobs=n_jobs) for one in self._readers])
        return model

    def _set_readers(self, readers: Sequence[ThemeReader]) -> None:
        reader = self.reader_
        self.reader_ = readers[0] if isinstance(reader, ThemeReader) else replace(reader, readers=tuple(readers))

    @property
    def options(self) -> parts.Options:
        """Options as one object."""
        return parts.Options(**self.get_params(deep=False))

    @property
    def components_(self) -> Array:
        """(themes, terms) shares of terms in each theme."""
        return self._first.profiles

    @property
    def terms_(self) -> NDArray[Any]:
        """(terms,) names of the content terms."""
        return np.array(self._first.fitted.terms, dtype=object)

    @property
    def coherence_(self) -> NDArray[np.float64]:
        """(themes,) mean NPMI of each theme's ten most probable terms in the training texts."""
        return self._first.words.coherence

    @property
    def family_(self) -> Family:
        """The response's family, with its scale and own parameters; raises if there are several responses."""
        check_is_fitted(self)
        reader = self.reader_
        return reader.family if isinstance(reader, ClassReader) else self._one("the family", AttributeError).family

    @property
    def naming_(self) -> Naming:
        """Name and unit of the response; raises if there are several responses."""
        if len(self.namings_) > 1:
            self._one("names")
        return self.namings_[0]

    @naming_.setter
    def naming_(self, naming: Naming) -> None:
        self.namings_ = (naming,)

    @property
    def levels_(self) -> NDArray[Any]:
        """The response's levels, lowest first; raises AttributeError if it has none."""
        return self.family_.levels

    @property
    def covariate_effects_(self) -> pd.DataFrame:
        """One row per column of covariates: name, effect (on the linear predictor) and std_error.

        Numbers have one column; a category has one for each level but the most frequent one, which the others are
        compared with. Standard errors allow for overdispersion, and with `groups` for dependence within groups; NaN if
        a column is constant.
        """
        effects = self._one("effects of covariates").fitted.effects
        errors = np.zeros(0) if effects.covariate_errors is None else effects.covariate_errors
        names = [] if self.design_ is None else list(self.design_.names)
        return pd.DataFrame({"name": names, "effect": effects.covariate_effects, "std_error": errors})

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        """Return the labels of the themes in the order of the columns of `transform`; duplicates get a number."""
        return np.array(unique_labels(self.theme_names), dtype=object)

    @property
    def theme_names(self) -> list[str]:
        """(themes,) the user's label of each theme, or else the one made of its terms."""
        return names_of(self._first, self.labels_)

    def of(self, name: object) -> Self:
        """Return the model of one of several responses, or of one class against all others.

        The response of a class is 1 for the class and 0 for others, so that means are shares.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> kinds = ["bad" if y < 3 else "fair" if y < 5 else "good" for y in reviews.ratings]
        >>> model = ts.TextResponseModel(n_themes=5).fit(reviews.texts, kinds)
        >>> bad = model.of("bad").explain("The bathroom was dirty.")
        >>> bad.prediction > bad.baseline_prediction
        True
        """
        check_is_fitted(self)
        reader, names = self.reader_, self.names
        if isinstance(reader, ThemeReader):
            raise InputError("this model has one response; only several responses, or classes, have a model of each")
        if name not in names:
            plural = "classes" if reader.noun == "class" else "responses"
            raise InputError(f"there is no {reader.noun} {name!r}; {plural} are {', '.join(map(repr, names))}")
        number, model = names.index(name), copy(self)
        model.reader_ = reader.readers[number]
        model._training = None if self._training is None else (self._training[number],)
        if isinstance(reader, ClassReader):
            model.family, model.levels = ONE_CLASS, None
            model.naming_ = replace(self.naming_, unit=PERCENTAGE_POINTS, event=str(name), is_class=True)
        else:
            scale = parts.scales_of(self.options, names)[number]
            model.family, model.levels = scale.family, scale.levels
            model.namings_ = (self.namings_[number],)
        return model

    @property
    def names(self) -> list[Any]:
        """Names of the responses, or of the classes, that `of` takes; empty for a single response."""
        check_is_fitted(self)
        return [] if isinstance(self.reader_, ThemeReader) else self.reader_.labels

    @property
    def models(self) -> dict[Any, TextResponseModel]:
        """The model of each response, or of each class, by name; this model, by None, if there is a single response."""
        return {name: self.of(name) for name in self.names} or {None: self}

    def predictions(
        self, texts: Texts | pd.DataFrame, *, covariates: pd.DataFrame | None = None, offset: ArrayLike | None = None
    ) -> Any:
        """Return shares of themes, expected responses and levels of texts, computed in one pass.

        Returns
        -------
        Predictions; for several responses those of each, by name.
        """
        reader = self._first
        texts, covariates = texts_and_covariates(texts, covariates)
        tokens = reader.tokenise(texts)
        return self._predictions(tokens, self._given(len(tokens), covariates, offset))

    def _predictions(self, tokens: SentenceTexts, given: Given | None) -> Any:
        if isinstance(self.reader_, ClassReader):
            return self.reader_.predictions(tokens, given)
        of_each = predict_all(self._readers, tokens, given)
        return dict(zip(self.names, of_each, strict=True)) if self.names else of_each[0]

    def predict(self, X: Any, *, covariates: Any = None, offset: ArrayLike | None = None) -> Any:
        """Return the expected response of texts, on the user's scale; of a classifier the most probable label.

        By "auto" text, truth values and 0 or 1 are predicted as labels too: `predict_proba` has their probabilities,
        and `predictions(X).mean` the expected response. Of several responses a table of expected responses.
        """
        predictions = self.predictions(X, covariates=covariates, offset=offset)
        if isinstance(predictions, Predictions):
            return predictions.level("mode") if self._gives_labels(predictions.family) else predictions.mean
        return pd.DataFrame({name: each.mean for name, each in predictions.items()}, index=index_of(X))

    def average_prediction(self, text: str) -> Any:
        """Return the predictions for one text with the covariates of the average text, as `predictions` does."""
        tokens = self._first.tokenise([text])
        return self._predictions(tokens, None if self.design_ is None else self.design_.average)

    def transform(self, texts: Texts | pd.DataFrame) -> Array:
        """Return the share of each theme in each text, (texts, themes).

        A text without known terms gets those of the average text. Covariates have no influence.
        """
        reader = self._first
        return reader.predictions(reader.tokenise(texts_and_covariates(texts, None)[0])).weights

    def read(
        self,
        texts: Texts | pd.DataFrame,
        responses: Any = None,
        *,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> Reading:
        """Return words, themes, tone and predictions of texts, computed in one pass.

        responses : if known; covariates, offset : as in `fit`, if the model was fitted with them.
        """
        reader = self._one("readings")
        (observed,) = self.observed(texts, responses, covariates=covariates, offset=offset)
        return reader.read(observed, self.naming_.better)

    def contributions(
        self,
        texts: Texts | pd.DataFrame,
        *,
        scale: str = "linear predictor",
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> pd.DataFrame:
        """Return the contribution of each theme to the texts, by its label.

        The column "unplaced" is that of clauses on no theme, the column "constant" is the rest: it differs a little
        between texts, as short ones are closer to the average. With covariates or an offset it includes their
        contribution.

        Parameters
        ----------
        texts : an iterable of texts.
        scale : "linear predictor", to which rows add up; or "response": rows add up to the prediction, the constant
            being the prediction at the constant alone and every contribution being brought to points by one slope,
            that of the line from there to the text's own prediction.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
        >>> points = model.contributions(reviews.texts, scale="response")
        >>> bool(np.allclose(points.sum(axis=1), model.predict(reviews.texts)))
        True
        """
        check_choice("scale", scale, ["linear predictor", "response"])
        self._one("contributions")
        reading = self.read(texts, covariates=covariates, offset=offset)
        family, eta, added = self.family_, reading.predictions.eta, reading.contributions
        family.check_trainable("contributions")
        constant = eta - added.sum(axis=1)
        if scale == "response":
            slopes = np.array([slope_of(family, *pair) for pair in zip(constant.tolist(), eta.tolist(), strict=True)])
            constant, added = family.mean(constant), added * slopes[:, None]
        columns = [*self.get_feature_names_out(), UNPLACED]
        table = pd.DataFrame(added, columns=columns, index=index_of(texts))
        table.insert(0, "constant", constant, allow_duplicates=True)
        return table

    def themes(self, n_terms: int = 10) -> pd.DataFrame:
        """Return a table with one row per theme, the largest cost first; the index is the theme's number.

        Columns: theme (its number, the column of `transform`), label, and the rest as in `drivers`, with coherence.

        With covariates, all numbers are conditional on them, and the table's `attrs["given"]` states so in a sentence.
        For a model fitted to a source, `attrs["basis"]` describes the texts it was learnt from.
        """
        check_number("n_terms", n_terms, least=1, whole=True)
        table = self._of_each(
            {
                name: theme_table(one._first, self.labels_, n_terms, one.naming_.better)
                for name, one in self.models.items()
            }
        )
        naming, basis = self.namings_[0], self._first.fitted.basis
        table.attrs |= {"given": naming.condition} if naming.given else {}
        table.attrs |= {"basis": basis} if basis else {}
        return table

    def drivers(
        self,
        by: ArrayLike | pd.Series | None = None,
        *,
        texts: Texts | None = None,
        responses: Any = None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
        n_terms: int = DRIVER_TERMS,
        interval: float | None = None,
        groups: ArrayLike | None = None,
    ) -> Drivers:
        """Return what to fix first and what to keep: one row per theme, the largest cost first.

        The index is the theme's number, the column of `transform`. Columns, with shares of all texts:

        - theme (its number), label, is_overall: True for the overall verdict, which is neither fixed nor kept;
        - mentions, complaints, praise, neutral: shares of texts that mention it, complain about it, praise it, and
          mention it without either; one text may do both. share : of all words;
        - mean_complaint, mean_praise, mean_mention, mean_elsewhere: mean response of texts that complain about it,
          praise it, mention it, and do not mention it;
        - cost: by how much the mean response would be better if complaints were neutral mentions; cost_per_complaint:
          cost over complaints; gain and gain_per_praise: by how much it would be worse if praise were neutral;
        - share_of_low: share of the fifth of the texts with the worst responses that complain about it; share_of_gap:
          cost over the distance from the mean to the best response, NaN without a best one;
        - raises, lowers: the words that raise and lower the response most; terms: the most relevant ones.

        More is better, unless set otherwise by `name_response`. Of a count, and of numbers without bounds such as
        prices, neither is: complaints then stand for clauses that lower the response, praise for those that raise it.
        Several responses have separate rows, with the response in the first column; so have classes without an order,
        each against all others. With `by` also group and documents (their number), the largest group first.
        `findings()` of the table returns sentences on what to fix first and what to keep, and a notebook shows them.
        `attrs["unplaced"]` is the share of all words that are in clauses that name no theme clearly.

        Cost and gain are what-ifs on the fitted model, not causal claims. Training texts count by out-of-fold tone.
        With covariates, all numbers are conditional on them: texts are compared with others of the same covariates.

        Parameters
        ----------
        by : (texts,) the group of each text, such as its hotel; texts without one are excluded.
        texts, responses, sample_weight, covariates, offset : the texts; by default those of training.
        n_terms : terms to list.
        interval : a level such as .95 for columns with the ends of intervals: cost_low, cost_high, gain_low and
            gain_high, by `estimate_effects`, and cost_clear and gain_clear: True if significant, with all themes
            tested together (Holm). It takes as long as two or three fits. None for no intervals.
        groups : for the intervals: clusters of dependent texts, such as hotels.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
        >>> bool(model.drivers()["cost"].is_monotonic_decreasing)
        True
        >>> model.drivers(by=["one"] * 300 + ["other"] * 100)["group"].unique().tolist()
        ['one', 'other']
        """
        check_is_fitted(self)
        check_number("n_terms", n_terms, least=1, whole=True)
        check_interval(interval)
        values = (texts, responses, sample_weight, covariates, offset)
        known = all(value is None for value in values)
        if known:
            mentions = [one._first.known(one.naming_.better) for one in self.models.values()]
        else:
            observed = self.observed(*values)
            if not len(observed[0]):
                raise InputError("no texts were given; there must be at least one")
            mentions = [reading.mentions for reading in self.readings(observed)]
        tables = {
            name: with_words(one._first, grouped_drivers(each, by), self.labels_, n_terms)
            for (name, one), each in zip(self.models.items(), mentions, strict=True)
        }
        table = self._of_each(tables)
        if interval is not None:
            self._one("intervals")
            documents = dict(zip(("texts", "responses", "sample_weight", "covariates", "offset"), values, strict=True))
            effects = self.estimate_effects(by, level=interval, groups=groups, **documents)
            table = with_intervals(table, effects)
        if known and (basis := self._first.fitted.basis):
            table.attrs["basis"] = basis
        return Drivers.of(table, self.namings_[0])

    def compare(self) -> pd.DataFrame:
        """Return the effects of themes on responses, or on classes: a row for each theme, a column for each of them.

        Measures are cost and gain as in `drivers`, in points of each response, and both in its standard
        deviations (cost_sd, gain_sd), so that responses on different scales can be compared. Themes are sorted by
        their largest cost in standard deviations. These are what-ifs on the fitted model, not causal claims.

        Examples
        --------
        >>> from textsignal.datasets import synthetic_reviews
        >>> reviews = synthetic_reviews(400, seed=1)
        >>> responses = pd.DataFrame({"stars": reviews.ratings, "happy": reviews.ratings > 3})
        >>> table = TextResponseModel(n_themes=8).fit(reviews.texts, responses).compare()
        >>> table["cost"].shape, list(table["gain_sd"])
        ((9, 2), ['stars', 'happy'])
        """
        mentions = {name: one._first.known(one.naming_.better) for name, one in self.models.items()}
        return compared(mentions, self.theme_names)

    def explain(
        self, text: str, *, covariates: pd.DataFrame | None = None, offset: ArrayLike | None = None
    ) -> Explanation:
        """Return the contributions of themes, clauses and words to the prediction for one text.

        covariates, offset : of this text, in one row; by default those of the average text.

        Examples
        --------
        >>> from textsignal.datasets import synthetic_reviews
        >>> reviews = synthetic_reviews(400, seed=1)
        >>> model = TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
        >>> explanation = model.explain("The staff were friendly.")
        >>> explanation.prediction > explanation.baseline_prediction
        True
        """
        reader = self._one("explanations")
        average = self.design_ is not None and covariates is None and offset is None
        given = self.design_.average if self.design_ and average else self._given(1, covariates, offset)
        observed = Observed(reader.tokenise([text]), np.full(1, np.nan), np.ones(1), given)
        return explain(reader.read(observed, self.naming_.better), self.theme_names, self.naming_)

    def clauses(self, texts: Texts | pd.DataFrame | None = None) -> pd.DataFrame:
        """Return a table with one row per clause of all texts.

        Columns: text (its position, from 0), clause, start, end (its position in the text, without HTML), theme (-1 if
        it is on none), label, is_overall (True for the overall verdict), kind ("complaint", "praise" or "neutral"; for
        a response without a better direction "raises", "lowers" or "neutral"), judgement (log-odds of praise against
        complaint), tone and speaking (contributions of its tone and of its theme), contribution (their sum). With the
        constant of `contributions`, contributions add up to the linear predictor. Texts of training count by tone that
        has not seen their responses, unless they are given as `texts`.

        Parameters
        ----------
        texts : by default those of training; a loaded model does not hold these.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
        >>> table = model.clauses(["The staff were friendly, but the bathroom was dirty."])
        >>> list(table["clause"]), list(table["kind"])
        (['The staff were friendly,', 'but the bathroom was dirty.'], ['praise', 'complaint'])
        """
        reader = self._one("clauses")
        if texts is None:
            (observed,) = self.observed()
            reading = reader.read(replace(observed, given=None), self.naming_.better)
            unseen = reading.unseen
        else:
            tokens = reader.tokenise(texts_and_covariates(texts, None)[0])
            missing = np.full(len(tokens), np.nan)
            reading = reader.read(Observed(tokens, missing, np.ones(len(tokens))), self.naming_.better)
            unseen = None
        direction = self.naming_.direction
        return clause_table(reading.clauses, reader.fitted.effects, self.theme_names, direction, unseen)

    def find_clauses(
        self,
        theme: Theme,
        n: int = 10,
        good: bool | None = True,
        *,
        texts: Texts | None = None,
        responses: ArrayLike | None = None,
    ) -> pd.DataFrame:
        """Return clauses that illustrate a theme: clear cases, fewer than `n` rather than doubtful ones.

        Columns: row (position of its text, from 0), clause, response, judgement (log-odds of praise against complaint),
        contribution.

        Parameters
        ----------
        theme : its number or label.
        n : maximum number, each of another text.
        good : True for praise, False for complaints, None for the most typical ones. For a response without a better
            direction True for clauses that raise it, False for those that lower it.
        texts, responses : the texts to search; by default those of training. A loaded model does not hold these.
        """
        reader = self._one("clauses")
        check_number("n", n, least=1, whole=True)
        number = theme_number(theme, self.theme_names)
        (observed,) = self.observed(texts, responses)
        kind = None if good is None else (1 if good else -1) * self.naming_.better
        found = find_clauses(reader.read(replace(observed, given=None)), number, int(n), kind)
        return found.assign(judgement=self.naming_.better * found["judgement"])

    def find_texts(
        self,
        theme: Theme,
        n: int = 10,
        high: bool | None = True,
        *,
        texts: Texts | None = None,
        responses: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
        metadata: pd.DataFrame | None = None,
    ) -> pd.DataFrame:
        """Return texts that illustrate a theme: those in which it has the largest share.

        Columns: row (position in the texts, from 0), text, response, prediction, share (of the theme), and those of
        `metadata`. There are fewer than `n` if the theme leads in fewer texts.

        Parameters
        ----------
        theme : its number or label.
        n : maximum number of texts.
        high : True for those with the highest responses among the most typical ones (with the largest shares),
            False for the lowest, None for the most typical ones regardless of their response.
        texts, responses, covariates, offset : the texts to search; by default those of training. A loaded model
            does not hold these.
        metadata : a table with one row per text, whose columns are added.
        """
        reader = self._one("typical texts")
        check_number("n", n, least=1, whole=True)
        (observed,) = self.observed(texts, responses, None, covariates, offset)
        predictions = reader.predictions(observed.tokens, observed.given)
        number = theme_number(theme, self.theme_names)
        return find_texts(number, int(n), high, observed.texts, observed.responses, predictions, metadata)

    def estimate_effects(
        self,
        by: ArrayLike | pd.Series | None = None,
        *,
        groups: ArrayLike | None = None,
        method: str = "crossfit",
        level: float = LEVEL,
        n_refits: int = REFITS,
        seed: int = 0,
        texts: Texts | None = None,
        responses: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
        progress: Progress | None = None,
    ) -> EffectTable:
        """Estimate the effects of themes on the response, with standard errors, valid intervals and tests.

        One row per theme and quantity: cost and gain (as in `drivers`, but from a GLM without shrinkage, so that
        costs may be below 0), mentions, tone (effect of the tone about a theme, in texts that mention it),
        speaking (effect of mentioning it, regardless of tone) and gamma (coefficient of its tone). With `by`,
        these of each group, and its differences to all other groups. `p_value` tests the hypothesis of no
        effect, `p_holm` is adjusted for all themes. Themes are taken as fixed; see `stability` for their reliability.

        Parameters
        ----------
        by : (texts,) groups to compare; texts without one are excluded from the comparison.
        groups : (texts,) clusters of dependent texts, such as hotels: errors are cluster-robust.
        method : "crossfit", the default; "bootstrap"; or "plugin", which ignores the estimation of themes and tone and
            gives intervals that are too narrow.
        level : of the intervals.
        n_refits, seed, progress : samples of the bootstrap; seed of these and of halves; called after each sample.
        texts, responses, sample_weight, covariates, offset : the texts; by default those of training. A loaded model
            does not hold these.
        """
        self._one("intervals")
        (reading,) = self.readings(self.observed(texts, responses, sample_weight, covariates, offset))
        options: dict[str, Any] = {"method": method, "level": level, "n_refits": n_refits, "seed": seed}
        return self.effects_of(reading, by, groups=groups, progress=progress, **options)

    def effects_of(
        self,
        reading: Reading,
        by: ArrayLike | pd.Series | None = None,
        *,
        groups: ArrayLike | None = None,
        **options: Any,
    ) -> EffectTable:
        """Return `estimate_effects` of texts that were read; options : method, level, n_refits, seed and progress."""
        reader = self._one("intervals")
        effects = estimate_effects(reader, reading, self.theme_names, self.naming_, by=by, groups=groups, **options)
        basis = reader.fitted.basis
        return replace(effects, method=f"{effects.method} {basis}") if basis else effects

    def stability(
        self,
        n_refits: int = 20,
        *,
        seed: int = 0,
        texts: Texts | None = None,
        responses: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> pd.DataFrame:
        """Measure how often each theme is reproduced in refits: one row per theme, the least stable first.

        Themes are learnt anew from halves of the texts, each with another seed, and matched to the model's one to
        one. Columns: theme (its number), label, reproduced (share of refits in which its match has a cosine of at least
        .65, which mostly means that half of the ten leading words are shared), cosine (mean over refits), cost_sd,
        cost_low, cost_high (standard deviation, minimum and maximum of its cost over the refits that reproduce it).

        The vocabulary and the tone of words are kept: costs vary with the themes and the texts that mention them, not
        with the estimate of tone.

        Parameters
        ----------
        n_refits : number of refits; one takes about a sixth of the time of a whole fit.
        seed : of halves and refits.
        texts, responses, sample_weight, covariates, offset : the texts; by default those of training. A loaded model
            does not hold these.
        """
        reader = self._one("refits")
        (reading,) = self.readings(self.observed(texts, responses, sample_weight, covariates, offset))
        return stability(reader, reading, n_refits, seed, self.seed_words).table(self.theme_names)

    def check(
        self,
        texts: Texts | None = None,
        responses: ArrayLike | None = None,
        *,
        held_out: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
        by: ArrayLike | pd.Series | None = None,
        over: ArrayLike | pd.Series | None = None,
        seed: int = 0,
    ) -> Check:
        """Check the model and its data for problems, with a remedy for each.

        Checks cover skill (of the text at all, and on held-out compared with training texts),
        calibration (PIT, means by tenths), dispersion (and families that fit better), residuals against length, time,
        covariates and groups, duplicates, leakage (texts that state the response) and influence of single texts
        and groups on a cost. Deviations within chance, or too small to matter, are not reported; `to_frame()` has all
        numbers.

        Parameters
        ----------
        texts, responses, sample_weight, offset : the texts; by default those of training. A loaded model does not
            hold these.
        held_out : (texts,) True if not used in training; predictions are judged on these alone. Without it, texts are
            judged out of fold.
        covariates : one row per text: those that the model was fitted with, and any others to compare residuals with.
        by : (texts,) the group of each text; over : (texts,) the date of each.
        seed : of draws.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(300, seed=1)
        >>> model = ts.TextResponseModel(n_themes=5).fit(reviews.texts, reviews.ratings)
        >>> model.check().wrong
        ()
        """
        reader = self._one("checks")
        check_number("seed", seed, least=0, whole=True)
        own = covariates if texts is not None and self.design_ is not None and self.design_.covariates else None
        (observed,) = self.observed(texts, responses, sample_weight, own, offset)
        observed = with_columns(observed, held_out, by, over)
        checked = Checked(
            reader=reader,
            reading=reader.read(observed, self.naming_.better),
            labels=self.theme_names,
            naming=self.naming_,
            covariates=as_table(covariates, len(observed)),
            group_name=name_of(by, "group"),
            time_name=name_of(over, "date"),
            seed=int(seed),
        )
        return check_all(checked)

    def name_response(self, name: str, unit: str | None = None, *, lower_is_better: bool | None = None) -> Self:
        """Return the model with names for the response and its unit, as sentences use them.

        Parameters
        ----------
        name : of the response.
        unit : name of one step, such as "stars"; by default one that suits the response: percentage points if it has
            two values, the name of the counted things, or points.
        lower_is_better : True if less is better, as for severity: themes that raise the response are then to be fixed.
            False if more is better. By default more is better on a scale of levels, and neither of a count and of
            numbers without bounds: clauses then raise and lower the response, without praise and complaints.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
        >>> "stars higher" in model.name_response("rating", "stars").drivers().findings().to_fix[0]
        True
        """
        check_is_fitted(self)
        model = copy(self)
        model.naming_ = Naming.of(self.family_, name, unit, self.naming_.given, lower_is_better)
        return model

    def rename(self, theme: Theme | Mapping[Theme, str | None], label: str | None = None) -> Self:
        """Return a new model in which themes have user-defined labels; this one is not changed.

        Parameters
        ----------
        theme : number or label of one theme, or a mapping from such to new labels.
        label : the new label of the one theme; None restores the label made of its terms.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
        >>> named = model.rename({0: "first", 1: "second"}).rename("second", "the other")
        >>> sorted(set(named.themes()["label"]) - set(model.themes()["label"]))
        ['first', 'the other']
        """
        check_is_fitted(self)
        new = theme if isinstance(theme, Mapping) else {theme: label}
        model = copy(self)
        model.labels_ = renamed(new, self.labels_, self.theme_names)
        return model

    def merge(
        self,
        themes: Iterable[Theme],
        label: str | None = None,
        *,
        texts: Texts | None = None,
        responses: Any = None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> Self:
        """Return a new model with one theme in place of several; this one is not changed.

        The new theme is the mean of their profiles, weighted by prevalence, at the position of the first of them;
        later themes move up. Shares are recomputed from the text, and effects and constant are refitted.

        Parameters
        ----------
        themes : numbers or labels.
        label : of the new theme; by default made of its terms.
        texts, responses, sample_weight, covariates, offset : texts to refit on; by default those of training. A
            loaded model does not hold these.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
        >>> len(model.merge([0, 3], "both").themes()), len(model.themes())  # with the overall verdict
        (8, 9)
        """
        return self._revised(
            merged(self._themes(), themes, label), self.observed(texts, responses, sample_weight, covariates, offset)
        )

    def drop(
        self,
        themes: Iterable[Theme],
        *,
        texts: Texts | None = None,
        responses: Any = None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> Self:
        """Return a new model without some themes; this one is not changed.

        Later themes move up. Shares are recomputed from the text, and effects and constant are refitted.

        Parameters
        ----------
        themes : numbers or labels.
        texts, responses, sample_weight, covariates, offset : as in `merge`.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
        >>> model.drop([2, 5]).transform(["The staff were friendly."]).shape  # with the overall verdict
        (1, 7)
        """
        return self._revised(
            dropped(self._themes(), themes), self.observed(texts, responses, sample_weight, covariates, offset)
        )

    def _themes(self) -> Revision:
        own = self._first.fitted.themes
        return Revision(own.topics, own.prevalence, self.labels_[:-1], self.theme_names[:-1])

    def _revised(self, revision: Revision, observed: Sequence[Observed]) -> Self:
        """Return a new model with these themes, refitted to the texts."""
        readers = refitted(self._readers, revision.themes, revision.weights, observed)
        model = copy(self)
        model.reader_ = readers[0] if isinstance(self.reader_, ThemeReader) else self.reader_.with_readers(readers)
        model.labels_, model.n_themes = [*revision.labels, self.labels_[-1]], len(revision.themes)
        model.n_texts_, model._training = len(observed[0]), tuple(observed)
        return model

    def report(
        self,
        path: str | Path,
        *,
        texts: Texts | None = None,
        responses: Any = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
        held_out: ArrayLike | None = None,
        by: ArrayLike | pd.Series | None = None,
        over: ArrayLike | pd.Series | None = None,
        interval: float | None = None,
        groups: ArrayLike | pd.Series | None = None,
        with_texts: bool = True,
        mask: bool = True,
        n_documents: int = 1000,
        title: str = "",
        response_name: str | None = None,
        unit: str | None = None,
        force: bool = False,
    ) -> None:
        """Write a report on the model to one self-contained HTML file.

        Parameters
        ----------
        path : the file, such as "report.html"; for several responses, or classes, a folder: each has a separate page,
            such as report-stars.html, with links to the others.
        texts, responses, covariates, offset : the texts of the report; by default those of training. A loaded
            model does not hold these.
        held_out : (texts,) True for those of `texts` not used in training, to measure skill on new texts; None if
            all were used.
        by : (texts,) the group of each text, such as its hotel, to compare groups.
        over : (texts,) the date of each text, to show changes over time.
        interval : a level such as .95 for intervals of cost and gain, by `estimate_effects`; it takes as long
            as two or three fits. None for no intervals.
        groups : (texts,) for the intervals: clusters of dependent texts, such as hotels.
        with_texts : True to show texts; if False, the file is checked to hold none.
        mask : True to show e-mail addresses and phone numbers in texts as "[e-mail]" and "[phone]"; all
            numbers are those of the unmasked texts.
        n_documents : maximum number of texts in the file, to be browsed there; a sample if there are more.
        title : of the page.
        response_name, unit : names of the response and of one step of it, such as "Rating" and "stars"; by default
            those of `name_response`, or the name of the responses' column.
        force : True to replace an existing file.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> training, new = slice(300), np.arange(400) >= 300
        >>> model = ts.TextResponseModel(n_themes=5).fit(reviews.texts[training], reviews.ratings[training])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.report(f"{folder}/report.html", texts=reviews.texts, responses=reviews.ratings, held_out=new)
        """
        from textsignal.report.page.render import write_pages, write_report  # charts are slow to import

        check_is_fitted(self)
        check_interval(interval)
        if groups is not None and interval is None:
            raise InputError("groups are for intervals; give interval=0.95 too")
        observed = [
            with_columns(each, held_out, by, over) for each in self.observed(texts, responses, None, covariates, offset)
        ]
        if interval is not None and (observed[0].weight != 1).any():
            raise InputError(
                "a report counts every text once, but these have weights; drivers(interval=...) has intervals"
            )
        readings = self.readings(observed)
        effects = None if interval is None else self.effects_of(readings[0], groups=groups, level=interval)
        settings = ReportSettings(
            title=title,
            response_name=response_name or "",
            unit=unit or "",
            with_texts=with_texts,
            mask=mask,
            n_documents=n_documents,
            group_name=name_of(by, "group"),
            time_name=name_of(over, "date"),
            within="" if groups is None else name_of(groups, "group"),
            command=f"model = {self!r}\nmodel.fit(texts, responses)\nmodel.report({without_place(str(path))!r})",
        )
        if not self.names:
            write_report(self, path, readings[0], settings, effects=effects, force=force)
            return
        with whole_folder(Path(path), force=force) as pages:
            write_pages(self, readings, pages, settings)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the model to a new folder `path`, atomically; `force` replaces an existing model."""
        check_is_fitted(self)
        options = self.options
        names = self.names if len(self.namings_) > 1 else [""]
        scales = parts.scales_of(options, names) if len(names) > 1 else [parts.scale_of(options)]
        stored = storage.StoredModel(
            vars(options), scales, self.reader_, self.labels_, self.n_texts_, self.namings_, self.design_
        )
        with whole_folder(Path(path), force=force) as folder:
            storage.write_model(stored, folder)

    @classmethod
    def restore(cls, stored: storage.StoredModel, n_jobs: int | None = None) -> Self:
        """Return a model from what was stored of it; n_jobs : threads, by default the number it was made with."""
        options = stored.options if n_jobs is None else stored.options | {"n_jobs": n_jobs}
        families, levels = [each.family for each in stored.scales], [each.levels for each in stored.scales]
        if isinstance(stored.reader, ResponseReader):
            names = stored.reader.names
            own: dict[str, Any] = {
                "family": dict(zip(names, families, strict=True)),
                "levels": dict(zip(names, levels, strict=True)),
            }
        else:
            own = {"family": families[0], "levels": levels[0]}
        model = cls(**options, **own)
        model.reader_ = stored.reader
        model._set_readers([replace(each, n_jobs=model.n_jobs) for each in model._readers])
        model.labels_, model.n_texts_, model.namings_ = stored.labels, stored.n_texts, stored.namings
        model.design_ = stored.design
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "reader_")

    def _html_repr(self) -> str:
        """A notebook shows the themes of a fitted model."""
        fitted = self.__sklearn_is_fitted__()
        return Drivers.of(self.themes(8), self.namings_[0])._repr_html_() if fitted else str(super()._html_repr())

    @property
    def _readers(self) -> Sequence[ThemeReader]:
        check_is_fitted(self)
        reader = self.reader_
        return [reader] if isinstance(reader, ThemeReader) else reader.readers

    @property
    def _first(self) -> ThemeReader:
        return self._readers[0]

    def _one(self, what: str, kind: Callable[[str], Exception] = InputError) -> ThemeReader:
        """Return the only reader; raise if there are several responses, or classes."""
        check_is_fitted(self)
        if isinstance(self.reader_, ThemeReader):
            return self.reader_
        raise kind(str(of_one(self.reader_, what)))

    def _of_each(self, tables: Mapping[Any, pd.DataFrame]) -> pd.DataFrame:
        """Return the only table, or those of several responses, or classes, as one."""
        if isinstance(self.reader_, ThemeReader):
            return next(iter(tables.values()))
        return stacked(tables, self.reader_.noun)

    def readings(self, observed: Sequence[Observed]) -> list[Reading]:
        """Return the readings of texts, once for all responses; observed : from `observed`."""
        for one, texts in zip(self._readers, observed, strict=True):
            one.family.encode(texts.responses)
        return read_all(self._readers, observed, [one.naming_.better for one in self.models.values()])

    def observed(
        self,
        texts: Texts | pd.DataFrame | None = None,
        responses: Any = None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> tuple[Observed, ...]:
        """Return the texts of a call for each reader, by default those of training."""
        others = {"responses": responses, "sample_weight": sample_weight, "covariates": covariates, "offset": offset}
        alone = [name for name, value in others.items() if value is not None]
        if texts is None and alone:
            verb = "were" if alone[0].endswith("s") else "was"
            raise InputError(f"{alone[0]} {verb} given without texts; give both, or none for the training texts")
        reader = self._first
        if texts is None:
            if self._training is None:
                raise InputError(NOT_STORED)
            return self._training
        texts, covariates = texts_and_covariates(texts, covariates)
        tokens = reader.tokenise(texts)
        given = self._given(len(tokens), covariates, offset)
        if responses is None:
            missing, weight = np.full(len(tokens), np.nan), as_weight(len(tokens), sample_weight)
            return tuple(Observed(tokens, missing, weight, given, each.family) for each in self._readers)
        if isinstance(self.reader_, ClassReader):
            one = observe(tokens, responses, sample_weight, self.reader_.family)
            return tuple(replace(each, given=given) for each in by_class(self.reader_.family, one))
        columns: list[Any] = [responses]
        if self.names:
            by_name = response_columns(responses)
            if absent := [name for name in self.names if name not in by_name]:
                raise InputError(f"responses lack the column {absent[0]!r}")
            columns = [by_name[name] for name in self.names]
        pairs = zip(self._readers, columns, strict=True)
        made = [observe(tokens, column, sample_weight, each.family) for each, column in pairs]
        return tuple(replace(each, given=given) for each in made)

    @property
    def training_responses(self) -> Vector:
        """(texts,) responses of training in numbers, NaN if missing; a loaded model does not hold these."""
        self._one("training responses")
        return self.observed()[0].responses

    def _given(self, n_texts: int, covariates: Any, offset: ArrayLike | None) -> Given | None:
        """Return covariates and offset of texts; raise if they differ from those of the fit."""
        table, added = as_table(covariates, n_texts), as_offset(offset, n_texts)
        if self.design_ is None and table is None and added is None:
            return None
        design = self.design_ or Design.learn(None, None, np.ones(1))
        return design.given(table, added, n_texts)


def with_columns(
    observed: Observed,
    held_out: ArrayLike | None,
    by: ArrayLike | pd.Series | None = None,
    over: ArrayLike | pd.Series | None = None,
) -> Observed:
    """Return texts with groups, dates, and flags of those that training has not seen."""
    n = len(observed)
    flags = None if held_out is None else np.asarray(held_out, dtype=bool)
    if flags is not None and flags.shape != (n,):
        raise InputError(f"{n:,} texts, but held_out has {flags.size:,} flags; give one for each text")
    groups, times = None if by is None else as_groups(by, n), None if over is None else as_times(over, n)
    return replace(observed, groups=groups, times=times, held_out=flags)
