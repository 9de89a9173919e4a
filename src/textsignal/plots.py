"""Figures for papers: one column wide, readable there, safe for colour-blind readers.

Every function draws into `ax` if given and into a new figure otherwise, and returns the figure. None of them
touches pyplot's state. A theme has the same colour in all figures. Fonts are those of matplotlib's settings: for
scripts that its own font lacks, set `matplotlib.rcParams["font.family"]`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import wraps
from io import BytesIO
from typing import Any, ParamSpec, TypeVar

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import Bbox
from numpy.typing import ArrayLike, NDArray
from wordcloud import WordCloud

from textsignal.checks import check_number
from textsignal.errors import InputError
from textsignal.evaluation import metrics as evaluate
from textsignal.insight.revise import Theme, theme_number
from textsignal.palette import NEGATIVE, NEUTRAL, POSITIVE, readable, topic_colors
from textsignal.uncertainty.effect_table import EffectTable
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
BESIDE = 6


P = ParamSpec("P")
R = TypeVar("R")


class ShownFigure(Figure):
    """A figure that notebooks show, with or without pyplot."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Draw in the style of textsignal, without changing the user's settings."""

    @wraps(draw)
    def drawn(*args: P.args, **options: P.kwargs) -> R:
        with mpl.rc_context(STYLE):
            return draw(*args, **options)

    return drawn


def axes(ax: Axes | None, height: float) -> Axes:
    """Return the axes, or new ones in a figure of one column's width and this height, in inches."""
    if ax is not None:
        return ax
    return ShownFigure(figsize=(COLUMN_WIDTH, height), dpi=200, layout="constrained").add_subplot()


def figure_of(ax: Axes) -> Figure:
    """Return the figure of axes."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def drawable(text: str) -> str:
    """Spell out symbols that no installed font can draw, such as emoji, by name.

    Examples
    --------
    >>> drawable("caf\u00e9 \N{WORLD MAP}")
    'caf\u00e9 [world map]'
    """
    fonts = [get_font(findfont(FontProperties(family=[family]))) for family in mpl.rcParams["font.family"]]
    unknown = {c for c in text if unicodedata.category(c) == "So" and not any(f.get_char_index(ord(c)) for f in fonts)}
    return "".join(f"[{unicodedata.name(c, 'symbol').lower()}]" if c in unknown else c for c in text)


def plain(label: str, most: int) -> str:
    """Shorten a label to one line, cut between words, with dollar signs escaped.

    Examples
    --------
    >>> plain("great, excellent, comfortable", 20)
    'great, excellent…'
    """
    line = " ".join(drawable(label).split())
    if len(line) > most:
        cut = line[: most - 1]
        at_word = cut.rsplit(" ", 1)[0]
        line = (at_word if len(at_word) > most / 2 else cut).rstrip(" ,") + "…"
    return line.replace("$", r"\$")


def as_percent(axis: Axis) -> None:
    """Show shares as percentages, without more digits than they need."""
    axis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.4g}%"))


def place_labels(ax: Axes, places: NDArray[np.float64], labels: Sequence[str]) -> None:
    """Label points at `places` (points, 2), in data units, in order and only if there is room."""
    figure = figure_of(ax)
    figure.draw_without_rendering()  # the layout settles, so that sizes on the page are known
    points = figure.dpi / 72
    centres = ax.transData.transform(places)
    taken = [Bbox.from_bounds(x - 3 * points, y - 3 * points, 6 * points, 6 * points) for x, y in centres]
    for (x, y), label in zip(centres, labels, strict=True):
        text = ax.annotate(label, (0, 0), xycoords="figure pixels", fontsize=6, va="bottom", in_layout=False)
        size = text.get_window_extent()
        text.remove()
        boxes = _boxes(x, y, size.width, size.height, points)
        box = next((box for box in boxes if _free(box, ax.get_window_extent(), taken)), None)
        if box is not None:
            taken.append(box)
            _write(ax, label, box, (x, y))


def _write(ax: Axes, label: str, box: Bbox, point: tuple[float, float]) -> None:
    """Put a label into its box, in pixels, with a thin line to its point unless that is adjacent."""
    to_data = ax.transData.inverted()
    left, bottom = to_data.transform(box.p0)
    halo = [withStroke(linewidth=1.5, foreground="white")]
    ax.text(left, bottom, label, fontsize=6, va="bottom", in_layout=False, path_effects=halo)
    near = np.clip(point, box.p0, box.p1)
    if np.hypot(*(near - point)) <= BESIDE * figure_of(ax).dpi / 72:
        return
    (x0, y0), (x1, y1) = to_data.transform(np.array([point, near]))
    ax.plot([x0, x1], [y0, y1], color="#999999", linewidth=0.4, zorder=2, scalex=False, scaley=False)


def _boxes(x: float, y: float, width: float, height: float, points: float) -> list[Bbox]:
    """Return positions of a label of this size around (x, y), in pixels, best first."""
    found = []
    for distance in DISTANCES:
        for right, up in DIRECTIONS:
            away = distance * points
            left = x + right * away - (1 - right) / 2 * width
            bottom = y + up * away - (1 - up) / 2 * height
            found.append(Bbox.from_bounds(left, bottom, width, height))
    return found


def _free(box: Bbox, frame: Bbox, taken: list[Bbox]) -> bool:
    inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
    return inside and not any(box.overlaps(other) for other in taken)


#: A cloud's size in pixels, and of its largest word.
CLOUD_WIDTH, CLOUD_HEIGHT, LARGEST_WORD = 1360, 840, 190
#: Its height on a page of one column's width, in inches.
PAGE_HEIGHT = COLUMN_WIDTH * CLOUD_HEIGHT / CLOUD_WIDTH


def draw_cloud(ax: Axes, words: Sequence[str], sizes: Sequence[float] | NDArray, colors: Sequence[str]) -> None:
    """Draw words, each in its colour and in a size that depends on its number. The result is deterministic.

    Parameters
    ----------
    ax : axes to draw into.
    words, sizes, colors : (words,) each; sizes are positive, and the largest come first.

    Examples
    --------
    >>> from textsignal.plots import axes
    >>> ax = axes(None, PAGE_HEIGHT)
    >>> draw_cloud(ax, ["room", "view"], [2, 1], ["#0072B2", "#D55E00"])
    >>> len(ax.images)
    1
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


__all__ = [
    "COLUMN_WIDTH",
    "calibration",
    "drivers",
    "effect_map",
    "effects",
    "prevalence",
    "response_distribution",
    "skill_path",
    "terms",
    "topic_colors",
    "word_cloud",
]

#: Height of one line of a list, and of all else around a list, in inches.
LINE, AROUND = 0.17, 0.6
#: Longest label in a list, in a map, and of a term, in characters.
LIST_LABEL, MAP_LABEL, TERM_LABEL = 30, 24, 20
#: Levels up to this number get a bar each; more are binned.
MOST_LEVELS = 25
#: Effects below this are rounding.
NOTHING = 1e-12
MARKERS = "osD^vPX"


@styled
def effects(model: Any, ax: Axes | None = None) -> Figure:
    """Draw the effect of every theme on the linear predictor, against the average text; of a theme, worth less cost.

    Examples
    --------
    >>> import textsignal as ts
    >>> reviews = ts.datasets.synthetic_reviews(300, seed=1)
    >>> model = ts.TextResponseModel(n_themes=5).fit(reviews.texts, reviews.ratings)
    >>> figure = ts.plots.effects(model)
    >>> [float(inches) for inches in figure.get_size_inches().round(2)]
    [3.4, 1.45]
    """
    table = _themes(model).sort_values("effect", ascending=False, kind="stable")
    ax = axes(ax, _list_height(len(table)))
    _bars(ax, table, "effect")
    ax.axvline(0, color="black", linewidth=0.6)
    ax.set_xlabel(_effect_name(model))
    return figure_of(ax)


@styled
def drivers(model: Any, ax: Axes | None = None) -> Figure:
    """Draw worth (to the right) and cost (to the left) of every theme, the largest cost on top.

    These are what-ifs on the fitted model, not causal claims; see `TextResponseModel.drivers`.

    Examples
    --------
    >>> import textsignal as ts
    >>> reviews = ts.datasets.synthetic_reviews(300, seed=1)
    >>> model = ts.TextResponseModel(n_themes=5).fit(reviews.texts, reviews.ratings)
    >>> len(ts.plots.drivers(model).axes[0].patches)
    10
    """
    table = model.drivers()
    ax = axes(ax, _list_height(len(table)) + 0.2)
    places = np.arange(len(table))
    ax.barh(places, -table["cost"], color=NEGATIVE, height=0.75, label="costs (cost)")
    ax.barh(places, table["gain"], color=POSITIVE, height=0.75, label="is worth")
    ax.axvline(0, color="black", linewidth=0.6)
    _name_rows(ax, table)
    ax.set_xlabel("mean response, a what-if on the model")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return figure_of(ax)


@styled
def prevalence(model: Any, ax: Axes | None = None) -> Figure:
    """Draw the share of all text in every theme, largest first.

    Examples
    --------
    >>> import textsignal as ts
    >>> reviews = ts.datasets.synthetic_reviews(300, seed=1)
    >>> model = ts.TextResponseModel(n_themes=5).fit(reviews.texts, reviews.ratings)
    >>> len(ts.plots.prevalence(model).axes[0].patches)
    5
    """
    table = _themes(model).sort_values("prevalence", ascending=False, kind="stable")
    ax = axes(ax, _list_height(len(table)))
    _bars(ax, table, "prevalence")
    as_percent(ax.xaxis)
    ax.set_xlabel("prevalence (share of all text)")
    return figure_of(ax)


@styled
def effect_map(model: Any, ax: Axes | None = None) -> Figure:
    """Draw effect and prevalence of every theme, as a point each.

    Labels never overlap: strong and prevalent themes are labelled first, and those without room stay points.

    Examples
    --------
    >>> import textsignal as ts
    >>> reviews = ts.datasets.synthetic_reviews(300, seed=1)
    >>> model = ts.TextResponseModel(n_themes=5).fit(reviews.texts, reviews.ratings)
    >>> ts.plots.effect_map(model).axes[0].get_ylabel()
    'prevalence (share of all text)'
    """
    table = _themes(model)
    ax = axes(ax, 2.8)
    colors = np.array(topic_colors(len(table)))[table["theme"]]
    ax.axvline(0, color="#bbbbbb", linewidth=0.6, zorder=1)
    ax.scatter(table["effect"], table["prevalence"], c=colors, s=22, zorder=3)
    ax.margins(0.2, 0.15)
    as_percent(ax.yaxis)
    ax.set_xlabel(_effect_name(model))
    ax.set_ylabel("prevalence (share of all text)")
    importance = table["effect"].abs() * table["prevalence"]
    first = table.loc[importance.sort_values(ascending=False, kind="stable").index]
    place_labels(ax, first[["effect", "prevalence"]].to_numpy(), [plain(label, MAP_LABEL) for label in first["label"]])
    return figure_of(ax)


@styled
def terms(model: Any, theme: Theme, n: int = 12, ax: Axes | None = None) -> Figure:
    """Draw the most relevant terms of a theme, with their shares of the theme and of all text.

    Parameters
    ----------
    model : a fitted model.
    theme : number or label.
    n : terms to show.
    ax : axes to draw into.

    Examples
    --------
    >>> import textsignal as ts
    >>> reviews = ts.datasets.synthetic_reviews(300, seed=1)
    >>> model = ts.TextResponseModel(n_themes=5).fit(reviews.texts, reviews.ratings)
    >>> len(ts.plots.terms(model, 0, n=6).axes[0].get_yticks())
    6
    """
    table = _themes(model, n).set_index("theme").sort_index()
    k = theme_number(theme, table["label"].tolist())
    listed = table.loc[k, "terms"]
    numbers = {term: j for j, term in enumerate(model.terms_)}
    columns = [numbers[term] for term in listed]
    profiles = _profiles(model)
    overall = table["prevalence"].to_numpy() @ profiles
    ax = axes(ax, _list_height(len(listed)) + 0.2)
    places = np.arange(len(listed))
    ax.barh(places, profiles[k, columns], color=topic_colors(k + 1)[k], height=0.75)
    ax.barh(places, overall[columns], color="black", height=0.25)
    ax.set_yticks(places, [plain(term, TERM_LABEL) for term in listed])
    ax.set_ylim(len(listed) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    as_percent(ax.xaxis)
    ax.set_xlabel("share of theme (wide), of all text (black)")
    ax.set_title(plain(table.loc[k, "label"], LIST_LABEL), loc="left")
    return figure_of(ax)


@styled
def calibration(model: Any, texts: list[str], responses: ArrayLike, n_bins: int = 10, ax: Axes | None = None) -> Figure:
    """Draw mean response against mean prediction, in bins of equal size, with 95% intervals of the mean.

    Use texts that were not trained on: a model fits its training texts better than others.

    Examples
    --------
    >>> import textsignal as ts
    >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
    >>> model = ts.TextResponseModel(n_themes=5).fit(reviews.texts[:300], reviews.ratings[:300])
    >>> figure = ts.plots.calibration(model, reviews.texts[300:], reviews.ratings[300:], n_bins=5)
    >>> figure.axes[0].get_xlabel()
    'expected response'
    """
    table = evaluate.calibration_table(responses, model.predictions(texts).mean, n_bins)
    ax = axes(ax, 2.8)
    ends = [table[["predicted", "observed"]].min().min(), table[["predicted", "observed"]].max().max()]
    ax.plot(ends, ends, color=NEUTRAL, linewidth=0.8, linestyle="--", label="perfect")
    error = 1.96 * table["standard_error"].fillna(0)
    ax.errorbar(
        table["predicted"],
        table["observed"],
        error,
        fmt="o",
        color=POSITIVE,
        capsize=2,
        linewidth=0.9,
        label="observed, 95% interval",
    )
    ax.set_xlabel("expected response")
    ax.set_ylabel("mean response")
    ax.set_aspect("equal", adjustable="datalim")
    ax.legend(loc="upper left")
    return figure_of(ax)


@styled
def response_distribution(source: Any, ax: Axes | None = None) -> Figure:
    """Draw the distribution of responses: those a model was trained on, or an array.

    Whole numbers have a bar each, other responses are binned; missing ones are excluded.

    Examples
    --------
    >>> import textsignal as ts
    >>> figure = ts.plots.response_distribution([1, 2, 2, 5, float("nan")])
    >>> [round(float(bar.get_height()), 2) for bar in figure.axes[0].patches]
    [0.25, 0.5, 0.0, 0.0, 0.25]
    """
    responses = source.training_observed().responses if hasattr(source, "training_observed") else source
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
    ax.set_xlabel("response")
    ax.set_ylabel(f"share of {values.size:,} texts")
    return figure_of(ax)


@styled
def word_cloud(model: Any, theme: Theme | None = None, n: int = 60, ax: Axes | None = None) -> Figure:
    """Draw terms in sizes that depend on their share.

    For one theme: its terms, in its colour, darkened if too light for white paper. For all: the most frequent terms,
    blue if the themes that use them raise the response and orange if they lower it. The picture is deterministic.

    Examples
    --------
    >>> import textsignal as ts
    >>> reviews = ts.datasets.synthetic_reviews(300, seed=1)
    >>> model = ts.TextResponseModel(n_themes=5).fit(reviews.texts, reviews.ratings)
    >>> len(ts.plots.word_cloud(model, 0).axes[0].images)
    1
    """
    check_number("n", n, least=1, whole=True)
    table = _themes(model).set_index("theme").sort_index()
    profiles, shares = _profiles(model), table["prevalence"].to_numpy()
    overall = shares @ profiles
    if theme is None:
        sizes = overall
        effect = (shares * table["effect"].to_numpy()) @ profiles
        colors = np.where(effect > NOTHING, POSITIVE, np.where(effect < -NOTHING, NEGATIVE, NEUTRAL))
    else:
        k = theme_number(theme, table["label"].tolist())
        sizes = profiles[k]
        colors = np.full(len(sizes), readable(topic_colors(k + 1)[k]))
    best = [j for j in np.argsort(-sizes, kind="stable")[:n] if sizes[j] > 0]
    if not best:
        raise InputError(f"theme {theme!r} has no terms: it died in training")
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
    ax : axes to draw into.

    Examples
    --------
    >>> import textsignal as ts
    >>> result = pd.DataFrame({"n_themes": [5, 10, 5, 10], "skill": [0.5, 0.6, 0.4, 0.5], "method": list("aabb")})
    >>> len(ts.plots.skill_path(result, x="n_themes").axes[0].lines)
    2
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
    ax.set_xlabel(plain(x.replace("n_", "number of ").replace("_", " "), LIST_LABEL))
    ax.set_ylabel("skill")
    if len(groups) > 1:
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return figure_of(ax)


def _list_height(n_lines: int) -> float:
    return AROUND + LINE * n_lines


def _bars(ax: Axes, table: pd.DataFrame, column: str) -> None:
    """Draw one labelled bar per theme, the first on top."""
    colors = np.array(topic_colors(len(table)))[table["theme"]]
    ax.barh(np.arange(len(table)), table[column], color=colors, height=0.75)
    _name_rows(ax, table)


def _name_rows(ax: Axes, table: pd.DataFrame) -> None:
    """Label the bars of themes, the first on top."""
    places = np.arange(len(table))
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.set_yticks(places, [plain(label, LIST_LABEL) for label in table["label"]])
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def _themes(model: Any, n_terms: int = 10) -> pd.DataFrame:
    """Themes with effect and prevalence; a theme's are its worth less its cost, and its share of the text."""
    table = model.themes(n_terms)
    if "effect" in table:
        return table
    return table.assign(effect=table["gain"] - table["cost"], prevalence=table["share"])


def _effect_name(model: Any) -> str:
    return "effect on the linear predictor" if "effect" in model.themes() else "worth less cost, in the response"


def _profiles(model: Any) -> NDArray[np.float64]:
    """(themes, terms) shares of terms in each theme; a theme that died has none."""
    themes = model.components_.astype(float)
    mass = themes.sum(axis=1, keepdims=True)
    return themes / np.where(mass > 0, mass, 1)


#: Measures that are drawn, with the labels of their axes.
SHOWN = {
    "r2": "held-out R2",
    "stability": "stability (cosine)",
    "coherence": "coherence (NPMI)",
    "exclusivity": "exclusivity",
}


@styled
def search(found: Search) -> Figure:
    """Draw every measure of a search over the number of themes, with standard errors, and the recommended number.

    A panel for each measure, with bars of one standard error; a line for each supervision.
    """
    table, recommended = found.table, found.recommended["n_themes"]
    figure = ShownFigure(figsize=(2 * COLUMN_WIDTH, 3.6), dpi=200, layout="constrained")
    panels = figure.subplots(2, 2, sharex=True)
    by = [(None, table)] if "supervision" not in table else list(table.groupby("supervision"))
    for panel, (measure, name) in zip(panels.flat, SHOWN.items(), strict=True):
        for (supervision, rows), color in zip(by, topic_colors(len(by)), strict=True):
            label = None if supervision is None else f"{supervision:g}"
            errors = rows[f"{measure}_se"]
            panel.errorbar(rows["n_themes"], rows[measure], errors, fmt="o-", color=color, label=label, elinewidth=0.6)
        panel.axvline(recommended, color=NEUTRAL, linewidth=0.8, linestyle="--")
        panel.set_ylabel(name)
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    for panel in panels[1]:
        panel.set_xlabel(f"number of {found.noun}s")
    panels[0, 0].set_title(f"recommended: {recommended}", loc="left")
    if len(by) > 1:
        panels[0, 1].legend(title="supervision")
    return figure


@styled
def intervals(effects: EffectTable, quantity: str = "cost", ax: Axes | None = None) -> Figure:
    """Draw the estimates of one quantity with their intervals, the largest on top.

    Parameters
    ----------
    effects : as `estimate_effects` returns them.
    quantity : a quantity of the table, such as "cost" or "gain".
    """
    rows = effects.of(quantity)
    place = np.arange(len(rows))[::-1]
    own = axes(ax, 0.6 + 0.22 * len(rows))
    own.axvline(0, color=NEUTRAL, linewidth=0.6)
    own.hlines(place, rows["low"], rows["high"], color=POSITIVE, linewidth=1.0)
    own.plot(rows["estimate"], place, "o", color=POSITIVE)
    names = rows["label"] if "group" not in rows else rows["group"].astype(str) + ": " + rows["label"]
    own.set_yticks(place, names)
    own.set_xlabel(f"{quantity}, {effects.level:.0%} intervals")
    return figure_of(own)
