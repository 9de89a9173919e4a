"""What topics bring and cost: reach, mean response, lift and worth, over all documents or by group.

Lift and worth are what-ifs on the fitted model, not causal claims.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from textsignal.arrays import Vector
from textsignal.errors import InputError
from textsignal.insight.beside import as_groups
from textsignal.reading.spoken import Spoken

#: Terms of a topic that are listed beside its numbers.
DRIVER_TERMS = 10


def driver_table(spoken: Spoken) -> pd.DataFrame:
    """One row per topic, in the order of their numbers.

    Columns: topic; reach (share of documents that speak of it), share (of all text), mean_response (where it is spoken
    of), mean_elsewhere (in the other documents), well and badly (shares of the documents that speak of it in which it
    moves the linear predictor for the better and for the worse), lift and worth (by how much the mean response would
    be better if nothing bad were said of it, and worse if nothing good were).

    Examples
    --------
    >>> from textsignal.families import Binomial
    >>> yes, half = np.ones((2, 1), dtype=bool), np.array([0.5, -0.5])
    >>> one = Spoken(Binomial(4, 1), half, half[:, None], np.ones((2, 1)), yes, np.array([4.0, 2.0]), np.ones(2))
    >>> driver_table(one).loc[0, ["reach", "mean_response", "well", "lift"]].round(2).tolist()
    [1.0, 3.0, 0.5, 0.24]
    """
    counted = spoken.spoken * spoken.weight[:, None]
    answered = spoken.weight * ~np.isnan(spoken.responses)
    here, elsewhere = (answered[:, None] * part for part in (spoken.spoken, ~spoken.spoken))
    responses = np.nan_to_num(spoken.responses)
    total = spoken.weight.sum()
    return pd.DataFrame(
        {
            "topic": np.arange(spoken.tone.shape[1]),
            "reach": counted.sum(axis=0) / total,
            "share": spoken.weight @ spoken.shares / total,
            "mean_response": _ratio(responses @ here, here.sum(axis=0)),
            "mean_elsewhere": _ratio(responses @ elsewhere, elsewhere.sum(axis=0)),
            "well": _ratio((counted * (spoken.good != 0)).sum(axis=0), counted.sum(axis=0)),
            "badly": _ratio((counted * (spoken.bad != 0)).sum(axis=0), counted.sum(axis=0)),
            "lift": spoken.better * _change(spoken, spoken.bad),
            "worth": -spoken.better * _change(spoken, spoken.good),
        }
    )


def _ratio(part: Vector, whole: Vector) -> Vector:
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)


def _change(spoken: Spoken, parts: Vector) -> Vector:
    """(topics,) by how much the mean response changes when a part (documents, topics) of eta is taken away."""
    before = spoken.family.mean(spoken.eta)
    changes = [np.average(spoken.family.mean(spoken.eta - part) - before, weights=spoken.weight) for part in parts.T]
    return np.array(changes, dtype=float)


def grouped_drivers(spoken: Spoken, by: ArrayLike | pd.Series | None) -> pd.DataFrame:
    """`driver_table`, the largest lift first; with `by` for each of its groups, with columns group and documents.

    by : (documents,) the group of each; documents without one are left out.
    """
    if by is None:
        return _by_lift(driver_table(spoken))
    groups = as_groups(by, len(spoken.eta))
    tables = []
    for name, rows in groups.groupby(groups, sort=False).indices.items():
        part = spoken.at(np.asarray(rows, dtype=np.int64))
        if part.weight.sum() > 0:
            table = _by_lift(driver_table(part))
            table.insert(0, "group", [name] * len(table))
            table.insert(1, "documents", len(part.eta))
            tables.append(table)
    if not tables:
        raise InputError("no document of any group counts: the weights of all are 0")
    tables.sort(key=lambda table: (-table["documents"].iloc[0], str(table["group"].iloc[0])))
    return pd.concat(tables, ignore_index=True)


def _by_lift(table: pd.DataFrame) -> pd.DataFrame:
    return table.sort_values("lift", ascending=False, kind="stable", ignore_index=True)
