"""Random halves of the texts, and the text that themes are learnt from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from textsignal.arrays import Array, Vector
from textsignal.compute.engines import Compute
from textsignal.compute.hashing import Keys, drawn
from textsignal.text.tokenise import normalise
from textsignal.training.theme_reading import FittedThemes, ThemeReading
from textsignal.training.themes import Themes, fit_themes
from textsignal.training.word_vectors import TRIES, word_vectors

Rows = NDArray[np.int64]


#: Label -> words that a theme starts from.
SeedWords = Mapping[str, Sequence[str]] | None


def halves(keys: Keys, n_refits: int, seed: int, most: int | None = None) -> list[Rows]:
    """Return the rows of each refit, ascending: refits 0 and 1 are the two halves of one cut, and so on.

    Cuts depend on keys, not on the order of documents, and copies stay together.

    keys : (documents,) of the texts; most : maximum number of documents in a half.
    """
    middle, samples = len(keys) // 2, []
    for refit in range(n_refits):
        order = np.argsort(drawn(keys, seed, refit // 2), kind="stable")
        half = order[middle:] if refit % 2 else order[:middle]
        samples.append(np.sort(half[:most]))
    return samples


@dataclass(frozen=True, eq=False)
class ThemeText:
    """Text that themes are learnt from.

    terms : content terms; tone : (terms,) theirs; units : (sentences, terms) counts.
    documents : (sentences,) the document of each, ascending; weight : (documents,) how often each counts.
    """

    terms: Sequence[str]
    tone: Vector
    units: sp.csr_array
    documents: NDArray[np.int64]
    weight: Vector

    @classmethod
    def of(cls, fitted: FittedThemes, reading: ThemeReading, weight: Vector) -> ThemeText:
        """Return the text of a reading; weight : (documents,)."""
        return cls(fitted.terms, fitted.term_tone, reading.units, reading.texts.documents, weight)

    @property
    def n_speaking(self) -> int:
        """Number of documents with a content term."""
        return len(np.unique(self.documents[np.diff(self.units.indptr) > 0]))

    def leading_terms(self, n: int, seed_words: SeedWords) -> NDArray[np.int64]:
        """Indices of the n most frequent terms and of all seed words, ascending."""
        frequency = self.units.T @ self.weight[self.documents]
        first = np.argsort(-frequency, kind="stable")[:n]
        seeds = {word for words in normalised(seed_words).values() for word in words}
        return np.union1d(first, [j for j, term in enumerate(self.terms) if term in seeds]).astype(np.int64)

    def at(self, rows: Rows) -> ThemeText:
        """Return the text of a subset of the documents, ascending."""
        kept = sentences_of(self.documents, rows)
        number = np.searchsorted(rows, self.documents[kept])
        return ThemeText(self.terms, self.tone, self.units[kept], number, self.weight[rows])

    def with_terms(self, terms: NDArray[np.int64]) -> ThemeText:
        """Return the text with a subset of the terms."""
        names = [self.terms[j] for j in terms.tolist()]
        return ThemeText(names, self.tone[terms], self.units[:, terms], self.documents, self.weight)

    def themes(
        self,
        fitted: FittedThemes,
        seed: int,
        compute: Compute,
        seed_words: SeedWords = None,
        tries: int = TRIES,
    ) -> Themes:
        """Relearn the model's number of themes from this text, with the model's settings; tone of words is fixed."""
        # A model whose themes were merged may have fewer than were seeded.
        first = dict(list(normalised(seed_words).items())[: fitted.n_themes])
        vectors = word_vectors(self.units)
        weight = self.weight[self.documents]
        return fit_themes(
            self.units,
            vectors,
            self.terms,
            weight,
            self.tone[None],
            fitted.n_themes,
            seed,
            fitted.family,
            compute,
            first,
            tries,
        )


def normalised(seed_words: SeedWords) -> dict[str, list[str]]:
    """Normalise seed words like the words of texts."""
    return {label: [normalise(word) for word in words] for label, words in (seed_words or {}).items()}


def sentences_of(documents: NDArray[np.int64], rows: Rows) -> NDArray[np.int64]:
    """Indices of the sentences of some documents; documents : (sentences,) the document of each."""
    return np.flatnonzero(np.isin(documents, rows))


@dataclass(frozen=True)
class Match:
    """Matched index of each topic, and (topics,) the cosine of their profiles."""

    numbers: NDArray[np.int64]
    cosines: Vector


def match_topics(profiles: Array, others: Array) -> Match:
    """Match topics one to one to maximise the sum of cosines (the Hungarian method).

    profiles, others : (topics, terms) nonnegative, with len(others) >= len(profiles).

    Examples
    --------
    >>> match_topics(np.array([[1.0, 0], [0, 1]]), np.array([[0.0, 2], [3, 0]]))
    Match(numbers=array([1, 0]), cosines=array([1., 1.]))
    """
    cosines = _unit(profiles) @ _unit(others).T
    rows, numbers = linear_sum_assignment(-cosines)
    return Match(numbers, cosines[rows, numbers])


def _unit(profiles: Array) -> Array:
    length = np.linalg.norm(profiles, axis=1, keepdims=True)
    return profiles / np.where(length > 0, length, 1)
