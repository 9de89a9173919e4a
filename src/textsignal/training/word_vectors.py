"""Vectors of words from the corpus itself, and the topics that their clusters start.

Two words are near where they stand in sentences with the same others: positive pointwise mutual information of
terms within units, context counts to the power .75, n / (n + 1) of it for terms that met n times, its leading
eigenvectors times the roots of the eigenvalues.
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
from textsignal.compute.engines import Engine
from textsignal.errors import InputError

#: Length of a vector, and the power of context counts.
DIMENSIONS, CONTEXT_POWER = 23, 0.75
#: Up to this many terms all eigenvectors are found at once; of more terms as exactly as this.
SMALL_PROBLEM, EIGEN_TOL = 300, 1e-3
#: Clusterings that the best is taken of, and the power of its frequency by which a term counts in them. With 10 tries
#: themes of parts of a corpus had less in common; with a larger power rare themes are lost.
TRIES, CLUSTER_POWER = 60, 0.5
#: Parts of the tries that threads share, and fewest tries of a part; products of terms, dimensions and clusters below
#: which threads would only wait for each other.
PARTS, LEAST_PART, LEAST_SHARED = 4, 8, 600_000
#: How softly a term belongs to clusters: cosine / SOFTNESS goes into a softmax.
SOFTNESS = 0.5
#: A seed word belongs to its theme this much more than to any other.
SEEDED = 20.0
#: Digits to which vectors that clusters can tell apart differ: squared distances hold twice as many, and no more.
APART = 6


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
            sizes, vectors = eigsh(information, DIMENSIONS, which="LA", v0=np.ones(n_terms), tol=EIGEN_TOL)
    scaled = vectors * np.sqrt(np.maximum(sizes, 0))
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.divide(scaled, length, out=np.zeros_like(scaled), where=length > 1e-9)


def _positive_information(units: sp.csr_array) -> sp.csr_array:
    """n / (n + 1) max(0, log p(a, b) / (p(a) p'(b))), the mean of both ways; n is how often a and b met."""
    present = sp.csr_array((units > 0).astype(np.float64))
    met = sp.triu(present.T @ present, k=1, format="coo")
    first, second, count = met.row, met.col, met.data
    if not count.size:
        return sp.csr_array(met.shape)
    n_terms = units.shape[1]
    total = np.bincount(first, count, n_terms) + np.bincount(second, count, n_terms)
    context = total**CONTEXT_POWER
    with np.errstate(divide="ignore"):
        log_total, log_context = np.log(total), np.log(context / context.sum())
    together = np.log(count)
    one_way = np.maximum(together - log_total[first] - log_context[second], 0)
    other_way = np.maximum(together - log_total[second] - log_context[first], 0)
    information = count / (count + 1) * (one_way + other_way) / 2
    kept = information > 0
    half = sp.csr_array((information[kept], (first[kept], second[kept])), shape=met.shape)
    return sp.csr_array(half + half.T)


def clustered_topics(
    vectors: Vector,
    frequency: Vector,
    n_topics: int,
    seed: int,
    engine: Engine,
    seeds: Sequence[NDArray[np.int64]] = (),
    tries: int = TRIES,
) -> Vector:
    """(topics, terms) topics to start from, each summing to 1: frequency times softmax of the cosine to a centre.

    Where no term has a vector, as in texts of one word, terms are dealt out to the topics, the most frequent first.

    frequency : (terms,) how often each term occurs; seeds : terms of the first topics, which these start around;
    tries : clusterings that the best is taken of.
    """
    n_clusters = min(n_topics, len(np.unique(vectors.round(APART), axis=0)))
    centres = _clusters(vectors, frequency**CLUSTER_POWER, n_clusters, seed, engine, tries)
    centres = _centres(vectors, centres, n_topics, seed, seeds)
    belonging = vectors @ centres.T / SOFTNESS
    if not vectors.any():
        ranked = np.argsort(-frequency, kind="stable")
        belonging[ranked, np.arange(len(ranked)) % n_topics] += SEEDED
    for k, terms in enumerate(seeds):
        belonging[terms, k] += SEEDED
    topics = (frequency[:, None] * softmax(belonging, axis=1)).T
    return topics / topics.sum(axis=1, keepdims=True)


def _clusters(vectors: Vector, weight: Vector, n_clusters: int, seed: int, engine: Engine, tries: int) -> Vector:
    """(clusters, dimensions) centres of the best of some clusterings; weight : (terms,)."""
    n_parts = max(1, min(PARTS, tries // LEAST_PART))

    def best(part: int) -> KMeans:
        # One OpenMP thread each: sums over several would depend on their order.
        with threadpool_limits(1, user_api="openmp"):
            return KMeans(n_clusters, n_init=tries // n_parts, random_state=seed + part).fit(
                vectors, sample_weight=weight
            )

    shared = vectors.size * n_clusters >= LEAST_SHARED
    with threadpool_limits(1):
        clusterings = engine.map(best, range(n_parts)) if shared else [*map(best, range(n_parts))]
    return np.asarray(min(clusterings, key=lambda clusters: clusters.inertia_).cluster_centers_, dtype=float)


def _centres(vectors: Vector, centres: Vector, n_topics: int, seed: int, seeds: Sequence[NDArray[np.int64]]) -> Vector:
    """(topics, dimensions) centres of length 1: those of clusters, the first of them where seeds are."""
    n_clusters = len(centres)
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
    """Numbers of the terms that each theme is seeded with; words that are not terms are left out.

    Raises InputError, naming the label, where none of its words is a term.
    """
    numbers = {term: j for j, term in enumerate(terms)}
    indices = {label: [numbers[word] for word in words if word in numbers] for label, words in seed_words.items()}
    for label, places in indices.items():
        if not places:
            listed = ", ".join(seed_words[label]) or "none given"
            raise InputError(
                f"seed_words: no word of {label!r} is a content term of these texts ({listed}); "
                "content terms are written in small letters and are in several documents"
            )
    return [np.array(places) for places in indices.values()]
