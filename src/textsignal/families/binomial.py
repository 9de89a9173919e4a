"""Binomial: responses on a bounded scale of equal steps, the paper's rating model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from textsignal.arrays import Vector
from textsignal.families.base import unknown_rule
from textsignal.families.distributions import Discrete
from textsignal.families.logistic import Logistic
from textsignal.families.scale import Scale


@dataclass(frozen=True, repr=False)
class Binomial(Scale, Logistic):
    """The paper's rating model: response = lowest + step * Binomial(n, 1 / (1 + exp(-eta))).

    For any bounded scale of equal steps: 1 to 5 stars is n=4, lowest=1; 0 to 10 is n=10, lowest=0; half stars are
    step=0.5. What is not given is learnt from the smallest and largest response seen in training.

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

    def level(self, eta: Vector, rule: str) -> NDArray[Any]:
        """One level: the expected response rounded half up ("round") or the most probable level ("mode")."""
        p = special.expit(eta)
        if rule == "round":
            return self._level_at(np.floor(self._steps * p + 0.5))
        if rule == "mode":
            return self._level_at(np.floor((self._steps + 1) * p))
        raise unknown_rule(rule)

    def distribution(self, eta: Vector) -> Any:
        """Frozen scipy.stats.binom on the user's scale, or the same in other steps."""
        p = special.expit(eta)
        if self.step == 1:
            return stats.binom(self._steps, p, loc=self._low)
        counts = np.arange(self._steps + 1)
        return Discrete(self.levels, stats.binom.pmf(counts, self._steps, np.asarray(p)[..., None]))
