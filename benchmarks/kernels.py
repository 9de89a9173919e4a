"""Speed and memory of training and prediction beside scikit-learn's KL-NMF and plain numba, in one run here.

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
from unittest import mock

import numpy as np
import plain_numba
import scipy.sparse as sp
import sklearn
from sklearn.decomposition import NMF
from threadpoolctl import threadpool_limits

import textsignal as ts
from textsignal.compute.engines import Compute
from textsignal.compute.engines.local import local_compute
from textsignal.compute.kernels import compiled, loops, pad
from textsignal.compute.kernels.reference import EPSILON
from textsignal.families import Binomial
from textsignal.training.corpus import Block, Corpus, Parameters, ResponseSums, place
from textsignal.training.glm import ResponseModel
from textsignal.training.joint import AdaptiveGamma, Joint, JointSettings, NewtonStep, Sums
from textsignal.training.start import random_start

N_DOCUMENTS, N_TERMS, N_TOPICS, NONZEROS_A_ROW = 16_000, 500, 14, 47.2
PREDICT_TERMS, PREDICT_DOCUMENTS = 2_000, 100_000
#: Both sides are timed in turns, so that a busy spell of the machine hits both.
ROUNDS = 3
NO_RESPONSE = ResponseSums(0.0, np.zeros(1), np.zeros((1, 1)))


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


def joint_iteration(X: sp.csr_array, y: np.ndarray, n_jobs: int, runs: int = 30) -> float:
    """Seconds for one iteration of joint training: response, adaptive steps and objective included."""
    with local_compute(n_jobs) as compute:
        blocks, first, response = placed(X, y, compute)
        settings = JointSettings(0.05, 0.1, AdaptiveGamma(), NewtonStep(), max_iter=runs, tol=0.0)
        method = Joint(blocks, first, response, settings)
        state = method.init()

        def iterate() -> None:
            nonlocal state
            state = method.step(state)

        return best(iterate, runs)


def kernel_iteration(X: sp.csr_array, y: np.ndarray, n_jobs: int, runs: int = 30) -> float:
    """Seconds for the kernels of one iteration: scikit-learn's two updates, and the text loss besides."""
    with local_compute(n_jobs) as compute:
        blocks, first, _ = placed(X, y, compute)
        HT = first.HT

        def update(block: Block) -> Sums:
            pull = compiled.pull_on_weights(block.X, block.W, HT, block.pull)
            nothing = np.zeros(len(block.W))
            mass = HT.sum(axis=0)
            block.W[:] = compiled.weight_step(block.W, pull, mass, nothing, first.beta, nothing, block.moved).W
            text = compiled.text_sums(block.X, block.W, HT, block.text_weight, block.values)
            return Sums(text.pull, text.mass, text.log_loss, NO_RESPONSE)

        def iterate() -> None:
            sums = compute.engine.sweep(update, blocks)
            HT[:] *= sums.pull / (sums.mass + EPSILON)

        return best(iterate, runs)


def plain_iteration(X: sp.csr_array, y: np.ndarray, n_jobs: int) -> float:
    """Seconds for the same kernels without vector registers by hand."""
    with mock.patch.multiple(loops, **plain_numba.LOOPS):
        return kernel_iteration(X, y, n_jobs)


def placed(X: sp.csr_array, y: np.ndarray, compute: Compute) -> tuple[list[Block], Parameters, ResponseModel]:
    family = Binomial(n=4, lowest=1)
    corpus = Corpus(X, family.encode(y), np.ones(X.shape[0]))
    start = random_start(corpus, N_TOPICS, 0, compute)
    HT = pad(start.topics.T, compiled, X.dtype)
    response = ResponseModel(family, compute, penalty=0.1, fit_intercept=False)
    blocks = place(corpus, start.weights, compute)
    return blocks, Parameters(HT, np.zeros(HT.shape[1]), 0.0), response


def sklearn_iteration(X: sp.csr_array, n_threads: int, iterations: int = 10) -> float:
    """Seconds for one iteration of scikit-learn's multiplicative KL-NMF, its start taken off."""
    with threadpool_limits(n_threads):
        short = best(lambda: sklearn_fit(X, 1), 1)
        return (best(lambda: sklearn_fit(X, 1 + iterations), 1) - short) / iterations


def sklearn_fit(X: sp.csr_array, iterations: int) -> NMF:
    model = NMF(
        N_TOPICS, init="random", solver="mu", beta_loss="kullback-leibler", max_iter=iterations, tol=0, random_state=0
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
    print(f"{'threads':>8} {'scikit-learn':>13} {'our kernels':>12} {'ratio':>7} {'joint training':>15} {'ratio':>7}")
    brought = []
    for n_threads in (1, 2):
        rounds = [
            (
                sklearn_iteration(X, n_threads),
                kernel_iteration(X, y, n_threads),
                joint_iteration(X, y, n_threads),
                plain_iteration(X, y, n_threads),
            )
            for _ in range(ROUNDS)
        ]
        peer, kernels, joint, plain = (1e3 * min(times) for times in zip(*rounds, strict=True))
        ratios = peer / kernels, peer / joint
        print(f"{n_threads:>8} {peer:>13.1f} {kernels:>12.2f} {ratios[0]:>6.1f}x {joint:>15.2f} {ratios[1]:>6.1f}x")
        brought.append(f"{plain:.2f} -> {kernels:.2f} ms, {plain / kernels:.1f}x, with {n_threads} thread(s)")
    print(f"kernels/lanes.py in our kernels, from plain numba: {';  '.join(brought)}")

    plain_numba.compare(X)

    print("\npeak extra memory of a fit of 5 iterations, MiB")
    ours = peak_memory(lambda: ts.JBNMF(N_TOPICS, max_iter=5, tol=0, init="random").fit(X, y))
    peer_memory = peak_memory(lambda: sklearn_fit(X, 5))
    print(f"  ours {ours:.1f}   scikit-learn {peer_memory:.1f}   ratio {peer_memory / ours:.1f}x")

    ten = text_matrix(10 * N_DOCUMENTS, N_TERMS, NONZEROS_A_ROW)
    once = joint_iteration(X, y, 2)
    tenfold = joint_iteration(ten, ratings(10 * N_DOCUMENTS), 2, runs=10)
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
