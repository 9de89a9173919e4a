"""Responses without levels: counts with a rate exp(eta), and any numbers around a mean eta."""

# ruff: noqa: D102 -- methods without a docstring are described in Family

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.base import Family, above_zero, bell, expit, flat_between, known, softplus
from textsignal.families.responses import LARGEST_RESPONSE, as_numbers, check_whole, observed_numbers, raise_at
from textsignal.stored_values import SMALLEST, Number, rule

#: The rate is constant beyond this linear predictor: no count is that large, and its square must be finite.
LARGEST_ETA = 100.0
#: The largest count: beyond it floats hardly distinguish counts, and a fit from a rate of 1 does not get there.
LARGEST_COUNT = 1e12
#: The smallest rate that an expected response of another model may have.
LEAST_RATE = 1e-3


class Counts(Family):
    """Whole numbers from 0 on. Exposure, such as days or readers, enters as the offset log(exposure)."""

    #: A rate of 1 is one in an hour, or one in a year.
    has_origin: ClassVar[bool] = False

    def encode(self, y: ArrayLike) -> Vector:
        values = as_numbers(y)
        raise_at(values < 0, values, f"below 0; the {self.name} family takes counts", 'family="gaussian" would fit')
        reason = f"above {LARGEST_COUNT:g}, the largest count that the {self.name} family takes"
        raise_at(values > LARGEST_COUNT, values, reason, 'family="gaussian" takes larger numbers')
        check_whole(values, f'not a whole number; the {self.name} family takes counts, family="gaussian" any number')
        return values

    def mean(self, eta: Vector) -> Vector:
        return np.exp(np.minimum(eta, LARGEST_ETA))

    def link(self, mean: Vector) -> Vector:
        return np.log(np.maximum(mean, LEAST_RATE))


#: Range of dispersion; at the lower end it is a Poisson.
LEAST_DISPERSION, MOST_DISPERSION = 1e-6, 1e4
#: From this size on Stirling's series is exact.
LARGE_SIZE = 50.0


@dataclass(frozen=True, repr=False)
class NegativeBinomial(Counts):
    """Counts with mean m = exp(eta) and variance m + dispersion m^2; a dispersion of 0 would be a Poisson."""

    name: ClassVar[str] = "negative-binomial"

    dispersion: Number | None = field(default=None, metadata=rule(least=SMALLEST))

    def __post_init__(self) -> None:
        if self.dispersion is not None and not 0 < self.dispersion < np.inf:
            raise InputError(f"NegativeBinomial: dispersion={self.dispersion!r} must be a number above 0")

    def learn(self, y: ArrayLike) -> Self:
        counts = observed_numbers(self.encode(y))
        if self.dispersion is not None:
            return self
        values, often = np.unique(counts, return_counts=True)
        constant = np.full(values.size, np.log(counts.mean()))
        return replace(self, dispersion=1.0).refit(values, constant, often.astype(float))

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """Negative log-likelihood without log y!, with a = dispersion: (y + 1/a) log(1 + a m) - y log(a m) - ..."""
        dispersion = self._dispersion
        shifted = eta + np.log(dispersion)
        return (y + 1 / dispersion) * softplus(shifted) - y * shifted - _log_rising(y, 1 / dispersion)

    def best_loss(self, y: Vector) -> Vector:
        dispersion = self._dispersion
        own = (y + 1 / dispersion) * np.log1p(dispersion * y) - special.xlogy(y, dispersion * y)
        return own - _log_rising(y, 1 / dispersion)

    def gradient(self, y: Vector, eta: Vector) -> Vector:
        """Gradient (m - y) / (1 + a m)."""
        shifted = eta + np.log(self._dispersion)
        return expit(shifted) / self._dispersion - y * expit(-shifted)

    def curvature(self, y: Vector, eta: Vector) -> Vector:
        """Curvature (y + 1/a) a m / (1 + a m)^2, kept above 0."""
        return above_zero((y + 1 / self._dispersion) * bell(eta + np.log(self._dispersion)))

    def distribution(self, eta: Vector) -> Any:
        size = 1 / self._dispersion
        return stats.nbinom(size, size / (size + self.mean(eta)))

    def refit(self, y: Vector, eta: Vector, weight: Vector) -> Self:
        values, places = np.unique(y, return_inverse=True)
        often = np.bincount(places, weights=weight)

        def slope(log_dispersion: float) -> float:
            """Derivative of the loss in log(dispersion); terms without eta are summed over distinct counts."""
            shifted, size = eta + log_dispersion, np.exp(-log_dispersion)
            share = expit(shifted)
            rising = often @ (special.digamma(values + size) - special.digamma(size))
            return float(size * rising + np.sum(weight * (size * (share - softplus(shifted)) - y * (1 - share))))

        low, high = np.log(LEAST_DISPERSION), np.log(MOST_DISPERSION)
        log_dispersion = flat_between(slope, float(np.clip(np.log(self._dispersion), low, high)), low, high)
        return self._with(dispersion=float(np.exp(log_dispersion)))

    _dispersion = known("dispersion", float)


def _log_rising(y: Vector, size: float) -> Vector:
    """log(Gamma(y + size) / Gamma(size)); for a large size by Stirling's series: the difference would be noise."""
    if size < LARGE_SIZE:
        return special.gammaln(y + size) - special.gammaln(size)
    return y * (np.log(size) - 1) + (y + size - 0.5) * np.log1p(y / size) + _stirling(y + size) - _stirling(size)


def _stirling(x: Any) -> Any:
    """Remainder of Stirling's formula for log Gamma."""
    return (1 - (1 - 2 / (7 * x**2)) / (30 * x**2)) / (12 * x)


#: Dispersion for effects of words.
SCATTER_OF_WORDS = 0.3


@dataclass(frozen=True, repr=False)
class Poisson(Counts):
    """Counts: response = Poisson(exp(eta))."""

    name: ClassVar[str] = "poisson"

    @property
    def of_words(self) -> NegativeBinomial:
        """Counts with some scatter: large ones, whose slopes would dominate, count less."""
        return NegativeBinomial(SCATTER_OF_WORDS)

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """Loss exp(eta) - y eta, continued as a line beyond `LARGEST_ETA`."""
        return self.mean(eta) * (1 + np.maximum(eta - LARGEST_ETA, 0.0)) - y * eta

    def best_loss(self, y: Vector) -> Vector:
        return y - special.xlogy(y, y)

    def gradient(self, y: Vector, eta: Vector) -> Vector:
        """Gradient exp(eta) - y."""
        return self.mean(eta) - y

    def curvature(self, y: Vector, eta: Vector) -> Vector:
        """Curvature exp(eta), kept above 0."""
        return above_zero(self.mean(eta)) + np.zeros(np.shape(y))

    def distribution(self, eta: Vector) -> Any:
        return stats.poisson(self.mean(eta))


#: The smallest deviation, as a share of the largest response, so that a perfect fit has a finite loss.
LEAST_PART = 1e-8
#: The smallest standard deviation of responses; and as a share of the largest, below which it is rounding.
LEAST_DEVIATION, ROUNDING = 1e-30, 1e-11


@dataclass(frozen=True, repr=False)
class Gaussian(Family):
    """Continuous responses: response = eta + deviation * noise."""

    name: ClassVar[str] = "gaussian"
    largest_offset: ClassVar[float] = LARGEST_RESPONSE
    in_units: ClassVar[bool] = True
    has_origin: ClassVar[bool] = False

    deviation: Number | None = field(default=None, metadata=rule(least=SMALLEST))

    def __post_init__(self) -> None:
        if self.deviation is not None and not 0 < self.deviation < np.inf:
            raise InputError(f"Gaussian: deviation={self.deviation!r} must be a number above 0")

    @property
    def unit(self) -> float:
        return self._deviation

    def in_unit(self, size: float) -> Self:
        return self if size == 1 else replace(self, deviation=self._deviation / size)

    def learn(self, y: ArrayLike) -> Self:
        values = observed_numbers(y)
        deviation, largest = float(np.std(values)), float(np.abs(values).max())
        if deviation < max(LEAST_DEVIATION, ROUNDING * largest):
            raise InputError(
                f"responses differ too little: they run from {values.min():.17g} to {values.max():.17g}, "
                f"their standard deviation is {deviation:g}; subtract a constant, or give them in a smaller unit"
            )
        return self if self.deviation is not None else replace(self, deviation=deviation)

    def encode(self, y: ArrayLike) -> Vector:
        return as_numbers(y)

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """Loss ((y - eta) / deviation)^2 / 2 + log(deviation)."""
        return 0.5 * ((y - eta) / self._deviation) ** 2 + np.log(self._deviation)

    def best_loss(self, y: Vector) -> Vector:
        return np.full(np.shape(y), np.log(self._deviation))

    def gradient(self, y: Vector, eta: Vector) -> Vector:
        """Gradient (eta - y) / variance."""
        return (eta - y) / self._deviation**2

    def curvature(self, y: Vector, eta: Vector) -> Vector:
        """Curvature 1 / variance."""
        return np.full(np.broadcast_shapes(np.shape(y), np.shape(eta)), self._deviation**-2)

    def mean(self, eta: Vector) -> Vector:
        return np.array(eta, dtype=float)

    def link(self, mean: Vector) -> Vector:
        return np.array(mean, dtype=float)

    def distribution(self, eta: Vector) -> Any:
        return stats.norm(eta, self._deviation)

    def refit(self, y: Vector, eta: Vector, weight: Vector) -> Self:
        deviation = float(np.sqrt(np.average((y - eta) ** 2, weights=weight)))
        least = max(LEAST_PART * float(np.abs(y).max()), np.finfo(float).tiny ** 0.25)
        return self._with(deviation=max(deviation, least))

    _deviation = known("deviation", float)
