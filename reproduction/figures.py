"""Drawing shared by the studies: panels, heat maps over topics and alpha, lines and bars of methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from reproduction.methods import METHODS
from textsignal.plots import COLUMN_WIDTH, STYLE, styled

#: Width of the text of a page, in inches.
PAGE_WIDTH = 2 * COLUMN_WIDTH
#: Scores shown in heat maps and bars: column, axis label, and True if high values are good.
SCORES = (("r2", "test R2", True), ("rmse", "test RMSE (stars)", False))


@styled
def panels(n_rows: int, n_columns: int, height: float, *, sharey: bool = False) -> tuple[Figure, Sequence[Axes]]:
    """Return an empty figure of a page's width, and its axes row by row."""
    figure = Figure(figsize=(PAGE_WIDTH, height), dpi=150, layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False, sharey=sharey)
    return figure, list(axes.flat)


def mean_and_sd(table: pd.DataFrame, by: Sequence[str], value: str) -> pd.DataFrame:
    """Return mean and standard deviation (0 for a single row) of a column by group, in order of appearance."""
    groups = table.groupby(list(by), sort=False)[value]
    return groups.agg(
        mean="mean", sd=lambda values: float(values.std(ddof=1)) if len(values) > 1 else 0.0
    ).reset_index()


@styled
def heat_map(ax: Axes, grid: pd.DataFrame, *, title: str, limits: tuple[float, float], best_high: bool) -> None:
    """Draw numbers over topics (columns) and alpha (rows), and frame the best."""
    values = grid.to_numpy()
    cmap = "viridis" if best_high else "viridis_r"
    ax.imshow(values, cmap=cmap, vmin=limits[0], vmax=limits[1], aspect="auto")
    ax.set_xticks(range(grid.shape[1]), [str(k) for k in grid.columns])
    ax.set_yticks(range(grid.shape[0]), [f"{alpha:g}" for alpha in grid.index])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_xlabel("number of topics K")
    ax.set_ylabel("alpha")
    ax.set_title(title, loc="left")
    height = (values - limits[0]) / max(limits[1] - limits[0], 1e-12)
    dark = height < 0.6 if best_high else height > 0.4
    for (i, j), value in np.ndenumerate(values):
        text = f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.2f}"
        ax.text(j, i, text, ha="center", va="center", fontsize=5.5, color="white" if dark[i, j] else "black")
    i, j = np.unravel_index(np.nanargmax(values if best_high else -values), values.shape)
    ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor="#D55E00", linewidth=1.5))


@styled
def method_lines(ax: Axes, table: pd.DataFrame, x: str, value: str) -> None:
    """Draw a line per method: means over seeds along `x`, with a band of one standard deviation."""
    means = mean_and_sd(table, ["method", x], value)
    for name in table["method"].unique():
        line, method = means[means["method"] == name].sort_values(x), METHODS[name]
        low, high = line["mean"] - line["sd"], line["mean"] + line["sd"]
        ax.plot(line[x], line["mean"], label=method.label, color=method.color, marker=method.marker)
        ax.fill_between(line[x], low, high, color=method.color, alpha=0.15, lw=0)


@dataclass(frozen=True, eq=False)
class Entry:
    """An entry of a table of performance, or a bar: its name, its label, its method and one row per seed."""

    name: str
    label: str
    method: str
    rows: pd.DataFrame


def draw_bars(ax: Axes, entries: Sequence[Entry], value: str, paper: Mapping[str, float]) -> None:
    """Draw bars from top to bottom: means with standard deviations, and the paper's numbers as black lines."""
    for y, entry in enumerate(entries):
        (bar,) = mean_and_sd(entry.rows, ["method"], value).itertuples()
        color = METHODS[entry.method].color
        ax.barh(y, bar.mean, xerr=bar.sd, color=color, height=0.7, error_kw={"linewidth": 0.8})
        if entry.name in paper:
            ax.plot([paper[entry.name]] * 2, [y - 0.42, y + 0.42], color="black", linewidth=2)
    ax.set_yticks(range(len(entries)), [entry.label for entry in entries])
    ax.set_ylim(len(entries) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.axvline(0, color="#666666", linewidth=0.6)


def write_legend(ax: Axes, n_columns: int = 3) -> None:
    """Write a legend above the axes."""
    with mpl.rc_context(STYLE):
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=n_columns)


def label_lines(figure: Figure, *axes: Axes) -> None:
    """Write one legend of the lines of these axes above all panels."""
    lines = {label: line for ax in axes for line, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    with mpl.rc_context(STYLE):
        figure.legend(list(lines.values()), list(lines), loc="outside upper center", ncols=len(lines))
