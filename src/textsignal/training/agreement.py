"""Stability of themes: agreement between themes learnt from two halves of the documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textsignal.arrays import Vector
from textsignal.compute.engines import Engine
from textsignal.compute.engines.local import local_compute
from textsignal.families import Family
from textsignal.training.halves import SeedWords, ThemeText, halves, match_topics, normalised
from textsignal.training.theme_model import Prepared
from textsignal.training.themes import fit_themes
from textsignal.training.word_vectors import word_vectors

#: Cuts into halves; the sentences and leading terms of a half at most; clusterings that a start is the best of. With 8
#: clusterings, numbers of themes differ by which start was lucky; with 40,000 sentences they rank as with 20,000.
CUTS, SENTENCES, TERMS, TRIES = 4, 20_000, 1000, 24
#: Fewest documents with a content term for each theme: half of them are in a half.
LEAST_EACH = 20


@dataclass(frozen=True, eq=False)
class ThemeHalves:
    """Halves of the documents for several cuts, with vectors of their terms, shared by all numbers of themes.

    texts, vectors : of the first half of the first cut, of its second, and so on.
    """

    texts: Sequence[ThemeText]
    vectors: Sequence[Vector]
    family: Family
    seed_words: SeedWords
    n_speaking: int

    @classmethod
    def of(cls, prepared: Prepared, seed: int, engine: Engine, seed_words: SeedWords = None) -> ThemeHalves:
        """Cut documents into halves."""
        texts = prepared.read.texts
        whole = ThemeText(
            prepared.terms, _strength(prepared.term_tones), prepared.units, texts.documents, prepared.weight
        )
        text = whole.with_terms(whole.leading_terms(TERMS, seed_words))
        most = max(1, SENTENCES * len(texts) // max(len(texts.documents), 1))
        samples = [text.at(rows) for rows in halves(texts.keys, 2 * CUTS, seed, most)]
        vectors = engine.map(lambda sample: word_vectors(sample.units), samples)
        return cls(samples, vectors, prepared.family, seed_words, whole.n_speaking)

    @property
    def most_themes(self) -> int:
        """Largest number of themes that half of the documents supports."""
        return self.n_speaking // LEAST_EACH

    def cosine(self, n_themes: int, cut: int) -> float:
        """Mean cosine of the profiles of themes of two halves, matched one to one."""
        with local_compute(1) as compute:
            profiles = []
            for half in (2 * cut, 2 * cut + 1):
                text = self.texts[half]
                themes = fit_themes(
                    text.units,
                    self.vectors[half],
                    text.terms,
                    text.weight[text.documents],
                    text.tone[None],
                    n_themes,
                    half + 1,
                    self.family,
                    compute,
                    normalised(self.seed_words),
                    TRIES,
                )
                profiles.append(themes.topics / themes.term_weights)
        return float(match_topics(*profiles).cosines.mean())


def _strength(tones: Vector) -> Vector:
    """(terms,) strength of tone: root mean square over responses, each scaled by its own root mean square."""
    sizes = np.sqrt(np.mean(tones**2, axis=1, keepdims=True))
    scaled = np.divide(tones, sizes, out=np.zeros_like(tones), where=sizes > 0)
    return np.asarray(np.sqrt(np.mean(scaled**2, axis=0)), dtype=float)
