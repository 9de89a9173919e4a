"""AdjacentCategories: a scale of equal steps whose levels each have a frequency of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, reduce
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.base import MARGIN, halved, unknown_rule
from textsignal.families.binomial import Binomial
from textsignal.families.distributions import Discrete, nearest
from textsignal.families.logistic import above_zero
from textsignal.families.own import UNSEEN, OwnDerivatives, OwnPrior, prior_of_unseen, refit_moving, with_own
from textsignal.families.scale import Scale

#: The most levels that have an offset of their own.
MOST_LEVELS = 20
#: Linear predictors between which the one of a mean is looked for.
FURTHEST = 60.0
#: The smallest spread of levels in the middle of the scale: where one level has all the chance there is none.
LEAST_SPREAD = 1e-6


@dataclass(frozen=True, repr=False)
class AdjacentCategories(Scale):
    """Levels l = 0..n of a scale: P(l) = C(n, l) exp(a_l + l eta) / sum of all.

    Every offset a_l 0 is the binomial. Others let responses pile up at the ends, or miss a level, whatever the text.
    The logarithm of P(l + 1) / P(l) grows by eta at each step: the adjacent-categories logit model. As in the binomial
    the sum of responses is all that eta learns from, so that means are as good as the binomial's. Offsets have the sum
    0, and so have l a_l: eta keeps its constant.

    Parameters
    ----------
    n, lowest, step : the scale, as of `Binomial`.
    offsets : a_l of every level, lowest first; None to learn them.

    Examples
    --------
    >>> stars = AdjacentCategories(n=4, lowest=1, offsets=(1.0, -0.5, -1.0, -0.5, 1.0))
    >>> stars.distribution(np.array(0.0)).probabilities.round(2)
    array([0.22, 0.19, 0.18, 0.19, 0.22])
    >>> stars.mean(np.array([0.0, 2.0])).round(2)
    array([3.  , 4.86])
    """

    name: ClassVar[str] = "adjacent-categories"

    offsets: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n is not None and self.n >= MOST_LEVELS:
            raise InputError(
                f"AdjacentCategories: there are {self.n + 1:,} levels; there must be 2 to {MOST_LEVELS}; "
                'family="beta-binomial" takes more, family="gaussian" any numbers'
            )
        if self.offsets is None:
            return
        offsets = np.asarray(self.offsets, dtype=float)
        if self.n is None or offsets.shape != (self.n + 1,) or not np.all(np.isfinite(offsets)):
            raise InputError(f"AdjacentCategories: offsets={self.offsets!r} must be a number for each level")
        object.__setattr__(self, "offsets", tuple(offsets.tolist()))

    @property
    def of_words(self) -> Binomial:
        """The binomial on the same scale, which learns from the same sums."""
        return Binomial(self.n, self.lowest, self.step)

    @property
    def unit(self) -> float:
        """What moves the mean as 1 moves a binomial's, from the middle of the scale."""
        chances = self._probabilities(self.link(np.array(self._low + self._span / 2)))
        counts, places = np.arange(self._steps + 1.0), self._places
        together = float(chances @ (counts * places) - (chances @ counts) * (chances @ places))
        return self._steps / 4 / max(together, LEAST_SPREAD)

    def learn(self, y: ArrayLike) -> Self:
        """Fill in the scale, and offsets that give every level the frequency it has."""
        scaled = super().learn(y)
        if self.offsets is not None:
            return scaled
        encoded = scaled.encode(y)
        counts = np.bincount(encoded[~np.isnan(encoded)].astype(np.int64), minlength=scaled._steps + 1)
        logs = np.log(np.where(counts == 0, UNSEEN, counts)) - scaled._log_ways
        return replace(scaled, offsets=tuple(centred(logs).tolist()))

    def derivatives(self, y: Vector, eta: Vector) -> tuple[Vector, Vector, Vector]:
        """Loss, gradient and curvature from the same probabilities."""
        levels, places = np.asarray(y).astype(np.int64), self._places
        chances, log_sum = self._chances(eta)
        loss = log_sum - np.array(self._offsets)[levels] - places[levels] * np.asarray(eta)
        mean = _over_levels(places, chances)
        away = places.reshape(-1, *[1] * mean.ndim) - mean
        variance = np.sum(chances * away**2, axis=0)
        return loss, mean - places[levels], above_zero(variance) + np.zeros(np.shape(y))

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """Loss log sum_l exp(log C(n, l) + a_l + l eta) - a_y - y eta."""
        return self.derivatives(y, eta)[0]

    def best_loss(self, y: Vector) -> Vector:
        """The loss without a slope; at the ends of the scale, where nothing else is left."""
        inside = self.loss(np.arange(self._steps + 1.0), self._where(self._places, self._places))
        inside[[0, -1]] = 0.0
        return inside[np.asarray(y).astype(np.int64)]

    def gradient(self, y: Vector, eta: Vector) -> Vector:
        """Gradient sum_l l P(l) - y."""
        return self.derivatives(y, eta)[1]

    def curvature(self, y: Vector, eta: Vector) -> Vector:
        """Curvature: the variance of l, kept above 0."""
        return self.derivatives(y, eta)[2]

    def mean(self, eta: Vector) -> Vector:
        """The expected level."""
        return self._low + self.step * _over_levels(np.arange(self._steps + 1.0), self._chances(eta)[0])

    def link(self, mean: Vector) -> Vector:
        """The eta of a mean that is kept `MARGIN` of the scale off its ends, by halving."""
        means = np.clip((mean - self._low) / self._span, MARGIN, 1 - MARGIN) * self._steps
        return self._where(np.arange(self._steps + 1.0), means)

    def level(self, eta: Vector, rule: str) -> NDArray[Any]:
        """One level: the nearest to the expected one, half up ("round"), or the most probable ("mode")."""
        if rule == "round":
            return self.levels[nearest(self.levels, self.mean(eta))]
        if rule == "mode":
            return self._level_at(np.argmax(self._probabilities(eta), axis=-1))
        raise unknown_rule(rule)

    def distribution(self, eta: Vector) -> Discrete:
        """Probabilities of all levels."""
        return Discrete(self.levels, self._probabilities(eta))

    def refit(self, y: Vector, eta: Vector, weight: Vector) -> Self:
        """Own parameters of the smallest loss."""
        return self if self._steps == 1 else refit_moving(self, y, eta, weight)

    @property
    def directions(self) -> Vector:
        """(own parameters, directions) in which they may move: offsets have no constant and no slope."""
        return flat_directions(self._steps + 1)

    def own_derivatives(self, y: Vector, eta: Vector, weight: Vector) -> OwnDerivatives:
        """In the offsets."""
        chances, _ = self._chances(eta)
        counts = self._counts(y, weight)
        weighted = weight * chances
        totals = weighted.sum(axis=1)
        bend = np.diag(totals) - np.einsum("li,mi->lm", weighted, chances)
        cross = chances * (self._places[:, None] - _over_levels(self._places, chances))
        return OwnDerivatives(counts, totals - counts, bend, cross)

    def own_prior(self, counts: Vector, mean: float) -> OwnPrior:
        """For levels that nobody gave."""
        return prior_of_unseen(self, counts, mean)

    def moved(self, step: Vector) -> Self | None:
        """Other offsets."""
        return with_own(self, offsets=tuple((np.array(self._offsets) + step).tolist()))

    def _counts(self, y: Vector, weight: Vector) -> Vector:
        """(levels,) weight of the documents of each."""
        return np.bincount(y.astype(np.int64), weights=weight, minlength=self._steps + 1).astype(float)

    def _where(self, values: Vector, means: Vector) -> Vector:
        """The eta at which the expected value (levels,) is this, by halving; values grow with the level."""
        low, high = np.full(np.shape(means), -FURTHEST), np.full(np.shape(means), FURTHEST)
        low, high = halved(lambda eta: self._probabilities(eta) @ values < means, low, high)
        return (low + high) / 2

    def _probabilities(self, eta: Vector) -> Vector:
        """(..., levels)."""
        return np.moveaxis(self._chances(eta)[0], 0, -1)

    def _chances(self, eta: Vector) -> tuple[Vector, Vector]:
        """(levels, ...) probabilities, and the logarithm of the sum they were divided by."""
        eta = np.asarray(eta, dtype=float)
        scores = np.multiply.outer(self._places, eta)
        scores += (self._log_ways + np.array(self._offsets)).reshape(-1, *[1] * eta.ndim)
        highest = scores.max(axis=0)
        np.exp(np.subtract(scores, highest, out=scores), out=scores)
        total = reduce(np.add, scores)
        scores /= total
        return scores, np.log(total) + highest

    @property
    def _places(self) -> Vector:
        """(levels,) what eta is multiplied by."""
        return np.arange(self._steps + 1.0)

    @property
    def _offsets(self) -> tuple[float, ...]:
        if self.offsets is None:
            raise InputError("the offsets of this AdjacentCategories are not known yet; give them, or call learn(y)")
        return self.offsets


def _over_levels(values: Vector, chances: Vector) -> Vector:
    """Sum over levels of values (levels,) times chances (levels, ...).

    Level by level: the bits of a document do not depend on how many there are.
    """
    return np.asarray(reduce(np.add, (value * chance for value, chance in zip(values, chances, strict=True))))


@cache
def flat_directions(n_levels: int) -> Vector:
    """(levels, levels - 2) directions without a constant and a slope."""
    return np.asarray(linalg.null_space(np.stack([np.ones(n_levels), np.arange(n_levels)])))


def centred(offsets: Vector) -> Vector:
    """The same less the straight line through them."""
    line = np.column_stack([np.ones(offsets.size), np.arange(offsets.size)])
    return offsets - line @ np.linalg.lstsq(line, offsets, rcond=None)[0]
