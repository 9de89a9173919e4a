"""Ordered levels with a parameter for each: Ordinal, AdjacentCategories and Stereotype."""

# ruff: noqa: D102 -- methods without a docstring are described in Family

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache, cached_property, reduce
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, special

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.base import (
    MARGIN,
    Family,
    OwnDerivatives,
    OwnPrior,
    above_zero,
    bell,
    expit,
    halved,
    known,
    softplus,
)
from textsignal.families.binomial import Binomial, Scale, log_ways, split_levels
from textsignal.families.classes import Labelled
from textsignal.families.responses import (
    are_text,
    as_labels,
    as_numbers,
    encode_labels,
    first_text,
    observed_numbers,
    raise_at,
)
from textsignal.stored_values import LARGEST_WHOLE, Label, rule

#: The most levels that have a parameter each.
MOST_LEVELS = 20
#: Weight of a level that was not observed: its probability is small, but not 0.
UNSEEN = 0.5
#: Newton steps of own parameters at most, and halvings of each.
MOST_NEWTON_STEPS, MOST_HALVINGS = 100, 40
#: Largest step at convergence; and relative rounding error of a sum.
SETTLED, ROUNDING = 1e-11, 1e-14


class ByLevel(Family):
    """Families with parameters for each level, which move with the coefficients."""

    def own_prior(self, counts: Vector, mean: float) -> OwnPrior:
        """Count every unobserved level `UNSEEN` times, at the average linear predictor."""
        levels = np.flatnonzero(counts == 0).astype(float)
        if not levels.size:
            n_own = len(self.directions)
            return OwnPrior(0.0, np.zeros(n_own), np.zeros((n_own, n_own)))
        eta, weight = np.full(levels.size, mean), np.full(levels.size, UNSEEN)
        own = self.own_derivatives(levels, eta, weight)
        return OwnPrior(UNSEEN * float(np.sum(self.loss(levels, eta))), own.slope, own.bend)

    def refit(self, y: Vector, eta: Vector, weight: Vector) -> Self:
        """Minimise the loss in own parameters by Newton steps, halved while the loss rises."""
        basis, mean = self.directions, float(np.average(eta, weights=weight))
        if not basis.size:
            return self
        family, own = self, self.own_derivatives(y, eta, weight)

        def value(family: Self) -> float:
            return float(np.sum(weight * family.loss(y, eta))) + float(family.own_prior(own.counts, mean).loss)

        before = value(family)
        for _ in range(MOST_NEWTON_STEPS):
            prior = family.own_prior(own.counts, mean)
            bend, slope = basis.T @ (own.bend + prior.bend) @ basis, basis.T @ (own.slope + prior.slope)
            step = -basis @ np.linalg.solve(bend, slope)
            for halving in range(MOST_HALVINGS):
                other = family.moved(step / 2**halving)
                after = np.inf if other is None else value(other)
                if other is not None and after <= before + ROUNDING * abs(before):
                    break
            else:
                break
            family, before = other, after
            if np.abs(step).max() <= SETTLED:
                break
            own = family.own_derivatives(y, eta, weight)
        return family

    def _by_level(self, y: NDArray[Any], weight: Vector | None = None) -> Vector:
        """(levels,) number of the texts of each, or sum of their weights."""
        counts = np.bincount(y.astype(np.int64, copy=False), weights=weight, minlength=self.levels.size)
        return counts.astype(float)

    def _counts(self, y: ArrayLike) -> Vector:
        """(levels,) number of the responses of each; `UNSEEN` instead of 0."""
        encoded = self.encode(y)
        counts = self._by_level(encoded[~np.isnan(encoded)])
        return np.where(counts == 0, UNSEEN, counts)


#: Distance from the thresholds within which linear predictors are searched for.
FURTHEST = 40.0
#: Gaps of thresholds are clipped here: nothing changes beyond, and exp would overflow.
WIDEST_GAP = 700.0


@dataclass(frozen=True, repr=False)
class Ordinal(ByLevel, Labelled):
    """Ordered levels: P(response up to level l) = F(t_l - eta) with F the logistic function and sum of t_l = 0.

    The thresholds t increase, and are centred so that eta keeps its constant. With two levels it is the logistic
    regression. The mean is the expected level, so distances between levels count there, and nowhere else; 1, 2, 3 stand
    for text such as ("low", "mid", "high"), whose order must be given.
    """

    name: ClassVar[str] = "ordinal"
    classifies: ClassVar[bool] = True
    first: ClassVar[int] = 1

    values: tuple[Label, ...] | None = field(default=None, metadata=rule(least=-LARGEST_WHOLE, most=LARGEST_WHOLE))
    thresholds: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.values is not None:
            text = np.ndim(self.values) == 1 and first_text(self.values) is not None
            values = as_labels(self.values) if text else _increasing("values", self.values)
            object.__setattr__(self, "values", values)
            if not 2 <= len(self._labels) <= MOST_LEVELS:
                raise InputError(f"Ordinal: there are {len(self._labels)} levels; there must be 2 to {MOST_LEVELS}")
        if self.thresholds is not None:
            object.__setattr__(self, "thresholds", _increasing("thresholds", self.thresholds))
            if self.values is None or len(self._labels) != len(self._thresholds) + 1:
                raise InputError("Ordinal: there must be one threshold less than there are levels")

    @classmethod
    def from_levels(cls, levels: ArrayLike) -> Self:
        """Define the levels: all, the lowest and highest of whole numbers, or these and a step; text in order."""
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
    def has_text(self) -> bool:
        return self.values is not None and are_text(self.values)

    @property
    def of_words(self) -> Binomial:
        """The binomial on the levels' numbers: a better R2 than the own loss on four of five sets of reviews."""
        return Binomial(len(self._labels) - 1, 0)

    def learn(self, y: ArrayLike) -> Self:
        family = self
        if self.values is None:
            if (text := first_text(y)) is not None:
                raise InputError(
                    f"response is text, and its order is not known (row {text[0] + 1}: {text[1]!r}; rows count from "
                    '1); give it, lowest first: levels=["low", "mid", "high"], or family="categorical" for classes '
                    'without an order, family="bernoulli" for two'
                )
            distinct = np.unique(observed_numbers(y))
            if distinct.size > MOST_LEVELS:
                values = as_numbers(y)
                many = f"the first of {distinct.size} levels, is it continuous? The ordinal family takes {MOST_LEVELS}"
                raise_at(np.arange(values.size) == 0, values, many, 'family="gaussian" takes any number')
            family = replace(self, values=tuple(distinct.tolist()))
        if family.thresholds is not None:
            return family
        counts = family._counts(y)
        thresholds = special.logit(np.cumsum(counts)[:-1] / counts.sum())
        return replace(family, thresholds=tuple((thresholds - thresholds.mean()).tolist()))

    def encode(self, y: ArrayLike) -> Vector:
        fits = "give levels=... with it"
        if self.has_text:
            return encode_labels(y, self._labels, f'{fits}, or family="categorical" takes any classes', self.first)
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
        # Without BLAS: its bits for one text depend on the number of texts.
        return levels[0] + np.einsum("...l,l->...", above, np.diff(levels))

    def link(self, mean: Vector) -> Vector:
        levels = self.numbers
        margin = MARGIN * (levels[-1] - levels[0])
        means = np.clip(mean, levels[0] + margin, levels[-1] - margin)
        least, most = self._thresholds[0] - FURTHEST, self._thresholds[-1] + FURTHEST
        low, high = halved(lambda eta: self.mean(eta) < means, np.shape(means), least, most)
        return (low + high) / 2

    @property
    def directions(self) -> Vector:
        """(thresholds, directions) in which thresholds change while their sum stays 0."""
        return _centred_directions(len(self._thresholds))

    def own_derivatives(self, y: Vector, eta: Vector, weight: Vector) -> OwnDerivatives:
        places, low, high = self._ends(y)
        of_low, of_high = bell(low - eta), bell(eta - high)
        below, above = weight * expit(low - eta), weight * expit(eta - high)
        counts, gaps = self._by_level(places, weight), np.diff(self._thresholds)
        pull = counts[1:-1] / np.expm1(np.minimum(gaps, WIDEST_GAP))
        stiff = pull / -np.expm1(-gaps)
        slope = self._by_level(places, below)[1:] - self._by_level(places, above)[:-1]
        slope[1:] -= pull
        slope[:-1] += pull
        diagonal = self._by_level(places, weight * of_low)[1:] + self._by_level(places, weight * of_high)[:-1]
        diagonal[1:] += stiff
        diagonal[:-1] += stiff
        cross, documents = np.zeros((len(self._edges), len(y))), np.arange(len(y))
        cross[places, documents] = -of_low
        cross[places + 1, documents] = -of_high
        return OwnDerivatives(counts, slope, np.diag(diagonal) - np.diag(stiff, 1) - np.diag(stiff, -1), cross[1:-1])

    def moved(self, step: Vector) -> Self | None:
        thresholds = np.array(self._thresholds) + step
        if np.any(np.diff(thresholds) <= 0):
            return None
        return self._with(thresholds=tuple(thresholds.tolist()))

    def _probabilities(self, eta: Vector) -> Vector:
        eta = np.asarray(eta, dtype=float)[..., None]
        return np.exp(-self.loss(np.arange(float(len(self._labels))), eta))

    def _ends(self, y: NDArray[Any]) -> tuple[NDArray[np.int64], Vector, Vector]:
        """Position of each level, and the thresholds below and above it, infinite at the ends of the scale."""
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

    _labels = known("values", tuple)
    _thresholds = known("thresholds", tuple)


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


#: Range of the linear predictor of a mean.
RANGE_OF_MEANS = -60.0, 60.0
#: The smallest spread of levels in the middle of the scale: one level may have all the probability.
LEAST_SPREAD = 1e-6


@dataclass(frozen=True, repr=False)
class AdjacentCategories(ByLevel, Scale):
    """Levels l = 0..n of a scale: P(l) = C(n, l) exp(a_l + l eta) / sum of all.

    With all offsets a_l = 0 it is the binomial. Other offsets let responses pile up at the ends, or skip a level,
    whatever the text. The logarithm of P(l + 1) / P(l) grows by eta at each step: the adjacent-categories logit model.
    As in the binomial, eta learns from the sum of responses alone, so that means are as good as the binomial's. The
    sums of a_l and of l a_l are 0, so that eta keeps its constant.
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
    def unit(self) -> float:
        """The change of eta that moves the mean as 1 moves a binomial's, from the middle of the scale."""
        chances = self._probabilities(self.link(np.array(self._low + self._span / 2)))
        counts, places = np.arange(self._steps + 1.0), self._places
        together = float(chances @ (counts * places) - (chances @ counts) * (chances @ places))
        return self._steps / 4 / max(together, LEAST_SPREAD)

    def learn(self, y: ArrayLike) -> Self:
        """Fill in the scale, and offsets that reproduce the frequency of every level."""
        scaled = super().learn(y)
        if self.offsets is not None:
            return scaled
        logs = np.log(scaled._counts(y)) - log_ways(scaled._steps)
        line = np.column_stack([np.ones(logs.size), np.arange(logs.size)])
        centred = logs - line @ np.linalg.lstsq(line, logs, rcond=None)[0]
        return replace(scaled, offsets=tuple(centred.tolist()))

    def derivatives(self, y: Vector, eta: Vector) -> tuple[Vector, Vector, Vector]:
        """Loss log sum_l C(n, l) exp(a_l + l eta) - a_y - y eta, gradient mean(l) - y, and curvature var(l) above 0."""
        levels, places = np.asarray(y).astype(np.int64), self._places
        chances, log_sum = self._chances(eta)
        loss = log_sum - np.array(self._offsets)[levels] - places[levels] * np.asarray(eta)
        mean = _over_levels(places, chances)
        away = places.reshape(-1, *[1] * mean.ndim) - mean
        variance = np.sum(chances * away**2, axis=0)
        return loss, mean - places[levels], above_zero(variance) + np.zeros(np.shape(y))

    def best_loss(self, y: Vector) -> Vector:
        """The loss at slope 0; at the ends of the scale 0, for infinite eta."""
        inside = self.loss(np.arange(self._steps + 1.0), self._where(self._places, self._places))
        inside[[0, -1]] = 0.0
        return inside[np.asarray(y).astype(np.int64)]

    def mean(self, eta: Vector) -> Vector:
        return self._low + self.step * _over_levels(np.arange(self._steps + 1.0), self._chances(eta)[0])

    def link(self, mean: Vector) -> Vector:
        means = np.clip((mean - self._low) / self._span, MARGIN, 1 - MARGIN) * self._steps
        return self._where(np.arange(self._steps + 1.0), means)

    @property
    def directions(self) -> Vector:
        """(own parameters, directions) in which they may move: offsets have no constant and no slope."""
        return _flat_directions(self._steps + 1)

    def own_derivatives(self, y: Vector, eta: Vector, weight: Vector) -> OwnDerivatives:
        chances, counts = self._chances(eta)[0], self._by_level(y, weight)
        totals, bend = _moments(chances, weight)
        cross = chances * (self._places[:, None] - _over_levels(self._places, chances))
        return OwnDerivatives(counts, totals - counts, bend, cross)

    def moved(self, step: Vector) -> Self | None:
        return self._with(offsets=tuple((np.array(self._offsets) + step).tolist()))

    def _where(self, values: Vector, means: Vector) -> Vector:
        """The eta with this expected value, by bisection; values : (levels,) increasing."""
        low, high = halved(lambda eta: self._probabilities(eta) @ values < means, np.shape(means), *RANGE_OF_MEANS)
        return (low + high) / 2

    def _probabilities(self, eta: Vector) -> Vector:
        return np.moveaxis(self._chances(eta)[0], 0, -1)

    def _chances(self, eta: Vector) -> tuple[Vector, Vector]:
        """(levels, ...) probabilities, and the logarithm of the sum they were divided by."""
        eta = np.asarray(eta, dtype=float)
        scores = np.multiply.outer(self._places, eta)
        scores += (log_ways(self._steps) + np.array(self._offsets)).reshape(-1, *[1] * eta.ndim)
        highest = scores.max(axis=0)
        np.exp(np.subtract(scores, highest, out=scores), out=scores)
        total = reduce(np.add, scores)
        scores /= total
        return scores, np.log(total) + highest

    @property
    def _places(self) -> Vector:
        """(levels,) factors of eta."""
        return np.arange(self._steps + 1.0)

    _offsets = known("offsets", tuple)


def _over_levels(values: Vector, chances: Vector) -> Vector:
    """Sum values (levels,) times chances (levels, ...) level by level: bits do not depend on the number of texts."""
    return np.asarray(reduce(np.add, (value * chance for value, chance in zip(values, chances, strict=True))))


def _moments(chances: Vector, weight: Vector) -> tuple[Vector, Vector]:
    """Weighted sums over texts of chances (levels,), and of their variances and covariances (levels, levels)."""
    weighted = weight * chances
    totals = weighted.sum(axis=1)
    return totals, np.diag(totals) - np.einsum("li,mi->lm", weighted, chances)


@cache
def _flat_directions(n_levels: int) -> Vector:
    """(levels, levels - 2) directions without a constant and a slope."""
    return np.asarray(linalg.null_space(np.stack([np.ones(n_levels), np.arange(n_levels)])))


#: Strength of the penalty on unequal distances, in texts: it keeps levels apart, and in order.
PRIOR = 1.0


@dataclass(frozen=True, repr=False)
class Stereotype(AdjacentCategories):
    """Levels l = 0..n of a scale: P(l) = C(n, l) exp(a_l + u_l eta) / sum of all, with u_0 = 0 and u_n = n.

    Places u_l increase with l. If u_l = l it is `AdjacentCategories`; else text separates some neighbours better than
    others, such as 3 from 4 stars better than 1 from 2. Anderson's (1984) stereotype model of ordered levels, or a
    multinomial logistic regression on eta.
    """

    name: ClassVar[str] = "stereotype"

    places: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.places is None:
            return
        places = np.asarray(self.places, dtype=float)
        right = self.n is not None and places.shape == (self.n + 1,) and np.all(np.isfinite(places))
        if not right or places[0] != 0 or places[-1] != self.n or np.any(np.diff(places) <= 0):
            raise InputError(
                f"Stereotype: places={self.places!r} must increase from 0 to n, with a number for each level"
            )
        object.__setattr__(self, "places", tuple(places.tolist()))

    def learn(self, y: ArrayLike) -> Self:
        """Fill in the scale and offsets, and equal distances: only text can change them."""
        scaled = super().learn(y)
        return replace(scaled, places=tuple(scaled._places.tolist()))

    @property
    def directions(self) -> Vector:
        """(offsets and places, directions) in which they may move: the ends of places are fixed."""
        return linalg.block_diag(super().directions, np.eye(self._steps + 1)[:, 1:-1])

    def own_derivatives(self, y: Vector, eta: Vector, weight: Vector) -> OwnDerivatives:
        """Derivatives in offsets, and then in places: their probability times eta."""
        chances, counts, sums = self._chances(eta)[0], self._by_level(y, weight), self._by_level(y, weight * eta)
        weights = (weight, weight * eta, weight * eta * eta)
        (totals, bend), (with_eta, bend_of_both), (_, bend_of_places) = (_moments(chances, each) for each in weights)
        of_offsets = chances * (self._places[:, None] - _over_levels(self._places, chances))
        of_places = chances + eta * of_offsets
        of_places[y.astype(np.int64), np.arange(y.size)] -= 1
        return OwnDerivatives(
            counts,
            np.concatenate([totals - counts, with_eta - sums]),
            np.block([[bend, bend_of_both], [bend_of_both, bend_of_places]]),
            np.concatenate([of_offsets, of_places]),
        )

    def own_prior(self, counts: Vector, mean: float) -> OwnPrior:
        """Penalty for levels that were not observed, and for unequal distances."""
        unseen, places = super().own_prior(counts, mean), self._places
        gaps, differences = np.diff(places), np.diff(np.eye(places.size), axis=0)
        slope, bend = unseen.slope.copy(), unseen.bend.copy()
        slope[places.size :] -= PRIOR * (1 / gaps) @ differences
        bend[places.size :, places.size :] += PRIOR * (differences.T / gaps**2) @ differences
        return OwnPrior(unseen.loss - PRIOR * float(np.sum(np.log(gaps))), slope, bend)

    def moved(self, step: Vector) -> Self | None:
        offsets, places = np.split(step, 2)
        places = self._places + places
        if np.any(np.diff(places) <= 0):
            return None
        offsets = np.array(self._offsets) + offsets
        return self._with(offsets=tuple(offsets.tolist()), places=tuple(places.tolist()))

    @property
    def _places(self) -> Vector:
        """(levels,) factors of eta."""
        return super()._places if self.places is None else np.array(self.places)
