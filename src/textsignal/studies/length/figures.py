"""Test R2 against the length of reviews."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from textsignal.plots import styled
from textsignal.studies.figures import label_lines, method_lines, panels
from textsignal.studies.length.claims import PAPER_GAPS, PAPER_WORDS, SUBSETS, gaps
from textsignal.studies.study import Plan, Tables

#: Share of an axis' length that a name needs for itself.
LABEL_ROOM = 0.08


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
