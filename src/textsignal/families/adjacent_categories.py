"""AdjacentCategories: a scale of equal steps whose levels each have a frequency of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from textsignal.families.scale import Scale

#: The most levels that have an offset of their own.
MOST_LEVELS = 20
#: How often a level that nobody gave counts as given: its probability is small, but not 0.
UNSEEN = 0.5
#: Newton steps of the offsets, and halvings of each.
MOST_STEPS, MOST_HALVINGS = 100, 40
#: How little the last of them moves an offset; and by how much a sum that has not changed may differ.
SETTLED, ROUNDING = 1e-11, 1e-14
#: Linear predictors between which the one of a mean is looked for.
FURTHEST = 60.0


@dataclass(frozen=True, eq=False)
class Seen:
    """What own parameters are fitted to.

    counts, sums : (levels,) weight, and weighted eta, of the documents of each level.
    eta, weight : (documents,).
    """

    counts: Vector
    sums: Vector
    eta: Vector
    weight: Vector


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
        return float(self._steps / 4 / (chances @ (counts * places) - (chances @ counts) * (chances @ places)))

    def learn(self, y: ArrayLike) -> Self:
        """Fill in the scale, and offsets that give every level the frequency it has."""
        scaled = super().learn(y)
        if self.offsets is not None:
            return scaled
        encoded = scaled.encode(y)
        counts = np.bincount(encoded[~np.isnan(encoded)].astype(np.int64), minlength=scaled._steps + 1)
        logs = np.log(np.where(counts == 0, UNSEEN, counts)) - scaled._log_ways
        return replace(scaled, offsets=tuple(centred(logs).tolist()))

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """Loss log sum_l exp(log C(n, l) + a_l + l eta) - a_y - y eta."""
        places = np.asarray(y).astype(np.int64)
        return self._log_sum(eta) - np.array(self._offsets)[places] - self._places[places] * np.asarray(eta)

    def best_loss(self, y: Vector) -> Vector:
        """The loss without a slope; at the ends of the scale, where nothing else is left."""
        inside = self.loss(np.arange(self._steps + 1.0), self._where(self._places, self._places))
        inside[[0, -1]] = 0.0
        return inside[np.asarray(y).astype(np.int64)]

    def gradient(self, y: Vector, eta: Vector) -> Vector:
        """Gradient sum_l l P(l) - y."""
        return self._probabilities(eta) @ self._places - self._places[np.asarray(y).astype(np.int64)]

    def curvature(self, y: Vector, eta: Vector) -> Vector:
        """Curvature: the variance of l, kept above 0."""
        counts, chances = self._places, self._probabilities(eta)
        away = counts - (chances @ counts)[..., None]
        return above_zero(np.sum(chances * away**2, axis=-1)) + np.zeros(np.shape(y))

    def mean(self, eta: Vector) -> Vector:
        """The expected level."""
        # Without BLAS, whose bits of one document depend on how many there are.
        return self._low + self.step * np.einsum("...l,l->...", self._probabilities(eta), np.arange(self._steps + 1.0))

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
        """Own parameters of the smallest loss, by Newton steps that are halved while it rises."""
        if self._steps == 1:
            return self
        seen, basis = self._seen(y.astype(np.int64), eta, weight), self._basis
        family, before = self, self._value(seen)
        for _ in range(MOST_STEPS):
            slope, bend = family._derivatives(seen)
            step = -basis @ np.linalg.solve(basis.T @ bend @ basis, basis.T @ slope)
            for halving in range(MOST_HALVINGS):
                other = family._moved(step / 2**halving)
                after = np.inf if other is None else other._value(seen)
                if other is not None and after <= before + ROUNDING * abs(before):
                    family, before = other, after
                    break
            else:
                break
            if np.abs(step).max() <= SETTLED * (1 + np.abs(family._offsets).max()):
                break
        return family

    def _seen(self, levels: NDArray[np.int64], eta: Vector, weight: Vector) -> Seen:
        """What own parameters are fitted to; a level that nobody gave counts as given a little, where others are."""
        n_levels = self._steps + 1
        counts = np.asarray(np.bincount(levels, weights=weight, minlength=n_levels), dtype=float)
        unseen = np.where(counts == 0, UNSEEN, 0.0)
        sums = np.bincount(levels, weights=weight * eta, minlength=n_levels) + unseen * np.average(eta, weights=weight)
        counts = counts + unseen
        return Seen(counts, sums, eta, weight * (counts.sum() / weight.sum()))

    @property
    def _basis(self) -> Vector:
        """(own parameters, directions) in which they may move: offsets have no constant and no slope."""
        return np.asarray(linalg.null_space(np.stack([np.ones(self._steps + 1), np.arange(self._steps + 1)])))

    def _moved(self, step: Vector) -> Self | None:
        """The family with moved own parameters; None where they cannot be."""
        return replace(self, offsets=tuple((np.array(self._offsets) + step).tolist()))

    def _value(self, seen: Seen) -> float:
        """The loss without y eta, in which there are no offsets."""
        return float(np.sum(seen.weight * self._log_sum(seen.eta)) - seen.counts @ np.array(self._offsets))

    def _derivatives(self, seen: Seen) -> tuple[Vector, Vector]:
        """Of `_value`, in the own parameters: first and second ones."""
        chances = self._probabilities(seen.eta)
        slope = np.einsum("i,il->l", seen.weight, chances) - seen.counts
        return slope, np.diag(slope + seen.counts) - np.einsum("i,il,im->lm", seen.weight, chances, chances)

    def _where(self, values: Vector, means: Vector) -> Vector:
        """The eta at which the expected value (levels,) is this, by halving; values grow with the level."""
        low, high = np.full(np.shape(means), -FURTHEST), np.full(np.shape(means), FURTHEST)
        low, high = halved(lambda eta: self._probabilities(eta) @ values < means, low, high)
        return (low + high) / 2

    def _probabilities(self, eta: Vector) -> Vector:
        """(..., levels)."""
        parts, _ = self._parts(eta)
        return parts / parts.sum(axis=-1, keepdims=True)

    def _log_sum(self, eta: Vector) -> Vector:
        """log of the sum that probabilities are divided by."""
        parts, highest = self._parts(eta)
        return np.log(parts.sum(axis=-1)) + highest

    def _parts(self, eta: Vector) -> tuple[Vector, Vector]:
        """(..., levels) what probabilities are proportional to, and the logarithm of what they were divided by."""
        scores = self._scores(eta)
        highest = scores.max(axis=-1)
        return np.exp(scores - highest[..., None]), highest

    def _scores(self, eta: Vector) -> Vector:
        """(..., levels) log C(n, l) + a_l + l eta."""
        return self._log_ways + np.array(self._offsets) + self._places * np.asarray(eta, dtype=float)[..., None]

    @property
    def _places(self) -> Vector:
        """(levels,) what eta is multiplied by."""
        return np.arange(self._steps + 1.0)

    @property
    def _offsets(self) -> tuple[float, ...]:
        if self.offsets is None:
            raise InputError("the offsets of this AdjacentCategories are not known yet; give them, or call learn(y)")
        return self.offsets


def centred(offsets: Vector) -> Vector:
    """The same less the straight line through them."""
    line = np.column_stack([np.ones(offsets.size), np.arange(offsets.size)])
    return offsets - line @ np.linalg.lstsq(line, offsets, rcond=None)[0]
