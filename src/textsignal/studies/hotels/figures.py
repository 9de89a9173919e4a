"""Figures of the study of hotel reviews."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from textsignal.palette import NEUTRAL, topic_colors
from textsignal.plots import PAGE_HEIGHT, as_percent, axes, draw_cloud, figure_of, plain, styled
from textsignal.studies.figures import Bar, draw_bars, heat_map, method_lines, panels, write_legend
from textsignal.studies.hotels.results import CLOUD_WORDS, COARSE, PAPER_R2, PAPER_RMSE, performance, ranked
from textsignal.studies.methods import ALPHA, JOINT, METHODS, chosen, label
from textsignal.studies.study import Plan, Tables

#: Height of one line of a list, and of all else around it, in inches.
LINE, AROUND = 0.19, 0.55
#: Terms that name a topic.
LABEL_TERMS = 4
#: How far below the best value colours of a heat map reach; worse ones have the last colour.
REACH = 0.15


def figures(plan: Plan, tables: Tables) -> dict[str, Figure]:
    """The paper's figures: ratings, words, performance, search, and the two rankings of topics."""
    drawn = {
        "ratings": _draw_ratings(tables["hotels-ratings"]),
        "words": _draw_words(tables["hotels-words"]),
        "performance": _draw_performance(tables),
    }
    if chosen(plan.methods, JOINT):
        drawn["search"] = _draw_search(tables["hotels-search"], chosen(plan.methods, JOINT))
    drawn["number-of-topics"] = _draw_number_of_topics(tables)
    for method in tables["hotels-topics"]["method"].unique():
        topics = tables["hotels-topics"].query("method == @method")
        drawn[f"topics-{method}"] = _draw_rankings(topics, label(method))
    return drawn


@styled
def _draw_ratings(table: pd.DataFrame) -> Figure:
    ax = axes(None, 2.0)
    total = table["documents"].sum()
    bars = ax.bar(table["rating"], table["documents"] / total, color=NEUTRAL, width=0.85)
    ax.bar_label(bars, [f"{share:.1%}" for share in table["documents"] / total], fontsize=7)
    ax.set_xticks(table["rating"])
    ax.margins(y=0.1)
    as_percent(ax.yaxis)
    ax.set_xlabel("rating (stars)")
    ax.set_ylabel(f"share of {total:,} reviews")
    return figure_of(ax)


@styled
def _draw_words(table: pd.DataFrame) -> Figure:
    ax = axes(None, PAGE_HEIGHT)
    largest = table.head(CLOUD_WORDS)
    draw_cloud(ax, largest["word"].tolist(), largest["count"].tolist(), ["#0072B2"] * len(largest))
    return figure_of(ax)


@styled
def _draw_performance(tables: Tables) -> Figure:
    """A bar a line of the table, in its method's colour; the paper's numbers as black lines."""
    entries = performance(tables)
    figure, both = panels(1, 2, AROUND + LINE * len(entries), sharey=True)
    for ax, value, unit, paper in zip(
        both, ("r2", "rmse"), ("test R2", "test RMSE (stars)"), (PAPER_R2, PAPER_RMSE), strict=True
    ):
        bars = [Bar(entry.label, METHODS[entry.method].color, entry.rows, paper.get(entry.name)) for entry in entries]
        draw_bars(ax, bars, value)
        ax.set_xlabel(unit)
    return figure


def _draw_search(search: pd.DataFrame, methods: list[str]) -> Figure:
    """The paper's two heat maps, for the split of seed 0."""
    first = search[search["seed"] == 0]
    figure, both = panels(len(methods), 2, 1.75 * len(methods))
    for column, (value, unit, high) in enumerate((("r2", "test R2", True), ("rmse", "test RMSE (stars)", False))):
        found = first[first["method"].isin(methods)][value]
        limits = (max(found.min(), found.max() - REACH), found.max())
        if not high:
            limits = (found.min(), min(found.max(), found.min() + REACH))
        for row, method in enumerate(methods):
            grid = first[first["method"] == method].pivot(index="alpha", columns="n_topics", values=value)
            heat_map(both[2 * row + column], grid, title=f"{label(method)}: {unit}", limits=limits, best_high=high)
    return figure


@styled
def _draw_number_of_topics(tables: Tables) -> Figure:
    """Test R2 along the number of topics that all splits were searched at, joint training at the paper's alpha."""
    search, methods = tables["hotels-search"], tables["hotels-methods"]
    lines = search[search["n_topics"].isin(COARSE) & (search["alpha"].isna() | (search["alpha"] == ALPHA))]
    figure, (ax,) = panels(1, 1, 2.6)
    method_lines(ax, lines, "n_topics", "r2")
    ridge = methods[(methods["method"] == "ridge") & (methods["terms"] == methods["terms"].min())]["r2"]
    look = METHODS["ridge"]
    ax.axhline(ridge.mean(), color=look.color, linestyle="--", label=f"{look.label} (no topics)")
    ax.set_xticks(sorted(lines["n_topics"].unique()))
    ax.set_xlabel("number of topics K")
    ax.set_ylabel("test R2")
    write_legend(ax, 4)
    return figure


@styled
def _draw_rankings(topics: pd.DataFrame, title: str) -> Figure:
    """The paper's two rankings side by side; a topic has the same colour in both."""
    figure, (left, right) = panels(1, 2, AROUND + 0.2 + LINE * min(len(topics), 8))
    _bars(left, ranked(topics, "effect"), "effect")
    left.axvline(0, color="black", linewidth=0.6)
    left.set_xlabel("effect (log odds)")
    left.set_title(f"{title}: strongest", loc="left")
    _bars(right, ranked(topics, "prevalence"), "prevalence")
    as_percent(right.xaxis)
    right.set_xlabel("share of all text")
    right.set_title("most prevalent", loc="left")
    return figure


def _bars(ax: Axes, topics: pd.DataFrame, column: str) -> None:
    places = range(len(topics))
    colors = topic_colors(int(topics["topic"].max()) + 1)
    ax.barh(places, topics[column], color=[colors[topic] for topic in topics["topic"]], height=0.75)
    names = [plain(", ".join(terms.split()[:LABEL_TERMS]), 40) for terms in topics["terms"]]
    ax.set_yticks(places, names)
    ax.set_ylim(len(topics) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0, labelsize=6.5)
    ax.xaxis.set_major_locator(MaxNLocator(4))
