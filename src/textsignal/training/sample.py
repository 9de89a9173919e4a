"""Documents that are drawn at random from more than memory holds, while they pass by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.training.draws import Keys, drawn


@dataclass(frozen=True, eq=False)
class Passing:
    """What is known of documents that pass by, each (documents,).

    draws : random numbers; rows : in the source, from 0; keys : of the texts; n_words : in each.
    """

    draws: Keys
    rows: NDArray[np.int64]
    keys: Keys
    n_words: NDArray[np.int64]
    responses: Vector
    weight: Vector

    @classmethod
    def of(cls, first: int, keys: Keys, n_words: NDArray[np.int64], responses: Vector, weight: Vector) -> Passing:
        """That of documents in neighbouring rows, from `first` on."""
        rows = np.arange(first, first + len(keys))
        return cls(drawn(keys + rows.astype(np.uint64), 0), rows, keys, n_words, responses, weight)

    @classmethod
    def nothing(cls) -> Passing:
        """That of no documents."""
        return cls.of(0, np.zeros(0, np.uint64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))

    def at(self, kept: NDArray[Any]) -> Passing:
        """The same of some of the documents."""
        return Passing(*(getattr(self, column.name)[kept] for column in fields(self)))

    def __add__(self, other: Passing) -> Passing:
        pairs = ((getattr(self, column.name), getattr(other, column.name)) for column in fields(self))
        return Passing(*(np.concatenate(pair) for pair in pairs))


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
        self.documents += documents.at(rows)
        while self._is_too_much():
            self.bound -= self.bound // 4
            kept = self.documents.draws <= np.uint64(self.bound)
            self.texts = [text for text, is_kept in zip(self.texts, kept, strict=True) if is_kept]
            self.documents = self.documents.at(kept)

    def _is_too_much(self) -> bool:
        n_texts, n_words = len(self.texts), int(self.documents.n_words.sum())
        return n_texts > self.most_documents or (n_texts > 1 and n_words > self.most_words)
