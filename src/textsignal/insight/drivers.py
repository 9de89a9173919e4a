"""Tables of themes: terms, labels, reach, mean response, cost and gain; over all documents, by group or by response.

Cost and gain are counterfactuals of the fitted model, not causal claims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from textsignal.arrays import Array, Vector
from textsignal.errors import InputError
from textsignal.insight.inputs import as_groups
from textsignal.insight.naming import MEASURES
from textsignal.reading.classes import ClassReader, by_class
from textsignal.reading.labels import relevance
from textsignal.reading.matrix import MatrixReader
from textsignal.reading.reader import Reader
from textsignal.reading.spoken import Spoken
from textsignal.reading.themes import ThemeReader
from textsignal.reading.words import ranked_terms

#: Terms of a theme listed in a table of drivers.
DRIVER_TERMS = 10
#: Terms in a default label, and the most relevant terms that they are chosen from.
LABEL_TERMS, LABEL_CHOICE = 3, 10


def driver_table(spoken: Spoken) -> pd.DataFrame:
    """Return one row per theme, in the order of their numbers.

    Columns: theme; reach (share of documents that mention it), share (of all text), mean_response (of documents that
    mention it), mean_elsewhere (of the others), well and badly (shares of its mentions that move the linear predictor
    for the better and for the worse), cost and gain (gain in the mean response without the bad mentions, and loss
    without the good ones).

    Examples
    --------
    >>> from textsignal.families import Binomial
    >>> yes, half = np.ones((2, 1), dtype=bool), np.array([0.5, -0.5])
    >>> one = Spoken(Binomial(4, 1), half, half[:, None], np.ones((2, 1)), yes, np.array([4.0, 2.0]), np.ones(2))
    >>> driver_table(one).loc[0, ["mentions", "mean_response", "praise", "cost"]].round(2).tolist()
    [1.0, 3.0, 0.5, 0.24]
    """
    counted = spoken.spoken * spoken.weight[:, None]
    answered = spoken.weight * ~np.isnan(spoken.responses)
    here, elsewhere = (answered[:, None] * part for part in (spoken.spoken, ~spoken.spoken))
    responses = np.nan_to_num(spoken.responses)
    total = spoken.weight.sum()
    return pd.DataFrame(
        {
            "theme": np.arange(spoken.tone.shape[1]),
            "mentions": counted.sum(axis=0) / total,
            "share": spoken.weight @ spoken.shares / total,
            "mean_response": _ratio(responses @ here, here.sum(axis=0)),
            "mean_elsewhere": _ratio(responses @ elsewhere, elsewhere.sum(axis=0)),
            "praise": _ratio((counted * (spoken.good != 0)).sum(axis=0), counted.sum(axis=0)),
            "complaints": _ratio((counted * (spoken.bad != 0)).sum(axis=0), counted.sum(axis=0)),
            "cost": spoken.better * _change(spoken, spoken.bad),
            "gain": -spoken.better * _change(spoken, spoken.good),
        }
    )


def _ratio(part: Vector, whole: Vector) -> Vector:
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)


def _change(spoken: Spoken, parts: Vector) -> Vector:
    """(themes,) change of the mean response when parts (documents, themes) are subtracted from eta."""
    before = spoken.family.mean(spoken.eta)
    changes = [np.average(spoken.family.mean(spoken.eta - part) - before, weights=spoken.weight) for part in parts.T]
    return np.array(changes, dtype=float)


def grouped_drivers(spoken: Spoken, by: ArrayLike | pd.Series | None) -> pd.DataFrame:
    """Return `driver_table` by decreasing cost; with `by` for each group, with columns group and documents.

    by : (documents,) the group of each; documents without a group are excluded.
    """
    if by is None:
        return _by_cost(driver_table(spoken))
    groups = as_groups(by, len(spoken.eta))
    tables = []
    for name, rows in groups.groupby(groups, sort=False).indices.items():
        part = spoken.at(np.asarray(rows, dtype=np.int64))
        if part.weight.sum() > 0:
            table = _by_cost(driver_table(part))
            table.insert(0, "group", [name] * len(table))
            table.insert(1, "documents", len(part.eta))
            tables.append(table)
    if not tables:
        raise InputError("no document of any group counts: the weights of all are 0")
    tables.sort(key=lambda table: (-table["documents"].iloc[0], str(table["group"].iloc[0])))
    return pd.concat(tables, ignore_index=True)


def _by_cost(table: pd.DataFrame) -> pd.DataFrame:
    return table.sort_values("cost", ascending=False, kind="stable", ignore_index=True)


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
    """Return one row per topic, strongest positive effect first.

    Columns: topic (its number, the column of `transform`), label (the user's, or else its most relevant terms, first
    those that no other topic uses more), effect, prevalence, coherence, terms (list of the most relevant ones).

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
    most = topics.argmax(axis=0)
    distinguishing = [sorted(row[:LABEL_CHOICE], key=lambda j: most[j] != k) for k, row in enumerate(used)]
    table = pd.DataFrame(
        {
            "topic": np.arange(len(topics)),
            "label": [
                label or ", ".join(terms[j] for j in row[:LABEL_TERMS])
                for label, row in zip(labels or [None] * len(used), distinguishing, strict=True)
            ],
            "effect": effects,
            "prevalence": prevalence,
            "coherence": coherence,
            "terms": [[terms[j] for j in row[:n_terms]] for row in used],
        }
    )
    return table.sort_values("effect", ascending=False, kind="stable", ignore_index=True)


@singledispatch
def themes_of(reader: Reader, labels: Sequence[str | None], n_terms: int, better: int = 1) -> pd.DataFrame:
    """Return one row per theme; better : 1 if more of the response is better, -1 if less is."""
    raise TypeError(f"a {type(reader).__name__} has no themes")


@singledispatch
def with_words(reader: Reader, table: pd.DataFrame, labels: Sequence[str | None], n_terms: int) -> pd.DataFrame:
    """Return a table of drivers with labels, words and terms."""
    raise TypeError(f"a {type(reader).__name__} has no drivers")


@themes_of.register(ThemeReader)
def _themes_of_theme(reader: ThemeReader, labels: Sequence[str | None], n_terms: int, better: int = 1) -> pd.DataFrame:
    table = driver_table(reader.trained.judged(better))
    shown = with_words(reader, table, labels, n_terms)
    shown.insert(len(shown.columns) - 1, "coherence", reader.coherence)
    return shown.sort_values("cost", ascending=False, kind="stable", ignore_index=True)


@with_words.register(ThemeReader)
def _with_words_of_theme(
    reader: ThemeReader, table: pd.DataFrame, labels: Sequence[str | None], n_terms: int
) -> pd.DataFrame:
    numbers = table["theme"].to_numpy()
    named = [own or made for own, made in zip(labels, reader.words.labels, strict=True)]
    ranked = ranked_terms(reader.fitted)[:, :n_terms]
    table.insert(table.columns.get_loc("theme") + 1, "label", [named[k] for k in numbers])
    badly = table.columns.get_loc("complaints")
    table.insert(badly + 1, "raises", [reader.words.raises[k] for k in numbers])
    table.insert(badly + 2, "lowers", [reader.words.lowers[k] for k in numbers])
    return table.assign(terms=[[reader.terms[j] for j in ranked[k]] for k in numbers])


@themes_of.register(MatrixReader)
def _topics_of_matrix(
    reader: MatrixReader, labels: Sequence[str | None], n_terms: int, better: int = 1
) -> pd.DataFrame:
    """Effects of unordered classes are on the logarithm of the probability, against the average class."""
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
    shown = themes_of(reader, labels, n_terms).set_index("theme")
    table.insert(table.columns.get_loc("theme") + 1, "label", shown["label"].loc[table["theme"]].tolist())
    return table.assign(terms=shown["terms"].loc[table["theme"]].tolist())


@themes_of.register(ClassReader)
def _themes_of_class(reader: ClassReader, labels: Sequence[str | None], n_terms: int, better: int = 1) -> pd.DataFrame:
    return by_class({name: themes_of(reader.of_class(name), labels, n_terms, better) for name in reader.classes})


@with_words.register(ClassReader)
def _with_words_of_class(
    reader: ClassReader, table: pd.DataFrame, labels: Sequence[str | None], n_terms: int
) -> pd.DataFrame:
    raise reader.of_one_class("drivers and reports")


def response_columns(responses: Any) -> dict[str, pd.Series]:
    """Return the columns of a table of responses by name; raise InputError unless names are unique.

    Examples
    --------
    >>> list(response_columns(pd.DataFrame({"stars": [1, 5], "votes": [0, 2]})))
    ['stars', 'votes']
    """
    if not isinstance(responses, pd.DataFrame):
        kind = type(responses).__name__
        raise InputError(f"responses must be a DataFrame with a named column for each response, not a {kind}")
    if not len(responses.columns):
        raise InputError("responses have no column; give one for each response")
    names = [str(name) for name in responses.columns]
    twice = [name for number, name in enumerate(names) if name in names[:number]]
    if twice:
        raise InputError(f"two responses are called {twice[0]!r}; give each column a name of its own")
    return {name: responses.iloc[:, number].rename(name) for number, name in enumerate(names)}


def deviation(responses: Vector, weight: Vector) -> float:
    """Return the standard deviation of the known responses; NaN if none is known or all are equal.

    Examples
    --------
    >>> deviation(np.array([1.0, 5.0, np.nan]), np.ones(3))
    2.0
    """
    known = ~np.isnan(responses) & (weight > 0)
    if not known.any():
        return float("nan")
    values, weight = responses[known], weight[known]
    return float(np.sqrt(np.average((values - np.average(values, weights=weight)) ** 2, weights=weight))) or np.nan


def compared(spoken: Mapping[str, Spoken], labels: Sequence[str]) -> pd.DataFrame:
    """Compare cost and gain of themes across responses, in points and (`_sd`) in standard deviations of each.

    Themes are sorted by their largest cost_sd. spoken : the same documents and themes for each response.
    """
    tables = {name: driver_table(documents) for name, documents in spoken.items()}
    columns = {(measure, name): table[measure] for measure in MEASURES for name, table in tables.items()}
    for measure in MEASURES:
        for name, documents in spoken.items():
            sd = deviation(documents.responses, documents.weight)
            columns[f"{measure}_sd", name] = tables[name][measure] / sd
    table = pd.DataFrame(columns).rename_axis(columns=["measure", "response"])
    table.index = pd.MultiIndex.from_arrays([range(len(labels)), list(labels)], names=["theme", "label"])
    return table.iloc[np.argsort(-table["cost_sd"].max(axis=1).to_numpy(), kind="stable")]
