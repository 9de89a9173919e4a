"""Estimates about themes with valid intervals, although tone was learnt from the same responses.

Method "crossfit" takes standard errors of the GLM on themes (`influence`) by tone out of fold, and widens them by what
halves of the texts measure (`calibration`). "plugin" takes them as they are. "bootstrap" draws texts, or whole groups,
with replacement: themes are moved from where they are, sentences placed again and the GLM on themes fitted again; tone
stays out of fold and as it is, since a text drawn twice would be in two folds, and intervals are widened as for
"crossfit". Themes on a matrix are learnt again from every sample and judged by the texts that were not drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from textsignal.arrays import Vector
from textsignal.checks import check_choice, check_groups, check_number
from textsignal.compute.engines import Compute
from textsignal.compute.engines.local import LocalEngine, local_compute
from textsignal.compute.hashing import Keys
from textsignal.data.covariates.design import Given
from textsignal.errors import InputError
from textsignal.insight.inputs import as_groups
from textsignal.insight.naming import Naming
from textsignal.reading.observed import Observed
from textsignal.reading.themes import ThemeReader
from textsignal.training.contributions import spoken_of
from textsignal.training.halves import match_topics
from textsignal.training.theme_model import by_document, read_features, text_shares
from textsignal.training.themes import Themes, refit_themes
from textsignal.training.tone import TONE_FOLDS, tone_folds
from textsignal.uncertainty.calibration import CUTS, NOTHING, Calibration, ToneText, calibrate
from textsignal.uncertainty.effect_table import DIFFERENCE, EffectTable, effect_rows, with_holm
from textsignal.uncertainty.influence import QUANTITIES, LooseFit, Measured, Talk, fit_loosely

#: Fewest texts with a response, in all and for each theme.
FEWEST, FEWEST_PER_THEME = 40, 8
#: Quantities of themes that are learnt from the response; tone and speaking are not separate there.
OF_TOPICS = ("cost", "gain", "mentions", "tone")
#: Defaults of the level of intervals and of the number of samples.
LEVEL, REFITS = 0.95, 200
#: Descriptions of the methods.
METHODS = {
    "crossfit": (
        "Standard errors are those of the GLM on themes, by tone that has not seen the responses, times what pairs of "
        "halves of the texts say they fall short; what these miss of costs and gains is added. Themes are taken as "
        "they are; stability() says how firm these are."
    ),
    "bootstrap": "Standard errors are those of {n_refits} samples of the texts drawn with replacement.",
    "plugin": (
        "Conditional on the themes: as if themes and tone had been known beforehand, and not learnt from these "
        "responses. Too narrow: pure noise is called clear far too often."
    ),
}
#: Called after each refit, with its number.
Progress = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Subgroups:
    """Groups of documents that estimates are of, and the documents that each is compared with.

    names : of the groups; [None] for all documents. weights, others : (documents,) of each group, and of its others.
    """

    names: Sequence[object]
    weights: Sequence[Vector]
    others: Sequence[Vector]

    def map(self, change: Callable[[Vector], Vector]) -> Subgroups:
        """Change all weights."""
        return Subgroups(self.names, [*map(change, self.weights)], [*map(change, self.others)])


def parts_of(by: ArrayLike | pd.Series | None, weight: Vector) -> Subgroups:
    """Return all documents, or those of each group, the largest first."""
    if by is None:
        return Subgroups([None], [weight], [np.zeros_like(weight)])
    groups = as_groups(by, len(weight))
    named = weight * groups.notna().to_numpy()
    weights = {}
    for name, rows in groups.groupby(groups, sort=False).indices.items():
        own = np.zeros_like(weight)
        own[rows] = weight[rows]
        if own.sum() > 0:
            weights[name] = own
    if not weights:
        raise InputError("no document of any group counts: the weights of all are 0")
    names = sorted(weights, key=lambda name: (-weights[name].sum(), str(name)))
    return Subgroups(names, [weights[name] for name in names], [named - weights[name] for name in names])


@dataclass(frozen=True, eq=False)
class EffectLayout:
    """Rows of a table of effects: the groups of documents, (themes,) labels, and the level of intervals."""

    parts: Subgroups
    labels: Sequence[str]
    level: float

    def rows(
        self, group: object, quantity: str, estimates: Vector, errors: Vector, degrees: float = np.inf
    ) -> pd.DataFrame:
        """Return one row per theme, with a column for the group if there are groups."""
        table = effect_rows(quantity, self.labels, estimates, errors, self.level, degrees)
        if group is not None:
            table.insert(0, "group", [group] * len(table))
        return table


@dataclass(frozen=True, eq=False)
class Evidence:
    """Documents with the GLM on their themes, and the text to learn tone again from.

    keys : (documents,) by which halves are drawn: of texts, or of groups that stay together.
    sentence_tone : (sentences,) tone behind `talk`.
    """

    fit: LooseFit
    text: ToneText
    keys: Keys
    sentence_tone: Vector

    @property
    def talk(self) -> Talk:
        """Tone and shares of themes in the documents."""
        return self.fit.talk

    def calibrate(self, seed: int, n_jobs: int | None) -> Calibration:
        """Measure how much the formula falls short, in halves of the documents."""
        return calibrate(self.fit, self.text, self.keys, CUTS, seed, n_jobs)


def gather(
    reader: ThemeReader,
    observed: Observed,
    groups: NDArray[np.int64] | None,
    better: int,
    unseen: bool = True,
) -> Evidence:
    """Read documents and fit the GLM on themes; unseen : by tone out of fold, or else by tone of all documents."""
    fitted = reader.fitted
    reading = reader.read(observed).clauses
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
    """Raise an error if responses are too few or constant."""
    known = y[~np.isnan(y) & (weight > 0)]
    least = max(FEWEST, FEWEST_PER_THEME * n_themes)
    if len(known) < least:
        raise InputError(
            f"{len(known):,} texts with a response are too few for intervals of {n_themes} themes; {least:,} are needed"
        )
    if np.ptp(known) == 0:
        raise InputError("the response is constant, so there is nothing to estimate; check the response column")


def effects_of(evidence: Evidence, layout: EffectLayout, known: Calibration) -> pd.DataFrame:
    """Return one row per group, theme and quantity, with standard errors by the formula."""
    fit, groups, weight = evidence.fit, evidence.talk.given.groups, evidence.talk.weight
    degrees = np.inf if groups is None else len(np.unique(groups[weight > 0])) - 1.0
    parts, tables = layout.parts, []

    def estimated(name: str, part: Vector) -> tuple[Measured, Vector]:
        measured = QUANTITIES[name](fit, part)
        return measured, measured.estimates + known.missing(name, measured.variances(weight, groups))

    for group, own, others in zip(parts.names, parts.weights, parts.others, strict=True):
        for name in QUANTITIES:
            if group is not None and name == "gamma":
                continue
            measured, estimates = estimated(name, own)
            errors = known.errors(name, measured.variances(weight, groups))
            tables.append(layout.rows(group, name, estimates, errors, degrees))
            if group is not None and others.sum() > 0:
                other, of_others = estimated(name, others)
                errors = known.errors(name, measured.minus(other).variances(weight, groups))
                tables.append(layout.rows(group, name + DIFFERENCE, estimates - of_others, errors, degrees))
    return pd.concat(tables, ignore_index=True)


@dataclass(frozen=True)
class Resampling:
    """Number of samples, their seed, threads, and a function that is called after each."""

    n_refits: int
    seed: int
    n_jobs: int | None
    progress: Progress

    def map(self, refit: Callable[[int], Vector]) -> Vector:
        """Return (refits, ...) the results of all refits."""

        def reported(number: int) -> Vector:
            result = refit(number)
            self.progress(number)
            return result

        with LocalEngine(self.n_jobs) as engine, threadpool_limits(1):
            return np.array(engine.map(reported, range(self.n_refits)))

    def counts(self, weight: Vector, groups: NDArray[np.int64] | None, number: int) -> Vector:
        """Return (documents,) how often a sample draws each; those of a group are drawn together."""
        rng = np.random.default_rng([self.seed, number])
        if groups is None:
            total = max(1, round(float(weight.sum())))
            return rng.multinomial(total, weight / weight.sum()).astype(float)
        names, codes = np.unique(groups, return_inverse=True)
        return weight * rng.multinomial(len(names), np.full(len(names), 1 / len(names)))[codes]


def bootstrap_themes(
    evidence: Evidence, themes: Themes, layout: EffectLayout, known: Calibration, draws: Resampling
) -> pd.DataFrame:
    """Return intervals around the estimates of the GLM on themes without shrinkage, by the spread of refits.

    They are those of a normal distribution. Refits spread more on the side away from 0, so that percentiles lie too far
    from it: with 20 themes and no effect they cover 92%, and percentiles of distances 95 to 97%.
    """
    talk, fit, parts = evidence.talk, evidence.fit, layout.parts

    def refit(number: int) -> Vector:
        counts = draws.counts(talk.weight, talk.given.groups, number)
        with local_compute(1) as compute:
            moved = fit_loosely(_moved(evidence, themes, counts, compute), compute)
        return _estimates(moved, parts.map(lambda weight: np.where(weight > 0, counts, 0.0)))

    def missing(name: str, weight: Vector) -> Vector:
        return known.missing(name, QUANTITIES[name](fit, weight).variances(talk.weight, talk.given.groups))

    added = _by_part(parts, missing, np.zeros(talk.n_themes))
    samples = draws.map(refit) + added
    return _spread(layout, QUANTITIES, _estimates(fit, parts) + added, samples, known.inflation)


def _estimates(fit: LooseFit, parts: Subgroups) -> Vector:
    """Estimates as in `_by_part`, NaN for groups without documents."""
    nothing = np.full(fit.talk.n_themes, np.nan)
    return _by_part(parts, lambda name, weight: QUANTITIES[name](fit, weight).estimates, nothing)


def _by_part(parts: Subgroups, measure: Callable[[str, Vector], Vector], absent: Vector) -> Vector:
    """(groups, quantities, 2, themes) a measure of each group, and of the documents that it is compared with."""
    pairs = zip(parts.weights, parts.others, strict=True)
    return np.array(
        [[[measure(name, w) if w.sum() > 0 else absent for w in pair] for name in QUANTITIES] for pair in pairs]
    )


def _moved(evidence: Evidence, themes: Themes, counts: Vector, compute: Compute) -> Talk:
    """Documents by themes that are refitted to the drawn ones."""
    reading = evidence.text.reading
    texts, documents = reading.texts, reading.texts.documents
    moved = refit_themes(themes, reading.units, counts[documents], compute)
    order = match_topics(themes.topics, moved.topics).numbers
    moved = Themes(moved.topics[order], moved.term_weights, moved.prevalence[order])
    places = moved.place(reading.units, documents, len(texts), compute)
    return replace(
        evidence.talk,
        tone=by_document(places * evidence.sentence_tone[:, None], texts),
        shares=text_shares(texts, places, moved.prevalence),
        spoken=spoken_of(places, reading.has_terms, documents, len(texts)),
        prevalence=moved.prevalence,
        weight=counts,
    )


def _spread(
    layout: EffectLayout, names: Iterable[str], whole: Vector, samples: Vector, inflations: Mapping[str, float]
) -> pd.DataFrame:
    """One row per group, theme and quantity; standard errors are the spread of samples, times sqrt(inflation).

    whole : (groups, quantities, 2, themes) estimates; samples : (refits, groups, quantities, 2, themes).
    """
    tables = []

    def add(group: object, name: str, size: float, estimates: Vector, of_samples: Vector) -> None:
        errors = size * np.nanstd(of_samples - estimates, axis=0, ddof=1)
        tables.append(layout.rows(group, name, estimates, errors))

    for p, group in enumerate(layout.parts.names):
        for q, name in enumerate(names):
            size, own, drawn = np.sqrt(inflations[name]), whole[p, q], samples[:, p, q]
            add(group, name, size, own[0], drawn[:, 0])
            if group is not None:
                add(group, name + DIFFERENCE, size, own[0] - own[1], drawn[:, 0] - drawn[:, 1])
    return pd.concat(tables, ignore_index=True)


def estimate_effects(
    reader: ThemeReader,
    observed: Observed,
    labels: Sequence[str],
    naming: Naming,
    *,
    by: ArrayLike | pd.Series | None,
    groups: ArrayLike | None,
    method: str | None,
    level: float,
    n_refits: int,
    seed: int,
    n_jobs: int | None,
    progress: Progress | None,
) -> EffectTable:
    """Estimate effects of themes with intervals; see `TextResponseModel.estimate_effects`."""
    method = method or "crossfit"
    check_choice("method", method, list(METHODS))
    check_number("level", level, least=0, above=True)
    if level >= 1:
        raise InputError(f"level={level!r} must be below 1, such as 0.95")
    check_number("n_refits", n_refits, least=2, whole=True)
    check_number("seed", seed, least=0, whole=True)
    clusters = check_groups(groups, len(observed.tokens))
    if clusters is None and observed.given is not None:
        clusters = observed.given.groups
    layout = EffectLayout(parts_of(by, observed.weight), labels, level)
    draws = Resampling(int(n_refits), int(seed), n_jobs, progress or (lambda number: None))
    evidence = gather(reader, observed, clusters, naming.better, unseen=method != "plugin")
    known = NOTHING if method == "plugin" else evidence.calibrate(int(seed), n_jobs)
    if method == "bootstrap":
        frame = bootstrap_themes(evidence, reader.fitted.themes, layout, known, draws)
    else:
        frame = effects_of(evidence, layout, known)
    description = METHODS[method].format(n_refits=n_refits)
    if clusters is not None:
        description += f" Texts of a group are taken to depend on each other ({len(np.unique(clusters))} groups)."
    return EffectTable(with_holm(frame), level, description, naming)
