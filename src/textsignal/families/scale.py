"""Bounded scales of equal steps: 1 to 5 stars, 0 to 10, halves from 0.5 to 5."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.base import MARGIN, Common, as_numbers, check_whole, constant_response, raise_at
from textsignal.stored_values import LARGEST_WHOLE, Number, rule

#: The widest scale that is learnt from the data alone; a wider one is more likely a stray code such as 999.
WIDEST_LEARNT_SCALE = 100
#: The widest scale at all: every level is listed and given a probability.
WIDEST_SCALE = 1_000_000
#: A response is on the scale if it is so near to a level, in steps.
NEAR = 1e-6
#: The smallest step of a stored scale: levels are rounded to ten digits.
LEAST_STEP = 1e-9


@dataclass(frozen=True, repr=False)
class Scale(Common):
    """Levels lowest, lowest + step, ..., lowest + n step; the mean is lowest + n step / (1 + exp(-eta)).

    n : number of steps from the lowest to the highest level; None to learn it.
    lowest : lowest level; None to learn it.
    step : from one level to the next.
    """

    n: int | None = field(default=None, metadata=rule(least=1, most=WIDEST_SCALE))
    lowest: Number | None = field(default=None, metadata=rule(least=-LARGEST_WHOLE, most=LARGEST_WHOLE))
    step: Number = field(default=1, metadata=rule(least=LEAST_STEP, most=LARGEST_WHOLE))

    def __post_init__(self) -> None:
        kind = type(self).__name__
        if self.n is not None and not _is_whole(self.n):
            raise InputError(f"{kind}: n={self.n!r} is not a whole number")
        if not _is_number(self.step) or self.step <= 0:
            raise InputError(f"{kind}: step={self.step!r} is not a number above 0")
        if self.lowest is not None and not (_is_whole if self.step == 1 else _is_number)(self.lowest):
            raise InputError(f"{kind}: lowest={self.lowest!r} is not a {'whole ' if self.step == 1 else ''}number")
        if max(abs(self.lowest or 0), self.step) > LARGEST_WHOLE:
            what = f"lowest={self.lowest!r} and step={self.step!r}"
            raise InputError(f'{kind}: {what} must be at most {LARGEST_WHOLE:g}; family="gaussian" takes larger ones')
        if self.n is not None and self.n < 1:
            raise InputError(f"{kind}: n={self.n} gives fewer than two levels; n must be 1 or more")
        if self.n is not None and self.n > WIDEST_SCALE:
            raise InputError(f"{kind}: n={self.n} is too wide a scale; n must be {WIDEST_SCALE:,} or less")

    @classmethod
    def from_levels(cls, levels: ArrayLike) -> Self:
        """Give the scale by all its levels, by the lowest and highest, or by these and the step: `(1, 5, .5)`."""
        values, step = split_levels(levels)
        span = (values[-1] - values[0]) / step if values.size else 0.0
        if values.size < 2 or not np.all(np.isfinite(values)) or abs(span - round(span)) > NEAR:
            raise InputError(f"levels={levels!r}: give at least two whole numbers, such as (1, 5), or (1, 5, 0.5)")
        if step == 1 and not np.array_equal(values, np.round(values)):
            raise InputError(f"levels={levels!r}: give at least two whole numbers, such as (1, 5), or (1, 5, 0.5)")
        if span > WIDEST_SCALE:
            ends = f"({_plain(values[0])}, {_plain(values[-1])})"
            raise InputError(f"levels={ends} is too wide a scale; give at most {WIDEST_SCALE:,} steps")
        return cls(n=round(span), lowest=_plain(values[0]), step=_plain(step))

    @property
    def levels(self) -> NDArray[Any]:
        """All levels of the scale, lowest first."""
        if self.step == 1:
            return np.arange(self._low, self._low + self._steps + 1)
        return np.round(self._low + self.step * np.arange(self._steps + 1), 10)

    def learn(self, y: ArrayLike) -> Self:
        """Fill in n and lowest from the smallest and largest observed response."""
        if self.n is not None and self.lowest is not None:
            return self
        numbers = as_numbers(y)
        if self.step == 1:
            check_whole(
                numbers,
                f"not a whole number; the {self.name} family takes whole-numbered levels such as 1 to 5, or a step: "
                'levels=(1, 5, 0.5); family="ordinal" takes any few levels and family="gaussian" any numbers',
            )
        values = numbers[~np.isnan(numbers)]
        if values.size == 0:
            raise InputError("no document has a response (all are missing), so the scale cannot be learnt")
        low = _plain(values.min()) if self.lowest is None else self.lowest
        n = round((values.max() - low) / self.step) if self.n is None else self.n
        if n < 1:
            raise constant_response(values[0])
        if n > WIDEST_LEARNT_SCALE and self.n is None:
            high = _plain(low + n * self.step)
            raise InputError(
                f"responses run from {low} to {high}, which looks like a stray code rather than a scale; "
                f"give the scale, e.g. levels=(1, 5), if {low} to {high} is meant say levels=({low}, {high})"
            )
        return replace(self, n=n, lowest=low)

    def encode(self, y: ArrayLike) -> Vector:
        """Count responses in steps, 0..n; NaN stays NaN, anything else off the scale raises, naming the row."""
        values = as_numbers(y)
        steps = (values - self._low) / self.step
        near = np.round(steps) if self.step != 1 else steps
        off = np.abs(steps - np.round(steps)) > NEAR
        bad = ~np.isnan(steps) & (off | (near < 0) | (near > self._steps))
        if bad.any():
            raise_at(bad, values, f"not one of the levels {self._named}", self._wider(values[~np.isnan(values)]))
        return near

    def mean(self, eta: Vector) -> Vector:
        """Mean lowest + n step p, the paper's expected rating 1 + 4 p."""
        return self._low + self._span * special.expit(eta)

    def link(self, mean: Vector) -> Vector:
        """logit of (mean - lowest) / (n step), kept `MARGIN` of the scale off its ends."""
        return special.logit(np.clip((mean - self._low) / self._span, MARGIN, 1 - MARGIN))

    def _level_at(self, steps: Vector) -> NDArray[Any]:
        """The level so many steps up, kept on the scale."""
        steps = np.clip(steps, 0, self._steps).astype(np.int64)
        return self._low + steps if self.step == 1 else self.levels[steps]

    @property
    def _log_ways(self) -> Vector:
        """(levels,) log C(n, l)."""
        return _log_ways(self._steps)

    @property
    def _named(self) -> str:
        high = _plain(self._low + self._span)
        return f"{self._low} to {high}" + (f" in steps of {self.step:g}" if self.step != 1 else "")

    def _wider(self, values: Vector) -> str:
        """What would take these responses."""
        low, high = min(values.min(), self._low), max(values.max(), self._low + self._span)
        if np.array_equal(values, np.round(values)) and high - low <= WIDEST_LEARNT_SCALE:
            return f'levels=({_plain(low)}, {_plain(high)}) would fit, family="gaussian" takes any numbers'
        return 'family="gaussian" would fit'

    @property
    def _span(self) -> float:
        return self._steps if self.step == 1 else self._steps * self.step

    @property
    def _steps(self) -> int:
        return self._known(self.n)

    @property
    def _low(self) -> Any:
        return self._known(self.lowest)

    def _known(self, value: Any) -> Any:
        if value is None:
            kind = type(self).__name__
            raise InputError(f"the scale of this {kind} is not known yet; give n and lowest, or call learn(y)")
        return value


def split_levels(levels: ArrayLike) -> tuple[Vector, float]:
    """Levels in order, each once, and the step between them: `(lowest, highest, step)`, or what lies between all.

    Examples
    --------
    >>> split_levels((1, 3, 0.5))
    (array([1., 3.]), 0.5)
    >>> split_levels([1, 1.5, 2])
    (array([1. , 1.5, 2. ]), 0.5)
    >>> split_levels((1, 5))
    (array([1., 5.]), 1.0)
    """
    try:
        given = np.asarray(levels, dtype=float).ravel()
    except (TypeError, ValueError):
        return np.empty(0), 1.0
    if given.size == 3 and given[0] < given[1] and 0 < given[2] <= given[1] - given[0] and given[2] < given[1]:
        return given[:2], float(given[2])
    values = np.unique(given)
    gaps = np.diff(values)
    if values.size > 2 and np.ptp(gaps) < NEAR and not np.array_equal(values, np.round(values)):
        return values, float(np.round(gaps[0], 10))
    return values, 1.0


@cache
def _log_ways(steps: int) -> Vector:
    """(steps + 1,) log C(steps, l)."""
    counts = np.arange(steps + 1.0)
    return -special.betaln(counts + 1, steps - counts + 1) - np.log(steps + 1)


def _plain(value: float) -> Any:
    """A whole number as int."""
    return int(value) if value == round(value) else round(float(value), 10)


def _is_number(value: Any) -> bool:
    if not isinstance(value, int | float | np.number) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float holds
        return False


def _is_whole(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and int(value) == value
    except (TypeError, ValueError, OverflowError):
        return False
