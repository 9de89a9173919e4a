"""Vectors of words from the corpus itself, and the topics that their clusters start.

Two words are near where they stand in sentences with the same others: positive pointwise mutual information of
terms within units, context counts to the power .75, its leading eigenvectors times the roots of the eigenvalues.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh
from scipy.special import softmax
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from textsignal.arrays import Vector

#: Length of a vector, and the power of context counts.
DIMENSIONS, CONTEXT_POWER = 30, 0.75
#: Up to this many terms all eigenvectors are found at once.
SMALL_PROBLEM = 300
#: Clusterings that the best is taken of; terms count in them by a root of their frequency.
TRIES = 10
#: How softly a term belongs to clusters: cosine / SOFTNESS goes into a softmax.
SOFTNESS = 0.5
#: A seed word belongs to its theme this much more than to any other.
SEEDED = 20.0


def word_vectors(units: sp.csr_array) -> Vector:
    """(terms, at most DIMENSIONS) vectors of length 1; 0 for a term that stands alone everywhere.

    units : (units, terms) counts.

    Examples
    --------
    >>> units = sp.csr_array(np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]))
    >>> (word_vectors(units) @ word_vectors(units).T).round(1) + 0.0
    array([[1., 1., 0., 0.],
           [1., 1., 0., 0.],
           [0., 0., 1., 1.],
           [0., 0., 1., 1.]])
    """
    information = _positive_information(units)
    n_terms = information.shape[0]
    with threadpool_limits(1):
        if n_terms <= SMALL_PROBLEM:
            sizes, vectors = np.linalg.eigh(information.toarray())
            sizes, vectors = sizes[-DIMENSIONS:], vectors[:, -DIMENSIONS:]
        else:
            sizes, vectors = eigsh(information, DIMENSIONS, which="LA", v0=np.ones(n_terms))
    scaled = vectors * np.sqrt(np.maximum(sizes, 0))
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.divide(scaled, length, out=np.zeros_like(scaled), where=length > 1e-9)


def _positive_information(units: sp.csr_array) -> sp.csr_array:
    """max(0, log p(a, b) / (p(a) p'(b))), made symmetric."""
    present = sp.csr_array((units > 0).astype(np.float64))
    together = sp.coo_array(present.T @ present)
    apart = together.row != together.col
    row, column, count = together.row[apart], together.col[apart], together.data[apart]
    total = np.bincount(row, weights=count, minlength=units.shape[1])
    if not count.size:
        return sp.csr_array(together.shape)
    context = total**CONTEXT_POWER
    expected = total[row] / total.sum() * (context[column] / context.sum())
    information = np.log(count / count.sum() / expected)
    kept = information > 0
    one_way = sp.csr_array((information[kept], (row[kept], column[kept])), shape=together.shape)
    return sp.csr_array((one_way + one_way.T) / 2)


def clustered_topics(
    vectors: Vector, frequency: Vector, n_topics: int, seed: int, seeds: Sequence[NDArray[np.int64]] = ()
) -> Vector:
    """(topics, terms) topics to start from, each summing to 1: frequency times softmax of the cosine to a centre.

    frequency : (terms,) how often each term occurs; seeds : terms of the first topics, which these start around.
    """
    centres = _centres(vectors, np.sqrt(frequency), n_topics, seed, seeds)
    belonging = vectors @ centres.T / SOFTNESS
    for k, terms in enumerate(seeds):
        belonging[terms, k] += SEEDED
    topics = (frequency[:, None] * softmax(belonging, axis=1)).T
    return topics / topics.sum(axis=1, keepdims=True)


def _centres(vectors: Vector, weight: Vector, n_topics: int, seed: int, seeds: Sequence[NDArray[np.int64]]) -> Vector:
    """(topics, dimensions) centres of length 1: those of k-means, the first of them where seeds are."""
    n_clusters = min(n_topics, len(np.unique(vectors.round(9), axis=0)))
    with threadpool_limits(1):
        found = KMeans(n_clusters, n_init=TRIES, random_state=seed).fit(vectors, sample_weight=weight)
    centres = found.cluster_centers_
    if seeds:
        first = np.array([vectors[terms].mean(axis=0) for terms in seeds])
        far = np.argsort(np.max(centres @ first.T, axis=1), kind="stable")
        centres = np.vstack([first, centres[far]])[:n_clusters]
    if len(centres) < n_topics:
        rng = np.random.default_rng(seed)
        extra = vectors[rng.integers(0, len(vectors), n_topics - len(centres))]
        centres = np.vstack([centres, extra + 0.1 * rng.standard_normal(extra.shape)])
    length = np.linalg.norm(centres, axis=1, keepdims=True)
    return centres / np.where(length > 0, length, 1)


def seed_terms(seed_words: Mapping[str, Sequence[str]], terms: Sequence[str]) -> list[NDArray[np.int64]]:
    """Numbers of the terms that each theme is seeded with; words that are not terms are left out."""
    numbers = {term: j for j, term in enumerate(terms)}
    return [np.array([numbers[word] for word in words if word in numbers]) for words in seed_words.values()]
