"""NegativeBinomial: counts that scatter more than a Poisson's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.base import best_between
from textsignal.families.counts import Counts
from textsignal.families.logistic import above_zero, softplus

#: Between these ends dispersion is looked for; at the lower one it is a Poisson.
LEAST_DISPERSION, MOST_DISPERSION = 1e-6, 1e4
#: From this size on Stirling's series is exact.
LARGE_SIZE = 50.0


@dataclass(frozen=True, repr=False)
class NegativeBinomial(Counts):
    """Counts with mean m = exp(eta) and variance m + dispersion m^2.

    Parameters
    ----------
    dispersion : 0 would be a Poisson; None to learn it.

    Examples
    --------
    >>> float(NegativeBinomial(dispersion=0.5).distribution(np.log(4.0)).var().round(6))
    12.0
    """

    name: ClassVar[str] = "negative-binomial"

    dispersion: float | None = None

    def __post_init__(self) -> None:
        if self.dispersion is not None and not 0 < self.dispersion < np.inf:
            raise InputError(f"NegativeBinomial: dispersion={self.dispersion!r} must be a number above 0")

    def learn(self, y: ArrayLike) -> Self:
        """Fill in the dispersion around one mean."""
        counts = self._check(y)
        if self.dispersion is not None:
            return self
        constant = np.full(counts.size, np.log(counts.mean()))
        return replace(self, dispersion=1.0).refit(counts, constant, np.ones(counts.size))

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """Negative log-likelihood without log y!, with a = dispersion: (y + 1/a) log(1 + a m) - y log(a m) - ..."""
        return self._loss(y, eta, self._dispersion)

    def best_loss(self, y: Vector) -> Vector:
        """The loss at m = y."""
        dispersion = self._dispersion
        own = (y + 1 / dispersion) * np.log1p(dispersion * y) - special.xlogy(y, dispersion * y)
        return own - _log_rising(y, 1 / dispersion)

    def gradient(self, y: Vector, eta: Vector) -> Vector:
        """Gradient (m - y) / (1 + a m)."""
        shifted = eta + np.log(self._dispersion)
        return special.expit(shifted) / self._dispersion - y * special.expit(-shifted)

    def curvature(self, y: Vector, eta: Vector) -> Vector:
        """Curvature (y + 1/a) a m / (1 + a m)^2, kept above 0."""
        shifted = eta + np.log(self._dispersion)
        return above_zero((y + 1 / self._dispersion) * special.expit(shifted) * special.expit(-shifted))

    def distribution(self, eta: Vector) -> Any:
        """Frozen scipy.stats.nbinom."""
        size = 1 / self._dispersion
        return stats.nbinom(size, size / (size + self.mean(eta)))

    def refit(self, y: Vector, eta: Vector, weight: Vector) -> Self:
        """The dispersion of the smallest loss."""

        def value(log_dispersion: float) -> float:
            return float(np.sum(weight * self._loss(y, eta, np.exp(log_dispersion))))

        def slope(log_dispersion: float) -> float:
            return float(np.sum(weight * _slope_in_log_dispersion(y, eta, np.exp(log_dispersion))))

        found = best_between(value, slope, np.log(LEAST_DISPERSION), np.log(MOST_DISPERSION))
        return replace(self, dispersion=float(np.exp(found)))

    def _loss(self, y: Vector, eta: Vector, dispersion: float) -> Vector:
        shifted = eta + np.log(dispersion)
        return (y + 1 / dispersion) * softplus(shifted) - y * shifted - _log_rising(y, 1 / dispersion)

    @property
    def _dispersion(self) -> float:
        if self.dispersion is None:
            raise InputError("the dispersion of this NegativeBinomial is not known yet; give it, or call learn(y)")
        return self.dispersion


def _log_rising(y: Vector, size: float) -> Vector:
    """log(Gamma(y + size) / Gamma(size)); of a large size by Stirling's series, where the difference would be noise."""
    if size < LARGE_SIZE:
        return special.gammaln(y + size) - special.gammaln(size)
    return y * (np.log(size) - 1) + (y + size - 0.5) * np.log1p(y / size) + _stirling(y + size) - _stirling(size)


def _stirling(x: Any) -> Any:
    """What Stirling's formula for log Gamma leaves out."""
    return (1 - (1 - 2 / (7 * x**2)) / (30 * x**2)) / (12 * x)


def _slope_in_log_dispersion(y: Vector, eta: Vector, dispersion: float) -> Vector:
    """Derivative of the loss in log(dispersion)."""
    shifted, size = eta + np.log(dispersion), 1 / dispersion
    share = special.expit(shifted)
    return size * (special.digamma(y + size) - special.digamma(size) - softplus(shifted) + share) - y * (1 - share)
