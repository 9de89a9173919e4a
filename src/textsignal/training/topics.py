"""Descriptions of topics: effects on one scale, shares of texts and words, coherence. Pure functions of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textsignal.arrays import Array, Vector


@dataclass(frozen=True)
class CentredEffects:
    """Effects of topics against the average text, with every topic on the same scale.

        linear predictor = intercept + centre * sum_k w_k + sum_k w_k effect_k

    size : (topics,) what each topic sums to, 1 for a topic that died; w is an estimator's weights times this.
    prevalence : (topics,) share of all text.
    effects, centre : (topics,) or (topics, P), 0 at the mean weights; the mean that was subtracted.
    """

    size: Vector
    prevalence: Vector
    effects: Vector
    centre: Any


def centred_effects(topics: Array, mean_weights: Array, coefficients: Vector, smoothing: float) -> CentredEffects:
    """Scale topics (topics, terms) to sum to 1 and centre their effects at 0.

    Texts have nearly constant totals, so a constant added to all coefficients is as good as one added to the
    intercept, and only differences are identified.
    """
    mass = topics.sum(axis=1, dtype=float)
    size = np.where(mass > 0, mass, 1)
    effects = (coefficients.T / size).T
    centre = np.average(effects, axis=0, weights=mean_weights * mass)
    prevalence = text_shares(mean_weights[None], topics, smoothing)[0]
    return CentredEffects(size, prevalence, effects - centre, float(centre) if effects.ndim == 1 else centre)


def text_shares(weights: Array, topics: Array, smoothing: float) -> Vector:
    """(texts, topics) the part of each text that each topic explains.

        share_ik = w_ik pull_ik / sum of the same over k,        w_ik pull_ik = mass_k w_ik - smoothing

    The equality holds for weights inferred with this smoothing, so weight that is due to it is not counted; mass is the
    topic's sum over terms. For mean weights the result is the prevalence. Rows sum to 1, or to 0 if all weights are 0.
    """
    return shares_of(np.maximum(weights * topics.sum(axis=1, dtype=float) - smoothing, 0.0))


def word_shares(x: Vector, weights: Vector, topics: Array) -> Vector:
    """(topics, terms) share of each topic's weight in one text that is due to each of its terms.

        share_kj = w_k H_kj x_j / (wH)_j,  divided by its sum over j

    Rows sum to 1, or to 0 if the text x (terms,) has no term of the topic.
    """
    parts = weights[:, None] * topics
    fitted = parts.sum(axis=0)
    return shares_of(parts * np.divide(x, fitted, out=np.zeros_like(fitted), where=fitted > 0))


def shares_of(weights: Vector, otherwise: Vector | float = 0.0) -> Vector:
    """Scale rows of weights to a sum of 1; `otherwise` for rows of 0."""
    total = weights.sum(axis=1, keepdims=True)
    return np.where(total > 0, weights / np.where(total > 0, total, 1), otherwise)


def top_terms(topics: NDArray[np.floating], n: int = 10) -> NDArray[np.int64]:
    """Return (topics, n) numbers of each topic's most probable terms, ties by term number."""
    return np.argsort(-topics, axis=1, kind="stable")[:, :n]


def coherence(X: sp.csr_array, topics: NDArray[np.floating], n: int = 10) -> NDArray[np.float64]:
    """Return the mean NPMI of all pairs of each topic's n most probable terms, by co-occurrence in the texts of X.

    npmi(a, b) = log( p(a, b) / (p(a) p(b)) ) / -log p(a, b);   -1 for a pair that never co-occurs
    """
    best = top_terms(topics, n)
    terms, column = np.unique(best, return_inverse=True)
    column = column.reshape(best.shape)
    present = (sp.csc_array(X)[:, terms] != 0).astype(float)
    joint = np.asarray((present.T @ present).todense()) / X.shape[0]
    single = np.diag(joint)
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.log(joint / np.outer(single, single)) / -np.log(joint)
    # Terms in every text: always together, neither more nor less than by chance.
    npmi = np.select([joint >= 1, joint > 0], [1.0, npmi], -1.0)
    first, second = np.triu_indices(best.shape[1], k=1)
    if first.size == 0:
        return np.full(len(best), np.nan)
    return npmi[column[:, first], column[:, second]].mean(axis=1)


def exclusivity(topics: NDArray[np.floating], n: int = 10) -> NDArray[np.float64]:
    """Return the mean share of each topic in its n most probable terms: 1 if no other topic uses them."""
    totals = topics.sum(axis=0)
    share = np.divide(topics, totals, out=np.zeros_like(topics), where=totals > 0)
    return np.take_along_axis(share, top_terms(topics, n), axis=1).mean(axis=1)
