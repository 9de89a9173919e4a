"""The hot kernels in plain numba, to show what the vector registers of `kernels/lanes.py` bring.

Loops are written out and rows are taken as views: of the ways tried (a function for each row, a number of topics known
to the compiler, `np.dot`) this was the fastest by two to four times.
"""

from __future__ import annotations

from numba import njit

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
