"""Speed and memory of joint training and prediction beside scikit-learn's KL-NMF, in one run on this machine.

    make bench            (or: python benchmarks/kernels.py)

Both sides take the same matrix, start and number of topics in float64. Times are the best of several runs, since
other work on the machine only ever adds.
"""

from __future__ import annotations

import platform
import time
import tracemalloc
import warnings
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.decomposition import NMF
from threadpoolctl import threadpool_limits

import textsignal as ts
from textsignal.engines.local import LocalEngine
from textsignal.families import Binomial
from textsignal.kernels import compiled, pad
from textsignal.training.block import Corpus, Parameters, place
from textsignal.training.joint import AdaptiveGamma, FixedGamma, Joint
from textsignal.training.response import NewtonStep, ResponseModel
from textsignal.training.start import random_start

N_DOCUMENTS, N_TERMS, N_TOPICS, NONZEROS_A_ROW = 16_000, 500, 14, 47.2
PREDICT_TERMS, PREDICT_DOCUMENTS = 2_000, 100_000


def text_matrix(n_documents: int, n_terms: int, nonzeros: float, seed: int = 0) -> sp.csr_array:
    """Term frequencies of texts whose terms follow Zipf's law, with about `nonzeros` different terms each."""
    rng = np.random.default_rng(seed)
    share = np.arange(1, n_terms + 1) ** -0.8
    share /= share.sum()
    low, high = 1.0, 100.0 * nonzeros
    while high - low > 0.01:
        length = (low + high) / 2
        low, high = (length, high) if np.sum(1 - np.exp(-length * share)) < nonzeros else (low, length)
    blocks = []
    for start in range(0, n_documents, 4000):
        counts = rng.poisson(length * share, size=(min(4000, n_documents - start), n_terms))
        blocks.append(sp.csr_array(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)))
    return sp.csr_array(sp.vstack(blocks)) * 5.0


def best(work: Callable[[], object], runs: int) -> float:
    """Shortest time of `work` in seconds."""
    times = []
    for _ in range(runs):
        before = time.perf_counter()
        work()
        times.append(time.perf_counter() - before)
    return min(times)


def joint_iteration(X: sp.csr_array, y: np.ndarray, alpha: float, n_jobs: int, runs: int = 30) -> float:
    """Seconds for one iteration of joint training, objective and all."""
    family = Binomial(n=4, lowest=1)
    corpus = Corpus(X, family.encode(y), np.ones(X.shape[0]))
    start = random_start(corpus, N_TOPICS, 0, n_jobs)
    with LocalEngine(n_jobs) as engine:
        blocks = place(corpus, start.weights, engine, compiled)
        HT = pad(start.topics.T, compiled, X.dtype)
        method = Joint(
            blocks=blocks,
            start=Parameters(HT, np.zeros(HT.shape[1]), 0.0),
            response=ResponseModel(family, engine, compiled, penalty=0.1, fit_intercept=False),
            alpha=alpha,
            weight_rule=AdaptiveGamma() if alpha else FixedGamma(0.0),
            coefficient_step=NewtonStep(),
        )
        state = method.init()
        times = []
        for _ in range(runs):
            before = time.perf_counter()
            state = method.step(state)
            times.append(time.perf_counter() - before)
    return min(times)


def sklearn_iteration(X: sp.csr_array, n_threads: int, iterations: int = 10) -> float:
    """Seconds for one iteration of scikit-learn's multiplicative KL-NMF, its start taken off."""
    with threadpool_limits(n_threads):
        short = best(lambda: sklearn_fit(X, 1), 2)
        return (best(lambda: sklearn_fit(X, 1 + iterations), 2) - short) / iterations


def sklearn_fit(X: sp.csr_array, iterations: int) -> NMF:
    model = NMF(
        N_TOPICS,
        init="random",
        solver="mu",
        beta_loss="kullback-leibler",
        max_iter=iterations,
        tol=0,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X)


def peak_memory(work: Callable[[], object]) -> float:
    """Most memory `work` holds at once beyond what was there, in MiB."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


def ratings(n: int) -> np.ndarray:
    return np.random.default_rng(1).integers(1, 6, n).astype(float)


def main() -> None:
    print(f"textsignal {ts.__version__}, scikit-learn {sklearn.__version__}, {platform.processor()}")
    X, y = text_matrix(N_DOCUMENTS, N_TERMS, NONZEROS_A_ROW), ratings(N_DOCUMENTS)
    print(f"\n{N_DOCUMENTS:,} x {N_TERMS} with {X.nnz:,} nonzeros, {N_TOPICS} topics, float64: ms an iteration")
    print(
        f"{'threads':>8} {'scikit-learn':>13} {'ours, alpha=0':>14} {'ratio':>7} {'ours, alpha=.05':>16} {'ratio':>7}"
    )
    for n_threads in (1, 2):
        peer = sklearn_iteration(X, n_threads)
        text_only, joint = (joint_iteration(X, y, alpha, n_threads) for alpha in (0.0, 0.05))
        print(
            f"{n_threads:>8} {1e3 * peer:>13.1f} {1e3 * text_only:>14.2f} {peer / text_only:>6.1f}x "
            f"{1e3 * joint:>16.2f} {peer / joint:>6.1f}x"
        )

    print("\npeak extra memory of a fit of 5 iterations, MiB")
    ours = peak_memory(lambda: ts.JBNMF(N_TOPICS, max_iter=5, tol=0, init="random").fit(X, y))
    peer_memory = peak_memory(lambda: sklearn_fit(X, 5))
    print(f"  ours {ours:.1f}   scikit-learn {peer_memory:.1f}   ratio {peer_memory / ours:.1f}x")

    ten = text_matrix(10 * N_DOCUMENTS, N_TERMS, NONZEROS_A_ROW)
    once = joint_iteration(X, y, 0.05, 2)
    tenfold = joint_iteration(ten, ratings(10 * N_DOCUMENTS), 0.05, 2, runs=10)
    print("\ngrowth from 1x to 10x documents, two threads, alpha=.05")
    print(f"  {1e3 * once:.2f} ms -> {1e3 * tenfold:.2f} ms: {tenfold / once:.2f}x for {ten.nnz / X.nnz:.2f}x nonzeros")

    wide = text_matrix(PREDICT_DOCUMENTS, PREDICT_TERMS, NONZEROS_A_ROW)
    train = wide[:8000]
    model = ts.JBNMF(N_TOPICS, n_jobs=2).fit(train, ratings(8000))
    print(f"\npredict, {PREDICT_DOCUMENTS:,} documents, {PREDICT_TERMS:,} terms, {wide.nnz:,} nonzeros")
    for n_threads in (1, 2):
        seconds = best(lambda threads=n_threads: model.set_params(n_jobs=threads).predict(wide), 3)
        print(f"  {n_threads} thread(s): {PREDICT_DOCUMENTS / seconds:,.0f} documents a second")


if __name__ == "__main__":
    main()
