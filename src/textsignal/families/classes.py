"""Classes: two of them (Bernoulli), or more without an order (Categorical)."""

# ruff: noqa: D102 -- methods without a docstring are described in Family

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.base import Family, known, with_zero
from textsignal.families.binomial import Logistic
from textsignal.families.responses import (
    Labels,
    are_text,
    as_column,
    as_labels,
    distinct_labels,
    encode_labels,
    raise_at,
)
from textsignal.stored_values import LARGEST_WHOLE, Label, rule

#: The most classes: more are likely to be numbers or names.
MOST_CLASSES = 100


class Labelled(Family):
    """Levels by their labels, `_labels`, which are text or numbers."""

    #: Number that stands for the first text in means.
    first: ClassVar[int] = 0
    _labels: Any

    @property
    def levels(self) -> NDArray[Any]:
        kinds = {type(label) for label in self._labels}
        return np.array(self._labels, dtype=None if kinds <= {int, float} or kinds == {bool} else object)

    @property
    def numbers(self) -> Vector:
        """The labels, or for text their positions; more than two classes have no order, and so no mean."""
        if are_text(self._labels):
            return self.first + np.arange(float(len(self._labels)))
        return np.array(self._labels, dtype=float)


@dataclass(frozen=True, repr=False)
class Classes(Labelled):
    """Classes by their labels, None until they are learnt; two are a Bernoulli."""

    classifies: ClassVar[bool] = True
    #: Advice for other labels.
    fits: ClassVar[str]

    labels: tuple[Label, ...] | None = field(default=None, metadata=rule(least=-LARGEST_WHOLE, most=LARGEST_WHOLE))

    def __post_init__(self) -> None:
        if self.labels is not None:
            object.__setattr__(self, "labels", as_labels(self.labels))

    @classmethod
    def from_levels(cls, levels: ArrayLike) -> Any:
        """Define the classes, the reference first; two give a Bernoulli."""
        labels = tuple(np.asarray(levels, dtype=object).ravel())
        return Bernoulli(labels) if len(labels) == 2 else cls(labels)

    @property
    def has_text(self) -> bool:
        return self.labels is not None and are_text(self.labels)

    def learn(self, y: ArrayLike) -> Any:
        if self.labels is not None:
            return self
        labels = distinct_labels(y)
        self._check_number(labels, y)
        return Bernoulli(labels) if len(labels) == 2 else replace(self, labels=labels)

    @abstractmethod
    def _check_number(self, labels: Labels, y: ArrayLike) -> None:
        """Raise if there are too many classes in responses, naming a row."""

    def encode(self, y: ArrayLike) -> Vector:
        return encode_labels(y, self._labels, self.fits)

    _labels = known("labels")


@dataclass(frozen=True, repr=False)
class Bernoulli(Classes, Logistic):
    """One of two classes; the second, learnt as the larger label, has the chance 1 / (1 + exp(-eta)).

    The mean is that chance, or the expected label if labels are numbers.
    """

    name: ClassVar[str] = "bernoulli"
    fits: ClassVar[str] = 'family="categorical" takes more classes, family="ordinal" or "binomial" ordered numbers'

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.labels is not None and len(self.labels) != 2:
            raise InputError(f"Bernoulli: labels={self.labels!r} must be two; {self.fits}")

    def _check_number(self, labels: Labels, y: ArrayLike) -> None:
        if len(labels) > 2:
            values = as_column(y)
            first = list(dict.fromkeys(value for value in values if value in labels))[:2]
            third = [value in labels and value not in first for value in values]
            reason = f"of a third class next to {first[0]!r} and {first[1]!r}"
            many = 'Is it continuous? family="gaussian" takes any number'
            raise_at(np.array(third), values, reason, self.fits if len(labels) <= MOST_CLASSES else many)

    @property
    def _low(self) -> Any:
        return self.numbers[0]

    @property
    def _span(self) -> Any:
        return np.diff(self.numbers)[0]

    def _place(self, eta: Vector, rule: str) -> NDArray[np.int64]:
        """The more probable class by either rule; the second in a tie."""
        return (np.asarray(eta) >= 0).astype(np.int64)

    def _probabilities(self, eta: Vector) -> Vector:
        return np.stack([special.expit(-np.asarray(eta)), special.expit(eta)], axis=-1)


#: The smallest probability that another model's may have.
LEAST_CHANCE = 1e-6


@dataclass(frozen=True, repr=False)
class Categorical(Classes):
    """One of several classes: P(class c) = exp(eta_c) / sum of all, with eta_0 = 0 for the first, the reference.

    eta : (..., classes - 1); gradients have the same shape, and curvatures are matrices (..., classes - 1,
    classes - 1). The mean is the probability of each class: (..., classes).
    """

    name: ClassVar[str] = "categorical"
    fits: ClassVar[str] = "learn the classes from all responses, or give them: levels=..."

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.labels is not None and not 3 <= len(self.labels) <= MOST_CLASSES:
            raise InputError(
                f"Categorical: there are {len(self.labels)} classes; there must be 3 to {MOST_CLASSES}; "
                'family="bernoulli" takes two'
            )

    def _check_number(self, labels: Labels, y: ArrayLike) -> None:
        if len(labels) > MOST_CLASSES:
            values = as_column(y)
            reason = f"the first of {len(labels)} different ones: too many for classes, is it continuous?"
            raise_at(np.arange(values.size) == 0, values, reason, 'family="gaussian" takes any number')

    @property
    def n_predictors(self) -> int:
        return len(self._labels) - 1

    def loss(self, y: Vector, eta: Vector) -> Vector:
        """Loss log(1 + sum of exp(eta)) - eta of the class."""
        whole, places = with_zero(eta), np.asarray(y).astype(np.int64)
        chosen = np.take_along_axis(whole, places[..., None], axis=-1)[..., 0]
        return special.logsumexp(whole, axis=-1) - chosen

    def best_loss(self, y: Vector) -> Vector:
        return np.zeros(np.shape(y))

    def gradient(self, y: Vector, eta: Vector) -> Vector:
        """Gradient p - [class]."""
        happened = np.asarray(y)[..., None] == np.arange(1, len(self._labels))
        return self.mean(eta)[..., 1:] - happened

    def curvature(self, y: Vector, eta: Vector) -> Vector:
        """Curvature diag(p) - p p^T, kept positive definite where probabilities round to 0."""
        p = self.mean(eta)[..., 1:]
        diagonal = np.eye(p.shape[-1]) * (p + np.finfo(float).tiny)[..., None]
        return diagonal - p[..., :, None] * p[..., None, :]

    def mean(self, eta: Vector) -> Vector:
        return special.softmax(with_zero(eta), axis=-1)

    def link(self, mean: Vector) -> Vector:
        logs = np.log(np.maximum(mean, LEAST_CHANCE))
        return logs[..., 1:] - logs[..., :1]

    def _place(self, eta: Vector, rule: str) -> NDArray[np.int64]:
        """The most probable class, by either rule."""
        return np.argmax(with_zero(eta), axis=-1)

    def _probabilities(self, eta: Vector) -> Vector:
        return self.mean(eta)
