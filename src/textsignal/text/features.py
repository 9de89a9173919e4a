"""What a text says, as features that tone has effects for: words, negated words and phrases of two words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.kernels.counting import count_cells, count_documents, find_keys, number_keys
from textsignal.text.units import SentenceTexts

#: How a negated word is written, among features and for people.
NOT = "not "
#: What a phrase counts beside a word: most phrases say little that their words do not.
PHRASE_SIZE = 0.5
WORD, NEGATED, PHRASE, NEGATED_PHRASE = range(4)


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Every occurrence of a feature in texts.

    words : (occurrences,) the word of the texts it belongs to; a phrase belongs to its second word.
    features : (occurrences,) its number in the names.
    """

    words: NDArray[np.int64]
    features: NDArray[np.int64]


@dataclass(frozen=True)
class _Known:
    """Features by what texts hold.

    words, negated : word -> the feature of it, and of it under a negation.
    parts : word of a phrase -> its number.
    pairs : (phrases,) twice (number of the first word times len(parts), plus that of the second), plus 1 where it
        stands under a negation; phrases : their features.
    """

    words: Mapping[str, int]
    negated: Mapping[str, int]
    parts: Mapping[str, int]
    pairs: NDArray[np.int64]
    phrases: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Features:
    """Features by name: a word is "clean", a negated word "not clean", a phrase "front desk" or "not stay again".

    names : (features,) a negated word and a phrase may read alike, so kinds tell them apart.
    kinds : (features,) 0 for a word, 1 for a negated word, 2 for a phrase, 3 for one whose words are under a negation.
    """

    names: Sequence[str]
    kinds: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def sizes(self) -> NDArray[np.float64]:
        """(features,) what each counts."""
        return np.where(self.is_phrase, PHRASE_SIZE, 1.0)

    @property
    def is_phrase(self) -> NDArray[np.bool_]:
        """(features,) whether it is of two words."""
        return self.kinds >= PHRASE

    def find(self, texts: SentenceTexts) -> Occurrences:
        """Every occurrence of these features."""
        known, places = self._known, _places(texts)

        def numbered(numbers: Mapping[str, int], at: NDArray[np.int64]) -> NDArray[np.int64]:
            return np.array([numbers.get(word, -1) for word in texts.words], dtype=np.int64)[texts.codes[at]]

        first, second = numbered(known.parts, places.second - 1), numbered(known.parts, places.second)
        pairs = np.where((first >= 0) & (second >= 0), 2 * (first * len(known.parts) + second) + places.under, -1)
        phrase = np.append(known.phrases, -1)[find_keys(known.pairs, pairs)]
        words = np.concatenate([places.plain, places.negated, places.second])
        features = np.concatenate(
            [numbered(known.words, places.plain), numbered(known.negated, places.negated), phrase]
        )
        return Occurrences(words[features >= 0], features[features >= 0])

    @cached_property
    def _known(self) -> _Known:
        words, negated = (np.flatnonzero(self.kinds == kind) for kind in (WORD, NEGATED))
        phrases = np.flatnonzero(self.is_phrase)
        under = self.kinds[phrases] == NEGATED_PHRASE
        parts: defaultdict[str, int] = defaultdict()
        parts.default_factory = parts.__len__
        numbers = [parts[part] for j in phrases.tolist() for part in self.names[j].split(" ")[-2:]]
        pairs = np.array(numbers, dtype=np.int64).reshape(-1, 2)
        return _Known(
            {self.names[j]: j for j in words.tolist()},
            {self.names[j].removeprefix(NOT): j for j in negated.tolist()},
            dict(parts),
            2 * (pairs[:, 0] * len(parts) + pairs[:, 1]) + under,
            phrases,
        )


@dataclass(frozen=True)
class _Places:
    """Where features may stand among all words: plain words, negated words, second words of phrases.

    under : (phrases,) whether both words stand under a negation.
    """

    plain: NDArray[np.int64]
    negated: NDArray[np.int64]
    second: NDArray[np.int64]
    under: NDArray[np.bool_]


def _places(texts: SentenceTexts) -> _Places:
    """A negated word counts as that alone, and a phrase under a negation too. Phrases stay within a sentence."""
    later = np.ones(len(texts.codes) + 1, dtype=bool)
    later[texts.indptr] = False
    second = np.flatnonzero(later[:-1])
    under = texts.under[second] & texts.under[second - 1]
    return _Places(np.flatnonzero(~texts.negated), np.flatnonzero(texts.negated), second, under)


def learn_features(texts: SentenceTexts, least_documents: int, *, phrases: bool) -> Features:
    """All features in at least so many documents.

    Examples
    --------
    >>> from textsignal.text.units import read_sentences
    >>> texts = read_sentences(["Not clean. Front desk.", "not clean", "front desk"])
    >>> learn_features(texts, 2, phrases=True).names
    ['desk', 'front', 'not', 'not clean', 'front desk', 'not clean']
    """
    words, places = texts.words, _places(texts)

    def frequent(numbers: NDArray[np.integer], at: NDArray[np.int64], n_numbers: int) -> NDArray[np.int64]:
        return np.flatnonzero(count_documents(numbers, texts.document_of_word[at], n_numbers) >= least_documents)

    plain = frequent(texts.codes[places.plain], places.plain, len(words))
    negated = frequent(texts.codes[places.negated], places.negated, len(words))
    kept = [sorted(words[k] for k in plain.tolist()), sorted(NOT + words[k] for k in negated.tolist())]
    if phrases:
        codes = texts.codes.astype(np.int64)
        together = codes[places.second - 1] * len(words) + codes[places.second]
        pairs, numbers = number_keys(2 * together + places.under)
        often = pairs[frequent(numbers, places.second, len(pairs))].tolist()
        named = [(pair % 2, f"{words[pair // 2 // len(words)]} {words[pair // 2 % len(words)]}") for pair in often]
        kept += [
            sorted(name for under, name in named if not under),
            sorted(NOT + name for under, name in named if under),
        ]
    kinds = np.repeat(np.arange(len(kept), dtype=np.int8), [len(names) for names in kept])
    return Features([name for names in kept for name in names], kinds)


@dataclass(frozen=True, eq=False)
class Weighed:
    """Occurrences with what each carries of its document.

    counts : (documents, features) n.
    matrix : (documents, features) z, rows of l2 norm 1: z_if = size_f sqrt(n_if) / |size sqrt(n_i)|.
    values : (occurrences,) an equal part of z_if for every occurrence of f in i.
    """

    counts: sp.csr_array
    matrix: sp.csr_array
    values: NDArray[np.float64]


def weigh(occurrences: Occurrences, features: Features, documents: NDArray[np.int64], n_documents: int) -> Weighed:
    """Features of documents, and what every occurrence carries.

    documents : (all words,) the document of each word.
    """
    shape = (n_documents, len(features))
    indptr, indices, data, cells = count_cells(documents[occurrences.words], occurrences.features, *shape)
    counts = sp.csr_array((data, indices, indptr), shape=shape)
    matrix = unit_roots(counts, features.sizes)
    return Weighed(counts, matrix, (matrix.data / data)[cells])


def unit_roots(counts: sp.csr_array, sizes: NDArray[np.float64]) -> sp.csr_array:
    """Roots of counts times sizes (features,), every row brought to l2 norm 1; an empty one stays empty."""
    data = sizes[counts.indices] * np.sqrt(counts.data)
    squares = np.add.reduceat(np.append(data**2, 0.0), counts.indptr[:-1]) * (np.diff(counts.indptr) > 0)
    norm = np.sqrt(np.where(squares > 0, squares, 1.0))
    data /= np.repeat(norm, np.diff(counts.indptr))
    return sp.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)
