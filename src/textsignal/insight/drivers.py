"""Tables of themes, over all texts, by group or by response, and of topics.

Cost and gain are what-ifs on the fitted model, not causal claims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.estimators import TopicEstimator
from textsignal.insight.inputs import as_groups
from textsignal.insight.naming import MEASURES
from textsignal.reading.mentions import Mentions
from textsignal.reading.themes import ThemeReader
from textsignal.reading.words import ranked_terms, relevance

#: Terms of a theme listed in a table of drivers.
DRIVER_TERMS = 10
#: Share of the texts that are low.
LOW_SHARE = 0.2
#: Terms in a label, and the most relevant terms that they are chosen from.
LABEL_TERMS, LABEL_CHOICE = 3, 10


def driver_table(mentions: Mentions) -> pd.DataFrame:
    """Return one row per theme, in the order of their numbers, the overall verdict last.

    Shares are of all texts. Columns: theme; is_overall; mentions, complaints, praise, neutral (texts that mention it,
    complain about it, praise it, and mention it without either); share (of all words); mean_complaint, mean_praise,
    mean_mention, mean_elsewhere (mean response of texts that complain, praise, mention it, and do not mention it); cost
    (increase of the mean response, for the better, if complaints were neutral mentions) and cost_per_complaint (cost
    over complaints); gain (decrease if praise were neutral mentions) and gain_per_praise; share_of_low (share of the
    fifth of the texts with the worst responses that complain about it); share_of_gap (cost over the distance from the
    mean to the best response, NaN if there is no best one). Where neither more nor less of the response is better,
    complaints stand for clauses that lower it, and praise for clauses that raise it. `attrs["unplaced"]` is the share
    of all words that are in clauses that name no theme clearly.
    """
    weight, responses = mentions.weight, np.nan_to_num(mentions.responses)
    answered = weight * ~np.isnan(mentions.responses)
    total = weight.sum()

    def share(flags: NDArray[np.bool_]) -> Vector:
        return np.asarray(weight @ flags / total, dtype=float)

    def mean(flags: NDArray[np.bool_]) -> Vector:
        return _ratio((responses * answered) @ flags, answered @ flags)

    complaints, praise = share(mentions.complains), share(mentions.praises)
    cost = mentions.better * change(mentions, mentions.complaint)
    gain = 0.0 - mentions.better * change(mentions, mentions.praise)
    n_themes, low = mentions.n_themes, lowest_fifth(mentions)
    table = pd.DataFrame(
        {
            "theme": np.arange(n_themes),
            "is_overall": np.arange(n_themes) == n_themes - 1,
            "mentions": share(mentions.mentioned),
            "complaints": complaints,
            "praise": praise,
            "neutral": share(mentions.mentioned & ~mentions.complains & ~mentions.praises),
            "share": weight @ mentions.shares / total,
            "mean_complaint": mean(mentions.complains),
            "mean_praise": mean(mentions.praises),
            "mean_mention": mean(mentions.mentioned),
            "mean_elsewhere": mean(~mentions.mentioned),
            "cost": cost,
            "cost_per_complaint": _ratio(cost, complaints),
            "gain": gain,
            "gain_per_praise": _ratio(gain, praise),
            "share_of_low": _ratio(low @ mentions.complains, np.full(n_themes, low.sum())),
            "share_of_gap": cost / distance_to_best(mentions),
        }
    )
    table.attrs["unplaced"] = float(weight @ mentions.unplaced / total)
    return table


def lowest_fifth(mentions: Mentions) -> Vector:
    """Return (texts,) weight of each in the fifth of the weight with the worst responses; ties count in part."""
    known = np.flatnonzero(~np.isnan(mentions.responses) & (mentions.weight > 0))
    low = np.zeros(len(mentions.responses))
    if len(known):
        _, number = np.unique(mentions.better * mentions.responses[known], return_inverse=True)
        of_values = np.bincount(number, mentions.weight[known])
        left = np.clip(LOW_SHARE * of_values.sum() - (np.cumsum(of_values) - of_values), 0.0, of_values)
        low[known] = mentions.weight[known] * (left / of_values)[number]
    return low


def distance_to_best(mentions: Mentions) -> float:
    """Return the distance from the mean response to the best level; NaN if there are no levels, or no responses."""
    known = ~np.isnan(mentions.responses) & (mentions.weight > 0)
    levels = mentions.family.numbers if hasattr(mentions.family, "levels") else None
    if levels is None or not known.any():
        return float("nan")
    best = levels.max() if mentions.better > 0 else levels.min()
    mean = np.average(mentions.responses[known], weights=mentions.weight[known])
    return float(abs(best - mean)) or float("nan")


def _ratio(part: Vector, whole: Vector) -> Vector:
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)


def change(mentions: Mentions, parts: Vector) -> Vector:
    """(themes,) change of the mean response when parts (texts, themes) are subtracted from eta."""
    mean, before, weight = mentions.family.mean, mentions.family.mean(mentions.eta), mentions.weight
    changes = np.zeros(parts.shape[1])
    for k, part in enumerate(parts.T):
        rows = np.flatnonzero(part)
        changes[k] = weight[rows] @ (mean(mentions.eta[rows] - part[rows]) - before[rows]) / weight.sum()
    return changes


def grouped_drivers(mentions: Mentions, by: ArrayLike | pd.Series | None) -> pd.DataFrame:
    """Return `driver_table` by decreasing cost; with `by`, (texts,) groups, for each, with columns group and documents.

    Texts without a group are excluded.
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
        raise InputError("no text of any group counts: the weights of all are 0")
    tables.sort(key=lambda table: (-table["documents"].iloc[0], str(table["group"].iloc[0])))
    return pd.concat(tables)


def by_cost(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of themes, the largest cost first; the index is the number of the theme."""
    return table.sort_values("cost", ascending=False, kind="stable")


def theme_table(reader: ThemeReader, labels: Sequence[str | None], n_terms: int, better: int) -> pd.DataFrame:
    """Return the drivers in the texts that a model knows, and coherence; better : 1 if more is better, else -1."""
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
    return table.assign(
        raises=[words.raises[k] for k in numbers],
        lowers=[words.lowers[k] for k in numbers],
        terms=[[terms[j] for j in ranked[k]] for k in numbers],
    )


def stacked(tables: Mapping[Any, pd.DataFrame], noun: str) -> pd.DataFrame:
    """Concatenate tables of several responses, or classes, with a first column `noun` that names them."""
    together = pd.concat([table.assign(**{noun: name}) for name, table in tables.items()])
    return together[[noun, *[name for name in together.columns if name != noun]]]


def response_columns(responses: Any) -> dict[str, pd.Series]:
    """Return the columns of a table of responses by name; raise InputError unless names are unique."""
    if not isinstance(responses, pd.DataFrame):
        kind = type(responses).__name__
        raise InputError(f"responses must be a DataFrame with a named column for each response, not a {kind}")
    if not len(responses.columns):
        raise InputError("responses have no column; give one for each response")
    names = pd.Index([str(name) for name in responses.columns])
    if names.has_duplicates:
        twice = names[names.duplicated()][0]
        raise InputError(f"two responses are called {twice!r}; give each column a different name")
    return {name: responses.iloc[:, number].rename(name) for number, name in enumerate(names)}


def _deviation(mentions: Mentions) -> float:
    """Standard deviation of the known responses; NaN if none is known or all are equal."""
    known = ~np.isnan(mentions.responses) & (mentions.weight > 0)
    if not known.any():
        return float("nan")
    values, weight = mentions.responses[known], mentions.weight[known]
    return float(np.sqrt(np.average((values - np.average(values, weights=weight)) ** 2, weights=weight))) or np.nan


def compared(mentions: Mapping[str, Mentions], labels: Sequence[str]) -> pd.DataFrame:
    """Compare cost and gain of themes across responses, in points and (`_sd`) in standard deviations of each.

    Themes are sorted by their largest cost_sd. mentions : in the same texts, for each response.
    """
    tables = {name: driver_table(one) for name, one in mentions.items()}
    sd = {name: _deviation(one) for name, one in mentions.items()}
    columns = {(measure, name): table[measure] for measure in MEASURES for name, table in tables.items()}
    columns |= {(f"{measure}_sd", name): tables[name][measure] / sd[name] for measure in MEASURES for name in tables}
    table = pd.DataFrame(columns).rename_axis(columns=["measure", "response"])
    table.index = pd.MultiIndex.from_arrays([range(len(labels)), list(labels)], names=["theme", "label"])
    return table.iloc[np.argsort(-table["cost_sd"].max(axis=1).to_numpy(), kind="stable")]


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
            "effect": np.nan,
            "prevalence": centred.prevalence,
            "coherence": coherence,
            "terms": [[terms[j] for j in row[:n_terms]] for row in used],
        }
    )
    if estimator.family_.n_predictors == 1:
        return table.assign(effect=centred.effects)
    effects = np.column_stack([np.zeros(len(centred.effects)), centred.effects])
    effects -= effects.mean(axis=1, keepdims=True)
    each = zip(estimator.family_.levels, effects.T, strict=True)
    return stacked({label: table.assign(effect=column) for label, column in each}, "class")
