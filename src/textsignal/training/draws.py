"""Random draws that depend on a text's content only, not on its position or on other texts.

Equal texts get equal draws, so a text of weight 2 is equivalent to two copies of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.compute.compiling import compiling
from textsignal.compute.hashing import SPREAD, Keys, drawn, mix, mixed

#: Equal parts of [0, 1) that draws of thinning visit in turn; a prime.
STRATA = 5


def document_keys(X: sp.csr_array) -> Keys:
    """(texts,) hash of the set of each text's terms, independent of their values and of rounding."""
    keys: Keys = _keys(X.indptr, X.indices, None)
    return keys


def content_keys(X: sp.csr_array, *columns: Vector) -> Keys:
    """(texts,) hash of each text's terms, their values and columns such as its response, which may be NaN."""
    return mixed_with(_keys(X.indptr, X.indices, X.data), *columns)


def mixed_with(keys: Keys, *columns: Vector) -> Keys:
    """(texts,) new keys from keys and columns."""
    for column in columns:
        # All NaNs hash alike, and both zeros.
        numbers = np.where(np.isnan(column), np.nan, column + 0.0).view(np.uint64)
        keys = mixed(keys ^ mixed(numbers))
    return keys


@compiling()
def _keys(indptr, indices, data):  # type: ignore[no-untyped-def]
    """Combine hashes of the terms, and of the bits of their values if given, independently of their order."""
    keys = np.empty(len(indptr) - 1, np.uint64)
    for i in range(len(keys)):
        total = np.uint64(0)
        for p in range(indptr[i], indptr[i + 1]):
            term = mix(np.uint64(indices[p]) + np.uint64(1))
            total += term if data is None else mix(term ^ mix(np.float64(data[p]).view(np.uint64)))
        keys[i] = mix(total)
    return keys


def unit_halves(
    X: sp.csr_array,
    rows: NDArray[np.int64],
    keys: Keys,
    draw: int,
    sizes: Vector | None = None,
    memory: tuple[Vector, NDArray[Any]] | None = None,
) -> sp.csr_array:
    """Return a random half of the nonzeros of texts, scaled to l2 norm 1; an empty half stays empty.

    Draws 0 and 1 are the two halves of one cut, 2 and 3 those of another, and so on.

    rows : the texts to return, in this order, possibly repeated; keys : (rows,) seeds of the cuts.
    sizes : (terms,) if given, values are these times the root of X; None uses X.
    memory : buffers of values and terms that the halves are written to; None allocates new ones.
    """
    data, indices = half_memory(X, int(np.diff(X.indptr)[rows].sum())) if memory is None else memory
    indptr = np.zeros(len(rows) + 1, dtype=X.indptr.dtype)
    cuts, side = drawn(keys, draw // 2), np.uint64(draw % 2)
    _halve(rows, X.indptr, X.indices, X.data, sizes, cuts, side, indptr, indices, data)
    half = sp.csr_array((len(rows), X.shape[1]))
    # Set after construction: SciPy would copy a buffer of which less than half is used.
    half.data, half.indices, half.indptr = data[: indptr[-1]], indices[: indptr[-1]], indptr
    return half


def half_memory(X: sp.csr_array, most: int) -> tuple[Vector, NDArray[Any]]:
    """Buffers of values and terms for halves of at most `most` nonzeros in total."""
    return np.empty(most), np.empty(most, X.indices.dtype)


@compiling()
def _halve(rows, indptr, indices, data, sizes, cuts, side, half_indptr, half_indices, half_data):  # type: ignore[no-untyped-def]
    end = 0
    for place, i in enumerate(rows):
        start, squares = end, 0.0
        for p in range(indptr[i], indptr[i + 1]):
            coin = mix(cuts[place] ^ (np.uint64(indices[p]) + np.uint64(1)) * SPREAD) >> np.uint64(63)
            kept = np.int64(coin == side)
            # Written whether kept or not: the branch is unpredictable, and a misprediction costs more than the write.
            half_indices[end] = indices[p]
            value = np.float64(data[p]) if sizes is None else sizes[indices[p]] * np.sqrt(np.float64(data[p]))
            half_data[end] = value
            squares += kept * value * value
            end += kept
        scale = 1 / np.sqrt(squares) if squares > 0 else 0.0
        for p in range(start, end):
            half_data[p] *= scale
        half_indptr[place + 1] = end


def thinned(
    X: sp.csr_array, rate: Vector, keys: Keys, seed: int, epoch: int, rows: NDArray[np.int64] | None = None
) -> sp.csr_array:
    """Drop a share `rate` (texts,) of the nonzeros of X at random, and scale up the rest to compensate.

    A nonzero is dropped if a uniform draw is below the rate. The draws are stratified: over every `STRATA` epochs they
    fall once into each of `STRATA` equal parts of [0, 1), in an order specific to the nonzero. So all are dropped
    nearly equally often, and seeds differ less.

    keys : (texts,) seeds of the draws; rows : the texts to return, in this order, or None for all.
    """
    rows = np.arange(X.shape[0]) if rows is None else rows
    orders, draws = drawn(keys, seed, epoch // STRATA, 1), drawn(keys, seed, epoch)
    data, indices = np.empty_like(X.data), np.empty_like(X.indices)
    indptr = np.zeros(len(rows) + 1, dtype=X.indptr.dtype)
    _thin(rows, X.indptr, X.indices, X.data, rate, orders, draws, np.uint64(epoch % STRATA), indptr, indices, data)
    kept = sp.csr_array((data[: indptr[-1]], indices[: indptr[-1]], indptr), shape=(len(rows), X.shape[1]))
    kept.has_canonical_format = True
    return kept


@compiling()
def _thin(rows, indptr, indices, data, rate, orders, draws, turn, kept_indptr, kept_indices, kept_data):  # type: ignore[no-untyped-def]
    one, strata, half = np.uint64(1), np.uint64(STRATA), np.uint64(32)
    kept = 0
    for place, i in enumerate(rows):
        scale = 1 / (1 - rate[i])
        for p in range(indptr[i], indptr[i + 1]):
            term = mix(np.uint64(indices[p]) + one)
            order = mix(orders[i] ^ term)
            # A line modulo a prime visits every stratum once.
            stratum = (order % strata + (one + (order >> half) % (strata - one)) * turn) % strata
            uniform = np.float64(mix(draws[i] ^ term) >> np.uint64(11)) * 2.0**-53
            if (np.float64(stratum) + uniform) / STRATA >= rate[i]:
                kept_indices[kept] = indices[p]
                kept_data[kept] = data[p] * scale
                kept += 1
        kept_indptr[place + 1] = kept
