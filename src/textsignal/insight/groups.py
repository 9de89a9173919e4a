"""Topics by group: how often and how each group speaks of them, small groups drawn towards all documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.insight.inputs import Times
from textsignal.reading.spoken import Spoken

#: A mean of fewer documents than this rests on few.
FEW = 10
#: A group differs clearly from all documents if its mean is this many standard deviations away; means that differ by
#: less than the second number differ by rounding alone.
CLEAR, ROUNDING = 2.0, 1e-9


@dataclass(frozen=True, eq=False)
class GroupMeans:
    """Means by group, and what they say of the groups by empirical Bayes (method of moments).

    With n_g documents of mean m_g in group g, n documents of mean m in all of G groups::

        within   s2 = sum_g sum_i (v_i - m_g)^2 / (n - G)
        between  t2 = max(0, [sum_g n_g (m_g - m)^2 - (G - 1) s2] / [n - sum_g n_g^2 / n])
        shrunk      = m + B_g (m_g - m),    B_g = t2 / (t2 + s2 / n_g)
        sd          = sqrt((1 - B_g) t2)    of what is shrunk, given the documents
        error       = sqrt(s2 / n_g)        of the mean itself

    s2 is pooled, so that a group of two documents that happen to agree is not believed. The model is taken as given:
    only which documents there are is uncertain. Documents count as often as their weight says.

    count : (groups, topics) n_g; mean : NaN where n_g is 0; shrunk, sd, error : like it; overall : (topics,) m.
    """

    count: Vector
    mean: Vector
    shrunk: Vector
    sd: Vector
    error: Vector
    overall: Vector

    @property
    def clear(self) -> NDArray[np.int64]:
        """(groups, topics) 1 and -1 where a group is clearly above and below all documents, else 0."""
        away = self.shrunk - self.overall
        return np.where(np.abs(away) > np.maximum(CLEAR * self.sd, ROUNDING), np.sign(away), 0).astype(np.int64)


@dataclass(frozen=True, eq=False)
class GroupComparison:
    """What groups say about topics.

    names : of the groups; documents : (groups,) weight of each; spoken : (groups, topics) of those that speak of it.
    well, badly : (groups, topics) shares of these in which it moves the linear predictor for the better and worse.
    reach : share of documents that speak of it.
    tone : what its tone adds to the predicted response of a document that speaks of it,
        mean(eta) - mean(eta - tone), in points of the response.
    lift, worth : by how much the mean response would be better if nothing bad were said of it, worse if nothing good.
    """

    names: tuple[Any, ...]
    documents: Vector
    spoken: Vector
    well: Vector
    badly: Vector
    reach: GroupMeans
    tone: GroupMeans
    lift: GroupMeans
    worth: GroupMeans

    @property
    def few(self) -> NDArray[np.bool_]:
        """(groups, topics) whether few documents of a group speak of a topic."""
        return self.spoken < FEW


def compare_groups(spoken: Spoken, groups: pd.Series) -> GroupComparison:
    """Compare groups, the largest first; groups : (documents,) the group of each, missing for what is left out.

    Examples
    --------
    >>> from textsignal.families import Binomial
    >>> yes, half = np.ones((4, 1), dtype=bool), np.array([0.5, -0.5, 0.5, 0.5])
    >>> one = Spoken(Binomial(4, 1), half, half[:, None], np.ones((4, 1)), yes, np.full(4, 4.0), np.ones(4))
    >>> found = compare_groups(one, pd.Series(["inn", "inn", "inn", None]))
    >>> found.names, found.documents.tolist(), found.badly.round(2).tolist()
    (('inn',), [3.0], [[0.33]])
    """
    codes, names = pd.factorize(groups)
    weights = np.bincount(codes[codes >= 0], weights=spoken.weight[codes >= 0], minlength=len(names))
    order = sorted(np.flatnonzero(weights > 0), key=lambda g: (-weights[g], str(names[g])))
    if not order:
        raise InputError("no document of any group counts: the weights of all are 0")
    places = np.full(len(names) + 1, -1)
    places[order] = np.arange(len(order))
    return compare(spoken, places[codes], [names[g] for g in order])


def compare(spoken: Spoken, codes: NDArray[np.int64], names: Sequence[Any]) -> GroupComparison:
    """Compare documents by codes : (documents,) the number of the group of each, -1 for those to be left out."""
    rows = np.flatnonzero(codes >= 0)
    part, codes, n = spoken.at(rows), codes[rows], len(names)
    mean, before = part.family.mean, part.family.mean(part.eta)
    measures: dict[str, list[GroupMeans]] = {name: [] for name in ("reach", "tone", "lift", "worth", "well", "badly")}
    for tone, bad, good, speaks in zip(part.tone.T, part.bad.T, part.good.T, part.spoken.T, strict=True):
        here = part.weight * speaks
        for name, values, weight in (
            ("reach", speaks.astype(float), part.weight),
            ("tone", before - mean(part.eta - tone), here),
            ("lift", part.better * (mean(part.eta - bad) - before), part.weight),
            ("worth", part.better * (before - mean(part.eta - good)), part.weight),
            ("well", (good != 0).astype(float), here),
            ("badly", (bad != 0).astype(float), here),
        ):
            measures[name].append(group_means(values, weight, codes, n))
    means = {name: _side_by_side(parts) for name, parts in measures.items()}
    return GroupComparison(
        names=tuple(names),
        documents=_sums(part.weight, codes, n),
        spoken=means["tone"].count,
        well=means["well"].mean,
        badly=means["badly"].mean,
        reach=means["reach"],
        tone=means["tone"],
        lift=means["lift"],
        worth=means["worth"],
    )


def group_means(values: Vector, weight: Vector, codes: NDArray[np.int64], n_groups: int) -> GroupMeans:
    """Means of values (documents,) by group, each (groups,); `GroupMeans` has the formulas.

    Examples
    --------
    >>> found = group_means(np.array([1.0, 3.0, 6.0, 8.0]), np.ones(4), np.array([0, 0, 1, 1]), 2)
    >>> found.mean, found.shrunk.round(2)
    (array([2., 7.]), array([2.2, 6.8]))
    """
    count = _sums(weight, codes, n_groups)
    total, used = count.sum(), count > 0
    overall = float(weight @ values / total) if total > 0 else np.nan
    mean = np.full(n_groups, np.nan)
    mean[used] = _sums(weight * values, codes, n_groups)[used] / count[used]
    spread = weight @ (values - np.nan_to_num(mean)[codes]) ** 2
    apart = count[used] @ (mean[used] - overall) ** 2
    freedom, groups_less_one = total - used.sum(), used.sum() - 1
    if freedom > 0 and groups_less_one > 0:
        within = spread / freedom
        between = max(0.0, (apart - groups_less_one * within) / (total - count @ count / total))
    else:  # One group, or as many as documents: what groups differ by cannot be told from what documents differ by.
        within, between = (spread + apart) / max(total - 1, 1), 0.0
    scale = between * count + within
    kept = np.divide(between * count, scale, out=np.zeros(n_groups), where=scale > 0)
    return GroupMeans(
        count=count,
        mean=mean,
        shrunk=overall + kept * (np.where(used, mean, overall) - overall),
        sd=np.sqrt((1 - kept) * between),
        error=np.sqrt(np.divide(within, count, out=np.full(n_groups, np.nan), where=used)),
        overall=np.array(overall),
    )


def _sums(values: Vector, codes: NDArray[np.int64], n_groups: int) -> Vector:
    return np.bincount(codes, weights=values, minlength=n_groups).astype(float)


def _side_by_side(parts: Sequence[GroupMeans]) -> GroupMeans:
    return GroupMeans(
        *(np.stack([getattr(part, field.name) for part in parts], axis=-1) for field in fields(GroupMeans))
    )


#: Periods there are at most, and at least where days allow it; documents that a period should have.
MOST, FEWEST, ENOUGH = 24, 3, 30


#: Share of documents on either side that do not decide how long periods are: a wrong year must not.
STRAY = 0.01


#: Chance that any topic is said to change though none does.
FALSE_ALARM = 0.05


MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


#: The Monday before the first of January 1970, in days from it.
MONDAY = -3


@dataclass(frozen=True)
class PeriodUnit:
    """How long a period is: so many days, or else so many months; noun : what several are called."""

    noun: str
    days: int = 0
    months: int = 0

    def index(self, times: Times) -> NDArray[np.int64]:
        """The number of the period that each day is in."""
        if self.days:
            return (times.astype("datetime64[D]").astype(np.int64) - MONDAY * (self.days > 1)) // self.days
        return (times.astype("datetime64[M]").astype(np.int64) + 1970 * 12) // self.months

    def label(self, index: int) -> str:
        """What a period is called: a week by its Monday."""
        if self.days:
            day = np.datetime64(index * self.days + MONDAY * (self.days > 1), "D")
            return day_name(day)
        year, month = divmod(index * self.months, 12)
        if self.months < 12:
            return f"{year} Q{month // 3 + 1}" if self.months == 3 else f"{MONTHS[month]} {year}"
        return f"{year}" if self.months == 12 else f"{year}–{year + self.months // 12 - 1}"


#: The shortest first.
UNITS = (
    PeriodUnit("days", days=1),
    PeriodUnit("weeks", days=7),
    PeriodUnit("months", months=1),
    PeriodUnit("quarters", months=3),
    PeriodUnit("years", months=12),
    *(PeriodUnit(f"periods of {years} years", months=12 * years) for years in (2, 5, 10, 20, 50, 100)),
)


@dataclass(frozen=True, eq=False)
class Periods:
    """Periods in the order of time, without a gap.

    noun : what they are, such as "years"; names : of each; those at the ends may hold all that is before or after.
    codes : (documents,) the period of each, -1 for a document without date.
    """

    noun: str
    names: tuple[str, ...]
    codes: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Change:
    """What changes from the first third of the documents to the last: (topics,) before, after, and clear.

    error : standard error of after - before; clear : 1 and -1 where it rises and falls clearly, else 0.
    """

    before: Vector
    after: Vector
    error: Vector
    clear: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Trends:
    """How topics change. until, since : last day of the first third, first day of the last."""

    until: np.datetime64
    since: np.datetime64
    reach: Change
    tone: Change


def periods_of(times: Times) -> Periods:
    """Periods that are long enough to hold many documents and short enough to show what changes.

    The shortest of `UNITS` that gives MOST periods at most, with ENOUGH documents each on average. Where there are too
    few documents for that, the longest that gives FEWEST. Ends with few documents are put together with their
    neighbours.

    Examples
    --------
    >>> days = np.arange("2014-03-01", "2016-02-01", dtype="datetime64[D]")
    >>> periods_of(days).names[:2], periods_of(days.repeat(3)).names[:2]
    (('2014 Q1', '2014 Q2'), ('Mar 2014', 'Apr 2014'))
    >>> periods_of(days[np.r_[:90:9, 90:600]]).names
    ('to 2014 Q2', '2014 Q3', '2014 Q4', '2015 Q1', '2015 Q2', 'since 2015 Q3')
    """
    dated = np.sort(times[~np.isnat(times)])
    stray = int(STRAY * dated.size)
    inner = dated[stray : dated.size - stray]
    unit = _unit(inner)
    low, high = (int(index) for index in unit.index(inner[[0, -1]]))
    index = unit.index(dated)
    counts = np.bincount(np.clip(index, low, high) - low)
    least = min(ENOUGH, dated.size / counts.size / 2)
    first, last = low, high
    while last - first > 1 and counts[: first - low + 1].sum() < least:
        first += 1
    while last - first > 1 and counts[last - low :].sum() < least:
        last -= 1
    names = [unit.label(number) for number in range(first, last + 1)]
    if first < last:
        names[0] = f"to {names[0]}" if index[0] < first else names[0]
        names[-1] = f"since {names[-1]}" if index[-1] > last else names[-1]
    known = ~np.isnat(times)
    codes = np.full(times.size, -1)
    codes[known] = np.clip(unit.index(times[known]), first, last) - first
    return Periods(unit.noun, tuple(names), codes)


def _unit(times: Times) -> PeriodUnit:
    """How long periods of these days, which are in order, should be."""
    n_periods = {unit: int(np.ptp(unit.index(times[[0, -1]]))) + 1 for unit in UNITS}
    fitting = [unit for unit in UNITS if n_periods[unit] <= MOST]
    several = [unit for unit in fitting if n_periods[unit] >= FEWEST]
    plenty = [unit for unit in several if times.size >= ENOUGH * n_periods[unit]]
    return (plenty or several[-1:] or fitting)[0]


def compare_periods(spoken: Spoken, periods: Periods) -> GroupComparison:
    """What documents of each period say about topics."""
    return compare(spoken, periods.codes, periods.names)


def trends_of(spoken: Spoken, times: Times) -> Trends | None:
    """What changes from the first third of the documents to the last, by their dates; None where all have one date.

    Documents of one day stay together. A change is clear if it is so many standard errors large that, with no change
    in any topic, one would be called clear with a chance of FALSE_ALARM.
    """
    known = ~np.isnat(times)
    dated = np.sort(times[known])
    until, since = dated[(dated.size - 1) // 3], dated[-1 - (dated.size - 1) // 3]
    if until == since:  # One day has so many that it is the middle of all: what is before it or after it stands apart.
        other = dated[dated < until] if until > dated[0] else dated[dated > until]
        if not other.size:
            return None
        until, since = (other[-1], since) if other[0] < since else (until, other[0])
    codes = np.full(times.size, -1)
    codes[known & (times <= until)] = 0
    codes[known & (times >= since)] = 1
    both = compare(spoken, codes, ("first", "last"))
    limit = norm.isf(FALSE_ALARM / 2 / max(both.spoken.shape[1], 1))
    enough = (both.spoken >= FEW).all(axis=0)
    changes = []
    for means in (both.reach, both.tone):
        before, after = means.mean
        error = np.hypot(*means.error)
        clear = enough & (np.abs(after - before) > limit * error)
        changes.append(Change(before, after, error, np.where(clear, np.sign(after - before), 0).astype(np.int64)))
    return Trends(until, since, *changes)


def day_name(day: np.datetime64) -> str:
    """A day as it is read out.

    Examples
    --------
    >>> day_name(np.datetime64("2015-03-02"))
    '2 Mar 2015'
    """
    year, month, number = str(day).rsplit("-", 2)
    return f"{int(number)} {MONTHS[int(month) - 1]} {year}"
