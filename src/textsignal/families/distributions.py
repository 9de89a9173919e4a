"""Distributions over a few levels, with the methods of a frozen distribution of scipy.stats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textsignal.arrays import Vector


@dataclass(frozen=True, eq=False)
class Discrete:
    """Probabilities of listed levels.

    values : (levels,) numbers in increasing order, or labels; probabilities : (..., levels).

    Every method takes arguments that broadcast with the shape of the probabilities, their last axis aside.

    Examples
    --------
    >>> stars = Discrete(np.array([1.0, 1.5, 2.0]), np.array([0.2, 0.5, 0.3]))
    >>> stars.pmf([1.5, 7]), stars.cdf([1.7]), stars.ppf([0.5])
    (array([0.5, 0. ]), array([0.7]), array([1.5]))
    """

    values: NDArray[Any]
    probabilities: Vector

    def pmf(self, x: ArrayLike) -> Vector:
        """Probability of x."""
        x = np.asarray(x)
        places = self._places(x)
        known = (places > 0) & (self.values[places - 1] == x)
        return self._taken(_with_zero(self.probabilities), np.where(known, places, 0))

    def cdf(self, x: ArrayLike) -> Vector:
        """Probability of x or less; of labels, of those up to x in their order."""
        return self._taken(self._cumulative, self._places(np.asarray(x)))

    def ppf(self, q: ArrayLike) -> NDArray[Any]:
        """The lowest level that so much probability is up to."""
        q = np.asarray(q, dtype=float)
        return self.values[np.sum(self._cumulative[..., 1:-1] < q[..., None], axis=-1)]

    def interval(self, confidence: float) -> tuple[NDArray[Any], NDArray[Any]]:
        """Ends of the central interval."""
        return self.ppf((1 - confidence) / 2), self.ppf((1 + confidence) / 2)

    def mean(self) -> Any:
        """Expected level, of numbers."""
        return self.probabilities @ self.values

    def rvs(self, size: Any = None, random_state: Any = None) -> NDArray[Any]:
        """Levels drawn at random."""
        drawn = np.random.default_rng(random_state).random(self.probabilities.shape[:-1] if size is None else size)
        return self.values[np.sum(self._cumulative[..., 1:-1] <= drawn[..., None], axis=-1)]

    def _places(self, x: NDArray[Any]) -> NDArray[np.int64]:
        """How many levels there are up to x; of labels, 0 for one that is not known."""
        if self.values.dtype.kind in "iuf":
            return np.searchsorted(self.values, x, side="right")
        places = np.zeros(x.shape, dtype=np.int64)
        for place, value in enumerate(self.values):
            places[x == value] = place + 1
        return places

    @property
    def _cumulative(self) -> Vector:
        """(..., levels + 1) probability of less than each level, then 1."""
        below = _with_zero(np.cumsum(self.probabilities, axis=-1))
        below[..., -1] = 1.0
        return below

    def _taken(self, table: Vector, places: NDArray[np.int64]) -> Vector:
        """Entries of table (..., places) at one place for each."""
        shape = np.broadcast_shapes(table.shape[:-1], places.shape)
        rows = np.broadcast_to(np.arange(int(np.prod(table.shape[:-1]))).reshape(table.shape[:-1]), shape)
        return table.reshape(-1, table.shape[-1])[rows, np.broadcast_to(places, shape)]


def _with_zero(values: Vector) -> Vector:
    """The same with a 0 before the last axis begins."""
    return np.concatenate([np.zeros((*values.shape[:-1], 1)), values], axis=-1)


def nearest(values: NDArray[Any], means: Vector) -> NDArray[np.int64]:
    """Place of the level nearest to each mean, the upper one of two that are as near; values : (levels,) increasing."""
    return np.searchsorted((values[1:] + values[:-1]) / 2, means, side="right")
