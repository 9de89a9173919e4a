"""Calibration of standard errors by pairs of halves of the texts.

Level 2 takes tone as given, but tone was learnt from responses too: of each fold from those of the others, and of the
others from its own. Two halves of the texts that each learn tone separately are independent, so that

    inflation = mean of (estimate of one half - estimate of the other)^2 / (variance of one + variance of the other)

is 1 if the formula is right. Variances are multiplied by it, one number for each kind of quantity.

Halves also measure a bias. Uncertain tone takes some complaints for neutral mentions and some neutral mentions for
complaints: cost and gain are too small, by an amount that falls as n^(-2/3) in simulations. So the difference between
all texts and their halves, over 2^(2/3) - 1, is still missing. In standard errors it is much the same for all themes,
so its mean over all costs and gains is added; if gammas are not significant, nothing is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from textsignal.arrays import Vector
from textsignal.compute.engines import Compute
from textsignal.compute.engines.local import LocalEngine, local_compute
from textsignal.compute.hashing import Keys
from textsignal.data.covariates.design import Given
from textsignal.errors import InputError
from textsignal.reading.observed import Observed
from textsignal.reading.themes import ThemeReader
from textsignal.text.tokens import SentenceTexts
from textsignal.training.contributions import LEAST_ERRORS, spoken_of
from textsignal.training.covariate_effects import fit_alone
from textsignal.training.halves import Rows, halves
from textsignal.training.theme_reading import PartlyRead, ThemeReading, by_document, read_features, text_shares
from textsignal.training.themes import Themes
from textsignal.training.tone import fit_tone
from textsignal.training.tone_blocks import TONE_FOLDS, tone_folds
from textsignal.uncertainty.influence import QUANTITIES, LooseFit, Measured, Talk, fit_loosely

#: Fewest texts with a response, in all and for each theme; fewest groups of dependent texts.
FEWEST, FEWEST_PER_THEME, FEWEST_GROUPS = 40, 8, 4
#: Pairs of halves.
CUTS = 8
#: Quantities that uncertain tone makes too small, and the power of n by which that bias falls.
CORRECTED, RATE = ("cost", "gain"), 2 / 3


def talk_of(reader: ThemeReader, reading: ThemeReading, observed: Observed, tone: Vector, better: int) -> Talk:
    """Return tone and shares of themes in texts, in one fold; tone : (sentences,)."""
    return Talk(
        family=reader.family,
        tone=reading.tone_by_theme(tone),
        shares=reading.shares,
        mentioned=reading.spoken,
        prevalence=reader.fitted.themes.prevalence,
        y=reader.family.encode(observed.responses),
        weight=observed.weight,
        folds=np.zeros(len(reading.texts), dtype=np.int64),
        given=observed.given or Given.nothing(len(reading.texts)),
        better=better,
    )


def placed(
    talk: Talk, themes: Themes, units: sp.csr_array, texts: SentenceTexts, tone: Vector, compute: Compute
) -> Talk:
    """Return the texts by other themes; units : (sentences, terms) counts; tone : (sentences,)."""
    places = themes.place(units, texts.documents, len(texts), compute)
    return replace(
        talk,
        tone=by_document(places * tone[:, None], texts),
        shares=text_shares(texts, places, themes.prevalence),
        mentioned=spoken_of(places, np.diff(units.indptr) > 0, texts.documents, len(texts)),
        prevalence=themes.prevalence,
    )


@dataclass(frozen=True, eq=False)
class Evidence:
    """Texts with the GLM on their themes, and all that it takes to learn their tone again.

    reading : of their sentences; tone : (sentences,) behind `fit`; features : (texts, features), tone is learnt from.
    keys : (texts,) by which halves are drawn: of texts, or of groups that stay together.
    """

    reader: ThemeReader
    reading: ThemeReading
    tone: Vector
    features: PartlyRead
    keys: Keys
    fit: LooseFit

    @classmethod
    def of(cls, reader: ThemeReader, observed: Observed, better: int = 1, unseen: bool = True) -> Evidence:
        """Read texts and fit the GLM on themes; unseen : by tone out of fold, or else by tone of all texts."""
        fitted, reading = reader.fitted, reader.read(observed.tokens).sentences
        assert reading is not None
        tone = fitted.training.unseen_tone(reading) if unseen else reading.sentence_tone
        talk = talk_of(reader, reading, observed, tone, better)
        check_enough(talk)
        with local_compute(reader.n_jobs) as compute:
            features = read_features(reading.texts, fitted.features, compute.engine)
            known = unseen & np.isin(reading.texts.keys, fitted.training.keys[~fitted.training.later])
            talk = replace(talk, folds=np.where(known, tone_folds(features.counts), TONE_FOLDS))
            keys = reading.texts.keys
            if talk.given.groups is not None:
                keys = talk.given.groups.astype(np.uint64)
                if len(np.unique(keys[(talk.weight > 0) & ~np.isnan(talk.y)])) < FEWEST_GROUPS:
                    raise InputError("intervals need four or more groups of texts that have a response")
            return cls(reader, reading, tone, features, keys, fit_loosely(talk, compute))

    def learnt_from(self, rows: Rows, compute: Compute) -> Talk:
        """Return some of the texts by tone that is learnt from these alone, out of fold."""
        talk = self.fit.talk.at(rows)
        words, offset = talk.family.of_words, None
        if talk.given.n_columns or talk.given.offset.any():
            offset, words = fit_alone(talk.given, talk.y, talk.weight, words, compute)
        counts, sizes = self.features.counts[rows], self.reader.fitted.features.sizes
        tone = fit_tone(counts, sizes, talk.y, talk.weight, words, compute, offset)
        folds = np.full(len(self.keys), -1)
        folds[rows] = tone.folds
        of_sentences = self.features.unseen_tone(replace(tone, folds=folds))
        return replace(talk, tone=self.reading.tone_by_theme(of_sentences)[rows], folds=tone.folds)


def check_enough(talk: Talk) -> None:
    """Raise an error if responses are too few or constant."""
    known = talk.y[~np.isnan(talk.y) & (talk.weight > 0)]
    least = max(FEWEST, FEWEST_PER_THEME * talk.n_themes)
    if len(known) < least:
        raise InputError(
            f"{len(known):,} texts with a response are too few for intervals of {talk.n_themes} themes; "
            f"{least:,} are needed"
        )
    if np.ptp(known) == 0:
        raise InputError("the response is constant, so there is nothing to estimate; check the response column")


@dataclass(frozen=True)
class Calibration:
    """Corrections of variances and estimates, by quantity.

    inflation : variance over that of the formula, at least 1.
    shortfall : negative bias of estimates, in their standard errors.
    """

    inflation: Mapping[str, float]
    shortfall: Mapping[str, float]

    def errors(self, name: str, variances: Vector) -> Vector:
        """Return standard errors of a quantity."""
        return np.sqrt(self.inflation[name] * variances)

    def corrected(self, name: str, measured: Measured) -> Measured:
        """Return a quantity without its bias."""
        missing = self.shortfall[name] * self.errors(name, measured.variances)
        return replace(measured, estimates=measured.estimates + missing)


#: No corrections.
NOTHING = Calibration(dict.fromkeys(QUANTITIES, 1.0), dict.fromkeys(QUANTITIES, 0.0))


def calibrate(evidence: Evidence, n_cuts: int, seed: int) -> Calibration:
    """Measure corrections in halves of the texts that each learn tone separately."""
    samples = halves(evidence.keys, 2 * n_cuts, seed)

    def measure(number: int) -> Vector:
        with local_compute(1) as compute:
            return _measured(fit_loosely(evidence.learnt_from(samples[number], compute), compute))

    with LocalEngine(evidence.reader.n_jobs) as engine, threadpool_limits(1):
        of_halves = np.array(engine.map(measure, range(2 * n_cuts)))
    times, whole = _inflation(of_halves[0::2], of_halves[1::2]), _measured(evidence.fit)
    errors = np.sqrt(times[:, None] * whole[:, 1])
    names = list(QUANTITIES)
    z = _ratio(whole[:, 0], errors)[names.index("gamma")]
    # Without significant gammas nothing can be too small.
    strength = float(np.sqrt(np.mean(z**2)))
    trusted = max(0.0, 1 - (LEAST_ERRORS / strength) ** 4) if strength > 0 else 0.0
    mean = np.ma.masked_invalid(of_halves[:, :, 0]).mean(axis=0).filled(np.nan)
    lost = _ratio(whole[:, 0] - mean, errors)[[names.index(name) for name in CORRECTED]]
    missing = trusted / (2**RATE - 1) * float(np.mean(lost))
    return Calibration(
        dict(zip(names, times.tolist(), strict=True)), {name: missing if name in CORRECTED else 0.0 for name in names}
    )


def _measured(fit: LooseFit) -> Vector:
    """(quantities, 2, themes) estimates, and variances by the formula."""
    measured = [quantity(fit, fit.talk.weight) for quantity in QUANTITIES.values()]
    return np.array([[one.estimates, one.variances] for one in measured])


def _ratio(part: Vector, errors: Vector) -> Vector:
    """Ratio, 0 if the error is 0 or the value is not known."""
    known = np.isfinite(part) & (errors > 0)
    return np.divide(part, errors, out=np.zeros_like(errors), where=known)


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
