"""Stereotype: levels of a scale with frequencies, and distances, of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.adjacent_categories import AdjacentCategories, Seen

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
    def _basis(self) -> Vector:
        """(offsets and places, directions) in which they may move: both ends of places stay where they are."""
        return np.asarray(linalg.block_diag(super()._basis, np.eye(self._steps + 1)[:, 1:-1]))

    def _moved(self, step: Vector) -> Self | None:
        """The family with moved offsets and places; None where places do not grow."""
        offsets, places = np.split(step, 2)
        places = self._places + places
        if np.any(np.diff(places) <= 0):
            return None
        return replace(self, offsets=tuple((np.array(self._offsets) + offsets).tolist()), places=tuple(places.tolist()))

    def _value(self, seen: Seen) -> float:
        """Loss and prior."""
        places = self._places
        own = seen.counts @ np.array(self._offsets) + seen.sums @ places + PRIOR * np.sum(np.log(np.diff(places)))
        return float(np.sum(seen.weight * self._log_sum(seen.eta)) - own)

    def _derivatives(self, seen: Seen) -> tuple[Vector, Vector]:
        """Of `_value`, in offsets and then places: (2 levels,) first and (2 levels, 2 levels) second ones."""
        counts, sums, eta, weight = seen.counts, seen.sums, seen.eta, seen.weight
        chances = self._probabilities(eta)
        powers = [weight * eta**power for power in range(3)]
        gaps = 1 / np.diff(self._places)
        prior = PRIOR * (np.append(gaps, 0.0) - np.append(0.0, gaps))
        slope = np.concatenate([powers[0] @ chances - counts, powers[1] @ chances - sums + prior])
        blocks = [np.diag(power @ chances) - (chances * power[:, None]).T @ chances for power in powers]
        bend = np.block([[blocks[0], blocks[1]], [blocks[1], blocks[2]]])
        differences = np.diff(np.eye(len(counts)), axis=0)
        bend[len(counts) :, len(counts) :] += PRIOR * (differences.T * gaps**2) @ differences
        return slope, bend

    @property
    def _places(self) -> Vector:
        """(levels,) what eta is multiplied by."""
        return super()._places if self.places is None else np.array(self.places)
