"""The topic table: terms, labels and numbers of every topic. Pure functions of arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from textsignal.arrays import Array, Vector
from textsignal.reading.labels import relevance

#: Terms in a default label, and the most relevant terms that they are chosen from.
LABEL_TERMS, LABEL_CHOICE = 3, 10


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
