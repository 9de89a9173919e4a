"""Blocks of documents that tone is learnt from, each by steps that follow one another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.compute.compiling import compiling
from textsignal.compute.hashing import Keys, drawn
from textsignal.training.corpus import Corpus, distinct_documents
from textsignal.training.draws import document_keys

#: Fits that each leave out a part of the documents, for tone that has not seen its response.
TONE_FOLDS = 5


def tone_folds(counts: sp.csr_array) -> NDArray[np.int64]:
    """(documents,) the fit that excludes each document, by its content: copies of a text are excluded together."""
    return folds_of(document_keys(counts))


def folds_of(keys: Keys) -> NDArray[np.int64]:
    """(documents,) the fit that excludes each document, by its key."""
    return (drawn(keys, TONE_FOLDS) % np.uint64(TONE_FOLDS)).astype(np.int64)


class Blocks(Protocol):
    """Documents of a block, wherever they are."""

    def load(self) -> ToneBlock:
        """The documents."""

    def then(self, step: Callable[[ToneBlock], ToneBlock]) -> Blocks:
        """Apply a step."""


@dataclass(frozen=True, eq=False)
class ToneBlock:
    """Distinct documents whose steps are taken one after the other.

    counts : (documents, features); sizes : (features,) what each counts.
    keys : (documents,) what each draws from.
    y : (documents, fits) responses, or (documents, 1) if equal for all fits, NaN if missing.
    weight, offset, folds : (documents,).
    """

    counts: sp.csr_array
    sizes: Vector
    keys: Keys
    y: Vector
    weight: Vector
    offset: Vector
    folds: NDArray[np.int64]

    @cached_property
    def roots(self) -> sp.csr_array:
        """(documents, features) roots of the counts, times sizes."""
        X = self.counts
        return sp.csr_array((_roots(X.data, X.indices, self.sizes), X.indices, X.indptr), shape=X.shape)

    @property
    def known(self) -> NDArray[np.bool_]:
        """(documents,) whether it has a response."""
        return ~np.isnan(self.y[:, 0])

    def load(self) -> ToneBlock:
        """Itself: it is in memory."""
        return self

    def then(self, step: Callable[[ToneBlock], ToneBlock]) -> ToneBlock:
        """Apply a step."""
        return step(self)

    def answered(self) -> ToneBlock:
        """The documents that have a response."""
        return self if self.known.all() else self.at(np.flatnonzero(self.known))

    def at(self, rows: NDArray[np.int64]) -> ToneBlock:
        """Some of the documents."""
        columns: list[Any] = [self.keys, self.y, self.weight, self.offset, self.folds]
        return ToneBlock(self.counts[rows], self.sizes, *(column[rows] for column in columns))


def tone_block(corpus: Corpus, sizes: Vector) -> ToneBlock:
    """A block of documents; corpus : counts of features, encoded responses, weights and offset."""
    X = corpus.X
    small = sp.csr_array((_small(X.data), X.indices, X.indptr), shape=X.shape)
    distinct = distinct_documents(replace(corpus, X=small)).corpus
    keys, offset = document_keys(distinct.X), np.broadcast_to(distinct.offsets, len(distinct.y))
    return ToneBlock(distinct.X, sizes, keys, distinct.y[:, None], distinct.weight, offset, folds_of(keys))


def _small(counts: NDArray[Any]) -> NDArray[Any]:
    """In two bytes, where these hold them."""
    if counts.dtype == np.uint16:
        return counts
    small = counts.astype(np.uint16 if counts.max(initial=0) < 2**16 else np.float64)
    return small if np.array_equal(small, counts) else counts.astype(np.float64)


@compiling()
def _roots(counts, indices, sizes):  # type: ignore[no-untyped-def]
    roots = np.empty(len(counts))
    for p in range(len(counts)):
        roots[p] = sizes[indices[p]] * np.sqrt(np.float64(counts[p]))
    return roots
