"""Blocks of texts, and in how many documents words and pairs of words stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from textsignal.compute.counting import count_pairs, count_words, number_keys
from textsignal.compute.engines import Engine
from textsignal.text.units import SentenceTexts

#: Words of a block, about: enough to pay for what a block costs, few enough for memory.
BLOCK_WORDS = 2**19

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TextBlock:
    """Neighbouring documents of texts, in the memory of these.

    document, sentence, word : the first of each; documents : (sentences,) of the block, from 0.
    ends : (documents + 1,) where each document's sentences begin; indptr : (sentences + 1,) where each sentence's words
    do; codes, under, negated : (all words,) as in `SentenceTexts`.
    """

    document: int
    sentence: int
    word: int
    documents: NDArray[np.int64]
    ends: NDArray[np.int64]
    indptr: NDArray[np.int64]
    codes: NDArray[np.int32]
    under: NDArray[np.bool_]
    negated: NDArray[np.bool_]


def blocks_of(texts: SentenceTexts) -> list[TextBlock]:
    """Texts in blocks of about `BLOCK_WORDS` words, or of one document that has more.

    Examples
    --------
    >>> from textsignal.text.units import read_sentences
    >>> [block.ends.tolist() for block in blocks_of(read_sentences(["Clean. Quiet.", "", "Fine"]))]
    [[0, 2, 2, 3]]
    """
    ends = np.searchsorted(texts.documents, np.arange(len(texts) + 1))
    words = texts.indptr[ends]
    edges = np.unique(np.searchsorted(words, np.arange(0, words[-1] + BLOCK_WORDS, BLOCK_WORDS)))
    edges = np.unique(np.concatenate([[0], np.minimum(edges, len(texts)), [len(texts)]]))
    if not len(texts):
        edges = np.zeros(2, dtype=np.int64)
    return [_block(texts, ends, start, stop) for start, stop in pairwise(edges.tolist())]


def _block(texts: SentenceTexts, ends: NDArray[np.int64], start: int, stop: int) -> TextBlock:
    first, last = int(ends[start]), int(ends[stop])
    word, end = int(texts.indptr[first]), int(texts.indptr[last])
    return TextBlock(
        document=int(start),
        sentence=first,
        word=word,
        documents=texts.documents[first:last] - start,
        ends=ends[start : stop + 1] - first,
        indptr=texts.indptr[first : last + 1] - word,
        codes=texts.codes[word:end],
        under=texts.under[word:end],
        negated=texts.negated[word:end],
    )


@dataclass(frozen=True, eq=False)
class TextCounts:
    """What is counted in texts of n_words distinct words. Counts of blocks add up.

    documents, plain, negated : (words,) in how many documents each stands, stands plain, and stands negated.
    occurrences : (words,) how often each stands.
    pairs : (pairs,) of neighbours, as `count_pairs` writes them; in_documents : (pairs,) in how many each stands.
    """

    documents: Counts
    plain: Counts
    negated: Counts
    occurrences: Counts
    pairs: Counts
    in_documents: Counts


def parts_of_pairs(pairs: Counts) -> tuple[Counts, Counts, Counts]:
    """First and second word of pairs, and 1 where both stand under a negation."""
    return pairs >> 32, (pairs >> 1) & (2**31 - 1), pairs & 1


def count_texts(texts: SentenceTexts, engine: Engine) -> TextCounts:
    """Count words and pairs, block by block."""
    n_words = len(texts.words)

    def counted(block: TextBlock) -> TextCounts:
        words = count_words(block.codes, block.negated, block.indptr, block.documents, n_words)
        return TextCounts(*words, *count_pairs(block.codes, block.indptr, block.documents, block.under))

    return _added(engine.map(counted, blocks_of(texts)))


def _added(found: Sequence[TextCounts]) -> TextCounts:
    """Counts of all blocks."""
    words = np.sum([(part.documents, part.plain, part.negated, part.occurrences) for part in found], axis=0)
    none = np.zeros(0, np.int64)
    pairs, numbers = number_keys(np.concatenate([none, *(part.pairs for part in found)]))
    in_documents = np.bincount(numbers, np.concatenate([none, *(part.in_documents for part in found)]), len(pairs))
    return TextCounts(words[0], words[1], words[2], words[3], pairs, in_documents.astype(np.int64))
