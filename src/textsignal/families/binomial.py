"""Successes in trials: scales of equal steps (Binomial, BetaBinomial) and shares (Proportion)."""

# ruff: noqa: D102 -- methods without a docstring are described in Family

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.base import (
    BetweenEnds,
    above_zero,
    bell,
    best_constant,
    expit,
    flat_between,
    halved,
    known,
    softplus,
)
from textsignal.families.responses import as_numbers, check_whole, constant_response, observed, raise_at
from textsignal.stored_values import LARGEST_WHOLE, Number, rule


class Logistic(BetweenEnds):
    """Successes y in `_steps` trials; y may be any number from 0 to that."""

    _steps: Any = 1

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """Loss -[y log p + (n - y) log(1 - p)] = n log(1 + exp(eta)) - y eta."""
        return self._steps * softplus(eta) - y * eta

    def best_loss(self, y: Vector) -> Vector:
        """The loss at p = y / n."""
        share = y / self._steps
        return -self._steps * (special.xlogy(share, share) + special.xlogy(1 - share, 1 - share))

    def gradient(self, y: Vector, eta: Vector) -> Vector:
        """Gradient n p - y: the paper's q."""
        return self._steps * expit(eta) - y

    def curvature(self, y: Vector, eta: Vector) -> Vector:
        """Curvature n p (1 - p), kept above 0 if p rounds to 0 or 1."""
        return above_zero(self._steps * bell(eta))


#: The widest scale that is learnt from the data alone; a wider one is more likely a stray code such as 999.
WIDEST_LEARNT_SCALE = 100
#: The widest scale: every level is listed and has a probability.
WIDEST_SCALE = 1_000_000
#: A response is on the scale if it is at most this far from a level, in steps.
NEAR = 1e-6
#: The smallest step of a stored scale: levels are rounded to ten digits.
LEAST_STEP = 1e-9


@dataclass(frozen=True, repr=False)
class Scale(BetweenEnds):
    """Levels lowest, lowest + step, ..., lowest + n step; the mean is lowest + n step / (1 + exp(-eta))."""

    n: int | None = field(default=None, metadata=rule(least=1, most=WIDEST_SCALE))
    lowest: Number | None = field(default=None, metadata=rule(least=-LARGEST_WHOLE, most=LARGEST_WHOLE))
    step: Number = field(default=1, metadata=rule(least=LEAST_STEP, most=LARGEST_WHOLE))

    def __post_init__(self) -> None:
        kind = type(self).__name__
        if self.n is not None and not _is_number(self.n, whole=True):
            raise InputError(f"{kind}: n={self.n!r} is not a whole number")
        if not _is_number(self.step) or self.step <= 0:
            raise InputError(f"{kind}: step={self.step!r} is not a number above 0")
        if self.lowest is not None and not _is_number(self.lowest, whole=self.step == 1):
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
        """Define the scale by all its levels, by the lowest and highest, or by these and the step: `(1, 5, .5)`."""
        values, step = split_levels(levels)
        span = (values[-1] - values[0]) / step if values.size else 0.0
        whole = step != 1 or np.array_equal(values, np.round(values))
        if values.size < 2 or not np.all(np.isfinite(values)) or not whole or abs(span - round(span)) > NEAR:
            raise InputError(f"levels={levels!r}: give at least two whole numbers, such as (1, 5), or (1, 5, 0.5)")
        if span > WIDEST_SCALE:
            ends = f"({plain(values[0])}, {plain(values[-1])})"
            raise InputError(f"levels={ends} is too wide a scale; give at most {WIDEST_SCALE:,} steps")
        return cls(n=round(span), lowest=plain(values[0]), step=plain(step))

    @property
    def levels(self) -> NDArray[Any]:
        if self.step == 1:
            return np.arange(self._low, self._low + self._steps + 1)
        return np.round(self._low + self.step * np.arange(self._steps + 1), 10)

    @property
    def of_words(self) -> Binomial:
        """The binomial on the same scale: it learns from the same sums, and scatter changes effects little."""
        return Binomial(self.n, self.lowest, self.step)

    @property
    def from_zero(self) -> Self:
        return replace(self, lowest=0)

    def learn(self, y: ArrayLike) -> Self:
        if self.n is not None and self.lowest is not None:
            return self
        numbers = as_numbers(y)
        if self.step == 1:
            check_whole(
                numbers,
                f"not a whole number; the {self.name} family takes whole-numbered levels such as 1 to 5, or a step: "
                'levels=(1, 5, 0.5); family="ordinal" takes any few levels and family="gaussian" any numbers',
            )
        values = observed(numbers)
        low = plain(values.min()) if self.lowest is None else self.lowest
        n = round((values.max() - low) / self.step) if self.n is None else self.n
        if n < 1:
            raise constant_response(values[0])
        if n > WIDEST_LEARNT_SCALE and self.n is None:
            raise stray_code(low, plain(low + n * self.step))
        return replace(self, n=n, lowest=low)

    def encode(self, y: ArrayLike) -> Vector:
        values = as_numbers(y)
        steps = (values - self._low) / self.step
        near = np.round(steps) if self.step != 1 else steps
        off = np.abs(steps - np.round(steps)) > NEAR
        bad = ~np.isnan(steps) & (off | (near < 0) | (near > self._steps))
        if bad.any():
            raise_at(bad, values, f"not one of the levels {self.described}", self._wider(values[~np.isnan(values)]))
        return near

    @property
    def described(self) -> str:
        """The levels in words, such as "1 to 5"."""
        high = plain(self._low + self._span)
        return f"{self._low} to {high}" + (f" in steps of {self.step:g}" if self.step != 1 else "")

    def _wider(self, values: Vector) -> str:
        """Advice on a scale or family that takes these responses."""
        low, high = min(values.min(), self._low), max(values.max(), self._low + self._span)
        if np.array_equal(values, np.round(values)) and high - low <= WIDEST_LEARNT_SCALE:
            return f'levels=({plain(low)}, {plain(high)}) would fit, family="gaussian" takes any numbers'
        return 'family="gaussian" would fit'

    @property
    def _span(self) -> float:
        return self._steps if self.step == 1 else self._steps * self.step

    _steps = known("n", int)
    _low = known("lowest")


def stray_code(low: object, high: object) -> InputError:
    """Return the error for a range of responses that is too wide for a scale."""
    return InputError(
        f"responses run from {low} to {high}, which looks like a stray code rather than a scale; "
        f"give the scale, e.g. levels=(1, 5), or levels=({low}, {high}) if that is meant"
    )


def split_levels(levels: ArrayLike) -> tuple[Vector, float]:
    """Return distinct levels in order, and the step between them, given or found: `(lowest, highest, step)`."""
    try:
        numbers = np.asarray(levels, dtype=float).ravel()
    except (TypeError, ValueError):
        return np.empty(0), 1.0
    if numbers.size == 3 and numbers[0] < numbers[1] > numbers[2] and 0 < numbers[2] <= numbers[1] - numbers[0]:
        return numbers[:2], float(numbers[2])
    values = np.unique(numbers)
    gaps = np.diff(values)
    if values.size > 2 and np.ptp(gaps) < NEAR and not np.array_equal(values, np.round(values)):
        return values, float(np.round(gaps[0], 10))
    return values, 1.0


@cache
def log_ways(steps: int) -> Vector:
    """Return (steps + 1,) log C(steps, l)."""
    counts = np.arange(steps + 1.0)
    return -special.betaln(counts + 1, steps - counts + 1) - np.log(steps + 1)


def plain(value: float) -> Any:
    """Return a whole number as int, others rounded to ten digits."""
    return int(value) if value == round(value) else round(float(value), 10)


def _is_number(value: Any, whole: bool = False) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return False
    try:
        return math.isfinite(value) and (not whole or value == int(value))
    except OverflowError:  # a whole number that no float holds
        return whole


@dataclass(frozen=True, repr=False)
class Binomial(Scale, Logistic):
    """The paper's rating model: response = lowest + step * Binomial(n, 1 / (1 + exp(-eta))).

    For any bounded scale of equal steps: 1 to 5 stars is n=4, lowest=1; 0 to 10 is n=10, lowest=0; half stars are
    step=0.5. Settings that are None are learnt from the smallest and largest response in training.

    Parameters
    ----------
    n : number of steps from the lowest to the highest level; None to learn it.
    lowest : lowest level; None to learn it.
    step : from one level to the next.

    Examples
    --------
    >>> stars = Binomial.from_levels([1, 2, 3, 4, 5])
    >>> stars
    Binomial(n=4, lowest=1)
    >>> stars.mean(np.array([0.0, 2.0])).round(2)
    array([3.  , 4.52])
    >>> stars.level(np.array([-0.2, 2.0]), "round")
    array([3, 5])
    >>> Binomial().learn([0, 3, 10])
    Binomial(n=10, lowest=0)
    >>> Binomial.from_levels((1, 5, 0.5))
    Binomial(n=8, lowest=1, step=0.5)
    """

    name: ClassVar[str] = "binomial"

    def distribution(self, eta: Vector) -> Any:
        if self.step == 1:
            return stats.binom(self._steps, special.expit(eta), loc=self._low)
        return super().distribution(eta)

    def _probabilities(self, eta: Vector) -> Vector:
        p = np.asarray(special.expit(eta))
        return stats.binom.pmf(np.arange(self._steps + 1), self._steps, p[..., None])

    def _place(self, eta: Vector, rule: str) -> NDArray[np.int64]:
        p = special.expit(eta)
        place = np.floor(self._steps * p + 0.5) if rule == "round" else np.floor((self._steps + 1) * p)
        return np.clip(place, 0, self._steps).astype(np.int64)


#: The most steps: each is a term of the loss.
MOST_STEPS = 1000
#: Range of dispersion; below the lower end it is 0, a binomial.
LEAST_DISPERSION, MOST_DISPERSION = 1e-6, 1e3
#: Range of the linear predictor that is best for a single response, up and down.
FURTHEST_LOGIT = 40.0


@dataclass(frozen=True, repr=False)
class BetaBinomial(Scale):
    """A `Binomial` whose chance scatters around p = 1 / (1 + exp(-eta)), by a beta distribution.

        P(y) = C(n, y) prod_{j<y} (p + j d) prod_{j<n-y} (1 - p + j d) / prod_{j<n} (1 + j d)

    d is the dispersion: 0 for the binomial, 1 / concentration of the beta distribution; None to learn it.
    """

    name: ClassVar[str] = "beta-binomial"

    dispersion: Number | None = field(default=None, metadata=rule(least=0))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n is not None and self.n > MOST_STEPS:
            raise InputError(f"BetaBinomial: n={self.n} is too wide a scale; n must be {MOST_STEPS:,} or less")
        if self.dispersion is not None and not 0 <= self.dispersion < np.inf:
            raise InputError(f"BetaBinomial: dispersion={self.dispersion!r} must be a number of at least 0")

    def learn(self, y: ArrayLike) -> Self:
        scaled = super().learn(y)
        if self.dispersion is not None:
            return scaled
        encoded = scaled.encode(y)
        values, counts = np.unique(encoded[~np.isnan(encoded)], return_counts=True)
        often = counts.astype(float)
        constant = best_constant(scaled.of_words, values, often)
        return replace(scaled, dispersion=1.0).refit(values, np.full(values.size, constant), often)

    def loss(self, y: Vector, eta: Vector) -> Vector:
        return -self._log_likelihood(y, eta, self._dispersion)

    def best_loss(self, y: Vector) -> Vector:
        """The loss at the best p: loss is convex in p, so its slope changes sign once."""
        values, places = np.unique(y, return_inverse=True)
        low, high = halved(lambda eta: self.gradient(values, eta) < 0, values.shape, -FURTHEST_LOGIT, FURTHEST_LOGIT)
        inside = self.loss(values, (low + high) / 2)
        at_ends = np.minimum(self.loss(values, low - FURTHEST_LOGIT), self.loss(values, high + FURTHEST_LOGIT))
        return np.minimum(inside, at_ends)[places].reshape(np.shape(y))

    def gradient(self, y: Vector, eta: Vector) -> Vector:
        """Gradient (1 - p) sum_{j<n-y} ... - ..., from d log(p + j d) = (1 - p) p / (p + j d)."""
        p, q = expit(eta), expit(-np.asarray(eta))
        total = np.zeros(np.broadcast_shapes(np.shape(y), np.shape(eta)))
        for j in range(self._steps):
            up, down = _part(p, j * self._dispersion), _part(q, j * self._dispersion)
            total += (self._steps - y > j) * (p * down) - (y > j) * (q * up)
        return total

    def curvature(self, y: Vector, eta: Vector) -> Vector:
        """Mean of gradient^2, which is that of the second derivative; the latter itself may be below 0."""
        p, q = expit(eta), expit(-np.asarray(eta))
        extras = [j * self._dispersion for j in range(self._steps)]
        ups = _summed_up([_part(p, extra) for extra in extras])
        downs = _summed_up([_part(q, extra) for extra in extras])
        slopes = p * downs[::-1] - q * ups
        return above_zero(np.sum(self._chances(eta) * slopes**2, axis=0)) + np.zeros(np.shape(y))

    def refit(self, y: Vector, eta: Vector, weight: Vector) -> Self:
        p, q = expit(eta), expit(-eta)

        def slope(log_dispersion: float) -> float:
            total, dispersion = np.zeros(len(y)), np.exp(log_dispersion)
            for j in range(1, self._steps):
                extra = j * dispersion
                total += j / (1 + extra) - (y > j) * j / (p + extra) - (self._steps - y > j) * j / (q + extra)
            return float(np.sum(weight * total))

        low, high = np.log(LEAST_DISPERSION), np.log(MOST_DISPERSION)
        start = float(np.log(np.clip(self._dispersion, LEAST_DISPERSION, MOST_DISPERSION)))
        log_dispersion = flat_between(slope, start, low, high)
        if log_dispersion == low:
            none, least = (np.sum(weight * self._log_likelihood(y, eta, d)) for d in (0.0, LEAST_DISPERSION))
            if none >= least:
                return self._with(dispersion=0.0)
        return self._with(dispersion=float(np.exp(log_dispersion)))

    def _place(self, eta: Vector, rule: str) -> NDArray[np.int64]:
        return super()._place(eta, rule) if rule == "mode" else self.of_words._place(eta, rule)

    def _probabilities(self, eta: Vector) -> Vector:
        return np.moveaxis(self._chances(eta), 0, -1)

    def _chances(self, eta: Vector) -> Vector:
        """(levels, ...)."""
        ups, downs = (_summed_up(list(parts)) for parts in zip(*self._steps_of(eta, self._dispersion), strict=True))
        logs = ups + downs[::-1] + log_ways(self._steps).reshape(-1, *[1] * np.ndim(eta))
        chances = np.exp(logs - logs.max(axis=0))
        return chances / chances.sum(axis=0)

    def _log_likelihood(self, y: Vector, eta: Vector, dispersion: float) -> Vector:
        total = np.zeros(np.broadcast_shapes(np.shape(y), np.shape(eta)))
        for j, (up, down) in enumerate(self._steps_of(eta, dispersion)):
            total += (y > j) * up + (self._steps - y > j) * down - np.log1p(j * dispersion)
        return total

    def _steps_of(self, eta: Vector, dispersion: float) -> Iterator[tuple[Vector, Vector]]:
        """log(p + j d) and log(1 - p + j d) for every j."""
        eta = np.asarray(eta, dtype=float)
        log_p, log_q, p, q = -softplus(-eta), -softplus(eta), expit(eta), expit(-eta)
        for extra in dispersion * np.arange(self._steps):
            yield (np.log(p + extra), np.log(q + extra)) if extra > 0 else (log_p, log_q)

    _dispersion = known("dispersion", float)


def _part(p: Vector, extra: float) -> Vector:
    """p / (p + extra)."""
    return p / (p + extra) if extra > 0 else np.ones_like(p)


def _summed_up(parts: list[Vector]) -> Vector:
    """(levels, ...) sums of the first 0, 1, ... parts."""
    sums = np.zeros((len(parts) + 1, *np.shape(parts[0])))
    for j, part in enumerate(parts):  # several times as fast as np.cumsum along this axis
        sums[j + 1] = sums[j] + part
    return sums


@dataclass(frozen=True, repr=False)
class Proportion(Logistic):
    """A binomial with other trials for each text: the response is the share of successes, its weight the trials.

    The mean is the expected share, and distribution and samples are of one trial.
    """

    name: ClassVar[str] = "proportion"

    def encode(self, y: ArrayLike) -> Vector:
        values = as_numbers(y)
        fits = 'give successes / trials, and trials as weights; family="poisson" takes counts, "gaussian" any number'
        raise_at((values < 0) | (values > 1), values, "not between 0 and 1", fits)
        return values

    def distribution(self, eta: Vector) -> Any:
        return stats.bernoulli(self.mean(eta))
