"""Shared code of the data sets: checks of arguments, seeds, and the maximum skill of a known truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from textsignal.arrays import Vector
from textsignal.errors import InputError

Rows = slice | Sequence[int] | NDArray[np.bool_ | np.int64] | None
Seed = int | np.random.Generator | None


def r_squared(observed: NDArray[np.int64], predicted: Vector, rows: Rows) -> float:
    """R2 on the given rows, which must hold different ratings."""
    chosen = slice(None) if rows is None else rows
    y = observed[chosen]
    if len(np.unique(y)) < 2:
        raise InputError(f"rows must select at least two different ratings, got {len(y)} rows of one rating")
    return float(r2_score(y, predicted[chosen]))


def check_integer(name: str, value: int, *, at_least: int) -> None:
    """Raise unless `value` is a whole number of at least `at_least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        raise InputError(f"{name} must be an integer of at least {at_least}, got {value!r}")


def check_positive(name: str, value: float, *, or_zero: bool = False) -> None:
    """Raise unless `value` is a finite number above 0, or 0 where that is allowed."""
    usable = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if not usable or value < 0 or (value == 0 and not or_zero):
        bound = "of at least 0" if or_zero else "above 0"
        raise InputError(f"{name} must be a finite number {bound}, got {value!r}")


def generator(name: str, seed: Seed) -> np.random.Generator:
    """Make the generator of a seed."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be an integer from 0 on, a Generator or None, got {seed!r}") from error
