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

from textsignal.text.encoded import checked_texts
from textsignal.text.tokenise import words

Tokenizer = Callable[[str], Iterable[str]]


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


def tokenised(texts: Iterable[str], tokenizer: Tokenizer = words, clean: Callable[[str], str] = str) -> TokenisedTexts:
    """Tokenise texts, each once, after `clean`.

    Examples
    --------
    >>> tokens = tokenised(["A clean room.", "Clean, clean!"])
    >>> tokens.words, tokens.codes, tokens.indptr
    (['clean', 'room'], array([0, 1, 0, 0], dtype=int32), array([0, 2, 4]))
    """
    given = checked_texts(texts)
    documents = [clean(text) for text in given]
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    codes = array("i")
    ends = [0]
    for text in documents:
        codes.extend(map(numbers.__getitem__, tokenizer(text)))
        ends.append(len(codes))
    n_cleaned = sum(before != after for before, after in zip(given, documents, strict=True))
    counted = (np.array(codes, np.int32), np.array(ends, np.int64))
    return TokenisedTexts(documents, list(numbers), *counted, tokenizer, n_cleaned)


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
    codes = tokens.codes[at].astype(np.int64)
    documents = np.repeat(np.arange(len(tokens)), np.diff(tokens.indptr))[at]
    found = [
        run for length, run in enumerate(_runs(codes, documents, tokens.words, max(lengths)), 1) if length in lengths
    ]
    if vocabulary is None:
        terms = sorted({run.names[k] for run in found for k in np.unique(run.numbers)})
        columns: Mapping[str, int] = {term: column for column, term in enumerate(terms)}
    else:
        terms, columns = list(vocabulary), vocabulary
    rows, places = [], []
    for run in found:
        place = np.array([columns.get(name, -1) for name in run.names], dtype=np.int64)[run.numbers]
        rows.append(documents[run.starts][place >= 0])
        places.append(place[place >= 0])
    return _counted(np.concatenate(rows), np.concatenate(places), (len(tokens), len(terms))), terms


@dataclass(frozen=True)
class _Runs:
    """Runs of neighbouring words: where they start, the number of each, and the names of the numbers."""

    starts: NDArray[np.int64]
    numbers: NDArray[np.int64]
    names: Sequence[str]


def _runs(
    codes: NDArray[np.int64], documents: NDArray[np.int64], words: Sequence[str], longest: int
) -> Iterator[_Runs]:
    """Runs of one word, of two, and so on, none over the end of a document."""
    run = _Runs(np.arange(len(codes)), codes, words)
    yield run
    for length in range(2, longest + 1):
        ends = run.starts + length - 1
        inside = ends < len(codes)
        inside[inside] = documents[run.starts[inside]] == documents[ends[inside]]
        pairs = run.numbers[inside] * len(words) + codes[ends[inside]]
        distinct, numbers = np.unique(pairs, return_inverse=True)
        names = [f"{run.names[pair // len(words)]} {words[pair % len(words)]}" for pair in distinct.tolist()]
        run = _Runs(run.starts[inside], numbers, names)
        yield run


def _counted(rows: NDArray[np.int64], columns: NDArray[np.int64], shape: tuple[int, int]) -> sp.csr_matrix:
    """How often each pair of row and column occurs."""
    counts = sp.coo_matrix((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=shape).tocsr()
    counts.sum_duplicates()
    counts.sort_indices()
    return counts
