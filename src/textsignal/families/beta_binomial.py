"""BetaBinomial: a scale of equal steps on which responses scatter more than a binomial's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.base import halved
from textsignal.families.binomial import Binomial
from textsignal.families.deviances import best_constant
from textsignal.families.distributions import Discrete
from textsignal.families.logistic import above_zero, expit, softplus
from textsignal.families.own import flat_between, with_own
from textsignal.families.scale import Scale
from textsignal.stored_values import Number, rule

#: The most steps: every one is a term of the loss.
MOST_STEPS = 1000
#: Between these ends dispersion is looked for; below the lower one it is 0, a binomial.
LEAST_DISPERSION, MOST_DISPERSION = 1e-6, 1e3
#: Linear predictors between which the best one for a single response is looked for.
FURTHEST = 40.0


@dataclass(frozen=True, repr=False)
class BetaBinomial(Scale):
    """A binomial whose chance scatters around p = 1 / (1 + exp(-eta)), by a beta distribution.

        P(y) = C(n, y) prod_{j<y} (p + j d) prod_{j<n-y} (1 - p + j d) / prod_{j<n} (1 + j d)

    d is the dispersion: 0 for the binomial, 1 / concentration of the beta distribution.

    Parameters
    ----------
    n, lowest, step : the scale, as of `Binomial`.
    dispersion : d; None to learn it.

    Examples
    --------
    >>> BetaBinomial(n=4, lowest=1, dispersion=1.0).distribution(np.array(0.0)).probabilities.round(2)
    array([0.27, 0.16, 0.14, 0.16, 0.27])
    """

    name: ClassVar[str] = "beta-binomial"

    dispersion: Number | None = field(default=None, metadata=rule(least=0))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n is not None and self.n > MOST_STEPS:
            raise InputError(f"BetaBinomial: n={self.n} is too wide a scale; n must be {MOST_STEPS:,} or less")
        if self.dispersion is not None and not 0 <= self.dispersion < np.inf:
            raise InputError(f"BetaBinomial: dispersion={self.dispersion!r} must be a number of at least 0")

    @property
    def of_words(self) -> Binomial:
        """The binomial on the same scale: scatter changes effects little."""
        return Binomial(self.n, self.lowest, self.step)

    def learn(self, y: ArrayLike) -> Self:
        """Fill in the scale, and the dispersion around one mean."""
        scaled = super().learn(y)
        if self.dispersion is not None:
            return scaled
        encoded = scaled.encode(y)
        values, counts = np.unique(encoded[~np.isnan(encoded)], return_counts=True)
        often = counts.astype(float)
        constant = best_constant(scaled.of_words, values, often)
        return replace(scaled, dispersion=1.0).refit(values, np.full(values.size, constant), often)

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """Negative logarithm of P(y) without C(n, y)."""
        return -self._log_likelihood(y, eta, self._dispersion)

    def best_loss(self, y: Vector) -> Vector:
        """The loss at the best p: loss is convex in p, so its slope changes sign once."""
        values, places = np.unique(y, return_inverse=True)
        low, high = np.full(values.size, -FURTHEST), np.full(values.size, FURTHEST)
        low, high = halved(lambda eta: self.gradient(values, eta) < 0, low, high)
        found = self.loss(values, (low + high) / 2)
        at_ends = np.minimum(self.loss(values, low - FURTHEST), self.loss(values, high + FURTHEST))
        return np.minimum(found, at_ends)[places].reshape(np.shape(y))

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

    def level(self, eta: Vector, rule: str) -> NDArray[Any]:
        """One level: the expected response rounded half up ("round") or the most probable level ("mode")."""
        if rule == "mode":
            return self._level_at(np.argmax(self._probabilities(eta), axis=-1))
        return self.of_words.level(eta, rule)

    def distribution(self, eta: Vector) -> Discrete:
        """Probabilities of all levels."""
        return Discrete(self.levels, self._probabilities(eta))

    def refit(self, y: Vector, eta: Vector, weight: Vector) -> Self:
        """The dispersion of the smallest loss."""

        def value(dispersion: float) -> float:
            return -float(np.sum(weight * self._log_likelihood(y, eta, dispersion)))

        p, q = expit(eta), expit(-eta)

        def slope(log_dispersion: float) -> float:
            return float(np.sum(weight * self._slope_in_dispersion(y, p, q, np.exp(log_dispersion))))

        low, high = np.log(LEAST_DISPERSION), np.log(MOST_DISPERSION)
        start = float(np.log(np.clip(self._dispersion, LEAST_DISPERSION, MOST_DISPERSION)))
        found = flat_between(slope, start, low, high)
        none = found == low and value(0.0) <= value(LEAST_DISPERSION)
        return with_own(self, dispersion=0.0 if none else float(np.exp(found)))

    def _probabilities(self, eta: Vector) -> Vector:
        """(..., levels)."""
        return np.moveaxis(self._chances(eta), 0, -1)

    def _chances(self, eta: Vector) -> Vector:
        """(levels, ...)."""
        ups, downs = (_summed_up(list(parts)) for parts in zip(*self._steps_of(eta, self._dispersion), strict=True))
        logs = ups + downs[::-1] + self._log_ways.reshape(-1, *[1] * np.ndim(eta))
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

    def _slope_in_dispersion(self, y: Vector, p: Vector, q: Vector, dispersion: float) -> Vector:
        """Derivative of the loss in the dispersion."""
        total = np.zeros(len(y))
        for j in range(1, self._steps):
            extra = j * dispersion
            total += j / (1 + extra) - (y > j) * j / (p + extra) - (self._steps - y > j) * j / (q + extra)
        return total

    @property
    def _dispersion(self) -> float:
        if self.dispersion is None:
            raise InputError("the dispersion of this BetaBinomial is not known yet; give it, or call learn(y)")
        return self.dispersion


def _part(p: Vector, extra: float) -> Vector:
    """p / (p + extra)."""
    return p / (p + extra) if extra > 0 else np.ones_like(p)


def _summed_up(parts: list[Vector]) -> Vector:
    """(levels, ...) sums of the first 0, 1, ... parts."""
    sums = np.zeros((len(parts) + 1, *np.shape(parts[0])))
    for j, part in enumerate(parts):
        sums[j + 1] = sums[j] + part
    return sums
