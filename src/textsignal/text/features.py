"""What a text says, as features that tone has effects for: words, negated words and phrases of two words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.text.units import SentenceTexts

#: How a negated word is written, among features and for people.
NOT = "not "
#: What a phrase counts beside a word: most phrases say little that their words do not.
PHRASE_SIZE = 0.7


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Every occurrence of a feature in texts.

    words : (occurrences,) the word of the texts it belongs to; a phrase belongs to its second word.
    features : (occurrences,) its number in the names.
    """

    words: NDArray[np.int64]
    features: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Features:
    """Features by name: a word is "clean", a negated word "not clean", a phrase "front desk".

    names : (features,) distinct; a negated word and a phrase may read alike, so kinds tell them apart.
    kinds : (features,) 0 for a word, 1 for a negated word, 2 for a phrase.
    """

    names: Sequence[str]
    kinds: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def sizes(self) -> NDArray[np.float64]:
        """(features,) what each counts."""
        return np.where(self.kinds == PHRASE, PHRASE_SIZE, 1.0)

    def find(self, texts: SentenceTexts) -> Occurrences:
        """Every occurrence of these features."""
        known = [
            {name: j for j, name in enumerate(self.names) if self.kinds[j] == kind} for kind in (WORD, NEGATED, PHRASE)
        ]
        words, features = [], []
        for kind, candidates in enumerate(_candidates(texts)):
            number = np.array([known[kind].get(name, -1) for name in candidates.names], dtype=np.int64)
            found = number[candidates.numbers] if len(number) else np.zeros(0, dtype=np.int64)
            words.append(candidates.words[found >= 0])
            features.append(found[found >= 0])
        return Occurrences(np.concatenate(words), np.concatenate(features))


WORD, NEGATED, PHRASE = 0, 1, 2


def learn_features(texts: SentenceTexts, least_documents: int, *, phrases: bool) -> Features:
    """All features in at least so many documents.

    Examples
    --------
    >>> from textsignal.text.units import read_sentences
    >>> texts = read_sentences(["Not clean. Front desk.", "not clean", "front desk"])
    >>> learn_features(texts, 2, phrases=True).names
    ['desk', 'front', 'not clean', 'front desk', 'not clean']
    """
    document = texts.documents[texts.sentence_of_word]
    names: list[str] = []
    kinds: list[int] = []
    for kind, candidates in enumerate(_candidates(texts)):
        if kind == PHRASE and not phrases:
            break
        pairs = np.unique(candidates.numbers * len(texts) + document[candidates.words])
        n_documents = np.bincount(pairs // max(len(texts), 1), minlength=len(candidates.names))
        kept = sorted(candidates.names[k] for k in np.flatnonzero(n_documents >= least_documents).tolist())
        names += kept
        kinds += [kind] * len(kept)
    return Features(names, np.array(kinds, dtype=np.int8))


@dataclass(frozen=True)
class _Candidates:
    """Occurrences of one kind: the words they belong to, a number for each, and the names of the numbers."""

    words: NDArray[np.int64]
    numbers: NDArray[np.int64]
    names: Sequence[str]


def _candidates(texts: SentenceTexts) -> tuple[_Candidates, _Candidates, _Candidates]:
    """Words, negated words and phrases, which stay within a sentence.

    A negated word counts as that alone, and so does what negates it: "not" says nothing that "not clean" does not.
    """
    codes, names = texts.codes.astype(np.int64), list(texts.words)
    every = np.arange(len(codes))
    under, plain = np.flatnonzero(texts.negated), np.flatnonzero(~texts.negated & ~texts.negating)
    sentence = texts.sentence_of_word
    second = every[1:][sentence[1:] == sentence[:-1]]
    pairs = codes[second - 1] * max(len(names), 1) + codes[second]
    distinct, numbers = np.unique(pairs, return_inverse=True)
    phrases = [f"{names[pair // len(names)]} {names[pair % len(names)]}" for pair in distinct.tolist()]
    return (
        _Candidates(plain, codes[plain], names),
        _Candidates(under, codes[under], [NOT + name for name in names]),
        _Candidates(second, numbers, phrases),
    )


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
    n_features = max(len(features), 1)
    pairs, place, count = np.unique(
        documents[occurrences.words] * n_features + occurrences.features, return_inverse=True, return_counts=True
    )
    indptr = np.searchsorted(pairs, np.arange(n_documents + 1) * n_features)
    shape = (n_documents, len(features))
    counts = sp.csr_array((count.astype(np.float64), (pairs % n_features).astype(np.int32), indptr), shape=shape)
    matrix = unit_roots(counts, features.sizes)
    return Weighed(counts, matrix, (matrix.data / counts.data)[place])


def unit_roots(counts: sp.csr_array, sizes: NDArray[np.float64]) -> sp.csr_array:
    """Roots of counts times sizes (features,), every row brought to l2 norm 1; an empty one stays empty."""
    data = sizes[counts.indices] * np.sqrt(counts.data)
    squares = np.add.reduceat(np.append(data**2, 0.0), counts.indptr[:-1]) * (np.diff(counts.indptr) > 0)
    norm = np.sqrt(np.where(squares > 0, squares, 1.0))
    data /= np.repeat(norm, np.diff(counts.indptr))
    return sp.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)
