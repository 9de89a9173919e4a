"""Computations on one block of documents, by modules with the functions of `Kernels`.

`reference` (NumPy) is the specification; `compiled` (numba) and `gpu` (CUDA) must match it. Topics are padded with
zeros to a multiple of `lanes(dtype)`.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from textsignal.arrays import Array, Vector


class Rows(NamedTuple):
    """Documents x terms in compressed rows: indptr starts at 0, indices are numbers of terms, data are positive."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: Array

    @classmethod
    def of(cls, X: sp.csr_array, start: int, stop: int) -> Rows:
        """Rows start..stop of X, sharing its memory."""
        first, last = X.indptr[start], X.indptr[stop]
        indptr = X.indptr[start : stop + 1].astype(np.int64) - first
        return cls(indptr, X.indices[first:last].astype(np.int32, copy=False), X.data[first:last])

    @property
    def n_documents(self) -> int:
        """Number of rows."""
        return self.indptr.size - 1

    def document(self, i: int) -> Rows:
        """Row i alone."""
        first, last = self.indptr[i], self.indptr[i + 1]
        return Rows(np.array([0, last - first]), self.indices[first:last], self.data[first:last])


class TextSums(NamedTuple):
    """pull : (terms, topics); mass : (topics,); log_loss : - sum of weight * x log(wH)."""

    pull: Array
    mass: Array
    log_loss: float


class WeightStep(NamedTuple):
    """W : (documents, topics) after the step; text_change : (documents,) upper bound on the text loss' change."""

    W: Array
    text_change: NDArray[np.float64]


class Means(NamedTuple):
    """Adam's running means of a gradient and of its square, each of the parameters' shape."""

    gradient: Vector
    square: Vector


class Kernels(Protocol):
    """Interface of a module of kernels; formulas are in `reference`. `out` : array for the result."""

    # ruff: noqa: D102
    def lanes(self, dtype: DTypeLike) -> int: ...
    def zeros(self, shape: tuple[int, int], dtype: DTypeLike) -> Array: ...
    def pull_on_weights(self, X: Rows, W: Array, HT: Array, out: Array | None = None) -> Array: ...
    def weight_step(
        self, W: Array, pull: Array, mass: Array, slope: Array, beta: Array, gamma: Array, out: Array | None = None
    ) -> WeightStep: ...
    def text_sums(self, X: Rows, W: Array, HT: Array, weight: Array, out: Array | None = None) -> TextSums: ...
    def response_sums(self, W: Array, gradient: Vector, curvature: Vector) -> tuple[Vector, Vector]: ...
    def infer(self, X: Rows, HT: Array, W: Array, smoothing: float, tol: float, max_iter: int) -> NDArray[np.int64]: ...
    def implicit_sums(
        self, X: Rows, W: Array, HT: Array, slope: Vector, beta: Vector, weight: Array, smoothing: float
    ) -> Array: ...
    def shares(self, logits: Vector, HT: Array) -> None: ...
    def share_gradient(
        self, pull: Array, HT: Array, profile: Vector, prior: float, n_documents: float, out: Vector
    ) -> None: ...
    def adam_step(self, parameters: Vector, gradient: Vector, means: Means, rate: float, count: int) -> None: ...
    def predictors(self, X: Rows, effects: Array) -> Array: ...
    def adagrad_step(self, X: Rows, slopes: Array, effects: Array, squares: Array, rate: float) -> None: ...


def pad(matrix: Array, kernels: Kernels, dtype: np.dtype) -> Array:
    """Copy a (rows, topics) matrix into (rows, padded topics), zeros behind the topics."""
    lanes = kernels.lanes(dtype)
    padded = kernels.zeros((matrix.shape[0], -(-matrix.shape[1] // lanes) * lanes), dtype)
    padded[:, : matrix.shape[1]] = matrix
    return padded
