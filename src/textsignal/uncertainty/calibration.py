"""How far formulas for standard errors fall short, measured in pairs of halves of the documents.

Level 2 takes tone as given, but tone was learnt from responses too: of each fold from those of the others, and of the
others from its own. Two halves of the documents that each learn tone by themselves know nothing of each other, so that

    inflation = mean of (estimate of one half - estimate of the other)^2 / (variance of one + variance of the other)

is 1 where the formula is right. Variances are multiplied by it, one number for each kind of quantity.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from textsignal.arrays import Vector
from textsignal.engines import Compute
from textsignal.engines.local import LocalEngine, local_compute
from textsignal.training.covariate_effects import fit_alone
from textsignal.training.draws import Keys
from textsignal.training.theme_reading import PartlyRead, ThemeReading
from textsignal.training.tone import Tone, fit_tone
from textsignal.uncertainty.influence import QUANTITIES, Talk, fit_loosely
from textsignal.uncertainty.refits import Rows, halves

#: Pairs of halves.
CUTS = 8


@dataclass(frozen=True, eq=False)
class ToneText:
    """What tone is learnt from, and what it reads.

    read : features of the documents; sizes : (features,) what each counts; reading : themes of the sentences.
    """

    read: PartlyRead
    sizes: Vector
    reading: ThemeReading

    def talk(self, talk: Talk, rows: Rows, compute: Compute) -> Talk:
        """Some of the documents, by tone that is learnt from these alone, out of fold."""
        part = talk.at(rows)
        words, offset = talk.family.of_words, None
        if part.given.n_columns or part.given.offset.any():
            offset, words = fit_alone(part.given, part.y, part.weight, words, compute)
        counts = self.read.weighed.counts[rows]
        tone = fit_tone(counts, self.sizes, part.y, part.weight, words, compute.kernels, offset)
        return replace(part, tone=self._by_theme(tone, rows), folds=tone.folds)

    def _by_theme(self, tone: Tone, rows: Rows) -> Vector:
        """(rows, themes) tone about each theme."""
        texts = self.read.texts
        place = np.full(len(texts), -1)
        place[rows] = np.arange(len(rows))
        documents = place[texts.documents[self.read.sentences]]
        effects = np.where(documents >= 0, tone.out_of_fold(documents, self.read.occurrences.features), 0.0)
        found: Vector = self.reading.tone_by_theme(self.read.tone_of_sentences(effects))[rows]
        return found


def inflation(talk: Talk, text: ToneText, keys: Keys, n_cuts: int, seed: int, n_jobs: int | None) -> dict[str, float]:
    """How many times as large variances are as the formula says, at least 1, for each quantity.

    keys : (documents,) by which halves are drawn: of the texts, or of groups that stay together.
    """
    samples = halves(keys, 2 * n_cuts, seed)

    def measure(number: int) -> Vector:
        with local_compute(1) as compute:
            fit = fit_loosely(text.talk(talk, samples[number], compute), compute)
        found = [quantity(fit, fit.talk.weight) for quantity in QUANTITIES.values()]
        groups = fit.talk.given.groups
        return np.array([[one.estimates, one.variances(fit.talk.weight, groups)] for one in found])

    with LocalEngine(n_jobs) as engine, threadpool_limits(1):
        found = np.array(engine.map(measure, range(2 * n_cuts)))
    return dict(zip(QUANTITIES, _inflation(found[0::2], found[1::2]).tolist(), strict=True))


def _inflation(one: Vector, other: Vector) -> Vector:
    """(quantities,) mean ratio over cuts and themes; one, other : (cuts, quantities, 2, themes) of the halves."""
    squares = (one[:, :, 0] - other[:, :, 0]) ** 2
    expected = one[:, :, 1] + other[:, :, 1]
    known = np.isfinite(squares) & (expected > 0)
    ratios = np.divide(squares, expected, out=np.zeros_like(squares), where=known)
    return np.maximum(1.0, ratios.sum(axis=(0, 2)) / np.maximum(known.sum(axis=(0, 2)), 1))
