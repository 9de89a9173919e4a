"""The kernels in numba: memory for the results, and the compiled loops that fill it. Formulas stand in `reference`.

Every function releases the interpreter lock and uses one thread. Nothing of size nonzeros x topics is allocated.
"""

# ruff: noqa: D103

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textsignal.compute.kernels import Array, Means, Rows, TextSums, Vector, WeightStep, loops
from textsignal.compute.kernels.lanes import lanes as lanes
from textsignal.compute.kernels.lanes import zeros as zeros
from textsignal.compute.kernels.reference import EPSILON, KEEP_GRADIENT, KEEP_SQUARE


def pull_on_weights(X: Rows, W: Array, HT: Array, out: Array | None = None) -> Array:
    pull = zeros(W.shape, W.dtype) if out is None else out
    loops.pull_on_weights(X, W, HT, W.dtype.type(EPSILON), _groups(W), pull)
    return pull


def weight_step(
    W: Array, pull: Array, mass: Array, slope: Array, beta: Array, gamma: Array, out: Array | None = None
) -> WeightStep:
    moved = zeros(W.shape, W.dtype) if out is None else out
    change = np.empty(len(W))
    loops.weight_step(W, pull, mass, _columns(slope), _columns(beta), gamma, moved, change)
    return WeightStep(moved, change)


def text_sums(X: Rows, W: Array, HT: Array, weight: Array, out: Array | None = None) -> TextSums:
    pull = zeros(HT.shape, HT.dtype)
    mass = np.zeros(W.shape[1], W.dtype)
    reconstruction = np.empty_like(X.data) if out is None else out
    loops.pull_on_topics(X, W, HT, weight, W.dtype.type(EPSILON), _groups(W), reconstruction, pull, mass)
    # NumPy's logarithm is vectorised, numba's is not.
    np.log(reconstruction, out=reconstruction)
    return TextSums(pull, mass, -loops.weighted_sum(X, weight, reconstruction))


def response_sums(W: Array, gradient: Vector, curvature: Vector) -> tuple[Vector, Vector]:
    n_topics = W.shape[1]
    if W.dtype != np.float64:
        single, W = W, zeros(W.shape, np.float64)
        W[:] = single
    slopes, cross, squares = (zeros((n_rows, n_topics), np.float64) for n_rows in (1, 1, n_topics))
    loops.response_sums(W, gradient, curvature, _groups(W), slopes, cross, squares)
    hessian = np.empty((n_topics + 1, n_topics + 1))
    hessian[:-1, :-1], hessian[-1, :-1], hessian[:-1, -1] = squares, cross, cross
    hessian[-1, -1] = curvature.sum()
    return np.append(slopes, gradient.sum()), hessian


def infer(X: Rows, HT: Array, W: Array, smoothing: float, tol: float, max_iter: int) -> NDArray[np.int64]:
    steps = np.zeros(X.n_documents, dtype=np.int64)
    number = W.dtype.type
    settings = (number(smoothing), tol, max_iter, number(EPSILON))
    loops.infer(X, HT, loops.mass(HT), W, settings, _groups(W), *_document_memory(W), steps)
    return steps


def implicit_sums(X: Rows, W: Array, HT: Array, slope: Vector, beta: Vector, weight: Array, smoothing: float) -> Array:
    gradient, number = zeros(HT.shape, HT.dtype), W.dtype.type
    given, settings = (_columns(slope), _columns(beta), weight), (number(smoothing), number(EPSILON))
    loops.implicit_sums(X, HT, loops.mass(HT), W, *given, settings, _groups(W), *_document_memory(W), gradient)
    return gradient


def shares(logits: Vector, HT: Array) -> None:
    # NumPy's exponential is vectorised, numba's is not. Logits are logarithms of shares and a small step away: no
    # exponential overflows.
    loops.shares(logits, np.exp(logits), HT)


def share_gradient(pull: Array, HT: Array, profile: Vector, prior: float, n_documents: float, out: Vector) -> None:
    loops.share_gradient(pull, HT, profile, prior, n_documents, np.zeros(out.shape[1]), out)


def adam_step(parameters: Vector, gradient: Vector, means: Means, rate: float, count: int) -> None:
    loops.adam_step(parameters, gradient, means, rate / (1 - KEEP_GRADIENT**count), 1 / np.sqrt(1 - KEEP_SQUARE**count))


def predictors(X: Rows, effects: Array) -> Array:
    eta = zeros((X.n_documents, effects.shape[1]), effects.dtype)
    loops.predictors(X, effects, _groups(effects), eta)
    return eta


def adagrad_step(X: Rows, slopes: Array, effects: Array, squares: Array, rate: float) -> None:
    loops.adagrad_step(X, slopes, effects, squares, effects.dtype.type(rate), _groups(effects))


def _columns(values: Array) -> Array:
    """(rows, linear predictors) of values that have one column or several."""
    return np.ascontiguousarray(values.reshape(len(values), -1))


def _document_memory(W: Array) -> tuple[Array, Array, Array]:
    """Room for the pull on one document's weights, their curvature, and two vectors."""
    n_topics = W.shape[1]
    return zeros((1, n_topics), W.dtype), zeros((n_topics, n_topics), W.dtype), zeros((2, n_topics), W.dtype)


def _groups(W: Array) -> tuple[int, ...]:
    """A tuple as long as there are vectors in a row of W; its length is part of its type, so loops unroll."""
    return (0,) * (W.shape[1] // lanes(W.dtype))
