"""Counts of words, of pairs of neighbours and of terms in documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.compute.counting import count_pairs, count_words, number_keys
from textsignal.compute.engines import Engine
from textsignal.text.reading import in_threads
from textsignal.text.scanning import count_rows
from textsignal.text.tokens import SentenceTexts, TokenisedTexts, Vocabulary

#: Approximate number of words in a block: enough to pay for its overhead, few enough for memory.
BLOCK_WORDS = 2**19

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TextBlock:
    """Consecutive documents of texts, sharing their memory.

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
    """Cut texts into blocks of about `BLOCK_WORDS` words, or of one document that has more.

    Examples
    --------
    >>> from textsignal.text.tokens import read_sentences
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
    """Counts of words and pairs in texts. Counts of blocks add up.

    documents, plain, negated : (words,) documents in which each occurs, occurs plain, and occurs negated.
    occurrences : (words,) of each.
    pairs : (pairs,) of neighbours, as of `count_pairs`; in_documents : (pairs,) documents in which each occurs.
    """

    documents: Counts
    plain: Counts
    negated: Counts
    occurrences: Counts
    pairs: Counts
    in_documents: Counts


def parts_of_pairs(pairs: Counts) -> tuple[Counts, Counts, Counts]:
    """Return first and second word of pairs, and 1 if both stand under a negation."""
    return pairs >> 32, (pairs >> 1) & (2**31 - 1), pairs & 1


def count_texts(texts: SentenceTexts, engine: Engine) -> TextCounts:
    """Count words and pairs, block by block."""
    n_words = len(texts.words)

    def counted(block: TextBlock) -> TextCounts:
        words = count_words(block.codes, block.negated, block.indptr, block.documents, n_words)
        return TextCounts(*words, *count_pairs(block.codes, block.indptr, block.documents, block.under))

    return _added(engine.map(counted, blocks_of(texts)))


def _added(blocks: Sequence[TextCounts]) -> TextCounts:
    words = np.sum([(part.documents, part.plain, part.negated, part.occurrences) for part in blocks], axis=0)
    none = np.zeros(0, np.int64)
    pairs, numbers = number_keys(np.concatenate([none, *(part.pairs for part in blocks)]))
    in_documents = np.bincount(numbers, np.concatenate([none, *(part.in_documents for part in blocks)]), len(pairs))
    return TextCounts(words[0], words[1], words[2], words[3], pairs, in_documents.astype(np.int64))


#: The most distinct words and pairs that are counted.
MOST_WORDS, MOST_PAIRS = 2**20, 2**23


class MergedCounts:
    """Counts over shards with separate numbers of words: exact up to a limit, then with a known error.

    If there are more than `most_words` distinct words or `most_pairs` pairs, the rarest are discarded. The others then
    occur in up to `error` more documents than counted.

    Examples
    --------
    >>> from textsignal.compute.engines.local import LocalEngine
    >>> from textsignal.text.tokens import read_sentences
    >>> merged = MergedCounts()
    >>> for texts in (read_sentences(["clean room", "room"]), read_sentences(["noisy room"])):
    ...     merged.add(texts.words, count_texts(texts, LocalEngine()))
    >>> merged.words, merged.counts.documents, merged.error
    (['clean', 'room', 'noisy'], array([1, 3, 1]), 0)
    """

    def __init__(self, most_words: int = MOST_WORDS, most_pairs: int = MOST_PAIRS) -> None:
        self.most_words, self.most_pairs = most_words, most_pairs
        self.error = 0
        self._vocabulary = Vocabulary()
        self._of_words = np.zeros((4, 0), np.int64)
        self._pairs, self._in_documents = (np.zeros(0, np.int64) for _ in range(2))
        self._waiting: list[tuple[Counts, Counts]] = []

    def add(self, words: Sequence[str], counts: TextCounts, error: int = 0) -> None:
        """Add counts of texts with these distinct words; error : by how much each may be too low."""
        self.error += error
        numbers = self._vocabulary.number(words).astype(np.int64)
        missing = len(self._vocabulary) - self._of_words.shape[1]
        self._of_words = np.pad(self._of_words, ((0, 0), (0, missing)))
        self._of_words[:, numbers] += (counts.documents, counts.plain, counts.negated, counts.occurrences)
        first, second, under = parts_of_pairs(counts.pairs)
        self._waiting.append(((numbers[first] << 32) + 2 * numbers[second] + under, counts.in_documents))
        if sum(len(pairs) for pairs, _ in self._waiting) > max(len(self._pairs), self.most_pairs // 8):
            self._merge()

    @property
    def words(self) -> list[str]:
        """The distinct words that are not discarded, by first occurrence."""
        self._merge()
        return self._vocabulary.words

    @property
    def counts(self) -> TextCounts:
        """Sum of all counts."""
        self._merge()
        documents, plain, negated, occurrences = self._of_words
        return TextCounts(documents, plain, negated, occurrences, self._pairs, self._in_documents)

    def _merge(self) -> None:
        """Add waiting pairs; discard the rarest of too many."""
        if not self._waiting:
            return
        together = zip((self._pairs, self._in_documents), *self._waiting, strict=True)
        pairs, counts = (np.concatenate(parts) for parts in together)
        self._waiting = []
        self._pairs, numbers = number_keys(pairs)
        self._in_documents = np.bincount(numbers, counts, len(self._pairs)).astype(np.int64)
        self._discard(_rarest(self._of_words[0], self.most_words), _rarest(self._in_documents, self.most_pairs))

    def _discard(self, word_limit: int, pair_limit: int) -> None:
        """Discard words in at most `word_limit` documents and pairs in at most `pair_limit`."""
        if not word_limit and not pair_limit:
            return
        self.error += max(word_limit, pair_limit)
        kept = self._of_words[0] > word_limit
        numbers = np.where(kept, np.cumsum(kept) - 1, -1)
        self._vocabulary = Vocabulary(compress(self._vocabulary.words, kept.tolist()))
        self._of_words = self._of_words[:, kept]
        first, second, under = parts_of_pairs(self._pairs)
        held = (self._in_documents > pair_limit) & kept[first] & kept[second]
        first, second = numbers[first[held]], numbers[second[held]]
        self._pairs, self._in_documents = (first << 32) + 2 * second + under[held], self._in_documents[held]


def _rarest(counts: NDArray[np.int64], most: int) -> int:
    """The count up to which words are discarded so that at most `most` stay; 0 if they are not too many.

    A quarter more than necessary, so that it is not repeated with every block.
    """
    if len(counts) <= most:
        return 0
    return int(np.partition(counts, len(counts) - most * 3 // 4)[len(counts) - most * 3 // 4])


#: Words that one thread counts at a time.
THREAD_WORDS = 1 << 18


def count_terms(
    tokens: TokenisedTexts, stop_words: frozenset[str], lengths: range, vocabulary: Mapping[str, int] | None = None
) -> tuple[sp.csr_matrix, list[str]]:
    """Count terms: runs of consecutive words of these lengths, without stop words.

    vocabulary : column of each term; None takes every term, in alphabetical order.

    Returns (documents, terms) counts with sorted indices, and the terms.

    Examples
    --------
    >>> from textsignal.text.tokens import tokenised
    >>> counts, terms = count_terms(tokenised(["not the room", "room, room"]), frozenset(["the"]), range(1, 3))
    >>> terms
    ['not', 'not room', 'room', 'room room']
    >>> counts.toarray()
    array([[1, 1, 1, 0],
           [0, 0, 2, 1]])
    """
    kept = np.array([word not in stop_words for word in tokens.words], dtype=bool)
    at = kept[tokens.codes] if len(kept) else np.zeros(0, dtype=bool)
    codes = tokens.codes[at]
    documents = np.repeat(np.arange(len(tokens)), np.diff(tokens.indptr))[at]
    runs = [
        run for length, run in enumerate(_runs(codes, documents, tokens.words, max(lengths)), 1) if length in lengths
    ]
    if vocabulary is None:
        terms = sorted({run.names[k] for run in runs for k in np.unique(run.numbers).tolist()})
        columns: Mapping[str, int] = {term: column for column, term in enumerate(terms)}
    else:
        terms, columns = list(vocabulary), vocabulary
    counts = sp.csr_matrix((len(tokens), len(terms)), dtype=np.int64)
    for run in runs:
        indptr = np.searchsorted(documents[run.starts], np.arange(len(tokens) + 1))
        places = np.array([columns.get(name, -1) for name in run.names], dtype=np.int32)
        of_run = count_codes(run.numbers, indptr, places, len(terms))
        counts = of_run if len(runs) == 1 else counts + of_run
    return counts, terms


def count_codes(
    codes: NDArray[np.int32],
    indptr: NDArray[np.int64],
    columns: NDArray[np.int32],
    n_columns: int,
    n_jobs: int | None = -1,
) -> sp.csr_matrix:
    """Return (documents, columns) counts with sorted indices.

    codes : numbers of words; indptr : (documents + 1,) where each document begins in it.
    columns : (numbers,) the column of each, -1 if absent. n_jobs : threads.

    Examples
    --------
    >>> from textsignal.text.tokens import tokenised
    >>> tokens = tokenised(["not the room", "room, room"])
    >>> count_codes(tokens.codes, tokens.indptr, np.array([0, -1, 1], np.int32), 2).toarray()
    array([[1, 1],
           [0, 2]])
    """
    step = max(THREAD_WORDS, n_columns)
    inner = np.searchsorted(indptr, np.arange(step, indptr[-1], step))
    edges = [0, *np.unique(inner).tolist(), len(indptr) - 1]

    def count(rows: tuple[int, int]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        sizes, cells, counts = count_rows(codes, indptr, *rows, columns, n_columns)
        return sizes, cells, counts

    parts = in_threads(count, list(pairwise(edges)), n_jobs)
    sizes, cells, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    shape = (len(indptr) - 1, n_columns)
    return sp.csr_matrix((counts, cells, np.concatenate([[0], np.cumsum(sizes)])), shape=shape)


@dataclass(frozen=True)
class _Runs:
    """Runs of consecutive words: where they start, the number of each, and the names of the numbers."""

    starts: NDArray[np.int64]
    numbers: NDArray[np.int32]
    names: Sequence[str]


def _runs(
    codes: NDArray[np.int32], documents: NDArray[np.int64], words: Sequence[str], longest: int
) -> Iterator[_Runs]:
    """Runs of one word, of two, and so on, each inside one document."""
    run = _Runs(np.arange(len(codes)), codes, words)
    yield run
    for length in range(2, longest + 1):
        ends = run.starts + length - 1
        inside = ends < len(codes)
        inside[inside] = documents[run.starts[inside]] == documents[ends[inside]]
        pairs = run.numbers[inside].astype(np.int64) * len(words) + codes[ends[inside]]
        distinct, numbers = number_keys(pairs)
        names = [f"{run.names[pair // len(words)]} {words[pair % len(words)]}" for pair in distinct.tolist()]
        run = _Runs(run.starts[inside], numbers.astype(np.int32), names)
        yield run
