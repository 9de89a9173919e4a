"""Tables of themes: terms, labels, mentions, mean response, cost and gain; over all documents, by group or by response.

Cost and gain are counterfactuals of the fitted model, not causal claims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.insight.inputs import as_groups
from textsignal.insight.naming import MEASURES
from textsignal.reading.mentions import Mentions
from textsignal.reading.themes import ThemeReader
from textsignal.reading.words import ranked_terms

#: Terms of a theme listed in a table of drivers.
DRIVER_TERMS = 10


def driver_table(mentions: Mentions) -> pd.DataFrame:
    """Return one row per theme, in the order of their numbers.

    Columns: theme; mentions (share of texts that mention it), share (of all text), mean_response (of texts that
    mention it), mean_elsewhere (of the others), praise and complaints (shares of its mentions that move the linear
    predictor for the better and for the worse), cost and gain (by how much the mean response would rise without the
    complaints, and fall without the praise).

    Examples
    --------
    >>> from textsignal.families import Binomial
    >>> yes, half = np.ones((2, 1), dtype=bool), np.array([0.5, -0.5])
    >>> one = Mentions(Binomial(4, 1), half, half[:, None], np.ones((2, 1)), yes, np.array([4.0, 2.0]), np.ones(2))
    >>> driver_table(one).loc[0, ["mentions", "mean_response", "praise", "cost"]].round(2).tolist()
    [1.0, 3.0, 0.5, 0.24]
    """
    counted = mentions.mentioned * mentions.weight[:, None]
    answered = mentions.weight * ~np.isnan(mentions.responses)
    here, elsewhere = (answered[:, None] * part for part in (mentions.mentioned, ~mentions.mentioned))
    responses = np.nan_to_num(mentions.responses)
    total = mentions.weight.sum()
    return pd.DataFrame(
        {
            "theme": np.arange(mentions.tone.shape[1]),
            "mentions": counted.sum(axis=0) / total,
            "share": mentions.weight @ mentions.shares / total,
            "mean_response": _ratio(responses @ here, here.sum(axis=0)),
            "mean_elsewhere": _ratio(responses @ elsewhere, elsewhere.sum(axis=0)),
            "praise": _ratio((counted * (mentions.good != 0)).sum(axis=0), counted.sum(axis=0)),
            "complaints": _ratio((counted * (mentions.bad != 0)).sum(axis=0), counted.sum(axis=0)),
            "cost": mentions.better * _change(mentions, mentions.bad),
            "gain": -mentions.better * _change(mentions, mentions.good),
        }
    )


def _ratio(part: Vector, whole: Vector) -> Vector:
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)


def _change(mentions: Mentions, parts: Vector) -> Vector:
    """(themes,) change of the mean response when parts (documents, themes) are subtracted from eta."""
    before = mentions.family.mean(mentions.eta)
    changes = [
        np.average(mentions.family.mean(mentions.eta - part) - before, weights=mentions.weight) for part in parts.T
    ]
    return np.array(changes, dtype=float)


def grouped_drivers(mentions: Mentions, by: ArrayLike | pd.Series | None) -> pd.DataFrame:
    """Return `driver_table` by decreasing cost; with `by` for each group, with columns group and documents.

    by : (documents,) the group of each; documents without a group are excluded.
    """
    if by is None:
        return by_cost(driver_table(mentions))
    groups = as_groups(by, len(mentions.eta))
    tables = []
    for name, rows in groups.groupby(groups, sort=False).indices.items():
        part = mentions.at(np.asarray(rows, dtype=np.int64))
        if part.weight.sum() > 0:
            table = by_cost(driver_table(part))
            table.insert(0, "group", [name] * len(table))
            table.insert(1, "documents", len(part.eta))
            tables.append(table)
    if not tables:
        raise InputError("no document of any group counts: the weights of all are 0")
    tables.sort(key=lambda table: (-table["documents"].iloc[0], str(table["group"].iloc[0])))
    return pd.concat(tables)


def by_cost(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of themes, the largest cost first; the index is the number of the theme."""
    return table.sort_values("cost", ascending=False, kind="stable")


def theme_table(reader: ThemeReader, labels: Sequence[str | None], n_terms: int, better: int) -> pd.DataFrame:
    """Return the drivers in the texts that a model knows, with coherence; better : 1 if more is better, else -1."""
    shown = with_words(reader, driver_table(reader.known(better)), labels, n_terms)
    shown.insert(len(shown.columns) - 1, "coherence", reader.words.coherence)
    return by_cost(shown)


def names_of(reader: ThemeReader, labels: Sequence[str | None]) -> list[str]:
    """Return the names of all themes: the user's labels, or else those made of their terms."""
    return [own or made for own, made in zip(labels, reader.words.labels, strict=True)]


def with_words(reader: ThemeReader, table: pd.DataFrame, labels: Sequence[str | None], n_terms: int) -> pd.DataFrame:
    """Return a table of drivers with labels, words and terms."""
    numbers, words, terms = table["theme"].to_numpy(), reader.words, reader.fitted.terms
    names, ranked = names_of(reader, labels), ranked_terms(reader.fitted)[:, :n_terms]
    table.insert(table.columns.get_loc("theme") + 1, "label", [names[k] for k in numbers])
    position = table.columns.get_loc("complaints")
    table.insert(position + 1, "raises", [words.raises[k] for k in numbers])
    table.insert(position + 2, "lowers", [words.lowers[k] for k in numbers])
    return table.assign(terms=[[terms[j] for j in ranked[k]] for k in numbers])


def stacked(tables: Mapping[Any, pd.DataFrame], noun: str) -> pd.DataFrame:
    """Concatenate tables of several responses, or classes, with a first column `noun` that names them."""
    together = pd.concat([pd.DataFrame(table).assign(**{noun: name}) for name, table in tables.items()])
    return together[[noun, *[name for name in together.columns if name != noun]]]


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


def compared(mentions: Mapping[str, Mentions], labels: Sequence[str]) -> pd.DataFrame:
    """Compare cost and gain of themes across responses, in points and (`_sd`) in standard deviations of each.

    Themes are sorted by their largest cost_sd. mentions : the same documents and themes for each response.
    """
    tables = {name: driver_table(documents) for name, documents in mentions.items()}
    columns = {(measure, name): table[measure] for measure in MEASURES for name, table in tables.items()}
    for measure in MEASURES:
        for name, documents in mentions.items():
            sd = deviation(documents.responses, documents.weight)
            columns[f"{measure}_sd", name] = tables[name][measure] / sd
    table = pd.DataFrame(columns).rename_axis(columns=["measure", "response"])
    table.index = pd.MultiIndex.from_arrays([range(len(labels)), list(labels)], names=["theme", "label"])
    return table.iloc[np.argsort(-table["cost_sd"].max(axis=1).to_numpy(), kind="stable")]
