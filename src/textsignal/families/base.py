"""Response families: pure functions of the encoded response y and the linear predictor eta.

A family knows nothing of text, topics or weights. It defines which responses are allowed (`encode`), how badly a
linear predictor explains them (`loss`, with its two derivatives), what a linear predictor means on the user's scale
(`mean`, `level`, `distribution`), and its own parameters such as thresholds or dispersion, given linear predictors
(`refit`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize, minimize_scalar

from textsignal.arrays import Array, Vector
from textsignal.errors import InputError

#: How often a level that nobody gave counts as given: its probability is small, but not 0.
UNSEEN = 0.5
#: Newton steps of own parameters, and halvings of each.
MOST_NEWTON_STEPS, MOST_HALVINGS = 100, 40
#: How little the last of them moves any; and by how much a sum that has not changed may differ.
SETTLED, ROUNDING = 1e-11, 1e-14
#: How far from a start a minimum is looked for first: later turns of a fit move less.
FIRST_REACH = 0.05


@dataclass(frozen=True, eq=False)
class OwnDerivatives:
    """What documents say of own parameters.

    counts : (levels,) weight of the documents of each level.
    slope, bend : (own,) and (own, own) derivatives of the weighted loss in own parameters.
    cross : (own, documents) second derivatives of each document's loss in own parameters and eta, without weights.
    """

    counts: Vector
    slope: Vector
    bend: Vector
    cross: Vector

    @classmethod
    def none(cls, n_documents: int) -> OwnDerivatives:
        """Of a family that has none."""
        return cls(np.zeros(0), np.zeros(0), np.zeros((0, 0)), np.zeros((0, n_documents)))


@dataclass(frozen=True, eq=False)
class OwnPrior:
    """What is added to the loss for own parameters' sake, with its derivatives in them."""

    loss: float
    slope: Vector
    bend: Vector


class Moving(Protocol):
    """A family with such parameters."""

    @property
    def directions(self) -> Vector:
        """(own, directions) in which they may move."""

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """Negative log-likelihood of each document."""

    def own_derivatives(self, y: Vector, eta: Vector, weight: Vector) -> OwnDerivatives:
        """What documents say of own parameters."""

    def own_prior(self, counts: Vector, mean: float) -> OwnPrior:
        """What is added; counts as in `OwnDerivatives`, mean : the average linear predictor."""

    def moved(self, step: Vector) -> Self | None:
        """The family after a step (own,); None where it cannot be made."""


def prior_of_unseen(family: Moving, counts: Vector, mean: float) -> OwnPrior:
    """A level that nobody gave counts as given a little, at the average linear predictor."""
    levels = np.flatnonzero(counts == 0).astype(float)
    if not levels.size:
        n_own = len(family.directions)
        return OwnPrior(0.0, np.zeros(n_own), np.zeros((n_own, n_own)))
    eta, weight = np.full(levels.size, mean), np.full(levels.size, UNSEEN)
    found = family.own_derivatives(levels, eta, weight)
    return OwnPrior(UNSEEN * float(np.sum(family.loss(levels, eta))), found.slope, found.bend)


def refit_moving(first: Any, y: Vector, eta: Vector, weight: Vector) -> Any:
    """The family with own parameters of the smallest loss, by Newton steps that are halved while it rises."""
    basis, mean = first.directions, float(np.average(eta, weights=weight))
    family, found = first, first.own_derivatives(y, eta, weight)

    def value(family: Any) -> float:
        return float(np.sum(weight * family.loss(y, eta))) + float(family.own_prior(found.counts, mean).loss)

    before = value(family)
    for _ in range(MOST_NEWTON_STEPS):
        prior = family.own_prior(found.counts, mean)
        bend, slope = basis.T @ (found.bend + prior.bend) @ basis, basis.T @ (found.slope + prior.slope)
        step = -basis @ np.linalg.solve(bend, slope)
        for halving in range(MOST_HALVINGS):
            other = family.moved(step / 2**halving)
            after = np.inf if other is None else value(other)
            if after <= before + ROUNDING * abs(before):
                break
        else:
            break
        family, before = other, after
        if np.abs(step).max() <= SETTLED:
            break
        found = family.own_derivatives(y, eta, weight)
    return family


def with_own(family: Any, **own: Any) -> Any:
    """The same family with other own parameters, which were computed and are not checked: steps make thousands."""
    found = object.__new__(type(family))
    for name, value in (family.settings() | own).items():
        object.__setattr__(found, name, value)
    return found


def flat_between(slope: Callable[[float], float], start: float, low: float, high: float) -> float:
    """Where a function of one number is smallest between two ends, by its slope; looked for from `start` on.

    Further and further off until the slope changes its sign; an end where it never does.
    """
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


#: How near an expected response of another model may come to an end of the scale, as a share of it.
MARGIN = 0.01


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


#: How far off the best constant may be, in units of the family; and steps towards it, at most.
INEXACT, MOST_CONSTANT_STEPS = 1e-2, 50


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


def best_constant(family: Family, y: Vector, weight: Vector, offset: Vector | float = 0.0) -> Any:
    """The constant that with the offset is the linear predictor of the smallest loss; no response is missing.

    (P,) constants of P linear predictors.
    """
    if np.ndim(offset) == 0 or np.ptp(offset) == 0:  # documents of the same response are alike
        y, places = np.unique(y, return_inverse=True)
        weight, offset = np.bincount(places, weights=weight).astype(float), float(np.ravel(offset)[0])

    def loss(constant: Any) -> float:
        return float(np.sum(weight * family.loss(y, constant_predictor(constant, y, offset))))

    def slope(constants: Vector) -> Vector:
        return weight @ family.gradient(y, constant_predictor(constants, y, offset)) / weight.sum()

    if family.n_predictors == 1:
        return _settled(float(minimize_scalar(loss).x), family, y, weight, offset)
    found = minimize(lambda constants: loss(constants) / weight.sum(), np.zeros(family.n_predictors), jac=slope)
    return found.x


def _settled(constant: float, family: Family, y: Vector, weight: Vector, offset: Vector | float) -> float:
    """The constant after Newton steps, where it is far off: a search is as exact as the constant is large."""
    for _ in range(MOST_CONSTANT_STEPS):
        eta = constant_predictor(constant, y, offset)
        curvature = max(float(weight @ family.curvature(y, eta)), np.finfo(float).tiny)
        step = float(weight @ family.gradient(y, eta)) / curvature
        other = constant_predictor(constant - step, y, offset)
        if abs(step) <= INEXACT * family.unit or weight @ family.loss(y, other) > weight @ family.loss(y, eta):
            break
        constant -= step
    return constant


def constant_predictor(constant: Any, y: Vector, offset: Vector | float) -> Vector:
    """(documents,) the same linear predictor for all but for the offset; (documents, P) of P constants."""
    return np.add.outer(np.broadcast_to(offset, y.shape), constant)


def null_deviance(family: Family, y: Vector, weight: Vector, offset: Vector | float = 0.0) -> float:
    """The deviance of the best constant, beside the offset, as linear predictor."""
    observed = ~np.isnan(y)
    offset = np.broadcast_to(offset, y.shape)
    constant = best_constant(family, y[observed], weight[observed], offset[observed])
    return deviance(family, y, constant_predictor(constant, y, offset), weight)
