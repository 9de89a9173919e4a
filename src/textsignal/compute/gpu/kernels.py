"""The kernels in CUDA, one block of texts at a time. Formulas stand in `reference`.

Arguments may lie in this process' memory or on the card, and results are returned where the weights, topics or effects
are. Sums are added in an order that depends on the data alone. Tone is not learnt by these, but by `tone.walk`.
"""

# ruff: noqa: D103

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from textsignal.compute.gpu import blocks, cupy, function
from textsignal.compute.kernels import Array, Rows, TextSums, Vector, WeightStep
from textsignal.compute.kernels.reference import FIRST_STEPS, TINY
from textsignal.compute.kernels.reference import adagrad_step as adagrad_step
from textsignal.compute.kernels.reference import adam_step as adam_step
from textsignal.compute.kernels.reference import share_gradient as share_gradient
from textsignal.compute.kernels.reference import shares as shares
from textsignal.compute.kernels.reference import zeros as zeros


def lanes(dtype: DTypeLike) -> int:
    """Topics are padded to a multiple of 8: four lanes share a row, each at least two of them."""
    return 8


def pull_on_weights(X: Rows, W: Array, HT: Array, out: Array | None = None) -> Array:
    cp, text = cupy(), _on_card(X, W.dtype)
    weights, topics = cp.asarray(W), cp.asarray(HT)
    pull = cp.empty_like(weights)
    _run("pull_on_weights", W, *blocks(len(W), 4), (*text, np.int64(len(W)), weights, topics, pull))
    return _home(pull, W, out)


def weight_step(
    W: Array, pull: Array, mass: Array, slope: Array, beta: Array, gamma: Array, out: Array | None = None
) -> WeightStep:
    cp = cupy()
    w, towards, all_mass, more = (cp.asarray(values) for values in (W, pull, mass, gamma))
    G = cp.asarray(slope).reshape(len(W), -1) @ cp.asarray(beta).reshape(len(mass), -1).T
    upper, lower = towards + cp.maximum(-G, 0) + more[:, None], all_mass + cp.maximum(G, 0) + more[:, None]
    ratio = cp.where(lower > 0, upper / cp.where(lower > 0, lower, 1), 0)
    minus_log = cp.where(ratio < 1, (1 - ratio) / cp.sqrt(ratio + TINY), 2 * (1 - ratio) / (1 + ratio))
    change = (all_mass * (w * ratio - w) + w * towards * minus_log).sum(axis=1)
    return WeightStep(_home((w * ratio).astype(W.dtype), W, out), _home(change, W))


def text_sums(X: Rows, W: Array, HT: Array, weight: Array, out: Array | None = None) -> TextSums:
    cp = cupy()
    often, weights = cp.asarray(weight, dtype=W.dtype), cp.asarray(W)
    pull, log_loss = _topic_sums(X, weights, cp.asarray(HT), often, None)
    mass = (weights * often[:, None]).sum(axis=0)
    return TextSums(_home(pull, W), _home(mass, W), log_loss)


def response_sums(W: Array, gradient: Vector, curvature: Vector) -> tuple[Vector, Vector]:
    cp = cupy()
    Z = cp.ones((len(W), W.shape[1] + 1))
    Z[:, :-1] = cp.asarray(W)
    slopes, curves = cp.asarray(gradient), cp.asarray(curvature)
    return _home(Z.T @ slopes, W), _home((Z * curves[:, None]).T @ Z, W)


def infer(X: Rows, HT: Array, W: Array, smoothing: float, tol: float, max_iter: int) -> NDArray[np.int64]:
    cp, text, n = cupy(), _on_card(X, W.dtype), len(W)
    topics, weights = cp.asarray(HT), cp.asarray(W)
    mass, steps = topics.sum(axis=0), cp.zeros(n, np.int64)
    limits = (np.float64(tol), np.int32(max_iter))
    if smoothing > 0 and n:
        number, first = W.dtype.type(smoothing), np.int32(FIRST_STEPS)
        given = (*text, topics, mass, number, limits[0], first, limits[1], weights, steps)
        _run("infer_smoothed", W, (n,), (32,), given, _document_memory(W))
    else:
        _run("infer", W, *blocks(n, 4), (*text, np.int64(n), topics, mass, *limits, weights, steps))
    if isinstance(W, np.ndarray):
        weights.get(out=W)
    return _home(steps, W)


def implicit_sums(X: Rows, W: Array, HT: Array, slope: Vector, beta: Vector, weight: Array, smoothing: float) -> Array:
    cp, text = cupy(), _on_card(X, W.dtype)
    weights, topics, number = cp.asarray(W), cp.asarray(HT), W.dtype.type(smoothing)
    slopes = cp.ascontiguousarray(cp.asarray(slope, dtype=float).reshape(len(W), -1))
    effects = cp.ascontiguousarray(cp.asarray(beta, dtype=float).reshape(W.shape[1], -1))
    directions = cp.zeros_like(weights)
    given = (*text, weights, topics, topics.sum(axis=0), slopes, effects, np.int32(slopes.shape[1]), number, directions)
    if len(W):
        _run("directions", W, (len(W),), (32,), given, _document_memory(W))
    gradient, _ = _topic_sums(X, weights, topics, cp.asarray(weight, dtype=W.dtype), directions)
    return _home(gradient, W)


def predictors(X: Rows, effects: Array) -> Array:
    cp, text, n = cupy(), _on_card(X, effects.dtype), X.n_documents
    eta = cp.empty((n, effects.shape[1]), effects.dtype)
    given = (*text, np.int64(n), cp.asarray(effects), np.int64(len(effects) - 1), eta)
    _run("predictors", effects, *blocks(n, 4), given)
    return _home(eta, effects)


def _topic_sums(X: Rows, W: Any, HT: Any, weight: Any, directions: Any) -> tuple[Any, float]:
    """(terms, topics) sums over documents, and the loss; directions : of the weights, or None for the text alone."""
    cp = cupy()
    pull, logs = cp.empty_like(HT), cp.empty(len(HT))
    given = (*_by_term(X, len(HT), W.dtype), W, HT, weight, directions, pull, logs)
    _run("topic_sums", W, (len(HT),), (128,), given)
    return pull, -float(logs.sum())


def _by_term(X: Rows, n_terms: int, dtype: np.dtype) -> tuple[Any, Any, Any, Any]:
    """Start of each term's nonzeros, their positions by term, and the document and value at each position."""
    cp, (indptr, indices, data) = cupy(), _on_card(X, dtype)
    if not len(indices):
        return cp.zeros(n_terms + 1, np.int64), cp.zeros(1, np.int64), cp.zeros(1, np.int32), data
    order = cp.argsort(indices, kind="stable")
    starts = cp.searchsorted(indices[order], cp.arange(n_terms + 1, dtype=indices.dtype))
    rows = cp.searchsorted(indptr, cp.arange(len(indices)), side="right") - 1
    return starts.astype(np.int64), order.astype(np.int64), rows.astype(np.int32), data


def _on_card(X: Rows, dtype: np.dtype) -> tuple[Any, Any, Any]:
    """The text's three arrays, on the card."""
    cp = cupy()
    return cp.asarray(X.indptr, np.int64), cp.asarray(X.indices, np.int32), cp.asarray(X.data, dtype)


def _home(result: Any, like: Array, out: Array | None = None) -> Any:
    """Return a result in the memory of `like`, the host or the card; written into `out` if given."""
    if isinstance(like, np.ndarray):
        return result.get(out=out)
    if out is None:
        return result
    out[:] = result
    return out


def _document_memory(W: Array) -> int:
    """Bytes in which a warp works on one document: a matrix and four vectors of topics."""
    return (W.shape[1] ** 2 + 4 * W.shape[1]) * W.dtype.itemsize


def _run(name: str, like: Array, grid: tuple[int], block: tuple[int], given: tuple[Any, ...], memory: int = 0) -> None:
    """Start a CUDA function, compiled for the precision and the number of topics of `like`."""
    size = like.dtype.itemsize
    precision = {"REAL": "float" if size == 4 else "double", "REAL_BYTES": size, "TOPICS": like.shape[1]}
    function(name, "documents.cu", "text.cu", **precision)(grid, block, given, shared_mem=memory)
