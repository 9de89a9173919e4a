"""The kernels in numba: only nonzeros, whole vectors of topics, one document at a time.

Formulas stand in `reference`. Every function releases the interpreter lock and uses one thread; threads are the
engine's business. Nothing of size nonzeros x topics is allocated.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import DTypeLike, NDArray

from textsignal.kernels import Array, Means, Rows, TextSums, Vector, WeightStep
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
from textsignal.kernels.reference import (
    EPSILON,
    FIRST_STEPS,
    KEEP_GRADIENT,
    KEEP_SQUARE,
    MOST_OF_THE_WAY,
    SMALLEST,
    TINY,
)

__all__ = [
    "adam_step",
    "implicit_sums",
    "infer",
    "lanes",
    "pull_on_weights",
    "response_sums",
    "share_gradient",
    "shares",
    "text_sums",
    "weight_step",
    "zeros",
]

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
    number, n_topics = W.dtype.type, W.shape[1]
    pull, A = zeros((1, n_topics), W.dtype), zeros((n_topics, n_topics), W.dtype)
    vectors = zeros((2, n_topics), W.dtype)
    settings = (number(smoothing), tol, max_iter, number(EPSILON))
    _infer(X, HT, _mass(HT), W, settings, _groups(W), pull, A, vectors, steps)
    return steps


def implicit_sums(X: Rows, W: Array, HT: Array, slope: Vector, beta: Vector, weight: Array, smoothing: float) -> Array:
    """Gradient in the topics where weights follow them, up to a constant for each topic."""
    number, n_topics = W.dtype.type, W.shape[1]
    pull, A = zeros((1, n_topics), W.dtype), zeros((n_topics, n_topics), W.dtype)
    vectors = zeros((2, n_topics), W.dtype)
    gradient = zeros(HT.shape, HT.dtype)
    settings = (number(smoothing), number(EPSILON))
    mass = _mass(HT)
    _implicit_sums(X, HT, mass, W, slope, beta, weight, settings, _groups(W), pull, A, vectors, gradient)
    return gradient


def shares(logits: Vector, HT: Array) -> None:
    """Softmax of the logits over terms, into HT; logits become its logarithm."""
    # NumPy's exponential is vectorised, numba's is not. Logits are logarithms of shares and a small step away: no
    # exponential overflows.
    _shares(logits, np.exp(logits), HT)


def share_gradient(pull: Array, HT: Array, profile: Vector, prior: float, n_documents: float, out: Vector) -> None:
    """Gradient in the logits of topics."""
    _share_gradient(pull, HT, profile, prior, n_documents, np.zeros(out.shape[1]), out)


def adam_step(parameters: Vector, gradient: Vector, means: Means, rate: float, count: int) -> None:
    """One step of Adam, in place."""
    _adam_step(parameters, gradient, means, rate / (1 - KEEP_GRADIENT**count), 1 / np.sqrt(1 - KEEP_SQUARE**count))


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


@_compile_sum
def _mass(HT):  # type: ignore[no-untyped-def]
    """(topics,) sums over terms."""
    mass = np.zeros(HT.shape[1], HT.dtype)
    for j in range(HT.shape[0]):
        for k in range(HT.shape[1]):
            mass[k] += HT[j, k]
    return mass


@_compile
def _infer(X, HT, mass, W, settings, groups, pull, A, vectors, steps):  # type: ignore[no-untyped-def]
    smoothing, tol, max_iter, epsilon = settings
    for i in range(W.shape[0]):
        for step in range(max_iter):
            if smoothing > 0 and step >= FIRST_STEPS:
                gap = _newton_step(X, i, HT, mass, W, smoothing, epsilon, groups, pull, A, vectors)
            else:
                gap = _multiplicative_step(X, i, HT, mass, W, smoothing, epsilon, groups, pull)
            steps[i] = step + 1
            if step > 0 and gap < tol:
                break


@_compile
def _multiplicative_step(X, i, HT, mass, W, smoothing, epsilon, groups, pull):  # type: ignore[no-untyped-def]
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
    return largest - 1.0


@_compile
def _newton_step(X, i, HT, mass, W, smoothing, epsilon, groups, pull, A, vectors):  # type: ignore[no-untyped-def]
    gradient, direction = vectors[0], vectors[1]
    _document_curvature(X, i, HT, mass, W, smoothing, epsilon, groups, pull, A)
    for k in range(W.shape[1]):
        gradient[k] = mass[k] - pull[0, k] - smoothing / W[i, k] if mass[k] > 0 else 0.0
    _solve(A, gradient, direction)
    longest = 1.0
    decrement = size = change = 0.0
    for k in range(W.shape[1]):
        decrement += gradient[k] * direction[k]
        size += mass[k] * W[i, k]
        change += mass[k] * direction[k]
        if direction[k] > 0:
            longest = min(longest, MOST_OF_THE_WAY * W[i, k] / direction[k])
    for k in range(W.shape[1]):
        W[i, k] -= longest * direction[k]
    return decrement / 2 / (size - longest * change)


@_compile
def _document_curvature(X, i, HT, mass, W, smoothing, epsilon, groups, pull, A):  # type: ignore[no-untyped-def]
    """A's lower triangle and the pull at document i's weights; topics without mass get a row of the unit matrix."""
    n_topics = len(groups) * width(HT)
    w = i * n_topics
    pull[:] = 0.0
    A[:] = 0.0
    for p in range(X.indptr[i], X.indptr[i + 1]):
        j = X.indices[p]
        h = j * n_topics
        d = _reconstruct(W, w, HT, h, groups) + epsilon
        ratio = X.data[p] / d
        _add_scaled(ratio, HT, h, pull, 0, groups)
        for row_group in range(len(groups)):
            for k in range(row_group * width(HT), (row_group + 1) * width(HT)):
                scale = splat(ratio / d * HT[j, k])
                # The lower triangle is enough.
                for group in range(row_group + 1):
                    a = k * n_topics + group * width(HT)
                    store(A, a, multiply_add(scale, load(HT, h + group * width(HT)), load(A, a)))
    for k in range(n_topics):
        A[k, k] += smoothing / (W[i, k] * W[i, k]) if mass[k] > 0 else 1.0


@_compile_sum
def _solve(A, b, x):  # type: ignore[no-untyped-def]
    """Solve A x = b for a positive definite A, whose lower triangle becomes its Cholesky factor."""
    n = b.size
    for i in range(n):
        for j in range(i + 1):
            rest = A[i, j]
            for k in range(j):
                rest -= A[i, k] * A[j, k]
            A[i, j] = np.sqrt(rest) if i == j else rest / A[j, j]
    for i in range(n):
        rest = b[i]
        for k in range(i):
            rest -= A[i, k] * x[k]
        x[i] = rest / A[i, i]
    for i in range(n - 1, -1, -1):
        rest = x[i]
        for k in range(i + 1, n):
            rest -= A[k, i] * x[k]
        x[i] = rest / A[i, i]


@_compile
def _implicit_sums(X, HT, mass, W, slope, beta, weight, settings, groups, pull, A, vectors, gradient):  # type: ignore[no-untyped-def]
    smoothing, epsilon = settings
    n_topics = len(groups) * width(HT)
    right, u = vectors[0], vectors[1]
    for i in range(W.shape[0]):
        _document_curvature(X, i, HT, mass, W, smoothing, epsilon, groups, pull, A)
        for k in range(n_topics):
            right[k] = slope[i] * beta[k]
        _solve(A, right, u)
        for k in range(n_topics):
            right[k] = u[k] - weight[i] * W[i, k]
        for p in range(X.indptr[i], X.indptr[i + 1]):
            h = X.indices[p] * n_topics
            d = _reconstruct(W, i * n_topics, HT, h, groups) + epsilon
            ratio = X.data[p] / d
            through = ratio / d * _reconstruct(vectors, n_topics, HT, h, groups)
            _add_scaled(ratio, vectors, 0, gradient, h, groups)
            _add_scaled(-through, W, i * n_topics, gradient, h, groups)


@_compile
def _shares(logits, exponentials, HT):  # type: ignore[no-untyped-def]
    n_terms, n_topics = logits.shape
    sums = np.zeros(n_topics)
    for j in range(n_terms):
        for k in range(n_topics):
            sums[k] += exponentials[j, k]
    inverse, logarithm = 1 / sums, np.log(sums)
    for j in range(n_terms):
        for k in range(n_topics):
            HT[j, k] = exponentials[j, k] * inverse[k]
            logits[j, k] -= logarithm[k]


@_compile
def _share_gradient(pull, HT, profile, prior, n_documents, inner, out):  # type: ignore[no-untyped-def]
    n_terms, n_topics = out.shape
    for j in range(n_terms):
        for k in range(n_topics):
            inner[k] += HT[j, k] * pull[j, k]
    for j in range(n_terms):
        for k in range(n_topics):
            share = HT[j, k]
            out[j, k] = share * (pull[j, k] - inner[k]) / n_documents - prior * (profile[j] - share)


@_compile
def _adam_step(parameters, gradient, means, rate, root):  # type: ignore[no-untyped-def]
    mean, square = means
    for p in range(parameters.size):
        slope = gradient[p]
        mean[p] = KEEP_GRADIENT * mean[p] + (1 - KEEP_GRADIENT) * slope
        square[p] = KEEP_SQUARE * square[p] + (1 - KEEP_SQUARE) * slope * slope
        parameters[p] -= rate * mean[p] / (np.sqrt(square[p]) * root + SMALLEST)
