"""Themes by group and over time: mentions, tone, cost and gain by group or period, and changes from first to last."""

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
from textsignal.reading.mentions import Mentions

#: Means of fewer texts than this are marked as uncertain.
FEW = 10
#: A group differs clearly if its mean is this many standard deviations from that of all texts; differences below the
#: second number are due to rounding.
CLEAR, ROUNDING = 2.0, 1e-9
#: Most periods; fewest, if the dates allow it; texts that a period should have.
MOST, FEWEST, ENOUGH = 24, 3, 30
#: Share of texts at either end that do not influence the length of periods, as dates may be wrong.
STRAY = 0.01
#: Probability that any theme is marked as changed if none is.
FALSE_ALARM = 0.05
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
#: The Monday before the first of January 1970, in days from it.
MONDAY = -3


@dataclass(frozen=True, eq=False)
class GroupMeans:
    """Means by group, and their empirical Bayes estimates (method of moments).

    With n_g texts of mean m_g in group g, and n texts of mean m in all G groups::

        within   s2 = sum_g sum_i (v_i - m_g)^2 / (n - G)
        between  t2 = max(0, [sum_g n_g (m_g - m)^2 - (G - 1) s2] / [n - sum_g n_g^2 / n])
        shrunk      = m + B_g (m_g - m),    B_g = t2 / (t2 + s2 / n_g)
        sd          = sqrt((1 - B_g) t2)    of the shrunk mean, given the texts
        error       = sqrt(s2 / n_g)        of the mean itself

    s2 is pooled, so that a group of two texts that happen to agree does not look certain. The model is fixed: the
    only uncertainty is the sampling of texts. Weights are frequencies.

    count : (groups, themes) n_g; mean : NaN where n_g is 0; shrunk, sd, error : like it; overall : (themes,) m.
    """

    count: Vector
    mean: Vector
    shrunk: Vector
    sd: Vector
    error: Vector
    overall: Vector

    @property
    def clear(self) -> NDArray[np.int64]:
        """(groups, themes) 1 and -1 where a group is clearly above and below all texts, else 0."""
        away = self.shrunk - self.overall
        return np.where(np.abs(away) > np.maximum(CLEAR * self.sd, ROUNDING), np.sign(away), 0).astype(np.int64)


@dataclass(frozen=True, eq=False)
class GroupComparison:
    """Mentions, tone, cost and gain of themes by group.

    names : of the groups; documents : (groups,) weight of each; spoken : (groups, themes) weight of mentions.
    praise, complaints : (groups, themes) shares of the texts of a group that praise a theme, and complain about it.
    mentions : share of texts that mention a theme; tone : contribution of its tone to the predicted response of such a
        text, mean(eta) - mean(eta - tone), in points of the response.
    cost, gain : increase of the mean response without complaints about a theme, and decrease without praise.
    """

    names: tuple[Any, ...]
    documents: Vector
    spoken: Vector
    praise: Vector
    complaints: Vector
    mentions: GroupMeans
    tone: GroupMeans
    cost: GroupMeans
    gain: GroupMeans

    @property
    def few(self) -> NDArray[np.bool_]:
        """(groups, themes) True if few texts of a group mention a theme."""
        return self.spoken < FEW


def compare_groups(mentions: Mentions, groups: pd.Series) -> GroupComparison:
    """Compare groups, the largest first; groups : (texts,) the group of each, missing to exclude a text."""
    codes, names = pd.factorize(groups)
    weights = np.bincount(codes[codes >= 0], weights=mentions.weight[codes >= 0], minlength=len(names))
    order = sorted(np.flatnonzero(weights > 0), key=lambda g: (-weights[g], str(names[g])))
    if not order:
        raise InputError("no text of any group counts: the weights of all are 0")
    numbers = np.full(len(names) + 1, -1)
    numbers[order] = np.arange(len(order))
    return compare(mentions, numbers[codes], [names[g] for g in order])


def compare(mentions: Mentions, codes: NDArray[np.int64], names: Sequence[Any]) -> GroupComparison:
    """Compare texts by codes : (texts,) the number of the group of each, -1 to exclude a text."""
    rows = np.flatnonzero(codes >= 0)
    used, codes, n = mentions.at(rows), codes[rows], len(names)
    mean, before = used.family.mean, used.family.mean(used.eta)
    by_theme: dict[str, list[GroupMeans]] = {}
    for k in range(used.n_themes):
        values = {
            "mentions": used.mentioned[:, k].astype(float),
            "tone": before - mean(used.eta - used.tone[:, k]),
            "cost": used.better * (mean(used.eta - used.complaint[:, k]) - before),
            "gain": used.better * (before - mean(used.eta - used.praise[:, k])),
            "praise": used.praises[:, k].astype(float),
            "complaints": used.complains[:, k].astype(float),
        }
        for name, column in values.items():
            weight = used.weight * used.mentioned[:, k] if name == "tone" else used.weight
            by_theme.setdefault(name, []).append(group_means(column, weight, codes, n))
    means = {
        name: GroupMeans(*(np.stack([getattr(part, f.name) for part in parts], axis=-1) for f in fields(GroupMeans)))
        for name, parts in by_theme.items()
    }
    praise, complaints = means.pop("praise").mean, means.pop("complaints").mean
    documents = _sums(used.weight, codes, n)
    return GroupComparison(tuple(names), documents, means["tone"].count, praise, complaints, **means)


def group_means(values: Vector, weight: Vector, codes: NDArray[np.int64], n_groups: int) -> GroupMeans:
    """Return means of values (texts,) by group, each (groups,); `GroupMeans` has the formulas."""
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
    else:  # one group, or one text in each: differences between and within groups are confounded
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


@dataclass(frozen=True)
class PeriodUnit:
    """Length of a period, in days or in months; noun : its plural."""

    noun: str
    days: int = 0
    months: int = 0

    @property
    def _first(self) -> int:
        return MONDAY if self.days > 1 else 0

    def index(self, times: Times) -> NDArray[np.int64]:
        """Return the number of the period of each day."""
        if self.days:
            return (times.astype("datetime64[D]").astype(np.int64) - self._first) // self.days
        return (times.astype("datetime64[M]").astype(np.int64) + 1970 * 12) // self.months

    def label(self, index: int) -> str:
        """Return the name of a period; a week is named by its Monday."""
        if self.days:
            return day_name(np.datetime64(index * self.days + self._first, "D"))
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
    """Periods in the order of time, without a gap; the first and last may include everything before or after.

    noun : such as "years"; names : of each; codes : (texts,) the period of each, -1 for texts without date.
    """

    noun: str
    names: tuple[str, ...]
    codes: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Change:
    """Change of themes: before, after, error (of after - before); clear : 1 if it clearly rises, -1 if it falls."""

    before: Vector
    after: Vector
    error: Vector
    clear: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Trends:
    """Changes from the first third of the texts, up to one date, to the last third, from another date."""

    until: np.datetime64
    since: np.datetime64
    mentions: Change
    tone: Change


def periods_of(times: Times) -> Periods:
    """Choose periods that are long enough to hold many texts and short enough to show changes.

    The shortest of `UNITS` that gives at most MOST periods with ENOUGH texts each on average. With too few texts for
    that, the longest that gives FEWEST. Ends with few texts are merged with their neighbours.
    """
    dated = np.sort(times[~np.isnat(times)])
    stray = int(STRAY * dated.size)
    inner = dated[stray : dated.size - stray]
    unit = _unit(inner)
    (low, high), index = unit.index(inner[[0, -1]]).tolist(), unit.index(dated)
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
    codes = np.where(np.isnat(times), -1, np.clip(unit.index(times), first, last) - first)
    return Periods(unit.noun, tuple(names), codes)


def _unit(times: Times) -> PeriodUnit:
    """Length of periods for sorted days."""
    n_periods = {unit: int(np.ptp(unit.index(times[[0, -1]]))) + 1 for unit in UNITS}
    fitting = [unit for unit in UNITS if n_periods[unit] <= MOST]
    several = [unit for unit in fitting if n_periods[unit] >= FEWEST]
    plenty = [unit for unit in several if times.size >= ENOUGH * n_periods[unit]]
    return (plenty or several[-1:] or fitting)[0]


def compare_periods(mentions: Mentions, periods: Periods) -> GroupComparison:
    """Compare texts by period."""
    return compare(mentions, periods.codes, periods.names)


def trends_of(mentions: Mentions, times: Times) -> Trends | None:
    """Compare the first third of the texts, by date, with the last; None if all have one date.

    Texts of one day stay together. The threshold for a clear change keeps the probability that any theme without a
    change is marked at FALSE_ALARM.
    """
    dated = np.sort(times[~np.isnat(times)])
    until, since = dated[(dated.size - 1) // 3], dated[-1 - (dated.size - 1) // 3]
    if until == since:  # one day holds the middle third: compare it with the days before, or else after
        other = dated[dated < until] if until > dated[0] else dated[dated > until]
        if not other.size:
            return None
        until, since = (other[-1], since) if other[0] < since else (until, other[0])
    codes = np.select([times <= until, times >= since], [0, 1], -1)
    both = compare(mentions, codes, ("first", "last"))
    limit = norm.isf(FALSE_ALARM / 2 / max(both.spoken.shape[1], 1))
    enough = (both.spoken >= FEW).all(axis=0)
    changes = []
    for means in (both.mentions, both.tone):
        before, after = means.mean
        error = np.hypot(*means.error)
        clear = enough & (np.abs(after - before) > limit * error)
        changes.append(Change(before, after, error, np.where(clear, np.sign(after - before), 0).astype(np.int64)))
    return Trends(until, since, *changes)


def day_name(day: np.datetime64) -> str:
    """Return a date as text, such as "2 Mar 2015"."""
    year, month, number = str(day).rsplit("-", 2)
    return f"{int(number)} {MONTHS[int(month) - 1]} {year}"
