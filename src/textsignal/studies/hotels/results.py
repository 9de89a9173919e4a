"""What the tables of the study of hotel reviews say, before it is shown or judged."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from textsignal.studies.methods import ALPHA, N_TOPICS, label
from textsignal.studies.samples import MAX_RAW_TERMS, MAX_TERMS
from textsignal.studies.study import Tables

#: Numbers of topics that are searched first.
COARSE, QUICK_COARSE = (2, 5, 8, 11, 14, 17, 20, 30), (5, 14)
#: Words in the cloud.
CLOUD_WORDS = 60
#: The paper's Table 1.
PAPER_R2 = {"mean": 0.000, "linear": 0.564, "ridge": 0.569, "published": 0.551}
PAPER_RMSE = {"mean": 1.239, "linear": 0.816, "ridge": 0.812, "published": 0.830}


@dataclass(frozen=True)
class Entry:
    """A line of the table of performance.

    name, label : for us and for people; method : gives its colour.
    rows : one row per split.
    """

    name: str
    label: str
    method: str
    rows: pd.DataFrame


def best_points(search: pd.DataFrame, by: str) -> pd.DataFrame:
    """The row of the search that is best by a column, for each method and split."""
    return search.loc[search.groupby(["method", "seed"], sort=False)[by].idxmax()].reset_index(drop=True)


def performance(tables: Tables) -> list[Entry]:
    """The paper's Table 1, with our methods: word-level ones first."""
    methods, search = tables["hotels-methods"], tables["hotels-search"]
    found = []
    for name in ("mean", "linear", "ridge"):
        found.append(_entry(name, "", name, methods[methods["terms"] == MAX_TERMS]))
    found.append(_entry("ridge-2000", ", 2,000 terms", "ridge", methods[methods["terms"] == MAX_RAW_TERMS]))
    paper = search[(search["n_topics"] == N_TOPICS) & (search["alpha"].isna() | (search["alpha"] == ALPHA))]
    validated, best = best_points(search, "validation_r2"), best_points(search, "r2")
    for name in search["method"].unique():
        at = f", K={N_TOPICS}" + ("" if name == "predictive" else f", alpha={ALPHA:g}")
        found.append(_entry(name, at, name, paper))
        found.append(_entry(f"{name}-validated", ", chosen by validation", name, validated))
        found.append(_entry(f"{name}-best", ", best on the test side", name, best))
    if "predictive" in search["method"].unique():
        two_thousand = methods[methods["terms"] == MAX_RAW_TERMS]
        found.append(_entry("predictive-2000", f", K={N_TOPICS}, 2,000 terms", "predictive", two_thousand))
    return found


def _entry(name: str, extra: str, method: str, rows: pd.DataFrame) -> Entry:
    return Entry(name, label(method) + extra, method, rows[rows["method"] == method].sort_values("seed"))


def by_name(tables: Tables, value: str) -> pd.DataFrame:
    """(splits, entries of the table of performance) values of a column."""
    return pd.DataFrame({entry.name: entry.rows.set_index("seed")[value] for entry in performance(tables)})


def ranked(topics: pd.DataFrame, column: str, n: int = 8) -> pd.DataFrame:
    """The first topics by the size of a column, largest first."""
    order = topics[column].abs().sort_values(ascending=False, kind="stable").index
    return topics.loc[order[:n]]
