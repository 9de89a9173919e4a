"""Where training starts: nonnegative topics and weights, of comparable size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh
from threadpoolctl import threadpool_limits

from textsignal.inference import infer_weights
from textsignal.kernels import Array
from textsignal.training.corpus import Corpus

#: Multiplicative steps that give weights to start from: enough to tell topics apart, cheap beside training.
FIRST_STEPS = 5
#: Relative size below which singular values, and terms in singular vectors, count as zero.
SMALLEST_SIZE = 1e-6
#: Up to this many terms all singular vectors are found at once.
SMALL_PROBLEM = 256


@dataclass(frozen=True)
class Start:
    """topics : (topics, terms); weights : (documents, topics)."""

    topics: Array
    weights: Array


def random_start(corpus: Corpus, n_topics: int, seed: int, n_jobs: int | None) -> Start:
    """Half-normal draws, so that weights times topics has the size of the text."""
    rng = np.random.default_rng(seed)
    n_documents, n_terms = corpus.X.shape
    size = _balanced_size(corpus, n_topics)
    topics = size * np.abs(rng.standard_normal((n_topics, n_terms)))
    return Start(topics, size * np.abs(rng.standard_normal((n_documents, n_topics))))


def nndsvda_start(corpus: Corpus, n_topics: int, seed: int, n_jobs: int | None) -> Start:
    """Nonnegative parts of the leading singular vectors, zeros filled with the mean (NNDSVDa).

    The vectors are exact, so the seed hardly matters, but for topics beyond their number: these start at random.
    Weights follow from topics and text alone, so a
    repeated document starts where its twin does, and document weights equal repetition.
    """
    rng = np.random.default_rng(seed)
    topics = rng.exponential(size=(n_topics, corpus.X.shape[1])) * corpus.profile
    U, sizes, Vt = _leading_vectors(corpus, n_topics, rng)
    for k in np.flatnonzero(sizes > SMALLEST_SIZE * sizes.max(initial=0)):
        sides = [(np.maximum(sign * U[:, k], 0), np.maximum(sign * Vt[k], 0)) for sign in (1, -1)]
        topics[k] = max(sides, key=lambda side: np.linalg.norm(side[0]) * np.linalg.norm(side[1]))[1]
    topics /= topics.sum(axis=1, keepdims=True)
    topics[topics <= SMALLEST_SIZE * topics.max()] = topics.mean()
    topics *= _balanced_size(corpus, n_topics) * corpus.X.shape[1] / topics.sum(axis=1, keepdims=True)
    return Start(topics, weights_for(corpus, topics, n_jobs))


#: Starts by name; each takes (corpus, n_topics, seed, n_jobs).
STARTS: dict[str, Callable[[Corpus, int, int, int | None], Start]] = {
    "nndsvda": nndsvda_start,
    "random": random_start,
}


def weights_for(corpus: Corpus, topics: Array, n_jobs: int | None) -> Array:
    """A few inference steps towards each document's weights."""
    return infer_weights(corpus.X, topics, tol=0.0, max_iter=FIRST_STEPS, n_jobs=n_jobs).weights


def _leading_vectors(corpus: Corpus, n_topics: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Left vectors, sizes and right vectors of the weighted text's largest singular values, largest first."""
    X = corpus.X.astype(float) * np.sqrt(corpus.weight)[:, None]
    n_terms = X.shape[1]
    count = min(n_topics, *X.shape)
    # One BLAS thread, so that the bits do not depend on how many there are.
    with threadpool_limits(1):
        if n_terms <= max(SMALL_PROBLEM, count + 1):
            squares, vectors = np.linalg.eigh((X.T @ X).toarray())
        else:
            products = LinearOperator((n_terms, n_terms), matvec=lambda v: X.T @ (X @ v), dtype=float)
            squares, vectors = eigsh(products, count, v0=rng.random(n_terms), rng=rng)
        vectors = vectors[:, ::-1][:, :count]
        sizes = np.sqrt(np.maximum(squares[::-1][:count], 0))
        left = np.asarray(X @ vectors) / np.where(sizes > 0, sizes, 1)
    return left, sizes, vectors.T


def _balanced_size(corpus: Corpus, n_topics: int) -> float:
    """sqrt(mean of X / topics): the size at which weights and topics are alike."""
    mean = float(np.sum(corpus.X.T @ corpus.weight)) / (corpus.weight.sum() * corpus.X.shape[1])
    return float(np.sqrt(mean / n_topics))
