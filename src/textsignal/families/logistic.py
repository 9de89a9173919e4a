"""The loss of successes in trials with the chance 1 / (1 + exp(-eta)), shared by all families of that kind."""

from __future__ import annotations

import numpy as np
from scipy import special

from textsignal.arrays import Vector


class Logistic:
    """Successes y in `_steps` trials; y may be any number from 0 to that."""

    @property
    def _steps(self) -> int:
        """Number of trials."""
        return 1

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
        """Curvature n p (1 - p), kept above 0 where p rounds to 0 or 1."""
        return above_zero(self._steps * bell(eta))


def softplus(eta: Vector) -> Vector:
    """log(1 + exp(eta)): the same as logaddexp(0, eta), from functions that NumPy vectorises."""
    return np.maximum(eta, 0.0) + np.log1p(np.exp(-np.abs(eta)))


def expit(eta: Vector) -> Vector:
    """1 / (1 + exp(-eta)): the same as SciPy's, from functions that NumPy vectorises."""
    small = np.exp(-np.abs(eta))
    return np.where(np.asarray(eta) >= 0, 1.0, small) / (1 + small)


def bell(eta: Vector) -> Vector:
    """p (1 - p) with p = 1 / (1 + exp(-eta)): the slope of that."""
    small = np.exp(-np.abs(eta))
    return small / (1 + small) ** 2


def above_zero(curvature: Vector) -> Vector:
    """A curvature that rounding may have taken to 0."""
    return np.maximum(curvature, np.finfo(float).tiny)
