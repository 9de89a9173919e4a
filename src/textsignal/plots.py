"""Figures for papers: one column wide, readable there, safe for colour-blind readers.

Every function draws into `ax` if given and into a new figure otherwise, and returns the figure. None of them
touches pyplot's state. A theme, or topic, has the same colour in all figures. Fonts are those of matplotlib's settings:
for scripts that its own font lacks, set `matplotlib.rcParams["font.family"]`.

Examples
--------
>>> import textsignal as ts
>>> reviews = ts.datasets.synthetic_reviews(300, seed=1)
>>> model = ts.TextResponseModel(n_themes=5).fit(reviews.texts, reviews.ratings)
>>> ts.plots.effects(model).get_size_inches().round(2)
array([3.4 , 1.62])
>>> [len(draw(model).axes[0].patches) for draw in (ts.plots.drivers, ts.plots.prevalence)]
[12, 6]
>>> figures = ts.plots.effect_map(model), ts.plots.terms(model, 0, n=6), ts.plots.word_cloud(model, 0)
>>> [float(bar.get_height()) for bar in ts.plots.response_distribution([1, 2, 2, 4, np.nan]).axes[0].patches]
[0.25, 0.5, 0.0, 0.25]
>>> new = ts.datasets.synthetic_reviews(100, seed=2)
>>> ts.plots.calibration(model, new.texts, new.ratings, n_bins=5).axes[0].get_xlabel()
'expected response'
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from io import BytesIO
from itertools import product
from typing import Any, cast

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox
from numpy.typing import ArrayLike, NDArray
from wordcloud import WordCloud

from textsignal.checks import check_number
from textsignal.errors import InputError
from textsignal.evaluation import metrics as evaluate
from textsignal.insight.revise import Theme, theme_number
from textsignal.palette import NEGATIVE, NEUTRAL, POSITIVE, readable, topic_colors
from textsignal.uncertainty.effects import EffectTable
from textsignal.uncertainty.search import Search

#: Width of a journal's column, in inches.
COLUMN_WIDTH = 3.4
STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "axes.titleweight": "bold",
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
}
#: Positions of a label around its point: directions in order of preference, and distances in points.
DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
DISTANCES = (4, 9, 15)
#: Labels nearer to their point than this, in points, have no line to it.
NEAR = 6
#: Size of a cloud and of its largest word, in pixels; its height on a page of one column's width, in inches.
CLOUD_WIDTH, CLOUD_HEIGHT, LARGEST_WORD = 1360, 840, 190
PAGE_HEIGHT = COLUMN_WIDTH * CLOUD_HEIGHT / CLOUD_WIDTH
#: Height of one line of a list, and of all else around a list, in inches.
LINE, AROUND = 0.17, 0.6
#: Longest label in a list, in a map, and of a term, in characters.
LIST_LABEL, MAP_LABEL, TERM_LABEL = 30, 24, 20
#: Levels up to this number get a bar each, more are binned; effects below the second number are rounding.
MOST_LEVELS, NOTHING = 25, 1e-12
PREVALENCE, MARKERS = "prevalence (share of all text)", "osD^vPX"
#: Measures of a search that are drawn, with the labels of their axes.
SHOWN = {
    "r2": "held-out R2",
    "stability": "stability (cosine)",
    "coherence": "coherence (NPMI)",
    "exclusivity": "exclusivity",
}

#: Draw in the style of textsignal, without changing the user's settings.
styled = mpl.rc_context(STYLE)


class ShownFigure(Figure):
    """Figure that notebooks display, with or without pyplot."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()


def axes(ax: Axes | None, height: float) -> Axes:
    """Return the axes, or new ones in a figure of one column's width and this height, in inches."""
    return ax or ShownFigure(figsize=(COLUMN_WIDTH, height), dpi=200, layout="constrained").add_subplot()


def figure_of(ax: Axes) -> Figure:
    """Return the figure of axes."""
    return cast("Figure", ax.get_figure(root=True))


def drawable(text: str) -> str:
    """Spell out symbols that no installed font can draw, such as emoji, by name."""
    fonts = [get_font(findfont(FontProperties(family=[family]))) for family in mpl.rcParams["font.family"]]
    unknown = {c for c in text if unicodedata.category(c) == "So" and not any(f.get_char_index(ord(c)) for f in fonts)}
    return "".join(f"[{unicodedata.name(c, 'symbol').lower()}]" if c in unknown else c for c in text)


def plain(label: str, most: int) -> str:
    """Shorten a label to one line, cut between words, with dollar signs escaped."""
    line = " ".join(drawable(label).split())
    if len(line) > most:
        cut = line[: most - 1]
        at_word = cut.rsplit(" ", 1)[0]
        line = (at_word if len(at_word) > most / 2 else cut).rstrip(" ,") + "…"
    return line.replace("$", r"\$")


def as_percent(axis: Axis) -> None:
    """Show shares as percentages, without more digits than they need."""
    axis.set_major_formatter(lambda share, _: f"{100 * share:.4g}%")


def place_labels(ax: Axes, places: NDArray[np.float64], labels: Sequence[str]) -> None:
    """Label points at `places` (points, 2), in data units, in order and only if there is room.

    A thin line joins a label to its point unless they are adjacent.
    """
    figure_of(ax).draw_without_rendering()  # the layout settles, so that sizes on the page are known
    points, halo = figure_of(ax).dpi / 72, [withStroke(linewidth=1.5, foreground="white")]
    frame, to_data = ax.get_window_extent(), ax.transData.inverted()
    centres = ax.transData.transform(places)
    taken = [Bbox.from_bounds(x - 3 * points, y - 3 * points, 6 * points, 6 * points) for x, y in centres]
    for centre, label in zip(centres, labels, strict=True):
        text = ax.annotate(label, (0, 0), xycoords="figure pixels", fontsize=6, va="bottom", in_layout=False)
        size = text.get_window_extent().size
        text.remove()
        for distance, direction in product(DISTANCES, np.array(DIRECTIONS)):
            corner = centre + direction * distance * points - (1 - direction) / 2 * size
            box = Bbox([corner, corner + size])
            inside = np.all(frame.p0 <= box.p0) and np.all(box.p1 <= frame.p1)
            if not inside or any(box.overlaps(other) for other in taken):
                continue
            taken.append(box)
            left, bottom = to_data.transform(corner)
            ax.text(left, bottom, label, fontsize=6, va="bottom", in_layout=False, path_effects=halo)
            near = np.clip(centre, box.p0, box.p1)
            if np.hypot(*(near - centre)) > NEAR * points:
                x, y = to_data.transform([centre, near]).T
                ax.plot(x, y, color="#999999", linewidth=0.4, zorder=2, scalex=False, scaley=False)
            break


def draw_cloud(ax: Axes, words: Sequence[str], sizes: Sequence[float] | NDArray, colors: Sequence[str]) -> None:
    """Draw words, each in its colour and in a size that depends on its number, the same picture every time.

    words, sizes, colors : (words,) each; sizes are positive, and the largest come first.
    """
    drawn = [drawable(word) for word in words]
    color_of = dict(zip(drawn, colors, strict=True))
    cloud = WordCloud(
        width=CLOUD_WIDTH,
        height=CLOUD_HEIGHT,
        max_font_size=LARGEST_WORD,
        relative_scaling=0.5,
        margin=9,
        background_color="white",
        prefer_horizontal=1.0,
        random_state=0,
        font_path=findfont(FontProperties()),
        color_func=lambda word, **_: color_of[word],
    )
    cloud.generate_from_frequencies({word: float(size) for word, size in zip(drawn, sizes, strict=True)})
    ax.imshow(cloud.to_array(), interpolation="antialiased")
    ax.axis("off")


@styled
def effects(model: Any, ax: Axes | None = None) -> Figure:
    """Draw the effect of every topic on the linear predictor, against the average text; of a theme, gain less cost."""
    table = _topics(model)
    ax = _topic_bars(table, "effect", table["unit"].iloc[0], ax)
    ax.axvline(0, color="black", linewidth=0.6)
    return figure_of(ax)


@styled
def drivers(model: Any, ax: Axes | None = None) -> Figure:
    """Draw gain (to the right) and cost (to the left) of every theme, the largest cost on top.

    These are what-ifs on the fitted model, not causal claims; see `TextResponseModel.drivers`.
    """
    table = model.drivers()
    ax = _list_axes(ax, table["label"], 0.2)
    places = np.arange(len(table))
    ax.barh(places, -table["cost"], color=NEGATIVE, height=0.75, label="complaints cost")
    ax.barh(places, table["gain"], color=POSITIVE, height=0.75, label="praise adds")
    ax.axvline(0, color="black", linewidth=0.6)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.set_xlabel("mean response, a what-if on the model")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return figure_of(ax)


@styled
def prevalence(model: Any, ax: Axes | None = None) -> Figure:
    """Draw the share of all text in every topic, largest first."""
    ax = _topic_bars(_topics(model), "prevalence", PREVALENCE, ax)
    as_percent(ax.xaxis)
    return figure_of(ax)


@styled
def effect_map(model: Any, ax: Axes | None = None) -> Figure:
    """Draw effect and prevalence of every topic, as a point each.

    Labels never overlap: strong and prevalent topics are labelled first, and those without room stay points.
    """
    table = _topics(model)
    ax = axes(ax, 2.8)
    colors = np.array(topic_colors(len(table)))[table.index]
    ax.axvline(0, color="#bbbbbb", linewidth=0.6, zorder=1)
    ax.scatter(table["effect"], table["prevalence"], c=colors, s=22, zorder=3)
    ax.margins(0.2, 0.15)
    as_percent(ax.yaxis)
    ax.set(xlabel=table["unit"].iloc[0], ylabel=PREVALENCE)
    importance = table["effect"].abs() * table["prevalence"]
    first = table.loc[importance.sort_values(ascending=False, kind="stable").index]
    place_labels(ax, first[["effect", "prevalence"]].to_numpy(), [plain(label, MAP_LABEL) for label in first["label"]])
    return figure_of(ax)


@styled
def terms(model: Any, theme: Theme, n: int = 12, ax: Axes | None = None) -> Figure:
    """Draw the `n` most relevant terms of a topic (number or label), with their shares of the topic and of all text."""
    table, profiles, overall = _profiles(model, n)
    k = theme_number(theme, table["label"].tolist())
    listed = table.loc[k, "terms"]
    columns = pd.Index(model.terms_).get_indexer(listed)
    ax = _list_axes(ax, listed, 0.2, TERM_LABEL)
    ax.barh(np.arange(len(listed)), profiles[k, columns], color=topic_colors(k + 1)[k], height=0.75)
    ax.barh(np.arange(len(listed)), overall[columns], color="black", height=0.25)
    as_percent(ax.xaxis)
    ax.set_xlabel("share of topic (wide), of all text (black)")
    ax.set_title(plain(table.loc[k, "label"], LIST_LABEL), loc="left")
    return figure_of(ax)


@styled
def calibration(model: Any, texts: list[str], responses: ArrayLike, n_bins: int = 10, ax: Axes | None = None) -> Figure:
    """Draw mean response against mean prediction, in bins of equal size, with 95% intervals of the mean.

    Use texts that were not trained on: a model fits its training texts better than others.
    """
    table = evaluate.calibration_table(responses, model.predictions(texts).mean, n_bins)
    ax = axes(ax, 2.8)
    x, y = table["predicted"], table["observed"]
    ends = [min(x.min(), y.min()), max(x.max(), y.max())]
    ax.plot(ends, ends, color=NEUTRAL, linewidth=0.8, linestyle="--", label="perfect")
    error = 1.96 * table["standard_error"].fillna(0)
    ax.errorbar(x, y, error, fmt="o", color=POSITIVE, capsize=2, linewidth=0.9, label="observed, 95% interval")
    ax.set(xlabel="expected response", ylabel="mean response")
    ax.set_aspect("equal", adjustable="datalim")
    ax.legend(loc="upper left")
    return figure_of(ax)


@styled
def response_distribution(source: Any, ax: Axes | None = None) -> Figure:
    """Draw the distribution of responses, which are those a model was trained on, or an array.

    Whole numbers have a bar each, other responses are binned; missing ones are excluded.
    """
    responses = source.training_responses if hasattr(source, "training_responses") else source
    values = np.asarray(responses, dtype=float)
    values = values[~np.isnan(values)]
    if not values.size:
        raise InputError("no response to show: none was given, or all are missing")
    ax = axes(ax, 2.0)
    width = values.max() - values.min()
    if np.array_equal(values, np.round(values)) and width < MOST_LEVELS:
        levels = np.arange(values.min(), values.max() + 1)
        edges, gap = np.append(levels, levels[-1] + 1) - 0.5, 0.85
        ax.set_xticks(levels)
    else:
        edges, gap = np.histogram_bin_edges(values, bins="auto"), 1.0
    counts, _ = np.histogram(values, edges)
    ax.bar((edges[:-1] + edges[1:]) / 2, counts / values.size, width=gap * np.diff(edges), color=POSITIVE)
    as_percent(ax.yaxis)
    ax.set(xlabel="response", ylabel=f"share of {values.size:,} texts")
    return figure_of(ax)


@styled
def word_cloud(model: Any, theme: Theme | None = None, n: int = 60, ax: Axes | None = None) -> Figure:
    """Draw terms in sizes that depend on their share, the same picture every time.

    For one topic: its terms, in its colour, darkened if too light for white paper. For all: the most frequent terms,
    blue if the topics that use them raise the response and orange if they lower it.
    """
    check_number("n", n, least=1, whole=True)
    table, profiles, sizes = _profiles(model)
    if theme is None:
        effect = (table["prevalence"] * table["effect"]).to_numpy() @ profiles
        colors = np.where(effect > NOTHING, POSITIVE, np.where(effect < -NOTHING, NEGATIVE, NEUTRAL))
    else:
        k = theme_number(theme, table["label"].tolist())
        sizes = profiles[k]
        colors = np.full(len(sizes), readable(topic_colors(k + 1)[k]))
    best = [j for j in np.argsort(-sizes, kind="stable")[:n] if sizes[j] > 0]
    if not best:
        raise InputError(f"topic {theme!r} has no terms: it died in training")
    ax = axes(ax, PAGE_HEIGHT + 0.2)
    draw_cloud(ax, model.terms_[best].tolist(), sizes[best], colors[best].tolist())
    if theme is None:
        for x, side, color, key in ((0, "left", POSITIVE, "+ raises"), (1, "right", NEGATIVE, "− lowers")):
            ax.text(x, -0.02, f"{key} the response", color=color, ha=side, va="top", transform=ax.transAxes)
    else:
        ax.set_title(plain(table.loc[k, "label"], LIST_LABEL), loc="left")
    return figure_of(ax)


@styled
def skill_path(result: pd.DataFrame, x: str = "x", ax: Axes | None = None) -> Figure:
    """Draw skill against a varied setting, one line per method.

    Parameters
    ----------
    result : one row per point: column `x`, skill, and for several methods, method. With columns lower and upper
        there is a band around each line.
    x : column of the varied setting, such as "n_themes"; it labels the axis.
    """
    missing = [name for name in (x, "skill") if name not in result.columns]
    if missing:
        raise InputError(f"column {missing[0]!r} is missing; there are {', '.join(map(repr, result.columns))}")
    ax = axes(ax, 2.4)
    groups = list(result.groupby("method", sort=False)) if "method" in result.columns else [("", result)]
    for k, (method, points) in enumerate(groups):
        points = points.sort_values(x)
        color, marker = topic_colors(k + 1)[k], MARKERS[k % len(MARKERS)]
        ax.plot(points[x], points["skill"], color=color, marker=marker, label=plain(str(method), LIST_LABEL))
        if {"lower", "upper"} <= set(result.columns):
            ax.fill_between(points[x], points["lower"], points["upper"], color=color, alpha=0.18, linewidth=0)
    if pd.api.types.is_integer_dtype(result[x]):
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel=plain(x.replace("n_", "number of ").replace("_", " "), LIST_LABEL), ylabel="skill")
    if len(groups) > 1:
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return figure_of(ax)


def _list_axes(ax: Axes | None, labels: Sequence[str] | pd.Series, above: float = 0, most: int = LIST_LABEL) -> Axes:
    """Axes of a list, the first on top; above : inches for what stands above it, most : characters of a label."""
    ax = axes(ax, AROUND + LINE * len(labels) + above)
    ax.set_yticks(np.arange(len(labels)), [plain(label, most) for label in labels])
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    return ax


def _topic_bars(table: pd.DataFrame, column: str, xlabel: str, ax: Axes | None) -> Axes:
    """Draw one labelled bar per topic, the largest on top."""
    table = table.sort_values(column, ascending=False, kind="stable")
    ax = _list_axes(ax, table["label"])
    colors = np.array(topic_colors(len(table)))[table.index]
    ax.barh(np.arange(len(table)), table[column], color=colors, height=0.75)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.set_xlabel(xlabel)
    return ax


def _topics(model: Any, n_terms: int = 10) -> pd.DataFrame:
    """Return topics with effect, prevalence and unit of effect; for themes, gain less cost and share of the text."""
    if hasattr(model, "topics"):
        return model.topics(n_terms).assign(unit="effect on the linear predictor")
    table = model.themes(n_terms)
    effect, unit = table["gain"] - table["cost"], "gain less cost, in the response"
    return table.assign(effect=effect, prevalence=table["share"], unit=unit)


def _profiles(model: Any, n_terms: int = 10) -> tuple[pd.DataFrame, NDArray[np.float64], NDArray[np.float64]]:
    """Topics by number, (topics, terms) shares of terms in each, none if it died, and (terms,) in all text."""
    table = _topics(model, n_terms).sort_index()
    topics = model.components_.astype(float)
    mass = topics.sum(axis=1, keepdims=True)
    profiles = topics / np.where(mass > 0, mass, 1)
    return table, profiles, table["prevalence"].to_numpy() @ profiles


@styled
def search(found: Search) -> Figure:
    """Draw every measure of a search over the number of topics, with standard errors, and the recommended number.

    A panel for each measure, with bars of one standard error; a line for each supervision.
    """
    number = f"n_{found.noun}s"
    table, recommended = found.table, found.recommended[number]
    by = list(table.groupby("supervision")) if "supervision" in table else [(0, table)]
    figure = ShownFigure(figsize=(2 * COLUMN_WIDTH, 3.6), dpi=200, layout="constrained")
    panels = figure.subplots(2, 2, sharex=True)
    panels[0, 0].set_title(f"recommended: {recommended}", loc="left")
    for panel, (measure, name) in zip(panels.flat, SHOWN.items(), strict=True):
        for (supervision, rows), color in zip(by, topic_colors(len(by)), strict=True):
            look = {"fmt": "o-", "color": color, "label": f"{supervision:g}", "elinewidth": 0.6}
            panel.errorbar(rows[number], rows[measure], rows[f"{measure}_se"], **look)
        panel.axvline(recommended, color=NEUTRAL, linewidth=0.8, linestyle="--")
        panel.set_ylabel(name)
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    for panel in panels[1]:
        panel.set_xlabel(f"number of {found.noun}s")
    if len(by) > 1:
        panels[0, 1].legend(title="supervision")
    return figure


@styled
def intervals(effects: EffectTable, quantity: str = "cost", ax: Axes | None = None) -> Figure:
    """Draw estimates of one quantity of `estimate_effects`, such as "cost", with intervals, the largest on top."""
    rows = effects.of(quantity)
    names = rows["label"] if "group" not in rows else rows["group"].astype(str) + ": " + rows["label"]
    places = np.arange(len(rows))[::-1]
    ax = axes(ax, 0.6 + 0.22 * len(rows))
    ax.axvline(0, color=NEUTRAL, linewidth=0.6)
    ax.hlines(places, rows["low"], rows["high"], color=POSITIVE, linewidth=1.0)
    ax.plot(rows["estimate"], places, "o", color=POSITIVE)
    ax.set_yticks(places, names)
    ax.set_xlabel(f"{quantity}, {effects.level:.0%} intervals")
    return figure_of(ax)
