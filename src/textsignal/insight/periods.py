"""Topics over time: periods that documents fall into, and what changes from the first to the last."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from textsignal.arrays import Vector
from textsignal.insight.beside import Times
from textsignal.insight.groups import FEW, GroupComparison, compare
from textsignal.reading.spoken import Spoken

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
