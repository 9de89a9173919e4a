"""Where predictive training begins: starting topics, the weights that follow from them, and a GLM on these.

A handful of unsupervised topics splits the text by its main themes, and these may average over good and bad. Finer
topics tell good from bad; merging neighbours in effect keeps that. So few topics have a choice of two starts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from textsignal.inference import infer_weights
from textsignal.kernels import Array, Vector
from textsignal.kernels.reference import TINY
from textsignal.training.corpus import Corpus
from textsignal.training.glm import ResponseModel, coefficients_for, null_deviance

#: Share of the corpus' profile (and of all terms alike in that) mixed into the starting topics: a term near zero in a
#: topic hardly moves.
PROFILE_IN_START, EVEN_IN_PROFILE = 0.1, 1e-3
#: Unsupervised topics to merge where fewer are asked for.
FINE_TOPICS = 12
#: Topics as they are explain at least this share of what merged ones do, or these are taken.
CLEARLY_WORSE = 0.8


@dataclass(frozen=True)
class Beginning:
    """Where training begins.

    logits : (terms, topics) of the topics, which are their softmax over terms.
    weights : (documents, topics) that follow from the topics and the text.
    coefficients : (topics + 1,) effects, then the intercept, of a GLM on the weights.
    explained : share of the response's deviance that the GLM explains.
    """

    logits: Vector
    weights: Array
    coefficients: Vector
    explained: float

    @property
    def topics(self) -> Vector:
        """(topics, terms), each summing to 1."""
        return special.softmax(self.logits, axis=0).T

    @property
    def prevalence(self) -> Vector:
        """(topics,) share of all weight."""
        return self.weights.sum(axis=0, dtype=float) / self.weights.sum(dtype=float)


def begin(
    topics: Array, corpus: Corpus, glm: ResponseModel, profile: Vector, infer: Callable[[Array], Array]
) -> Beginning:
    """Begin with topics (topics, terms) of any size, each with some of the corpus' profile in it."""
    everywhere = profile + EVEN_IN_PROFILE / profile.size
    shares = topics / np.maximum(topics.sum(axis=1, keepdims=True), TINY)
    logits = np.log(shares.T + PROFILE_IN_START * everywhere[:, None])
    weights = infer(special.softmax(logits, axis=0).T)
    coefficients = coefficients_for(glm, corpus, weights)
    seen = ~np.isnan(corpus.y)
    y, weight = corpus.y[seen], corpus.weight[seen]
    eta = weights[seen] @ coefficients[:-1] + coefficients[-1]
    deviance = 2 * float(np.sum(weight * (glm.family.loss(y, eta) - glm.family.best_loss(y))))
    return Beginning(logits, weights, coefficients, 1 - deviance / null_deviance(glm.family, y, weight))


def better_beginning(plain: Beginning, fine: Beginning, begin: Callable[[Array], Beginning]) -> Beginning:
    """`plain`, or the finer topics merged to as many, where they explain the response clearly better."""
    merged = begin(merge_by_effect(fine.topics, fine.coefficients[:-1], fine.prevalence, len(plain.topics)))
    return merged if plain.explained < CLEARLY_WORSE * merged.explained else plain


def text_weights(corpus: Corpus, topics: Array, smoothing: float, tol: float, n_jobs: int | None) -> Array:
    """(documents, topics) weights from the text alone; the mean weights for a document that has none."""
    inferred = infer_weights(corpus.X, topics, smoothing=smoothing, tol=tol, n_jobs=n_jobs)
    inferred.weights[inferred.unknown] = corpus.mean_weights(inferred.weights)
    return inferred.weights


def merge_by_effect(topics: Array, effects: Vector, prevalence: Vector, n_topics: int) -> Array:
    """Merge topics (many, terms), each summing to 1, into `n_topics`: (n_topics, terms).

    Those two neighbours in order of effect are merged, again and again, whose effects differ least (Ward's rule, by
    prevalence); the merged topic is their mean by prevalence.

    Examples
    --------
    >>> merge_by_effect(np.eye(3), np.array([1.0, -2.0, 1.1]), np.array([0.2, 0.4, 0.4]), 2).round(2)
    array([[0.  , 1.  , 0.  ],
           [0.33, 0.  , 0.67]])
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
