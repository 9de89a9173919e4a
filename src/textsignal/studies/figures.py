"""What figures of several studies share: one colour per method, heat maps over topics and alpha, lines and bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from textsignal.plots import COLUMN_WIDTH, STYLE, styled
from textsignal.studies.methods import METHODS

#: Width of a page's text, in inches.
PAGE_WIDTH = 2 * COLUMN_WIDTH
MARKERS = {"mean": "s", "linear": "v", "ridge": "D", "published": "P", "joint": "o", "predictive": "^"}


@styled
def panels(n_rows: int, n_columns: int, height: float, *, sharey: bool = False) -> tuple[Figure, Sequence[Axes]]:
    """An empty figure of a page's width, and its axes row by row."""
    figure = Figure(figsize=(PAGE_WIDTH, height), dpi=150, layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False, sharey=sharey)
    return figure, list(axes.flat)


def mean_and_sd(table: pd.DataFrame, by: Sequence[str], value: str) -> pd.DataFrame:
    """Mean and standard deviation (0 of a single row) of a column within groups, in the order groups appear in."""
    groups = table.groupby(list(by), sort=False)[value]
    return groups.agg(
        mean="mean", sd=lambda values: float(values.std(ddof=1)) if len(values) > 1 else 0.0
    ).reset_index()


@styled
def heat_map(ax: Axes, grid: pd.DataFrame, *, title: str, limits: tuple[float, float], best_high: bool) -> None:
    """Numbers over topics (columns) and alpha (rows), written into their fields; the best one is framed."""
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


def write_legend(ax: Axes, n_columns: int = 3) -> None:
    """A legend above the axes."""
    with mpl.rc_context(STYLE):
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=n_columns)


@styled
def method_lines(ax: Axes, table: pd.DataFrame, x: str, value: str) -> None:
    """One line per method: means over seeds along `x`, with a band of a standard deviation to each side."""
    means = mean_and_sd(table, ["method", x], value)
    for method in table["method"].unique():
        line = means[means["method"] == method].sort_values(x)
        look = METHODS[method]
        ax.plot(line[x], line["mean"], label=look.label, color=look.color, marker=MARKERS[method])
        ax.fill_between(
            line[x], line["mean"] - line["sd"], line["mean"] + line["sd"], color=look.color, alpha=0.15, lw=0
        )


@styled
def method_bars(ax: Axes, table: pd.DataFrame, value: str, *, paper: Mapping[str, float]) -> None:
    """One bar per method: mean over seeds, with a standard deviation; the paper's number as a black line beside it."""
    groups = [(str(method), METHODS[str(method)], rows) for method, rows in table.groupby("method", sort=False)]
    bars = [Bar(look.label, look.color, rows, paper.get(method)) for method, look, rows in groups]
    draw_bars(ax, bars, value)


@dataclass(frozen=True)
class Bar:
    """label, color : of the bar; rows : one row per seed; paper : the paper's number, if it gives one."""

    label: str
    color: str
    rows: pd.DataFrame
    paper: float | None


def draw_bars(ax: Axes, bars: Sequence[Bar], value: str) -> None:
    """Bars from top to bottom: means with standard deviations, the paper's numbers as black lines."""
    for place, bar in enumerate(bars):
        (found,) = mean_and_sd(bar.rows, ["method"], value).itertuples()
        ax.barh(place, found.mean, xerr=found.sd, color=bar.color, height=0.7, error_kw={"linewidth": 0.8})
        if bar.paper is not None:
            ax.plot([bar.paper] * 2, [place - 0.42, place + 0.42], color="black", linewidth=2)
    ax.set_yticks(range(len(bars)), [bar.label for bar in bars])
    ax.set_ylim(len(bars) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.axvline(0, color="#666666", linewidth=0.6)


def label_lines(figure: Figure, *axes: Axes) -> None:
    """One legend above all panels, of the lines of these axes."""
    lines = {label: line for ax in axes for line, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    with mpl.rc_context(STYLE):
        figure.legend(list(lines.values()), list(lines), loc="outside upper center", ncols=len(lines))
