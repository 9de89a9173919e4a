"""A start for few topics: many unsupervised ones, merged where their effects on the response are alike.

A handful of unsupervised topics splits the text by its main themes, and these may average over good and bad. Finer topics
tell good from bad; merging neighbours in effect keeps that.
"""

from __future__ import annotations

import numpy as np

from textsignal.kernels import Array, Vector


def merge_by_effect(topics: Array, effects: Vector, prevalence: Vector, n_topics: int) -> Array:
    """Merge topics (many, terms), each summing to 1, into `n_topics`: (n_topics, terms).

    Those two neighbours in order of effect are merged, again and again, whose effects differ least (Ward's rule, by
    prevalence); the merged topic is their mean by prevalence.

    Examples
    --------
    >>> merge_by_effect(np.eye(3), np.array([1.0, -2.0, 1.1]), np.array([0.2, 0.4, 0.4]), 2).round(2)
    array([[0.  , 1.  , 0.  ],
           [0.33, 0.  , 0.67]])
    """
    order = np.argsort(effects, kind="stable")
    merged, effects, sizes = topics[order], effects[order].astype(float), prevalence[order].astype(float)
    while len(merged) > n_topics:
        sums = sizes[:-1] + sizes[1:]
        share = np.divide(sizes[1:], sums, out=np.full(len(sums), 0.5), where=sums > 0)
        first = int(np.argmin(sums * share * (1 - share) * np.diff(effects) ** 2))
        pair = np.array([1 - share[first], share[first]])
        merged[first] = pair @ merged[first : first + 2]
        effects[first] = pair @ effects[first : first + 2]
        sizes[first] = sums[first]
        merged, effects, sizes = (np.delete(values, first + 1, axis=0) for values in (merged, effects, sizes))
    return merged
