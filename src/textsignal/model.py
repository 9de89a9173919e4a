"""TextResponseModel: raw texts and responses in; themes, what they are worth, and predictions out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from textsignal import storage, streaming
from textsignal.arrays import Array
from textsignal.checks import check_number
from textsignal.compute.engines import Engine
from textsignal.data.covariates.design import Design
from textsignal.data.write import whole_folder
from textsignal.errors import InputError
from textsignal.estimators import Predicting, Predictions, TopicEstimator
from textsignal.families import Family
from textsignal.families.auto import AUTO
from textsignal.insight.beside import name_of
from textsignal.insight.conditional import Conditional, observe_given, texts_and_covariates
from textsignal.insight.explanation import Explanation, explain
from textsignal.insight.findings import Drivers
from textsignal.insight.growing import Growing
from textsignal.insight.naming import Naming
from textsignal.insight.revise import Revisable
from textsignal.insight.speaking import Speaking
from textsignal.insight.table import topics_of
from textsignal.reading import options as parts
from textsignal.reading.labels import unique_labels
from textsignal.reading.matrix import NOT_STORED
from textsignal.reading.observed import Observed, Reading, Tokens, observe
from textsignal.reading.of_matrix import OfMatrix
from textsignal.reading.reader import Reader
from textsignal.report.reporting import Reporting
from textsignal.text.vectorise import TextVectorizer


class TextResponseModel(
    Predicting, OfMatrix, Conditional, Revisable, Speaking, Reporting, Growing, TransformerMixin, BaseEstimator
):
    """Themes, or topics, that explain texts and the number beside each of them.

    Themes say what people speak of, tone how they speak of it, and a GLM on both what it is worth:

        linear predictor = constant + sum over themes of ( gamma * tone about it + beta * share of the text )

    Words add up to sentences, sentences to themes, themes and constant to the linear predictor.

    Parameters
    ----------
    n_topics : number of themes or topics; None takes 10, or what `estimator` has. "auto" takes the most themes, from 5
        to 30, that come back alike from either half of the texts; `reader_.described` says why. See `search`.
    family : the response's: "auto", a name of `families.FAMILIES` such as "ordinal", or a family such as
        `Binomial(4, 1)`. "auto" looks at the response (two values, steps of a scale, counts, any numbers) and takes
        the family that predicts held-back responses best; other trainings than themes take the simplest one. With
        "bernoulli", "ordinal" and "categorical" it is a classifier that predicts labels, else a regressor; "auto" takes
        text, truth values and 0 or 1 for classes, predicts labels too, and is a classifier once it is fitted to them.
        An ordered pandas Categorical, or Arrow dictionary, is a scale of all its categories in their order, whether
        they occur or not ("ordinal"; "bernoulli" of two), so that every part of the data has the same levels.
    training : "themes", or as in `GLMNMF` "predictive" (topics that are moved to predict) or "joint" (the paper's).
        None is "themes", or "predictive" where a vectorizer is given.
    language : of the texts, by name or code: its stop words and negations are used; None for none.
    seed_words : label -> words that a theme starts from.
    levels : the response's scale, such as (1, 5) or (1, 5, 0.5); None learns it from the responses seen. Ordered text,
        such as ["low", "mid", "high"], has no other way to tell its order, unless it is an ordered Categorical.
    max_terms : how many terms are kept at most; None takes 3,000 content terms for themes, else 2,000.
    stop_words : words that are not terms: "auto" for the language's, or as in `TextVectorizer`.
    supervision, word_residual, ngram_range : of the other trainings: how much the response counts against the text
        while learning; whether single words may add to the prediction beyond the topics (see `words`); least and
        greatest number of neighbouring words in a term.
    vectorizer : a TextVectorizer, in place of `language`, `max_terms`, `stop_words` and `ngram_range`. Without it terms
        are counted for predictive training and have TF-IDF weights for joint training.
    estimator : an estimator such as `JBNMF(n_topics=14, alpha=0.05)`, in place of `n_topics`, `family`, `training`,
        `levels`, `supervision`, `word_residual`, `random_state`, `n_jobs`. An option that contradicts it is an error.
    formula : what is made of covariates, such as "log(price) * C(country) + bs(age, 4)"; None for all their columns.
    missing : "error", or "drop" to fit without documents of which a covariate is missing.
    random_state, n_jobs : seed; threads, -1 for all cores. Results are the same bits for any number.
    device : "cpu", or "cuda" to learn themes and tone on a graphics card (`textsignal[gpu]`), in single precision.

    Attributes
    ----------
    reader_ : all that was learnt; vectorizer_, estimator_ : the fitted parts of other trainings than themes.
    components_ : (topics, terms) topics, `terms_` their terms.
    coherence_ : (topics,) mean NPMI of each topic's ten most probable terms in the training texts.
    labels_ : (topics,) the user's own labels of topics, None where a topic has only its terms.
    family_ : the response's family, with all that was learnt of it; naming_ : what the response is called.
    levels_, classes_ : the response's levels, in the order of the columns of `predict_proba`.
    n_documents_ : number of training texts; covariate_effects_ : effects of covariates and their standard errors.

    Examples
    --------
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(400, seed=1)
    >>> model = TextResponseModel(n_topics=8).fit(reviews.texts, reviews.ratings)
    >>> good, bad = model.predict(["The staff were friendly and helpful.", "The bathroom was dirty."])
    >>> bool(good > bad)
    True
    """

    def __init__(
        self,
        n_topics: int | str | None = None,
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
        self.n_topics = n_topics
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

    # What scikit-learn's metadata routing is not about.
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
        """Learn terms, themes or topics, and what they are worth.

        With covariates, all effects are given these; their own, which are not penalised, are in the same GLM.

        Parameters
        ----------
        texts : documents; an empty one is allowed and teaches nothing about topics. Or a DataFrame with documents in
            its first column and covariates in the others, as scikit-learn's cross-validation passes both.
        responses : one number or label per document; NaN or None where there is none, its text is used all the same.
        sample_weight : how often each document counts in training.
        covariates : one row per document: numbers, yes or no, categories. With `formula`, the columns that it names.
        offset : what is added to each linear predictor, such as the logarithm of an exposure.
        groups : within which documents depend on each other, such as hotels: standard errors of covariates mind them.
        text : column of the texts, where `texts` is a source of more than memory holds: a file, a pattern such as
            "reviews/*.parquet", an Arrow dataset, or an iterable of tables. `responses` and `sample_weight` are then
            columns too. Tone is learnt from all documents, themes and what they are worth from a random sample.
        memory, folder, engine : of a source: what the fit may take; where its numbers are kept, so that a fit that was
            stopped goes on from there, or None; who reads it, `engines.dask.DaskEngine(client)`, None for this process.
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
        """Be the model of what was fitted to a source; response : what its column is called."""
        self._take(fitted.reader, fitted.sample.but(fitted.held_out), None, response)
        self.n_documents_ = fitted.n_documents - int(fitted.held_out.sum())
        return self

    def _take(self, reader: Reader, observed: Observed, design: Design | None, name: str) -> Self:
        """Be the model of what was fitted; name : of the response."""
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
        """Do `fit`, then `transform` of the same texts, tokenising them once: (documents, topics)."""
        texts, covariates = texts_and_covariates(texts, covariates)
        tokens = parts.tokenise(self, texts)
        self.fit(tokens, responses, sample_weight, covariates=covariates, offset=offset)
        return self.reader_.predictions(tokens).weights  # `transform` would make a table without the texts' index

    def tokenise(self, texts: Iterable[str]) -> Tokens:
        """Give texts with their words, for `fit` and `read` to take: a text that is used twice is tokenised once."""
        return self.reader_.tokenise(texts) if self.__sklearn_is_fitted__() else parts.tokenise(self, texts)

    def read(
        self, texts: Iterable[str] | Tokens, *, covariates: pd.DataFrame | None = None, offset: ArrayLike | None = None
    ) -> Reading:
        """Read texts: their words, their counts of terms and everything the model says of them, in one pass.

        covariates, offset : as in `fit`, where the model was fitted with them.
        """
        check_is_fitted(self)
        texts, covariates = texts_and_covariates(texts, covariates)
        tokens = self.reader_.tokenise(texts)
        return self.reader_.read(tokens, self._given(len(tokens), covariates, offset))

    def training_observed(self) -> Observed:
        """The documents that the model was trained on; a loaded model does not hold these."""
        check_is_fitted(self)
        return self._observed(None, None)

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set scikit-learn callbacks, such as `sklearn.callback.ProgressBar()`, for training."""
        self._callbacks = callbacks
        return self

    def topics(self, n_terms: int = 10) -> pd.DataFrame:
        """One row per topic.

        Columns for themes, the largest lift first: topic (its number, the column of `transform`), label, and the rest
        as in `drivers`, with coherence.

        Columns for other trainings, strongest positive effect first: topic, label, effect, prevalence (share of all
        text), coherence, terms. The effect is on the linear predictor, per unit of weight with every topic summing to
        1, and relative to the average text: at the mean weights of training all effects add up to 0.

        With covariates all of it is given these; the table's `attrs["given"]` says so in a sentence, and of a model
        that was fitted to a source `attrs["basis"]` says which documents it was learnt from.
        """
        check_is_fitted(self)
        check_number("n_terms", n_terms, least=1, whole=True)
        table = topics_of(self.reader_, self.labels_, n_terms, self.naming_.better)
        table.attrs |= {"given": self.naming_.condition} if self.naming_.given else {}
        table.attrs |= {"basis": self.reader_.basis} if self.reader_.basis else {}
        return table

    def explain(
        self, text: str, *, covariates: pd.DataFrame | None = None, offset: ArrayLike | None = None
    ) -> Explanation:
        """Say what topics, sentences and words add to the prediction for one text.

        covariates, offset : of this text, in one row; those of the average text if neither is given.

        Examples
        --------
        >>> from textsignal.datasets import synthetic_reviews
        >>> reviews = synthetic_reviews(400, seed=1)
        >>> model = TextResponseModel(n_topics=8).fit(reviews.texts, reviews.ratings)
        >>> explanation = model.explain("The staff were friendly.")
        >>> explanation.prediction > explanation.baseline_prediction
        True
        """
        check_is_fitted(self)
        average = self.design_ is not None and covariates is None and offset is None
        given = self.design_.average if self.design_ and average else self._given(1, covariates, offset)
        return explain(self.reader_, text, self._topic_names(), given)

    def predictions(
        self, documents: Iterable[str], *, covariates: pd.DataFrame | None = None, offset: ArrayLike | None = None
    ) -> Predictions:
        """Everything the model says of texts, with one pass over them: weights, expected response, levels."""
        check_is_fitted(self)
        texts, covariates = texts_and_covariates(documents, covariates)
        tokens = self.reader_.tokenise(texts)
        return self.reader_.predictions(tokens, self._given(len(tokens), covariates, offset))

    def transform(self, texts: Iterable[str] | Tokens) -> Array:
        """(documents, topics) share of each text in each theme; weights for other trainings than themes.

        A text with no known term gets those of the average text. Covariates play no part in it.
        """
        check_is_fitted(self)
        return self.reader_.predictions(texts_and_covariates(texts, None)[0]).weights

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        """Labels of the topics, in the order of the columns of `transform`; equal ones have their number behind them.

        Examples
        --------
        >>> from textsignal.datasets import synthetic_reviews
        >>> reviews = synthetic_reviews(400, seed=1)
        >>> model = TextResponseModel(n_topics=2).fit(reviews.texts, reviews.ratings)
        >>> model.rename({0: "staff", 1: "dirt"}).get_feature_names_out()
        array(['staff', 'dirt'], dtype=object)
        """
        check_is_fitted(self)
        return np.array(unique_labels(self._topic_names()), dtype=object)

    @property
    def components_(self) -> Array:
        """(topics, terms) topics."""
        check_is_fitted(self)
        return self.reader_.profiles

    @property
    def terms_(self) -> NDArray[Any]:
        """(terms,) names of the terms."""
        check_is_fitted(self)
        return np.array(self.reader_.terms, dtype=object)

    @property
    def coherence_(self) -> NDArray[np.float64]:
        """(topics,) mean NPMI of each topic's ten most probable terms in the training texts."""
        check_is_fitted(self)
        return self.reader_.coherence

    @property
    def family_(self) -> Family:
        """The response's family, with its scale and own parameters."""
        check_is_fitted(self)
        return self.reader_.family

    @property
    def levels_(self) -> NDArray[Any]:
        """The response's levels, lowest first; absent where it has none."""
        check_is_fitted(self)
        return self.reader_.family.levels

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the model to a new folder `path`, whole or not at all; `force` replaces a model that is there."""
        check_is_fitted(self)
        with whole_folder(Path(path), force=force) as folder:
            storage.write_model(self._stored(), folder)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "reader_")

    def _stored(self) -> storage.Parts:
        """What a folder holds of this model."""
        options = self.get_params(deep=False)
        given = [name for name in parts.PARTS if options.pop(name) is not None]
        return storage.Parts(options, given, self.reader_, self.labels_, self.n_documents_, self.naming_, self.design_)

    def _html_repr(self) -> str:
        """A notebook shows the topics of a fitted model."""
        fitted = self.__sklearn_is_fitted__()
        return Drivers.of(self.topics(8), self.naming_)._repr_html_() if fitted else str(super()._html_repr())

    def _observed(
        self,
        texts: Iterable[str] | Tokens | None,
        responses: ArrayLike | None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> Observed:
        """What was given, or else what the model was trained on."""
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
