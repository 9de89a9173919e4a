"""What families of classes share: labels, and the numbers that stand for them."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.families.base import Common
from textsignal.families.labels import Labels, are_text, as_array, as_labels, numbers_of

#: More classes are more likely numbers or names than kinds.
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
        """Raise where there are too few or too many."""

    @property
    def levels(self) -> NDArray[Any]:
        """The classes."""
        return as_array(self._labels)

    @property
    def has_text(self) -> bool:
        """Whether classes are text."""
        return self.labels is not None and are_text(self.labels)

    @property
    def numbers(self) -> Vector:
        """The classes, or their places from 0 on for text; more than two have no order, and so no mean."""
        return numbers_of(self._labels)

    @property
    def _labels(self) -> Labels:
        if self.labels is None:
            kind = type(self).__name__
            raise InputError(f"the classes of this {kind} are not known yet; give labels, or call learn(y)")
        return self.labels
