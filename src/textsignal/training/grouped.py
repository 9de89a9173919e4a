"""Grouping of documents with similar tone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Vector

#: Number of groups of tone: a fit to thousands of documents then costs as little as one to hundreds.
GROUPS = 100


def grouped(
    tone: Vector, folds: NDArray[np.int64], responses: Vector, weight: Vector
) -> tuple[Vector, NDArray[np.int64], Vector, Vector]:
    """Merge documents of similar tone, equal fold and equal response: tone (rows, 1), folds, responses, weights.

    Examples
    --------
    >>> tone, ones = np.linspace(0, 1, 1000), np.ones(1000)
    >>> alike = grouped(tone, np.zeros(1000, int), np.tile([1.0, 2.0], 500), ones)
    >>> len(alike[0]), alike[2][:3], alike[3][:3]
    (200, array([1., 2., 1.]), array([5., 5., 5.]))
    """
    order = np.argsort(tone, kind="stable")
    group = np.empty(len(tone), dtype=np.int64)
    group[order] = np.arange(len(tone)) * GROUPS // len(tone)
    size = np.maximum(np.bincount(group, weights=weight), np.finfo(float).tiny)
    means = np.bincount(group, weights=weight * tone) / size
    distinct_folds, fold = np.unique(folds, return_inverse=True)
    values, value = np.unique(responses, return_inverse=True)
    kinds, places = np.unique((group * distinct_folds.size + fold) * values.size + value, return_inverse=True)
    counts = np.asarray(np.bincount(places, weights=weight), dtype=float)
    alike, value = np.divmod(kinds, values.size)
    group, fold = np.divmod(alike, distinct_folds.size)
    return means[group][:, None], distinct_folds[fold], values[value], counts
