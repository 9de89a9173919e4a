"""Folds: documents that belong together are left out together."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Vector

#: Up to so many different responses, each is spread over all folds.
MOST_STRATA = 20


def fold_numbers(units: NDArray[np.int64], responses: Vector, n_folds: int, seed: int) -> NDArray[np.int64]:
    """(documents,) the fold of each, all about as large.

    The largest units are dealt first, each to the fold with the fewest documents; units of a size by their response,
    where it has few values, and else at random.

    units : (documents,) numbers of what is not parted, such as groups, or copies of a text; responses : (documents,).

    Examples
    --------
    >>> fold_numbers(np.array([0, 0, 1, 2, 3]), np.array([1.0, 0, 0, 1, 1]), n_folds=2, seed=0)
    array([0, 0, 1, 1, 0])
    """
    numbers, first, places, sizes = np.unique(units, return_index=True, return_inverse=True, return_counts=True)
    levels, strata = np.unique(responses, return_inverse=True)
    of_units = strata[first] if levels.size <= MOST_STRATA else np.zeros(numbers.size, dtype=np.int64)
    order = np.lexsort((np.random.default_rng(seed).permutation(numbers.size), of_units, -sizes))
    loads = [(0, fold) for fold in range(n_folds)]
    folds = np.empty(numbers.size, dtype=np.int64)
    for unit in order.tolist():
        documents, fold = loads[0]
        folds[unit] = fold
        heapq.heapreplace(loads, (documents + int(sizes[unit]), fold))
    return folds[places]
