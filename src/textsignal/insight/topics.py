"""The table of topics of the paper's models: terms, labels, effects and prevalence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from textsignal.arrays import Vector
from textsignal.estimators import TopicEstimator
from textsignal.reading.words import relevance

#: Terms in a label, and the most relevant terms that they are chosen from.
LABEL_TERMS, LABEL_CHOICE = 3, 10


def topic_table(estimator: TopicEstimator, coherence: Vector, terms: Sequence[str], n_terms: int) -> pd.DataFrame:
    """Return one row per topic: topic (its number), label, effect, prevalence, coherence, terms.

    A label is made of the most relevant terms, first those that no other topic uses more. Effects of classes without
    an order are on the logarithm of the probability, against the average class, with the class in the first column.
    """
    centred = estimator.centred_effects
    topics = estimator.components_ / centred.size[:, None]
    ranked = np.argsort(-relevance(topics, centred.prevalence), axis=1, kind="stable")
    used = [[j for j in row if topics[k, j] > 0] for k, row in enumerate(ranked[:, : max(n_terms, LABEL_CHOICE)])]
    most = topics.argmax(axis=0)
    distinguishing = [sorted(row[:LABEL_CHOICE], key=lambda j: most[j] != k) for k, row in enumerate(used)]
    table = pd.DataFrame(
        {
            "topic": np.arange(len(topics)),
            "label": [", ".join(terms[j] for j in row[:LABEL_TERMS]) for row in distinguishing],
            "prevalence": centred.prevalence,
            "coherence": coherence,
            "terms": [[terms[j] for j in row[:n_terms]] for row in used],
        }
    )
    if estimator.family_.n_predictors == 1:
        table.insert(2, "effect", centred.effects)
        return table
    effects = np.column_stack([np.zeros(len(centred.effects)), centred.effects])
    tables = []
    for label, column in zip(estimator.family_.levels, (effects - effects.mean(axis=1, keepdims=True)).T, strict=True):
        tables.append(table.copy())
        tables[-1].insert(0, "class", label)
        tables[-1].insert(3, "effect", column)
    return pd.concat(tables)
