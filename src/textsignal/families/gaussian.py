"""Gaussian: any numbers, around a mean that is the linear predictor itself."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.base import Family, known
from textsignal.families.responses import LARGEST_RESPONSE, as_numbers, observed_numbers
from textsignal.stored_values import SMALLEST, Number, rule

#: The smallest deviation, as a share of the largest response, so that a perfect fit has a finite loss.
LEAST_PART = 1e-8
#: The smallest standard deviation of responses; and as a share of the largest, below which it is rounding.
LEAST_DEVIATION, ROUNDING = 1e-30, 1e-11


@dataclass(frozen=True, repr=False)
class Gaussian(Family):
    """Continuous responses: response = eta + deviation * noise.

    Parameters
    ----------
    deviation : standard deviation around the mean; None to learn it.

    Examples
    --------
    >>> Gaussian(deviation=2.0).distribution(np.array([90.0])).interval(0.9)[0].round(1)
    array([86.7])
    """

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
        """One standard deviation."""
        return self._deviation

    def in_unit(self, size: float) -> Self:
        """Divide the deviation by `size`."""
        return self if size == 1 else replace(self, deviation=self._deviation / size)

    def learn(self, y: ArrayLike) -> Self:
        """Estimate the standard deviation."""
        values = observed_numbers(y)
        deviation, largest = float(np.std(values)), float(np.abs(values).max())
        if deviation < max(LEAST_DEVIATION, ROUNDING * largest):
            raise InputError(
                f"responses differ too little: they run from {values.min():.17g} to {values.max():.17g}, "
                f"their standard deviation is {deviation:g}; subtract a constant, or give them in a smaller unit"
            )
        return self if self.deviation is not None else replace(self, deviation=deviation)

    def encode(self, y: ArrayLike) -> Vector:
        """Return the numbers themselves."""
        return as_numbers(y)

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """Loss ((y - eta) / deviation)^2 / 2 + log(deviation)."""
        return 0.5 * ((y - eta) / self._deviation) ** 2 + np.log(self._deviation)

    def best_loss(self, y: Vector) -> Vector:
        """The loss at eta = y."""
        return np.full(np.shape(y), np.log(self._deviation))

    def gradient(self, y: Vector, eta: Vector) -> Vector:
        """Gradient (eta - y) / variance."""
        return (eta - y) / self._deviation**2

    def curvature(self, y: Vector, eta: Vector) -> Vector:
        """Curvature 1 / variance."""
        return np.full(np.broadcast_shapes(np.shape(y), np.shape(eta)), self._deviation**-2)

    def mean(self, eta: Vector) -> Vector:
        """The linear predictor."""
        return np.array(eta, dtype=float)

    def link(self, mean: Vector) -> Vector:
        """The mean."""
        return np.array(mean, dtype=float)

    def distribution(self, eta: Vector) -> Any:
        """Frozen scipy.stats.norm."""
        return stats.norm(eta, self._deviation)

    def refit(self, y: Vector, eta: Vector, weight: Vector) -> Self:
        """The root of the mean squared error."""
        deviation = float(np.sqrt(np.average((y - eta) ** 2, weights=weight)))
        least = max(LEAST_PART * float(np.abs(y).max()), np.finfo(float).tiny ** 0.25)
        return self._with(deviation=max(deviation, least))

    _deviation = known("deviation", float)
