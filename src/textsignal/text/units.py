"""Sentences of texts with their words, and which words stand under a negation."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textsignal.text.negations import negates
from textsignal.text.sentences import sentence_spans
from textsignal.text.tokenise import TOKEN, normalise
from textsignal.text.tokens import checked_texts, first_copies

#: So many words after a negation stand under it, up to the next punctuation.
SCOPE = 3
#: Words and punctuation of a normalised sentence.
_WORD_OR_PAUSE = re.compile(rf"{TOKEN.pattern}|[.,;:!?()…–—、，；：]|(?<=\s)-(?=\s)")
_PAUSES = frozenset(".,;:!?()…–—、，；：-")


@dataclass(frozen=True, eq=False)
class SentenceTexts:
    """Texts cut into sentences, each word a number.

    texts : (documents,) the texts, as they were read.
    documents : (sentences,) the document of each sentence, ascending.
    spans : (sentences, 2) where each sentence starts and ends in its text.
    words : the distinct words, in the order in which they first occur.
    codes : (all words,) the number of each in `words`; indptr : (sentences + 1,) where each sentence begins in it.
    negated : (all words,) whether a word stands under a negation; negating : whether it is one with a word under it.
    n_cleaned : how many texts were changed by cleaning.
    """

    texts: Sequence[str]
    documents: NDArray[np.int64]
    spans: NDArray[np.int64]
    words: Sequence[str]
    codes: NDArray[np.int32]
    indptr: NDArray[np.int64]
    negated: NDArray[np.bool_]
    negating: NDArray[np.bool_]
    n_cleaned: int = 0

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def sentence_of_word(self) -> NDArray[np.int64]:
        """(all words,) the sentence of each word."""
        return np.repeat(np.arange(len(self.documents)), np.diff(self.indptr))

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
            negated=self.negated[tokens],
            negating=self.negating[tokens],
        )

    def first_copies(self) -> NDArray[np.int64]:
        """(documents,) the first text that has the same words in the same order; each text without words is its own."""
        return first_copies(self.codes, self.indptr[np.searchsorted(self.documents, np.arange(len(self) + 1))])


def _ranges(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """All whole numbers from each start up to its end, one range after the other."""
    sizes = ends - starts
    before = np.concatenate([[0], np.cumsum(sizes)])
    return np.arange(before[-1]) + np.repeat(starts - before[:-1], sizes)


def read_sentences(texts: Iterable[str], language: str = "english", clean: Callable[[str], str] = str) -> SentenceTexts:
    """Cut texts into sentences and words, each once, after `clean`.

    language : whose negations are looked for; one without a list has none.

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
    is_negation: dict[str, bool] = {}
    codes, negated, negating = array("i"), bytearray(), bytearray()
    documents, spans, ends = array("q"), array("q"), array("q", [0])
    for i, text in enumerate(cleaned):
        for start, end in sentence_spans(text):
            under = 0
            fresh = False  # whether the last word is a negation with nothing under it so far
            for word in _WORD_OR_PAUSE.findall(normalise(text[start:end])):
                if word in _PAUSES:
                    under, fresh = 0, False
                    continue
                if fresh:
                    negating[-1] = True
                codes.append(numbers[word])
                negated.append(under > 0)
                negating.append(False)
                under = max(0, under - 1)
                if word not in is_negation:
                    is_negation[word] = negates(word, language)
                fresh = is_negation[word]
                if fresh:
                    under = SCOPE
            documents.append(i)
            spans.extend((start, end))
            ends.append(len(codes))
    return SentenceTexts(
        texts=cleaned,
        documents=np.array(documents, np.int64),
        spans=np.array(spans, np.int64).reshape(-1, 2),
        words=list(numbers),
        codes=np.array(codes, np.int32),
        indptr=np.array(ends, np.int64),
        negated=np.frombuffer(bytes(negated), dtype=bool),
        negating=np.frombuffer(bytes(negating), dtype=bool),
        n_cleaned=sum(before != after for before, after in zip(given, cleaned, strict=True)),
    )
