"""Starting values: nonnegative topics and weights of comparable size, with a GLM for predictive training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import special
from scipy.sparse.linalg import LinearOperator, eigsh
from threadpoolctl import threadpool_limits

from textsignal.arrays import Array, Vector
from textsignal.compute.engines import Compute
from textsignal.compute.kernels.reference import TINY
from textsignal.errors import InputError
from textsignal.families import Family, deviance, null_deviance
from textsignal.training.corpus import Corpus
from textsignal.training.fitted import fit_on_text
from textsignal.training.glm import ResponseModel
from textsignal.training.inference import Inference
from textsignal.training.joint import JointSettings, NoStep, TextAlone, train_joint

#: Multiplicative steps for starting weights: enough to separate topics, cheap compared with training.
FIRST_STEPS = 5
#: Relative size below which singular values, and terms in singular vectors, count as zero.
SMALLEST_SIZE = 1e-6
#: Up to this many terms a full SVD is computed.
SMALL_PROBLEM = 256
#: Iterations of unsupervised training that init="nmf" starts from, and the change at which it stops.
NMF_ITERATIONS, NMF_TOL = 200, 1e-6
#: Share of the corpus' profile (and of the uniform profile in that) mixed into the starting topics of predictive
#: training: a term near zero in a topic hardly moves.
PROFILE_IN_START, EVEN_IN_PROFILE = 0.1, 1e-3
#: Number of unsupervised topics to merge if fewer are requested.
FINE_TOPICS = 12
#: Unmerged topics are kept if they explain at least this share of what merged ones do.
CLEARLY_WORSE = 0.8


@dataclass(frozen=True)
class Start:
    """topics : (topics, terms); weights : (texts, topics)."""

    topics: Array
    weights: Array


def random_start(corpus: Corpus, n_topics: int, seed: int, compute: Compute) -> Start:
    """Draw half-normal topics and weights whose product has the scale of X."""
    rng = np.random.default_rng(seed)
    n_texts, n_terms = corpus.X.shape
    size = _balanced_size(corpus, n_topics)
    topics = size * np.abs(rng.standard_normal((n_topics, n_terms)))
    return Start(topics, size * np.abs(rng.standard_normal((n_texts, n_topics))))


def nndsvda_start(corpus: Corpus, n_topics: int, seed: int, compute: Compute) -> Start:
    """Nonnegative parts of the leading singular vectors, zeros filled with the mean (NNDSVDa).

    The vectors are exact, so the seed matters only for topics beyond their number, which start at random. Weights are
    inferred from topics and terms, so copies of a text have equal starts, and weights of texts are equivalent to
    repetition.
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
    return Start(topics, weights_for(corpus, topics, compute))


#: Starts by name; each takes (corpus, n_topics, seed, compute).
STARTS: dict[str, Callable[[Corpus, int, int, Compute], Start]] = {"nndsvda": nndsvda_start, "random": random_start}
#: Names that users may choose.
INITS = (*STARTS, "nmf")


def weights_for(corpus: Corpus, topics: Array, compute: Compute) -> Array:
    """Approximate each text's weights by a few inference steps."""
    return Inference(topics, tol=0.0).weights(corpus.X, compute, FIRST_STEPS).weights


def given_start(corpus: Corpus, start: Start, W: Any, H: Any, compute: Compute) -> Start:
    """Replace the start's topics and weights by the user's H and W, if given."""
    topics = start.topics if H is None else _checked("H", H, start.topics.shape)
    weights = weights_for(corpus, topics, compute) if W is None else _checked("W", W, start.weights.shape)
    return Start(topics, weights)


def unsupervised_start(corpus: Corpus, family: Family, start: Start, compute: Compute) -> Start:
    """Return topics and weights of unsupervised training from a start."""
    settings = JointSettings(0.0, 0.0, TextAlone(), NoStep(), NMF_ITERATIONS, NMF_TOL)
    fitted = train_joint(corpus, family, start.topics, start.weights, settings, compute, lambda *_: False)
    assert fitted.weights is not None
    return Start(fitted.topics, fitted.weights)


@dataclass(frozen=True)
class PredictiveStart:
    """Starting values of predictive training.

    logits : (terms, topics) of the topics, which are their softmax over terms.
    weights : (texts, topics) inferred from topics and terms.
    prevalence : (topics,) share of the total weight.
    coefficients : (topics + 1,) effects, then the intercept, of a GLM on the weights; (.., P) for P linear predictors.
    explained : share of the response's deviance that the GLM explains.
    """

    logits: Vector
    weights: Array
    prevalence: Vector
    coefficients: Vector
    explained: float

    @property
    def topics(self) -> Vector:
        """(topics, terms), each summing to 1."""
        return special.softmax(self.logits, axis=0).T


def predictive_start(
    topics: Array, corpus: Corpus, response: ResponseModel, profile: Vector, smoothing: float, tol: float
) -> PredictiveStart:
    """Start from topics (topics, terms) of any scale, mixed with the corpus' profile.

    corpus : rows of norm 1; smoothing, tol : of inference.
    """
    everywhere = profile + EVEN_IN_PROFILE / profile.size
    shares = topics / np.maximum(topics.sum(axis=1, keepdims=True), TINY)
    logits = np.log(shares.T + PROFILE_IN_START * everywhere[:, None])
    fit = fit_on_text(corpus, Inference(special.softmax(logits, axis=0).T, smoothing, tol), response)
    left = deviance(response.family, corpus.y, fit.linear_predictor, corpus.weight)
    counted = fit.weights * corpus.weight[:, None]
    return PredictiveStart(
        logits=logits,
        weights=fit.weights,
        prevalence=counted.sum(axis=0, dtype=float) / counted.sum(dtype=float),
        coefficients=np.concatenate([fit.effects, fit.glm.coefficients[-1:]]),
        explained=1 - left / null_deviance(response.family, corpus.y, corpus.weight, corpus.offsets),
    )


def better_start(
    plain: PredictiveStart, fine: PredictiveStart, start: Callable[[Array], PredictiveStart]
) -> PredictiveStart:
    """Return `plain`, or the finer topics merged to its number if they explain the response clearly better.

    A few unsupervised topics split texts by their main subjects, which may mix positive and negative texts. Finer
    topics separate these; merging neighbours in effect preserves the separation.
    """
    merged = start(merge_by_effect(fine.topics, fine.coefficients[:-1], fine.prevalence, len(plain.topics)))
    return merged if plain.explained < CLEARLY_WORSE * merged.explained else plain


def merge_by_effect(topics: Array, effects: Vector, prevalence: Vector, n_topics: int) -> Array:
    """Merge topics (many, terms), each summing to 1, into `n_topics`: (n_topics, terms).

    Repeatedly merges the two neighbours in order of effect whose effects differ least (Ward's rule, weighted by
    prevalence); the merged topic is their mean weighted by prevalence.
    """
    order = np.argsort(effects, kind="stable")
    merged, effects, sizes = topics[order], effects[order].astype(float), prevalence[order].astype(float)
    while len(merged) > n_topics:
        sums = sizes[:-1] + sizes[1:]
        share = np.divide(sizes[1:], sums, out=np.full(len(sums), 0.5), where=sums > 0)
        first = int(np.argmin(sums * share * (1 - share) * np.diff(effects) ** 2))
        pair = np.array([1 - share[first], share[first]])
        merged[first] = pair @ merged[first : first + 2]
        effects[first] = pair @ effects[first : first + 2]
        sizes[first] = sums[first]
        merged, effects, sizes = (np.delete(values, first + 1, axis=0) for values in (merged, effects, sizes))
    return merged


def _leading_vectors(corpus: Corpus, n_topics: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Truncated SVD of the weighted X: left vectors, singular values and right vectors, largest first."""
    X = sp.csr_array(corpus.X.astype(float) * np.sqrt(corpus.weight)[:, None])
    n_terms = X.shape[1]
    count = min(n_topics, *X.shape)
    # One BLAS thread, so that the bits do not depend on the number of threads.
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
    """sqrt(mean of X / topics): the scale at which weights and topics are equal."""
    mean = float(np.sum(corpus.X.T @ corpus.weight)) / (corpus.weight.sum() * corpus.X.shape[1])
    return float(np.sqrt(mean / n_topics))


def _checked(name: str, values: Any, shape: tuple[int, ...]) -> Vector:
    array = np.asarray(values, dtype=float)
    if array.shape != shape:
        raise InputError(f"{name} has shape {array.shape}; it must be {shape}")
    if not np.all(np.isfinite(array)) or np.any(array < 0):
        raise InputError(f"{name} must hold finite numbers of at least 0")
    return array
