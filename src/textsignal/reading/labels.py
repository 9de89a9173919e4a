"""Terms that characterise a topic, and distinct labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from textsignal.arrays import Array, Vector

#: Weight of a term's share of the topic against its lift over the corpus, as in pyLDAvis.
RELEVANCE = 0.6


def relevance(topics: Array, prevalence: Vector, trade_off: float = RELEVANCE) -> Vector:
    """Return the relevance of each term to each topic: (topics, terms).

        relevance = trade_off log p(term | topic) + (1 - trade_off) log [ p(term | topic) / p(term) ]

    topics : (topics, terms), each summing to 1; prevalence : (topics,) summing to 1.

    Examples
    --------
    >>> topics = np.array([[0.6, 0.4, 0.0], [0.6, 0.0, 0.4]])
    >>> relevance(topics, np.array([0.5, 0.5])).argmax(axis=1)
    array([1, 2])
    """
    overall = prevalence @ topics
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.log(topics)
        lift = share - np.log(overall)
    return np.where(topics > 0, trade_off * share + (1 - trade_off) * lift, -np.inf)


def unique_labels(labels: Sequence[str]) -> list[str]:
    """Return labels by topic number; duplicates get the number appended.

    Examples
    --------
    >>> unique_labels(["room", "staff", "room"])
    ['room (0)', 'staff', 'room (2)']
    """
    counts = Counter(labels)
    return [f"{label} ({k})" if counts[label] > 1 else label for k, label in enumerate(labels)]
