"""The kernels in numba: only nonzeros, whole vectors of topics, one document at a time.

Formulas stand in `reference`. Every function releases the interpreter lock and uses one thread; threads are the
engine's business. Nothing of size nonzeros x topics is allocated.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import DTypeLike, NDArray

from textsignal.kernels import Array, Rows, TextSums, Vector, WeightStep
from textsignal.kernels.lanes import (
    aligned_zeros,
    lanes,
    load,
    multiply_add,
    nothing,
    splat,
    store,
    total,
    width,
)
from textsignal.kernels.reference import EPSILON

__all__ = ["infer", "lanes", "pull_on_weights", "response_sums", "text_sums", "weight_step", "zeros"]

_compile = njit(nogil=True, cache=True, error_model="numpy")
_compile_inline = njit(nogil=True, cache=True, error_model="numpy", inline="always")


def zeros(shape: tuple[int, int], dtype: DTypeLike) -> Array:
    """Zeros aligned to whole vectors."""
    return aligned_zeros(shape, dtype)


def pull_on_weights(X: Rows, W: Array, HT: Array) -> Array:
    """R H^T."""
    pull = zeros(W.shape, W.dtype)
    _pull_on_weights(X, W, HT, W.dtype.type(EPSILON), _groups(W), pull)
    return pull


def weight_step(W: Array, pull: Array, mass: Array, slope: Array, beta: Array, gamma: Array) -> WeightStep:
    """The paper's step and a bound on the text loss' change."""
    moved = zeros(W.shape, W.dtype)
    change = np.empty(len(W))
    _weight_step(W, pull, mass, slope, beta, gamma, moved, change)
    return WeightStep(moved, change)


def text_sums(X: Rows, W: Array, HT: Array, weight: Array) -> TextSums:
    """Pull on the topics, mass of the weights and the part of the text loss that moves."""
    pull = zeros(HT.shape, HT.dtype)
    mass = np.zeros(W.shape[1], W.dtype)
    reconstruction = np.empty_like(X.data)
    _pull_on_topics(X, W, HT, weight, W.dtype.type(EPSILON), _groups(W), reconstruction, pull, mass)
    # NumPy's logarithm is vectorised, numba's is not.
    np.log(reconstruction, out=reconstruction)
    return TextSums(pull, mass, -_weighted_sum(X, weight, reconstruction))


def response_sums(W: Array, gradient: Vector, curvature: Vector) -> tuple[Vector, Vector]:
    """Gradient and Hessian in (beta, intercept)."""
    size = W.shape[1] + 1
    first, second = np.zeros(size), np.zeros((size, size))
    _response_sums(W, gradient, curvature, first, second)
    return first, second + np.tril(second, -1).T


def infer(X: Rows, HT: Array, W: Array, smoothing: float, tol: float, max_iter: int) -> NDArray[np.int64]:
    """Each document's best weights, in place."""
    steps = np.zeros(X.n_documents, dtype=np.int64)
    number = W.dtype.type
    pull = zeros((1, W.shape[1]), W.dtype)
    mass = HT.sum(axis=0)
    _infer(X, HT, mass, W, number(smoothing), tol, max_iter, number(EPSILON), _groups(W), pull, steps)
    return steps


def _groups(W: Array) -> tuple[int, ...]:
    """A tuple as long as there are vectors in a row of W; its length is part of its type, so loops unroll."""
    return (0,) * (W.shape[1] // lanes(W.dtype))


@_compile_inline
def _reconstruct(W, w, HT, h, groups):  # type: ignore[no-untyped-def]
    """W.flat[w:] . HT.flat[h:] over all topics."""
    dot = nothing(HT)
    for group in range(len(groups)):
        k = group * width(HT)
        dot = multiply_add(load(W, w + k), load(HT, h + k), dot)
    return total(dot)


@_compile_inline
def _add_scaled(ratio, source, s, target, t, groups):  # type: ignore[no-untyped-def]
    """target.flat[t:] += ratio * source.flat[s:] over all topics."""
    scale = splat(ratio)
    for group in range(len(groups)):
        k = group * width(source)
        store(target, t + k, multiply_add(scale, load(source, s + k), load(target, t + k)))


@_compile_inline
def _document_pull(X, i, W, HT, epsilon, groups, pull, out):  # type: ignore[no-untyped-def]
    """pull.flat[out:] = sum_j x_j / (wH)_j H_j for document i."""
    n_topics = len(groups) * width(HT)
    for k in range(n_topics):
        pull[out // n_topics, k] = 0.0
    for p in range(X.indptr[i], X.indptr[i + 1]):
        h = X.indices[p] * n_topics
        ratio = X.data[p] / (_reconstruct(W, i * n_topics, HT, h, groups) + epsilon)
        _add_scaled(ratio, HT, h, pull, out, groups)


@_compile
def _pull_on_weights(X, W, HT, epsilon, groups, pull):  # type: ignore[no-untyped-def]
    for i in range(W.shape[0]):
        _document_pull(X, i, W, HT, epsilon, groups, pull, i * len(groups) * width(HT))


@_compile
def _pull_on_topics(X, W, HT, weight, epsilon, groups, reconstruction, pull, mass):  # type: ignore[no-untyped-def]
    n_topics = len(groups) * width(HT)
    for i in range(W.shape[0]):
        w = i * n_topics
        for p in range(X.indptr[i], X.indptr[i + 1]):
            h = X.indices[p] * n_topics
            d = _reconstruct(W, w, HT, h, groups) + epsilon
            reconstruction[p] = d
            _add_scaled(weight[i] * X.data[p] / d, W, w, pull, h, groups)
        for k in range(n_topics):
            mass[k] += weight[i] * W[i, k]


@_compile
def _weighted_sum(X, weight, values):  # type: ignore[no-untyped-def]
    """sum_i weight_i sum_j x_ij values_ij."""
    result = 0.0
    for i in range(weight.size):
        document = 0.0
        for p in range(X.indptr[i], X.indptr[i + 1]):
            document += X.data[p] * values[p]
        result += weight[i] * document
    return result


@_compile
def _weight_step(W, pull, mass, slope, beta, gamma, moved, change):  # type: ignore[no-untyped-def]
    for i in range(W.shape[0]):
        bound = 0.0
        for k in range(W.shape[1]):
            G = slope[i] * beta[k]
            upper = pull[i, k] + max(-G, 0.0) + gamma[i]
            lower = mass[k] + max(G, 0.0) + gamma[i]
            ratio = upper / lower if lower > 0 else 0.0
            w = W[i, k]
            moved[i, k] = w * ratio
            bound += mass[k] * (moved[i, k] - w)
            if moved[i, k] > 0:
                bound -= w * pull[i, k] * np.log(ratio)
        change[i] = bound


@_compile
def _response_sums(W, gradient, curvature, first, second):  # type: ignore[no-untyped-def]
    """Fill `first` and the lower triangle of `second`."""
    n_topics = W.shape[1]
    for i in range(W.shape[0]):
        g, c = gradient[i], curvature[i]
        for k in range(n_topics):
            first[k] += g * W[i, k]
            scaled = c * W[i, k]
            for m in range(k + 1):
                second[k, m] += scaled * W[i, m]
        first[n_topics] += g
        for m in range(n_topics):
            second[n_topics, m] += c * W[i, m]
        second[n_topics, n_topics] += c


@_compile
def _infer(X, HT, mass, W, smoothing, tol, max_iter, epsilon, groups, pull, steps):  # type: ignore[no-untyped-def]
    for i in range(W.shape[0]):
        for step in range(max_iter):
            _document_pull(X, i, W, HT, epsilon, groups, pull, 0)
            largest = 0.0
            for k in range(W.shape[1]):
                if mass[k] > 0:
                    upper = W[i, k] * pull[0, k] + smoothing
                    if W[i, k] > 0:
                        largest = max(largest, upper / (W[i, k] * mass[k]))
                    W[i, k] = upper / mass[k]
            steps[i] = step + 1
            if largest - 1.0 < tol:
                break
