"""Several responses to the same texts: which theme moves which of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.insight.drivers import driver_table
from textsignal.reading.spoken import Spoken

#: What is compared, in points of each response; with `_sd` behind it, in its standard deviations.
MEASURES = ("lift", "worth")


def response_columns(responses: Any) -> dict[str, pd.Series]:
    """Responses by name, one column each; raises where they are not a table, or have no names of their own.

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
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    if twice:
        raise InputError(f"two responses are called {twice[0]!r}; give each column a name of its own")
    return {name: responses.iloc[:, place].rename(name) for place, name in enumerate(names)}


def deviation(responses: Vector, weight: Vector) -> float:
    """Standard deviation of the responses that there are; NaN where there is none, or all are the same.

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
    """Themes against responses; the theme first whose cost in standard deviations is largest anywhere.

    spoken : what the same documents say about the same themes, for each response; labels : (themes,).
    """
    columns: dict[tuple[str, str], pd.Series] = {}
    for name, said in spoken.items():
        table = driver_table(said)
        for measure in MEASURES:
            columns[measure, name] = table[measure]
            columns[f"{measure}_sd", name] = table[measure] / deviation(said.responses, said.weight)
    measures = [*MEASURES, *(f"{measure}_sd" for measure in MEASURES)]
    found = pd.DataFrame({(measure, name): columns[measure, name] for measure in measures for name in spoken})
    found.columns.names = ["measure", "response"]
    found.index = pd.MultiIndex.from_arrays([range(len(labels)), list(labels)], names=["topic", "label"])
    order = np.argsort(-found["lift_sd"].max(axis=1).to_numpy(), kind="stable")
    return found.iloc[order]
