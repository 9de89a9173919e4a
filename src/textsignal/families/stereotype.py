"""Stereotype: levels of a scale with frequencies, and distances, of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.adjacent_categories import AdjacentCategories, flat_directions
from textsignal.families.own import OwnDerivatives, OwnPrior, with_own

#: How strongly distances are drawn to each other, in documents: it keeps levels apart, and in order.
PRIOR = 1.0


@dataclass(frozen=True, repr=False)
class Stereotype(AdjacentCategories):
    """Levels l = 0..n of a scale: P(l) = C(n, l) exp(a_l + u_l eta) / sum of all, with u_0 = 0 and u_n = n.

    Places u_l grow with l. Where u_l = l it is `AdjacentCategories`; else text tells some neighbours apart better than
    others, such as 1 from 2 stars less than 3 from 4. Anderson's (1984) stereotype model of ordered levels, or a
    multinomial logistic regression on eta.

    Parameters
    ----------
    n, lowest, step, offsets : as of `AdjacentCategories`.
    places : u_l of every level, lowest first; None for equal distances until they are learnt.

    Examples
    --------
    >>> stars = Stereotype(n=2, lowest=1, offsets=(0.0, 0.0, 0.0), places=(0.0, 0.5, 2.0))
    >>> stars.distribution(np.array([0.0, 2.0])).probabilities.round(2)
    array([[0.25, 0.5 , 0.25],
           [0.02, 0.09, 0.89]])
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
            raise InputError(f"Stereotype: places={self.places!r} must be growing numbers from 0 to n, for each level")
        object.__setattr__(self, "places", tuple(places.tolist()))

    def learn(self, y: ArrayLike) -> Self:
        """Fill in the scale and offsets; without text nothing tells distances."""
        scaled = super().learn(y)
        return replace(scaled, places=tuple(scaled._places.tolist()))

    @property
    def directions(self) -> Vector:
        """(offsets and places, directions) in which they may move: both ends of places stay where they are."""
        return _directions(self._steps + 1)

    def own_derivatives(self, y: Vector, eta: Vector, weight: Vector) -> OwnDerivatives:
        """In offsets, and then places: their probability times eta."""
        levels, (chances, _) = y.astype(np.int64), self._chances(eta)
        counts, sums = self._counts(y, weight), self._counts(y, weight * eta)
        parts = [chances * weighted for weighted in (weight, weight * eta, weight * eta * eta)]
        totals = [part.sum(axis=1) for part in parts]
        blocks = [np.diag(t) - np.einsum("li,mi->lm", p, chances) for t, p in zip(totals, parts, strict=True)]
        bend = np.block([[blocks[0], blocks[1]], [blocks[1], blocks[2]]])
        of_offsets = chances * (self._places[:, None] - np.einsum("l,li->i", self._places, chances))
        of_places = chances + eta * of_offsets
        of_places[levels, np.arange(levels.size)] -= 1
        slope = np.concatenate([totals[0] - counts, totals[1] - sums])
        return OwnDerivatives(counts, slope, bend, np.concatenate([of_offsets, of_places]))

    def own_prior(self, counts: Vector, mean: float) -> OwnPrior:
        """For levels that nobody gave, and for distances that are alike."""
        unseen, places = super().own_prior(counts, mean), self._places
        gaps, differences = np.diff(places), _differences(places.size)
        slope, bend = unseen.slope.copy(), unseen.bend.copy()
        slope[places.size :] -= PRIOR * (1 / gaps) @ differences
        bend[places.size :, places.size :] += PRIOR * (differences.T / gaps**2) @ differences
        return OwnPrior(unseen.loss - PRIOR * float(np.sum(np.log(gaps))), slope, bend)

    def moved(self, step: Vector) -> Self | None:
        """Other offsets and places; None where places do not grow."""
        offsets, places = np.split(step, 2)
        places = self._places + places
        if np.any(np.diff(places) <= 0):
            return None
        offsets = np.array(self._offsets) + offsets
        return with_own(self, offsets=tuple(offsets.tolist()), places=tuple(places.tolist()))

    @property
    def _places(self) -> Vector:
        """(levels,) what eta is multiplied by."""
        return super()._places if self.places is None else np.array(self.places)


@cache
def _directions(n_levels: int) -> Vector:
    """(2 levels, directions) of offsets and places."""
    return np.asarray(linalg.block_diag(flat_directions(n_levels), np.eye(n_levels)[:, 1:-1]))


@cache
def _differences(n_levels: int) -> Vector:
    """(levels - 1, levels) matrix that takes differences of neighbours."""
    return np.diff(np.eye(n_levels), axis=0)
