"""Texts with their words as numbers, whole or cut into sentences: each text is read once."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from textsignal.compute.counting import renumber
from textsignal.text.reading import encode, read_blocks, text_keys, texts_at, texts_together
from textsignal.text.tokenise import NEGATIONS, PAUSE_MARKS, TOKEN, negates, stop_words, words


class Vocabulary:
    """Numbers of words by first occurrence: batches in turn give the same numbers as all words at once.

    Examples
    --------
    >>> vocabulary = Vocabulary()
    >>> vocabulary.number(["clean", "room"]), vocabulary.number(["noisy", "room"]), vocabulary.words
    (array([0, 1], dtype=int32), array([2, 1], dtype=int32), ['clean', 'room', 'noisy'])
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._numbers = {word: number for number, word in enumerate(words)}

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def words(self) -> list[str]:
        """All words, by their numbers."""
        return list(self._numbers)

    def number(self, words: Iterable[str]) -> NDArray[np.int32]:
        """Return (words,) the number of each; a new word gets the next one."""
        numbers = self._numbers
        return np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.int32)


Tokenizer = Callable[[str], Iterable[str]]


@dataclass(frozen=True, eq=False)
class TokenisedTexts:
    """Texts with their words.

    texts : (documents,) the texts, as they were tokenised.
    words : the distinct words, in the order in which they first occur.
    codes : (all words of all texts,) the number of each in `words`.
    indptr : (documents + 1,) where each text's words begin in `codes`.
    tokenizer : that returned the words.
    n_cleaned : number of texts that cleaning changed before they were tokenised.
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
        """Return some of the texts, in the order of `rows`."""
        sizes = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        codes = self.codes[_ranges(self.indptr[rows], self.indptr[rows + 1])]
        return TokenisedTexts([self.texts[i] for i in rows], self.words, codes, indptr, self.tokenizer)

    def first_copies(self) -> NDArray[np.int64]:
        """Return (documents,) the first text with the same words in the same order; texts without words are their own.

        Examples
        --------
        >>> tokenised(["Good food!", "Cold soup.", "good  food", "?"]).first_copies()
        array([0, 1, 0, 3])
        """
        return first_copies(self.codes, self.indptr)


def first_copies(codes: NDArray[np.int32], indptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (documents,) the first document with the same codes in the same order; empty ones are their own."""
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
    """Tokenise texts, each once, after `clean`; by the compiled pass unless `tokenizer` is another function.

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


#: Number of words after a negation that stand under it, up to the next punctuation.
SCOPE = 3
#: Words and punctuation of normalised text, and the line breaks that separate its pieces.
WORD_OR_PAUSE = re.compile(rf"{TOKEN.pattern}|[{PAUSE_MARKS}\n]|(?<=\s)-(?=\s)")
PAUSES = frozenset(PAUSE_MARKS) | {"-"}


@dataclass(frozen=True, eq=False)
class SentenceTexts:
    """Texts cut into sentences, each word a number.

    texts : (documents,) the texts, as they were read.
    documents : (sentences,) the document of each sentence, ascending.
    spans : (sentences, 2) where each sentence starts and ends in its text.
    words : the distinct words, in the order in which they first occur.
    codes : (all words,) the number of each in `words`; indptr : (sentences + 1,) where each sentence begins in it.
    under : (all words,) True under a negation; negated : True under a negation unless it is a function word.
    cleaned : (documents,) True if cleaning changed the text.
    """

    texts: Sequence[str]
    documents: NDArray[np.int64]
    spans: NDArray[np.int64]
    words: Sequence[str]
    codes: NDArray[np.int32]
    indptr: NDArray[np.int64]
    under: NDArray[np.bool_]
    negated: NDArray[np.bool_]
    cleaned: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def sentence_of_word(self) -> NDArray[np.int64]:
        """(all words,) the sentence of each word."""
        return np.repeat(np.arange(len(self.documents)), np.diff(self.indptr))

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """(documents,) as of `text_keys`."""
        return text_keys(self.texts)

    @property
    def document_indptr(self) -> NDArray[np.int64]:
        """(documents + 1,) where each document begins among all words."""
        return self.indptr[np.searchsorted(self.documents, np.arange(len(self) + 1))]

    @property
    def n_words(self) -> NDArray[np.int64]:
        """(documents,) words in each text."""
        return np.bincount(self.documents, weights=np.diff(self.indptr), minlength=len(self)).astype(np.int64)

    @property
    def n_cleaned(self) -> int:
        """Number of texts that cleaning changed."""
        return int(self.cleaned.sum())

    def at(self, rows: NDArray[np.int64]) -> SentenceTexts:
        """Return some of the texts, in the order of `rows`."""
        edges = np.searchsorted(self.documents, np.arange(len(self) + 1))
        kept = _ranges(edges[rows], edges[rows + 1])
        tokens = _ranges(self.indptr[kept], self.indptr[kept + 1])
        return SentenceTexts(
            texts=texts_at(self.texts, rows),
            documents=np.repeat(np.arange(len(rows)), edges[rows + 1] - edges[rows]),
            spans=self.spans[kept],
            words=self.words,
            codes=self.codes[tokens],
            indptr=np.concatenate([[0], np.cumsum(self.indptr[kept + 1] - self.indptr[kept])]),
            under=self.under[tokens],
            negated=self.negated[tokens],
            cleaned=self.cleaned[rows],
        )

    @classmethod
    def together(cls, parts: Sequence[SentenceTexts]) -> SentenceTexts:
        """Concatenate parts, with the words that occur in them, as if all had been read at once.

        Examples
        --------
        >>> parts = [read_sentences(["Clean room.", "Quiet room."]), read_sentences(["Not quiet"])]
        >>> texts = SentenceTexts.together([parts[0].at(np.array([1])), parts[1]])
        >>> texts.words, texts.codes, texts.documents
        (['quiet', 'room', 'not'], array([0, 1, 2, 0], dtype=int32), array([0, 1]))
        """
        vocabulary = Vocabulary()
        numbers = [vocabulary.number(part.words) for part in parts]
        codes = [own[part.codes] for own, part in zip(numbers, parts, strict=True)]
        order, in_order = renumber(np.concatenate(codes), len(vocabulary))
        firsts, words = np.cumsum([0, *map(len, parts)]), vocabulary.words
        sizes = [np.diff(part.indptr) for part in parts]
        return cls(
            texts=texts_together([part.texts for part in parts]),
            documents=np.concatenate([part.documents + first for part, first in zip(parts, firsts, strict=False)]),
            spans=np.concatenate([part.spans for part in parts]),
            words=[words[number] for number in order.tolist()],
            codes=in_order,
            indptr=np.concatenate([[0], *sizes]).cumsum(),
            under=np.concatenate([part.under for part in parts]),
            negated=np.concatenate([part.negated for part in parts]),
            cleaned=np.concatenate([part.cleaned for part in parts]),
        )

    def first_copies(self) -> NDArray[np.int64]:
        """Return (documents,) the first text with the same words in order; texts without words are their own."""
        return first_copies(self.codes, self.document_indptr)


def _ranges(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Concatenate the ranges from each start to its end."""
    sizes = ends - starts
    before = np.concatenate([[0], np.cumsum(sizes)])
    return np.arange(before[-1]) + np.repeat(starts - before[:-1], sizes)


def read_sentences(
    texts: Iterable[str],
    language: str = "english",
    clean: Callable[[str], str] = str,
    *,
    n_jobs: int | None = -1,
) -> SentenceTexts:
    """Cut texts into sentences and words, each once, after `clean`; tests/text/plain_reading.py is it in plain Python.

    texts : strings, or an Arrow array of them.
    language : of negations; one without a list has none. Words on its stop list are not negated.
    n_jobs : threads, -1 for all cores; the result is the same for any number.

    Examples
    --------
    >>> read = read_sentences(["The room was not very clean. Nice staff!", "Fine"])
    >>> read.documents, [read.words[code] for code in read.codes[read.negated]]
    (array([0, 0, 1]), ['very', 'clean'])
    """
    encoded = encode(texts, clean)
    read = read_blocks(encoded, n_jobs, whole=False)
    codes, under, negated = read.codes(*negation_of(read.words, language), SCOPE)
    return SentenceTexts(
        texts=encoded.texts,
        documents=np.repeat(np.arange(len(encoded.texts)), read.n_sentences),
        spans=read.spans,
        words=read.words,
        codes=codes,
        indptr=read.indptr,
        under=under,
        negated=negated,
        cleaned=encoded.cleaned,
    )


def negation_of(words: Sequence[str], language: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return (words,) whether each negates, and whether it can be negated: function words cannot."""
    function_words = stop_words(language if language in NEGATIONS else None)
    negating = np.array([negates(word, language) for word in words], dtype=bool)
    return negating, np.array([word not in function_words for word in words], dtype=bool)
