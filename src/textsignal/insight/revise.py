"""Topics put right by hand: renamed, merged or dropped."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from textsignal.arrays import Array, Vector
from textsignal.checks import check_number
from textsignal.errors import InputError
from textsignal.estimators import TopicEstimator
from textsignal.families import check_trainable
from textsignal.insight.documents import find_documents
from textsignal.reading.observed import Observed, Tokens
from textsignal.reading.reader import Reader

Labels = list[str | None]
#: A topic's number, or its label.
Topic = int | str


@dataclass(frozen=True)
class Revision:
    """topics : (topics, terms) profiles; weights : (topics,); labels : the user's own, None where a topic has none."""

    topics: Array
    weights: Vector
    labels: Labels


def topic_number(topic: Topic, labels: Sequence[str]) -> int:
    """Give the number of a topic that is given by number or by label.

    Examples
    --------
    >>> topic_number("noise", ["staff", "noise"]), topic_number(0, ["staff", "noise"])
    (1, 0)
    """
    if isinstance(topic, str):
        found = [k for k, label in enumerate(labels) if label == topic]
        if len(found) != 1:
            count = f"{len(found)} topics have" if found else "no topic has"
            listed = "; ".join(f"{k} {label!r}" for k, label in enumerate(labels))
            raise InputError(f"{count} the label {topic!r}; give a number or one of: {listed}")
        return found[0]
    try:
        number = operator.index(topic)
    except TypeError:
        raise InputError(f"topic={topic!r} is neither a number nor a label of a topic") from None
    if isinstance(topic, bool) or not 0 <= number < len(labels):
        raise InputError(f"topic={topic!r} is not a topic; topics are numbered from 0 to {len(labels) - 1}")
    return number


def renamed(new: Mapping[Topic, str | None], own: Labels, names: Sequence[str]) -> Labels:
    """Give the user's own labels after some are changed; None takes a topic's own label away.

    own : the labels before, None where a topic has none; names : what every topic is called.
    """
    labels = list(own)
    for topic, label in new.items():
        labels[topic_number(topic, names)] = _checked_label(label)
    given = [label for label in labels if label is not None]
    for label in given:
        if given.count(label) > 1:
            raise InputError(
                f"two topics would be called {label!r}; labels must differ (to make one of two, merge them)"
            )
    return labels


def merged(
    group: Iterable[Topic],
    label: str | None,
    *,
    topics: Array,
    weights: Vector,
    own: Labels,
    names: Sequence[str],
) -> Revision:
    """Put one topic in place of several: the mean of their profiles, weighted by prevalence.

    It stands where the first of them stood. topics : (topics, terms), of any size; weights : (topics,) prevalence
    divided by what a topic sums to.

    Examples
    --------
    >>> topics = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    >>> merged(
    ...     [2, 0], "both", topics=topics, weights=np.array([3.0, 1.0, 1.0]), own=[None, "x", None], names="axb"
    ... )
    Revision(topics=array([[0.75, 0.25], [0.5 , 0.5 ]]), weights=array([4., 1.]), labels=['both', 'x'])
    """
    numbers = _numbers(group, names)
    if len(numbers) < 2:
        raise InputError(f"merging needs at least two topics, and {len(numbers)} was given")
    parts = weights[numbers]
    profile = np.average(topics[numbers], axis=0, weights=parts if parts.sum() > 0 else None)
    first, *others = numbers
    changed, together = topics.copy(), weights.copy()
    changed[first], together[first] = profile, parts.sum()
    labels = renamed({first: label}, [None if k in numbers else kept for k, kept in enumerate(own)], names)
    return _without(others, changed, together, labels)


def dropped(group: Iterable[Topic], *, topics: Array, weights: Vector, own: Labels, names: Sequence[str]) -> Revision:
    """Take topics out."""
    numbers = _numbers(group, names)
    if len(numbers) == len(topics):
        raise InputError(f"dropping all {len(topics)} topics leaves no model; keep at least one")
    return _without(numbers, topics, weights, own)


def _without(numbers: Sequence[int], topics: Array, weights: Vector, labels: Labels) -> Revision:
    kept = [k for k in range(len(topics)) if k not in numbers]
    return Revision(topics[kept], weights[kept], [labels[k] for k in kept])


def _numbers(group: Iterable[Topic], names: Sequence[str]) -> list[int]:
    """Numbers of topics, ascending, each once; one topic alone may be given without a list."""
    listed = [group] if isinstance(group, str | int | np.integer) else list(group)
    return sorted({topic_number(topic, names) for topic in listed})


def _checked_label(label: str | None) -> str | None:
    if label is not None and (not isinstance(label, str) or not label.strip()):
        raise InputError(f"label={label!r} must be a text that is not empty, or None for the topic's terms")
    return label


class Revisable:
    """What a fitted model of texts offers to somebody who looks at its topics and puts them right."""

    n_topics: int | str | None
    estimator: TopicEstimator | None
    reader_: Reader
    labels_: Labels
    n_documents_: int
    # What the model was trained on. A stored model does not hold it.
    _training: Observed | None = None

    @abstractmethod
    def topics(self, n_terms: int = 10) -> pd.DataFrame:
        """One row per topic."""

    @abstractmethod
    def _observed(
        self,
        texts: Iterable[str] | Tokens | None,
        responses: ArrayLike | None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> Observed:
        """What was given, or else what the model was trained on."""

    def find_documents(
        self,
        topic: Topic,
        n: int = 10,
        high: bool | None = True,
        *,
        texts: Iterable[str] | None = None,
        responses: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
        metadata: pd.DataFrame | None = None,
    ) -> pd.DataFrame:
        """Documents that show what a topic is: those in which it has the largest share of the text.

        Columns: row (position in the texts, from 0), text, response, prediction, share (of the topic), and those of
        `metadata`. There are fewer than `n` where the topic leads in fewer documents.

        Parameters
        ----------
        topic : its number or label.
        n : how many documents at most.
        high : True for those with the highest responses among the most typical ones (with the largest shares),
            False for the lowest, None for the most typical ones whatever their response.
        texts, responses, covariates, offset : where to look; those of training if not given. A loaded model does not
            hold these.
        metadata : a table with one row per text, whose columns are added.

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
        observed = self._observed(texts, responses, None, covariates, offset)
        if high is not None and np.isnan(observed.responses).all():
            raise InputError("none of these texts has a response; give responses, or high=None to do without")
        check_trainable(self.reader_.family, "typical documents")
        predictions = self.reader_.read(observed.tokens, observed.given).predictions
        return find_documents(
            topic=topic_number(topic, self._topic_names()),
            n=int(n),
            high=high,
            texts=observed.texts,
            responses=observed.responses,
            predictions=predictions.mean,
            shares=predictions.shares,
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
        model.labels_ = renamed(new, self.labels_, self._topic_names())
        return model

    def merge(
        self,
        topics: Iterable[Topic],
        label: str | None = None,
        *,
        texts: Iterable[str] | None = None,
        responses: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> Self:
        """Give a new model with one topic in place of several; this one stays as it is.

        The new topic is the mean of their profiles, weighted by prevalence, and stands where the first of them stood;
        later topics move up. Weights are found anew from the text, and effects and intercept are refitted on them.

        Parameters
        ----------
        topics : numbers or labels.
        label : of the new topic; None makes one of its terms.
        texts, responses, sample_weight, covariates, offset : what to refit on; what the model was trained on if not
            given. A loaded model does not hold that.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_topics=8).fit(reviews.texts, reviews.ratings)
        >>> len(model.merge([0, 3], "both").topics()), len(model.topics())
        (7, 8)
        """
        check_is_fitted(self)
        profiles, weights = self.reader_.mergeable
        revision = merged(topics, label, topics=profiles, weights=weights, own=self.labels_, names=self._topic_names())
        return self._revised(revision, self._observed(texts, responses, sample_weight, covariates, offset))

    def drop(
        self,
        topics: Iterable[Topic],
        *,
        texts: Iterable[str] | None = None,
        responses: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        covariates: pd.DataFrame | None = None,
        offset: ArrayLike | None = None,
    ) -> Self:
        """Give a new model without some topics; this one stays as it is.

        Later topics move up. Weights are found anew from the text, and effects and intercept are refitted on them.

        Parameters
        ----------
        topics : numbers or labels.
        texts, responses, sample_weight, covariates, offset : as in `merge`.

        Examples
        --------
        >>> import textsignal as ts
        >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
        >>> model = ts.TextResponseModel(n_topics=8).fit(reviews.texts, reviews.ratings)
        >>> model.drop([2, 5]).transform(["The staff were friendly."]).shape
        (1, 6)
        """
        check_is_fitted(self)
        profiles, weights = self.reader_.mergeable
        revision = dropped(topics, topics=profiles, weights=weights, own=self.labels_, names=self._topic_names())
        return self._revised(revision, self._observed(texts, responses, sample_weight, covariates, offset))

    def _revised(self, revision: Revision, observed: Observed) -> Self:
        """A new model with these topics, refitted to what was observed."""
        return self._with_reader(
            self.reader_.with_topics(revision.topics, revision.weights, observed), revision, observed
        )

    def _with_reader(self, reader: Reader, revision: Revision, observed: Observed) -> Self:
        """A new model with topics that were refitted to what was observed."""
        model = copy(self)
        model.reader_ = reader
        model.labels_, model.n_topics = revision.labels, len(revision.topics)
        if self.estimator is not None:
            model.estimator = clone(self.estimator).set_params(n_topics=len(revision.topics))
        model.n_documents_ = len(observed.tokens)
        model._training = observed
        return model

    def _topic_names(self) -> list[str]:
        """What every topic is called, in the order of their numbers."""
        labels: list[str] = self.topics().drop_duplicates("topic").sort_values("topic")["label"].tolist()
        return labels
