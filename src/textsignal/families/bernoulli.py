"""Bernoulli: one of two classes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.base import MARGIN, raise_at, unknown_rule
from textsignal.families.classes import MOST_CLASSES, Classes
from textsignal.families.distributions import Discrete
from textsignal.families.labels import Labels, as_column, distinct_labels, encode_labels
from textsignal.families.logistic import Logistic
from textsignal.stored_values import LARGEST_WHOLE, Label, rule

#: What takes more than two classes.
MORE = 'family="categorical" takes more classes, family="ordinal" or "binomial" ordered numbers'


def _more(labels: Labels) -> str:
    """What would take these."""
    return MORE if len(labels) <= MOST_CLASSES else 'Is it continuous? family="gaussian" takes any number'


@dataclass(frozen=True, repr=False)
class Bernoulli(Classes, Logistic):
    """One of two classes; the second has the chance 1 / (1 + exp(-eta)).

    The mean is that chance, or where the labels are numbers the expected one of them.

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
        """Give both classes."""
        return cls(tuple(np.asarray(levels, dtype=object).ravel()))

    def learn(self, y: ArrayLike) -> Self:
        """Fill in the labels."""
        if self.labels is not None:
            return self
        labels = distinct_labels(y)
        if len(labels) > 2:
            values = as_column(y)
            first = list(dict.fromkeys(value for value in values if value in labels))[:2]
            third = [value in labels and value not in first for value in values]
            reason = f"of a third class beside {first[0]!r} and {first[1]!r}"
            raise_at(np.array(third), values, reason, _more(labels))
        return replace(self, labels=labels)

    def encode(self, y: ArrayLike) -> Vector:
        """0 for the first class, 1 for the second; NaN where there is none, anything else raises, naming the row."""
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
        """The more probable class by either rule; the second where both are as probable."""
        if rule not in ("round", "mode"):
            raise unknown_rule(rule)
        return self.levels[(np.asarray(eta) >= 0).astype(np.int64)]

    def distribution(self, eta: Vector) -> Discrete:
        """Probabilities of both classes."""
        return Discrete(self.levels, np.stack([special.expit(-np.asarray(eta)), special.expit(eta)], axis=-1))
