"""What response families share: pure functions of the encoded response y and the linear predictor eta.

A family knows nothing of text, topics or weights. It says which responses are allowed (`encode`), how badly a
linear predictor explains them (`loss`, with its two derivatives), what a linear predictor means on the user's
scale (`mean`, `level`, `distribution`), and what its own parameters are (thresholds, dispersion), given linear
predictors (`refit`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textsignal.arrays import Array, Vector
from textsignal.errors import InputError
from textsignal.families.own import OwnDerivatives, OwnPrior

#: How near an expected response of another model may come to an end of the scale, as a share of it.
MARGIN = 0.01
#: The largest response, whose square, and sums of squares, are far from what a float holds.
LARGEST_RESPONSE = 1e30


class NoLevelsError(InputError, AttributeError):
    """Levels, or their probabilities, were asked of a family that has none."""


class Family(Protocol):
    """What training, inference and reports ask of a response type.

    Every function works elementwise: y and eta have the same shape. Only where `n_predictors` is P > 1, eta and
    gradients have one more axis of length P behind, and curvatures two. A missing response is NaN in what `encode`
    returns and is left out by the caller before any other function is asked.

    A family is frozen. What it must know and was not given is None: the scale until `learn`, then nothing.
    """

    @property
    def name(self) -> str:
        """Name by which users choose the family."""

    @property
    def levels(self) -> NDArray[Any]:
        """The responses that can occur, in order, on the user's scale; absent where they cannot be listed."""

    @property
    def numbers(self) -> Vector:
        """The numbers that stand for `levels`, of which means are: these themselves, or places of text."""

    @property
    def has_text(self) -> bool:
        """Whether `levels` are known, and are text."""

    @property
    def classifies(self) -> bool:
        """Whether levels are classes: predictions are then labels, else means."""

    @property
    def n_predictors(self) -> int:
        """Linear predictors of one document."""

    @property
    def unit(self) -> float:
        """A difference in eta that matters: 1 for logits and logarithms, else on the scale of the response."""

    @property
    def largest_offset(self) -> float:
        """The largest offset, up or down, that leaves something to explain."""

    @property
    def in_units(self) -> bool:
        """True if the response can be shifted, and given in another unit, without changing what explains it."""

    def in_unit(self, size: float) -> Self:
        """The family of the response divided by `size`."""

    @property
    def has_origin(self) -> bool:
        """Whether a linear predictor of 0 means something, such as even odds, whatever unit the response is in."""

    @property
    def of_words(self) -> Family:
        """The family for effects of single words: of the same encoded responses, with a simpler loss if need be."""

    @classmethod
    def from_levels(cls, levels: ArrayLike) -> Self:
        """Give the scale by its levels; raises where the family has none."""

    def learn(self, y: ArrayLike) -> Self:
        """Fill in what was left open from observed responses: the scale, and own parameters without any text."""

    def encode(self, y: ArrayLike) -> Vector:
        """Validate responses and bring them to numbers; NaN stays NaN (no response)."""

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """Negative log-likelihood of each document, without terms free of both eta and own parameters."""

    def best_loss(self, y: Vector) -> Vector:
        """Smallest loss any eta could give: what deviances are measured from."""

    def gradient(self, y: Vector, eta: Vector) -> Vector:
        """First derivative of `loss` in eta."""

    def curvature(self, y: Vector, eta: Vector) -> Vector:
        """Second derivative of `loss` in eta; its expectation where it may be negative. Greater than 0."""

    def derivatives(self, y: Vector, eta: Vector) -> tuple[Vector, Vector, Vector]:
        """`loss`, `gradient` and `curvature`, for what all three can share."""

    def mean(self, eta: Vector) -> Vector:
        """Expected response on the user's scale; where classes have no order, the probability of each."""

    def link(self, mean: Vector) -> Vector:
        """The eta whose `mean` this is, for expected responses of other models too: kept inside the scale."""

    def level(self, eta: Vector, rule: str) -> NDArray[Any]:
        """One of `levels` for each eta, by `rule`: "round" or "mode"."""

    def distribution(self, eta: Vector) -> Any:
        """Predictive distribution on the user's scale: frozen, with the methods of scipy.stats."""

    def sample(self, eta: Vector, rng: np.random.Generator) -> NDArray[Any]:
        """Responses drawn at random, on the user's scale."""

    def refit(self, y: Vector, eta: Vector, weight: Vector) -> Self:
        """The family with own parameters of the smallest loss at these eta; itself where it has none."""

    @property
    def directions(self) -> Vector:
        """(own, directions) in which own parameters move with the coefficients; none where `refit` finds them apart."""

    def own_derivatives(self, y: Vector, eta: Vector, weight: Vector) -> OwnDerivatives:
        """What documents say of the own parameters that move."""

    def own_prior(self, counts: Vector, mean: float) -> OwnPrior:
        """What is added to the loss for their sake; counts as in `OwnDerivatives`, mean : the average eta."""

    def moved(self, step: Vector) -> Self | None:
        """The family after a step (own,) of them; None where it cannot be made."""

    def settings(self) -> dict[str, Any]:
        """The constructor's arguments that give this family again."""


class Common:
    """What most families answer alike; they are frozen dataclasses of their settings."""

    name: ClassVar[str]
    classifies: ClassVar[bool] = False
    #: Of logits and logarithms: beyond it chances are 0 or 1, and rates larger than any count.
    largest_offset: ClassVar[float] = 100.0
    in_units: ClassVar[bool] = False

    def in_unit(self, size: float) -> Self:
        """Itself: the response has no unit."""
        return self

    @property
    def levels(self) -> NDArray[Any]:
        """There are none: `hasattr(family, "levels")` is False."""
        raise self._no_levels

    @property
    def has_text(self) -> bool:
        """Whether levels are text."""
        return False

    @property
    def numbers(self) -> Vector:
        """The levels."""
        return np.asarray(self.levels, dtype=float)

    @property
    def n_predictors(self) -> int:
        """Linear predictors of one document."""
        return 1

    @property
    def unit(self) -> float:
        """A difference in eta that matters."""
        return 1.0

    @property
    def has_origin(self) -> bool:
        """Whether a linear predictor of 0 means something."""
        return True

    @property
    def of_words(self) -> Any:
        """The family for effects of single words: this one."""
        return self

    @classmethod
    def from_levels(cls, levels: ArrayLike) -> Self:
        """Give the scale by its levels."""
        raise InputError(f"levels={levels!r} mean nothing to the family {cls.__name__}; leave them out")

    def learn(self, y: ArrayLike) -> Self:
        """Nothing is left open."""
        return self

    def derivatives(self, y: Vector, eta: Vector) -> tuple[Vector, Vector, Vector]:
        """Loss, gradient and curvature, one after the other."""
        family: Any = self
        return family.loss(y, eta), family.gradient(y, eta), family.curvature(y, eta)

    def refit(self, y: Vector, eta: Vector, weight: Vector) -> Self:
        """There are no own parameters."""
        return self

    @property
    def directions(self) -> Vector:
        """There are no own parameters that move with the coefficients."""
        return np.zeros((0, 0))

    def own_derivatives(self, y: Vector, eta: Vector, weight: Vector) -> OwnDerivatives:
        """Nothing."""
        return OwnDerivatives.none(len(y))

    def own_prior(self, counts: Vector, mean: float) -> OwnPrior:
        """Nothing."""
        return OwnPrior(0.0, np.zeros(0), np.zeros((0, 0)))

    def moved(self, step: Vector) -> Self | None:
        """The same."""
        return self

    def level(self, eta: Vector, rule: str) -> NDArray[Any]:
        """There are none."""
        raise self._no_levels

    @property
    def _no_levels(self) -> NoLevelsError:
        return NoLevelsError(f"responses of the {self.name} family have no levels; ask for means or the distribution")

    def sample(self, eta: Vector, rng: np.random.Generator) -> NDArray[Any]:
        """Responses drawn at random, on the user's scale."""
        return np.asarray(self.distribution(eta).rvs(size=np.shape(eta), random_state=rng))

    def distribution(self, eta: Vector) -> Any:
        """Predictive distribution on the user's scale."""
        raise NotImplementedError

    def settings(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __repr__(self) -> str:
        """The constructor's call; what has a default and is left at it is not shown."""
        defaults = {field.name: field.default for field in fields(self)}  # type: ignore[arg-type]
        shown = {name: value for name, value in self.settings().items() if value is None or value != defaults[name]}
        given = [f"{name}={value!r}" for name, value in shown.items()]
        return f"{type(self).__name__}({', '.join(given)})"


def check_trainable(family: Family, what: str = "themes") -> None:
    """Raise where a document has several linear predictors, and something is made for one."""
    if family.n_predictors > 1:
        raise InputError(
            f"the {family.name} family has {family.n_predictors} linear predictors, and {what} take one; "
            'family="bernoulli" takes two classes, one against all others'
        )


def level_probabilities(family: Family, eta: Vector) -> Vector:
    """(documents, levels) probability of every level at linear predictors `eta`.

    Examples
    --------
    >>> from textsignal.families import Binomial
    >>> level_probabilities(Binomial(n=2, lowest=1), np.array([0.0]))
    array([[0.25, 0.5 , 0.25]])
    """
    levels = family.levels[None, :]
    return np.asarray(family.distribution(eta[:, None]).pmf(levels))


def distribution_of_numbers(family: Family, eta: Vector) -> Any:
    """The predictive distribution, where levels are text of the numbers that stand for them."""
    found = family.distribution(eta)
    return replace(found, values=family.numbers) if family.has_text else found


def log_scores(family: Family, responses: Vector, eta: Vector) -> Vector:
    """(documents,) minus the logarithm of the probability, or density, that was given to what happened.

    responses : (documents,) on the user's scale, none missing.

    Examples
    --------
    >>> from textsignal.families import Binomial
    >>> log_scores(Binomial(n=2, lowest=1), np.array([2.0]), np.array([0.0])).round(3)
    array([0.693])
    """
    at = family.levels[family.encode(responses).astype(np.int64)] if hasattr(family, "levels") else responses
    distribution = family.distribution(eta)
    chances = distribution.pmf(at) if hasattr(distribution, "pmf") else distribution.pdf(at)
    return -np.log(np.maximum(chances, np.finfo(float).tiny))


def linear_predictor(columns: Array, effects: Vector, intercept: float | Vector) -> Vector:
    """(documents,) eta = intercept + columns effects; columns (documents, columns) are topics' weights, as a rule.

    With effects (columns, P) and intercept (P,) it is (documents, P). Summed without BLAS, so that the bits do not
    depend on its threads.

    Examples
    --------
    >>> linear_predictor(np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([0.5, -1.0]), 2.0)
    array([0.5, 1. ])
    """
    return intercept + np.einsum("ik,k...->i...", columns, effects, dtype=np.float64)


def halved(below: Callable[[Vector], NDArray[np.bool_]], low: Vector, high: Vector) -> tuple[Vector, Vector]:
    """Both ends, all but equal, between which `below` turns false, elementwise: it is true up to there."""
    for _ in range(60):
        middle = (low + high) / 2
        up = below(middle)
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    return low, high


def unknown_rule(rule: object) -> InputError:
    """The error for a rule by which no level is taken."""
    return InputError(f'rule={rule!r} is not known; give "round" or "mode"')


def as_numbers(y: ArrayLike) -> Vector:
    """Responses as floats; infinities and non-numbers raise, naming the row."""
    try:
        values = np.asarray(y, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"the response must be numbers, NaN where there is none: {_first_label(y, error)}") from error
    if values.ndim != 1:
        raise InputError(f"the response must be one number per document; its shape is {values.shape}")
    raise_at(np.isinf(values), values, "infinity or too large; a response must be finite, or NaN for none")
    reason = f"too large; responses lie between {-LARGEST_RESPONSE:g} and {LARGEST_RESPONSE:g}"
    raise_at(np.abs(values) > LARGEST_RESPONSE, values, reason, "give them in a larger unit")
    return values


def _first_label(y: ArrayLike, error: Exception) -> str:
    """The first response that is no number, and the family that would take it."""
    for row, value in enumerate(np.asarray(y, dtype=object).ravel()):
        try:
            float(value)
        except (TypeError, ValueError):
            fits = 'family="categorical" takes labels, family="bernoulli" two of them'
            return f"{value!r} is not (row {row + 1}; rows count from 1); {fits}"
    return str(error)


def check_whole(values: Vector, reason: str) -> None:
    """Raise where a value is not a whole number; NaN passes."""
    raise_at(~np.isnan(values) & (values != np.round(values)), values, reason)


def raise_at(bad: NDArray[np.bool_], values: NDArray[Any], reason: str, fits: str = "") -> None:
    """Raise an InputError that names up to five of the rows where `bad` holds, and what would fit."""
    rows = np.flatnonzero(bad)
    if rows.size:
        listed = ", ".join(f"row {row + 1}: {shown(values[row])}" for row in rows[:5])
        more = f" and {rows.size - 5} more" if rows.size > 5 else ""
        advice = f"; {fits}" if fits else ""
        raise InputError(f"response {reason} ({listed}{more}; rows count from 1){advice}")


def shown(value: Any) -> str:
    """A response as an error names it."""
    return f"{value:g}" if isinstance(value, int | float | np.number) and not isinstance(value, bool) else repr(value)


def observed_numbers(y: ArrayLike) -> Vector:
    """Those responses that are not missing, as numbers; raises where there is none, or no two differ."""
    values = as_numbers(y)
    values = values[~np.isnan(values)]
    if values.size == 0:
        raise InputError("no document has a response (all are missing), so the scale cannot be learnt")
    if values.min() == values.max():
        raise constant_response(values[0])
    return values


def constant_response(value: Any) -> InputError:
    """What to say where all responses are the same."""
    return InputError(
        f"the response is constant (always {shown(value)}), so there is nothing to explain: it has a single value, or "
        "class; check the response column"
    )
