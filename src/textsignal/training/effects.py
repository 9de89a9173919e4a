"""Effects of topics on one scale, and shares of topics and words in a document. Pure functions of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

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
    """Scale topics to sum to 1 and centre effects at 0.

    Texts have nearly constant totals, so a constant added to all coefficients is as good as one added to the
    intercept, and only differences are identified.

    topics : (topics, terms); mean_weights, coefficients : (topics,); smoothing : used in inference of the weights.

    Examples
    --------
    >>> weights = np.array([1.0, 0.5])
    >>> centred = centred_effects(np.array([[0.5, 0.5], [2.0, 0.0]]), weights, np.array([3.0, 2.0]), smoothing=0.0)
    >>> centred.size, centred.prevalence, centred.effects, centred.centre
    (array([1., 2.]), array([0.5, 0.5]), array([ 1., -1.]), 2.0)
    """
    mass = topics.sum(axis=1, dtype=float)
    size = np.where(mass > 0, mass, 1)
    effects = (coefficients.T / size).T
    centre = np.average(effects, axis=0, weights=mean_weights * mass)
    prevalence = text_shares(mean_weights[None], topics, smoothing)[0]
    return CentredEffects(size, prevalence, effects - centre, float(centre) if effects.ndim == 1 else centre)


def text_shares(weights: Array, topics: Array, smoothing: float) -> Vector:
    """(documents, topics) the part of each document's text that each topic explains.

        share_ik = w_ik pull_ik / sum of the same over k,        w_ik pull_ik = mass_k w_ik - smoothing

    The equality holds for weights inferred with this smoothing; mass is the topic's sum over terms. So weight that is
    due to smoothing is not counted as text. For mean weights the result is the prevalence: the documents' shares
    averaged over all text, each document counting by its total. Rows sum to 1, or to 0 if all weights are 0.

    weights : (documents, topics); topics : (topics, terms).

    Examples
    --------
    >>> text_shares(np.array([[0.8, 0.4], [0.2, 0.2]]), np.array([[0.5, 0.5], [2.0, 0.0]]), smoothing=0.2)
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    parts = np.maximum(weights * topics.sum(axis=1, dtype=float) - smoothing, 0.0)
    total = parts.sum(axis=1, keepdims=True)
    return np.divide(parts, total, out=np.zeros_like(parts), where=total > 0)


def word_shares(x: Vector, weights: Vector, topics: Array) -> Vector:
    """Share of each topic's weight in one document that is due to each of its terms: (topics, terms).

        share_kj = w_k H_kj x_j / (wH)_j,  divided by its sum over j

    Rows sum to 1, or to 0 where the document has no term of the topic.

    x : (terms,) the document; weights : (topics,) its weights; topics : (topics, terms).

    Examples
    --------
    >>> word_shares(np.array([1.0, 3.0]), np.array([2.0, 2.0]), np.array([[0.5, 0.5], [0.0, 1.0]]))
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    parts = weights[:, None] * topics
    fitted = parts.sum(axis=0)
    pull = parts * np.divide(x, fitted, out=np.zeros_like(fitted), where=fitted > 0)
    total = pull.sum(axis=1, keepdims=True)
    return np.divide(pull, total, out=np.zeros_like(pull), where=total > 0)
