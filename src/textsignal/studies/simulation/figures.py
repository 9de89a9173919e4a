"""Heat maps over topics and alpha, skill along the number of topics, and methods."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from textsignal.studies.figures import heat_map, method_bars, method_lines, panels, write_legend
from textsignal.studies.methods import label
from textsignal.studies.simulation.claims import PAPER_R2, PAPER_RMSE, TRUE_TOPICS
from textsignal.studies.study import Plan, Tables


def figures(plan: Plan, tables: Tables) -> dict[str, Figure]:
    """The paper's two heat maps, skill along the number of topics as a share of the ceiling, and methods."""
    drawn = {"methods": _draw_methods(tables["simulation-methods"])}
    if "simulation-sensitivity" in tables:
        drawn |= {"sensitivity": _draw_sensitivity(tables["simulation-sensitivity"])}
    lines = _along_topics(tables)
    return drawn | ({"topics": _draw_topics(lines)} if len(lines) else {})


def _draw_sensitivity(table: pd.DataFrame) -> Figure:
    methods = table["method"].unique()
    figure, axes = panels(len(methods) * 2, 1, 1.75 * 2 * len(methods))
    for k, (value, unit, high) in enumerate((("r2", "test R2", True), ("rmse", "test RMSE (stars)", False))):
        grids = {m: table[table["method"] == m].groupby(["alpha", "n_topics"])[value].mean().unstack() for m in methods}
        limits = (
            min(grid.to_numpy().min() for grid in grids.values()),
            max(g.to_numpy().max() for g in grids.values()),
        )
        for row, method in enumerate(methods):
            title = f"{label(method)}: {unit}, mean of {table['seed'].nunique()} draws"
            heat_map(axes[2 * row + k], grids[method], title=title, limits=limits, best_high=high)
    return figure


def _draw_methods(table: pd.DataFrame) -> Figure:
    figure, axes = panels(1, 3, 2.2, sharey=True)
    for ax, value, unit, paper in (
        (axes[0], "r2", "test R2", PAPER_R2),
        (axes[1], "rmse", "test RMSE (stars)", PAPER_RMSE),
        (axes[2], "share", "test R2 / ceiling", {}),
    ):
        method_bars(ax, table, value, paper=paper)
        ax.set_xlabel(unit)
    return figure


def _along_topics(tables: Tables) -> pd.DataFrame:
    """Share of the ceiling by number of topics: joint training at its largest alpha, predictive training as it is."""
    parts = []
    if "simulation-sensitivity" in tables:
        joint = tables["simulation-sensitivity"]
        parts.append(joint[joint["alpha"] == joint["alpha"].max()])
    if "simulation-topics" in tables:
        parts.append(tables["simulation-topics"])
    return pd.concat(parts) if parts else pd.DataFrame()


def _draw_topics(lines: pd.DataFrame) -> Figure:
    figure, axes = panels(1, 1, 2.6)
    method_lines(axes[0], lines, "n_topics", "share")
    axes[0].axvline(TRUE_TOPICS, color="#666666", linewidth=0.6, linestyle=":")
    axes[0].set_xlabel("number of topics K (the truth: 5)")
    axes[0].set_ylabel("test R2 / ceiling")
    write_legend(axes[0])
    return figure
