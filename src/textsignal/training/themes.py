"""Themes: topics learnt from sentences, nearly independent of the response.

    x_u ~ w_u H under KL, from word vectors of the corpus;      p_uk = w_uk / sum_k w_uk

x_u counts the content terms of sentence u. Term j counts freq_j^.25 / (1 + (t_j / rms t)^2 / 2): frequent subjects are
themes, and words that carry tone are uninformative about them. With several responses the square is their mean.

Two words are near if they appear in sentences with the same others: positive pointwise mutual information of terms
within sentences, context counts to the power .75, n / (n + 1) of it for terms that met n times, its leading
eigenvectors times the roots of the eigenvalues. Clusters of these vectors start the topics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import eigsh
from scipy.special import softmax
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from textsignal.arrays import Array, Vector
from textsignal.compute.engines import Compute, Engine
from textsignal.compute.gpu import kernels as gpu
from textsignal.compute.gpu import themes as gpu_themes
from textsignal.compute.kernels import Rows, pad
from textsignal.errors import InputError
from textsignal.stored_values import SMALLEST, rule
from textsignal.training.corpus import Corpus
from textsignal.training.joint import train_text, unit_topics
from textsignal.training.start import weights_for

#: How much more frequent terms count, and how much less those with tone.
FREQUENCY_POWER, TONE_WEIGHT = 0.25, 0.5
#: Iterations of KL-NMF from the clusters. With more, themes drift to what is frequent, and apart.
ITERATIONS = 3
#: The largest share in a stored model, which rounding may have taken above 1.
MOST_SHARE = 1.001
#: Length of a vector, and the power of context counts.
DIMENSIONS, CONTEXT_POWER = 23, 0.75
#: Up to this many terms all eigenvectors are computed at once; of more terms to this tolerance.
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
#: Digits to which vectors that clusters can separate differ: squared distances hold twice as many, and no more.
APART = 6


@dataclass(frozen=True)
class Themes:
    """Topics of sentences.

    topics : shares of terms, each summing to 1, of weighted counts; term_weights : what an occurrence counts.
    prevalence : share of the text that has content terms.
    """

    topics: Vector = field(metadata=rule(shape=("topics", "terms"), least=0, most=MOST_SHARE, filled=True))
    term_weights: Vector = field(metadata=rule(shape=("terms",), least=SMALLEST))
    prevalence: Vector = field(metadata=rule(shape=("topics",), least=0, most=MOST_SHARE, filled=True))

    @property
    def profiles(self) -> Vector:
        """(topics, terms) shares of terms by plain counts, each summing to 1."""
        profiles = self.topics / self.term_weights
        return profiles / profiles.sum(axis=1, keepdims=True)

    @property
    def uses(self) -> Vector:
        """(topics, terms) share of each topic in the uses of a term; 0 for a term that none uses."""
        return uses_of(self.profiles, self.prevalence)


def uses_of(profiles: Vector, prevalence: Vector) -> Vector:
    """(topics, terms) share of each topic in the uses of a term; profiles : (topics, terms) shares of terms."""
    used = prevalence[:, None] * profiles
    total = used.sum(axis=0)
    return np.divide(used, total, out=np.zeros_like(used), where=total > 0)


def weighted(units: sp.csr_array, term_weights: Vector) -> sp.csr_array:
    """Multiply counts by the weight of each term."""
    return sp.csr_array((units.data * term_weights[units.indices], units.indices, units.indptr), shape=units.shape)


@dataclass(frozen=True, eq=False)
class ThemeText:
    """Sentences that themes are learnt from.

    tones : (responses, terms) effects of the content terms; units : (sentences, terms) counts.
    documents : (sentences,) the text of each, ascending; seeds : label -> normalised words that a theme starts from.
    """

    terms: Sequence[str]
    tones: Vector
    units: sp.csr_array
    documents: NDArray[np.int64]
    weight: Vector
    seeds: Mapping[str, Sequence[str]]

    @property
    def n_speaking(self) -> int:
        """Number of texts with a content term."""
        return len(np.unique(self.documents[np.diff(self.units.indptr) > 0]))

    def leading_terms(self, n: int) -> NDArray[np.int64]:
        """Return numbers of the n most frequent terms and of all seed words, ascending."""
        frequency = self.units.T @ self.weight[self.documents]
        first = np.argsort(-frequency, kind="stable")[:n]
        seeds = {word for words in self.seeds.values() for word in words}
        return np.union1d(first, [j for j, term in enumerate(self.terms) if term in seeds]).astype(np.int64)

    def at(self, rows: NDArray[np.int64]) -> ThemeText:
        """Keep some of the texts, ascending."""
        kept = sentences_of(self.documents, rows)
        number = np.searchsorted(rows, self.documents[kept])
        return replace(self, units=self.units[kept], documents=number, weight=self.weight[rows])

    def with_terms(self, terms: NDArray[np.int64]) -> ThemeText:
        """Keep some of the terms."""
        names = [self.terms[j] for j in terms.tolist()]
        return replace(self, terms=names, tones=self.tones[:, terms], units=self.units[:, terms])

    def themes(
        self, n_themes: int, seed: int, compute: Compute, tries: int = TRIES, vectors: Vector | None = None
    ) -> Themes:
        """Learn themes from the best of some clusterings; vectors : None to learn them from these sentences."""
        weight = self.weight[self.documents]
        frequency = np.asarray(self.units.T @ weight, dtype=float)
        sizes = [(tone, np.sqrt(np.mean(tone**2))) for tone in self.tones]
        strength = [(tone / rms) ** 2 if rms > 0 else np.zeros_like(tone) for tone, rms in sizes]
        each = np.maximum(frequency, 1) ** FREQUENCY_POWER / (1 + TONE_WEIGHT * np.mean(strength, axis=0))
        each /= np.average(each, weights=frequency)
        vectors = word_vectors(self.units) if vectors is None else vectors
        # Merged themes may be fewer than the seeded ones.
        seeds = seed_terms(dict(list(self.seeds.items())[:n_themes]), self.terms)
        start = clustered_topics(vectors, frequency * each, n_themes, seed, compute.engine, seeds, tries)
        return _learnt(start, each, self.units, weight, ITERATIONS, compute)


def sentences_of(documents: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return numbers of the sentences of some texts."""
    return np.flatnonzero(np.isin(documents, rows))


def refit_themes(themes: Themes, units: sp.csr_array, weight: Vector, compute: Compute) -> Themes:
    """Move themes by one iteration with other weights of the sentences; terms count as before."""
    return _learnt(themes.topics, themes.term_weights, units, weight, 1, compute)


def _learnt(
    start: Array, each: Vector, units: sp.csr_array, weight: Vector, iterations: int, compute: Compute
) -> Themes:
    """Iterations of KL-NMF from topics (themes, terms); each : (terms,) what an occurrence counts."""
    text = np.diff(units.indptr) > 0
    X, weight = weighted(units, each)[text], weight[text]
    if compute.kernels is gpu:
        sentences = gpu_themes.CardSentences.of(Rows.of(X, 0, X.shape[0]), X.shape[1], weight)
        learnt = gpu_themes.learn_themes(sentences, pad(start.T, gpu, np.dtype(np.float32)), iterations)
        topics: Array = learnt.HT.get().T[: len(start)].astype(float)
        topics, prevalence = topics / topics.sum(axis=1, keepdims=True), learnt.prevalence.get()[: len(start)]
    else:
        corpus = Corpus(X, np.full(len(weight), np.nan), weight)
        found, weights = train_text(corpus, start, weights_for(corpus, start, compute), iterations, 0.0, compute)
        topics, prevalence = unit_topics(found), (weights * found.sum(axis=1)).T @ weight
    prevalence = np.asarray(prevalence, dtype=float)
    return Themes(np.asarray(topics, dtype=float), each, prevalence / prevalence.sum())


def word_vectors(units: sp.csr_array) -> Vector:
    """(terms, at most DIMENSIONS) vectors of length 1; 0 for a term that is alone in all its sentences."""
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
    """(topics, terms) to start from, each summing to 1: frequency times softmax of the cosine to a centre or seed."""
    n_clusters = min(n_topics, len(np.unique(vectors.round(APART), axis=0)))
    centres = _clusters(vectors, frequency**CLUSTER_POWER, n_clusters, seed, engine, tries)
    centres = _centres(vectors, centres, n_topics, seed, seeds)
    belonging = vectors @ centres.T / SOFTNESS
    if not vectors.any():
        # As in texts of one word: terms are dealt out, the most frequent first.
        ranked = np.argsort(-frequency, kind="stable")
        belonging[ranked, np.arange(len(ranked)) % n_topics] += SEEDED
    for k, terms in enumerate(seeds):
        belonging[terms, k] += SEEDED
    topics = (frequency[:, None] * softmax(belonging, axis=1)).T
    return topics / topics.sum(axis=1, keepdims=True)


def _clusters(vectors: Vector, weight: Vector, n_clusters: int, seed: int, engine: Engine, tries: int) -> Vector:
    """(clusters, dimensions) centres of the best of some clusterings."""
    n_parts = max(1, min(PARTS, tries // LEAST_PART))

    def best(part: int) -> KMeans:
        # One OpenMP thread each: sums over several would depend on their order.
        with threadpool_limits(1, user_api="openmp"):
            clusters = KMeans(n_clusters, n_init=tries // n_parts, random_state=seed + part)
            return clusters.fit(vectors, sample_weight=weight)

    shared = vectors.size * n_clusters >= LEAST_SHARED
    with threadpool_limits(1):
        clusterings = engine.map(best, range(n_parts)) if shared else [*map(best, range(n_parts))]
    return np.asarray(min(clusterings, key=lambda clusters: clusters.inertia_).cluster_centers_, dtype=float)


def _centres(vectors: Vector, centres: Vector, n_topics: int, seed: int, seeds: Sequence[NDArray[np.int64]]) -> Vector:
    """(topics, dimensions) centres of length 1: those of seeds, then those of clusters, then random ones."""
    if seeds:
        first = np.array([vectors[terms].mean(axis=0) for terms in seeds])
        far = np.argsort(np.max(centres @ first.T, axis=1), kind="stable")
        centres = np.vstack([first, centres[far]])[: len(centres)]
    if len(centres) < n_topics:
        rng = np.random.default_rng(seed)
        extra = vectors[rng.integers(0, len(vectors), n_topics - len(centres))]
        centres = np.vstack([centres, extra + 0.1 * rng.standard_normal(extra.shape)])
    return np.asarray(unit_vectors(centres), dtype=float)


def unit_vectors(rows: Array) -> Array:
    """Scale rows to length 1; rows of 0 stay."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1)


def seed_terms(seed_words: Mapping[str, Sequence[str]], terms: Sequence[str]) -> list[NDArray[np.int64]]:
    """Return numbers of the terms that each theme is seeded with; words that are not terms are ignored."""
    numbers = {term: j for j, term in enumerate(terms)}
    indices = {label: [numbers[word] for word in words if word in numbers] for label, words in seed_words.items()}
    for label, rows in indices.items():
        if not rows:
            listed = ", ".join(seed_words[label]) or "none given"
            raise InputError(
                f"seed_words: no word of {label!r} is a content term of these texts ({listed}); "
                "content terms are written in small letters and are in several texts"
            )
    return [np.array(rows) for rows in indices.values()]
