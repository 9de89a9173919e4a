"""Documents that are drawn at random from more than memory holds, while they pass by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import accumulate, chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.training.draws import Keys, drawn

#: Bounds that a sample may have, the least first: three quarters of each is the one before.
BOUNDS = np.array([*accumulate(repeat(2**64 - 1, 145), lambda bound, _: bound - bound // 4)][::-1], np.uint64)


@dataclass(frozen=True, eq=False)
class Passing:
    """What is known of documents that pass by, each (documents,).

    draws : random numbers; rows : in the source, or a part of it, from 0; keys : of the texts; n_words : in each.
    """

    draws: Keys
    rows: NDArray[np.int64]
    keys: Keys
    n_words: NDArray[np.int64]
    responses: Vector
    weight: Vector

    @classmethod
    def of(
        cls,
        first: int,
        keys: Keys,
        n_words: NDArray[np.int64],
        responses: Vector,
        weight: Vector,
        *,
        row: int = 0,
        file: int = 0,
    ) -> Passing:
        """That of documents in neighbouring rows, from `first` on.

        row, file : of the first one in its file, and number of this, which draws depend on: who reads one file need
        not know how many rows others have.
        """
        rows = np.arange(len(keys))
        draws = drawn(keys + (row + rows).astype(np.uint64), file)
        return cls(draws, first + rows, keys, n_words, responses, weight)

    @classmethod
    def nothing(cls) -> Passing:
        """That of no documents."""
        return cls.of(0, np.zeros(0, np.uint64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))

    def at(self, kept: NDArray[Any]) -> Passing:
        """The same of some of the documents."""
        return Passing(*(getattr(self, column.name)[kept] for column in fields(self)))

    @classmethod
    def together(cls, parts: Sequence[Passing]) -> Passing:
        """That of documents of several parts, one after the other."""
        return cls(*(np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(cls)))


@dataclass
class Sample:
    """Documents that are drawn at random: at most so many, and of at most so many words where they are two or more.

    A document is drawn where its random number is up to a bound, which falls by a quarter whenever there are too many.
    So it is the same sample in whatever batches documents come.

    Examples
    --------
    >>> sample = Sample(most_documents=60, most_words=10**6)
    >>> keys, ones = np.arange(100, dtype=np.uint64), np.ones(100)
    >>> sample.offer(["Fine"] * 100, Passing.of(0, keys, ones.astype(int), ones, ones))
    >>> len(sample.texts)
    58
    """

    most_documents: int
    most_words: int
    bound: int = 2**64 - 1
    texts: list[str] = field(default_factory=list)
    documents: Passing = field(default_factory=Passing.nothing)

    def offer(self, texts: Sequence[str], documents: Passing) -> None:
        """Take some of these documents."""
        rows = np.flatnonzero(documents.draws <= np.uint64(self.bound))
        self.texts += [texts[i] for i in rows.tolist()]
        self.documents = Passing.together([self.documents, documents.at(rows)])
        while self._is_too_much():
            self.bound -= self.bound // 4
            kept = self.documents.draws <= np.uint64(self.bound)
            self.texts = [text for text, is_kept in zip(self.texts, kept, strict=True) if is_kept]
            self.documents = self.documents.at(kept)

    @property
    def levels(self) -> NDArray[np.int64]:
        """(2, bounds) how many documents, and words, there are up to each of `BOUNDS`."""
        place = np.searchsorted(BOUNDS, self.documents.draws)
        counts = (np.bincount(place, each, len(BOUNDS)).cumsum() for each in (None, self.documents.n_words))
        return np.array([count.astype(np.int64) for count in counts])

    def up_to(self, bound: int) -> Sample:
        """The documents whose random number is up to a bound."""
        found = Sample(self.most_documents, self.most_words, bound)
        found.offer(self.texts, self.documents)
        return found

    def _is_too_much(self) -> bool:
        n_texts, n_words = len(self.texts), int(self.documents.n_words.sum())
        return n_texts > self.most_documents or (n_texts > 1 and n_words > self.most_words)


def common_bound(samples: Sequence[tuple[int, NDArray[np.int64]]], most_documents: int, most_words: int) -> int:
    """The bound that a sample of all would have, from those of parts: the bound and the levels of each."""
    bounds, levels = zip(*samples, strict=True)
    documents, words = np.sum(levels, axis=0)
    allowed = (documents <= most_documents) & ((documents <= 1) | (words <= most_words))
    return int(BOUNDS[allowed & (np.uint64(min(bounds)) >= BOUNDS)].max())


def joined(samples: Sequence[Sample], firsts: Sequence[int]) -> Sample:
    """Samples of parts that have one bound, as one; firsts : row of the first document of each part."""
    pairs = zip((one.documents for one in samples), firsts, strict=True)
    documents = Passing.together([replace(own, rows=own.rows + first) for own, first in pairs])
    return replace(samples[0], texts=list(chain.from_iterable(one.texts for one in samples)), documents=documents)
