"""Training and test R2 against the number of reviews."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from textsignal.plots import styled
from textsignal.studies.figures import label_lines, mean_and_sd, method_lines, panels
from textsignal.studies.methods import label
from textsignal.studies.study import Plan, Tables

#: Columns of the tables, what they are, and the part of each that a figure shows.
VALUES = (
    ("train_r2", "training R2", (-0.5, 1.05)),
    ("r2", "test R2", (-0.5, 1.05)),
    ("gap", "training R2 - test R2", (-0.1, 1.5)),
)


def figures(name: str, plan: Plan, tables: Tables) -> dict[str, Figure]:
    """The paper's three panels: training R2, test R2 and their gap."""
    table = tables[name]
    figure, axes = panels(1, 3, 2.7)
    for ax, (value, unit, limits) in zip(axes, VALUES, strict=True):
        method_lines(ax, table, "size", value)
        _draw_sizes(ax, sorted(table["size"].unique()), unit)
        ax.axhline(0, color="#666666", linewidth=0.6)
        ax.set_ylim(limits)
        _name_hidden(ax, mean_and_sd(table, ["method", "size"], value), limits)
    label_lines(figure, axes[0])
    return {"training-and-test": figure}


@styled
def _draw_sizes(ax: Axes, sizes: Sequence[int], title: str) -> None:
    ax.set_title(title, loc="left")
    ax.set_xscale("log")
    ax.set_xticks(sizes, [f"{size / 1000:g}k" if size >= 1000 else str(size) for size in sizes])
    ax.minorticks_off()
    ax.set_xlabel("number of reviews M (log scale)")


@styled
def _name_hidden(ax: Axes, means: pd.DataFrame, limits: tuple[float, float]) -> None:
    """Write means beyond the limits into the corner on the right, where large samples have come together."""
    for edge, hidden in (
        ("bottom", means[means["mean"] < limits[0]]),
        ("top", means[means["mean"] > limits[1]]),
    ):
        lines = [f"{label(row.method)}, M={row.size:,}:\n{row.mean:.2f} ± {row.sd:.2f}" for row in hidden.itertuples()]
        height = 0.03 if edge == "bottom" else 0.97
        ax.text(0.98, height, "\n".join(lines), transform=ax.transAxes, ha="right", va=edge, fontsize=6)
