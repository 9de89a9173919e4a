"""Own parameters of families: those that move with a GLM's coefficients, and single ones that do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from scipy.optimize import brentq

from textsignal.arrays import Vector

#: How often a level that nobody gave counts as given: its probability is small, but not 0.
UNSEEN = 0.5
#: Newton steps of own parameters, and halvings of each.
MOST_STEPS, MOST_HALVINGS = 100, 40
#: How little the last of them moves any; and by how much a sum that has not changed may differ.
SETTLED, ROUNDING = 1e-11, 1e-14
#: How far from a start a minimum is looked for first: later turns of a fit move less.
FIRST_REACH = 0.05


@dataclass(frozen=True, eq=False)
class OwnDerivatives:
    """What documents say of own parameters.

    counts : (levels,) weight of the documents of each level.
    slope, bend : (own,) and (own, own) derivatives of the weighted loss in own parameters.
    cross : (own, documents) second derivatives of each document's loss in own parameters and eta, without weights.
    """

    counts: Vector
    slope: Vector
    bend: Vector
    cross: Vector

    @classmethod
    def none(cls, n_documents: int) -> OwnDerivatives:
        """Of a family that has none."""
        return cls(np.zeros(0), np.zeros(0), np.zeros((0, 0)), np.zeros((0, n_documents)))


@dataclass(frozen=True, eq=False)
class OwnPrior:
    """What is added to the loss for own parameters' sake, with its derivatives in them."""

    loss: float
    slope: Vector
    bend: Vector


class Moving(Protocol):
    """A family with such parameters."""

    @property
    def directions(self) -> Vector:
        """(own, directions) in which they may move."""

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """Negative log-likelihood of each document."""

    def own_derivatives(self, y: Vector, eta: Vector, weight: Vector) -> OwnDerivatives:
        """What documents say of own parameters."""

    def own_prior(self, counts: Vector, mean: float) -> OwnPrior:
        """What is added; counts as in `OwnDerivatives`, mean : the average linear predictor."""

    def moved(self, step: Vector) -> Self | None:
        """The family after a step (own,); None where it cannot be made."""


def prior_of_unseen(family: Moving, counts: Vector, mean: float) -> OwnPrior:
    """A level that nobody gave counts as given a little, at the average linear predictor."""
    levels = np.flatnonzero(counts == 0).astype(float)
    if not levels.size:
        n_own = len(family.directions)
        return OwnPrior(0.0, np.zeros(n_own), np.zeros((n_own, n_own)))
    eta, weight = np.full(levels.size, mean), np.full(levels.size, UNSEEN)
    found = family.own_derivatives(levels, eta, weight)
    return OwnPrior(UNSEEN * float(np.sum(family.loss(levels, eta))), found.slope, found.bend)


def refit_moving(first: Any, y: Vector, eta: Vector, weight: Vector) -> Any:
    """The family with own parameters of the smallest loss, by Newton steps that are halved while it rises."""
    basis, mean = first.directions, float(np.average(eta, weights=weight))
    family, found = first, first.own_derivatives(y, eta, weight)

    def value(family: Any) -> float:
        return float(np.sum(weight * family.loss(y, eta))) + float(family.own_prior(found.counts, mean).loss)

    before = value(family)
    for _ in range(MOST_STEPS):
        prior = family.own_prior(found.counts, mean)
        bend, slope = basis.T @ (found.bend + prior.bend) @ basis, basis.T @ (found.slope + prior.slope)
        step = -basis @ np.linalg.solve(bend, slope)
        for halving in range(MOST_HALVINGS):
            other = family.moved(step / 2**halving)
            after = np.inf if other is None else value(other)
            if after <= before + ROUNDING * abs(before):
                break
        else:
            break
        family, before = other, after
        if np.abs(step).max() <= SETTLED:
            break
        found = family.own_derivatives(y, eta, weight)
    return family


def with_own(family: Any, **own: Any) -> Any:
    """The same family with other own parameters, which were computed and are not checked: steps make thousands."""
    found = object.__new__(type(family))
    for name, value in (family.settings() | own).items():
        object.__setattr__(found, name, value)
    return found


def flat_between(slope: Callable[[float], float], start: float, low: float, high: float) -> float:
    """Where a function of one number is smallest between two ends, by its slope; looked for from `start` on.

    Further and further off until the slope changes its sign; an end where it never does.
    """
    here, sign = start, np.sign(slope(start))
    reach = FIRST_REACH
    while sign:
        there = float(np.clip(here - sign * reach, low, high))
        if there == here:
            return here
        if np.sign(slope(there)) != sign:
            return float(brentq(slope, min(here, there), max(here, there), xtol=1e-10, rtol=1e-12))
        here, reach = there, 4 * reach
    return here
