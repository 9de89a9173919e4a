"""What a GLM is told of documents beside their text, in numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.families import linear_predictor


@dataclass(frozen=True, eq=False)
class Given:
    """Covariates and offset of documents; effects of their text are given these.

    columns : (documents, columns) covariates, each around its mean in training; of no columns where there are none.
    offset : (documents,) what is added to the linear predictor, such as the logarithm of an exposure.
    groups : (documents,) numbers of groups within which documents depend on each other, or None.
    """

    columns: Vector
    offset: Vector
    groups: NDArray[np.int64] | None = None

    @classmethod
    def nothing(cls, n_documents: int) -> Self:
        """No covariates, and an offset of 0."""
        return cls(np.zeros((n_documents, 0)), np.zeros(n_documents))

    @property
    def n_columns(self) -> int:
        """Number of covariates' columns."""
        return int(self.columns.shape[1])

    def at(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Self:
        """The same for some of the documents."""
        groups = None if self.groups is None else self.groups[rows]
        return replace(self, columns=self.columns[rows], offset=self.offset[rows], groups=groups)

    def linear_predictor(self, effects: Vector) -> Vector:
        """(documents,) offset + columns . effects."""
        return linear_predictor(self.columns, effects, 0.0) + self.offset
