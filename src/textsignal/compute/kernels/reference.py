"""The kernels in NumPy: the specification that every other implementation matches.

Shapes: X documents x terms in compressed rows, W documents x topics, HT terms x topics. d = W H + EPSILON at the
nonzeros of X, r = x / d.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from textsignal.compute.kernels import Array, Means, Rows, TextSums, Vector, WeightStep

#: Added to every reconstructed value, so that nothing is divided by zero (the paper's epsilon).
EPSILON = 1e-16
#: Multiplicative steps before Newton's, and how far those go towards the boundary at most.
FIRST_STEPS, MOST_OF_THE_WAY = 4, 0.9
#: Of Adam: how much of the running means each step keeps, and what keeps the division off zero.
KEEP_GRADIENT, KEEP_SQUARE, SMALLEST = 0.9, 0.999, 1e-10
#: Keeps square roots off zero; negligible compared with anything else.
TINY = 1e-300


def lanes(dtype: DTypeLike) -> int:
    """NumPy needs no padding."""
    return 1


def zeros(shape: tuple[int, int], dtype: DTypeLike) -> Array:
    """Return an array of zeros."""
    return np.zeros(shape, dtype)


def _into(out: Array | None, result: Array) -> Array:
    if out is None:
        return result
    out[:] = result
    return out


def reconstruct(X: Rows, W: Array, HT: Array) -> Array:
    """d_ij = sum_k W_ik H_kj + EPSILON at the nonzeros of X."""
    documents = np.repeat(np.arange(X.n_documents), np.diff(X.indptr))
    return np.einsum("pk,pk->p", W[documents], HT[X.indices]) + W.dtype.type(EPSILON)


def _ratios(X: Rows, W: Array, HT: Array) -> sp.csr_array:
    """R = X / (W H + EPSILON)."""
    shape = (X.n_documents, HT.shape[0])
    return sp.csr_array((X.data / reconstruct(X, W, HT), X.indices, X.indptr), shape=shape)


def pull_on_weights(X: Rows, W: Array, HT: Array, out: Array | None = None) -> Array:
    """R H^T."""
    return _into(out, _ratios(X, W, HT) @ HT)


def weight_step(
    W: Array, pull: Array, mass: Array, slope: Array, beta: Array, gamma: Array, out: Array | None = None
) -> WeightStep:
    """The paper's supervised multiplicative step, and how much the text loss can change by it.

    With G = slope beta^T (slope = alpha times the family's gradient; of P linear predictors slope is (documents, P) and
    beta (topics, P)) and gamma one number per document,

        W' = W * (pull + max(-G, 0) + gamma) / (mass + max(G, 0) + gamma),       mass = H 1

    The text loss changes by at most  sum_k mass_k (w'_k - w_k) - w_k pull_k log(w'_k / w_k)  (Jensen), where the
    logarithm is bounded in turn, to third order and without computing one:

        - log q <= (1 - q) / sqrt(q)  for q < 1,      - log q <= 2 (1 - q) / (1 + q)  for q >= 1
    """
    G = slope.reshape(len(W), -1) @ beta.reshape(len(mass), -1).T
    upper = pull + np.maximum(-G, 0) + gamma[:, None]
    lower = mass + np.maximum(G, 0) + gamma[:, None]
    ratio = np.divide(upper, lower, out=np.zeros(W.shape), where=lower > 0)
    minus_log = np.where(ratio < 1, (1 - ratio) / np.sqrt(ratio + TINY), 2 * (1 - ratio) / (1 + ratio))
    change = mass * (W * ratio - W) + W * pull * minus_log
    return WeightStep(_into(out, (W * ratio).astype(W.dtype)), change.sum(axis=1))


def text_sums(X: Rows, W: Array, HT: Array, weight: Array, out: Array | None = None) -> TextSums:
    """pull_jk = sum_i weight_i R_ij W_ik, mass_k = sum_i weight_i W_ik, - sum_ij weight_i x_ij log d_ij."""
    weighted = W * weight[:, None]
    per_nonzero = np.repeat(weight, np.diff(X.indptr))
    log_loss = -float(np.sum(per_nonzero * X.data * np.log(reconstruct(X, W, HT)), dtype=np.float64))
    return TextSums(_ratios(X, W, HT).T @ weighted, weighted.sum(axis=0), log_loss)


def response_sums(W: Array, gradient: Vector, curvature: Vector) -> tuple[Vector, Vector]:
    """Z^T gradient and Z^T diag(curvature) Z, with Z = [W, 1]."""
    Z = np.column_stack([W, np.ones(len(W))]).astype(np.float64)
    return Z.T @ gradient, (Z * curvature[:, None]).T @ Z


def infer(X: Rows, HT: Array, W: Array, smoothing: float, tol: float, max_iter: int) -> NDArray[np.int64]:
    """Minimise  f(w) = sum_k mass_k w_k - sum_j x_j log (wH)_j - smoothing sum_k log w_k  for each document.

    A multiplicative step is w <- (w * pull + smoothing) / mass, with smoothing 0 the paper's update for new
    documents. By convexity f(w) - min f <= S (max_k (pull_k + smoothing / w_k) / mass_k - 1), S = sum_j x_j +
    smoothing * topics; a document is done when that bound falls below tol * S. The bound holds from the second
    step on: the first brings the weights to their size.

    With smoothing, f is smooth and its minimum inside: after `FIRST_STEPS` multiplicative steps come Newton steps,
    cut short of the boundary, until half the Newton decrement falls below tol * S.
    """
    mass = HT.sum(axis=0)
    steps = np.zeros(X.n_documents, dtype=np.int64)
    for i in range(X.n_documents):
        row = X.document(i)
        for step in range(max_iter):
            newton = smoothing > 0 and step >= FIRST_STEPS
            gap = (_newton_step if newton else _multiplicative_step)(row, W[i : i + 1], HT, mass, smoothing)
            steps[i] = step + 1
            if step > 0 and gap < tol:
                break
    return steps


def _multiplicative_step(row: Rows, w: Array, HT: Array, mass: Array, smoothing: float) -> float:
    """One step of one document, in place; the bound on f(w) - min f before it, relative to S."""
    live = mass > 0
    upper = w * pull_on_weights(row, w, HT) + smoothing
    bound = np.divide(upper, w * mass, out=np.zeros_like(w), where=w * mass > 0).max() - 1
    w[:] = np.divide(upper, mass, out=np.zeros_like(w), where=live)
    return float(bound)


def _newton_step(row: Rows, w: Array, HT: Array, mass: Array, smoothing: float) -> float:
    """One step of one document, in place; half the Newton decrement before it, relative to S."""
    live = mass > 0
    gradient = (mass - pull_on_weights(row, w, HT) - smoothing / np.where(live, w, 1))[0, live]
    direction = np.linalg.solve(weight_curvature(row, w, HT, smoothing), gradient)
    falling = direction > 0
    longest = np.min(MOST_OF_THE_WAY * w[0, live][falling] / direction[falling], initial=1.0)
    size = np.sum(mass * w) - longest * np.sum(mass[live] * direction)
    w[0, live] -= longest * direction
    return float(gradient @ direction / 2 / size)


def weight_curvature(row: Rows, w: Array, HT: Array, smoothing: float) -> Array:
    """A_kl = sum_j H_kj H_lj x_j / d_j^2 + [k = l] smoothing / w_k^2, over topics that have mass."""
    live = HT.sum(axis=0) > 0
    H = HT[row.indices][:, live]
    d = reconstruct(row, w, HT)
    return (H.T * (row.data / d**2)) @ H + np.diag(smoothing / w[0, live] ** 2)


def implicit_sums(X: Rows, W: Array, HT: Array, slope: Array, beta: Array, weight: Array, smoothing: float) -> Array:
    """(terms, topics) gradient in H of  sum_i weight_i f_i(w_i) + loss_i(w_i . beta)  at inferred weights.

    The weights follow the topics, so the loss reaches the topics through them. With slope_i the loss' derivative in
    w_i . beta, A the curvature above, u = A^-1 (slope beta) and r = x / d, document i gives (implicit function theorem;
    slope and beta may have a column for each of several linear predictors)

        dJ/dH_kj = (weight w_k - u_k) (1 - r_j) - w_k (x_j / d_j^2) (u . H_.j)

    The part that is the same for all terms of a topic, weight w_k - u_k, is dropped: topics are shares of terms, which
    it does not change.
    """
    slope, beta = slope.reshape(len(W), -1), beta.reshape(len(HT.T), -1)
    live = HT.sum(axis=0) > 0
    gradient = np.zeros(HT.shape)
    for i in range(X.n_documents):
        row, w = X.document(i), W[i : i + 1]
        d = reconstruct(row, w, HT)
        r = row.data / d
        u = np.zeros(HT.shape[1])
        u[live] = np.linalg.solve(weight_curvature(row, w, HT, smoothing), beta[live] @ slope[i])
        through = (r / d * (HT[row.indices] @ u))[:, None] * w
        gradient[row.indices] += r[:, None] * (u - weight[i] * w) - through
    return gradient


def shares(logits: Vector, HT: Array) -> None:
    """H = softmax of logits (terms, topics) over terms, into HT (terms, padded topics).

    Logits are shifted, which topics do not feel, to their logarithm: so they stay at or below 0.
    """
    largest = logits.max(axis=0)
    logits -= largest + np.log(np.sum(np.exp(logits - largest), axis=0))
    HT[:, : logits.shape[1]] = np.exp(logits)


def share_gradient(pull: Array, HT: Array, profile: Vector, prior: float, n_documents: float, out: Vector) -> None:
    """Gradient in logits (terms, topics) of a function whose gradient in the topics is pull / n_documents.

        out_jk = H_kj (g_kj - sum_l H_kl g_kl) - prior (profile_j - H_kj),    g = pull / n_documents

    The last part is the gradient of  - prior sum_kj profile_j log H_kj,  profile summing to 1.
    """
    H, g = HT[:, : out.shape[1]].astype(float), pull[:, : out.shape[1]].astype(float) / n_documents
    out[:] = H * (g - np.sum(H * g, axis=0)) - prior * (profile[:, None] - H)


def adam_step(parameters: Vector, gradient: Vector, means: Means, rate: float, count: int) -> None:
    """Step `count` (from 1) of Adam, in place: a gradient step scaled by running means of gradient and square."""
    means.gradient[:] = KEEP_GRADIENT * means.gradient + (1 - KEEP_GRADIENT) * gradient
    means.square[:] = KEEP_SQUARE * means.square + (1 - KEEP_SQUARE) * gradient**2
    scale = np.sqrt(means.square / (1 - KEEP_SQUARE**count)) + SMALLEST
    parameters -= rate * (means.gradient / (1 - KEEP_GRADIENT**count)) / scale


def predictors(X: Rows, effects: Array) -> Array:
    """(documents, fits) constant + X effects; effects (features + 1, fits), the constant last."""
    rows = sp.csr_array((X.data, X.indices, X.indptr), shape=(X.n_documents, len(effects) - 1))
    return rows @ effects[:-1] + effects[-1]


def adagrad_step(X: Rows, slopes: Array, effects: Array, squares: Array, rate: float) -> None:
    """One gradient step for each document, in their order, in place: effects a feature has moved much move less.

        squares_f += (x_if slope_i)^2,        effects_f -= rate x_if slope_i / sqrt(squares_f)

    slopes : (documents, fits) derivatives of the loss in the linear predictor, all from before the first step.
    effects, squares : (features + 1, fits), of the constant last, whose x is 1.
    """
    constant = len(effects) - 1
    for i in range(X.n_documents):
        row = X.document(i)
        moved, values = np.append(row.indices, constant), np.append(row.data, 1)
        gradient = values[:, None] * slopes[i]
        squares[moved] += gradient**2
        effects[moved] -= rate * gradient / np.sqrt(squares[moved])
