"""TextResponseModel: raw texts and responses in; themes, what they are worth, and predictions out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from textsignal import storage, streaming
from textsignal.arrays import Array
from textsignal.checks import check_choice, check_number
from textsignal.compute.engines import Engine
from textsignal.compute.engines.local import local_compute
from textsignal.data.covariates.design import Design, Given, as_offset, as_table
from textsignal.data.write import whole_folder
from textsignal.errors import InputError
from textsignal.estimators import Predicting, Predictions, TopicEstimator
from textsignal.families import Family, check_trainable
from textsignal.families.auto import AUTO
from textsignal.insight.drivers import DRIVER_TERMS, grouped_drivers, themes_of, with_words
from textsignal.insight.examples import find_documents, find_sentences, sentence_table
from textsignal.insight.explanation import Explanation, explain, slope_of
from textsignal.insight.findings import Drivers
from textsignal.insight.inputs import as_groups, as_times, index_of, name_of, observe_given, texts_and_covariates
from textsignal.insight.naming import PERCENTAGE_POINTS, Naming, check_interval
from textsignal.insight.revise import Revision, Theme, dropped, merged, renamed, theme_number
from textsignal.reading import options as parts
from textsignal.reading.classes import ONE_CLASS, ClassReader, by_class
from textsignal.reading.labels import unique_labels
from textsignal.reading.matrix import NOT_STORED, MatrixReader
from textsignal.reading.observed import Observed, Reading, Tokens, observe
from textsignal.reading.reader import Reader
from textsignal.reading.themes import ThemeReader
from textsignal.report.values.data import ReportSettings
from textsignal.report.values.wording import without_place
from textsignal.text.vectorise import TextVectorizer
from textsignal.training.more_documents import learn_more
from textsignal.training.theme_reading import ThemeReading
from textsignal.uncertainty.checks import Check, Checked, check_all
from textsignal.uncertainty.effect_table import EffectTable, with_intervals
from textsignal.uncertainty.effects import LEVEL, REFITS, Progress, estimate_effects
from textsignal.uncertainty.stability import stability


class TextResponseModel(Predicting, TransformerMixin, BaseEstimator):
    """Themes, or themes, that explain texts and their responses.

    Themes describe the subjects of a text, tone how positive the text is about them, and a GLM combines both:

        linear predictor = constant + sum over themes of ( gamma * tone about it + beta * share of the text )

    Words add up to sentences, sentences to themes, themes and constant to the linear predictor.

    Parameters
    ----------
    n_themes : number of themes or themes; None takes 10, or what `estimator` has. "auto" takes the most themes, from 5
        to 30, that are reproduced from either half of the texts; `reader_.described` gives the reason. See `search`.
    family : the response's: "auto", a name of `families.FAMILIES` such as "ordinal", or a family such as
        `Binomial(4, 1)`. "auto" looks at the response (two values, steps of a scale, counts, any numbers) and takes
        the family that predicts held-back responses best; other trainings than themes take the simplest one. With
        "bernoulli", "ordinal" and "categorical" it is a classifier that predicts labels, else a regressor; "auto" takes
        text, truth values and 0 or 1 for classes, predicts labels too, and is a classifier once it is fitted to them.
        An ordered pandas Categorical, or Arrow dictionary, is a scale of all its categories in their order, whether
        they occur or not ("ordinal"; "bernoulli" of two), so that every part of the data has the same levels.
    training : "themes", or as in `GLMNMF` "predictive" (themes that are moved to predict) or "joint" (the paper's).
        None is "themes", or "predictive" where a vectorizer is given.
    language : of the texts, by name or code: its stop words and negations are used; None to use none.
    seed_words : label -> words that a theme starts from.
    levels : the response's scale, such as (1, 5) or (1, 5, 0.5); None learns it from the responses seen. Ordered text,
        such as ["low", "mid", "high"], has no other way to tell its order, unless it is an ordered Categorical.
    max_terms : how many terms are kept at most; None takes 3,000 content terms for themes, else 2,000.
    stop_words : words that are not terms: "auto" for the language's, or as in `TextVectorizer`.
    supervision, word_residual, ngram_range : of the other trainings: how much the response counts against the text
        while learning; whether single words may add to the prediction beyond the themes (see `words`); least and
        greatest number of neighbouring words in a term.
    vectorizer : a TextVectorizer, in place of `language`, `max_terms`, `stop_words` and `ngram_range`. Without it terms
        are counted for predictive training and have TF-IDF weights for joint training.
    estimator : an estimator such as `JBNMF(n_themes=14, alpha=0.05)`, in place of `n_themes`, `family`, `training`,
        `levels`, `supervision`, `word_residual`, `random_state`, `n_jobs`. An option that contradicts it is an error.
    formula : what is made of covariates, such as "log(price) * C(country) + bs(age, 4)"; None for all their columns.
    missing : "error", or "drop" to fit without documents of which a covariate is missing.
    random_state, n_jobs : seed; threads, -1 for all cores. Results are the same bits for any number.
    device : "cpu", or "cuda" to learn themes and tone on a graphics card (`textsignal[gpu]`), in single precision.

    Attributes
    ----------
    reader_ : all that was learnt; vectorizer_, estimator_ : the fitted parts of other trainings than themes.
    components_ : (themes, terms) themes, `terms_` their terms.
    coherence_ : (themes,) mean NPMI of each theme's ten most probable terms in the training texts.
    labels_ : (themes,) the user's own labels of themes, None where a theme has only its terms.
    family_ : the response's family, with all that was learnt of it; naming_ : what the response is called.
    levels_, classes_ : the response's levels, in the order of the columns of `predict_proba`.
    n_documents_ : number of training texts; covariate_effects_ : effects of covariates and their standard errors.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(400, seed=1)
    >>> model = TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
    >>> good, bad = model.predict(["The staff were friendly and helpful.", "The bathroom was dirty."])
    >>> bool(good > bad)
    True
    """

    # Encoding of covariates and offset; None if the model has neither.
    design_: Design | None = None
    # Not routed as metadata by scikit-learn.
    __metadata_request__partial_fit = {"texts": UNUSED, "responses": UNUSED}  # noqa: RUF012
    # Training documents. A stored model does not hold them.
    _training: Observed | None = None

    def __init__(
        self,
        n_themes: int | str | None = None,
        *,
        family: str | Family = AUTO,
        training: str | None = None,
        language: str | None = "english",
        seed_words: Mapping[str, Sequence[str]] | None = None,
        levels: ArrayLike | None = None,
        max_terms: int | None = None,
        stop_words: str | Iterable[str] | None = parts.OWN,
        supervision: float = 0.5,
        word_residual: bool = False,
        ngram_range: tuple[int, int] = (1, 1),
        vectorizer: TextVectorizer | None = None,
        estimator: TopicEstimator | None = None,
        formula: str | None = None,
        missing: str = "error",
        random_state: Any = 0,
        n_jobs: int | None = -1,
        device: str = "cpu",
    ) -> None:
        self.n_themes = n_themes
        self.family = family
        self.training = training
        self.language = language
        self.seed_words = seed_words
        self.levels = levels
        self.max_terms = max_terms
        self.stop_words = stop_words
        self.supervision = supervision
        self.word_residual = word_residual
        self.ngram_range = ngram_range
        self.vectorizer = vectorizer
        self.estimator = estimator
        self.formula = formula
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    # Not routed as metadata by scikit-learn.
    __metadata_request__fit = {"texts": UNUSED, "responses": UNUSED}  # noqa: RUF012
    __metadata_request__transform = {"texts": UNUSED}  # noqa: RUF012

    def fit(
        self,
        texts: Iterable[str] | Tokens | pd.DataFrame,
        responses: ArrayLike,
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
        """Learn terms, themes or themes, and what they are worth.

        With covariates, all effects are given these; their own, which are not penalised, are in the same GLM.

        Parameters
        ----------
        texts : documents; an empty one is allowed and teaches nothing about themes. Or a DataFrame with documents in
            its first column and covariates in the others, as scikit-learn's cross-validation passes both.
        responses : one number or label per document; NaN or None if missing, in which case only the text is used.
        sample_weight : weight of each document in training.
        covariates : one row per document: numbers, yes or no, categories. With `formula`, the columns that it names.
        offset : term added to each linear predictor, such as the logarithm of an exposure.
        groups : clusters of dependent documents, such as hotels; standard errors of covariates are robust to them.
        text : column of the texts, if `texts` is a source that need not fit into memory: a file, a pattern such as
            "reviews/*.parquet", an Arrow dataset, or an iterable of tables. `responses` and `sample_weight` are then
            columns too. Tone is learnt from all documents, themes and their effects from a random sample.
        memory, folder, engine : for a source only: memory limit of the fit; folder for its intermediate results, from
            which a stopped fit resumes, or None; engine that reads it, such as `engines.dask.DaskEngine(client)`, or
            None for this process.
        """
        parts.check(self)
        if text is not None:
            columns = streaming.columns_of(text, responses, sample_weight, covariates, offset, groups)
            with streaming.read_to_fit(self, texts, columns, memory=memory, folder=folder, engine=engine) as read:
                return self.take_source(read.fit(), columns.response)
        if engine is not None:
            raise InputError("an engine is for a source; give text=, the column of its texts")
        texts, covariates = texts_and_covariates(texts, covariates)
        tokens = parts.tokenise(self, texts)
        observed, design = observe_given(
            parts.observe_response(self, tokens, responses, sample_weight),
            covariates=covariates,
            offset=offset,
            groups=groups,
            formula=self.formula,
            missing=self.missing,
        )
        reader = parts.fit_reader(self, observed, getattr(self, "_callbacks", ()))
        return self._take(reader, observed, design, name_of(responses, "response"))

    def take_source(self, fitted: streaming.FittedSource, response: str) -> Self:
        """Take over the results of a fit to a source; response : name of its column."""
        self._take(fitted.reader, fitted.sample.but(fitted.held_out), None, response)
        self.n_documents_ = fitted.n_documents - int(fitted.held_out.sum())
        return self

    def _take(self, reader: Reader, observed: Observed, design: Design | None, name: str) -> Self:
        """Take over the results of a fit; name : of the response."""
        self.reader_, self.design_, self._training = reader, design, observed
        self.labels_ = [*(self.seed_words or ()), *[None] * len(reader.profiles)][: len(reader.profiles)]
        self.n_documents_ = len(observed.tokens)
        self.naming_ = Naming.of(reader.family, name, given="" if design is None else design.condition)
        return self

    def fit_transform(
        self,
        texts: Iterable[str] | Tokens | pd.DataFrame,
        responses: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> Array:
        """Fit the model and return the transformed texts, (documents, themes); texts are tokenised once."""
        texts, covariates = texts_and_covariates(texts, covariates)
        tokens = parts.tokenise(self, texts)
        self.fit(tokens, responses, sample_weight, covariates=covariates, offset=offset)
        return self.reader_.predictions(tokens).weights  # `transform` would return a table without the texts' index

    def tokenise(self, texts: Iterable[str]) -> Tokens:
        """Return tokenised texts, which `fit` and `read` accept, so that texts used twice are tokenised once."""
        return self.reader_.tokenise(texts) if self.__sklearn_is_fitted__() else parts.tokenise(self, texts)

    def read(
        self, texts: Iterable[str] | Tokens, *, covariates: pd.DataFrame | None = None, offset: ArrayLike | None = None
    ) -> Reading:
        """Return words, term counts, themes and predictions of texts, computed in one pass.

        covariates, offset : as in `fit`, if the model was fitted with them.
        """
        check_is_fitted(self)
        texts, covariates = texts_and_covariates(texts, covariates)
        tokens = self.reader_.tokenise(texts)
        return self.reader_.read(tokens, self._given(len(tokens), covariates, offset))

    def training_observed(self) -> Observed:
        """Return the training documents; a loaded model does not hold them."""
        check_is_fitted(self)
        return self._observed(None, None)

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set scikit-learn callbacks for training, such as `sklearn.callback.ProgressBar()`."""
        self._callbacks = callbacks
        return self

    def themes(self, n_terms: int = 10) -> pd.DataFrame:
        """Return a table with one row per theme.

        Columns for themes, the largest cost first: theme (its number, the column of `transform`), label, and the rest
        as in `drivers`, with coherence.

        Columns for other trainings, strongest positive effect first: theme, label, effect, prevalence (share of all
        text), coherence, terms. The effect is on the linear predictor, per unit of weight with every theme summing to
        1, and relative to the average text: at the mean weights of training all effects add up to 0.

        With covariates, all numbers are conditional on them, and the table's `attrs["given"]` states so in a sentence.
        For a model fitted to a source, `attrs["basis"]` describes the documents it was learnt from.
        """
        check_is_fitted(self)
        check_number("n_terms", n_terms, least=1, whole=True)
        table = themes_of(self.reader_, self.labels_, n_terms, self.naming_.better)
        table.attrs |= {"given": self.naming_.condition} if self.naming_.given else {}
        table.attrs |= {"basis": self.reader_.basis} if self.reader_.basis else {}
        return table

    def explain(
        self, text: str, *, covariates: pd.DataFrame | None = None, offset: ArrayLike | None = None
    ) -> Explanation:
        """Return the contributions of themes, sentences and words to the prediction for one text.

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
        check_is_fitted(self)
        average = self.design_ is not None and covariates is None and offset is None
        given = self.design_.average if self.design_ and average else self._given(1, covariates, offset)
        return explain(self.reader_, text, self._theme_names(), given)

    def predictions(
        self, documents: Iterable[str], *, covariates: pd.DataFrame | None = None, offset: ArrayLike | None = None
    ) -> Predictions:
        """Return weights, expected responses and levels of texts, computed in one pass."""
        check_is_fitted(self)
        texts, covariates = texts_and_covariates(documents, covariates)
        tokens = self.reader_.tokenise(texts)
        return self.reader_.predictions(tokens, self._given(len(tokens), covariates, offset))

    def transform(self, texts: Iterable[str] | Tokens) -> Array:
        """Return the share of each theme in each text, (documents, themes); for other trainings, theme weights.

        A text without known terms gets those of the average text. Covariates have no influence.
        """
        check_is_fitted(self)
        return self.reader_.predictions(texts_and_covariates(texts, None)[0]).weights

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        """Return the labels of the themes in the order of the columns of `transform`; duplicates get a number appended.

        Examples
        --------
        >>> from textsignal.datasets import synthetic_reviews
        >>> reviews = synthetic_reviews(400, seed=1)
        >>> model = TextResponseModel(n_themes=2).fit(reviews.texts, reviews.ratings)
        >>> model.rename({0: "staff", 1: "dirt"}).get_feature_names_out()
        array(['staff', 'dirt'], dtype=object)
        """
        check_is_fitted(self)
        return np.array(unique_labels(self._theme_names()), dtype=object)

    @property
    def components_(self) -> Array:
        """(themes, terms) themes."""
        check_is_fitted(self)
        return self.reader_.profiles

    @property
    def terms_(self) -> NDArray[Any]:
        """(terms,) names of the terms."""
        check_is_fitted(self)
        return np.array(self.reader_.terms, dtype=object)

    @property
    def coherence_(self) -> NDArray[np.float64]:
        """(themes,) mean NPMI of each theme's ten most probable terms in the training texts."""
        check_is_fitted(self)
        return self.reader_.coherence

    @property
    def family_(self) -> Family:
        """The response's family, with its scale and own parameters."""
        check_is_fitted(self)
        return self.reader_.family

    @property
    def levels_(self) -> NDArray[Any]:
        """The response's levels, lowest first; raises AttributeError if it has none."""
        check_is_fitted(self)
        return self.reader_.family.levels

    @property
    def covariate_effects_(self) -> pd.DataFrame:
        """One row per column of covariates: name, effect (on the linear predictor) and std_error.

        Numbers have one column; a category has one for each level but the most frequent one, which the others are
        compared with. Standard errors allow for overdispersion, and with `groups`
        for dependence within groups; NaN if a column is constant.
        """
        check_is_fitted(self)
        effects, errors = self.reader_.covariates
        names = [] if self.design_ is None else list(self.design_.names)
        return pd.DataFrame({"name": names, "effect": effects, "std_error": errors})

    @property
    def vectorizer_(self) -> TextVectorizer:
        """The fitted vectorizer; not available for themes."""
        return self._matrix_reader("vectorizer_").vectorizer

    @property
    def estimator_(self) -> TopicEstimator:
        """The fitted estimator; not available for themes."""
        return self._matrix_reader("estimator_").estimator

    def partial_fit(self, texts: Iterable[str], responses: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Update the model with more documents, in about a second: for reviews that arrive daily.

        Themes, their labels and the vocabulary are kept. Tone is updated by steps on the new documents, weighted by
        their share of all, and the effects of themes are refitted to documents old and new. After many updates, or if
        the subjects of the texts change, `fit` to all. An unfitted model is fitted.

        Parameters
        ----------
        texts, responses, sample_weight : of the new documents, as in `fit`.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(500, seed=1)
        >>> model = ts.TextResponseModel(n_themes=5).fit(reviews.texts[:400], reviews.ratings[:400])
        >>> model.partial_fit(reviews.texts[400:], reviews.ratings[400:]).n_documents_
        500
        """
        if not hasattr(self, "reader_"):
            return self.fit(texts, responses, sample_weight)
        reader = self.reader_
        if not isinstance(reader, ThemeReader):
            raise InputError("partial_fit is for themes and one response that is not a class; fit to all documents")
        if self.design_ is not None:
            raise InputError(
                "partial_fit knows no covariates, but the model was fitted with some; fit to all documents"
            )
        tokens = reader.tokenise(texts)
        if not len(tokens):
            return self
        new = observe(tokens, responses, sample_weight, reader.family)
        with local_compute(self.n_jobs) as compute:
            fitted = learn_more(reader.fitted, tokens, new.responses, new.weight, self.n_documents_, compute)
        self.reader_ = replace(reader, fitted=fitted)
        self.n_documents_ += len(tokens)
        self._training = None if self._training is None else _joined(self._training, new, reader)
        return self

    def drivers(
        self,
        by: ArrayLike | pd.Series | None = None,
        *,
        texts: Iterable[str] | Tokens | None = None,
        responses: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
        n_terms: int = DRIVER_TERMS,
        interval: float | None = None,
        groups: ArrayLike | None = None,
    ) -> Drivers:
        """Return what to fix first and what to keep: one row per theme, the largest cost first.

        Columns: theme (its number), label, reach (share of documents that mention it), share (of all text),
        mean_response (of documents that mention it), mean_elsewhere (of the others), well and badly (shares of the
        documents that mention it in which it moves the linear predictor for the better and for the worse), raises and
        lowers (for themes: the words that raise and lower it most), cost and gain (by how much the mean response would
        be better without negative mentions, and worse without positive ones), terms. More is better, unless set
        otherwise by `name_response`. Classes without an order have separate rows, each class against all others,
        with the class in the first column. With `by` also group and documents (their number), the largest
        group first. `findings()` of the table returns sentences on what to fix first and what to keep, and a notebook
        shows them.

        Cost and gain are what-ifs on the fitted model, not causal claims: the decrease or increase of the mean
        response due to a theme, compared with neutral mentions. For themes, training texts count by out-of-fold tone.
        With covariates, all numbers are conditional on them: texts are compared with others of the same covariates.

        Parameters
        ----------
        by : (documents,) the group of each document, such as its hotel; documents without one are excluded.
        texts, responses, sample_weight, covariates, offset : the documents; by default those of training.
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
        documents: dict[str, Any] = {
            "texts": texts,
            "responses": responses,
            "sample_weight": sample_weight,
            "covariates": covariates,
            "offset": offset,
        }
        given = None if all(value is None for value in documents.values()) else self._observed(**documents)

        def table(reader: Reader, observed: Observed | None) -> pd.DataFrame:
            spoken = reader.trained if observed is None else None
            if spoken is None:
                observed = self._observed(None, None) if observed is None else observed
                reader.family.encode(observed.responses)
                reading = reader.read(observed.tokens, observed.given)
                spoken = reader.spoken(reading, observed.responses, observed.weight)
            judged = spoken.judged(self.naming_.better)
            return with_words(reader, grouped_drivers(judged, by), self.labels_, n_terms)

        if not isinstance(self.reader_, ClassReader):
            made = table(self.reader_, given)
            if interval is not None:
                made = with_intervals(made, self.estimate_effects(by, level=interval, groups=groups, **documents))
            if given is None and (basis := self.reader_.basis):
                made.attrs["basis"] = basis
            return Drivers.of(made, self.naming_)
        if interval is not None:
            raise self.reader_.of_one_class("intervals")
        each = self.reader_.observed_by_class(given)
        tables = {label: table(self.reader_.of_class(label), each[label]) for label in self.reader_.classes}
        return Drivers.of(by_class(tables), self.naming_)

    def of(self, label: object) -> Self:
        """Return the model of one class against all others, if classes have no order: for explain, report, sentences.

        Its response is 1 for the class and 0 for others, so that means are shares.

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
        if not isinstance(self.reader_, ClassReader):
            raise InputError("only themes of three or more classes without an order have a model of each class")
        model = copy(self)
        model.reader_, model.family = self.reader_.of_class(label), ONE_CLASS
        model.naming_ = replace(self.naming_, unit=PERCENTAGE_POINTS, event=str(label), is_class=True)
        model._training = self.reader_.observed_by_class(self._training)[label]
        return model

    def name_response(self, name: str, unit: str | None = None, *, lower_is_better: bool = False) -> Self:
        """Return the model with names for the response and its unit, as sentences use them.

        Parameters
        ----------
        name : of the response.
        unit : name of one step, such as "stars"; by default one that suits the response: percentage points if it has
            two values, the name of the counted things, or points.
        lower_is_better : True if less is better, as for severity: themes that raise the response are then to be fixed.

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
        model.naming_ = Naming.of(self.reader_.family, name, unit, self.naming_.given, lower_is_better)
        return model

    def contributions(
        self,
        texts: Iterable[str],
        *,
        scale: str = "linear predictor",
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> pd.DataFrame:
        """Return the contribution of each theme, (documents x themes), by its label; the column "constant" is the rest.

        With covariates or an offset, the constant includes their contribution.

        Parameters
        ----------
        texts : documents.
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
        reading = self.read(texts, covariates=covariates, offset=offset)
        check_trainable(self.reader_.family, "contributions")
        family, eta, added = self.reader_.family, reading.predictions.eta, reading.contributions
        constant = eta - added.sum(axis=1)
        if scale == "response":
            slopes = np.array([slope_of(family, *pair) for pair in zip(constant.tolist(), eta.tolist(), strict=True)])
            constant, added = family.mean(constant), added * slopes[:, None]
        table = pd.DataFrame(added, columns=unique_labels(self._theme_names()), index=index_of(texts))
        table.insert(0, "constant", constant, allow_duplicates=True)
        return table

    def sentences(self, text: str) -> pd.DataFrame:
        """Return a table with one row per sentence of a text, for a model of themes.

        Columns: sentence, start, end (its position in the text, without HTML), theme and theme (its main one), share
        (of that theme in the sentence), tone and speaking (contributions of its tone and of its subject), contribution
        (their sum). With the constant of `contributions`, they add up to the linear predictor.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
        >>> table = model.sentences("The staff were friendly. The bathroom was dirty.")
        >>> bool(table["contribution"][0] > table["contribution"][1])
        True
        """
        reader, reading = self._of_themes([text])
        return sentence_table(reading, reader.fitted.effects, self._theme_names()).drop(columns="document")

    def find_sentences(
        self,
        theme: Theme,
        n: int = 10,
        good: bool | None = True,
        *,
        texts: Iterable[str] | None = None,
        responses: ArrayLike | None = None,
    ) -> pd.DataFrame:
        """Return sentences that illustrate a theme, for a model of themes.

        Columns: row (position of its text, from 0), sentence, response, share (of the theme), contribution.

        Parameters
        ----------
        theme : its number or label.
        n : maximum number, each of another document.
        good : True for positive sentences, False for negative ones, None for the most typical ones.
        texts, responses : the documents to search; by default those of training. A loaded model does not hold these.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
        >>> list(model.find_sentences(0, n=3, good=False).columns)
        ['row', 'sentence', 'response', 'share', 'contribution']
        """
        check_is_fitted(self)
        check_number("n", n, least=1, whole=True)
        number = theme_number(theme, self._theme_names())
        observed = self._observed(texts, responses)
        reader, reading = self._of_themes(observed.tokens)
        raising = None if good is None else good != self.naming_.lower_is_better
        return find_sentences(reading, reader.fitted.effects, number, int(n), raising, observed.responses)

    def find_documents(
        self,
        theme: Theme,
        n: int = 10,
        high: bool | None = True,
        *,
        texts: Iterable[str] | None = None,
        responses: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
        metadata: pd.DataFrame | None = None,
    ) -> pd.DataFrame:
        """Return documents that illustrate a theme: those in which it has the largest share of the text.

        Columns: row (position in the texts, from 0), text, response, prediction, share (of the theme), and those of
        `metadata`. There are fewer than `n` if the theme leads in fewer documents.

        Parameters
        ----------
        theme : its number or label.
        n : maximum number of documents.
        high : True for those with the highest responses among the most typical ones (with the largest shares),
            False for the lowest, None for the most typical ones regardless of their response.
        texts, responses, covariates, offset : the documents to search; by default those of training. A loaded model
            does not hold these.
        metadata : a table with one row per text, whose columns are added.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
        >>> list(model.find_documents(0, n=3, metadata=pd.DataFrame({"guest": range(400)})).columns)
        ['row', 'text', 'response', 'prediction', 'share', 'guest']
        """
        check_is_fitted(self)
        check_number("n", n, least=1, whole=True)
        observed = self._observed(texts, responses, None, covariates, offset)
        if high is not None and np.isnan(observed.responses).all():
            raise InputError("none of these texts has a response; give responses, or high=None to do without")
        check_trainable(self.reader_.family, "typical documents")
        predictions = self.reader_.read(observed.tokens, observed.given).predictions
        return find_documents(
            theme=theme_number(theme, self._theme_names()),
            n=int(n),
            high=high,
            texts=observed.texts,
            responses=observed.responses,
            predictions=predictions.mean,
            shares=predictions.shares,
            metadata=metadata,
        )

    def estimate_effects(
        self,
        by: ArrayLike | pd.Series | None = None,
        *,
        groups: ArrayLike | None = None,
        method: str = "crossfit",
        level: float = LEVEL,
        n_refits: int = REFITS,
        seed: int = 0,
        texts: Iterable[str] | Tokens | None = None,
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
        by : (documents,) groups to compare; documents without one are excluded from the comparison.
        groups : (documents,) clusters of dependent texts, such as hotels: errors are cluster-robust.
        method : "crossfit" for standard errors by a formula, calibrated in halves of the texts; "bootstrap" for those
            of refits; or "plugin", which ignores that themes and tone were learnt and gives too narrow intervals.
        level : of the intervals.
        n_refits, seed, progress : samples of the bootstrap; seed of these and of halves; called after each sample.
        texts, responses, sample_weight, covariates, offset : the documents; by default those of training. A loaded
            model does not hold these.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
        >>> model.estimate_effects().of("cost").columns[2:6].tolist()
        ['quantity', 'estimate', 'std_error', 'low']
        """
        reader = self._theme_reader("intervals")
        found = estimate_effects(
            reader,
            self._observed(texts, responses, sample_weight, covariates, offset),
            self._theme_names(),
            self.naming_,
            by=by,
            groups=groups,
            method=method,
            level=level,
            n_refits=n_refits,
            seed=seed,
            progress=progress,
        )
        return replace(found, method=f"{found.method} {reader.basis}") if reader.basis else found

    def stability(
        self,
        n_refits: int = 20,
        *,
        seed: int = 0,
        texts: Iterable[str] | Tokens | None = None,
        responses: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> pd.DataFrame:
        """Measure how often each theme is reproduced in refits: one row per theme, the least stable first.

        Themes are learnt anew from halves of the documents, each with another seed, and matched to the model's one to
        one. Columns: theme (its number), label, reproduced (share of refits in which its match has a cosine of at least
        .65, which mostly means that half of the ten leading words are shared), cosine (mean over refits), cost_sd,
        cost_low, cost_high (standard deviation, minimum and maximum of its cost over the refits that reproduce it).

        The vocabulary and the tone of words are kept: costs vary with the themes and the texts that mention them, not
        with the estimate of tone.

        Parameters
        ----------
        n_refits : number of refits; each takes about a sixth of the time of a whole fit.
        seed : of halves and refits.
        texts, responses, sample_weight, covariates, offset : the documents; by default those of training. A loaded
            model does not hold these.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
        >>> bool(model.stability(n_refits=4)["reproduced"].max() == 1)
        True
        """
        reader = self._theme_reader("refits")
        observed = self._observed(texts, responses, sample_weight, covariates, offset)
        found = stability(reader, observed, n_refits, seed, self.seed_words, self.naming_.better)
        return found.table(self._theme_names())

    def check(
        self,
        texts: Iterable[str] | Tokens | None = None,
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
        texts, responses, sample_weight, offset : the documents; by default those of training. A loaded model does not
            hold these.
        held_out : (documents,) True if not used in training; predictions are judged on these alone. Without it,
            themes are judged out of fold.
        covariates : one row per document: those that the model was fitted with, and any others to compare residuals
            with.
        by : (documents,) the group of each document; over : (documents,) the date of each.
        seed : of draws.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(300, seed=1)
        >>> model = ts.TextResponseModel(n_themes=5).fit(reviews.texts, reviews.ratings)
        >>> model.check().wrong
        ()
        """
        reader = self._theme_reader("checks")
        check_number("seed", seed, least=0, whole=True)
        own = covariates if texts is not None and self.design_ is not None and self.design_.covariates else None
        observed = self._observed(texts, responses, sample_weight, own, offset)
        n = len(observed.tokens)
        reading = reader.read(observed.tokens, observed.given)
        spoken = reader.spoken(reading, observed.responses, observed.weight)
        checked = Checked(
            reader=reader,
            reading=reading,
            spoken=spoken.judged(self.naming_.better),
            labels=self._theme_names(),
            naming=self.naming_,
            held_out=_flags(held_out, n),
            groups=None if by is None else as_groups(by, n),
            times=None if over is None else as_times(over, n),
            covariates=as_table(covariates, n),
            group_name=name_of(by, "group"),
            time_name=name_of(over, "date"),
            seed=int(seed),
        )
        return check_all(checked)

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
        model.labels_ = renamed(new, self.labels_, self._theme_names())
        return model

    def merge(
        self,
        themes: Iterable[Theme],
        label: str | None = None,
        *,
        texts: Iterable[str] | None = None,
        responses: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> Self:
        """Return a new model with one theme in place of several; this one is not changed.

        The new theme is the mean of their profiles, weighted by prevalence, at the position of the first of them;
        later themes move up. Weights are recomputed from the text, and effects and intercept are refitted.

        Parameters
        ----------
        themes : numbers or labels.
        label : of the new theme; by default made of its terms.
        texts, responses, sample_weight, covariates, offset : documents to refit on; by default those of training. A
            loaded model does not hold these.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
        >>> len(model.merge([0, 3], "both").themes()), len(model.themes())
        (7, 8)
        """
        check_is_fitted(self)
        profiles, weights = self.reader_.mergeable
        revision = merged(themes, label, themes=profiles, weights=weights, own=self.labels_, names=self._theme_names())
        return self._revised(revision, self._observed(texts, responses, sample_weight, covariates, offset))

    def drop(
        self,
        themes: Iterable[Theme],
        *,
        texts: Iterable[str] | None = None,
        responses: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> Self:
        """Return a new model without some themes; this one is not changed.

        Later themes move up. Weights are recomputed from the text, and effects and intercept are refitted.

        Parameters
        ----------
        themes : numbers or labels.
        texts, responses, sample_weight, covariates, offset : as in `merge`.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
        >>> model.drop([2, 5]).transform(["The staff were friendly."]).shape
        (1, 6)
        """
        check_is_fitted(self)
        profiles, weights = self.reader_.mergeable
        revision = dropped(themes, themes=profiles, weights=weights, own=self.labels_, names=self._theme_names())
        return self._revised(revision, self._observed(texts, responses, sample_weight, covariates, offset))

    def report(
        self,
        path: str | Path,
        *,
        texts: Iterable[str] | None = None,
        responses: ArrayLike | None = None,
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
        path : the file, such as "report.html".
        texts, responses, covariates, offset : the documents of the report; by default those of training. A loaded
            model does not hold these.
        held_out : (documents,) True for those of `texts` not used in training, to measure skill on new texts; None if
            all were used.
        by : (documents,) the group of each document, such as its hotel, to compare groups.
        over : (documents,) the date of each document, to show changes over time.
        interval : a level such as .95 for intervals of cost and gain, by `estimate_effects`; it takes as long
            as two or three fits. None for no intervals.
        groups : (documents,) for the intervals: clusters of dependent texts, such as hotels.
        with_texts : True to show documents; if False, the file is checked to hold none.
        mask : True to show e-mail addresses and phone numbers in documents as "[e-mail]" and "[phone]"; all
            numbers are those of the unmasked documents.
        n_documents : maximum number of documents in the file, to be browsed there; a sample if there are more.
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
        from textsignal.report.page.render import write_report  # charts are slow to import

        check_is_fitted(self)
        check_interval(interval)
        if groups is not None and interval is None:
            raise InputError("groups are those of ranges; give interval=0.95 too")
        observed = self._observed(texts, responses, None, covariates, offset)
        effects = None
        if interval is not None:
            if (observed.weight != 1).any():
                raise InputError(
                    "a report counts every text once, but these have weights; drivers(interval=...) has ranges"
                )
            tokens = None if texts is None else observed.tokens
            documents: dict[str, Any] = {
                "texts": tokens,
                "responses": responses,
                "covariates": covariates,
                "offset": offset,
            }
            effects = self.estimate_effects(level=interval, groups=groups, **documents)
        settings = ReportSettings(
            title=title,
            response_name=self.naming_.response if response_name is None else response_name,
            unit=self.naming_.unit if unit is None else unit,
            with_texts=with_texts,
            mask=mask,
            n_documents=n_documents,
            group_name=name_of(by, "group"),
            time_name=name_of(over, "date"),
            within="" if groups is None else name_of(groups, "group"),
            command=f"model = {self!r}\nmodel.fit(texts, responses)\nmodel.report({without_place(str(path))!r})",
        )
        reading = self.reader_.read(observed.tokens, observed.given)
        write_report(
            self,
            path,
            reading,
            observed.responses,
            held_out,
            settings,
            groups=by,
            times=over,
            effects=effects,
            force=force,
        )

    def words(self) -> pd.DataFrame:
        """Return words that add to the linear predictor beyond the themes, strongest first: columns term and effect.

        Empty without `word_residual`, and if words add nothing. Predictions by themes alone are
        `predictions(texts).by_topics`.
        """
        check_is_fitted(self)
        if not isinstance(self.reader_, MatrixReader):
            raise InputError(
                "a model of themes has no words beyond them; see explain, or `raises` and `lowers` of themes"
            )
        effects = self.estimator_.word_effects_
        order = np.argsort(-np.abs(effects), kind="stable")[: np.count_nonzero(effects)]
        return pd.DataFrame({"term": [self.vectorizer_.terms_[j] for j in order], "effect": effects[order]})

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the model to a new folder `path`, atomically; `force` replaces an existing model."""
        check_is_fitted(self)
        with whole_folder(Path(path), force=force) as folder:
            storage.write_model(self._stored(), folder)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "reader_")

    def _stored(self) -> storage.StoredModel:
        """Return the values that are stored."""
        options = self.get_params(deep=False)
        given = [name for name in parts.PARTS if options.pop(name) is not None]
        return storage.StoredModel(
            options, given, self.reader_, self.labels_, self.n_documents_, self.naming_, self.design_
        )

    def _html_repr(self) -> str:
        """A notebook shows the themes of a fitted model."""
        fitted = self.__sklearn_is_fitted__()
        return Drivers.of(self.themes(8), self.naming_)._repr_html_() if fitted else str(super()._html_repr())

    def _observed(
        self,
        texts: Iterable[str] | Tokens | None,
        responses: ArrayLike | None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> Observed:
        """Return the documents of a call, by default those of training."""
        others = {"responses": responses, "sample_weight": sample_weight, "covariates": covariates, "offset": offset}
        alone = [name for name, value in others.items() if value is not None]
        if texts is None and alone:
            verb = "were" if alone[0].endswith("s") else "was"
            raise InputError(f"{alone[0]} {verb} given without texts; give both, or none for the training texts")
        if texts is None:
            if self._training is None:
                raise InputError(NOT_STORED)
            return self._training
        texts, covariates = texts_and_covariates(texts, covariates)
        tokens = self.reader_.tokenise(texts)
        values = np.full(len(tokens), np.nan) if responses is None else responses
        observed = observe(tokens, values, sample_weight, self.reader_.family)
        return observed.with_given(self._given(len(tokens), covariates, offset))

    def _given(self, n_documents: int, covariates: Any, offset: ArrayLike | None) -> Given | None:
        """Return covariates and offset of documents; raise if they differ from those of the fit."""
        table, added = as_table(covariates, n_documents), as_offset(offset, n_documents)
        if self.design_ is None and table is None and added is None:
            return None
        design = self.design_ or Design.learn(None, None, np.ones(1))
        return design.given(table, added, n_documents)

    def _theme_reader(self, what: str) -> ThemeReader:
        """Return the reader with this model's number of threads; raise if the model has no such results."""
        check_is_fitted(self)
        if isinstance(self.reader_, ClassReader):
            raise self.reader_.of_one_class(what)
        if not isinstance(self.reader_, ThemeReader):
            raise InputError(f'{what} need a model of themes; fit with training="themes"')
        return self.reader_.with_jobs(self.n_jobs)

    def _of_themes(self, texts: Iterable[str] | Tokens) -> tuple[ThemeReader, ThemeReading]:
        reader = self._theme_reader("sentences")
        reading = reader.read(texts).sentences
        assert reading is not None
        return reader, reading

    def _revised(self, revision: Revision, observed: Observed) -> Self:
        """Return a new model with these themes, refitted to the documents."""
        return self._with_reader(
            self.reader_.with_themes(revision.themes, revision.weights, observed), revision, observed
        )

    def _with_reader(self, reader: Reader, revision: Revision, observed: Observed) -> Self:
        """Return a new model with themes that were refitted to the documents."""
        model = copy(self)
        model.reader_ = reader
        model.labels_, model.n_themes = revision.labels, len(revision.themes)
        if self.estimator is not None:
            model.estimator = clone(self.estimator).set_params(n_themes=len(revision.themes))
        model.n_documents_ = len(observed.tokens)
        model._training = observed
        return model

    def _theme_names(self) -> list[str]:
        """Return the labels of all themes, in the order of their numbers."""
        labels: list[str] = self.themes().drop_duplicates("theme").sort_values("theme")["label"].tolist()
        return labels

    def _matrix_reader(self, name: str) -> MatrixReader:
        reader = self.__dict__.get("reader_")
        if isinstance(reader, MatrixReader):
            return reader
        raise AttributeError(f"a model that is {'of themes' if reader else 'not fitted'} has no {name}")


def _joined(known: Observed, new: Observed, reader: ThemeReader) -> Observed:
    """Return old and new documents as one."""
    tokens: Tokens = reader.tokenise([*known.texts, *new.texts])
    weighted = known.sample_weight is not None or new.sample_weight is not None
    return replace(
        known,
        tokens=tokens,
        responses=np.concatenate([known.responses, new.responses]),
        sample_weight=np.concatenate([known.weight, new.weight]) if weighted else None,
    )


def _flags(held_out: ArrayLike | None, n: int) -> NDArray[np.bool_]:
    if held_out is None:
        return np.zeros(n, dtype=bool)
    flags = np.asarray(held_out, dtype=bool)
    if flags.shape != (n,):
        raise InputError(f"{n:,} texts, but held_out has {flags.size:,} flags; give one for each text")
    return flags
