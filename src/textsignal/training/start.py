"""Where training starts: nonnegative topics and weights, of comparable size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.utils.extmath import randomized_svd
from threadpoolctl import threadpool_limits

from textsignal.inference import infer_weights
from textsignal.kernels import Array
from textsignal.training.block import Corpus

#: Multiplicative steps that give weights to start from: enough to tell topics apart, cheap beside training.
FIRST_STEPS = 5
#: Relative size below which singular values, and terms in singular vectors, count as zero.
SMALLEST_SIZE = 1e-6


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

    Topics beyond the number of singular vectors start at random. Weights follow from topics and text alone, so a
    repeated document starts where its twin does, and document weights equal repetition.
    """
    rng = np.random.default_rng(seed)
    topics = rng.exponential(size=(n_topics, corpus.X.shape[1])) * corpus.profile
    rank = min(n_topics, *corpus.X.shape)
    weighted = corpus.X * np.sqrt(corpus.weight)[:, None]
    # Not transposed, so that the draw does not depend on the number of documents.
    # One BLAS thread, so that the bits do not depend on how many there are.
    with threadpool_limits(1):
        U, sizes, Vt = randomized_svd(weighted, rank, random_state=seed, transpose=False)
    # A singular vector of (nearly) no size is rounding, not text.
    for k in np.flatnonzero(sizes > SMALLEST_SIZE * sizes[0]):
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


def _balanced_size(corpus: Corpus, n_topics: int) -> float:
    """sqrt(mean of X / topics): the size at which weights and topics are alike."""
    mean = float(np.sum(corpus.X.T @ corpus.weight)) / (corpus.weight.sum() * corpus.X.shape[1])
    return float(np.sqrt(mean / n_topics))
