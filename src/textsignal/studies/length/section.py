"""What the page says about the length of reviews."""

from __future__ import annotations

import pandas as pd

from textsignal.studies.choices import settings_tried
from textsignal.studies.claims import mean_and_spread
from textsignal.studies.length.claims import PAPER_GAPS, SUBSETS, gaps, with_predictive
from textsignal.studies.methods import label
from textsignal.studies.page import table_of
from textsignal.studies.samples import MAX_RAW_TERMS
from textsignal.studies.study import Plan, Tables


def section(plan: Plan, tables: Tables) -> str:
    """What was done and found."""
    table = tables["length"]
    names = ", ".join(f"{plan.samples[role].name} for {name}" for role, name in SUBSETS.items())
    few = tables["length-penalties"]["seed"].nunique()
    splits = "on the first split" if few == 1 else f"on the first {few} splits"
    return f"""
Four subsets of at most {table["size"].max():,} reviews: {names}.
Each is split 80/20 {plan.times}. The paper's 500 terms, K=14 and alpha=.05.

{_by_subset(table, "r2")}

Test R2 of ridge regression less a method's own, on the same splits, beside the paper's for JBNMF:

{_behind_table(table)}

Bands are one standard deviation over splits. Ridge regression reads TF-IDF here, as in the paper.

{{figure:words}}

Predictive training reads counts with rows of norm 1, the others TF-IDF. So that training is not credited with what the
rows do, here are the others on the same rows as predictive training, on the same splits (test R2):

{_by_subset(with_predictive(tables), "r2")}

Predictive training's own choice is not 500 terms but up to {MAX_RAW_TERMS:,}. Test R2 with these, and of ridge
regression on the same terms (as TF-IDF), {splits}:

{_by_subset(tables["length-terms"], "r2")}

### What the paper leaves open

It does not say whether K and alpha were chosen again for each subset, on which reviews, nor the ridge penalty. Test R2
with other settings, {splits}:

{_choice_table(tables)}

The best of these settings is known only from the test side.
"""


def _by_subset(table: pd.DataFrame, value: str) -> str:
    roles = list(table["subset"].unique())
    words = table.groupby("subset")["words"].first()
    rows = []
    for method in table["method"].unique():
        groups = table[table["method"] == method].groupby("subset")[value]
        rows.append([label(method), *(mean_and_spread(groups.get_group(role)) for role in roles)])
    return table_of(["method", *(f"{SUBSETS[role]} ({words[role]:g} words)" for role in roles)], rows)


def _behind_table(table: pd.DataFrame) -> str:
    behind = gaps(table)
    rows = [["JBNMF in the paper", *(f"{PAPER_GAPS[role]:.3f}" for role in SUBSETS)]]
    for method in behind["method"].unique():
        groups = behind[behind["method"] == method].groupby("subset")["behind"]
        rows.append([label(method), *(mean_and_spread(groups.get_group(role)) for role in SUBSETS)])
    return table_of(["ridge regression - method", *SUBSETS.values()], rows)


def _choice_table(tables: Tables) -> str:
    rows = []
    for setting, found in settings_tried("length", tables):
        groups = found.groupby("subset")["r2"]
        rows.append([setting, *(mean_and_spread(groups.get_group(role)) for role in SUBSETS)])
    return table_of(["setting", *SUBSETS.values()], rows)
