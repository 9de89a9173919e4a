"""Random draws that follow from what a document says: not from where it stands, nor from the other documents.

Equal documents draw alike, so a document that counts twice does what two copies of it would.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.kernels import Vector

Keys = NDArray[np.uint64]

#: Equal parts of [0, 1) that draws of thinning visit in turn; a prime.
STRATA = 5


def document_keys(X: sp.csr_array) -> Keys:
    """(documents,) a number for each document's terms, however often it has them: no rounding changes it."""
    ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_term_keys(X), dtype=np.uint64)])
    return _mixed(ends[X.indptr[1:]] - ends[X.indptr[:-1]])


def drawn(keys: Keys, *draw: int) -> Keys:
    """(documents,) new numbers from keys, others for every draw."""
    for number in draw:
        keys = _mixed(keys + _mixed(np.array([number], dtype=np.uint64) + np.uint64(1)))
    return keys


def thinned(X: sp.csr_array, rate: Vector, keys: Keys, seed: int, epoch: int) -> sp.csr_array:
    """X with a share `rate` (documents,) of its nonzeros left out at random and the rest scaled up to make up for it.

    A nonzero is left out where a uniform draw is below the rate. Over every `STRATA` epochs its draws fall once into
    each of as many equal parts of [0, 1), in an order of its own, so all are left out nearly equally often and seeds
    differ less.

    keys : (documents,) of the documents.
    """
    sizes = np.diff(X.indptr)
    order = _mixed(np.repeat(drawn(keys, seed, epoch // STRATA, 1), sizes) ^ _term_keys(X))
    # A line modulo a prime visits every part once.
    first, step = order % np.uint64(STRATA), np.uint64(1) + (order >> np.uint64(32)) % np.uint64(STRATA - 1)
    part = (first + step * np.uint64(epoch % STRATA)) % np.uint64(STRATA)
    uniform = (_mixed(np.repeat(drawn(keys, seed, epoch), sizes) ^ _term_keys(X)) >> np.uint64(11)) * 2.0**-53
    rates = np.repeat(rate, sizes)
    data = np.where((part + uniform) / STRATA >= rates, X.data / (1 - rates), 0).astype(X.dtype)
    kept = sp.csr_array((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)
    kept.eliminate_zeros()
    return kept


def _term_keys(X: sp.csr_array) -> Keys:
    return _mixed(X.indices.astype(np.uint64) + np.uint64(1))


def _mixed(numbers: Keys) -> Keys:
    """SplitMix64's finaliser: every bit of the result depends on every bit of the number."""
    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
