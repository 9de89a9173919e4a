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
    effects : (topics,) per unit of weight w; at the mean weights they add up to 0.
    centre : the mean that was subtracted. For P linear predictors effects are (topics, P) and centres (P,).
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

    The equality holds for weights inferred with this smoothing; mass is the topic's sum over terms. So weight that is
    due to smoothing is not counted. For mean weights the result is the prevalence: the shares averaged over all texts,
    each counting by its total. Rows sum to 1, or to 0 if all weights are 0.
    """
    return _shares(np.maximum(weights * topics.sum(axis=1, dtype=float) - smoothing, 0.0))


def word_shares(x: Vector, weights: Vector, topics: Array) -> Vector:
    """(topics, terms) share of each topic's weight in one text that is due to each of its terms.

        share_kj = w_k H_kj x_j / (wH)_j,  divided by its sum over j

    Rows sum to 1, or to 0 if the text has no term of the topic.

    x : (terms,) the text; weights : (topics,) its weights; topics : (topics, terms).
    """
    parts = weights[:, None] * topics
    fitted = parts.sum(axis=0)
    return _shares(parts * np.divide(x, fitted, out=np.zeros_like(fitted), where=fitted > 0))


def _shares(parts: Vector) -> Vector:
    """Rows divided by their sum; rows of zeros stay."""
    total = parts.sum(axis=1, keepdims=True)
    return np.divide(parts, total, out=np.zeros_like(parts), where=total > 0)


def top_terms(topics: NDArray[np.floating], n: int = 10) -> NDArray[np.int64]:
    """Return (topics, n) numbers of each topic's most probable terms, ties by term number.

    Examples
    --------
    >>> top_terms(np.array([[0.1, 0.6, 0.3]]), n=2)
    array([[1, 2]])
    """
    return np.argsort(-topics, axis=1, kind="stable")[:, :n]


def coherence(X: sp.csr_array, topics: NDArray[np.floating], n: int = 10) -> NDArray[np.float64]:
    """Return the mean NPMI of all pairs of each topic's n most probable terms, by co-occurrence in the texts of X.

        npmi(a, b) = log( p(a, b) / (p(a) p(b)) ) / -log p(a, b);   -1 for a pair that never co-occurs

    Examples
    --------
    >>> X = sp.csr_array(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]]))
    >>> coherence(X, np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]), n=2)
    array([ 1., -1.])
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
    """Return the mean share of each topic in its n most probable terms: 1 if no other topic uses them.

    Examples
    --------
    >>> exclusivity(np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]), n=2)
    array([0.75, 0.75])
    """
    totals = topics.sum(axis=0)
    share = np.divide(topics, totals, out=np.zeros_like(topics), where=totals > 0)
    return np.take_along_axis(share, top_terms(topics, n), axis=1).mean(axis=1)
