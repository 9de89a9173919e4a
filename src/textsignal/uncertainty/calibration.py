"""Calibration of standard errors by pairs of halves of the documents.

Level 2 takes tone as given, but tone was learnt from responses too: of each fold from those of the others, and of the
others from its own. Two halves of the documents that each learn tone by themselves know nothing of each other, so that

    inflation = mean of (estimate of one half - estimate of the other)^2 / (variance of one + variance of the other)

is 1 if the formula is right. Variances are multiplied by it, one number for each kind of quantity.

Halves also measure a bias. Tone that is not known well takes some complaints for neutral mentions and some neutral
mentions for complaints: cost and gain are too small, by an amount that falls as n^(-2/3) in simulations. So the
difference between all documents and their halves, over 2^(2/3) - 1, is still missing. In standard errors it is much the
same for all themes, so that its mean over all costs and gains is added; if gammas are not significant, nothing is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from textsignal.arrays import Vector
from textsignal.compute.engines import Compute
from textsignal.compute.engines.local import LocalEngine, local_compute
from textsignal.compute.hashing import Keys
from textsignal.training.contributions import LEAST_ERRORS
from textsignal.training.glm import fit_alone
from textsignal.training.halves import Rows, halves
from textsignal.training.theme_model import PartlyRead, ThemeReading
from textsignal.training.tone import Tone, fit_tone
from textsignal.uncertainty.influence import QUANTITIES, LooseFit, Talk, fit_loosely

#: Pairs of halves.
CUTS = 8
#: Quantities that uncertain tone makes too small, and the power of n by which that bias falls.
CORRECTED, RATE = ("cost", "gain"), 2 / 3


@dataclass(frozen=True, eq=False)
class ToneText:
    """Features that tone is learnt from, and sentences that it is applied to.

    read : features of the documents; sizes : (features,) size of each; reading : themes of the sentences.
    """

    read: PartlyRead
    sizes: Vector
    reading: ThemeReading

    def talk(self, talk: Talk, rows: Rows, compute: Compute) -> Talk:
        """Return some of the documents by tone that is learnt from these alone, out of fold."""
        part = talk.at(rows)
        words, offset = talk.family.of_words, None
        if part.given.n_columns or part.given.offset.any():
            offset, words = fit_alone(part.given, part.y, part.weight, words, compute)
        tone = fit_tone(self.read.counts[rows], self.sizes, part.y, part.weight, words, compute, offset)
        return replace(part, tone=self._by_theme(tone, rows), folds=tone.folds)

    def _by_theme(self, tone: Tone, rows: Rows) -> Vector:
        """(rows, themes) tone about each theme."""
        folds = np.full(len(self.read.texts), -1)
        folds[rows] = tone.folds
        tones: Vector = self.reading.tone_by_theme(self.read.unseen_tone(replace(tone, folds=folds)))[rows]
        return tones


@dataclass(frozen=True)
class Calibration:
    """Corrections of variances and estimates, by quantity.

    inflation : variance over that of the formula, at least 1.
    shortfall : negative bias of estimates, in their standard errors.
    """

    inflation: Mapping[str, float]
    shortfall: Mapping[str, float]

    def errors(self, name: str, variances: Vector) -> Vector:
        """Return standard errors of a quantity, from variances by the formula."""
        return np.sqrt(self.inflation[name] * variances)

    def missing(self, name: str, variances: Vector) -> Vector:
        """Return the correction that is added to estimates of a quantity."""
        return self.shortfall[name] * self.errors(name, variances)


#: No corrections.
NOTHING = Calibration(dict.fromkeys(QUANTITIES, 1.0), dict.fromkeys(QUANTITIES, 0.0))


def calibrate(fit: LooseFit, text: ToneText, keys: Keys, n_cuts: int, seed: int, n_jobs: int | None) -> Calibration:
    """Measure corrections in halves of the documents that each learn tone separately.

    fit : of all documents; keys : (documents,) by which halves are drawn: of texts, or of groups that stay together.
    """
    samples = halves(keys, 2 * n_cuts, seed)

    def measure(number: int) -> Vector:
        with local_compute(1) as compute:
            return _measured(fit_loosely(text.talk(fit.talk, samples[number], compute), compute))

    with LocalEngine(n_jobs) as engine, threadpool_limits(1):
        of_halves = np.array(engine.map(measure, range(2 * n_cuts)))
    times, whole = _inflation(of_halves[0::2], of_halves[1::2]), _measured(fit)
    errors = np.sqrt(times[:, None] * whole[:, 1])
    z = _ratio(whole[:, 0], errors)[list(QUANTITIES).index("gamma")]
    # Without significant gammas nothing can be too small.
    strength = float(np.sqrt(np.mean(z**2)))
    trusted = max(0.0, 1 - (LEAST_ERRORS / strength) ** 4) if strength > 0 else 0.0
    places = [list(QUANTITIES).index(name) for name in CORRECTED]
    lost = _ratio(whole[:, 0] - mean_of(of_halves[:, :, 0]), errors)[places]
    missing = trusted / (2**RATE - 1) * float(np.mean(lost))
    return Calibration(
        dict(zip(QUANTITIES, times.tolist(), strict=True)),
        {name: missing if name in CORRECTED else 0.0 for name in QUANTITIES},
    )


def _measured(fit: LooseFit) -> Vector:
    """(quantities, 2, themes) estimates, and variances by the formula."""
    weight, groups = fit.talk.weight, fit.talk.given.groups
    measured = [quantity(fit, weight) for quantity in QUANTITIES.values()]
    return np.array([[one.estimates, one.variances(weight, groups)] for one in measured])


def _ratio(part: Vector, errors: Vector) -> Vector:
    """Ratio, 0 if the error is 0 or the value is not known."""
    known = np.isfinite(part) & (errors > 0)
    return np.divide(part, errors, out=np.zeros_like(errors), where=known)


def mean_of(values: Vector) -> Vector:
    """Return the mean over the first axis without NaN; NaN if all are (as np.nanmean, without its warning)."""
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.divide(total, known.sum(axis=0), out=np.full(total.shape, np.nan), where=known.any(axis=0))


def _inflation(one: Vector, other: Vector) -> Vector:
    """(quantities,) mean ratio over cuts and themes; one, other : (cuts, quantities, 2, themes) of the halves.

    It is raised by the square of its own relative error, as it will be divided by: few cuts must not make z larger.
    """
    squares = (one[:, :, 0] - other[:, :, 0]) ** 2
    expected = one[:, :, 1] + other[:, :, 1]
    known = np.isfinite(squares) & (expected > 0)
    ratios = np.divide(squares, expected, out=np.zeros_like(squares), where=known)
    of_cuts = ratios.sum(axis=2) / np.maximum(known.sum(axis=2), 1)
    mean = of_cuts.mean(axis=0)
    error = of_cuts.std(axis=0, ddof=1) / len(of_cuts) ** 0.5
    return np.maximum(1.0, mean + np.divide(error**2, mean, out=np.zeros_like(mean), where=mean > 0))
