"""Weights of documents given the topics: one function for training starts, transform, predict and studies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.engines.local import LocalEngine
from textsignal.kernels import Array, Kernels, Rows, compiled, pad


@dataclass(frozen=True)
class InferredWeights:
    """Weights of documents given topics.

    weights : (documents, topics).
    n_steps : (documents,) steps that each document took.
    unknown : (documents,) whether a document has no term that any topic uses, and so got the fallback.
    """

    weights: Array
    n_steps: NDArray[np.int64]
    unknown: NDArray[np.bool_]


def infer_weights(
    X: sp.csr_array,
    topics: Array,
    *,
    smoothing: float = 0.0,
    fallback: Array | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    n_jobs: int | None = -1,
    kernels: Kernels = compiled,
) -> InferredWeights:
    """Find each document's weights: the minimum of its text loss under fixed topics.

        w_i = argmin_{w >= 0}  sum_k w_k mass_k - sum_j x_ij log (wH)_j - smoothing sum_k log w_k

    With `smoothing` 0 the steps are the paper's update for new documents. Documents are independent: the result
    for one does not depend on the others. Memory beyond the result is a few blocks.

    Parameters
    ----------
    X : (documents, terms) nonnegative CSR, float32 or float64.
    topics : (topics, terms) nonnegative.
    smoothing : keeps weights off zero.
    fallback : (topics,) weights of a document with no known term; zeros if not given.
    tol : a document is done when its loss is provably within `tol`, relative to its total, of the minimum.
    max_iter : most steps for one document.
    n_jobs : threads.
    kernels : the implementation to use.

    Examples
    --------
    >>> topics = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    >>> X = sp.csr_array(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    >>> result = infer_weights(X, topics, fallback=np.array([0.5, 0.5]))
    >>> result.weights.round(2)
    array([[2. , 0. ],
           [0.5, 0.5]])
    >>> result.unknown
    array([False,  True])
    """
    n_topics = topics.shape[0]
    HT = pad(topics.T, kernels, X.dtype)
    mass = HT.sum(axis=0)
    weights = np.empty((X.shape[0], n_topics), dtype=X.dtype)
    steps = np.empty(X.shape[0], dtype=np.int64)

    def infer_block(edges: tuple[int, int]) -> None:
        start, stop = edges
        rows = Rows.of(X, start, stop)
        totals = np.add.reduceat(np.append(rows.data, 0), rows.indptr[:-1]) * (np.diff(rows.indptr) > 0)
        W = kernels.zeros((stop - start, HT.shape[1]), X.dtype)
        alive = mass[:n_topics] > 0
        share = np.divide(1.0, mass[:n_topics], out=np.zeros(n_topics), where=alive) / max(1, alive.sum())
        W[:, :n_topics] = (totals + smoothing * n_topics)[:, None] * share
        steps[start:stop] = kernels.infer(rows, HT, W, smoothing, tol, max_iter)
        weights[start:stop] = W[:, :n_topics]

    with LocalEngine(n_jobs) as engine:
        engine.map(infer_block, engine.cut(X.shape[0], X.nnz, X.shape[1]))
    unknown = X @ (HT.sum(axis=1) > 0).astype(X.dtype) == 0
    weights[unknown] = 0.0 if fallback is None else fallback
    return InferredWeights(weights, steps, unknown)
