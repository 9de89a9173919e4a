"""Counts of words and pairs over shards, each with numbers of its own: exact up to a limit, then with a known error."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from textsignal.compute.counting import number_keys
from textsignal.text.counts import Counts, TextCounts, parts_of_pairs
from textsignal.text.vocabulary import Vocabulary

#: Distinct words and pairs that are counted, at most.
MOST_WORDS, MOST_PAIRS = 2**20, 2**23


class MergedCounts:
    """Counts of several texts together.

    Where more than `most_words` distinct words or `most_pairs` pairs come up, the rarest are forgotten. What is kept
    then stands in as many documents as is counted, or in up to `error` more.

    Examples
    --------
    >>> from textsignal.compute.engines.local import LocalEngine
    >>> from textsignal.text.counts import count_texts
    >>> from textsignal.text.units import read_sentences
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
        """Add counts of texts whose distinct words are these; error : by how much each may be too low."""
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
        """The distinct words that are not forgotten, as they came first."""
        self._merge()
        return self._vocabulary.words

    @property
    def counts(self) -> TextCounts:
        """Everything together."""
        self._merge()
        documents, plain, negated, occurrences = self._of_words
        return TextCounts(documents, plain, negated, occurrences, self._pairs, self._in_documents)

    def _merge(self) -> None:
        """Take in the pairs that wait; forget the rarest of too many."""
        if not self._waiting:
            return
        together = zip((self._pairs, self._in_documents), *self._waiting, strict=True)
        pairs, counts = (np.concatenate(parts) for parts in together)
        self._waiting = []
        self._pairs, numbers = number_keys(pairs)
        self._in_documents = np.bincount(numbers, counts, len(self._pairs)).astype(np.int64)
        self._forget(_rarest(self._of_words[0], self.most_words), _rarest(self._in_documents, self.most_pairs))

    def _forget(self, word_limit: int, pair_limit: int) -> None:
        """Leave out words in at most `word_limit` documents and pairs in at most `pair_limit`."""
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
    """The count up to which all are left out, so that at most `most` stay; 0 where they are not too many.

    A quarter more than need be goes, so that it is not done again with every block.
    """
    if len(counts) <= most:
        return 0
    return int(np.partition(counts, len(counts) - most * 3 // 4)[len(counts) - most * 3 // 4])
