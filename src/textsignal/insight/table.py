"""The topic table: terms, labels and numbers of every topic. Pure functions of arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from textsignal.arrays import Array, Vector

#: How much a term's share of the topic counts against its lift over the corpus, as in pyLDAvis.
RELEVANCE = 0.6
#: Terms in a default label, and the most relevant terms that they are chosen from.
LABEL_TERMS, LABEL_CHOICE = 3, 10


def relevance(topics: Array, prevalence: Vector, trade_off: float = RELEVANCE) -> Vector:
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


def unique_labels(labels: Sequence[str]) -> list[str]:
    """Labels by topic number; those that occur twice have the number behind them.

    Examples
    --------
    >>> unique_labels(["room", "staff", "room"])
    ['room (0)', 'staff', 'room (2)']
    """
    counts = Counter(labels)
    return [f"{label} ({k})" if counts[label] > 1 else label for k, label in enumerate(labels)]


def with_lists_as_text(table: pd.DataFrame) -> pd.DataFrame:
    """A table whose lists of words are written with commas."""
    return table.map(lambda value: ", ".join(value) if isinstance(value, list) else value)


def topic_table(
    *,
    topics: Array,
    effects: Vector,
    prevalence: Vector,
    coherence: Vector,
    terms: Sequence[str],
    labels: Sequence[str | None] | None = None,
    n_terms: int = 10,
) -> pd.DataFrame:
    """One row per topic, strongest positive effect first.

    Columns: topic (its number, the column of `transform`), label (the given one, or else its most relevant terms,
    first those that no other topic uses more), effect, prevalence, coherence, terms (the most relevant ones, a list).

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
    used = [[j for j in row if topics[k, j] > 0] for k, row in enumerate(ranked[:, : max(n_terms, LABEL_CHOICE)])]
    given = [None] * len(used) if labels is None else labels
    most = topics.argmax(axis=0)
    distinguishing = [sorted(row[:LABEL_CHOICE], key=lambda j: most[j] != k) for k, row in enumerate(used)]
    table = pd.DataFrame(
        {
            "topic": np.arange(len(topics)),
            "label": [
                label or ", ".join(terms[j] for j in row[:LABEL_TERMS])
                for label, row in zip(given, distinguishing, strict=True)
            ],
            "effect": effects,
            "prevalence": prevalence,
            "coherence": coherence,
            "terms": [[terms[j] for j in row[:n_terms]] for row in used],
        }
    )
    return table.sort_values("effect", ascending=False, kind="stable", ignore_index=True)
