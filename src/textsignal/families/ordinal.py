"""Ordinal: a few ordered levels, by cumulative logits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, special

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.base import MARGIN, Common, as_numbers, halved, observed_numbers, raise_at, unknown_rule
from textsignal.families.binomial import Binomial
from textsignal.families.distributions import Discrete, nearest
from textsignal.families.labels import are_text, as_array, as_labels, encode_labels, first_text, numbers_of
from textsignal.families.logistic import above_zero, bell, expit, softplus
from textsignal.families.own import UNSEEN, OwnDerivatives, OwnPrior, prior_of_unseen, refit_moving, with_own
from textsignal.families.scale import split_levels
from textsignal.stored_values import LARGEST_WHOLE, Label, rule

#: The most levels that have thresholds of their own.
MOST_LEVELS = 20
#: How far from the thresholds linear predictors are looked for.
FURTHEST = 40.0
#: Between thresholds that are further apart nothing changes, and exp would overflow.
WIDEST_GAP = 700.0


@dataclass(frozen=True, repr=False)
class Ordinal(Common):
    """Ordered levels: P(response up to level l) = F(t_l - eta) with F the logistic function and sum of t_l = 0.

    The thresholds t are centred, so that eta keeps its constant. With two levels it is the logistic regression.
    The mean is the expected level, so distances between levels count there, and nowhere else.

    Parameters
    ----------
    values : the levels, lowest first: numbers, or text such as ("low", "mid", "high"), for which 1, 2, 3 stand in
        means; None to learn them from numbers, the order of text must be given.
    thresholds : one less than levels, increasing, with sum 0; None to learn them.

    Examples
    --------
    >>> grades = Ordinal(values=(1, 2, 3), thresholds=(-1.0, 1.0))
    >>> grades.distribution(np.array(0.0)).probabilities.round(2)
    array([0.27, 0.46, 0.27])
    >>> grades.mean(np.array([0.0, 2.0])).round(2)
    array([2.  , 2.68])
    """

    name: ClassVar[str] = "ordinal"
    classifies: ClassVar[bool] = True

    values: tuple[Label, ...] | None = field(default=None, metadata=rule(least=-LARGEST_WHOLE, most=LARGEST_WHOLE))
    thresholds: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.values is not None:
            text = np.ndim(self.values) == 1 and first_text(self.values) is not None
            values = as_labels(self.values) if text else _increasing("values", self.values)
            object.__setattr__(self, "values", values)
            if not 2 <= len(self._values) <= MOST_LEVELS:
                raise InputError(f"Ordinal: there are {len(self._values)} levels; there must be 2 to {MOST_LEVELS}")
        if self.thresholds is not None:
            object.__setattr__(self, "thresholds", _increasing("thresholds", self.thresholds))
            if self.values is None or len(self._values) != len(self._thresholds) + 1:
                raise InputError("Ordinal: there must be one threshold less than there are levels")

    @classmethod
    def from_levels(cls, levels: ArrayLike) -> Self:
        """Give the levels: all of them, the lowest and highest of whole numbers, or these and a step; text in order."""
        if first_text(levels) is not None:
            return cls(values=tuple(levels))  # type: ignore[arg-type]
        values, step = split_levels(levels)
        if values.size < 2 or not np.all(np.isfinite(values)):
            raise InputError(f"levels={levels!r}: give at least two numbers, such as (1, 5), (1, 5, 0.5) or all levels")
        if values.size == 2:
            n = round((values[1] - values[0]) / step)
            values = np.round(values[0] + step * np.arange(min(n, MOST_LEVELS) + 1), 10)
        return cls(values=tuple(values.tolist()))

    @property
    def levels(self) -> NDArray[Any]:
        """The levels, lowest first."""
        return as_array(self._values)

    @property
    def has_text(self) -> bool:
        """Whether levels are text."""
        return self.values is not None and are_text(self.values)

    @property
    def numbers(self) -> Vector:
        """The levels, or 1, 2, ... for text."""
        return numbers_of(self._values, first=1)

    @property
    def of_words(self) -> Binomial:
        """The binomial on the levels' numbers: a better R2 than the own loss on four of five sets of reviews."""
        return Binomial(len(self._values) - 1, 0)

    def learn(self, y: ArrayLike) -> Self:
        """Fill in levels, those that occur, and thresholds without any text."""
        found = self
        if self.values is None:
            self._check_order(y)
            distinct = np.unique(observed_numbers(y))
            if distinct.size > MOST_LEVELS:
                values = as_numbers(y)
                reason = (
                    f"the first of {distinct.size} levels, is it continuous? The ordinal family takes {MOST_LEVELS}"
                )
                raise_at(np.arange(values.size) == 0, values, reason, 'family="gaussian" takes any number')
            found = replace(self, values=tuple(distinct.tolist()))
        if found.thresholds is not None:
            return found
        encoded = found.encode(y)
        counts = np.bincount(encoded[~np.isnan(encoded)].astype(np.int64), minlength=len(found._values))
        counts = np.where(counts == 0, UNSEEN, counts)
        thresholds = special.logit(np.cumsum(counts)[:-1] / counts.sum())
        return replace(found, thresholds=tuple((thresholds - thresholds.mean()).tolist()))

    def encode(self, y: ArrayLike) -> Vector:
        """Number of each response's level from 0 on; NaN stays NaN, anything else raises, naming the row."""
        fits = "give levels=... with it"
        if self.has_text:
            return encode_labels(y, self._values, f'{fits}, or family="categorical" takes any classes', first=1)
        values, levels = as_numbers(y), self.numbers
        places = np.clip(np.searchsorted(levels, values - 1e-9), 0, levels.size - 1)
        bad = ~np.isnan(values) & (np.abs(levels[places] - values) > 1e-9)
        listed = ", ".join(f"{level:g}" for level in levels)
        raise_at(bad, values, f"not one of the levels {listed}", f'{fits}, or family="gaussian" takes any number')
        return np.where(np.isnan(values), np.nan, places.astype(float))

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """-log(F(b) - F(a)) = log(1 + e^-b) + log(1 + e^a) - log(1 - e^(a - b)), b and a the ends of y less eta."""
        places, low, high = self._ends(y)
        return softplus(eta - high) + softplus(low - eta) - self._log_gaps[places]

    def best_loss(self, y: Vector) -> Vector:
        """The loss midway between both ends; 0 at the ends of the scale."""
        _, low, high = self._ends(y)
        return -np.log(np.tanh((high - low) / 4))

    def gradient(self, y: Vector, eta: Vector) -> Vector:
        """Gradient F(-b) - F(a)."""
        _, low, high = self._ends(y)
        return expit(eta - high) - expit(low - eta)

    def curvature(self, y: Vector, eta: Vector) -> Vector:
        """Curvature F(b) F(-b) + F(a) F(-a), kept above 0."""
        _, low, high = self._ends(y)
        return above_zero(bell(eta - high) + bell(low - eta))

    def mean(self, eta: Vector) -> Vector:
        """The expected level: the lowest, and every step times the chance of getting above it."""
        levels = self.numbers
        above = expit(np.asarray(eta, dtype=float)[..., None] - np.array(self._thresholds))
        # Without BLAS, whose bits of one document depend on how many there are.
        return levels[0] + np.einsum("...l,l->...", above, np.diff(levels))

    def link(self, mean: Vector) -> Vector:
        """The eta of a mean that is kept `MARGIN` of the scale off its ends, by halving."""
        levels = self.numbers
        margin = MARGIN * (levels[-1] - levels[0])
        wanted = np.clip(mean, levels[0] + margin, levels[-1] - margin)
        low = np.full(np.shape(wanted), self._thresholds[0] - FURTHEST)
        high = np.full(np.shape(wanted), self._thresholds[-1] + FURTHEST)
        low, high = halved(lambda eta: self.mean(eta) < wanted, low, high)
        return (low + high) / 2

    def level(self, eta: Vector, rule: str) -> NDArray[Any]:
        """One level: the nearest to the expected one, half up ("round"), or the most probable ("mode")."""
        if rule == "round":
            return self.levels[nearest(self.numbers, self.mean(eta))]
        if rule == "mode":
            return self.levels[np.argmax(self._probabilities(eta), axis=-1)]
        raise unknown_rule(rule)

    def distribution(self, eta: Vector) -> Discrete:
        """Probabilities of all levels."""
        return Discrete(self.levels, self._probabilities(eta))

    @property
    def directions(self) -> Vector:
        """(thresholds, directions) in which they move: their sum stays 0."""
        return _centred_directions(len(self._thresholds))

    def own_derivatives(self, y: Vector, eta: Vector, weight: Vector) -> OwnDerivatives:
        """In the thresholds."""
        places, low, high = self._ends(y)
        n_levels = len(self._values)

        def by_level(values: Vector) -> Vector:
            return np.bincount(places, weights=weight * values, minlength=n_levels).astype(float)

        of_low, of_high = bell(low - eta), bell(eta - high)
        counts, gaps = by_level(np.ones(len(y))), np.diff(self._thresholds)
        pull = counts[1:-1] / np.expm1(np.minimum(gaps, WIDEST_GAP))
        stiff = pull / -np.expm1(-gaps)
        slope = by_level(expit(low - eta))[1:] - by_level(expit(eta - high))[:-1]
        slope[1:] -= pull
        slope[:-1] += pull
        diagonal = by_level(of_low)[1:] + by_level(of_high)[:-1]
        diagonal[1:] += stiff
        diagonal[:-1] += stiff
        cross, documents = np.zeros((n_levels + 1, len(y))), np.arange(len(y))
        cross[places, documents] = -of_low
        cross[places + 1, documents] = -of_high
        return OwnDerivatives(counts, slope, np.diag(diagonal) - np.diag(stiff, 1) - np.diag(stiff, -1), cross[1:-1])

    def own_prior(self, counts: Vector, mean: float) -> OwnPrior:
        """For levels that nobody gave."""
        return prior_of_unseen(self, counts, mean)

    def moved(self, step: Vector) -> Self | None:
        """Other thresholds; None where they do not grow."""
        thresholds = np.array(self._thresholds) + step
        if np.any(np.diff(thresholds) <= 0):
            return None
        return with_own(self, thresholds=tuple(thresholds.tolist()))

    def refit(self, y: Vector, eta: Vector, weight: Vector) -> Self:
        """Thresholds with sum 0 of the smallest loss."""
        return self if len(self._thresholds) == 1 else refit_moving(self, y, eta, weight)

    def _probabilities(self, eta: Vector) -> Vector:
        """(..., levels)."""
        eta = np.asarray(eta, dtype=float)[..., None]
        return np.exp(-self.loss(np.arange(float(len(self._values))), eta))

    def _ends(self, y: NDArray[Any]) -> tuple[NDArray[np.int64], Vector, Vector]:
        """Each level's place, and the thresholds below and above it, infinite at the ends of the scale."""
        places = np.asarray(y).astype(np.int64)
        return places, self._edges[places], self._edges[places + 1]

    @cached_property
    def _edges(self) -> Vector:
        """(levels + 1,) thresholds with infinity at both ends."""
        return np.concatenate([[-np.inf], self._thresholds, [np.inf]])

    @cached_property
    def _log_gaps(self) -> Vector:
        """(levels,) log(1 - exp(low - high)) of the ends of each."""
        return np.log(-np.expm1(-np.diff(self._edges)))

    @staticmethod
    def _check_order(y: ArrayLike) -> None:
        """Raise where levels are text, whose order nobody gave."""
        if (found := first_text(y)) is not None:
            raise InputError(
                f"response is text, and its order is not known (row {found[0] + 1}: {found[1]!r}; rows count from 1); "
                'give it, lowest first: levels=["low", "mid", "high"], or family="categorical" for classes without an '
                'order, family="bernoulli" for two'
            )

    @property
    def _values(self) -> tuple[Any, ...]:
        if self.values is None:
            raise InputError("the levels of this Ordinal are not known yet; give values, or call learn(y)")
        return self.values

    @property
    def _thresholds(self) -> tuple[float, ...]:
        if self.thresholds is None:
            raise InputError("the thresholds of this Ordinal are not known yet; give them, or call learn(y)")
        return self.thresholds


@cache
def _centred_directions(size: int) -> Vector:
    """(size, size - 1) directions that keep a sum."""
    return np.asarray(linalg.helmert(size).T) if size > 1 else np.zeros((1, 0))


def _increasing(name: str, numbers: Any) -> tuple[float, ...]:
    """Finite numbers in increasing order, whole ones as int where all are levels."""
    try:
        values = np.asarray(numbers, dtype=float)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or values.size == 0 or not np.all(np.isfinite(values)) or np.any(np.diff(values) <= 0):
        raise InputError(f"Ordinal: {name}={numbers!r} must be numbers in increasing order")
    whole = name == "values" and np.array_equal(values, np.round(values)) and np.abs(values).max() <= LARGEST_WHOLE
    return tuple(values.astype(np.int64).tolist() if whole else values.tolist())
