"""Classes: two of them (Bernoulli), or more without an order (Categorical)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.base import MARGIN, Common, Discrete, unknown_rule
from textsignal.families.binomial import Logistic
from textsignal.families.responses import (
    Labels,
    are_text,
    as_array,
    as_column,
    as_labels,
    distinct_labels,
    encode_labels,
    numbers_of,
    raise_at,
)
from textsignal.stored_values import LARGEST_WHOLE, Label, rule

#: The most classes: more are likely to be numbers or names.
MOST_CLASSES = 100


class Classes(Common):
    """Classes by their labels, None until they are learnt."""

    classifies = True
    labels: Labels | None

    def __post_init__(self) -> None:
        if self.labels is not None:
            object.__setattr__(self, "labels", as_labels(self.labels))
            self._check_labels()

    def _check_labels(self) -> None:
        """Raise if there are too few or too many."""

    @property
    def levels(self) -> NDArray[Any]:
        """The classes."""
        return as_array(self._labels)

    @property
    def has_text(self) -> bool:
        """True if classes are text."""
        return self.labels is not None and are_text(self.labels)

    @property
    def numbers(self) -> Vector:
        """The classes, or for text their positions from 0 on; more than two have no order, and so no mean."""
        return numbers_of(self._labels)

    @property
    def _labels(self) -> Labels:
        labels: Labels = self._known("labels")
        return labels


#: Advice for more than two classes.
MORE = 'family="categorical" takes more classes, family="ordinal" or "binomial" ordered numbers'


@dataclass(frozen=True, repr=False)
class Bernoulli(Classes, Logistic):
    """One of two classes; the second has the chance 1 / (1 + exp(-eta)).

    The mean is that chance, or the expected label if labels are numbers.

    Parameters
    ----------
    labels : both classes: strings, truth values or numbers; None to learn them, the larger one second.

    Examples
    --------
    >>> Bernoulli().learn(["no", "yes", "no"])
    Bernoulli(labels=('no', 'yes'))
    >>> Bernoulli(labels=("no", "yes")).level(np.array([-1.0, 2.0]), "mode")
    array(['no', 'yes'], dtype=object)
    """

    name: ClassVar[str] = "bernoulli"

    labels: tuple[Label, ...] | None = field(default=None, metadata=rule(least=-LARGEST_WHOLE, most=LARGEST_WHOLE))

    def _check_labels(self) -> None:
        if len(self._labels) != 2:
            raise InputError(f"Bernoulli: labels={self.labels!r} must be two; {MORE}")

    @classmethod
    def from_levels(cls, levels: ArrayLike) -> Self:
        """Define both classes."""
        return cls(tuple(np.asarray(levels, dtype=object).ravel()))

    def learn(self, y: ArrayLike) -> Self:
        """Fill in the labels that occur."""
        if self.labels is not None:
            return self
        labels = distinct_labels(y)
        if len(labels) > 2:
            values = as_column(y)
            first = list(dict.fromkeys(value for value in values if value in labels))[:2]
            third = [value in labels and value not in first for value in values]
            reason = f"of a third class next to {first[0]!r} and {first[1]!r}"
            many = 'Is it continuous? family="gaussian" takes any number'
            raise_at(np.array(third), values, reason, MORE if len(labels) <= MOST_CLASSES else many)
        return replace(self, labels=labels)

    def encode(self, y: ArrayLike) -> Vector:
        """Return 0 for the first class, 1 for the second, NaN if missing; anything else raises, naming the row."""
        return encode_labels(y, self._labels, MORE)

    def mean(self, eta: Vector) -> Vector:
        """The chance of the second class, or the expected number."""
        low, high = self.numbers
        return low + (high - low) * special.expit(eta)

    def link(self, mean: Vector) -> Vector:
        """logit of the chance, kept off 0 and 1."""
        low, high = self.numbers
        return special.logit(np.clip((np.asarray(mean) - low) / (high - low), MARGIN, 1 - MARGIN))

    def level(self, eta: Vector, rule: str) -> NDArray[Any]:
        """The more probable class by either rule; the second in a tie."""
        if rule not in ("round", "mode"):
            raise unknown_rule(rule)
        return self.levels[(np.asarray(eta) >= 0).astype(np.int64)]

    def distribution(self, eta: Vector) -> Discrete:
        """Probabilities of both classes."""
        return Discrete(self.levels, np.stack([special.expit(-np.asarray(eta)), special.expit(eta)], axis=-1))


#: The smallest probability that another model's may have.
LEAST_CHANCE = 1e-6


@dataclass(frozen=True, repr=False)
class Categorical(Classes):
    """One of several classes: P(class c) = exp(eta_c) / sum of all, with eta_0 = 0 for the first, the reference.

    eta : (..., classes - 1); gradients have the same shape, and curvatures are matrices (..., classes - 1,
    classes - 1). The mean is the probability of each class: (..., classes).

    Parameters
    ----------
    labels : the classes: strings, truth values or numbers, the reference first; None to learn them.

    Examples
    --------
    >>> kinds = Categorical().learn(["red", "white", "rose", "red"])
    >>> kinds
    Categorical(labels=('red', 'rose', 'white'))
    >>> kinds.mean(np.zeros((1, 2))).round(2)
    array([[0.33, 0.33, 0.33]])
    """

    name: ClassVar[str] = "categorical"

    labels: tuple[Label, ...] | None = field(default=None, metadata=rule(least=-LARGEST_WHOLE, most=LARGEST_WHOLE))

    def _check_labels(self) -> None:
        if not 3 <= len(self._labels) <= MOST_CLASSES:
            raise InputError(
                f"Categorical: there are {len(self._labels)} classes; there must be 3 to {MOST_CLASSES}; "
                'family="bernoulli" takes two'
            )

    @classmethod
    def from_levels(cls, levels: ArrayLike) -> Any:
        """Define the classes, the reference first; two give a Bernoulli."""
        labels = tuple(np.asarray(levels, dtype=object).ravel())
        return Bernoulli(labels) if len(labels) == 2 else cls(labels)

    @property
    def n_predictors(self) -> int:
        """One for each class but the first."""
        return len(self._labels) - 1

    def learn(self, y: ArrayLike) -> Any:
        """Fill in the classes that occur; two give a Bernoulli."""
        if self.labels is not None:
            return self
        labels = distinct_labels(y)
        if len(labels) > MOST_CLASSES:
            values = as_column(y)
            reason = f"the first of {len(labels)} different ones: too many for classes, is it continuous?"
            raise_at(np.arange(values.size) == 0, values, reason, 'family="gaussian" takes any number')
        return Bernoulli(labels) if len(labels) == 2 else replace(self, labels=labels)

    def encode(self, y: ArrayLike) -> Vector:
        """Return the number of each class from 0 on, NaN if missing; anything else raises, naming the row."""
        return encode_labels(y, self._labels, "learn the classes from all responses, or give them: levels=...")

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """Loss log(1 + sum of exp(eta)) - eta of the class."""
        whole = _with_reference(eta)
        chosen = np.take_along_axis(whole, _places(y)[..., None], axis=-1)[..., 0]
        return special.logsumexp(whole, axis=-1) - chosen

    def best_loss(self, y: Vector) -> Vector:
        """Return 0: the class is certain."""
        return np.zeros(np.shape(y))

    def gradient(self, y: Vector, eta: Vector) -> Vector:
        """Gradient p - [class]."""
        happened = _places(y)[..., None] == np.arange(1, len(self._labels))
        return self.mean(eta)[..., 1:] - happened

    def curvature(self, y: Vector, eta: Vector) -> Vector:
        """Curvature diag(p) - p p^T, kept positive definite where probabilities round to 0."""
        p = self.mean(eta)[..., 1:]
        diagonal = np.eye(p.shape[-1]) * (p + np.finfo(float).tiny)[..., None]
        return diagonal - p[..., :, None] * p[..., None, :]

    def mean(self, eta: Vector) -> Vector:
        """Probability of each class."""
        return special.softmax(_with_reference(eta), axis=-1)

    def link(self, mean: Vector) -> Vector:
        """Logarithms of probabilities against the first class."""
        logs = np.log(np.maximum(mean, LEAST_CHANCE))
        return logs[..., 1:] - logs[..., :1]

    def level(self, eta: Vector, rule: str) -> NDArray[Any]:
        """The most probable class, by either rule."""
        if rule not in ("round", "mode"):
            raise unknown_rule(rule)
        return self.levels[np.argmax(_with_reference(eta), axis=-1)]

    def distribution(self, eta: Vector) -> Discrete:
        """Probabilities of all classes."""
        return Discrete(self.levels, self.mean(eta))

    def sample(self, eta: Vector, rng: np.random.Generator) -> NDArray[Any]:
        """Draw classes at random."""
        return self.distribution(eta).rvs(random_state=rng)


def _with_reference(eta: Vector) -> Vector:
    """Prepend the 0 of the reference: (..., classes)."""
    eta = np.asarray(eta, dtype=float)
    return np.concatenate([np.zeros((*eta.shape[:-1], 1)), eta], axis=-1)


def _places(y: Vector) -> NDArray[np.int64]:
    return np.asarray(y).astype(np.int64)
