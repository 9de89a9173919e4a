"""Revisions of topics by the user: renamed, merged or dropped."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from textsignal.arrays import Array, Vector
from textsignal.errors import InputError

Labels = list[str | None]
#: A topic's number, or its label.
Topic = int | str


@dataclass(frozen=True)
class Revision:
    """topics : (topics, terms) profiles; weights : (topics,); labels : the user's, None if a topic has none."""

    topics: Array
    weights: Vector
    labels: Labels


def topic_number(topic: Topic, labels: Sequence[str]) -> int:
    """Return the number of a topic that is given by number or by label.

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
    """Return the user's labels after some are changed; None removes the label of a topic.

    own : the labels before, None if a topic has none; names : displayed names of all topics.
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
    """Replace several topics by one: the mean of their profiles, weighted by prevalence.

    It takes the position of the first. topics : (topics, terms), of any scale; weights : (topics,) prevalence divided
    by the sum of the topic.

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
    """Remove topics."""
    numbers = _numbers(group, names)
    if len(numbers) == len(topics):
        raise InputError(f"dropping all {len(topics)} topics leaves no model; keep at least one")
    return _without(numbers, topics, weights, own)


def _without(numbers: Sequence[int], topics: Array, weights: Vector, labels: Labels) -> Revision:
    kept = [k for k in range(len(topics)) if k not in numbers]
    return Revision(topics[kept], weights[kept], [labels[k] for k in kept])


def _numbers(group: Iterable[Topic], names: Sequence[str]) -> list[int]:
    """Sorted unique numbers of topics; a single topic needs no list."""
    listed = [group] if isinstance(group, str | int | np.integer) else list(group)
    return sorted({topic_number(topic, names) for topic in listed})


def _checked_label(label: str | None) -> str | None:
    if label is not None and (not isinstance(label, str) or not label.strip()):
        raise InputError(f"label={label!r} must be a text that is not empty, or None for the topic's terms")
    return label
