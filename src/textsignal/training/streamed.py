"""Training on more texts than memory holds: tone learns from all, in shards on disk; the rest from a random sample.

More texts keep improving what is learnt about words. Themes, and the GLM on them, have few parameters: a random sample
of a hundred thousand texts determines them as well as ten million do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import accumulate, chain, pairwise, repeat
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.compute.engines import Compute, Item
from textsignal.compute.hashing import Keys
from textsignal.data.rows import BadRows
from textsignal.families import Family
from textsignal.text.features import Features, MergedCounts, TextCounts, count_texts
from textsignal.text.shards import Place, map_arrays, put_arrays, read_shard, with_ending
from textsignal.text.tokens import SentenceTexts
from textsignal.training.corpus import Corpus
from textsignal.training.tone import BLOCK, ToneBlock, n_blocks_of, tone_block, tone_effects

#: Bounds that a sample may have, ascending: each is three quarters of the next.
BOUNDS = np.array([*accumulate(repeat(2**64 - 1, 145), lambda bound, _: bound - bound // 4)][::-1], np.uint64)
#: Maximum number of text parts, each with a separate vocabulary, before they are merged.
MOST_PARTS = 32


def first_bound(n_documents: int | None, most_documents: int) -> int:
    """Return a bound that keeps about twice `most_documents`, as half may be unusable, or all of an unknown number."""
    share = 1.0 if n_documents is None else 2 * most_documents / max(1, n_documents)
    return int(BOUNDS[min(int(np.searchsorted(BOUNDS, share * 2.0**64)), len(BOUNDS) - 1)])


@dataclass(frozen=True, eq=False)
class Passing:
    """Attributes of streamed texts, each (texts,).

    draws : random numbers, by text, and row and number of its file, so that files can be read in parallel.
    rows : in the source, or a part of it, from 0; others : (texts, columns) cells of other columns.
    """

    draws: Keys
    rows: NDArray[np.int64]
    keys: Keys
    n_words: NDArray[np.int64]
    responses: Vector
    weight: Vector
    others: NDArray[np.object_]

    @classmethod
    def nothing(cls, n_columns: int = 0) -> Passing:
        """Return the attributes of no texts."""
        keys, numbers, values = np.zeros(0, np.uint64), np.zeros(0, np.int64), np.zeros(0)
        return cls(keys, numbers, keys, numbers, values, values, np.empty((0, n_columns), dtype=object))

    def at(self, kept: NDArray[Any]) -> Passing:
        """Keep some of the texts."""
        return Passing(*(getattr(self, column.name)[kept] for column in fields(self)))

    @classmethod
    def together(cls, parts: Sequence[Passing]) -> Passing:
        """Concatenate several parts."""
        return cls(*(np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(cls)))


@dataclass
class Sample:
    """Random sample of at most `most_documents` texts and, if they are two or more, `most_words` words.

    A text is drawn if its random number is at most a bound, which falls by a quarter whenever there are too many. So
    the sample does not depend on batches.
    """

    most_documents: int
    most_words: int
    bound: int = 2**64 - 1
    parts: list[SentenceTexts] = field(default_factory=list)
    documents: Passing = field(default_factory=Passing.nothing)

    def offer(self, texts_at: Callable[[NDArray[np.int64]], SentenceTexts], documents: Passing) -> None:
        """Add some of these texts; texts_at : returns the texts of some rows of them."""
        rows = np.flatnonzero(documents.draws <= np.uint64(self.bound))
        self.documents = Passing.together([self.documents, documents.at(rows)])
        # Merged, so that the words of other texts are discarded.
        self.parts.append(SentenceTexts.together([texts_at(rows)]))
        if len(self.parts) > MOST_PARTS:
            self.parts = [self.tokens]
        while self._is_too_much():
            self.bound -= self.bound // 4
            kept = self.up_to(self.bound)
            self.parts, self.documents = kept.parts, kept.documents

    @property
    def tokens(self) -> SentenceTexts:
        """The texts, as if they had been read at once; there must be at least one part."""
        return self.parts[0] if len(self.parts) == 1 else SentenceTexts.together(self.parts)

    def __sizeof__(self) -> int:
        # About ten bytes a word, and its text.
        return 16 * int(self.documents.n_words.sum())

    @property
    def levels(self) -> NDArray[np.int64]:
        """(2, bounds) number of texts, and of words, up to each of `BOUNDS`."""
        level = np.searchsorted(BOUNDS, self.documents.draws)
        counts = (np.bincount(level, each, len(BOUNDS)).cumsum() for each in (None, self.documents.n_words))
        return np.array([count.astype(np.int64) for count in counts])

    def up_to(self, bound: int) -> Sample:
        """Return the texts whose random number is at most a bound."""
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
    """Return the bound of a sample of all parts, from the bound and the levels of each part's sample."""
    bounds, levels = zip(*samples, strict=True)
    documents, words = np.sum(levels, axis=0)
    allowed = (documents <= most_documents) & ((documents <= 1) | (words <= most_words))
    return int(BOUNDS[allowed & (np.uint64(min(bounds)) >= BOUNDS)].max())


def joined(samples: Sequence[tuple[Sample, int]]) -> Sample:
    """Join samples of parts, which have one bound; each comes with the row of the part's first text."""
    documents = [replace(one.documents, rows=one.documents.rows + first) for one, first in samples]
    parts = [*chain.from_iterable(one.parts for one, _ in samples)]
    parts = [SentenceTexts.together(parts)] if len(parts) > 1 else parts
    return replace(samples[0][0], parts=parts, documents=Passing.together(documents))


@dataclass(frozen=True, eq=False)
class PartSummary:
    """Summary of a part of the source: texts in each shard, responses (rows,) that count, bounds of the sample."""

    sizes: list[int]
    responses: Vector
    bad: BadRows
    bound: int
    levels: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ReadPart:
    """Texts of a part of the source, in shards."""

    shards: list[Place]
    sample: Sample
    summary: PartSummary

    def __sizeof__(self) -> int:
        return sum(map(sys.getsizeof, self.shards)) + sys.getsizeof(self.sample)


def count_shards(shards: Sequence[Any], sizes: Sequence[int], compute: Compute) -> MergedCounts:
    """Count words and pairs of all shards, adding those of a block of tone where they are; sizes : texts of each."""

    def counted(places: Sequence[Place]) -> tuple[Sequence[str], TextCounts, int]:
        merged = MergedCounts()
        for place in places:
            texts, _ = read_shard(place)
            merged.add(texts.words, count_texts(texts, compute.engine))
        return merged.words, merged.counts, merged.error

    merged = MergedCounts()
    for counts in compute.engine.stream(counted, in_blocks(shards, sizes)):
        merged.add(*counts)
    return merged


@dataclass(frozen=True, eq=False)
class StoredBlock:
    """Reference to a stored block of texts; steps : applied whenever it is loaded."""

    place: Place
    sizes: Vector
    steps: tuple[Callable[[ToneBlock], ToneBlock], ...] = ()

    def load(self) -> ToneBlock:
        """Load the texts."""
        arrays = map_arrays(self.place)
        data, indices, indptr = (arrays.pop(name) for name in ("counts", "indices", "indptr"))
        counts = sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, len(self.sizes)))
        block = ToneBlock(counts, self.sizes, **arrays)
        for step in self.steps:
            block = step(block)
        return block

    def then(self, step: Callable[[ToneBlock], ToneBlock]) -> StoredBlock:
        """Return the block with a further step."""
        return replace(self, steps=(*self.steps, step))

    def __sizeof__(self) -> int:
        return sys.getsizeof(self.place)


def stored_tone(
    shards: Sequence[Any],
    sizes_of_shards: Sequence[int],
    features: Features,
    family: Family,
    compute: Compute,
    without: Keys,
    start: Vector | None = None,
) -> Vector:
    """(features, fits) of `tone_effects` from a start, over all shards; without : keys of excluded texts."""

    def block(places: Sequence[Place]) -> StoredBlock:
        made = tone_block(_corpus(places, features, family, compute, without), features.sizes)
        counts, names = made.counts, ("keys", "y", "weight", "offset", "folds")
        indices = counts.indices.astype(np.int32, copy=False)
        arrays = {"counts": counts.data, "indices": indices, "indptr": counts.indptr}
        arrays |= {name: getattr(made, name) for name in names}
        return StoredBlock(put_arrays(arrays, with_ending(places[0], ".block")), features.sizes)

    places = in_blocks(shards, sizes_of_shards)
    return tone_effects(compute.engine.keep(block, places, range(len(places))), family.of_words, compute, start)


def _corpus(places: Sequence[Place], features: Features, family: Family, compute: Compute, without: Keys) -> Corpus:
    """Counts of features, encoded responses and weights; weight 0 for texts that are empty or excluded."""
    texts, others = zip(*map(read_shard, places), strict=True)
    X = features.count(texts, compute.engine)
    response, weight, keys = (np.concatenate([own[name] for own in others]) for name in ("response", "weight", "keys"))
    counting = (weight > 0) & (np.diff(X.indptr) > 0) & ~np.isin(keys, without)
    return Corpus(X, family.encode(np.where(counting, response, np.nan)), np.where(counting, weight, 0.0))


def turns_of(n_parts: int, n_rows: int | None) -> list[int] | None:
    """(parts,) the block that each part of a source will approximately be in; None if the number of rows is unknown."""
    if n_rows is None:
        return None
    n_blocks = n_blocks_of(n_rows, BLOCK)
    return [(2 * part + 1) * n_blocks // (2 * n_parts) for part in range(n_parts)]


def in_blocks(items: Sequence[Item], sizes: Sequence[int], most: int | None = None) -> list[list[Item]]:
    """Group consecutive items of given sizes, as evenly as possible, into blocks of about `most` texts, or BLOCK."""
    ends = np.cumsum(sizes)
    n_blocks = n_blocks_of(int(ends[-1]), BLOCK if most is None else most)
    middle = ends - np.asarray(sizes) / 2
    of_item: NDArray[np.int64] = np.floor(middle * n_blocks / ends[-1]).astype(np.int64)
    return [[items[row] for row in np.flatnonzero(of_item == number).tolist()] for number in np.unique(of_item)]
