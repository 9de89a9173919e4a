"""Skill against the length of reviews, over four subsets (the paper's Section 4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.preprocessing import normalize

from textsignal.figures.canvas import styled
from textsignal.studies.claims import mean_and_spread
from textsignal.studies.figures import label_lines, method_lines, panels
from textsignal.studies.length.claims import PAPER_GAPS, PAPER_WORDS, SUBSETS, claims, gaps, with_predictive
from textsignal.studies.methods import JOINT, METHODS, Settings, chosen, label, scores
from textsignal.studies.page import table_of
from textsignal.studies.sample_size.study import (
    DEFAULT_CHOICES,
    Choices,
    choice_cells,
    fit_methods,
    seeds_of,
    settings_tried,
)
from textsignal.studies.samples import MAX_RAW_TERMS, MAX_TERMS, Sample, split_sample
from textsignal.studies.study import Cell, Place, Plan, Row, Study, Tables

REVIEWS, QUICK_REVIEWS = 10_000, 2_000
COMPARED = ("ridge", "published", "joint", "predictive")
#: Splits on which costly extras are computed: all 2,000 terms, and settings that the paper leaves open.
FEW = 2
#: Share of an axis' length that a name needs for itself.
LABEL_ROOM = 0.08


def fit_subset(sample: Sample, size: int, methods: Sequence[str], seed: int, max_terms: int) -> list[Row]:
    """Skill of methods on a split of the subset, and the subset's median number of words."""
    return [{"words": sample.median_words, **row} for row in fit_methods(sample, size, methods, seed, max_terms)]


def fit_same_rows(sample: Sample, size: int, methods: Sequence[str], seed: int) -> list[Row]:
    """Skill of methods on what predictive training reads: counts, each row scaled to norm 1, in place of TF-IDF."""
    split = split_sample(sample.drawn(size, seed), seed)
    same = replace(split, X=normalize(split.counts), X_test=normalize(split.counts_test))
    return [{"method": method, **scores(same, METHODS[method].fit(same, Settings(seed=seed)))} for method in methods]


def cells(reviews: int, quick_reviews: int, choices: Choices, plan: Plan, tables: Tables) -> list[Cell]:
    """Every subset and seed; on few seeds all terms, and other settings."""
    found = []
    for seed in range(plan.seeds):
        for role in SUBSETS:
            sample = plan.samples[role]
            size = min(quick_reviews if plan.quick else reviews, len(sample))
            place: Place = {"subset": role, "size": size}
            found.append(_cell("length", place, sample, seed, MAX_TERMS, chosen(plan.methods, COMPARED)))
            alike = chosen(plan.methods, ("ridge", *JOINT))
            named: Place = {"method": " ".join(alike), "seed": seed}
            compute = partial(fit_same_rows, sample, size, alike, seed)
            found.append(Cell("length-rows", place | named, compute, sample.digest))
            if seed < FEW:
                wide = chosen(plan.methods, ("ridge", "predictive"))
                found.append(_cell("length-terms", place, sample, seed, MAX_RAW_TERMS, wide))
                found += choice_cells("length", place, sample, seed, choices, plan)
    return found


def _cell(table: str, place: Place, sample: Sample, seed: int, max_terms: int, methods: Sequence[str]) -> Cell:
    compute = partial(fit_subset, sample, int(place["size"]), methods, seed, max_terms)
    named: Place = {"max_terms": max_terms, "method": " ".join(methods), "seed": seed}
    return Cell(table, place | named, compute, sample.digest)


def figures(plan: Plan, tables: Tables) -> dict[str, Figure]:
    """Test R2 against the median number of words, and what it lacks of ridge regression's."""
    table = tables["length"]
    words = table.groupby("subset", sort=False)["words"].first()
    # A method's points are told apart by their place, so subsets of the same length stand a hair apart.
    words = words * [1 + 1e-3 * k for k in range(len(words))]
    table = table.assign(words=table["subset"].map(words))
    figure, axes = panels(1, 2, 3)
    method_lines(axes[0], table, "words", "r2")
    method_lines(axes[1], gaps(table), "words", "behind")
    axes[1].plot(
        list(PAPER_WORDS.values()),
        list(PAPER_GAPS.values()),
        "k:x",
        markersize=4,
        label="JBNMF in the paper, its subsets",
    )
    for ax, title in zip(axes, ("test R2", "test R2 of ridge regression - test R2"), strict=True):
        _draw_words(ax, words, title)
        ax.axhline(0, color="#666666", linewidth=0.6)
    label_lines(figure, *axes)
    return {"words": figure}


@styled
def _draw_words(ax: Axes, words: pd.Series, title: str) -> None:
    """An axis of words on which the subsets are named."""
    ax.set_title(title, loc="left")
    ax.set_xscale("log")
    ax.minorticks_off()
    places, names = tick_names(words)
    ax.set_xticks(places, names, rotation=40, ha="right", rotation_mode="anchor")
    ax.set_xlabel("subset: median number of words (log scale)")


def tick_names(words: pd.Series) -> tuple[list[float], list[str]]:
    """Where subsets are named on the axis, and how: one tick names all whose own names would lie on each other.

    Examples
    --------
    >>> tick_names(pd.Series({"cafe": 13.0, "fast-food": 14.0, "hotel": 61.0}))[1]
    ['cafe: 13, fast food: 14', 'hotel: 61']
    """
    ordered = words.sort_values()
    room = LABEL_ROOM * np.log(ordered.iloc[-1] / ordered.iloc[0])
    groups = (np.diff(np.log(ordered), prepend=np.log(ordered.iloc[0])) > room).cumsum()
    places, names = [], []
    for _, near in ordered.groupby(groups):
        places.append(float(np.exp(np.log(near).mean())))
        names.append(", ".join(f"{SUBSETS[str(role)]}: {count:.0f}" for role, count in near.items()))
    return places, names


def section(plan: Plan, tables: Tables) -> str:
    """What was done and found."""
    table = tables["length"]
    names = ", ".join(f"{plan.samples[role].name} for {name}" for role, name in SUBSETS.items())
    few = tables["length-penalties"]["seed"].nunique()
    splits = "on the first split" if few == 1 else f"on the first {few} splits"
    return f"""
Four subsets of at most {table["size"].max():,} reviews: {names}.
Each is split 80/20 {seeds_of(plan)}. The paper's 500 terms, K=14 and alpha=.05.

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


def length_study(
    *, reviews: int = REVIEWS, quick_reviews: int = QUICK_REVIEWS, choices: Choices = DEFAULT_CHOICES
) -> Study:
    """The study of length on at most so many reviews of each subset, with these settings tried beside the paper's."""
    return Study(
        name="length",
        title="Length of reviews",
        needs=tuple(SUBSETS),
        seeds=5,
        quick_seeds=1,
        stages=(partial(cells, reviews, quick_reviews, choices),),
        figures=figures,
        section=section,
        claims=claims,
    )


LENGTH = length_study()
