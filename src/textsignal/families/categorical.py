"""Categorical: classes without an order, each but the first with a linear predictor of its own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.base import raise_at, unknown_rule
from textsignal.families.bernoulli import Bernoulli
from textsignal.families.classes import MOST_CLASSES, Classes
from textsignal.families.distributions import Discrete
from textsignal.families.labels import as_column, distinct_labels, encode_labels
from textsignal.stored_values import LARGEST_WHOLE, Label, rule

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
        """Give the classes, the reference first; two are a Bernoulli's."""
        labels = tuple(np.asarray(levels, dtype=object).ravel())
        return Bernoulli(labels) if len(labels) == 2 else cls(labels)

    @property
    def n_predictors(self) -> int:
        """One for each class but the first."""
        return len(self._labels) - 1

    def learn(self, y: ArrayLike) -> Any:
        """Fill in the classes, those that occur; two are a Bernoulli's."""
        if self.labels is not None:
            return self
        labels = distinct_labels(y)
        if len(labels) > MOST_CLASSES:
            values = as_column(y)
            reason = f"the first of {len(labels)} different ones: too many for classes, is it continuous?"
            raise_at(np.arange(values.size) == 0, values, reason, 'family="gaussian" takes any number')
        return Bernoulli(labels) if len(labels) == 2 else replace(self, labels=labels)

    def encode(self, y: ArrayLike) -> Vector:
        """Number of each response's class from 0 on; NaN where there is none, anything else raises, naming the row."""
        return encode_labels(y, self._labels, "learn the classes from all responses, or give them: levels=...")

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """Loss log(1 + sum of exp(eta)) - eta of the class."""
        whole = _with_reference(eta)
        chosen = np.take_along_axis(whole, _places(y)[..., None], axis=-1)[..., 0]
        return special.logsumexp(whole, axis=-1) - chosen

    def best_loss(self, y: Vector) -> Vector:
        """Certainty."""
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
        """Classes drawn at random."""
        return self.distribution(eta).rvs(random_state=rng)


def _with_reference(eta: Vector) -> Vector:
    """(..., classes) with a 0 for the first."""
    eta = np.asarray(eta, dtype=float)
    return np.concatenate([np.zeros((*eta.shape[:-1], 1)), eta], axis=-1)


def _places(y: Vector) -> NDArray[np.int64]:
    return np.asarray(y).astype(np.int64)
