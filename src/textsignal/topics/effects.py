"""Effects of topics on one scale, and what words of a document carry of them. Pure functions of arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Array = NDArray[np.floating]


@dataclass(frozen=True)
class CentredEffects:
    """Effects of topics against the average text, with every topic on the same scale.

        linear predictor = intercept + centre * sum_k w_k + sum_k w_k effect_k

    size : (topics,) what each topic sums to, 1 for a topic that died; w is an estimator's weights times this.
    prevalence : (topics,) share of all text.
    effects : (topics,) per unit of weight w; at the mean weights they add up to 0.
    centre : the mean that was taken off.
    """

    size: Vector
    prevalence: Vector
    effects: Vector
    centre: float


def centred_effects(topics: Array, mean_weights: Array, text_weights: Array, coefficients: Vector) -> CentredEffects:
    """Bring topics to one scale and effects to a mean of 0.

    Texts have nearly constant totals, so a constant added to all coefficients is as good as one added to the
    intercept, and only differences say something.

    topics : (topics, terms); mean_weights, coefficients : (topics,).
    text_weights : (topics,) mean weights as far as the text gives them, for the prevalence.

    Examples
    --------
    >>> weights = np.array([1.0, 0.5])
    >>> centred = centred_effects(np.array([[0.5, 0.5], [2.0, 0.0]]), weights, weights, np.array([3.0, 2.0]))
    >>> centred.size, centred.prevalence, centred.effects, centred.centre
    (array([1., 2.]), array([0.5, 0.5]), array([ 1., -1.]), 2.0)
    """
    mass = topics.sum(axis=1, dtype=float)
    size = np.where(mass > 0, mass, 1)
    effects = coefficients / size
    centre = float(np.average(effects, weights=mean_weights * size))
    in_text = text_weights * size
    return CentredEffects(size, in_text / in_text.sum(), effects - centre, centre)


def word_shares(x: Vector, weights: Vector, topics: Array) -> Vector:
    """How much of each topic's weight in one document is due to each of its terms: (topics, terms).

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
