"""TextResponseModel: raw texts and responses in, topics, effects and predictions out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from textsignal import evaluate, parts, storage
from textsignal.arrays import Array
from textsignal.checks import check_number
from textsignal.errors import InputError
from textsignal.estimators import Predicting, Predictions, TopicEstimator
from textsignal.families import Family
from textsignal.tables.write import whole_folder
from textsignal.text.tokens import TokenisedTexts
from textsignal.text.vectorise import TextVectorizer
from textsignal.topics.explanation import Explanation, explain_text
from textsignal.topics.reading import Observed, Reading, read_counted
from textsignal.topics.revise import Revisable
from textsignal.topics.table import topic_table, unique_labels


class TextResponseModel(Predicting, Revisable, TransformerMixin, BaseEstimator):
    """Topics that explain texts and the number beside each of them.

    Parameters
    ----------
    n_topics : number of topics; None takes 10, or what `estimator` has.
    family : how the response is distributed: "binomial", or a family such as `Binomial(n=4, lowest=1)`.
    supervision : how much the response counts against the text while learning; 0 ignores it.
    training : "predictive" or "joint" (the paper's), as in `GLMNMF`.
    word_residual : whether single words may add to the prediction beyond the topics, as in `GLMNMF`; see `words`.
    levels : the response's scale, such as (1, 5); None learns it from the responses seen.
    max_terms : how many terms are kept at most; None takes 2,000.
    ngram_range : least and greatest number of neighbouring words in a term.
    stop_words : words that are not terms: a language, a list or None, as in `TextVectorizer`.
    vectorizer : a TextVectorizer, in place of the three options above. Without it terms are counted for predictive
        training and have TF-IDF weights for joint training.
    estimator : an estimator such as `JBNMF(n_topics=14, alpha=0.05)`, in place of `n_topics` to `levels`,
        `random_state` and `n_jobs`. An option that contradicts it is an error.
    random_state, n_jobs : seed; threads, -1 for all cores. Results are the same bits for any number.

    Attributes
    ----------
    vectorizer_, estimator_ : the fitted parts.
    components_ : (topics, terms) topics.
    coherence_ : (topics,) mean NPMI of each topic's ten most probable terms in the training texts.
    labels_ : (topics,) the user's own labels of topics, None where a topic has only its terms.
    levels_, classes_ : the response's levels, in the order of the columns of `predict_proba`.
    n_documents_ : number of training texts.

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
        n_topics: int | None = None,
        *,
        family: str | Family = "binomial",
        supervision: float = 0.5,
        training: str = "predictive",
        word_residual: bool = False,
        levels: ArrayLike | None = None,
        max_terms: int | None = None,
        ngram_range: tuple[int, int] = (1, 1),
        stop_words: str | Iterable[str] | None = "english",
        vectorizer: TextVectorizer | None = None,
        estimator: TopicEstimator | None = None,
        random_state: Any = 0,
        n_jobs: int | None = -1,
    ) -> None:
        self.n_topics = n_topics
        self.family = family
        self.supervision = supervision
        self.training = training
        self.word_residual = word_residual
        self.levels = levels
        self.max_terms = max_terms
        self.ngram_range = ngram_range
        self.stop_words = stop_words
        self.vectorizer = vectorizer
        self.estimator = estimator
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self, texts: Iterable[str] | TokenisedTexts, responses: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn terms, topics and effects.

        Parameters
        ----------
        texts : documents; an empty one is allowed and teaches nothing about topics.
        responses : one number per document; NaN where there is none, its text is used all the same.
        sample_weight : how often each document counts in training.
        """
        parts.check(self)
        estimator = parts.new_estimator(self).set_callbacks(*getattr(self, "_callbacks", ()))
        vectorizer = parts.new_vectorizer(self)
        tokens = vectorizer.tokenise(texts)
        _check_responses(len(tokens), responses)
        X = sp.csr_array(vectorizer.fit_transform(tokens))
        estimator.fit(X, responses, sample_weight)
        self.vectorizer_, self.estimator_ = vectorizer, estimator
        self.coherence_ = evaluate.coherence(X, estimator.components_)
        self.labels_ = [None] * len(estimator.components_)
        self.n_documents_ = X.shape[0]
        self._training = Observed(tokens.texts, X, np.ravel(responses).astype(float), sample_weight)
        return self

    def fit_transform(
        self, texts: Iterable[str], responses: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Array:
        """Do `fit`, and give the weights of its texts as `transform` would: (documents, topics)."""
        return self.fit(texts, responses, sample_weight).training_reading().predictions.weights.copy()

    def tokenise(self, texts: Iterable[str]) -> TokenisedTexts:
        """Give texts with their words, for `fit` and `read` to take: a text that is used twice is tokenised once."""
        vectorizer = self.vectorizer_ if self.__sklearn_is_fitted__() else parts.new_vectorizer(self)
        return vectorizer.tokenise(texts)

    def read(self, texts: Iterable[str] | TokenisedTexts) -> Reading:
        """Read texts: their words, their counts of terms and everything the model says of them, in one pass."""
        check_is_fitted(self)
        tokens = self.vectorizer_.tokenise(texts)
        X = sp.csr_array(self.vectorizer_.transform(tokens))
        return read_counted(tokens.texts, X, self.estimator_.predictions(X))

    def training_observed(self) -> Observed:
        """The documents that the model was trained on; a loaded model does not hold these."""
        check_is_fitted(self)
        return self._observed(None, None)

    def training_reading(self) -> Reading:
        """What the model reads in the documents that it was trained on."""
        return self._reading(self.training_observed())

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set scikit-learn callbacks, such as `sklearn.callback.ProgressBar()`, for training."""
        self._callbacks = callbacks
        return self

    def topics(self, n_terms: int = 10) -> pd.DataFrame:
        """One row per topic, strongest positive effect first.

        Columns: topic (its number, the column of `transform`), label, effect, prevalence (share of all text),
        coherence, terms.

        The effect is on the linear predictor, per unit of weight with every topic summing to 1, and relative to the
        average text: at the mean weights of training all effects add up to 0.
        """
        check_is_fitted(self)
        check_number("n_terms", n_terms, least=1, whole=True)
        centred = self.estimator_.centred_effects
        return topic_table(
            topics=self.estimator_.components_ / centred.size[:, None],
            effects=centred.effects,
            prevalence=centred.prevalence,
            coherence=self.coherence_,
            terms=self.vectorizer_.terms_.tolist(),
            labels=self.labels_,
            n_terms=n_terms,
        )

    def words(self) -> pd.DataFrame:
        """Words that add to the linear predictor beyond the topics, strongest first: columns term and effect.

        Empty without `word_residual`, and where topics leave nothing to words. What topics alone predict is
        `predictions(texts).by_topics`.
        """
        check_is_fitted(self)
        effects = self.estimator_.word_effects_
        order = np.argsort(-np.abs(effects), kind="stable")[: np.count_nonzero(effects)]
        return pd.DataFrame({"term": [self.vectorizer_.terms_[j] for j in order], "effect": effects[order]})

    def explain(self, text: str) -> Explanation:
        """Say what topics and words add to the prediction for one text.

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
        row = sp.csr_array(self.vectorizer_.transform([text]))
        scaled = self.estimator_.inference.rows(row)
        return explain_text(
            located=self.vectorizer_.locate(text),
            row=row,
            direct=scaled.data * self.estimator_.word_effects_[scaled.indices],
            predictions=self.estimator_.predictions(row),
            centred=self.estimator_.centred_effects,
            intercept=self.estimator_.intercept_,
            topics=self.estimator_.components_,
            labels=self._topic_names(),
            terms=self.vectorizer_.terms_.tolist(),
        )

    def predictions(self, documents: Iterable[str]) -> Predictions:
        """Everything the model says of texts, with one pass over them: weights, expected response, levels."""
        return self.read(documents).predictions

    def transform(self, texts: Iterable[str]) -> Array:
        """Weights of texts: (documents, topics). A text with no known term gets the mean weights."""
        return self.predictions(texts).weights

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
        return self.estimator_.components_

    @property
    def classes_(self) -> NDArray[np.int64]:
        """The response's levels, in the order of the columns of `predict_proba`."""
        return self.levels_

    @property
    def levels_(self) -> NDArray[np.int64]:
        """The response's levels, lowest first."""
        check_is_fitted(self)
        return self.estimator_.levels_

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the model to a new folder `path`, whole or not at all; `force` replaces a model that is there."""
        check_is_fitted(self)
        with whole_folder(Path(path), force=force) as folder:
            storage.write_model(self._stored(), folder)

    def report(
        self,
        path: str | Path,
        *,
        texts: Iterable[str] | None = None,
        responses: ArrayLike | None = None,
        held_out: ArrayLike | None = None,
        with_texts: bool = True,
        title: str = "",
        response_name: str = "response",
        unit: str = "points",
        force: bool = False,
    ) -> None:
        """Write a report on the model to one HTML file that needs nothing else.

        Parameters
        ----------
        path : the file, such as "report.html".
        texts, responses : the documents that it is about; those of training if not given. A loaded model does not
            hold these.
        held_out : (documents,) which of `texts` training has not seen, to say how well new texts are predicted; None
            for none of them.
        with_texts : whether documents are shown; if not, the file is checked to hold none.
        title : of the page.
        response_name, unit : what the response, and one step of it, are called, such as "Rating" and "stars".
        force : replace a file that is there.

        Examples
        --------
        >>> import tempfile
        >>> from textsignal.datasets import synthetic_reviews
        >>> reviews = synthetic_reviews(400, seed=1)
        >>> training, new = slice(300), np.arange(400) >= 300
        >>> model = TextResponseModel(n_topics=5).fit(reviews.texts[training], reviews.ratings[training])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.report(f"{folder}/report.html", texts=reviews.texts, responses=reviews.ratings, held_out=new)
        """
        # Charts are slow to import, and few calls need them.
        from textsignal.report.page.render import write_report
        from textsignal.report.values.data import ReportSettings

        check_is_fitted(self)
        observed = self._observed(texts, responses)
        settings = ReportSettings(
            title=title,
            response_name=response_name,
            unit=unit,
            with_texts=with_texts,
            command=f"model = {self!r}\nmodel.fit(texts, responses)\nmodel.report({str(path)!r})",
        )
        write_report(self, path, self._reading(observed), observed.responses, held_out, settings, force=force)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def _stored(self) -> storage.Parts:
        """What a folder holds of this model."""
        options = self.get_params(deep=False)
        given = [name for name in parts.PARTS if options.pop(name) is not None]
        fitted = (self.vectorizer_, self.estimator_, self.coherence_, self.labels_, self.n_documents_)
        return storage.Parts(options, given, *fitted)

    def _html_repr(self) -> str:
        """A notebook shows the topics of a fitted model."""
        if not self.__sklearn_is_fitted__():
            return str(super()._html_repr())
        table = self.topics(8).assign(terms=lambda topics: topics["terms"].map(", ".join))
        formats = {"effect": "{:+.2f}", "prevalence": "{:.1%}", "coherence": "{:.2f}"}
        for name, how in formats.items():
            table[name] = table[name].map(how.format)
        return str(table.to_html(index=False, border=0))

    def _observed(
        self, texts: Iterable[str] | None, responses: ArrayLike | None, sample_weight: ArrayLike | None = None
    ) -> Observed:
        """What was given, or else what the model was trained on."""
        if texts is None and responses is not None:
            raise InputError("responses were given without texts; give both, or none for the training texts")
        if texts is None and self._training is None:
            raise InputError(
                "this model was loaded, and a stored model does not hold the texts it was trained on; "
                "give them: texts=..., responses=..."
            )
        if texts is None:
            assert self._training is not None
            return self._training
        tokens = self.vectorizer_.tokenise(texts)
        values = np.full(len(tokens), np.nan) if responses is None else responses
        _check_responses(len(tokens), values)
        X = sp.csr_array(self.vectorizer_.transform(tokens))
        return Observed(tokens.texts, X, np.ravel(values).astype(float), sample_weight)

    def _reading(self, observed: Observed) -> Reading:
        """What the model reads in documents; training ones have their weights already."""
        weights = self.estimator_.text_weights_ if observed is self._training else None
        return read_counted(observed.texts, observed.X, self.estimator_.predictions(observed.X, weights))


def _check_responses(n_texts: int, responses: object) -> None:
    """Raise unless there is one response per text."""
    n_responses = len(responses) if isinstance(responses, Sized) else 0
    if n_responses != n_texts:
        raise InputError(f"{n_texts} texts, but {n_responses} responses; give one for each text")


def load(
    path: str | Path, *, tokenizer: Callable[[str], list[str]] | None = None, n_jobs: int | None = None
) -> TextResponseModel:
    """Read a model that `TextResponseModel.save` or `textsignal fit` wrote. Nothing stored is executed.

    Parameters
    ----------
    path : the model's folder.
    tokenizer : the function the model was fitted with, where it was not our own; functions are not stored.
    n_jobs : threads; None for as many as the model was made with.

    Examples
    --------
    >>> import tempfile
    >>> from textsignal.datasets import synthetic_reviews
    >>> reviews = synthetic_reviews(200, seed=1)
    >>> model = TextResponseModel(n_topics=4).fit(reviews.texts, reviews.ratings)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model")
    ...     again = load(f"{folder}/model")
    >>> bool((again.predict(reviews.texts) == model.predict(reviews.texts)).all())
    True
    """
    stored = storage.read_model(Path(path), tokenizer)
    parts.check_stored(path, stored.options, stored.given)
    if n_jobs is not None:
        stored.estimator.set_params(n_jobs=n_jobs)
    given = {name: clone(getattr(stored, name)) for name in stored.given}
    options = stored.options if n_jobs is None or "estimator" in given else stored.options | {"n_jobs": n_jobs}
    model = TextResponseModel(**options, **given)
    model.vectorizer_, model.estimator_ = stored.vectorizer, stored.estimator
    model.coherence_, model.labels_, model.n_documents_ = stored.coherence, stored.labels, stored.n_documents
    return model
