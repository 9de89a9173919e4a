"""Binomial: responses on a bounded scale of whole numbers, the paper's rating model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.base import as_numbers, check_whole, raise_at

#: The widest scale that is learnt from the data alone; a wider one is more likely a stray code such as 999.
WIDEST_LEARNT_SCALE = 100
#: The widest scale at all: every level is listed and given a probability.
WIDEST_SCALE = 1_000_000
#: How near an expected response of another model may come to an end of the scale, as a share of it.
MARGIN = 0.01


@dataclass(frozen=True)
class Binomial:
    """The paper's rating model: response = lowest + Binomial(n, 1 / (1 + exp(-eta))).

    For any bounded integer scale: 1 to 5 stars is n=4, lowest=1; 0 to 10 is n=10, lowest=0. What is not given is
    learnt from the smallest and largest response seen in training.

    Parameters
    ----------
    n : number of steps from the lowest to the highest level; None to learn it.
    lowest : lowest level; None to learn it.

    Examples
    --------
    >>> stars = Binomial.from_levels([1, 2, 3, 4, 5])
    >>> stars
    Binomial(n=4, lowest=1)
    >>> stars.mean(np.array([0.0, 2.0])).round(2)
    array([3.  , 4.52])
    >>> stars.level(np.array([-0.2, 2.0]), "round")
    array([3, 5])
    >>> Binomial().learn([0, 3, 10])
    Binomial(n=10, lowest=0)
    """

    n: int | None = None
    lowest: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("n", self.n), ("lowest", self.lowest)):
            if value is not None and not _is_whole(value):
                raise InputError(f"Binomial: {name}={value!r} is not a whole number")
        if self.n is not None and self.n < 1:
            raise InputError(f"Binomial: n={self.n} gives fewer than two levels; n must be 1 or more")
        if self.n is not None and self.n > WIDEST_SCALE:
            raise InputError(f"Binomial: n={self.n} is too wide a scale; n must be {WIDEST_SCALE:,} or less")

    @classmethod
    def from_levels(cls, levels: ArrayLike) -> Binomial:
        """Give the scale by its levels, or by its lowest and highest level: `[1, 2, 3, 4, 5]` or `(1, 5)`."""
        try:
            values = np.unique(np.asarray(levels, dtype=float))
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.size < 2 or not np.all(np.isfinite(values)) or not np.array_equal(values, np.round(values)):
            raise InputError(f"levels={levels!r}: give at least two whole numbers, such as (1, 5)")
        low, high = int(values[0]), int(values[-1])
        if high - low > WIDEST_SCALE:
            raise InputError(f"levels=({low}, {high}) is too wide a scale; give at most {WIDEST_SCALE:,} steps")
        return cls(n=high - low, lowest=low)

    @property
    def name(self) -> str:
        """Name by which users choose the family."""
        return "binomial"

    @property
    def levels(self) -> NDArray[np.int64]:
        """All levels of the scale, lowest first."""
        return np.arange(self._low, self._low + self._steps + 1)

    def learn(self, y: ArrayLike) -> Binomial:
        """Fill in n and lowest from the smallest and largest observed response."""
        if self.n is not None and self.lowest is not None:
            return self
        numbers = as_numbers(y)
        check_whole(numbers, "not a whole number; the binomial family takes whole-numbered levels such as 1 to 5")
        values = numbers[~np.isnan(numbers)]
        if values.size == 0:
            raise InputError("no document has a response (all are missing), so the scale cannot be learnt")
        low = int(values.min()) if self.lowest is None else self.lowest
        n = int(values.max()) - low if self.n is None else self.n
        if n < 1:
            raise InputError(
                f"the response is constant (always {values[0]:g}), so there is nothing to explain; "
                "check the response column"
            )
        if n > WIDEST_LEARNT_SCALE and self.n is None:
            raise InputError(
                f"responses run from {low} to {low + n}, which looks like a stray code rather than a scale; "
                f"give the scale, e.g. levels=(1, 5), if {low} to {low + n} is meant say levels=({low}, {low + n})"
            )
        return Binomial(n=n, lowest=low)

    def encode(self, y: ArrayLike) -> Vector:
        """Shift responses to 0..n; NaN stays NaN, anything else off the scale raises, naming the row."""
        values = as_numbers(y)
        low, high = self._low, self._low + self._steps
        check_whole(values, f"not one of the levels {low} to {high}")
        bad = (values < low) | (values > high)
        raise_at(bad, values, f"not one of the levels {low} to {high}")
        return values - low

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """Loss -[y log p + (n - y) log(1 - p)] = n log(1 + exp(eta)) - y eta."""
        # The same as logaddexp(0, eta), from functions that NumPy vectorises.
        softplus = np.maximum(eta, 0.0) + np.log1p(np.exp(-np.abs(eta)))
        return self._steps * softplus - y * eta

    def best_loss(self, y: Vector) -> Vector:
        """The loss at p = y / n."""
        share = y / self._steps
        return -self._steps * (special.xlogy(share, share) + special.xlogy(1 - share, 1 - share))

    def gradient(self, y: Vector, eta: Vector) -> Vector:
        """Gradient n p - y: the paper's q."""
        return self._steps * special.expit(eta) - y

    def curvature(self, y: Vector, eta: Vector) -> Vector:
        """Curvature n p (1 - p), kept above 0 where p rounds to 0 or 1."""
        return np.maximum(self._steps * special.expit(eta) * special.expit(-eta), np.finfo(float).tiny)

    def mean(self, eta: Vector) -> Vector:
        """Mean lowest + n p, the paper's expected rating 1 + 4 p."""
        return self._low + self._steps * special.expit(eta)

    def link(self, mean: Vector) -> Vector:
        """logit of (mean - lowest) / n, kept `MARGIN` of the scale off its ends."""
        return special.logit(np.clip((mean - self._low) / self._steps, MARGIN, 1 - MARGIN))

    def level(self, eta: Vector, rule: str) -> NDArray[np.int64]:
        """One level: the expected response rounded half up ("round") or the most probable level ("mode")."""
        p = special.expit(eta)
        if rule == "round":
            steps = np.floor(self._steps * p + 0.5)
        elif rule == "mode":
            steps = np.floor((self._steps + 1) * p)
        else:
            raise InputError(f'rule={rule!r} is not known; give "round" or "mode"')
        return self._low + np.clip(steps, 0, self._steps).astype(np.int64)

    def distribution(self, eta: Vector) -> Any:
        """Frozen scipy.stats.binom on the user's scale."""
        return stats.binom(self._steps, special.expit(eta), loc=self._low)

    def settings(self) -> dict[str, int | None]:
        """The constructor's arguments."""
        return {"n": self.n, "lowest": self.lowest}

    @property
    def _steps(self) -> int:
        if self.n is None:
            raise InputError("the scale of this Binomial is not known yet; give n and lowest, or call learn(y)")
        return self.n

    @property
    def _low(self) -> int:
        if self.lowest is None:
            raise InputError("the scale of this Binomial is not known yet; give n and lowest, or call learn(y)")
        return self.lowest


def _is_whole(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and int(value) == value
    except (TypeError, ValueError, OverflowError):
        return False
