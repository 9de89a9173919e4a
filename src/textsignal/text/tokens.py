"""Texts with their words, each word a number: tokenised once, counted as often as one likes."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.compute.counting import number_keys
from textsignal.text.encoded import encode
from textsignal.text.reading import in_threads, read_blocks
from textsignal.text.scanning import count_rows
from textsignal.text.tokenise import words

Tokenizer = Callable[[str], Iterable[str]]
#: Words that one thread counts at a time.
BLOCK_WORDS = 1 << 18


@dataclass(frozen=True, eq=False)
class TokenisedTexts:
    """Texts with their words.

    texts : (documents,) the texts, as they were tokenised.
    words : the distinct words, in the order in which they first occur.
    codes : (all words of all texts,) the number of each in `words`.
    indptr : (documents + 1,) where each text's words begin in `codes`.
    tokenizer : what gave the words.
    n_cleaned : how many texts were changed by cleaning before they were tokenised.
    """

    texts: Sequence[str]
    words: Sequence[str]
    codes: NDArray[np.int32]
    indptr: NDArray[np.int64]
    tokenizer: Tokenizer
    n_cleaned: int = 0

    def __len__(self) -> int:
        return len(self.texts)

    def at(self, rows: NDArray[np.int64]) -> TokenisedTexts:
        """Some of the texts, in the order of `rows`."""
        sizes = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        codes = self.codes[np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], sizes)]
        return TokenisedTexts([self.texts[i] for i in rows], self.words, codes, indptr, self.tokenizer)

    def first_copies(self) -> NDArray[np.int64]:
        """(documents,) the first text that has the same words in the same order; each text without words is its own.

        Examples
        --------
        >>> tokenised(["Good food!", "Cold soup.", "good  food", "?"]).first_copies()
        array([0, 1, 0, 3])
        """
        return first_copies(self.codes, self.indptr)


def first_copies(codes: NDArray[np.int32], indptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """(documents,) the first document of the same codes in the same order; each without any is its own."""
    first: dict[bytes, int] = {}
    contents = (codes[start:end].tobytes() for start, end in pairwise(indptr.tolist()))
    return np.array([first.setdefault(content, i) if content else i for i, content in enumerate(contents)], int)


def tokenised(
    texts: Iterable[str],
    tokenizer: Tokenizer = words,
    clean: Callable[[str], str] = str,
    *,
    n_jobs: int | None = -1,
) -> TokenisedTexts:
    """Tokenise texts, each once, after `clean`; by the compiled pass unless there is a tokenizer of one's own.

    n_jobs : threads of the compiled pass, -1 for all cores; the result is the same for any number.

    Examples
    --------
    >>> tokens = tokenised(["A clean room.", "Clean, clean!"])
    >>> tokens.words, tokens.codes, tokens.indptr
    (['clean', 'room'], array([0, 1, 0, 0], dtype=int32), array([0, 2, 4]))
    """
    encoded = encode(texts, clean)
    if tokenizer is words:
        read = read_blocks(encoded, n_jobs, whole=True)
        distinct, codes, indptr = read.words, read.plain_codes, read.indptr
    else:
        distinct, codes, indptr = _by(tokenizer, encoded.texts)
    return TokenisedTexts(encoded.texts, distinct, codes, indptr, tokenizer, int(encoded.cleaned.sum()))


def _by(tokenizer: Tokenizer, texts: Iterable[str]) -> tuple[list[str], NDArray[np.int32], NDArray[np.int64]]:
    """Distinct words, the number of every word, and where each text begins among them."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    codes = array("i")
    ends = [0]
    for text in texts:
        codes.extend(map(numbers.__getitem__, tokenizer(text)))
        ends.append(len(codes))
    return list(numbers), np.array(codes, np.int32), np.array(ends, np.int64)


def count_terms(
    tokens: TokenisedTexts, stop_words: frozenset[str], lengths: range, vocabulary: Mapping[str, int] | None = None
) -> tuple[sp.csr_matrix, list[str]]:
    """Count terms: runs of neighbouring words of these lengths, stop words left out.

    vocabulary : column of each term; None takes every term, in the order of the alphabet.

    Returns (documents, terms) counts with sorted indices, and the terms.

    Examples
    --------
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
    found = [
        run for length, run in enumerate(_runs(codes, documents, tokens.words, max(lengths)), 1) if length in lengths
    ]
    if vocabulary is None:
        terms = sorted({run.names[k] for run in found for k in _used(run.numbers, len(run.names))})
        columns: Mapping[str, int] = {term: column for column, term in enumerate(terms)}
    else:
        terms, columns = list(vocabulary), vocabulary
    counts = sp.csr_matrix((len(tokens), len(terms)), dtype=np.int64)
    for run in found:
        indptr = np.searchsorted(documents[run.starts], np.arange(len(tokens) + 1))
        places = np.array([columns.get(name, -1) for name in run.names], dtype=np.int32)
        of_run = count_codes(run.numbers, indptr, places, len(terms))
        counts = of_run if len(found) == 1 else counts + of_run
    return counts, terms


def _used(numbers: NDArray[np.int32], n_numbers: int) -> list[int]:
    """Numbers that occur, ascending."""
    used = np.zeros(n_numbers, dtype=bool)
    used[numbers] = True
    return np.flatnonzero(used).tolist()


def count_codes(
    codes: NDArray[np.int32],
    indptr: NDArray[np.int64],
    columns: NDArray[np.int32],
    n_columns: int,
    n_jobs: int | None = -1,
) -> sp.csr_matrix:
    """(documents, columns) how often each column is in each document, with sorted indices.

    codes : numbers of words; indptr : (documents + 1,) where each document begins in it.
    columns : (numbers,) the column of each, -1 for none. n_jobs : threads.

    Examples
    --------
    >>> tokens = tokenised(["not the room", "room, room"])
    >>> count_codes(tokens.codes, tokens.indptr, np.array([0, -1, 1], np.int32), 2).toarray()
    array([[1, 1],
           [0, 2]])
    """
    step = max(BLOCK_WORDS, n_columns)
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
    """Runs of neighbouring words: where they start, the number of each, and the names of the numbers."""

    starts: NDArray[np.int64]
    numbers: NDArray[np.int32]
    names: Sequence[str]


def _runs(
    codes: NDArray[np.int32], documents: NDArray[np.int64], words: Sequence[str], longest: int
) -> Iterator[_Runs]:
    """Runs of one word, of two, and so on, none over the end of a document."""
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
