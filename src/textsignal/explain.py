"""What topics say, in words and numbers. Pure functions of arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Vector = NDArray[np.float64]

#: How much a term's share of the topic counts against its lift over the corpus, as in pyLDAvis.
RELEVANCE = 0.6
#: Terms in a default label.
LABEL_TERMS = 3


def relevance(topics: NDArray[np.floating], prevalence: Vector, trade_off: float = RELEVANCE) -> Vector:
    """How well each term characterises each topic: (topics, terms).

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


def topic_table(
    *,
    topics: NDArray[np.floating],
    effects: Vector,
    prevalence: Vector,
    coherence: Vector,
    terms: Sequence[str],
    n_terms: int = 10,
) -> pd.DataFrame:
    """One row a topic, strongest positive effect first.

    Columns: topic (its number, the column of `transform`), label (its most distinguishing terms), effect,
    prevalence, coherence, terms (the most relevant ones, a list).

    Examples
    --------
    >>> table = topic_table(
    ...     topics=np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]),
    ...     effects=np.array([-1.0, 2.0]),
    ...     prevalence=np.array([0.7, 0.3]),
    ...     coherence=np.array([0.1, 0.2]),
    ...     terms=["dirty", "room", "view"],
    ...     n_terms=2,
    ... )
    >>> table[["topic", "label", "effect"]]
       topic       label  effect
    0      1  view, room     2.0
    1      0  dirty, room    -1.0
    """
    ranked = np.argsort(-relevance(topics, prevalence), axis=1, kind="stable")
    names = [[terms[j] for j in row if topics[k, j] > 0] for k, row in enumerate(ranked)]
    table = pd.DataFrame(
        {
            "topic": np.arange(len(topics)),
            "label": [", ".join(row[:LABEL_TERMS]) for row in names],
            "effect": effects,
            "prevalence": prevalence,
            "coherence": coherence,
            "terms": [row[:n_terms] for row in names],
        }
    )
    return table.sort_values("effect", ascending=False, kind="stable", ignore_index=True)
