"""What response families share: pure functions of the encoded response y and the linear predictor eta.

A family knows nothing of text, topics or weights. It says which responses are allowed (`encode`), how badly a
linear predictor explains them (`loss`, with its two derivatives) and what a linear predictor means on the user's
scale (`mean`, `level`, `distribution`).
"""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar

from textsignal.arrays import Array, Vector
from textsignal.errors import InputError


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


def level_probabilities(family: Family, eta: Vector) -> Vector:
    """(documents, levels) probability of every level at linear predictors `eta` (documents,).

    Examples
    --------
    >>> from textsignal.families import Binomial
    >>> level_probabilities(Binomial(n=2, lowest=1), np.array([0.0]))
    array([[0.25, 0.5 , 0.25]])
    """
    return np.asarray(family.distribution(eta[:, None]).pmf(family.levels[None, :]))


def linear_predictor(columns: Array, effects: Vector, intercept: float) -> Vector:
    """(documents,) eta = intercept + columns effects; columns (documents, columns) are topics' weights, as a rule.

    Summed without BLAS, so that the bits do not depend on its threads.

    Examples
    --------
    >>> linear_predictor(np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([0.5, -1.0]), 2.0)
    array([0.5, 1. ])
    """
    return intercept + np.einsum("ik,k->i", columns, effects, dtype=np.float64)


def deviance(family: Family, y: Vector, eta: Vector, weight: Vector | float = 1.0) -> float:
    """Twice the loss above the smallest possible one, summed over the documents that have a response.

    y : (documents,) encoded responses, NaN where there is none; eta : (documents,) linear predictors; weight : how
    often each document counts.

    Examples
    --------
    >>> from textsignal.families import Binomial
    >>> y = np.array([4.0, 0.0, np.nan])
    >>> round(deviance(Binomial(n=4, lowest=1), y, np.array([1.0, -1.0, 3.0])), 3)
    5.012
    """
    observed = ~np.isnan(y)
    y, eta, weight = y[observed], eta[observed], np.broadcast_to(weight, observed.shape)[observed]
    return 2 * float(np.sum(weight * (family.loss(y, eta) - family.best_loss(y))))


def best_constant(family: Family, y: Vector, weight: Vector) -> float:
    """The constant linear predictor with the smallest loss; no response is missing."""
    return float(minimize_scalar(lambda eta: float(np.sum(weight * family.loss(y, np.full(y.size, eta))))).x)


def null_deviance(family: Family, y: Vector, weight: Vector) -> float:
    """The deviance of the best constant linear predictor."""
    observed = ~np.isnan(y)
    constant = best_constant(family, y[observed], weight[observed])
    return deviance(family, y, np.full(y.size, constant), weight)


def as_numbers(y: ArrayLike) -> Vector:
    """Responses as floats; infinities and non-numbers raise, naming the row."""
    try:
        values = np.asarray(y, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"the response must be numbers, NaN where there is none: {error}") from error
    if values.ndim != 1:
        raise InputError(f"the response must be one number per document; its shape is {values.shape}")
    raise_at(np.isinf(values), values, "infinity or too large; a response must be finite, or NaN for none")
    return values


def check_whole(values: Vector, reason: str) -> None:
    """Raise where a value is not a whole number; NaN passes."""
    raise_at(~np.isnan(values) & (values != np.round(values)), values, reason)


def raise_at(bad: NDArray[np.bool_], values: Vector, reason: str) -> None:
    """Raise an InputError that names up to five of the rows where `bad` holds."""
    rows = np.flatnonzero(bad)
    if rows.size:
        listed = ", ".join(f"row {row}: {values[row]:g}" for row in rows[:5])
        more = f" and {rows.size - 5} more" if rows.size > 5 else ""
        raise InputError(f"response {reason} ({listed}{more}; rows count from 0)")
