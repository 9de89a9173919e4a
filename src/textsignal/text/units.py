"""Sentences of texts with their words, and which words stand under a negation."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textsignal.kernels.counting import spell_out
from textsignal.text.negations import NEGATIONS, negates
from textsignal.text.sentences import sentence_spans
from textsignal.text.tokenise import TOKEN, normalise, stop_words
from textsignal.text.tokens import checked_texts, first_copies

#: So many words after a negation stand under it, up to the next punctuation.
SCOPE = 3
#: Words and punctuation of normalised text, and the line breaks that part its pieces.
WORD_OR_PAUSE = re.compile(rf"{TOKEN.pattern}|[.,;:!?()…–—、，；：\n]|(?<=\s)-(?=\s)")
PAUSES = frozenset(".,;:!?()…–—、，；：-")


@dataclass(frozen=True, eq=False)
class SentenceTexts:
    """Texts cut into sentences, each word a number.

    texts : (documents,) the texts, as they were read.
    documents : (sentences,) the document of each sentence, ascending.
    spans : (sentences, 2) where each sentence starts and ends in its text.
    words : the distinct words, in the order in which they first occur.
    codes : (all words,) the number of each in `words`; indptr : (sentences + 1,) where each sentence begins in it.
    under : (all words,) whether a word stands under a negation; negated : whether it does and is no function word.
    n_cleaned : how many texts were changed by cleaning.
    """

    texts: Sequence[str]
    documents: NDArray[np.int64]
    spans: NDArray[np.int64]
    words: Sequence[str]
    codes: NDArray[np.int32]
    indptr: NDArray[np.int64]
    under: NDArray[np.bool_]
    negated: NDArray[np.bool_]
    n_cleaned: int = 0

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def sentence_of_word(self) -> NDArray[np.int64]:
        """(all words,) the sentence of each word."""
        return np.repeat(np.arange(len(self.documents)), np.diff(self.indptr))

    @cached_property
    def document_of_word(self) -> NDArray[np.int64]:
        """(all words,) the document of each word, ascending."""
        return self.documents[self.sentence_of_word]

    @property
    def document_indptr(self) -> NDArray[np.int64]:
        """(documents + 1,) where each document begins among all words."""
        return self.indptr[np.searchsorted(self.documents, np.arange(len(self) + 1))]

    @property
    def n_words(self) -> NDArray[np.int64]:
        """(documents,) words in each text."""
        return np.bincount(self.documents, weights=np.diff(self.indptr), minlength=len(self)).astype(np.int64)

    def at(self, rows: NDArray[np.int64]) -> SentenceTexts:
        """Some of the texts, in the order of `rows`."""
        edges = np.searchsorted(self.documents, np.arange(len(self) + 1))
        kept = _ranges(edges[rows], edges[rows + 1])
        tokens = _ranges(self.indptr[kept], self.indptr[kept + 1])
        return SentenceTexts(
            texts=[self.texts[i] for i in rows],
            documents=np.repeat(np.arange(len(rows)), edges[rows + 1] - edges[rows]),
            spans=self.spans[kept],
            words=self.words,
            codes=self.codes[tokens],
            indptr=np.concatenate([[0], np.cumsum(self.indptr[kept + 1] - self.indptr[kept])]),
            under=self.under[tokens],
            negated=self.negated[tokens],
        )

    def first_copies(self) -> NDArray[np.int64]:
        """(documents,) the first text that has the same words in the same order; each text without words is its own."""
        return first_copies(self.codes, self.document_indptr)


def _ranges(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """All whole numbers from each start up to its end, one range after the other."""
    sizes = ends - starts
    before = np.concatenate([[0], np.cumsum(sizes)])
    return np.arange(before[-1]) + np.repeat(starts - before[:-1], sizes)


def read_sentences(texts: Iterable[str], language: str = "english", clean: Callable[[str], str] = str) -> SentenceTexts:
    """Cut texts into sentences and words, each once, after `clean`.

    language : whose negations are looked for; one without a list has none. Words on its stop list are not negated.

    Examples
    --------
    >>> read = read_sentences(["The room was not very clean. Nice staff!", "Fine"])
    >>> read.documents, [read.words[code] for code in read.codes[read.negated]]
    (array([0, 0, 1]), ['very', 'clean'])
    """
    given = checked_texts(texts)
    cleaned = [clean(text) for text in given]
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    pieces, spans = array("i"), array("q")
    n_sentences, ends = array("q"), array("q", [0])
    for text in cleaned:
        found = sentence_spans(text)
        n_sentences.append(len(found))
        for start, end in found:
            spans.extend((start, end))
            pieces.extend(map(numbers.__getitem__, text[start:end].split()))
            ends.append(len(pieces))
    tokens = _tokens(list(numbers))
    function_words = stop_words(language if language in NEGATIONS else None)
    content = np.array([word not in function_words for word in tokens.words], dtype=bool)
    codes, indptr, under = spell_out(
        np.array(pieces, np.int32),
        np.array(ends, np.int64),
        tokens.codes,
        tokens.indptr,
        np.array([negates(word, language) for word in tokens.words], dtype=bool),
        SCOPE,
    )
    return SentenceTexts(
        texts=cleaned,
        documents=np.repeat(np.arange(len(cleaned)), n_sentences),
        spans=np.array(spans, np.int64).reshape(-1, 2),
        words=tokens.words,
        codes=codes,
        indptr=indptr,
        under=under,
        negated=under & content[codes],
        n_cleaned=sum(before != after for before, after in zip(given, cleaned, strict=True)),
    )


@dataclass(frozen=True)
class _Tokens:
    """Words and pauses of distinct pieces of text, one piece after the other.

    words : the distinct words, in the order in which they first occur.
    codes : (tokens,) the number of each in `words`, -1 for a pause; indptr : (pieces + 1,) where each piece begins.
    """

    words: Sequence[str]
    codes: NDArray[np.int32]
    indptr: NDArray[np.int64]


def _tokens(pieces: Sequence[str]) -> _Tokens:
    """Words and pauses of pieces of text, none of which holds a space."""
    found = WORD_OR_PAUSE.findall(normalise("\n".join(pieces)))
    words = list(dict.fromkeys(token for token in found if token not in PAUSES and token != "\n"))
    numbers = {"\n": -2} | dict.fromkeys(PAUSES, -1) | {word: code for code, word in enumerate(words)}
    codes = np.array([numbers[token] for token in found], dtype=np.int32)
    breaks = np.flatnonzero(codes == -2)
    indptr = np.concatenate([[0], breaks - np.arange(len(breaks)), [len(codes) - len(breaks)]])
    return _Tokens(words, codes[codes != -2], indptr if pieces else indptr[:1])
