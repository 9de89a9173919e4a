"""Poisson: counts whose variance is their mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from textsignal.arrays import Vector
from textsignal.families.counts import LARGEST_ETA, Counts
from textsignal.families.negative_binomial import NegativeBinomial

#: Dispersion for effects of words.
SCATTER_OF_WORDS = 0.3


@dataclass(frozen=True, repr=False)
class Poisson(Counts):
    """Counts: response = Poisson(exp(eta)).

    Examples
    --------
    >>> Poisson().mean(np.log([1.0, 7.0]))
    array([1., 7.])
    """

    name: ClassVar[str] = "poisson"

    @property
    def of_words(self) -> NegativeBinomial:
        """Counts with some scatter: large ones, whose slopes would drown all others, count less."""
        return NegativeBinomial(SCATTER_OF_WORDS)

    def learn(self, y: ArrayLike) -> Self:
        """Nothing is left open; raises where responses are no counts."""
        self._check(y)
        return self

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """Loss exp(eta) - y eta, going on as a line where no count is so large."""
        return self.mean(eta) * (1 + np.maximum(eta - LARGEST_ETA, 0.0)) - y * eta

    def best_loss(self, y: Vector) -> Vector:
        """The loss at exp(eta) = y."""
        return y - special.xlogy(y, y)

    def gradient(self, y: Vector, eta: Vector) -> Vector:
        """Gradient exp(eta) - y."""
        return self.mean(eta) - y

    def curvature(self, y: Vector, eta: Vector) -> Vector:
        """Curvature exp(eta), kept above 0."""
        return np.maximum(self.mean(eta), np.finfo(float).tiny) + np.zeros(np.shape(y))

    def distribution(self, eta: Vector) -> Any:
        """Frozen scipy.stats.poisson."""
        return stats.poisson(self.mean(eta))
