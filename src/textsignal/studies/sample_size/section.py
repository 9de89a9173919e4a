"""What the page says about sample size."""

from __future__ import annotations

import pandas as pd

from textsignal.studies.choices import settings_tried
from textsignal.studies.claims import mean_and_spread
from textsignal.studies.methods import label
from textsignal.studies.page import table_of
from textsignal.studies.sample_size.figures import VALUES
from textsignal.studies.study import Plan, Tables


def section(name: str, role: str, plan: Plan, tables: Tables) -> str:
    """What was done and found."""
    table = tables[name]
    sizes = sorted(table["size"].unique())
    by_size = "\n\n".join(f"{unit[0].upper()}{unit[1:]}:\n\n{_by_size(table, value)}" for value, unit, _ in VALUES)
    whole = " The whole sample is not drawn, only split anew." if sizes[-1] == len(plan.samples[role]) else ""
    return f"""
{plan.samples[role].name}: M = {", ".join(f"{size:,}" for size in sizes)} reviews drawn without replacement,
{plan.times}; a seed also draws the 80/20 split and the start.{whole}
Terms and their document frequencies come from the training side alone. A size above that of the sample is left out; the
whole sample stands in its place. As in the paper, training R2 of joint training is taken with the weights that training
left, which have seen the ratings; test R2 with weights from text alone. Predictive training reads counts with rows of
norm 1, the others TF-IDF; the study of length says how much of its lead over ridge regression the rows alone explain.

{by_size}

Lines are means, bands one standard deviation over draws. Means beyond an axis are written in its corner.

{{figure:training-and-test}}

### What the paper leaves open

It does not say how reviews were drawn (anew for each M and seed here), whether K and alpha were chosen again for each M
(K=14 and alpha=.05, its choice for 10,000 reviews, here), nor the ridge penalty (leave-one-out error on the training
side chooses it here). With M = {sizes[0]:,}, where this matters most, and other settings:

{_choice_table(name, tables)}
"""


def _by_size(table: pd.DataFrame, value: str) -> str:
    sizes = sorted(table["size"].unique())
    rows = []
    for method in table["method"].unique():
        groups = table[table["method"] == method].groupby("size")[value]
        rows.append([label(method), *(mean_and_spread(groups.get_group(size)) for size in sizes)])
    return table_of(["method", *(f"M = {size:,}" for size in sizes)], rows)


def _choice_table(name: str, tables: Tables) -> str:
    rows = [
        [setting, mean_and_spread(found["r2"]), mean_and_spread(found["gap"])]
        for setting, found in settings_tried(name, tables)
    ]
    return table_of(["method and setting", "test R2", "training R2 - test R2"], rows)
