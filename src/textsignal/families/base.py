"""Response families: pure functions of the encoded response y and the linear predictor eta.

A family knows nothing of text, topics or weights. It defines which responses are allowed (`encode`), how badly a
linear predictor explains them (`loss`, with its two derivatives), what a linear predictor means on the user's scale
(`mean`, `level`, `distribution`), and its own parameters such as thresholds or dispersion, given linear predictors
(`refit`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special
from scipy.optimize import brentq, minimize, minimize_scalar

from textsignal.arrays import Array, Vector
from textsignal.errors import InputError
from textsignal.families.responses import observed_numbers

#: Distance to the ends of the scale, as a share of it, at which expected responses of other models are clipped.
MARGIN = 0.01


class NoLevelsError(InputError, AttributeError):
    """Levels or their probabilities were requested from a family without levels."""


@dataclass(frozen=True, eq=False)
class OwnDerivatives:
    """Derivatives of the loss in own parameters.

    counts : (levels,) weight of the texts of each; slope, bend : (own,) and (own, own) of the weighted loss.
    cross : (own, texts) second derivatives of each text's loss in own parameters and eta, without weights.
    """

    counts: Vector
    slope: Vector
    bend: Vector
    cross: Vector


@dataclass(frozen=True, eq=False)
class OwnPrior:
    """Penalty on own parameters, with its derivatives in them."""

    loss: float
    slope: Vector
    bend: Vector


def known(setting: str, kind: Callable[[Any], Any] | None = None) -> property:
    """Return a property with the value of a setting; it raises until `learn` has filled it in."""

    def value_of(family: Any) -> Any:
        value = getattr(family, setting)
        if value is None:
            raise InputError(f"this {type(family).__name__} has no {setting} yet; give {setting}=..., or call learn(y)")
        return value if kind is None else kind(value)

    return property(value_of)


class Family(ABC):
    """A response type for training, inference and reports: a frozen dataclass of its settings.

    Every function works elementwise: y and eta have the same shape. Only if `n_predictors` is P > 1, eta and
    gradients have one more axis of length P at the end, and curvatures two. A missing response is NaN in what `encode`
    returns and is removed by the caller before any other function is called.

    Settings that are not known yet are None until `learn`.
    """

    #: Name by which users choose the family.
    name: ClassVar[str]
    #: True if levels are classes, so that predictions are labels and not means.
    classifies: ClassVar[bool] = False
    #: The largest offset, up or down, that leaves something to explain. For logits and logarithms: beyond it
    #: probabilities are 0 or 1, and rates larger than any count.
    largest_offset: ClassVar[float] = 100.0
    #: True if the response can be shifted, and given in another unit, without changing what explains it.
    in_units: ClassVar[bool] = False
    #: True if a linear predictor of 0 has a meaning in any unit of the response, such as even odds.
    has_origin: ClassVar[bool] = True

    @property
    def levels(self) -> NDArray[Any]:
        """The responses that can occur, in order, on the user's scale; absent if they cannot be listed."""
        raise NoLevelsError(f"responses of the {self.name} family have no levels; use means or the distribution")

    @property
    def numbers(self) -> Vector:
        """The numbers that stand for `levels`, of which means are taken: themselves, or positions of text."""
        return np.asarray(self.levels, dtype=float)

    @property
    def has_text(self) -> bool:
        """True if `levels` are known and are text."""
        return False

    @property
    def n_predictors(self) -> int:
        """Number of linear predictors of one text."""
        return 1

    @property
    def unit(self) -> float:
        """A difference in eta that matters: 1 for logits and logarithms, else on the scale of the response."""
        return 1.0

    @property
    def of_words(self) -> Any:
        """The family for effects of single words: for the same encoded responses, with a simpler loss if necessary."""
        return self

    def in_unit(self, size: float) -> Self:
        """Return the family of the response divided by `size`."""
        return self

    @property
    def from_zero(self) -> Any:
        """The family of the response less its lowest level, whose means have more digits; self if it has none."""
        return self

    @classmethod
    def from_levels(cls, levels: ArrayLike) -> Any:
        """Define the scale by its levels; raises if the family has none."""
        raise InputError(f"levels={levels!r} do not apply to the family {cls.__name__}; omit them")

    def learn(self, y: ArrayLike) -> Any:
        """Estimate settings that are None from observed responses: the scale, and own parameters without any text."""
        observed_numbers(self.encode(y))
        return self

    @abstractmethod
    def encode(self, y: ArrayLike) -> Vector:
        """Validate responses and convert them to numbers; NaN stays NaN, anything else raises, naming the row."""

    def derivatives(self, y: Vector, eta: Vector) -> tuple[Vector, Vector, Vector]:
        """`loss`, `gradient` and `curvature` at once; a family defines either this or these three."""
        return self.loss(y, eta), self.gradient(y, eta), self.curvature(y, eta)

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """Negative log-likelihood of each text, without terms free of both eta and own parameters."""
        return self.derivatives(y, eta)[0]

    @abstractmethod
    def best_loss(self, y: Vector) -> Vector:
        """Smallest loss any eta could give: what deviances are measured from."""

    def gradient(self, y: Vector, eta: Vector) -> Vector:
        """First derivative of `loss` in eta."""
        return self.derivatives(y, eta)[1]

    def curvature(self, y: Vector, eta: Vector) -> Vector:
        """Second derivative of `loss` in eta, or its expectation if that may be negative. Greater than 0."""
        return self.derivatives(y, eta)[2]

    @abstractmethod
    def mean(self, eta: Vector) -> Vector:
        """Expected response on the user's scale; for classes without an order, the probability of each."""

    @abstractmethod
    def link(self, mean: Vector) -> Vector:
        """Inverse of `mean`, clipped to the inside of the scale: means of other models may be outside."""

    def level(self, eta: Vector, rule: str) -> NDArray[Any]:
        """One of `levels` for each eta: the nearest to the mean, half up ("round"), or the most probable ("mode")."""
        levels = self.levels
        if rule not in ("round", "mode"):
            raise InputError(f'rule={rule!r} is not known; give "round" or "mode"')
        return levels[self._place(eta, rule)]

    def distribution(self, eta: Vector) -> Any:
        """Predictive distribution on the user's scale: frozen, with the methods of scipy.stats."""
        return Discrete(self.levels, self._probabilities(eta))

    def distribution_of_numbers(self, eta: Vector) -> Any:
        """The predictive distribution; if levels are text, of the numbers that stand for them."""
        distribution = self.distribution(eta)
        return replace(distribution, values=self.numbers) if self.has_text else distribution

    def level_probabilities(self, eta: Vector) -> Vector:
        """(texts, levels) probabilities."""
        return np.asarray(self.distribution(eta[:, None]).pmf(self.levels[None, :]))

    def log_scores(self, responses: Vector, eta: Vector) -> Vector:
        """(texts,) negative log-probability, or log-density, of responses on the user's scale, none missing."""
        at = self.levels[self.encode(responses).astype(np.int64)] if hasattr(self, "levels") else responses
        distribution = self.distribution(eta)
        chances = distribution.pmf(at) if hasattr(distribution, "pmf") else distribution.pdf(at)
        return -np.log(np.maximum(chances, np.finfo(float).tiny))

    def check_trainable(self, what: str = "themes") -> None:
        """Raise if a text has several linear predictors; `what` takes one."""
        if self.n_predictors > 1:
            raise InputError(
                f"the {self.name} family has {self.n_predictors} linear predictors, and {what} take one; "
                'family="bernoulli" takes two classes, one against all others'
            )

    def sample(self, eta: Vector, rng: np.random.Generator) -> NDArray[Any]:
        """Draw responses at random, on the user's scale."""
        return np.asarray(self.distribution(eta).rvs(random_state=rng))

    def refit(self, y: Vector, eta: Vector, weight: Vector) -> Self:
        """The family with own parameters that minimise the loss at these eta; itself if it has none."""
        return self

    @property
    def directions(self) -> Vector:
        """(own, directions) in which own parameters move with the coefficients; empty if only `refit` changes them."""
        return np.zeros((0, 0))

    def own_derivatives(self, y: Vector, eta: Vector, weight: Vector) -> OwnDerivatives:
        """Derivatives of the weighted loss in the own parameters that move."""
        return OwnDerivatives(np.zeros(0), np.zeros(0), np.zeros((0, 0)), np.zeros((0, len(y))))

    def own_prior(self, counts: Vector, mean: float) -> OwnPrior:
        """Penalty on them; counts as in `OwnDerivatives`, mean : the average eta."""
        return OwnPrior(0.0, np.zeros(0), np.zeros((0, 0)))

    def moved(self, step: Vector) -> Self | None:
        """The family after a step (own,) of them; None if the step is not possible."""
        return self

    def settings(self) -> dict[str, Any]:
        """The constructor's arguments that reproduce this family."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def not_default(self) -> dict[str, Any]:
        """Settings that differ from their default."""
        defaults = {field.name: field.default for field in fields(self)}  # type: ignore[arg-type]
        return {name: value for name, value in self.settings().items() if value != defaults[name]}

    def __repr__(self) -> str:
        """The constructor's call without settings that have their default."""
        changed = self.not_default()
        shown = {name: value for name, value in self.settings().items() if value is None or name in changed}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def _place(self, eta: Vector, rule: str) -> NDArray[np.int64]:
        """Position of the level for each eta."""
        if rule == "mode":
            return np.argmax(self._probabilities(eta), axis=-1)
        numbers = self.numbers
        return np.searchsorted((numbers[1:] + numbers[:-1]) / 2, self.mean(eta), side="right")

    def _probabilities(self, eta: Vector) -> Vector:
        """(..., levels)."""
        raise NotImplementedError

    def _with(self, **own: Any) -> Self:
        """Replace own parameters without checking them: they were computed, and steps make thousands."""
        other = object.__new__(type(self))
        for name, value in (self.settings() | own).items():
            object.__setattr__(other, name, value)
        return other


class BetweenEnds(Family):
    """Families with the mean lowest + span / (1 + exp(-eta))."""

    _low: Any = 0
    _span: Any = 1

    def mean(self, eta: Vector) -> Vector:
        """Mean lowest + span p; for a scale of n steps lowest + n step p, the paper's expected rating 1 + 4 p."""
        return self._low + self._span * special.expit(eta)

    def link(self, mean: Vector) -> Vector:
        """logit of (mean - lowest) / span, kept `MARGIN` of the scale off its ends."""
        return special.logit(np.clip((np.asarray(mean) - self._low) / self._span, MARGIN, 1 - MARGIN))


def softplus(eta: Vector) -> Vector:
    """Return log(1 + exp(eta)) as logaddexp(0, eta) does, by functions that NumPy vectorises."""
    return np.maximum(eta, 0.0) + np.log1p(np.exp(-np.abs(eta)))


def expit(eta: Vector) -> Vector:
    """Return 1 / (1 + exp(-eta)) as SciPy does, by functions that NumPy vectorises."""
    small = np.exp(-np.abs(eta))
    return np.where(np.asarray(eta) >= 0, 1.0, small) / (1 + small)


def bell(eta: Vector) -> Vector:
    """Return p (1 - p) with p = 1 / (1 + exp(-eta)): the slope of `expit`."""
    small = np.exp(-np.abs(eta))
    return small / (1 + small) ** 2


def above_zero(curvature: Vector) -> Vector:
    """Return a curvature kept above 0, to which it may have been rounded."""
    return np.maximum(curvature, np.finfo(float).tiny)


def halved(
    below: Callable[[Vector], NDArray[np.bool_]], shape: tuple[int, ...], least: float, most: float
) -> tuple[Vector, Vector]:
    """Bisect, elementwise, to the point up to which `below` is true; returns both ends of the last interval."""
    low, high = np.full(shape, least), np.full(shape, most)
    for _ in range(60):
        middle = (low + high) / 2
        up = below(middle)
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    return low, high


#: First distance from the start in the search for a minimum: later iterations of a fit move less.
FIRST_REACH = 0.05


def flat_between(slope: Callable[[float], float], start: float, low: float, high: float) -> float:
    """Minimise a function by its slope, searching outwards from `start`; at an end if its sign never changes."""
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


@dataclass(frozen=True, eq=False)
class Discrete:
    """Probabilities (..., levels) of values (levels,): numbers in increasing order, or labels.

    Arguments of methods broadcast with the shape of the probabilities without their last axis.
    """

    values: NDArray[Any]
    probabilities: Vector

    def pmf(self, x: ArrayLike) -> Vector:
        """Probability of x."""
        x = np.asarray(x)
        places = self._places(x)
        listed = (places > 0) & (self.values[places - 1] == x)
        return _taken(with_zero(self.probabilities), np.where(listed, places, 0))

    def cdf(self, x: ArrayLike) -> Vector:
        """Probability of x or less; for labels, of those up to x in their order."""
        return _taken(self._cumulative, self._places(np.asarray(x)))

    def ppf(self, q: ArrayLike) -> NDArray[Any]:
        """The lowest level with a cumulative probability of at least q."""
        q = np.asarray(q, dtype=float)
        return self.values[np.sum(self._cumulative[..., 1:-1] < q[..., None], axis=-1)]

    def interval(self, confidence: float) -> tuple[NDArray[Any], NDArray[Any]]:
        """Ends of the central interval."""
        return self.ppf((1 - confidence) / 2), self.ppf((1 + confidence) / 2)

    def mean(self) -> Any:
        """Expected level; values must be numbers."""
        return self.probabilities @ self.values

    def rvs(self, size: Any = None, random_state: Any = None) -> NDArray[Any]:
        """Draw levels at random."""
        drawn = np.random.default_rng(random_state).random(self.probabilities.shape[:-1] if size is None else size)
        return self.values[np.sum(self._cumulative[..., 1:-1] <= np.asarray(drawn)[..., None], axis=-1)]

    def _places(self, x: NDArray[Any]) -> NDArray[np.int64]:
        """Number of levels up to x; for labels, 0 if unknown."""
        if self.values.dtype.kind in "iuf":
            return np.searchsorted(self.values, x, side="right")
        places = np.zeros(x.shape, dtype=np.int64)
        for place, value in enumerate(self.values):
            places[x == value] = place + 1
        return places

    @property
    def _cumulative(self) -> Vector:
        """(..., levels + 1) probability below each level, then 1."""
        below = with_zero(np.cumsum(self.probabilities, axis=-1))
        below[..., -1] = 1.0
        return below


def _taken(table: Vector, places: NDArray[np.int64]) -> Vector:
    """Entries of table (..., places), one for each row."""
    shape = np.broadcast_shapes(table.shape[:-1], places.shape)
    rows = np.broadcast_to(np.arange(int(np.prod(table.shape[:-1]))).reshape(table.shape[:-1]), shape)
    return table.reshape(-1, table.shape[-1])[rows, np.broadcast_to(places, shape)]


def with_zero(values: ArrayLike) -> Vector:
    """Prepend a 0 along the last axis."""
    values = np.asarray(values, dtype=float)
    return np.concatenate([np.zeros((*values.shape[:-1], 1)), values], axis=-1)


def linear_predictor(columns: Array, effects: Vector, intercept: float | Vector) -> Vector:
    """Return (texts,) eta = intercept + columns effects; (texts, P) for effects (columns, P) and intercept (P,).

    Summed without BLAS, so that the bits do not depend on its threads.
    """
    return intercept + np.einsum("ik,k...->i...", columns, effects, dtype=np.float64)


#: Tolerance of the best constant, in units of the family; and Newton steps towards it, at most.
INEXACT, MOST_CONSTANT_STEPS = 1e-2, 50


def deviance(family: Family, y: Vector, eta: Vector, weight: Vector | float = 1.0) -> float:
    """Return twice the loss above the smallest possible one, summed over texts whose encoded response is not NaN."""
    observed = ~np.isnan(y)
    y, eta, weight = y[observed], eta[observed], np.broadcast_to(weight, observed.shape)[observed]
    return 2 * float(np.sum(weight * (family.loss(y, eta) - family.best_loss(y))))


def best_constant(family: Family, y: Vector, weight: Vector, offset: Vector | float = 0.0) -> Any:
    """Return the constant, or P constants, that minimise the loss when added to the offset; no NaN among y."""
    if np.ndim(offset) == 0 or np.ptp(offset) == 0:  # texts with equal responses are alike
        y, places = np.unique(y, return_inverse=True)
        weight, offset = np.bincount(places, weights=weight).astype(float), float(np.ravel(offset)[0])

    def loss(constant: Any) -> float:
        return float(np.sum(weight * family.loss(y, constant_predictor(constant, y, offset))))

    def slope(constant: Any) -> Any:
        return weight @ family.gradient(y, constant_predictor(constant, y, offset))

    size = weight.sum()
    if family.n_predictors > 1:

        def average(constants: Vector) -> tuple[float, Vector]:
            return loss(constants) / size, slope(constants) / size

        return minimize(average, np.zeros(family.n_predictors), jac=True).x
    constant = float(minimize_scalar(loss).x)
    for _ in range(MOST_CONSTANT_STEPS):  # Newton steps: the error of the search is relative to the constant's size
        curvature = float(weight @ family.curvature(y, constant_predictor(constant, y, offset)))
        step = float(slope(constant)) / max(curvature, np.finfo(float).tiny)
        if abs(step) <= INEXACT * family.unit or loss(constant - step) > loss(constant):
            break
        constant -= step
    return constant


def constant_predictor(constant: Any, y: Vector, offset: Vector | float) -> Vector:
    """Return (texts,) constant plus offset; (texts, P) for P constants."""
    return np.add.outer(np.broadcast_to(offset, y.shape), constant)


def null_deviance(family: Family, y: Vector, weight: Vector, offset: Vector | float = 0.0) -> float:
    """Return the deviance of the best constant added to the offset."""
    observed = ~np.isnan(y)
    offset = np.broadcast_to(offset, y.shape)
    constant = best_constant(family, y[observed], weight[observed], offset[observed])
    return deviance(family, y, constant_predictor(constant, y, offset), weight)
