"""Blocks of documents that tone is learnt from, each by steps that follow one another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.training.corpus import Corpus
from textsignal.training.distinct import distinct_documents
from textsignal.training.draws import Keys, document_keys, drawn

#: Fits that each leave out a part of the documents, for tone that has not seen its response.
TONE_FOLDS = 5


def tone_folds(counts: sp.csr_array) -> NDArray[np.int64]:
    """(documents,) the fit that leaves each out, by what it says: copies of a text are left out together."""
    return (drawn(document_keys(counts), TONE_FOLDS) % np.uint64(TONE_FOLDS)).astype(np.int64)


class Blocks(Protocol):
    """Documents of a block, wherever they are."""

    def load(self) -> ToneBlock:
        """The documents."""

    def then(self, step: Callable[[ToneBlock], ToneBlock]) -> Blocks:
        """What a step makes of them."""


@dataclass(frozen=True, eq=False)
class ToneBlock:
    """Distinct documents whose steps are taken one after the other.

    roots : (documents, features) of the counts, times sizes; keys : (documents,) what each draws from.
    y : (documents, fits) responses, or (documents, 1) the same for all, NaN where there is none.
    weight, offset, folds : (documents,).
    """

    roots: sp.csr_array
    keys: Keys
    y: Vector
    weight: Vector
    offset: Vector
    folds: NDArray[np.int64]

    @property
    def known(self) -> NDArray[np.bool_]:
        """(documents,) whether it has a response."""
        return ~np.isnan(self.y[:, 0])

    def load(self) -> ToneBlock:
        """Itself: it is in memory."""
        return self

    def then(self, step: Callable[[ToneBlock], ToneBlock]) -> ToneBlock:
        """What a step makes of it."""
        return step(self)

    def answered(self) -> ToneBlock:
        """The documents that have a response."""
        return self if self.known.all() else self.at(np.flatnonzero(self.known))

    def at(self, rows: NDArray[np.int64]) -> ToneBlock:
        """Some of the documents."""
        return ToneBlock(
            self.roots[rows], self.keys[rows], self.y[rows], self.weight[rows], self.offset[rows], self.folds[rows]
        )


def tone_block(corpus: Corpus, sizes: Vector) -> ToneBlock:
    """A block of documents; corpus : counts of features, encoded responses, weights and offset."""
    found = distinct_documents(corpus).corpus
    keys, folds = document_keys(found.X), tone_folds(found.X)
    # In the memory of the distinct documents, which are nobody else's.
    roots = sp.csr_array(found.X, dtype=float)
    np.sqrt(roots.data, out=roots.data)
    roots.data *= sizes[roots.indices]
    return ToneBlock(roots, keys, found.y[:, None], found.weight, np.broadcast_to(found.offsets, len(keys)), folds)
