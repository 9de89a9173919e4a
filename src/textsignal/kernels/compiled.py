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
from textsignal.kernels.reference import EPSILON, TINY

__all__ = ["infer", "lanes", "pull_on_weights", "response_sums", "text_sums", "weight_step", "zeros"]

_compile = njit(nogil=True, cache=True, error_model="numpy")
# Sums of numbers may be added lane by lane: another order, but always the same one.
_compile_sum = njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
_compile_inline = njit(nogil=True, cache=True, error_model="numpy", inline="always")


def zeros(shape: tuple[int, int], dtype: DTypeLike) -> Array:
    """Zeros aligned to whole vectors."""
    return aligned_zeros(shape, dtype)


def pull_on_weights(X: Rows, W: Array, HT: Array, out: Array | None = None) -> Array:
    """R H^T."""
    pull = zeros(W.shape, W.dtype) if out is None else out
    _pull_on_weights(X, W, HT, W.dtype.type(EPSILON), _groups(W), pull)
    return pull


def weight_step(
    W: Array, pull: Array, mass: Array, slope: Array, beta: Array, gamma: Array, out: Array | None = None
) -> WeightStep:
    """The paper's step and a bound on the text loss' change."""
    moved = zeros(W.shape, W.dtype) if out is None else out
    change = np.empty(len(W))
    _weight_step(W, pull, mass, slope, beta, gamma, moved, change)
    return WeightStep(moved, change)


def text_sums(X: Rows, W: Array, HT: Array, weight: Array, out: Array | None = None) -> TextSums:
    """Pull on the topics, mass of the weights and the part of the text loss that moves."""
    pull = zeros(HT.shape, HT.dtype)
    mass = np.zeros(W.shape[1], W.dtype)
    reconstruction = np.empty_like(X.data) if out is None else out
    _pull_on_topics(X, W, HT, weight, W.dtype.type(EPSILON), _groups(W), reconstruction, pull, mass)
    # NumPy's logarithm is vectorised, numba's is not.
    np.log(reconstruction, out=reconstruction)
    return TextSums(pull, mass, -_weighted_sum(X, weight, reconstruction))


def response_sums(W: Array, gradient: Vector, curvature: Vector) -> tuple[Vector, Vector]:
    """Gradient and Hessian in (beta, intercept)."""
    n_topics = W.shape[1]
    rows = W if W.dtype == np.float64 else _as_float64(W)
    slopes, cross = zeros((1, rows.shape[1]), np.float64), zeros((1, rows.shape[1]), np.float64)
    squares = zeros((rows.shape[1], rows.shape[1]), np.float64)
    _response_sums(rows, gradient, curvature, _groups(rows), slopes, cross, squares)
    first = np.append(slopes[0, :n_topics], gradient.sum())
    second = np.empty((n_topics + 1, n_topics + 1))
    second[:-1, :-1] = squares[:n_topics, :n_topics]
    second[-1, :-1] = second[:-1, -1] = cross[0, :n_topics]
    second[-1, -1] = curvature.sum()
    return first, second


def infer(X: Rows, HT: Array, W: Array, smoothing: float, tol: float, max_iter: int) -> NDArray[np.int64]:
    """Each document's best weights, in place."""
    steps = np.zeros(X.n_documents, dtype=np.int64)
    number = W.dtype.type
    pull = zeros((1, W.shape[1]), W.dtype)
    mass = HT.sum(axis=0)
    _infer(X, HT, mass, W, number(smoothing), tol, max_iter, number(EPSILON), _groups(W), pull, steps)
    return steps


def _as_float64(W: Array) -> Array:
    """A copy in double precision, in memory that suits the kernels."""
    copy = zeros(W.shape, np.float64)
    copy[:] = W
    return copy


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
    """pull.flat[out:] = sum_j x_j / (wH)_j H_j for document i.

    Four nonzeros at a time, so that the next ones need not wait for the sum of the last.
    """
    n_topics = len(groups) * width(HT)
    w = i * n_topics
    for group in range(len(groups)):
        store(pull, out + group * width(HT), nothing(HT))
    start, stop = X.indptr[i], X.indptr[i + 1]
    fours = start + (stop - start) // 4 * 4
    for p in range(start, fours, 4):
        a, b = X.indices[p] * n_topics, X.indices[p + 1] * n_topics
        c, d = X.indices[p + 2] * n_topics, X.indices[p + 3] * n_topics
        ra = splat(X.data[p] / (_reconstruct(W, w, HT, a, groups) + epsilon))
        rb = splat(X.data[p + 1] / (_reconstruct(W, w, HT, b, groups) + epsilon))
        rc = splat(X.data[p + 2] / (_reconstruct(W, w, HT, c, groups) + epsilon))
        rd = splat(X.data[p + 3] / (_reconstruct(W, w, HT, d, groups) + epsilon))
        for group in range(len(groups)):
            k = group * width(HT)
            first = multiply_add(ra, load(HT, a + k), multiply_add(rb, load(HT, b + k), load(pull, out + k)))
            second = multiply_add(rd, load(HT, d + k), first)
            store(pull, out + k, multiply_add(rc, load(HT, c + k), second))
    for p in range(fours, stop):
        h = X.indices[p] * n_topics
        ratio = X.data[p] / (_reconstruct(W, w, HT, h, groups) + epsilon)
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
        start, stop = X.indptr[i], X.indptr[i + 1]
        whole = start + (stop - start) // width(values) * width(values)
        lanewise = nothing(values)
        for p in range(start, whole, width(values)):
            lanewise = multiply_add(load(X.data, p), load(values, p), lanewise)
        document = np.float64(total(lanewise))
        for p in range(whole, stop):
            document += X.data[p] * values[p]
        result += weight[i] * document
    return result


@_compile_sum
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
            minus_log = (1 - ratio) / np.sqrt(ratio + TINY) if ratio < 1 else 2 * (1 - ratio) / (1 + ratio)
            bound += mass[k] * (w * ratio - w) + w * pull[i, k] * minus_log
        change[i] = bound


@_compile
def _response_sums(W, gradient, curvature, groups, slopes, cross, squares):  # type: ignore[no-untyped-def]
    """slopes += W^T gradient, cross += W^T curvature, squares += W^T diag(curvature) W."""
    n_topics = len(groups) * width(W)
    for i in range(W.shape[0]):
        w = i * n_topics
        _add_scaled(gradient[i], W, w, slopes, 0, groups)
        _add_scaled(curvature[i], W, w, cross, 0, groups)
        for k in range(n_topics):
            _add_scaled(curvature[i] * W[i, k], W, w, squares, k * n_topics, groups)


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
                else:
                    W[i, k] = 0.0
            steps[i] = step + 1
            if step > 0 and largest - 1.0 < tol:
                break
