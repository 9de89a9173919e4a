"""Weights of texts given the topics: one function for training starts, transform, predict and studies."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Array, Vector
from textsignal.compute.engines import Compute
from textsignal.compute.engines.local import local_compute
from textsignal.compute.kernels import Kernels, Rows, pad
from textsignal.errors import InputError

#: A text has converged if its loss is within this, relative to its total, of the minimum; maximum number of steps.
TOL, MAX_ITER = 1e-4, 1000


@dataclass(frozen=True)
class InferredWeights:
    """Weights of texts given topics; unknown : True if no topic uses any term of the text: it has the fallback."""

    weights: Array
    n_steps: NDArray[np.int64]
    unknown: NDArray[np.bool_]


@dataclass(frozen=True)
class Inference:
    """Settings that, together with a text, determine its weights; unit_rows : scale rows to l2 norm 1 first."""

    topics: Array
    smoothing: float = 0.0
    tol: float = TOL
    unit_rows: bool = False
    fallback: Array | None = None

    def rows(self, X: sp.csr_array) -> sp.csr_array:
        """Prepare rows for `weights`."""
        return unit_rows(X) if self.unit_rows else X

    def unknown(self, rows: sp.csr_array) -> NDArray[np.bool_]:
        """(texts,) True if no topic uses any term of the text."""
        # In the precision of the text, where the smallest values may underflow to 0.
        used = (self.topics.astype(rows.dtype, copy=False).sum(axis=0) > 0).astype(rows.dtype)
        return np.asarray(rows @ used == 0)

    def weights(self, rows: sp.csr_array, compute: Compute, max_iter: int = MAX_ITER) -> InferredWeights:
        """Weights of rows (texts, terms), float32 or float64."""
        engine, kernels = compute.engine, compute.kernels
        n_topics = len(self.topics)
        HT = pad(self.topics.T, kernels, rows.dtype)
        weights = np.empty((rows.shape[0], n_topics), dtype=rows.dtype)
        steps = np.empty(rows.shape[0], dtype=np.int64)

        def infer_block(edges: tuple[int, int]) -> None:
            start, stop = edges
            W, steps[start:stop] = self.of_block(Rows.of(rows, start, stop), HT, kernels, max_iter)
            weights[start:stop] = W[:, :n_topics]

        engine.map(infer_block, engine.cut(rows.shape[0], rows.nnz, rows.shape[1]))
        unknown = self.unknown(rows)
        weights[unknown] = 0.0 if self.fallback is None else self.fallback
        return InferredWeights(weights, steps, unknown)

    def of_block(
        self, block: Rows, HT: Array, kernels: Kernels, max_iter: int = MAX_ITER
    ) -> tuple[Array, NDArray[np.int64]]:
        """(texts, padded topics) weights of a block, and the steps that each text took; HT : padded topics."""
        n_topics, mass = len(self.topics), HT.sum(axis=0)
        # The trailing element is summed separately, so that a text's bits do not depend on its position.
        totals = np.add.reduceat(np.append(block.data, 0), block.indptr)[:-1] * (np.diff(block.indptr) > 0)
        W = kernels.zeros((block.n_documents, HT.shape[1]), HT.dtype)
        alive = mass[:n_topics] > 0
        share = np.divide(1.0, mass[:n_topics], out=np.zeros(n_topics), where=alive) / max(1, alive.sum())
        W[:, :n_topics] = (totals + self.smoothing * n_topics)[:, None] * share
        return W, kernels.infer(block, HT, W, self.smoothing, self.tol, max_iter)


def row_norms(X: sp.csr_array) -> Vector:
    """(texts,) l2 norm of every row."""
    return np.sqrt(np.asarray(X.multiply(X).sum(axis=1), dtype=float))


def unit_rows(X: sp.csr_array) -> sp.csr_array:
    """Scale every row of X to l2 norm 1; empty rows stay empty."""
    norm = row_norms(X)
    data = X.data / np.repeat(np.where(norm > 0, norm, 1), np.diff(X.indptr)).astype(X.dtype)
    return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)


def infer_weights(
    X: sp.csr_array,
    topics: Array | Any,
    *,
    smoothing: float | None = None,
    fallback: Array | None = None,
    tol: float | None = None,
    max_iter: int = MAX_ITER,
    n_jobs: int | None = -1,
    compute: Compute | None = None,
) -> InferredWeights:
    """Find each text's weights: the minimum of its loss under fixed topics.

        w_i = argmin_{w >= 0}  sum_k w_k mass_k - sum_j x_ij log (wH)_j - smoothing sum_k log w_k

    With `smoothing` 0 the steps are the paper's update for new texts. Texts are independent: the result for one does
    not depend on the others. Memory beyond the result is a few blocks.

    Parameters
    ----------
    X : (texts, terms) nonnegative CSR, float32 or float64.
    topics : (topics, terms) nonnegative; or a fitted `GLMNMF` or `JBNMF`, which brings its own smoothing, tolerance,
        fallback and scale of rows: so its `transform` gives these weights.
    smoothing : keeps weights off zero; 0 by default.
    fallback : (topics,) weights of a text with no known term; zeros by default.
    tol : a text is done if its loss is provably within this, relative to its total, of the minimum; 1e-4 by default.
    max_iter, n_jobs : maximum number of steps for one text; threads.
    compute : the engine and kernels to use, in place of `n_jobs` threads and the compiled kernels.
    """
    options = {"smoothing": smoothing, "tol": tol, "fallback": fallback}
    extra = [name for name, value in options.items() if value is not None]
    if isinstance(topics, np.ndarray):
        how = Inference(topics, smoothing or 0.0, TOL if tol is None else tol, fallback=fallback)
    elif extra:
        raise InputError(f"a fitted model brings its own {', '.join(extra)}; remove it, or give topics")
    elif hasattr(type(topics), "inference"):
        how = topics.inference
    else:
        raise InputError(
            f"topics={type(topics).__name__} cannot be used here; give an array, or a fitted GLMNMF or JBNMF "
            "(`model.estimator_` of a TextResponseModel)"
        )
    if X.shape[1] != how.topics.shape[1]:
        raise InputError(f"X has {X.shape[1]} terms, but the topics have {how.topics.shape[1]}; give the same terms")
    with local_compute(n_jobs) if compute is None else nullcontext(compute) as chosen:
        return how.weights(how.rows(X), chosen, max_iter)
