"""Intervals for numbers about themes that hold although tone was learnt from the same responses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.compute.engines.local import LocalEngine, local_compute
from textsignal.compute.hashing import Keys
from textsignal.data.covariates.design import Given
from textsignal.errors import InputError
from textsignal.reading.observed import Observed
from textsignal.reading.themes import ThemeReader
from textsignal.training.theme_reading import read_features
from textsignal.training.tone_blocks import TONE_FOLDS, tone_folds
from textsignal.uncertainty.calibration import CUTS, Calibration, ToneText, calibrate
from textsignal.uncertainty.effect_table import DIFFERENCE, effect_rows
from textsignal.uncertainty.influence import QUANTITIES, LooseFit, Measured, Talk, fit_loosely
from textsignal.uncertainty.parts import Subgroups

#: Texts with a response that there must be at least, and for each theme.
FEWEST, FEWEST_PER_THEME = 40, 8


@dataclass(frozen=True, eq=False)
class Evidence:
    """What documents say about themes, with the GLM on these, and what is needed to learn tone anew.

    keys : (documents,) by which halves are drawn: of texts, or of groups that stay together.
    sentence_tone : (sentences,) tone that `talk` is by.
    """

    fit: LooseFit
    text: ToneText
    keys: Keys
    sentence_tone: Vector

    @property
    def talk(self) -> Talk:
        """What the documents say."""
        return self.fit.talk

    def calibrate(self, seed: int, n_jobs: int | None) -> Calibration:
        """What halves of the documents say."""
        return calibrate(self.fit, self.text, self.keys, CUTS, seed, n_jobs)


def gather(
    reader: ThemeReader,
    observed: Observed,
    groups: NDArray[np.int64] | None,
    better: int,
    unseen: bool = True,
) -> Evidence:
    """Read documents; unseen : by tone that has not seen their responses, or else by that of all."""
    fitted = reader.fitted
    reading = reader.read(observed.tokens).sentences
    assert reading is not None
    y = fitted.family.encode(observed.responses)
    check_enough(y, observed.weight, fitted.n_themes)
    with LocalEngine(reader.n_jobs) as engine:
        read = read_features(reading.texts, fitted.features, engine)
    keys = reading.texts.keys
    known = np.isin(keys, fitted.training.keys[~fitted.training.later])
    given = Given.nothing(len(y)) if observed.given is None else observed.given
    given = given if groups is None else replace(given, groups=groups)
    tone = fitted.training.unseen_tone(reading) if unseen else reading.sentence_tone
    talk = Talk(
        family=fitted.family,
        tone=reading.tone_by_theme(tone),
        shares=reading.shares,
        spoken=reading.spoken,
        prevalence=fitted.themes.prevalence,
        y=y,
        weight=observed.weight,
        folds=np.where(known & unseen, tone_folds(read.counts), TONE_FOLDS),
        given=given,
        better=better,
    )
    if given.groups is not None:
        keys = given.groups.astype(np.uint64)
        if len(np.unique(keys[(talk.weight > 0) & ~np.isnan(y)])) < 4:
            raise InputError("intervals need four or more groups of documents that have a response")
    with local_compute(reader.n_jobs) as compute:
        fit = fit_loosely(talk, compute)
    return Evidence(fit, ToneText(read, fitted.features.sizes, reading), keys, tone)


def check_enough(y: Vector, weight: Vector, n_themes: int) -> None:
    """Raise where responses are too few, or all the same."""
    known = y[~np.isnan(y) & (weight > 0)]
    least = max(FEWEST, FEWEST_PER_THEME * n_themes)
    if len(known) < least:
        raise InputError(
            f"{len(known):,} texts with a response are too few for intervals of {n_themes} themes; {least:,} are needed"
        )
    if np.ptp(known) == 0:
        raise InputError("the response is constant, so there is nothing to estimate; check the response column")


def effects_of(
    evidence: Evidence,
    parts: Subgroups,
    labels: Sequence[str],
    level: float,
    known: Calibration,
) -> pd.DataFrame:
    """One row per part, theme and quantity."""
    fit, groups, weight = evidence.fit, evidence.talk.given.groups, evidence.talk.weight
    degrees = np.inf if groups is None else len(np.unique(groups[weight > 0])) - 1.0

    def told(name: str, part: Vector) -> tuple[Measured, Vector]:
        measured = QUANTITIES[name](fit, part)
        return measured, measured.estimates + known.missing(name, measured.variances(weight, groups))

    tables = []
    for group, own, others in zip(parts.names, parts.weights, parts.others, strict=True):
        found = []
        for name in QUANTITIES:
            if group is not None and name == "gamma":
                continue
            measured, estimates = told(name, own)
            errors = known.errors(name, measured.variances(weight, groups))
            found.append(effect_rows(name, labels, estimates, errors, level, degrees))
            if group is not None and others.sum() > 0:
                other, of_others = told(name, others)
                errors = known.errors(name, measured.minus(other).variances(weight, groups))
                found.append(effect_rows(name + DIFFERENCE, labels, estimates - of_others, errors, level, degrees))
        table = pd.concat(found, ignore_index=True)
        if group is not None:
            table.insert(0, "group", [group] * len(table))
        tables.append(table)
    return pd.concat(tables, ignore_index=True)
