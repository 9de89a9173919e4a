"""Random samples of documents from streams larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import accumulate, chain, pairwise, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.compute.hashing import Keys, drawn
from textsignal.text.tokens import SentenceTexts

#: Bounds that a sample may have, the least first: three quarters of each is the one before.
BOUNDS = np.array([*accumulate(repeat(2**64 - 1, 145), lambda bound, _: bound - bound // 4)][::-1], np.uint64)
#: Maximum number of text parts, each with a separate vocabulary, before they are merged.
MOST_PARTS = 32


def first_bound(n_documents: int | None, most_documents: int) -> int:
    """Return a bound that keeps about twice `most_documents`, or all documents if their number is not known.

    This limits memory from the first batch on, even if half of the documents cannot be used.

    Examples
    --------
    >>> first_bound(100, 60) / 2**64, first_bound(None, 60) / 2**64, first_bound(1000, 60) / 2**64
    (1.0, 1.0, 0.13348388671875)
    """
    share = 1.0 if n_documents is None else 2 * most_documents / max(1, n_documents)
    return int(BOUNDS[min(int(np.searchsorted(BOUNDS, share * 2.0**64)), len(BOUNDS) - 1)])


@dataclass(frozen=True, eq=False)
class Passing:
    """Attributes of streamed documents, each (documents,).

    draws : random numbers; rows : in the source, or a part of it, from 0; keys : of the texts; n_words : in each.
    beside : (documents, columns) cells of other columns, as they were read.
    """

    draws: Keys
    rows: NDArray[np.int64]
    keys: Keys
    n_words: NDArray[np.int64]
    responses: Vector
    weight: Vector
    beside: NDArray[np.object_]

    @classmethod
    def of(
        cls,
        rows: NDArray[np.int64],
        keys: Keys,
        n_words: NDArray[np.int64],
        responses: Vector,
        weight: Vector,
        beside: NDArray[np.object_] | None = None,
        *,
        in_file: NDArray[np.int64] | None = None,
        file: int = 0,
    ) -> Passing:
        """Draw random numbers for documents in these rows; beside : None if there are no other columns.

        in_file, file : rows within the file and its number, which determine the draws, so that files can be read
        independently of each other.
        """
        draws = drawn(keys + (rows if in_file is None else in_file).astype(np.uint64), file)
        beside = np.empty((len(rows), 0), dtype=object) if beside is None else beside
        return cls(draws, rows, keys, n_words, responses, weight, beside)

    @classmethod
    def nothing(cls, n_columns: int = 0) -> Passing:
        """Return the attributes of no documents."""
        numbers = np.zeros(0, np.int64)
        beside = np.empty((0, n_columns), dtype=object)
        return cls.of(numbers, np.zeros(0, np.uint64), numbers, np.zeros(0), np.zeros(0), beside)

    def at(self, kept: NDArray[Any]) -> Passing:
        """Return the attributes of a subset of the documents."""
        return Passing(*(getattr(self, column.name)[kept] for column in fields(self)))

    @classmethod
    def together(cls, parts: Sequence[Passing]) -> Passing:
        """Concatenate the attributes of several parts."""
        return cls(*(np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(cls)))


@dataclass
class Sample:
    """Random sample of at most `most_documents` documents and, if they are two or more, `most_words` words.

    A document is drawn if its random number is at most a bound, which falls by a quarter whenever there are too many.
    So the sample does not depend on how documents are batched.

    Examples
    --------
    >>> from textsignal.text.tokens import read_sentences
    >>> sample = Sample(most_documents=60, most_words=10**6)
    >>> keys, ones = np.arange(100, dtype=np.uint64), np.ones(100)
    >>> documents = Passing.of(np.arange(100), keys, ones.astype(int), ones, ones)
    >>> sample.offer(read_sentences(["Fine"] * 100).at, documents)
    >>> len(sample.tokens)
    58
    """

    most_documents: int
    most_words: int
    bound: int = 2**64 - 1
    parts: list[SentenceTexts] = field(default_factory=list)
    documents: Passing = field(default_factory=Passing.nothing)

    def offer(self, texts_at: Callable[[NDArray[np.int64]], SentenceTexts], documents: Passing) -> None:
        """Take some of these documents; texts_at : the texts of some rows of them."""
        rows = np.flatnonzero(documents.draws <= np.uint64(self.bound))
        self.documents = Passing.together([self.documents, documents.at(rows)])
        # Merged, so that the words of other documents are discarded.
        self.parts.append(SentenceTexts.together([texts_at(rows)]))
        if len(self.parts) > MOST_PARTS:
            self.parts = [self.tokens]
        while self._is_too_much():
            self.bound -= self.bound // 4
            kept = self.up_to(self.bound)
            self.parts, self.documents = kept.parts, kept.documents

    @property
    def tokens(self) -> SentenceTexts:
        """The texts, as if they had been read at once; there must have been some to take from."""
        return self.parts[0] if len(self.parts) == 1 else SentenceTexts.together(self.parts)

    def __sizeof__(self) -> int:
        # About ten bytes a word, and its text.
        return 16 * int(self.documents.n_words.sum())

    @property
    def levels(self) -> NDArray[np.int64]:
        """(2, bounds) how many documents, and words, there are up to each of `BOUNDS`."""
        level = np.searchsorted(BOUNDS, self.documents.draws)
        counts = (np.bincount(level, each, len(BOUNDS)).cumsum() for each in (None, self.documents.n_words))
        return np.array([count.astype(np.int64) for count in counts])

    def up_to(self, bound: int) -> Sample:
        """The documents whose random number is up to a bound."""
        kept = self.documents.draws <= np.uint64(bound)
        if kept.all():
            return replace(self, bound=bound)
        edges = pairwise(accumulate(map(len, self.parts), initial=0))
        rows = [np.flatnonzero(kept[start:stop]) for start, stop in edges]
        parts = [SentenceTexts.together([part.at(own)]) for part, own in zip(self.parts, rows, strict=True)]
        return replace(self, bound=bound, parts=parts, documents=self.documents.at(kept))

    def _is_too_much(self) -> bool:
        n_texts, n_words = len(self.documents.draws), int(self.documents.n_words.sum())
        return n_texts > self.most_documents or (n_texts > 1 and n_words > self.most_words)


def common_bound(samples: Sequence[tuple[int, NDArray[np.int64]]], most_documents: int, most_words: int) -> int:
    """The bound that a sample of all would have, from those of parts: the bound and the levels of each."""
    bounds, levels = zip(*samples, strict=True)
    documents, words = np.sum(levels, axis=0)
    allowed = (documents <= most_documents) & ((documents <= 1) | (words <= most_words))
    return int(BOUNDS[allowed & (np.uint64(min(bounds)) >= BOUNDS)].max())


def joined(samples: Sequence[tuple[Sample, int]]) -> Sample:
    """Samples of parts that have one bound, each with the row of the part's first document, as one."""
    documents = [replace(one.documents, rows=one.documents.rows + first) for one, first in samples]
    parts = [*chain.from_iterable(one.parts for one, _ in samples)]
    parts = [SentenceTexts.together(parts)] if len(parts) > 1 else parts
    return replace(samples[0][0], parts=parts, documents=Passing.together(documents))
