"""The topic table: terms, labels and numbers of every topic. Pure functions of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

import numpy as np
import pandas as pd

from textsignal.arrays import Array, Vector
from textsignal.insight.drivers import driver_table
from textsignal.reading.classes import ClassReader, by_class
from textsignal.reading.labels import relevance
from textsignal.reading.matrix import MatrixReader
from textsignal.reading.reader import Reader
from textsignal.reading.themes import ThemeReader
from textsignal.reading.words import ranked_terms

#: Terms in a default label, and the most relevant terms that they are chosen from.
LABEL_TERMS, LABEL_CHOICE = 3, 10


def with_lists_as_text(table: pd.DataFrame) -> pd.DataFrame:
    """A table whose lists of words are written with commas."""
    return table.map(lambda value: ", ".join(value) if isinstance(value, list) else value)


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
    """One row per topic, strongest positive effect first.

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


@singledispatch
def topics_of(reader: Reader, labels: Sequence[str | None], n_terms: int, better: int = 1) -> pd.DataFrame:
    """Return one row per topic; better : 1 if more of the response is better, -1 if less is."""
    raise TypeError(f"a {type(reader).__name__} has no topics")


@singledispatch
def with_words(reader: Reader, table: pd.DataFrame, labels: Sequence[str | None], n_terms: int) -> pd.DataFrame:
    """Return a table of drivers with labels, words and terms."""
    raise TypeError(f"a {type(reader).__name__} has no drivers")


@topics_of.register(ThemeReader)
def _topics_of_theme(reader: ThemeReader, labels: Sequence[str | None], n_terms: int, better: int = 1) -> pd.DataFrame:
    """One row per theme, the largest lift first."""
    table = driver_table(reader.trained.judged(better))
    shown = with_words(reader, table, labels, n_terms)
    shown.insert(len(shown.columns) - 1, "coherence", reader.coherence)
    return shown.sort_values("lift", ascending=False, kind="stable", ignore_index=True)


@with_words.register(ThemeReader)
def _with_words_of_theme(
    reader: ThemeReader, table: pd.DataFrame, labels: Sequence[str | None], n_terms: int
) -> pd.DataFrame:
    """A table of drivers with labels, words and terms."""
    numbers = table["topic"].to_numpy()
    named = [own or made for own, made in zip(labels, reader.words.labels, strict=True)]
    ranked = ranked_terms(reader.fitted)[:, :n_terms]
    place = table.columns.get_loc("topic") + 1
    table.insert(place, "label", [named[k] for k in numbers])
    place = table.columns.get_loc("badly") + 1
    table.insert(place, "raises", [reader.words.raises[k] for k in numbers])
    table.insert(place + 1, "lowers", [reader.words.lowers[k] for k in numbers])
    return table.assign(terms=[[reader.terms[j] for j in ranked[k]] for k in numbers])


@topics_of.register(MatrixReader)
def _topics_of_matrix(
    reader: MatrixReader, labels: Sequence[str | None], n_terms: int, better: int = 1
) -> pd.DataFrame:
    """One row per topic, strongest positive effect first; where classes have no order, for each of them.

    Effects of a class are on the logarithm of its probability, against the average class.
    """
    centred = reader.estimator.centred_effects

    def table(effects: Vector) -> pd.DataFrame:
        return topic_table(
            topics=reader.estimator.components_ / centred.size[:, None],
            effects=effects,
            prevalence=centred.prevalence,
            coherence=reader.coherence,
            terms=reader.terms,
            labels=labels,
            n_terms=n_terms,
        )

    if reader.family.n_predictors == 1:
        return table(centred.effects)
    effects = np.column_stack([np.zeros(len(centred.effects)), centred.effects])
    tables = [table(column) for column in (effects - effects.mean(axis=1, keepdims=True)).T]
    parts = [part.assign(**{"class": label}) for part, label in zip(tables, reader.family.levels, strict=True)]
    joined = pd.concat(parts, ignore_index=True)
    return joined[["class", *tables[0].columns]]


@with_words.register(MatrixReader)
def _with_words_of_matrix(
    reader: MatrixReader, table: pd.DataFrame, labels: Sequence[str | None], n_terms: int
) -> pd.DataFrame:
    """A table of drivers with labels and terms."""
    shown = topics_of(reader, labels, n_terms).set_index("topic")
    table.insert(table.columns.get_loc("topic") + 1, "label", shown["label"].loc[table["topic"]].tolist())
    return table.assign(terms=shown["terms"].loc[table["topic"]].tolist())


@topics_of.register(ClassReader)
def _topics_of_class(reader: ClassReader, labels: Sequence[str | None], n_terms: int, better: int = 1) -> pd.DataFrame:
    """One row per class and theme."""
    return by_class({name: topics_of(reader.of_class(name), labels, n_terms, better) for name in reader.classes})


@with_words.register(ClassReader)
def _with_words_of_class(
    reader: ClassReader, table: pd.DataFrame, labels: Sequence[str | None], n_terms: int
) -> pd.DataFrame:
    """Drivers, which each class has its own of."""
    raise reader.of_one_class("drivers and reports")
