"""Terms that characterise a theme, and distinct labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from textsignal.arrays import Array, Vector

#: Weight of a term's share of the theme against its cost over the corpus, as in pyLDAvis.
RELEVANCE = 0.6


def relevance(themes: Array, prevalence: Vector, trade_off: float = RELEVANCE) -> Vector:
    """Return the relevance of each term to each theme: (themes, terms).

        relevance = trade_off log p(term | theme) + (1 - trade_off) log [ p(term | theme) / p(term) ]

    themes : (themes, terms), each summing to 1; prevalence : (themes,) summing to 1.

    Examples
    --------
    >>> themes = np.array([[0.6, 0.4, 0.0], [0.6, 0.0, 0.4]])
    >>> relevance(themes, np.array([0.5, 0.5])).argmax(axis=1)
    array([1, 2])
    """
    overall = prevalence @ themes
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.log(themes)
        cost = share - np.log(overall)
    return np.where(themes > 0, trade_off * share + (1 - trade_off) * cost, -np.inf)


def unique_labels(labels: Sequence[str]) -> list[str]:
    """Return labels by theme number; duplicates get the number appended.

    Examples
    --------
    >>> unique_labels(["room", "staff", "room"])
    ['room (0)', 'staff', 'room (2)']
    """
    counts = Counter(labels)
    return [f"{label} ({k})" if counts[label] > 1 else label for k, label in enumerate(labels)]
