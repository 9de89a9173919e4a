"""What topics say, in words and numbers. Pure functions of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Array = NDArray[np.floating]

#: How much a term's share of the topic counts against its lift over the corpus, as in pyLDAvis.
RELEVANCE = 0.6
#: Terms in a default label, and the most relevant terms that they are chosen from.
LABEL_TERMS, LABEL_CHOICE = 3, 10


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


def relevance(topics: Array, prevalence: Vector, trade_off: float = RELEVANCE) -> Vector:
    """How well each term characterises each topic: (topics, terms).

        relevance = trade_off log p(term | topic) + (1 - trade_off) log [ p(term | topic) / p(term) ]

    topics : (topics, terms), each summing to 1; prevalence : (topics,) summing to 1.

    Examples
    --------
    >>> topics = np.array([[0.6, 0.4, 0.0], [0.6, 0.0, 0.4]])
    >>> relevance(topics, np.array([0.5, 0.5])).argmax(axis=1)
    array([1, 2])
    """
    overall = prevalence @ topics
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.log(topics)
        lift = share - np.log(overall)
    return np.where(topics > 0, trade_off * share + (1 - trade_off) * lift, -np.inf)


def topic_table(
    *,
    topics: Array,
    effects: Vector,
    prevalence: Vector,
    coherence: Vector,
    terms: Sequence[str],
    labels: Sequence[str | None] | None = None,
    n_terms: int = 10,
) -> pd.DataFrame:
    """One row a topic, strongest positive effect first.

    Columns: topic (its number, the column of `transform`), label (the given one, or else its most relevant terms,
    first those that no other topic uses more), effect, prevalence, coherence, terms (the most relevant ones, a list).

    Examples
    --------
    >>> table = topic_table(
    ...     topics=np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]),
    ...     effects=np.array([-1.0, 2.0]),
    ...     prevalence=np.array([0.7, 0.3]),
    ...     coherence=np.array([0.1, 0.2]),
    ...     terms=["dirty", "room", "view"],
    ...     n_terms=2,
    ... )
    >>> table[["topic", "label", "effect"]]
       topic       label  effect
    0      1  view, room     2.0
    1      0  dirty, room    -1.0
    """
    ranked = np.argsort(-relevance(topics, prevalence), axis=1, kind="stable")
    used = [[j for j in row if topics[k, j] > 0] for k, row in enumerate(ranked[:, : max(n_terms, LABEL_CHOICE)])]
    given = [None] * len(used) if labels is None else labels
    most = topics.argmax(axis=0)
    distinguishing = [sorted(row[:LABEL_CHOICE], key=lambda j: most[j] != k) for k, row in enumerate(used)]
    table = pd.DataFrame(
        {
            "topic": np.arange(len(topics)),
            "label": [
                label or ", ".join(terms[j] for j in row[:LABEL_TERMS])
                for label, row in zip(given, distinguishing, strict=True)
            ],
            "effect": effects,
            "prevalence": prevalence,
            "coherence": coherence,
            "terms": [[terms[j] for j in row[:n_terms]] for row in used],
        }
    )
    return table.sort_values("effect", ascending=False, kind="stable", ignore_index=True)
