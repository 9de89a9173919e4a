"""What a search measured, over the number of topics."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from textsignal.plots.canvas import COLUMN_WIDTH, ShownFigure, styled
from textsignal.plots.palette import NEUTRAL, topic_colors

#: What is drawn, and what it is called.
SHOWN = {
    "r2": "held-out R2",
    "stability": "stability (cosine)",
    "coherence": "coherence (NPMI)",
    "exclusivity": "exclusivity",
}


@styled
def draw_search(table: pd.DataFrame, recommended: int, noun: str) -> Figure:
    """A panel for each measure, with bars of one standard error; a line for each supervision."""
    figure = ShownFigure(figsize=(2 * COLUMN_WIDTH, 3.6), dpi=200, layout="constrained")
    panels = figure.subplots(2, 2, sharex=True)
    by = [(None, table)] if "supervision" not in table else list(table.groupby("supervision"))
    for panel, (measure, name) in zip(panels.flat, SHOWN.items(), strict=True):
        for (supervision, rows), color in zip(by, topic_colors(len(by)), strict=True):
            label = None if supervision is None else f"{supervision:g}"
            errors = rows[f"{measure}_se"]
            panel.errorbar(rows["n_topics"], rows[measure], errors, fmt="o-", color=color, label=label, elinewidth=0.6)
        panel.axvline(recommended, color=NEUTRAL, linewidth=0.8, linestyle="--")
        panel.set_ylabel(name)
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    for panel in panels[1]:
        panel.set_xlabel(f"number of {noun}s")
    panels[0, 0].set_title(f"recommended: {recommended}", loc="left")
    if len(by) > 1:
        panels[0, 1].legend(title="supervision")
    return figure
