"""Training on more documents than memory holds: tone learns from all, in shards on disk; the rest from a sample.

What words add is learnt the better the more documents there are. Themes, and the GLM on them, have few parameters: a
random sample of a hundred thousand documents tells them as well as ten million do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.compute.engines import Compute, Item
from textsignal.compute.hashing import Keys
from textsignal.data.rows import BadRows
from textsignal.families import Family
from textsignal.text.counts import MergedCounts, TextCounts, count_texts
from textsignal.text.features import Features
from textsignal.text.shards import Place, beside, map_arrays, put_arrays, read_shard
from textsignal.training.corpus import Corpus
from textsignal.training.sample import Sample
from textsignal.training.tone import BLOCK, ToneBlock, n_blocks_of, tone_block, tone_effects


@dataclass(frozen=True, eq=False)
class ReadPart:
    """Documents of a part of the source, in shards of `sizes` documents.

    responses : (rows,) that count; bad : the rows that are not valid documents.
    """

    shards: list[Place]
    sizes: list[int]
    responses: Vector
    bad: BadRows
    sample: Sample

    def __sizeof__(self) -> int:
        return sum(map(sys.getsizeof, self.shards)) + sys.getsizeof(self.sample)

    @property
    def summary(self) -> PartSummary:
        """Summary of the part that all other parts need."""
        return PartSummary(self.sizes, self.responses, self.bad, self.sample.bound, self.sample.levels)


@dataclass(frozen=True, eq=False)
class PartSummary:
    """Summary of a part: fields of `ReadPart`, and the bound and levels of the sample."""

    sizes: list[int]
    responses: Vector
    bad: BadRows
    bound: int
    levels: NDArray[np.int64]


def count_shards(shards: Sequence[Any], sizes: Sequence[int], compute: Compute) -> MergedCounts:
    """Count words and pairs of all shards, as the engine keeps them; sizes : documents of each.

    Counts of consecutive shards are added on the worker that counts them, up to the size of a block of tone.
    """

    def counted(places: Sequence[Place]) -> tuple[Sequence[str], TextCounts, int]:
        merged = MergedCounts()
        for place in places:
            texts, _ = read_shard(place)
            merged.add(texts.words, count_texts(texts, compute.engine))
        return merged.words, merged.counts, merged.error

    merged = MergedCounts()
    for found in compute.engine.stream(counted, together(shards, sizes)):
        merged.add(*found)
    return merged


@dataclass(frozen=True, eq=False)
class StoredBlock:
    """Reference to a stored block of documents; steps : applied whenever it is loaded."""

    place: Place
    sizes: Vector
    steps: tuple[Callable[[ToneBlock], ToneBlock], ...] = ()

    def load(self) -> ToneBlock:
        """Load the documents."""
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


def write_block(block: ToneBlock, path: Path | None) -> StoredBlock:
    """Write a block to a file, or keep it in memory if `path` is None."""
    counts = block.counts
    arrays = {"counts": counts.data, "indices": counts.indices.astype(np.int32, copy=False), "indptr": counts.indptr}
    arrays |= {name: getattr(block, name) for name in ("keys", "y", "weight", "offset", "folds")}
    return StoredBlock(put_arrays(arrays, path), block.sizes)


def stored_tone(
    shards: Sequence[Any],
    sizes_of_shards: Sequence[int],
    features: Features,
    family: Family,
    compute: Compute,
    without: Keys,
) -> Vector:
    """(features, fits) of `tone_effects`, over all shards.

    shards : as the engine keeps them; sizes_of_shards : documents of each.
    Shards hold `response`, `weight` and `keys` of their documents. Those of one block follow each other.

    without : keys of excluded documents.
    """
    sizes = features.sizes

    def block(places: Sequence[Place]) -> StoredBlock:
        corpus = _corpus(places, features, family, compute, without)
        return write_block(tone_block(corpus, sizes), beside(places[0], ".block"))

    places = together(shards, sizes_of_shards)
    blocks = compute.engine.keep(block, places, range(len(places)))
    return tone_effects(blocks, family.of_words, compute)


def _corpus(places: Sequence[Place], features: Features, family: Family, compute: Compute, without: Keys) -> Corpus:
    """Counts of features, encoded responses and weights; weight 0 for documents that are empty or excluded."""
    texts, others = zip(*map(read_shard, places), strict=True)
    X = features.count(texts, compute.engine)
    response, weight, keys = (np.concatenate([own[name] for own in others]) for name in ("response", "weight", "keys"))
    counting = (weight > 0) & (np.diff(X.indptr) > 0) & ~np.isin(keys, without)
    return Corpus(X, family.encode(np.where(counting, response, np.nan)), np.where(counting, weight, 0.0))


def turns_of(n_parts: int, n_rows: int | None) -> list[int] | None:
    """(parts,) the block that each part of a source will approximately be in; None if the number of rows is not known.

    Examples
    --------
    >>> turns_of(8, 4 * BLOCK), turns_of(8, None)
    ([0, 0, 1, 1, 2, 2, 3, 3], None)
    """
    if n_rows is None:
        return None
    n_blocks = n_blocks_of(n_rows, BLOCK)
    return [(2 * part + 1) * n_blocks // (2 * n_parts) for part in range(n_parts)]


def together(items: Sequence[Item], sizes: Sequence[int]) -> list[list[Item]]:
    """Group consecutive items into blocks of tone; sizes : documents of each."""
    return [[items[number] for number in numbers] for numbers in in_blocks(sizes, BLOCK)]


def in_blocks(sizes: Sequence[int], most: int) -> list[list[int]]:
    """Numbers of shards that follow each other, as evenly as may be and at most about `most` documents together.

    Examples
    --------
    >>> in_blocks([30, 30, 30, 30, 30], 65)
    [[0], [1], [2, 3], [4]]
    """
    ends = np.cumsum(sizes)
    n_blocks = n_blocks_of(int(ends[-1]), most)
    middle = ends - np.asarray(sizes) / 2
    of_shard: NDArray[np.int64] = np.floor(middle * n_blocks / ends[-1]).astype(np.int64)
    return [np.flatnonzero(of_shard == number).tolist() for number in np.unique(of_shard)]
