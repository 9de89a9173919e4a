"""Several responses to the same texts: which theme moves which of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from textsignal.arrays import Vector
from textsignal.errors import InputError

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


def compared(drivers: Mapping[str, pd.DataFrame], deviations: Mapping[str, float]) -> pd.DataFrame:
    """Themes against responses; the theme first whose cost in standard deviations is largest anywhere.

    drivers : a table of drivers for each response, of the same themes; deviations : of each response.
    """
    tables = {name: table.set_index(["topic", "label"]).sort_index() for name, table in drivers.items()}
    columns: dict[tuple[str, str], pd.Series] = {}
    for measure in MEASURES:
        columns |= {(measure, name): table[measure] for name, table in tables.items()}
        columns |= {(f"{measure}_sd", name): table[measure] / deviations[name] for name, table in tables.items()}
    found = pd.DataFrame(columns)
    found.columns.names = ["measure", "response"]
    order = np.argsort(-found["lift_sd"].max(axis=1).to_numpy(), kind="stable")
    return found.iloc[order][[*MEASURES, *(f"{measure}_sd" for measure in MEASURES)]]
