"""Counts of words, pairs and terms in texts, and what is learnt from them.

Features are the words, negated words and phrases that tone has effects for; themes are made of content terms.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress, pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.compute.counting import (
    count_pairs,
    count_words,
    find_features,
    judged_sums,
    key_table,
    number_keys,
    sentence_sums,
)
from textsignal.compute.engines import Engine
from textsignal.compute.engines.local import LocalEngine
from textsignal.stored_values import rule
from textsignal.text.lexicon import COMPARATIVES, INTENSIFIED_VALUE, NEGATED_VALUE
from textsignal.text.scanning import count_rows
from textsignal.text.tokenise import GENERAL, OPINION, negates
from textsignal.text.tokens import Sentences, SentenceTexts, TokenisedTexts, Vocabulary, starts_of

#: Prefix of a negated word, among features and for people.
NOT = "not "
#: Weight of a phrase compared with a word: most phrases add little to their words.
PHRASE_SIZE = 0.5
WORD, NEGATED, PHRASE, NEGATED_PHRASE = range(4)
#: The most features; those in the most texts are kept.
MOST_FEATURES = 250_000
#: Approximate number of words in a block, enough to pay for its overhead and few enough for memory; and of those that
#: one thread counts at a time.
BLOCK_WORDS, THREAD_WORDS = 2**19, 2**18
#: The most distinct words and pairs that are counted.
MOST_WORDS, MOST_PAIRS = 2**20, 2**23

Counts = NDArray[np.int64]


def blocks_of(texts: SentenceTexts) -> list[tuple[int, int, Sentences]]:
    """Cut texts into blocks of about `BLOCK_WORDS` words; returns first word and sentence of each, and the block."""
    ends, words, n_texts = texts.sentence_ends, texts.document_indptr, len(texts)
    edges = np.searchsorted(words, np.arange(0, words[-1] + BLOCK_WORDS, BLOCK_WORDS))
    edges = np.unique([0, *np.minimum(edges, n_texts), n_texts]) if n_texts else np.zeros(2, dtype=np.int64)
    return [(int(words[a]), int(ends[a]), texts.between(a, b)) for a, b in pairwise(edges.tolist())]


@dataclass(frozen=True, eq=False)
class TextCounts:
    """Counts of words and pairs in texts. Counts of blocks add up.

    documents, plain, negated, occurrences : (words,) each, from `count_words`.
    pairs : (pairs,) neighbouring words, from `count_pairs`; in_documents : (pairs,) texts in which each occurs.
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

    def counted(block: tuple[int, int, Sentences]) -> tuple[Counts, tuple[Counts, Counts]]:
        return count_words(block[-1], n_words), count_pairs(block[-1])

    of_words, of_pairs = zip(*engine.map(counted, blocks_of(texts)), strict=True)
    documents, plain, negated, occurrences = np.sum(of_words, axis=0)
    return TextCounts(documents, plain, negated, occurrences, *_summed(of_pairs))


def _summed(parts: Sequence[tuple[Counts, Counts]]) -> tuple[Counts, Counts]:
    """Return distinct pairs in order of first occurrence, and the sum of counts of each."""
    pairs, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    distinct, numbers = number_keys(pairs)
    return distinct, np.bincount(numbers, counts, len(distinct)).astype(np.int64)


class MergedCounts:
    """Counts over shards with separate numbers of words, of at most `most_words` words and `most_pairs` pairs.

    The rarest of more are discarded; the others then occur in up to `error` more texts than counted.
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
        together = [(self._pairs, self._in_documents), *self._waiting]
        self._waiting = []
        self._pairs, self._in_documents = _summed(together)
        # Words and pairs in at most this number of texts are discarded.
        word_limit = _rarest(self._of_words[0], self.most_words)
        pair_limit = _rarest(self._in_documents, self.most_pairs)
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
    """The count up to which words are discarded, a quarter more than necessary; 0 if there are at most `most`."""
    place = len(counts) - most * 3 // 4
    return int(np.partition(counts, place)[place]) if len(counts) > most else 0


def count_terms(
    tokens: TokenisedTexts, stop_words: frozenset[str], lengths: range, vocabulary: Mapping[str, int] | None = None
) -> tuple[sp.csr_matrix, list[str]]:
    """Return (texts, terms) counts with sorted indices, and the terms: n-grams of these lengths without stop words.

    vocabulary : column of each term; None takes every term, in alphabetical order.
    """
    kept = np.array([word not in stop_words for word in tokens.words], dtype=bool)[tokens.codes]
    codes, documents = tokens.codes[kept], np.repeat(np.arange(len(tokens)), np.diff(tokens.indptr))[kept]
    # Runs of one word, of two, and so on: where they start, the number of each, and the names of the numbers.
    starts, numbers, names = np.arange(len(codes)), codes, tokens.words
    runs = []
    for length in range(1, max(lengths) + 1):
        if length > 1:
            ends = starts + length - 1
            inside = ends < len(codes)
            inside[inside] = documents[starts[inside]] == documents[ends[inside]]
            pairs = numbers[inside].astype(np.int64) * len(tokens.words) + codes[ends[inside]]
            distinct, numbers = number_keys(pairs)
            firsts, seconds = (part.tolist() for part in np.divmod(distinct, max(len(tokens.words), 1)))
            words = zip(firsts, seconds, strict=True)
            starts, names = starts[inside], [f"{names[first]} {tokens.words[second]}" for first, second in words]
        if length in lengths:
            runs.append((starts, numbers.astype(np.int32), names))
    if vocabulary is None:
        terms = sorted({names[k] for _, numbers, names in runs for k in np.unique(numbers).tolist()})
        vocabulary = {term: column for column, term in enumerate(terms)}
    counts = sp.csr_matrix((len(tokens), len(vocabulary)), dtype=np.int64)
    for starts, numbers, names in runs:
        indptr = np.searchsorted(documents[starts], np.arange(len(tokens) + 1))
        columns = np.array([vocabulary.get(name, -1) for name in names], dtype=np.int32)
        of_run = count_codes(numbers, indptr, columns, len(vocabulary))
        counts = of_run if len(runs) == 1 else counts + of_run
    return counts, list(vocabulary)


def count_codes(
    codes: NDArray[np.int32], indptr: NDArray[np.int64], columns: NDArray[np.int32], n_columns: int, n_jobs: int = -1
) -> sp.csr_matrix:
    """Return (texts, columns) counts with sorted indices.

    codes : numbers of words; indptr : (texts + 1,) where each text begins in it.
    columns : (numbers,) the column of each, -1 if absent.
    """
    step = max(THREAD_WORDS, n_columns)
    inner = np.searchsorted(indptr, np.arange(step, indptr[-1], step))
    edges = [0, *np.unique(inner).tolist(), len(indptr) - 1]

    def count(rows: tuple[int, int]) -> Sequence[NDArray]:
        return count_rows(codes, indptr, *rows, columns, n_columns)

    with LocalEngine(n_jobs) as engine:
        parts = engine.map(count, list(pairwise(edges)))
    sizes, cells, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return sp.csr_matrix((counts, cells, starts_of(sizes)), shape=(len(indptr) - 1, n_columns))


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Every occurrence of a feature, text by text.

    words, sentences, features : (occurrences,) number of each; a phrase belongs to its second word.
    values : (occurrences,) its share of the text: every occurrence of feature f in text i has an equal part of
        z_if = size_f sqrt(n_if) / |size sqrt(n_i)|.
    """

    words: NDArray[np.int32]
    sentences: NDArray[np.int32]
    features: NDArray[np.int32]
    values: Vector

    def tone_of_sentences(self, effects: Vector, fits: NDArray[np.int64]) -> Vector:
        """Return (sentences,) tone by effects (fits, features); fits : (sentences,) of each, -1 for a tone of 0."""
        tone: Vector = sentence_sums(self.sentences, self.features, self.values, effects, fits)
        return tone

    def judgement_of_sentences(self, sizes: Vector, effects: Vector, fits: NDArray[np.int64]) -> Vector:
        """Return (sentences,) judgement by effects (fits, features), as if each sentence were alone; 0 for fit -1."""
        judgement: Vector = judged_sums(self.sentences, self.features, sizes, effects, fits)
        return judgement


@dataclass(frozen=True)
class Known:
    """Features by their words.

    words, negated : the feature of a word, and of it under a negation; parts : numbers of words of phrases.
    phrases : `key_table` from 2 (first len(parts) + second) + under, of both words' numbers, to the phrase's feature.
    """

    words: Mapping[str, int]
    negated: Mapping[str, int]
    parts: Mapping[str, int]
    phrases: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Features:
    """Features by name: a word is "clean", a negated word "not clean", a phrase "front desk" or "not stay again".

    A negated word and a phrase may read alike; kinds, such as `NEGATED`, distinguish them.
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

    @property
    def is_negated(self) -> NDArray[np.bool_]:
        """(features,) True for negated words and phrases."""
        return (self.kinds == NEGATED) | (self.kinds == NEGATED_PHRASE)

    def read(self, texts: SentenceTexts, engine: Engine) -> tuple[Occurrences, sp.csr_array]:
        """Return every occurrence of these features, and their (texts, features) counts."""
        parts = self._found(texts, engine, located=True)
        occurrences = Occurrences(*engine.map(np.concatenate, [*zip(*(part[0] for part in parts), strict=True)]))
        rows, indices, data = zip(*(part[1] for part in parts), strict=True)
        return occurrences, self._counts(rows, np.concatenate(indices), np.concatenate(data))

    def count(self, texts: Sequence[SentenceTexts], engine: Engine) -> sp.csr_array:
        """Return (texts, features) counts of consecutive parts of texts, in two bytes each if these suffice."""
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
        """Counts of blocks, one after the other; rows : where each text of a block begins in it."""
        sizes = np.concatenate([np.diff(indptr) for indptr in rows])
        indptr = starts_of(sizes)
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

        def found(block: tuple[int, int, Sentences]) -> tuple[Sequence[NDArray], Sequence[NDArray]]:
            first_word, first_sentence, texts_of = block
            (words, sentences, *others), counts = find_features(texts_of, features, sizes, located)
            words += first_word
            sentences += first_sentence
            return (words, sentences, *others), counts

        return engine.map(found, blocks_of(texts))

    @cached_property
    def known(self) -> Known:
        """Features by their words."""
        words, negated = (np.flatnonzero(self.kinds == kind) for kind in (WORD, NEGATED))
        phrases = np.flatnonzero(self.is_phrase)
        under = self.kinds[phrases] == NEGATED_PHRASE
        parts = Vocabulary()
        numbers = parts.number(part for j in phrases.tolist() for part in self.names[j].split(" ")[-2:])
        of_parts = numbers.astype(np.int64).reshape(-1, 2)
        pairs = 2 * (of_parts[:, 0] * len(parts) + of_parts[:, 1]) + under
        return Known(
            {self.names[j]: j for j in words.tolist()},
            {self.names[j].removeprefix(NOT): j for j in negated.tolist()},
            {word: number for number, word in enumerate(parts.words)},
            key_table(pairs, phrases),
        )


def learn_features(
    words: Sequence[str],
    counts: TextCounts,
    least_documents: int,
    *,
    phrases: bool,
    function_words: Collection[str] = (),
    intensifiers: Collection[str] = (),
    lexicon: Collection[str] = (),
) -> Features:
    """Return features in at least `least_documents` of the texts with these words, at most `MOST_FEATURES`.

    function_words : have no tone by themselves, only in phrases; negations are not among them. The intensifiers among
    them have none in phrases with other function words either: "was very" comes before praise and complaints alike.
    lexicon : words that are features, plain and negated, whether they occur or not.
    """
    counted = [counts.plain, counts.negated] + ([counts.in_documents] if phrases else [])
    least = _least(np.concatenate(counted), least_documents)
    tells = np.array([word not in function_words for word in words], dtype=bool)
    plain, negated = (np.flatnonzero((in_documents >= least) & tells).tolist() for in_documents in counted[:2])
    named = [
        {*(words[k] for k in plain), *lexicon},
        {*(NOT + words[k] for k in negated), *(NOT + word for word in lexicon)},
        *(_phrases(words, counts, least, tells, intensifiers) if phrases else ()),
    ]
    kinds = np.repeat(np.arange(len(named), dtype=np.int8), [len(names) for names in named])
    return Features([name for names in named for name in sorted(names)], kinds)


def _phrases(
    words: Sequence[str], counts: TextCounts, least: int, tells: NDArray[np.bool_], intensifiers: Collection[str]
) -> tuple[list[str], list[str]]:
    """Return phrases in at least `least` texts, plain and negated; without a word that tells, if one intensifies."""
    first, second, under = parts_of_pairs(counts.pairs[counts.in_documents >= least])
    strong = np.array([word in intensifiers for word in words], dtype=bool)
    kept = tells[first] | tells[second] | ~(strong[first] | strong[second])

    def named(chosen: NDArray[np.bool_], start: str) -> list[str]:
        pairs = zip(first[chosen].tolist(), second[chosen].tolist(), strict=True)
        return [f"{start}{words[a]} {words[b]}" for a, b in pairs]

    return named(kept & (under == 0), ""), named(kept & (under == 1), NOT)


def polarity_of(features: Features, lexicon: Mapping[str, float], intensifiers: Collection[str]) -> Vector:
    """Return (features,) value of each in a lexicon; of phrases, those of an intensifier and a word have some.

    Negated comparatives have none.
    """
    values = np.zeros(len(features))
    if lexicon:
        for kind, factor, start in ((WORD, 1.0, 0), (NEGATED, NEGATED_VALUE, len(NOT))):
            for j in np.flatnonzero(features.kinds == kind).tolist():
                word = features.names[j][start:]
                if kind == WORD or word not in COMPARATIVES:
                    values[j] = factor * lexicon.get(word, 0.0)
        starts = tuple(f"{word} " for word in sorted(intensifiers))
        for j in np.flatnonzero(features.kinds == PHRASE).tolist():
            if features.names[j].startswith(starts):
                values[j] = INTENSIFIED_VALUE * lexicon.get(features.names[j].partition(" ")[2], 0.0)
    return values


def _least(in_documents: NDArray[np.int64], least: int) -> int:
    """The least number of texts that at most `MOST_FEATURES` features are in; at least `least`."""
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
    """Return the most frequent content words of texts with these words, in alphabetical order.

    Excluded are stop words, negations, small words of opinion, general words, numbers and contractions.
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
