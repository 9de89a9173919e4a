"""Response families: pure functions of the encoded response y and the linear predictor eta.

A family knows nothing of text, topics or weights. It says which responses are allowed (`encode`), how badly a
linear predictor explains them (`loss`, with its two derivatives) and what a linear predictor means on the user's
scale (`mean`, `level`, `distribution`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from textsignal.errors import InputError

Vector = NDArray[np.float64]

#: The widest scale that is learnt from the data alone; a wider one is more likely a stray code such as 999.
WIDEST_LEARNT_SCALE = 100
#: How near an expected response of another model may come to an end of the scale, as a share of it.
MARGIN = 0.01


class Family(Protocol):
    """What training, inference and reports ask of a response type.

    Every function works elementwise: y and eta have the same shape. A missing response is NaN in what `encode`
    returns and is left out by the caller before any other function is asked.
    """

    @property
    def name(self) -> str:
        """Name by which users choose the family."""

    @property
    def levels(self) -> NDArray[np.int64]:
        """The responses that can occur, in order, on the user's scale."""

    def learn(self, y: ArrayLike) -> Self:
        """Fill in what was left open (such as the scale) from observed responses."""

    def encode(self, y: ArrayLike) -> Vector:
        """Validate and shift responses; NaN stays NaN (no response)."""

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """Negative log-likelihood of each document, without terms free of eta."""

    def best_loss(self, y: Vector) -> Vector:
        """Smallest loss any eta could give: what deviances are measured from."""

    def gradient(self, y: Vector, eta: Vector) -> Vector:
        """First derivative of `loss` in eta."""

    def curvature(self, y: Vector, eta: Vector) -> Vector:
        """Second derivative of `loss` in eta; greater than 0."""

    def mean(self, eta: Vector) -> Vector:
        """Expected response on the user's scale."""

    def link(self, mean: Vector) -> Vector:
        """The eta whose `mean` this is, for expected responses of other models too: kept inside the scale."""

    def level(self, eta: Vector, rule: str) -> NDArray[np.int64]:
        """One of `levels` for each eta, by `rule`: "round" or "mode"."""

    def distribution(self, eta: Vector) -> Any:
        """Predictive distribution on the user's scale, as a frozen scipy.stats distribution."""

    def settings(self) -> dict[str, int | None]:
        """The constructor's arguments that give this family again."""


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
            if value is not None and (isinstance(value, bool) or not np.isfinite(value) or int(value) != value):
                raise InputError(f"Binomial: {name}={value!r} is no whole number")
        if self.n is not None and self.n < 1:
            raise InputError(f"Binomial: n={self.n} gives fewer than two levels; n must be 1 or more")

    @classmethod
    def from_levels(cls, levels: ArrayLike) -> Binomial:
        """Give the scale by its levels, or by its lowest and highest level: `[1, 2, 3, 4, 5]` or `(1, 5)`."""
        try:
            values = np.unique(np.asarray(levels, dtype=float))
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.size < 2 or not np.all(np.isfinite(values)) or not np.array_equal(values, np.round(values)):
            raise InputError(f"levels={levels!r}: give at least two whole numbers, such as (1, 5)")
        return cls(n=int(values[-1] - values[0]), lowest=int(values[0]))

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
        numbers = _as_numbers(y)
        _check_whole(numbers, "no whole number; the binomial family takes whole-numbered levels such as 1 to 5")
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
        values = _as_numbers(y)
        low, high = self._low, self._low + self._steps
        _check_whole(values, f"not one of the levels {low} to {high}")
        bad = (values < low) | (values > high)
        _raise_at(bad, values, f"not one of the levels {low} to {high}")
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


FAMILIES: dict[str, type[Binomial]] = {"binomial": Binomial}


def level_probabilities(family: Family, eta: Vector) -> Vector:
    """(documents, levels) probability of every level at linear predictors `eta` (documents,).

    Examples
    --------
    >>> level_probabilities(Binomial(n=2, lowest=1), np.array([0.0]))
    array([[0.25, 0.5 , 0.25]])
    """
    return np.asarray(family.distribution(eta[:, None]).pmf(family.levels[None, :]))


def as_family(family: str | Family) -> Family:
    """Give the family of that name, or the family itself.

    Examples
    --------
    >>> as_family("binomial")
    Binomial(n=None, lowest=None)
    """
    if isinstance(family, str) and family in FAMILIES:
        return FAMILIES[family]()
    if isinstance(family, str) or not hasattr(family, "encode"):
        raise InputError(f"family={family!r} is not known; allowed: {', '.join(sorted(FAMILIES))}")
    return family


def _as_numbers(y: ArrayLike) -> Vector:
    """Responses as floats; infinities and non-numbers raise, naming the row."""
    try:
        values = np.asarray(y, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"the response must be numbers, NaN where there is none: {error}") from error
    if values.ndim != 1:
        raise InputError(f"the response must be one number a document; its shape is {values.shape}")
    _raise_at(np.isinf(values), values, "infinity or too large; a response must be finite, or NaN for none")
    return values


def _check_whole(values: Vector, reason: str) -> None:
    _raise_at(~np.isnan(values) & (values != np.round(values)), values, reason)


def _raise_at(bad: NDArray[np.bool_], values: Vector, reason: str) -> None:
    """Raise an InputError that names up to five of the rows where `bad` holds."""
    rows = np.flatnonzero(bad)
    if rows.size:
        shown = ", ".join(f"row {row}: {values[row]:g}" for row in rows[:5])
        more = f" and {rows.size - 5} more" if rows.size > 5 else ""
        raise InputError(f"response {reason} ({shown}{more}; rows count from 0)")
