"""Features of texts: words, negated words and phrases of two words, which tone has effects for; and content terms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.compute.counting import find_features, key_table, sentence_sums
from textsignal.compute.engines import Engine
from textsignal.stored_values import rule
from textsignal.text.counts import TextBlock, TextCounts, blocks_of, parts_of_pairs
from textsignal.text.tokenise import GENERAL, OPINION, negates
from textsignal.text.tokens import SentenceTexts

#: Prefix of a negated word, among features and for people.
NOT = "not "
#: Weight of a phrase compared with a word: most phrases add little to their words.
PHRASE_SIZE = 0.5
WORD, NEGATED, PHRASE, NEGATED_PHRASE = range(4)
#: The most features; those in the most documents are kept.
MOST_FEATURES = 250_000


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Every occurrence of a feature in texts, document by document.

    words, sentences : (occurrences,) the word of the texts it belongs to, and its sentence; a phrase belongs to its
        second word.
    features : (occurrences,) its number in the names.
    values : (occurrences,) its share of the document: an equal part, for every occurrence of feature f in
        document i, of z_if = size_f sqrt(n_if) / |size sqrt(n_i)|.
    """

    words: NDArray[np.int32]
    sentences: NDArray[np.int32]
    features: NDArray[np.int32]
    values: Vector

    def tone_of_sentences(self, effects: Vector, fits: NDArray[np.int64]) -> Vector:
        """Return (sentences,) the sum over occurrences of value times effect.

        effects : (fits, features); fits : (sentences,) the fit by which each is read, -1 for a tone of 0.
        """
        tone: Vector = sentence_sums(self.sentences, self.features, self.values, effects, fits)
        return tone


@dataclass(frozen=True)
class Known:
    """Features by their words.

    words, negated : word -> the feature of it, and of it under a negation.
    parts : word of a phrase -> its number.
    phrases : table from pairs, twice (number of the first word times len(parts), plus that of the second), plus 1 where
        it stands under a negation, to their features, as made by `compute.counting.key_table`.
    """

    words: Mapping[str, int]
    negated: Mapping[str, int]
    parts: Mapping[str, int]
    phrases: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Features:
    """Features by name: a word is "clean", a negated word "not clean", a phrase "front desk" or "not stay again".

    names : (features,) a negated word and a phrase may read alike; kinds distinguish them.
    kinds : (features,) 0 for a word, 1 for a negated word, 2 for a phrase, 3 for one whose words are under a negation.
    """

    names: Sequence[str] = field(metadata=rule(shape=("features",)))
    kinds: NDArray[np.int8] = field(metadata=rule(shape=("features",), least=WORD, most=NEGATED_PHRASE))

    def check(self) -> None:
        """Raise ValueError if a phrase is not of two words, or a feature is repeated: a stored model may be damaged."""
        if any(" " not in self.names[j] for j in np.flatnonzero(self.is_phrase).tolist()):
            raise ValueError("a phrase is not of two words")
        if len({*zip(self.names, self.kinds.tolist(), strict=True)}) != len(self):
            raise ValueError("a feature is twice")

    def __len__(self) -> int:
        return len(self.names)

    @property
    def sizes(self) -> NDArray[np.float64]:
        """(features,) weight of each."""
        return np.where(self.is_phrase, PHRASE_SIZE, 1.0)

    @property
    def is_phrase(self) -> NDArray[np.bool_]:
        """(features,) True for phrases of two words."""
        return self.kinds >= PHRASE

    def read(self, texts: SentenceTexts, engine: Engine) -> tuple[Occurrences, sp.csr_array]:
        """Return every occurrence of these features, and their (documents, features) counts."""
        parts = self._found(texts, engine, located=True)
        occurrences = Occurrences(*engine.map(np.concatenate, [*zip(*(part[0] for part in parts), strict=True)]))
        rows, indices, data = zip(*(part[1] for part in parts), strict=True)
        return occurrences, self._counts(rows, np.concatenate(indices), np.concatenate(data))

    def count(self, texts: Sequence[SentenceTexts], engine: Engine) -> sp.csr_array:
        """Return (documents, features) counts, in two bytes each if these suffice.

        texts : parts that follow each other.
        """
        most, longest = 2 * sum(len(part.codes) for part in texts), max(part.n_words.max(initial=0) for part in texts)
        indices, data = np.empty(most, np.int32), np.empty(most, np.uint16 if longest < 2**16 else np.int32)
        rows, end = [], 0
        # Counts of a part are freed before the next, which then use the same memory.
        for part in texts:
            for _, (indptr, cells, counts) in self._found(part, engine, located=False):
                start, end = end, end + len(cells)
                indices[start:end], data[start:end] = cells, counts
                rows.append(indptr)
        return self._counts(rows, indices[:end], data[:end])

    def _counts(self, rows: Sequence[NDArray], indices: NDArray, data: NDArray) -> sp.csr_array:
        """Counts of blocks, one after the other; rows : where each document of a block begins in it."""
        sizes = np.concatenate([np.diff(indptr) for indptr in rows])
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        # With an indptr of eight bytes SciPy would copy indices into as many.
        small = indptr.astype(np.int32) if indptr[-1] < 2**31 else indptr
        return sp.csr_array((data, indices, small), shape=(len(sizes), len(self)))

    def _found(
        self, texts: SentenceTexts, engine: Engine, *, located: bool
    ) -> list[tuple[Sequence[NDArray], Sequence[NDArray]]]:
        """Occurrences, if `located`, and counts of blocks, one after the other."""
        known, sizes = self.known, self.sizes

        def numbered(numbers: Mapping[str, int]) -> NDArray[np.int32]:
            return np.array([numbers.get(word, -1) for word in texts.words], dtype=np.int32)

        of_words = numbered(known.words), numbered(known.negated), numbered(known.parts)
        features = (*of_words, len(known.parts), known.phrases)

        def found(block: TextBlock) -> tuple[Sequence[NDArray], Sequence[NDArray]]:
            texts_of = (block.codes, block.under, block.negated, block.indptr, block.ends)
            (words, sentences, *others), counts = find_features(texts_of, features, sizes, located)
            words += block.word
            sentences += block.sentence
            return (words, sentences, *others), counts

        return engine.map(found, blocks_of(texts))

    @cached_property
    def known(self) -> Known:
        """Features by their words."""
        words, negated = (np.flatnonzero(self.kinds == kind) for kind in (WORD, NEGATED))
        phrases = np.flatnonzero(self.is_phrase)
        under = self.kinds[phrases] == NEGATED_PHRASE
        parts: defaultdict[str, int] = defaultdict()
        parts.default_factory = parts.__len__
        numbers = [parts[part] for j in phrases.tolist() for part in self.names[j].split(" ")[-2:]]
        of_parts = np.array(numbers, dtype=np.int64).reshape(-1, 2)
        pairs = 2 * (of_parts[:, 0] * len(parts) + of_parts[:, 1]) + under
        return Known(
            {self.names[j]: j for j in words.tolist()},
            {self.names[j].removeprefix(NOT): j for j in negated.tolist()},
            dict(parts),
            key_table(pairs, phrases),
        )


def learn_features(words: Sequence[str], counts: TextCounts, least_documents: int, *, phrases: bool) -> Features:
    """Return all features in at least `least_documents`; if these are more than `MOST_FEATURES`, the most frequent.

    words : the distinct words of the counted texts.

    Examples
    --------
    >>> from textsignal.compute.engines.local import LocalEngine
    >>> from textsignal.text.counts import count_texts
    >>> from textsignal.text.tokens import read_sentences
    >>> texts = read_sentences(["Not clean. Front desk.", "not clean", "front desk"])
    >>> learn_features(texts.words, count_texts(texts, LocalEngine()), 2, phrases=True).names
    ['desk', 'front', 'not', 'not clean', 'front desk', 'not clean']
    """
    counted = [counts.plain, counts.negated] + ([counts.in_documents] if phrases else [])
    least = _least(np.concatenate(counted), least_documents)
    plain, negated = (np.flatnonzero(in_documents >= least).tolist() for in_documents in counted[:2])
    kept = [sorted(words[k] for k in plain), sorted(NOT + words[k] for k in negated)]
    if phrases:
        often = [part.tolist() for part in parts_of_pairs(counts.pairs[counts.in_documents >= least])]
        named = [(under, f"{words[first]} {words[second]}") for first, second, under in zip(*often, strict=True)]
        kept += [
            sorted(name for under, name in named if not under),
            sorted(NOT + name for under, name in named if under),
        ]
    kinds = np.repeat(np.arange(len(kept), dtype=np.int8), [len(names) for names in kept])
    return Features([name for names in kept for name in names], kinds)


def _least(in_documents: NDArray[np.int64], least: int) -> int:
    """The number of documents that at most `MOST_FEATURES` features reach; at least `least`."""
    if np.count_nonzero(in_documents >= least) <= MOST_FEATURES:
        return least
    return int(np.partition(in_documents, -MOST_FEATURES - 1)[-MOST_FEATURES - 1]) + 1


def content_terms(
    words: Sequence[str],
    counts: TextCounts,
    language: str | None,
    stop_words: frozenset[str],
    limit: int,
    least_documents: int,
) -> list[str]:
    """Return the most frequent content words, in alphabetical order.

    Excluded are stop words, negations, small words of opinion, general words, numbers, contractions, and words in fewer
    documents than `least_documents`.

    words : the distinct words of the counted texts.

    Examples
    --------
    >>> from textsignal.compute.engines.local import LocalEngine
    >>> from textsignal.text.counts import count_texts
    >>> from textsignal.text.tokens import read_sentences
    >>> texts = read_sentences(["The room was not very clean. I'd really say 10 rooms!"])
    >>> content_terms(texts.words, count_texts(texts, LocalEngine()), "english", frozenset(["the", "was"]), 100, 1)
    ['clean', 'room', 'rooms']
    """
    name = language or ""
    excluded = stop_words | OPINION.get(name, frozenset()) | GENERAL.get(name, frozenset())
    often, n_documents = counts.occurrences.tolist(), counts.documents.tolist()
    candidates = [
        (-often[j], word)
        for j, word in enumerate(words)
        if n_documents[j] >= least_documents and word not in excluded and _is_content(word, name)
    ]
    return sorted(word for _, word in sorted(candidates)[:limit])


def _is_content(word: str, language: str) -> bool:
    has_letter = any(letter.isalpha() for letter in word)
    return has_letter and "'" not in word and len(word) > 1 and not negates(word, language)
