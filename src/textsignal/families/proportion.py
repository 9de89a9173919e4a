"""Proportion: successes in trials whose number differs between documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from textsignal.arrays import Vector
from textsignal.families.base import MARGIN, Common, as_numbers, observed_numbers, raise_at
from textsignal.families.logistic import Logistic


@dataclass(frozen=True, repr=False)
class Proportion(Common, Logistic):
    """A binomial with other trials for each document: the response is the share of successes, its weight the trials.

    The loss of one trial is that of the share y; times the trials, it is the binomial's. The mean is the expected
    share, and distribution and samples are of one trial.

    Examples
    --------
    >>> successes, trials = np.array([3.0, 5.0]), np.array([4.0, 20.0])
    >>> y = Proportion().encode(successes / trials)
    >>> np.sum(trials * Proportion().loss(y, np.zeros(2))).round(4)
    np.float64(16.6355)
    """

    name: ClassVar[str] = "proportion"

    def learn(self, y: ArrayLike) -> Self:
        """Nothing is left open; raises where responses are no shares."""
        observed_numbers(self.encode(y))
        return self

    def encode(self, y: ArrayLike) -> Vector:
        """The shares themselves; anything but 0 to 1 raises, naming the row."""
        values = as_numbers(y)
        fits = 'give successes / trials, and trials as weights; family="poisson" takes counts, "gaussian" any number'
        raise_at((values < 0) | (values > 1), values, "not between 0 and 1", fits)
        return values

    def mean(self, eta: Vector) -> Vector:
        """The chance 1 / (1 + exp(-eta))."""
        return special.expit(eta)

    def link(self, mean: Vector) -> Vector:
        """logit of the chance, kept off 0 and 1."""
        return special.logit(np.clip(mean, MARGIN, 1 - MARGIN))

    def distribution(self, eta: Vector) -> Any:
        """Frozen scipy.stats.bernoulli: one trial."""
        return stats.bernoulli(self.mean(eta))
