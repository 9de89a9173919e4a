"""Estimates about themes with valid intervals, although tone was learnt from the same responses.

Method "crossfit" takes standard errors of the GLM on themes (`influence`) by tone out of fold, corrected by halves of
the texts (`Calibration`). "plugin" takes them uncorrected, by tone of all texts. "bootstrap" draws texts, or whole
groups, with replacement: themes are moved from where they are, sentences placed again and the GLM on themes fitted
again; tone stays as it is, since a text drawn twice would be in two folds, and variances are corrected in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import norm, t
from threadpoolctl import threadpool_limits

from textsignal.arrays import Rows, Vector
from textsignal.checks import check_choice, check_groups, check_number
from textsignal.compute.engines import Compute
from textsignal.compute.engines.local import LocalEngine, local_compute
from textsignal.compute.hashing import Keys
from textsignal.data.covariates.design import Given
from textsignal.errors import InputError
from textsignal.insight.inputs import as_groups
from textsignal.insight.naming import MEASURES, Naming
from textsignal.reading.themes import Reading, ThemeReader
from textsignal.training.contributions import LEAST_ERRORS
from textsignal.training.glm import fit_alone
from textsignal.training.halves import halves, match_topics
from textsignal.training.theme_model import (
    Clauses,
    FittedThemes,
    PartlyRead,
    ThemeReading,
    learn_words,
    overall_of,
    places_of,
    read_features,
)
from textsignal.training.themes import Themes, refit_themes
from textsignal.training.tone import TONE_FOLDS, fit_tone, tone_folds
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
#: Fewest texts with a response, in all and for each theme; fewest groups of dependent texts.
FEWEST, FEWEST_PER_THEME, FEWEST_GROUPS = 40, 8, 4
#: Pairs of halves.
CUTS = 8
#: Suffix of a quantity's name for the difference of a group to all others.
DIFFERENCE = "_difference"
#: Quantities that are not tested against 0.
SHARES = ("mentions",)
#: Quantities that uncertain tone makes too small, and the power of n by which that bias falls.
CORRECTED, RATE = ("cost", "gain"), 2 / 3


def talk_of(reader: ThemeReader, read: Reading, clauses: Clauses) -> Talk:
    """Return texts by these clauses, in one fold."""
    observed, n_places = read.observed, reader.fitted.n_places
    return Talk(
        family=reader.family,
        texts=clauses.of_texts(n_places),
        prevalence=reader.fitted.prevalence,
        y=reader.family.encode(observed.responses),
        weight=observed.weight,
        folds=np.zeros(len(observed), dtype=np.int64),
        given=observed.given or Given.nothing(len(observed)),
        away=reader.fitted.effects.average - reader.fitted.effects.constant,
        better=read.better,
    )


def by_themes(talk: Talk, fitted: FittedThemes, themes: Themes, reading: ThemeReading, clauses: Clauses) -> Talk:
    """Return the texts of a reading by other themes; clauses : of these texts, in any places."""
    places = places_of(reading.texts, reading.units, fitted.terms, themes, fitted.verdict, fitted.language)
    _, prevalence = overall_of(reading.texts, reading.units, places, themes, talk.weight)
    return replace(talk, texts=replace(clauses, places=places).of_texts(len(prevalence)), prevalence=prevalence)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Texts with the GLM on their themes, and all that it takes to learn their tone again.

    clauses : behind `fit`; features : (texts, features), tone is learnt from.
    keys : (texts,) by which halves are drawn: of texts, or of groups that stay together.
    """

    reader: ThemeReader
    reading: ThemeReading
    clauses: Clauses
    features: PartlyRead
    keys: Keys
    fit: LooseFit

    @classmethod
    def of(cls, reader: ThemeReader, read: Reading, unseen: bool = True) -> Evidence:
        """Fit the GLM on themes to the texts of a reading; unseen : by tone out of fold, or else by tone of all."""
        fitted, reading = reader.fitted, read.clauses
        clauses = read.unseen if unseen else reading.clauses
        talk = talk_of(reader, read, clauses)
        answers, least = talk.y[~np.isnan(talk.y) & (talk.weight > 0)], max(FEWEST, FEWEST_PER_THEME * talk.n_themes)
        if len(answers) < least:
            raise InputError(
                f"{len(answers):,} texts with a response are too few for intervals of {fitted.n_themes} themes and the "
                f"overall verdict; {least:,} are needed"
            )
        if np.ptp(answers) == 0:
            raise InputError("the response is constant, so there is nothing to estimate; check the response column")
        with local_compute(reader.n_jobs) as compute:
            features = read_features(reading.texts, fitted.features, compute.engine)
            known = unseen & np.isin(reading.texts.keys, fitted.training.keys[~fitted.training.later])
            talk = replace(talk, folds=np.where(known, tone_folds(features.counts), TONE_FOLDS))
            keys = reading.texts.keys
            if talk.given.groups is not None:
                keys = talk.given.groups.astype(np.uint64)
                if len(np.unique(keys[(talk.weight > 0) & ~np.isnan(talk.y)])) < FEWEST_GROUPS:
                    raise InputError("intervals need four or more groups of texts that have a response")
            return cls(reader, reading, clauses, features, keys, fit_loosely(talk, compute))

    def learnt_from(self, rows: Rows, compute: Compute) -> Talk:
        """Return some of the texts by tone that is learnt from these alone, out of fold."""
        whole, own = self.fit.talk, self.reader.fitted.words
        weight, folds = np.zeros(len(whole.y)), np.full(len(whole.y), -1)
        weight[rows] = whole.weight[rows]
        family, offset = whole.family.of_words, np.zeros(len(whole.y))
        if whole.given.n_columns or whole.given.offset.any():
            offset, family = fit_alone(whole.given, whole.y, weight, family, compute)
        counts, sizes = self.features.counts[rows], self.reader.fitted.features.sizes
        start = own.slope * own.general
        of_rows = whole.y[rows], weight[rows], family, compute, offset[rows], start
        tone = fit_tone(counts, sizes, *of_rows)
        folds[rows] = tone.folds
        lexicon, of_texts = (own.slope, own.general), (whole.y, weight, family, compute, offset)
        learnt, _ = learn_words(self.features, replace(tone, folds=folds), lexicon, own.zone.high, *of_texts)
        clauses = self.features.unseen(self.clauses.places, learnt)
        talk = whole.at(rows)
        return replace(talk, texts=clauses.of_texts(whole.n_places).at(rows), folds=tone.folds)


@dataclass(frozen=True)
class Calibration:
    """Corrections of variances and estimates, by quantity, that halves of the texts measure.

    The formula takes tone as given, but tone was learnt from responses too. Two halves of the texts that each learn
    tone separately are independent, so that

        inflation = mean of (estimate of one half - estimate of the other)^2 / (variance of one + variance of the other)

    is 1 if the formula is right. Variances are multiplied by it, one number for each kind of quantity.

    Halves also measure a bias. Uncertain tone takes some complaints for neutral mentions and some neutral mentions for
    complaints: cost and gain are too small, by an amount that falls as n^(-2/3) in simulations. So the difference
    between all texts and their halves, over 2^(2/3) - 1, is still missing. In standard errors it is much the same for
    all themes, so its mean over all costs and gains is added; if gammas are not significant, nothing is.

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

    It is raised by the square of its relative error, since it becomes a divisor: few cuts must not make z larger.
    """
    squares = (one[:, :, 0] - other[:, :, 0]) ** 2
    expected = one[:, :, 1] + other[:, :, 1]
    known = np.isfinite(squares) & (expected > 0)
    ratios = np.divide(squares, expected, out=np.zeros_like(squares), where=known)
    of_cuts = ratios.sum(axis=2) / np.maximum(known.sum(axis=2), 1)
    mean = of_cuts.mean(axis=0)
    error = of_cuts.std(axis=0, ddof=1) / len(of_cuts) ** 0.5
    return np.maximum(1.0, mean + np.divide(error**2, mean, out=np.zeros_like(mean), where=mean > 0))


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


def measure(fit: LooseFit, parts: Sequence[Subgroup], known: Calibration) -> Iterator[tuple[object, str, Measured]]:
    """Yield every quantity of every group, and its difference to the others; NaN for a group without texts.

    Gamma is of all texts, whatever their group.
    """
    missing = np.full((len(fit.talk.y), fit.talk.n_themes), np.nan)
    nothing = Measured(fit.talk, np.full(fit.talk.n_themes, np.nan), missing)

    def corrected(name: str, weight: Vector) -> Measured:
        return known.corrected(name, QUANTITIES[name](fit, weight)) if weight.any() else nothing

    for part in parts:
        for name in QUANTITIES:
            if part.name is None or name != "gamma":
                own = corrected(name, part.weight)
                yield part.name, name, own
                if part.others is not None:
                    yield part.name, name + DIFFERENCE, own.minus(corrected(name, part.others))


def effects_of(
    evidence: Evidence, parts: Sequence[Subgroup], known: Calibration, variances: Vector | None = None
) -> dict[tuple[object, str], tuple[Vector, Vector]]:
    """Return (themes,) estimates and standard errors; variances : (cells, themes), None for those by the formula."""
    effects = {}
    for number, (group, name, measured) in enumerate(measure(evidence.fit, parts, known)):
        variance = measured.variances if variances is None else variances[number]
        effects[group, name] = measured.estimates, known.errors(name.removesuffix(DIFFERENCE), variance)
    return effects


def bootstrap(
    evidence: Evidence, parts: Sequence[Subgroup], n_refits: int, seed: int, progress: Progress | None = None
) -> Vector:
    """Return (cells, themes) variances of the estimates of refits.

    Refits spread more on the side away from 0, so their percentiles are too far from it: with 20 themes and no
    effect they cover 92%, and percentiles of distances 95 to 97%. Intervals of a normal distribution are used instead.
    """

    def refit(number: int) -> Vector:
        counts = _drawn(evidence.fit.talk, np.random.default_rng([seed, number]))
        with local_compute(1) as compute:
            fit = fit_loosely(_moved(evidence, counts, compute), compute)
        cells = measure(fit, [part.drawn(counts) for part in parts], NOTHING)
        estimates = np.array([measured.estimates for _, _, measured in cells])
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
    moved = refit_themes(themes, reading.units, counts[reading.texts.documents], compute)
    order = match_topics(themes.topics, moved.topics).numbers
    moved = Themes(moved.topics[order], moved.term_weights, moved.prevalence[order])
    drawn = replace(talk, weight=counts)
    return by_themes(drawn, evidence.reader.fitted, moved, reading, evidence.clauses)


@dataclass(frozen=True, eq=False)
class EffectTable:
    """Estimates about themes with standard errors and intervals.

    frame : one row per theme and quantity, and group if there are groups: theme (its number), label, quantity,
        estimate, std_error, low, high, p_value (of no effect; NaN for a share), p_holm (of all themes together).
    level : of the intervals, such as .95.
    method : description of the method; naming : of the response.

    Examples
    --------
    >>> import textsignal as ts
    >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
    >>> model = ts.TextResponseModel(n_themes=8).fit(reviews.texts, reviews.ratings)
    >>> costs = model.estimate_effects().of("cost")
    >>> bool((costs["low"] <= costs["estimate"]).all())
    True
    """

    frame: pd.DataFrame
    level: float
    method: str
    naming: Naming

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the table."""
        return self.frame.copy()

    def of(self, quantity: str) -> pd.DataFrame:
        """Return the rows of one quantity, the largest estimate first."""
        rows = self.frame[self.frame["quantity"] == quantity]
        return rows.sort_values("estimate", ascending=False, kind="stable", ignore_index=True)

    @property
    def quantities(self) -> list[str]:
        """Names of the quantities, in the order of the table."""
        return list(dict.fromkeys(self.frame["quantity"]))

    def summary(self) -> str:
        """Describe the significant effects and the method in plain words."""
        lines = []
        for name in MEASURES:
            rows = self.of(name)
            if "group" in rows or not len(rows):
                continue
            steps, digits, unit = self.naming.steps, self.naming.digits, self.naming.unit
            themes = [
                f"{row.label} ({steps * row.low:+.{digits}f} to {steps * row.high:+.{digits}f} {unit})"
                for row in rows[self.clear(rows)].itertuples()
            ]
            lines.append(f"Significant {name}s, all themes tested together (Holm): {'; '.join(themes) or 'none'}.")
        return "\n".join([*lines, self.method])

    def clear(self, rows: pd.DataFrame) -> pd.Series:
        """Return True for each row that is significantly above 0, with all themes tested together."""
        return (rows["p_holm"] < 1 - self.level) & (rows["estimate"] > 0)

    def __str__(self) -> str:
        shown = self.frame.drop(columns="theme").round(4).to_string(index=False)
        return f"{shown}\n\n{self.summary()}"

    def _repr_html_(self) -> str:
        shown = self.frame.drop(columns="theme").to_html(index=False, border=0, float_format="{:.3f}".format)
        return f"{shown}<p>{self.summary().replace(chr(10), '<br>')}</p>"


def effect_frame(
    cells: Mapping[tuple[object, str], tuple[Vector, Vector]], labels: Sequence[str], level: float, degrees: float
) -> pd.DataFrame:
    """Return one row per group, quantity and theme, with a column for the group if there are groups.

    cells : (group, or None, and quantity) -> (themes,) estimates and their standard errors.
    degrees : of freedom of the t distribution; infinite for the normal distribution.
    """
    law = t(degrees) if np.isfinite(degrees) else norm()
    estimates, errors = (np.concatenate(numbers) for numbers in zip(*cells.values(), strict=True))
    frame = pd.DataFrame(
        {
            "theme": np.tile(np.arange(len(labels)), len(cells)),
            "label": list(labels) * len(cells),
            "quantity": [quantity for _, quantity in cells for _ in labels],
            "estimate": estimates,
            "std_error": errors,
            "low": estimates - law.ppf(0.5 + level / 2) * errors,
            "high": estimates + law.ppf(0.5 + level / 2) * errors,
        }
    )
    groups = [group for group, _ in cells for _ in labels]
    if groups[0] is not None:
        frame.insert(0, "group", groups)
    shares = frame["quantity"].isin(SHARES)
    frame.loc[shares, ["low", "high"]] = frame.loc[shares, ["low", "high"]].clip(0.0, 1.0)
    z = np.divide(estimates, errors, out=np.full(len(errors), np.nan), where=errors > 0)
    frame["p_value"] = np.where(shares, np.nan, 2 * law.sf(np.abs(z)))
    # Tests of one quantity, over all themes and groups, are corrected together.
    of_quantity = frame.groupby("quantity", sort=False)["p_value"]
    return frame.assign(p_holm=of_quantity.transform(lambda p_values: holm(p_values.to_numpy())))


def with_intervals(drivers: pd.DataFrame, effects: EffectTable) -> pd.DataFrame:
    """Insert cost_low, cost_high and cost_clear, and those of the gain, into a table of drivers."""
    keys = [name for name in ("group", "theme") if name in drivers]
    for name in MEASURES:
        rows = effects.of(name)
        ends = drivers[keys].merge(rows.assign(clear=effects.clear(rows)), how="left", on=keys)
        for step, end in enumerate(("low", "high", "clear"), start=1):
            drivers.insert(drivers.columns.get_loc(name) + step, f"{name}_{end}", ends[end].to_numpy())
    return drivers


def holm(p_values: Vector) -> Vector:
    """Return Holm's p values, corrected for all tests together; NaN if not tested."""
    known = np.flatnonzero(~np.isnan(p_values))
    order = known[np.argsort(p_values[known], kind="stable")]
    corrected = np.full(len(p_values), np.nan)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1)))
    return corrected


def estimate_effects(
    reader: ThemeReader,
    read: Reading,
    labels: Sequence[str],
    naming: Naming,
    *,
    by: ArrayLike | pd.Series | None = None,
    groups: ArrayLike | None = None,
    method: str = "crossfit",
    level: float = LEVEL,
    n_refits: int = REFITS,
    seed: int = 0,
    progress: Progress | None = None,
) -> EffectTable:
    """Estimate effects of themes with intervals; see `TextResponseModel.estimate_effects`."""
    check_choice("method", method, METHODS)
    check_number("level", level, least=0, above=True)
    if level >= 1:
        raise InputError(f"level={level!r} must be below 1, such as 0.95")
    check_number("n_refits", n_refits, least=2, whole=True)
    check_number("seed", seed, least=0, whole=True)
    observed = read.observed
    clusters, parts = check_groups(groups, len(observed)), subgroups(by, observed.weight)
    if clusters is not None:
        given = observed.given or Given.nothing(len(observed))
        read = replace(read, observed=replace(observed, given=replace(given, groups=clusters)))
    evidence = Evidence.of(reader, read, unseen=method != "plugin")
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
