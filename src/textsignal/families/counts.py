"""What families of counts share: whole numbers from 0 on, with a rate exp(eta)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from textsignal.arrays import Vector
from textsignal.families.base import Common, as_numbers, check_whole, observed_numbers, raise_at

#: Beyond this linear predictor the rate stays as it is: no count is that large, and its square must be finite.
LARGEST_ETA = 100.0
#: The largest count: beyond it floats hardly tell counts apart, and a fit from a rate of 1 does not get there.
LARGEST_COUNT = 1e12
#: The smallest rate that an expected response of another model may have.
LEAST_RATE = 1e-3


class Counts(Common):
    """Whole numbers from 0 on. Exposure, such as days or readers, enters as the offset log(exposure)."""

    @property
    def has_origin(self) -> bool:
        """A rate of 1 is one in an hour, or one in a year."""
        return False

    def encode(self, y: ArrayLike) -> Vector:
        """The counts themselves; anything below 0 or between whole numbers raises, naming the row."""
        values = as_numbers(y)
        raise_at(values < 0, values, f"below 0; the {self.name} family takes counts", 'family="gaussian" would fit')
        reason = f"above {LARGEST_COUNT:g}, the largest count that the {self.name} family takes"
        raise_at(values > LARGEST_COUNT, values, reason, 'family="gaussian" takes larger numbers')
        check_whole(values, f'not a whole number; the {self.name} family takes counts, family="gaussian" any number')
        return values

    def _check(self, y: ArrayLike) -> Vector:
        """Counts that are there; raises where none is, or none differs."""
        counts = self.encode(y)
        observed_numbers(counts)
        return counts[~np.isnan(counts)]

    def mean(self, eta: Vector) -> Vector:
        """The rate exp(eta)."""
        return np.exp(np.minimum(eta, LARGEST_ETA))

    def link(self, mean: Vector) -> Vector:
        """log(mean), of at least a small rate."""
        return np.log(np.maximum(mean, LEAST_RATE))
