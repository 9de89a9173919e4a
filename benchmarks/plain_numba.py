"""The hot kernels in plain numba, to show what the vector registers of `kernels/lanes.py` bring.

Loops are written out and rows are taken as views: of the ways tried (a function for each row, a number of topics known
to the compiler, `np.dot`) this was the fastest by two to four times.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numba import njit

from textsignal.compute.kernels import Rows, compiled, loops, pad
from textsignal.compute.kernels.reference import EPSILON

SMOOTHING, ROUNDS = 0.05, 10
Work = Callable[[], object]

compile_sum = njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})


@compile_sum
def pull_on_weights(X, W, HT, epsilon, pull):
    for i in range(W.shape[0]):
        w, row = W[i], pull[i]
        row[:] = 0
        for p in range(X.indptr[i], X.indptr[i + 1]):
            h = HT[X.indices[p]]
            d = epsilon
            for k in range(w.size):
                d += w[k] * h[k]
            ratio = X.data[p] / d
            for k in range(w.size):
                row[k] += ratio * h[k]


@compile_sum
def pull_on_topics(X, W, HT, weight, epsilon, reconstruction, pull, mass):
    for i in range(W.shape[0]):
        w = W[i]
        for p in range(X.indptr[i], X.indptr[i + 1]):
            h, row = HT[X.indices[p]], pull[X.indices[p]]
            d = epsilon
            for k in range(w.size):
                d += w[k] * h[k]
            reconstruction[p] = d
            ratio = weight[i] * X.data[p] / d
            for k in range(w.size):
                row[k] += ratio * w[k]
        for k in range(w.size):
            mass[k] += weight[i] * w[k]


@compile_sum
def curvature_of_all(X, HT, mass, W, smoothing, epsilon, pull, A):
    """One document after the other into the same A: what a Newton step takes beside its solve."""
    for i in range(W.shape[0]):
        w, row = W[i], pull[0]
        row[:] = 0
        A[:] = 0
        for p in range(X.indptr[i], X.indptr[i + 1]):
            h = HT[X.indices[p]]
            d = epsilon
            for k in range(w.size):
                d += w[k] * h[k]
            ratio = X.data[p] / d
            for k in range(w.size):
                row[k] += ratio * h[k]
            for k in range(w.size):
                scale, line = ratio / d * h[k], A[k]
                for m in range(w.size):
                    line[m] += scale * h[m]
        for k in range(w.size):
            A[k, k] += smoothing / (w[k] * w[k]) if mass[k] > 0 else 1.0


@njit(nogil=True, error_model="numpy")
def curvature_in_lanes(X, HT, mass, W, smoothing, epsilon, groups, pull, A):
    """What `curvature_of_all` does, with the package's own loop."""
    for i in range(W.shape[0]):
        loops.document_curvature(X, i, HT, mass, W, smoothing, epsilon, groups, pull, A)


@compile_sum
def response_sums(W, gradient, curvature, slopes, cross, squares):
    for i in range(W.shape[0]):
        w, first, second = W[i], slopes[0], cross[0]
        for k in range(w.size):
            first[k] += gradient[i] * w[k]
            second[k] += curvature[i] * w[k]
        for k in range(w.size):
            scale, line = curvature[i] * w[k], squares[k]
            for m in range(w.size):
                line[m] += scale * w[m]


#: In place of the package's loops of the same names, which know the number of topics from `groups`.
LOOPS = {
    "pull_on_weights": lambda X, W, HT, epsilon, groups, pull: pull_on_weights(X, W, HT, epsilon, pull),
    "pull_on_topics": lambda X, W, HT, weight, epsilon, groups, *sums: pull_on_topics(X, W, HT, weight, epsilon, *sums),
}


def pairs(X: sp.csr_array, n_topics: int, dtype: type) -> dict[str, tuple[Work, Work]]:
    """Kernel -> the package's loop and the plain one, on the same numbers."""
    rng = np.random.default_rng(0)
    rows = Rows.of(X.astype(dtype), 0, X.shape[0])
    W, HT = (pad(rng.random((n, n_topics)).astype(dtype) / n, compiled, dtype) for n in X.shape)
    epsilon, smoothing, weight = dtype(EPSILON), dtype(SMOOTHING), np.ones(X.shape[0], dtype)
    slope, groups, mass = rng.random(X.shape[0]), (0,) * (W.shape[1] // compiled.lanes(dtype)), loops.mass(HT)
    precise = pad(W, compiled, np.dtype(float))
    wide = (0,) * (precise.shape[1] // compiled.lanes(float))

    def memory(n_rows: int, kind: type = dtype) -> np.ndarray:
        return compiled.zeros((n_rows, W.shape[1]), kind)

    pull, sums, A, values, total = memory(len(W)), memory(len(HT)), memory(W.shape[1]), rows.data.copy(), mass.copy()
    response = memory(1, float), memory(1, float), memory(W.shape[1], float)
    return {
        "pull on weights": (
            lambda: loops.pull_on_weights(rows, W, HT, epsilon, groups, pull),
            lambda: pull_on_weights(rows, W, HT, epsilon, pull),
        ),
        "pull on topics": (
            lambda: loops.pull_on_topics(rows, W, HT, weight, epsilon, groups, values, sums, total),
            lambda: pull_on_topics(rows, W, HT, weight, epsilon, values, sums, total),
        ),
        "curvature (Newton)": (
            lambda: curvature_in_lanes(rows, HT, mass, W, smoothing, epsilon, groups, pull[:1], A),
            lambda: curvature_of_all(rows, HT, mass, W, smoothing, epsilon, pull[:1], A),
        ),
        "response sums": (
            lambda: loops.response_sums(precise, slope, slope, wide, *response),
            lambda: response_sums(precise, slope, slope, *response),
        ),
    }


def compare(X: sp.csr_array, topics: tuple[int, ...] = (14, 40)) -> None:
    """Print both sides' shortest times, taken in turns, and their ratio."""
    print("\nvector registers by hand (kernels/lanes.py) beside plain numba, one thread, ms")
    print(f"{'':>10} {'topics':>7} {'kernel':<20} {'lanes':>8} {'plain':>8} {'ratio':>7}")
    for dtype in (np.float64, np.float32):
        for n_topics in topics:
            for name, (ours, plain) in pairs(X, n_topics, dtype).items():
                ours(), plain()  # compiled before the clock runs
                rounds = [(seconds(ours), seconds(plain)) for _ in range(ROUNDS)]
                lanes_ms, plain_ms = (1e3 * min(times) for times in zip(*rounds, strict=True))
                head = f"{dtype.__name__:>10} {n_topics:>7} {name:<20}"
                print(f"{head} {lanes_ms:>8.2f} {plain_ms:>8.2f} {plain_ms / lanes_ms:>6.1f}x")


def seconds(work: Work) -> float:
    before = time.perf_counter()
    work()
    return time.perf_counter() - before
