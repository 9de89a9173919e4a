"""Topics looked at and put right by hand: evidence for them, other labels, merging and dropping."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sized
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from textsignal import evaluate
from textsignal.checks import check_number
from textsignal.errors import InputError
from textsignal.estimators import Predictions, TopicEstimator
from textsignal.text.tokens import checked_texts
from textsignal.text.vectorise import TextVectorizer
from textsignal.topics import documents
from textsignal.topics.revise import Labels, Revision, Topic, dropped, merged, renamed, topic_number


@dataclass(frozen=True)
class Seen:
    """Texts that were given or trained on, with responses (NaN where there is none) and sample weights."""

    texts: list[str]
    responses: NDArray[np.float64]
    sample_weight: ArrayLike | None


def check_responses(texts: list[str], responses: object) -> None:
    """Raise unless there is one response a text."""
    n_responses = len(responses) if isinstance(responses, Sized) else 0
    if n_responses != len(texts):
        raise InputError(f"{len(texts)} texts, but {n_responses} responses; give one for each text")


class CurationMixin:
    """What a fitted model of texts offers to somebody who reads its topics and puts them right."""

    n_topics: int
    estimator: TopicEstimator | None
    vectorizer_: TextVectorizer
    estimator_: TopicEstimator
    coherence_: NDArray[np.float64]
    labels_: Labels
    n_documents_: int
    # What the model was trained on. A stored model does not hold it.
    _training_texts: list[str] | None = None
    _training_responses: NDArray[np.float64] | None = None
    _training_weight: ArrayLike | None = None

    @abstractmethod
    def topics(self, n_terms: int = 10) -> pd.DataFrame:
        """One row a topic."""

    @abstractmethod
    def predictions(self, texts: Iterable[str]) -> Predictions:
        """Everything the model says of texts."""

    def find_documents(
        self,
        topic: Topic,
        n: int = 10,
        high: bool | None = True,
        *,
        texts: Iterable[str] | None = None,
        responses: ArrayLike | None = None,
        metadata: pd.DataFrame | None = None,
    ) -> pd.DataFrame:
        """Documents that show what a topic is: those in which it has the largest share of the weight.

        Columns: row (position in the texts, from 0), text, response, prediction, share (of the topic), and those of
        `metadata`. There are fewer than `n` where the topic leads in fewer documents.

        Parameters
        ----------
        topic : its number or label.
        n : how many documents at most.
        high : True for those with the highest responses among the most typical ones (with the largest shares),
            False for the lowest, None for the most typical ones whatever their response.
        texts, responses : where to look; the training texts and responses if not given. A loaded model does not hold
            these.
        metadata : a table with one row a text, whose columns are added.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_topics=8).fit(reviews.texts, reviews.ratings)
        >>> list(model.find_documents(0, n=3, metadata=pd.DataFrame({"guest": range(400)})).columns)
        ['row', 'text', 'response', 'prediction', 'share', 'guest']
        """
        check_is_fitted(self)
        check_number("n", n, least=1, whole=True)
        given = self._seen(texts, responses, None)
        if high is not None and np.isnan(given.responses).all():
            raise InputError("none of these texts has a response; give responses, or high=None to do without")
        said = self.predictions(given.texts)
        weights = said.weights * self.estimator_.centred_effects.size
        return documents.find_documents(
            topic=topic_number(topic, self._shown_labels()),
            n=int(n),
            high=high,
            texts=given.texts,
            responses=given.responses,
            predictions=said.mean,
            shares=weights / weights.sum(axis=1, keepdims=True),
            metadata=metadata,
        )

    def rename(self, topic: Topic | Mapping[Topic, str | None], label: str | None = None) -> Self:
        """Give a new model in which topics have labels of the user's own; this one stays as it is.

        Parameters
        ----------
        topic : number or label of one topic, or a mapping from such to new labels.
        label : the new label of the one topic; None gives it back the label made of its terms.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_topics=8).fit(reviews.texts, reviews.ratings)
        >>> named = model.rename({0: "first", 1: "second"}).rename("second", "the other")
        >>> sorted(set(named.topics()["label"]) - set(model.topics()["label"]))
        ['first', 'the other']
        """
        check_is_fitted(self)
        new = topic if isinstance(topic, Mapping) else {topic: label}
        model = copy(self)
        model.labels_ = renamed(new, self.labels_, self._shown_labels())
        return model

    def merge(
        self,
        topics: Iterable[Topic],
        label: str | None = None,
        *,
        texts: Iterable[str] | None = None,
        responses: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Give a new model with one topic in place of several; this one stays as it is.

        The new topic is the mean of their profiles, weighted by prevalence, and stands where the first of them stood;
        later topics move up. Weights are found anew from the text, and effects and intercept are refitted on them.

        Parameters
        ----------
        topics : numbers or labels.
        label : of the new topic; None makes one of its terms.
        texts, responses, sample_weight : what to refit on; what the model was trained on if not given. A loaded model
            does not hold that.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_topics=8).fit(reviews.texts, reviews.ratings)
        >>> len(model.merge([0, 3], "both").topics()), len(model.topics())
        (7, 8)
        """
        check_is_fitted(self)
        estimator = self.estimator_
        revision = merged(
            topics,
            label,
            topics=estimator.components_,
            mean_weights=estimator.mean_weights_,
            own=self.labels_,
            shown=self._shown_labels(),
        )
        return self._revised(revision, self._seen(texts, responses, sample_weight))

    def drop(
        self,
        topics: Iterable[Topic],
        *,
        texts: Iterable[str] | None = None,
        responses: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Give a new model without some topics; this one stays as it is.

        Later topics move up. Weights are found anew from the text, and effects and intercept are refitted on them.

        Parameters
        ----------
        topics : numbers or labels.
        texts, responses, sample_weight : as in `merge`.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_topics=8).fit(reviews.texts, reviews.ratings)
        >>> model.drop([2, 5]).transform(["The staff were friendly."]).shape
        (1, 6)
        """
        check_is_fitted(self)
        revision = dropped(topics, topics=self.estimator_.components_, own=self.labels_, shown=self._shown_labels())
        return self._revised(revision, self._seen(texts, responses, sample_weight))

    def _seen(self, texts: Iterable[str] | None, responses: Any, sample_weight: ArrayLike | None) -> Seen:
        """What was given, or else what the model was trained on."""
        if texts is None and responses is not None:
            raise InputError("responses were given without texts; give both, or none for the training texts")
        if texts is not None:
            documents = checked_texts(texts)
            given = np.full(len(documents), np.nan) if responses is None else responses
            check_responses(documents, given)
            return Seen(documents, np.ravel(given).astype(float), sample_weight)
        if self._training_texts is None or self._training_responses is None:
            raise InputError(
                "this model was loaded, and a stored model does not hold the texts it was trained on; "
                "give them: texts=..., responses=..."
            )
        return Seen(self._training_texts, self._training_responses, self._training_weight)

    def _revised(self, revision: Revision, seen: Seen) -> Self:
        """A new model with these topics, refitted to what was seen."""
        X = self.vectorizer_.transform(seen.texts)
        estimator = self.estimator_.with_topics(revision.topics, X, seen.responses, seen.sample_weight)
        model = copy(self)
        model.estimator_, model.labels_ = estimator, revision.labels
        model.n_topics = estimator.n_topics
        if self.estimator is not None:
            model.estimator = clone(self.estimator).set_params(n_topics=estimator.n_topics)
        model.coherence_ = evaluate.coherence(X, estimator.components_)
        model.n_documents_ = len(seen.texts)
        model._training_texts, model._training_responses = seen.texts, seen.responses
        model._training_weight = seen.sample_weight
        return model

    def _shown_labels(self) -> list[str]:
        """What every topic is called, in the order of their numbers."""
        labels: list[str] = self.topics().sort_values("topic")["label"].tolist()
        return labels
