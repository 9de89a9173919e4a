"""Estimates about themes with valid intervals, although tone was learnt from the same responses.

Method "crossfit" takes standard errors of the GLM on themes (`influence`) by tone out of fold, corrected by halves of
the texts (`calibration`). "plugin" takes them uncorrected, by tone of all texts. "bootstrap" draws texts, or whole
groups, with replacement: themes are moved from where they are, sentences placed again and the GLM on themes fitted
again; tone stays as it is, since a text drawn twice would be in two folds, and variances are corrected in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from textsignal.arrays import Vector
from textsignal.checks import check_choice, check_groups, check_number
from textsignal.compute.engines import Compute
from textsignal.compute.engines.local import LocalEngine, local_compute
from textsignal.data.covariates.design import Given
from textsignal.errors import InputError
from textsignal.insight.inputs import as_groups
from textsignal.insight.naming import Naming
from textsignal.reading.observed import Observed
from textsignal.reading.themes import ThemeReader
from textsignal.training.halves import match_topics
from textsignal.training.themes import Themes, refit_themes
from textsignal.uncertainty.calibration import CUTS, NOTHING, Calibration, Evidence, calibrate, placed
from textsignal.uncertainty.effect_table import DIFFERENCE, EffectTable, effect_frame
from textsignal.uncertainty.influence import QUANTITIES, LooseFit, Measured, Talk, fit_loosely

#: Defaults of the level of intervals and of the number of samples.
LEVEL, REFITS = 0.95, 200
#: Descriptions of the methods.
METHODS = {
    "crossfit": (
        "Standard errors are those of the GLM on themes, by tone that has not seen the responses, times a factor that "
        "pairs of halves of the texts measure; the shortfall of costs and gains that they measure is added. Themes are "
        "taken as they are; see stability() for their reliability."
    ),
    "bootstrap": "Standard errors are those of {n_refits} samples of the texts drawn with replacement.",
    "plugin": (
        "Conditional on the themes: as if themes and tone had been known beforehand, and not learnt from these "
        "responses. Too narrow: pure noise is called significant far too often."
    ),
}
#: Called after each refit, with its number.
Progress = Callable[[int], None]
#: A group of texts, or None for all, and a quantity.
Cell = tuple[object, str]


@dataclass(frozen=True, eq=False)
class Subgroup:
    """Texts that estimates are about: all, or a group and the others that it is compared with; weights are (texts,)."""

    name: object
    weight: Vector
    others: Vector | None = None

    def drawn(self, counts: Vector) -> Subgroup:
        """Return the texts of a sample; counts : (texts,) how often each was drawn."""
        others = None if self.others is None else np.where(self.others > 0, counts, 0.0)
        return Subgroup(self.name, np.where(self.weight > 0, counts, 0.0), others)


def subgroups(by: ArrayLike | pd.Series | None, weight: Vector) -> list[Subgroup]:
    """Return all texts, or those of each group, the largest first."""
    if by is None:
        return [Subgroup(None, weight)]
    groups = as_groups(by, len(weight))
    named, parts = weight * groups.notna().to_numpy(), []
    for name, rows in groups.groupby(groups, sort=False).indices.items():
        own = np.zeros_like(weight)
        own[rows] = weight[rows]
        others = named - own
        if own.any():
            parts.append(Subgroup(name, own, others if others.any() else None))
    if not parts:
        raise InputError("no text of any group counts: the weights of all are 0")
    return sorted(parts, key=lambda part: (-part.weight.sum(), str(part.name)))


def measure(fit: LooseFit, parts: Sequence[Subgroup], known: Calibration) -> Iterator[tuple[Cell, Measured]]:
    """Yield every quantity of every group, and its difference to the others; NaN for a group without texts.

    Gamma is of all texts, whatever their group.
    """
    nothing = Measured(fit.talk, np.full(fit.talk.n_themes, np.nan), np.full(fit.talk.tone.shape, np.nan))

    def corrected(name: str, weight: Vector) -> Measured:
        return known.corrected(name, QUANTITIES[name](fit, weight)) if weight.any() else nothing

    for part in parts:
        for name in QUANTITIES:
            if part.name is None or name != "gamma":
                own = corrected(name, part.weight)
                yield (part.name, name), own
                if part.others is not None:
                    yield (part.name, name + DIFFERENCE), own.minus(corrected(name, part.others))


def effects_of(
    evidence: Evidence, parts: Sequence[Subgroup], known: Calibration, variances: Vector | None = None
) -> dict[Cell, tuple[Vector, Vector]]:
    """Return (themes,) estimates and standard errors; variances : (cells, themes), None for those by the formula."""
    effects = {}
    for number, ((group, name), measured) in enumerate(measure(evidence.fit, parts, known)):
        variance = measured.variances if variances is None else variances[number]
        effects[group, name] = measured.estimates, known.errors(name.removesuffix(DIFFERENCE), variance)
    return effects


def bootstrap(
    evidence: Evidence, parts: Sequence[Subgroup], n_refits: int, seed: int, progress: Progress | None = None
) -> Vector:
    """Return (cells, themes) variances of the estimates of refits.

    Refits spread more on the side away from 0, so that their percentiles lie too far from it: with 20 themes and no
    effect they cover 92%, and percentiles of distances 95 to 97%. Intervals of a normal distribution are used instead.
    """

    def refit(number: int) -> Vector:
        counts = _drawn(evidence.fit.talk, np.random.default_rng([seed, number]))
        with local_compute(1) as compute:
            fit = fit_loosely(_moved(evidence, counts, compute), compute)
        cells = measure(fit, [part.drawn(counts) for part in parts], NOTHING)
        estimates = np.array([measured.estimates for _, measured in cells])
        if progress is not None:
            progress(number)
        return estimates

    with LocalEngine(evidence.reader.n_jobs) as engine, threadpool_limits(1):
        samples = np.array(engine.map(refit, range(n_refits)))
    return np.asarray(np.nanvar(samples, axis=0, ddof=1), dtype=float)


def _drawn(talk: Talk, rng: np.random.Generator) -> Vector:
    """(texts,) how often a sample draws each; those of a group are drawn together."""
    weight, groups = talk.weight, talk.given.groups
    if groups is None:
        return rng.multinomial(max(1, round(float(weight.sum()))), weight / weight.sum()).astype(float)
    names, codes = np.unique(groups, return_inverse=True)
    return weight * rng.multinomial(len(names), np.full(len(names), 1 / len(names)))[codes]


def _moved(evidence: Evidence, counts: Vector, compute: Compute) -> Talk:
    """Texts by themes that are refitted to the drawn ones."""
    reading, themes, talk = evidence.reading, evidence.reader.fitted.themes, evidence.fit.talk
    moved = refit_themes(themes, reading.units, counts[reading.texts.documents], talk.family, compute)
    order = match_topics(themes.topics, moved.topics).numbers
    moved = Themes(moved.topics[order], moved.term_weights, moved.prevalence[order])
    return replace(placed(talk, moved, reading.units, reading.texts, evidence.tone, compute), weight=counts)


def estimate_effects(
    reader: ThemeReader,
    observed: Observed,
    labels: Sequence[str],
    naming: Naming,
    *,
    by: ArrayLike | pd.Series | None,
    groups: ArrayLike | None,
    method: str,
    level: float,
    n_refits: int,
    seed: int,
    progress: Progress | None,
) -> EffectTable:
    """Estimate effects of themes with intervals; see `TextResponseModel.estimate_effects`."""
    check_choice("method", method, METHODS)
    check_number("level", level, least=0, above=True)
    if level >= 1:
        raise InputError(f"level={level!r} must be below 1, such as 0.95")
    check_number("n_refits", n_refits, least=2, whole=True)
    check_number("seed", seed, least=0, whole=True)
    clusters, parts = check_groups(groups, len(observed.tokens)), subgroups(by, observed.weight)
    if clusters is not None:
        given = observed.given or Given.nothing(len(observed.tokens))
        observed = observed.with_given(replace(given, groups=clusters))
    evidence = Evidence.of(reader, observed, naming.better, unseen=method != "plugin")
    known = NOTHING if method == "plugin" else calibrate(evidence, CUTS, int(seed))
    variances = bootstrap(evidence, parts, int(n_refits), int(seed), progress) if method == "bootstrap" else None
    description, degrees, talk = METHODS[method].format(n_refits=n_refits), np.inf, evidence.fit.talk
    if talk.given.groups is not None:
        n_groups = len(np.unique(talk.given.groups))
        description += f" Texts of a group are taken to depend on each other ({n_groups} groups)."
        if variances is None:
            degrees = len(np.unique(talk.given.groups[talk.weight > 0])) - 1.0
    frame = effect_frame(effects_of(evidence, parts, known, variances), labels, level, degrees)
    return EffectTable(frame, level, description, naming)
