"""TopicModel: the paper's models on raw texts, by a vectorizer and an estimator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from textsignal import storage
from textsignal.arrays import Array, Vector
from textsignal.checks import check_choice, check_number
from textsignal.data.write import whole_folder
from textsignal.errors import InputError
from textsignal.estimators import JBNMF, Predicting, Predictions, TopicEstimator
from textsignal.families import Family
from textsignal.families.responses import in_numbers
from textsignal.insight.drivers import topic_table
from textsignal.insight.examples import find_texts
from textsignal.insight.explanation import Explanation, explain_topics
from textsignal.insight.revise import Theme, theme_number
from textsignal.reading.observed import response_column
from textsignal.reading.options import TOPIC_TERMS
from textsignal.reading.words import unique_labels
from textsignal.text.tokens import SentenceTexts, TokenisedTexts
from textsignal.text.vectorise import TextVectorizer
from textsignal.training.topics import coherence


class TopicModel(Predicting, TransformerMixin, BaseEstimator):
    """Topics of texts, and their effects on a response: Joint Binomial NMF and its relatives, on raw text.

    Parameters
    ----------
    estimator : a `JBNMF` (the paper's Algorithm 1) or a `GLMNMF`; None is `JBNMF()`.
    vectorizer : a `TextVectorizer`; None keeps 2,000 terms without English stop words, weighted as the estimator needs.

    Attributes
    ----------
    vectorizer_, estimator_ : the fitted parts.
    components_ : (topics, terms) topics, the rows of H; `terms_` their terms.
    coherence_ : (topics,) mean NPMI of each topic's ten most probable terms in the training texts.

    Examples
    --------
    >>> import textsignal as ts
    >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
    >>> model = ts.TopicModel(ts.JBNMF(n_topics=4, alpha=0.05)).fit(reviews.texts, reviews.ratings)
    >>> model.topics().columns.tolist()
    ['topic', 'label', 'effect', 'prevalence', 'coherence', 'terms']
    """

    # Not routed as metadata by scikit-learn.
    __metadata_request__fit = {"texts": UNUSED, "responses": UNUSED}  # noqa: RUF012
    __metadata_request__transform = {"texts": UNUSED}  # noqa: RUF012
    # Training texts and responses. A stored model does not hold them.
    _training: tuple[Sequence[str], Vector] | None = None

    def __init__(self, estimator: TopicEstimator | None = None, vectorizer: TextVectorizer | None = None) -> None:
        self.estimator = estimator
        self.vectorizer = vectorizer

    def fit(
        self,
        texts: Iterable[str] | TokenisedTexts,
        responses: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        covariates: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> Self:
        """Learn terms, topics and effects.

        Parameters
        ----------
        texts : an empty one is allowed and teaches nothing about topics.
        responses : one number or label per text; NaN or None if missing, in which case only the text is used.
        sample_weight : weight of each text in training.
        covariates, offset : numbers, as the estimators take them: (texts, columns) and (texts,).
        """
        self._check("estimator", TopicEstimator, "a GLMNMF or JBNMF")
        self._check("vectorizer", TextVectorizer, "a TextVectorizer, with a tokenizer of your own if need be")
        estimator = JBNMF() if self.estimator is None else clone(self.estimator)
        vectorizer = clone(self.vectorizer) if self.vectorizer else default_vectorizer(estimator)
        tokens = _tokens(texts, vectorizer)
        answers = response_column(len(tokens), responses)
        X = sp.csr_array(vectorizer.fit_transform(tokens))
        self.estimator_, self.vectorizer_ = estimator, vectorizer
        estimator.fit(X, answers, sample_weight, covariates=covariates, offset=offset)
        self.coherence_ = coherence(X, estimator.components_)
        self._training = tokens.texts, answers
        return self

    def tokenise(self, texts: Iterable[str]) -> TokenisedTexts:
        """Return tokenised texts, which all methods accept, so that texts used twice are tokenised once."""
        fitted = self.__sklearn_is_fitted__()
        vectorizer = self.vectorizer_ if fitted else self.vectorizer or default_vectorizer(self.estimator or JBNMF())
        return _tokens(texts, vectorizer)

    def _check(self, name: str, kind: type, advice: str) -> None:
        if not isinstance(part := getattr(self, name), kind | None):
            raise InputError(f"{name}={part!r} cannot be used here; give {advice}")

    def predictions(
        self, texts: Iterable[str], *, covariates: ArrayLike | None = None, offset: ArrayLike | None = None
    ) -> Predictions:
        """Return weights of topics, expected responses and levels of texts, computed in one pass.

        covariates, offset : as in `fit`, if the model was fitted with them.
        """
        return self.fitted_estimator.predictions(self._matrix(texts), covariates=covariates, offset=offset)

    def transform(self, texts: Iterable[str]) -> Array:
        """Return weights of topics, (texts, topics), inferred from the text alone."""
        return self.fitted_estimator.transform(self._matrix(texts))

    def _matrix(self, texts: Iterable[str] | TokenisedTexts) -> sp.csr_array:
        check_is_fitted(self)
        return sp.csr_array(self.vectorizer_.transform(_tokens(texts, self.vectorizer_)))

    @property
    def fitted_estimator(self) -> TopicEstimator:
        """The fitted estimator; raises NotFittedError before `fit`."""
        check_is_fitted(self)
        return self.estimator_

    @property
    def components_(self) -> Array:
        """(topics, terms) weights of terms in each topic."""
        return self.fitted_estimator.components_

    @property
    def terms_(self) -> NDArray[Any]:
        """(terms,) names of the terms."""
        check_is_fitted(self)
        return self.vectorizer_.terms_

    @property
    def family_(self) -> Family:
        """The response's family, with its scale."""
        return self.fitted_estimator.family_

    @property
    def levels_(self) -> NDArray[Any]:
        """The response's levels, lowest first; raises AttributeError if it has none."""
        return self.family_.levels

    def topics(self, n_terms: int = 10, *, by: str = "effect") -> pd.DataFrame:
        """Return a table with one row per topic; the index is the topic's number.

        Columns: topic (its number, the column of `transform`), label, effect, prevalence (share of all text),
        coherence, terms. The effect is on the linear predictor, per unit of weight with every topic summing to 1, and
        relative to the average text: at the mean weights of training all effects add up to 0. Classes without an order
        have rows for each class, with the class in the first column.

        Parameters
        ----------
        n_terms : terms to list.
        by : "effect" for the strongest positive effect first, "prevalence" for the most prevalent topic first.
        """
        check_number("n_terms", n_terms, least=1, whole=True)
        check_choice("by", by, ["effect", "prevalence"])
        table = topic_table(self.fitted_estimator, self.coherence_, self.terms_.tolist(), int(n_terms))
        keys = ["class", by] if "class" in table else [by]
        return table.sort_values(keys, ascending=[True] * (len(keys) - 1) + [False], kind="stable")

    @property
    def topic_names(self) -> list[str]:
        """(topics,) labels made of each topic's terms."""
        table = self.topics().drop_duplicates("topic").sort_values("topic")
        return [str(label) for label in table["label"]]

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        """Return the labels of the topics in the order of the columns of `transform`."""
        return np.array(unique_labels(self.topic_names), dtype=object)

    def words(self) -> pd.DataFrame:
        """Return words that add to the linear predictor beyond the topics, strongest first: columns term and effect.

        Empty without `word_residual`, and if words add nothing. Predictions by topics alone are
        `predictions(texts).by_topics`.
        """
        effects = self.fitted_estimator.word_effects_
        order = np.argsort(-np.abs(effects), kind="stable")[: np.count_nonzero(effects)]
        return pd.DataFrame({"term": self.terms_[order], "effect": effects[order]})

    def explain(self, text: str) -> Explanation:
        """Return the contributions of topics and words to the prediction for one text."""
        return explain_topics(self.vectorizer_, self.fitted_estimator, text, self.topic_names)

    def find_texts(
        self,
        topic: Theme,
        n: int = 10,
        high: bool | None = True,
        *,
        texts: Iterable[str] | None = None,
        responses: ArrayLike | None = None,
        metadata: pd.DataFrame | None = None,
    ) -> pd.DataFrame:
        """Return texts that illustrate a topic: those in which it has the largest share.

        Parameters are those of `TextResponseModel.find_texts`.
        """
        check_number("n", n, least=1, whole=True)
        known, answers = self._texts(texts, responses)
        predictions = self.predictions(known)
        number = theme_number(topic, self.topic_names, "topic")
        return find_texts(number, int(n), high, known, answers, predictions, metadata)

    def report(
        self,
        path: str | Path,
        *,
        texts: Iterable[str] | None = None,
        responses: ArrayLike | None = None,
        held_out: ArrayLike | None = None,
        title: str = "",
        force: bool = False,
    ) -> None:
        """Write a report on the topics to one self-contained HTML file.

        Parameters
        ----------
        path : the file, such as "topics.html".
        texts, responses : the texts to measure skill on and to quote; by default those of training. A loaded model does
            not hold these.
        held_out : (texts,) True for those of `texts` not used in training, to measure skill on new texts.
        title : of the page.
        force : True to replace an existing file.
        """
        from textsignal.report.topics import write_topics  # templates are slow to import

        known, answers = self._texts(texts, responses)
        write_topics(self, path, known, answers, held_out, title=title, force=force)

    @property
    def training_responses(self) -> Vector:
        """(texts,) responses of training in numbers, NaN if missing; a loaded model does not hold these."""
        return self._texts(None, None)[1]

    def _texts(self, texts: Iterable[str] | None, responses: ArrayLike | None) -> tuple[Sequence[str], Vector]:
        """Return texts and their responses, by default those of training."""
        check_is_fitted(self)
        if texts is None and responses is not None:
            raise InputError("responses were given without texts; give both, or none for the training texts")
        if texts is None:
            if self._training is None:
                raise InputError("this model was loaded, and a stored model does not hold its texts; give texts=...")
            known, column = self._training
        else:
            known = self.vectorizer_.tokenise(texts).texts
            column = np.full(len(known), np.nan) if responses is None else response_column(len(known), responses)
        return known, in_numbers(column, self.family_)

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the model to a new folder `path`, atomically; `force` replaces an existing model."""
        check_is_fitted(self)
        with whole_folder(Path(path), force=force) as folder:
            storage.write_topics(storage.TopicParts(self.vectorizer_, self.estimator_, self.coherence_), folder)

    @classmethod
    def restore(cls, stored: storage.TopicParts, n_jobs: int | None = None) -> Self:
        """Return a model from what was stored of it; n_jobs : threads, by default the number it was made with."""
        if n_jobs is not None:
            stored.estimator.set_params(n_jobs=n_jobs)
        model = cls(clone(stored.estimator), clone(stored.vectorizer))
        model.estimator_, model.vectorizer_, model.coherence_ = stored.estimator, stored.vectorizer, stored.coherence
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def _html_repr(self) -> str:
        """A notebook shows the topics of a fitted model."""
        fitted = self.__sklearn_is_fitted__()
        return self.topics(8).to_html(index=False, border=0) if fitted else str(super()._html_repr())


def _tokens(texts: Iterable[str] | TokenisedTexts, vectorizer: TextVectorizer) -> TokenisedTexts:
    if isinstance(texts, SentenceTexts):
        raise InputError("these texts were tokenised for a model of themes; give the texts themselves")
    return vectorizer.tokenise(texts)


def default_vectorizer(estimator: TopicEstimator) -> TextVectorizer:
    """Return the vectorizer of an estimator if none is given."""
    return TextVectorizer(*TOPIC_TERMS, stop_words="english", weighting=estimator.weighting)
