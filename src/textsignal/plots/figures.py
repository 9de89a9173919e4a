"""Figures for papers: one column wide, readable there, safe for colour-blind readers.

Every function draws into `ax` where it is given and into a new figure otherwise, and returns the figure. None of them
touches pyplot's state. A topic has the same colour in all figures. Fonts are those of matplotlib's settings: for
scripts that its own font lacks, set `matplotlib.rcParams["font.family"]`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from textsignal.checks import check_number
from textsignal.errors import InputError
from textsignal.evaluation import metrics as evaluate
from textsignal.insight.revise import Topic, topic_number
from textsignal.model import TextResponseModel
from textsignal.plots.canvas import COLUMN_WIDTH, as_percent, axes, figure_of, place_labels, plain, styled
from textsignal.plots.cloud import PAGE_HEIGHT, draw_cloud
from textsignal.plots.palette import NEGATIVE, NEUTRAL, POSITIVE, readable, topic_colors

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
def effects(model: TextResponseModel, ax: Axes | None = None) -> Figure:
    """Effect of every topic on the linear predictor, against the average text; of a theme, its worth less its lift.

    Examples
    --------
    >>> import textsignal as ts
    >>> reviews = ts.datasets.synthetic_reviews(300, seed=1)
    >>> model = ts.TextResponseModel(n_topics=5).fit(reviews.texts, reviews.ratings)
    >>> figure = ts.plots.effects(model)
    >>> [float(inches) for inches in figure.get_size_inches().round(2)]
    [3.4, 1.45]
    """
    table = _topics(model).sort_values("effect", ascending=False, kind="stable")
    ax = axes(ax, _list_height(len(table)))
    _bars(ax, table, "effect")
    ax.axvline(0, color="black", linewidth=0.6)
    ax.set_xlabel(_effect_name(model))
    return figure_of(ax)


@styled
def drivers(model: TextResponseModel, ax: Axes | None = None) -> Figure:
    """What every topic is worth (to the right) and what it costs (lift, to the left), the largest lift on top.

    These are what-ifs on the fitted model, not causal claims; see `TextResponseModel.drivers`.

    Examples
    --------
    >>> import textsignal as ts
    >>> reviews = ts.datasets.synthetic_reviews(300, seed=1)
    >>> model = ts.TextResponseModel(n_topics=5).fit(reviews.texts, reviews.ratings)
    >>> len(ts.plots.drivers(model).axes[0].patches)
    10
    """
    table = model.drivers()
    ax = axes(ax, _list_height(len(table)) + 0.2)
    places = np.arange(len(table))
    ax.barh(places, -table["lift"], color=NEGATIVE, height=0.75, label="costs (lift)")
    ax.barh(places, table["worth"], color=POSITIVE, height=0.75, label="is worth")
    ax.axvline(0, color="black", linewidth=0.6)
    _name_rows(ax, table)
    ax.set_xlabel("mean response, a what-if on the model")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    return figure_of(ax)


@styled
def prevalence(model: TextResponseModel, ax: Axes | None = None) -> Figure:
    """Share of all text in every topic, largest first.

    Examples
    --------
    >>> import textsignal as ts
    >>> reviews = ts.datasets.synthetic_reviews(300, seed=1)
    >>> model = ts.TextResponseModel(n_topics=5).fit(reviews.texts, reviews.ratings)
    >>> len(ts.plots.prevalence(model).axes[0].patches)
    5
    """
    table = _topics(model).sort_values("prevalence", ascending=False, kind="stable")
    ax = axes(ax, _list_height(len(table)))
    _bars(ax, table, "prevalence")
    as_percent(ax.xaxis)
    ax.set_xlabel("prevalence (share of all text)")
    return figure_of(ax)


@styled
def effect_map(model: TextResponseModel, ax: Axes | None = None) -> Figure:
    """Effect and prevalence of every topic, a point each.

    Labels never overlap: strong and prevalent topics are named first, and those left without room stay points.

    Examples
    --------
    >>> import textsignal as ts
    >>> reviews = ts.datasets.synthetic_reviews(300, seed=1)
    >>> model = ts.TextResponseModel(n_topics=5).fit(reviews.texts, reviews.ratings)
    >>> ts.plots.effect_map(model).axes[0].get_ylabel()
    'prevalence (share of all text)'
    """
    table = _topics(model)
    ax = axes(ax, 2.8)
    colors = np.array(topic_colors(len(table)))[table["topic"]]
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
def terms(model: TextResponseModel, topic: Topic, n: int = 12, ax: Axes | None = None) -> Figure:
    """Most relevant terms of a topic: their share of the topic, beside their share of all text.

    Parameters
    ----------
    model : a fitted model.
    topic : number or label.
    n : terms to show.
    ax : axes to draw into.

    Examples
    --------
    >>> import textsignal as ts
    >>> reviews = ts.datasets.synthetic_reviews(300, seed=1)
    >>> model = ts.TextResponseModel(n_topics=5).fit(reviews.texts, reviews.ratings)
    >>> len(ts.plots.terms(model, 0, n=6).axes[0].get_yticks())
    6
    """
    table = _topics(model, n).set_index("topic").sort_index()
    k = topic_number(topic, table["label"].tolist())
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
    ax.set_xlabel("share of topic (wide), of all text (black)")
    ax.set_title(plain(table.loc[k, "label"], LIST_LABEL), loc="left")
    return figure_of(ax)


@styled
def calibration(
    model: TextResponseModel, texts: list[str], responses: ArrayLike, n_bins: int = 10, ax: Axes | None = None
) -> Figure:
    """Mean response against mean prediction, in bins of as many texts each, with 95% intervals of the mean.

    Give texts that were not trained on: a model fits its training texts better than others.

    Examples
    --------
    >>> import textsignal as ts
    >>> reviews = ts.datasets.synthetic_reviews(400, seed=1)
    >>> model = ts.TextResponseModel(n_topics=5).fit(reviews.texts[:300], reviews.ratings[:300])
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
def response_distribution(source: TextResponseModel | ArrayLike, ax: Axes | None = None) -> Figure:
    """How responses are distributed: those a model was trained on, or an array of them.

    Whole numbers have a bar each, other responses are binned; missing ones are left out.

    Examples
    --------
    >>> import textsignal as ts
    >>> figure = ts.plots.response_distribution([1, 2, 2, 5, float("nan")])
    >>> [round(float(bar.get_height()), 2) for bar in figure.axes[0].patches]
    [0.25, 0.5, 0.0, 0.0, 0.25]
    """
    responses = source.training_observed().responses if isinstance(source, TextResponseModel) else source
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
def word_cloud(model: TextResponseModel, topic: Topic | None = None, n: int = 60, ax: Axes | None = None) -> Figure:
    """Terms in sizes that go by their share.

    Of one topic: its terms, in its colour, darker where white paper would swallow it. Of all: the most frequent terms,
    blue where the topics that use them raise the response and orange where they lower it. The same model gives the same
    picture.

    Examples
    --------
    >>> import textsignal as ts
    >>> reviews = ts.datasets.synthetic_reviews(300, seed=1)
    >>> model = ts.TextResponseModel(n_topics=5).fit(reviews.texts, reviews.ratings)
    >>> len(ts.plots.word_cloud(model, 0).axes[0].images)
    1
    """
    check_number("n", n, least=1, whole=True)
    table = _topics(model).set_index("topic").sort_index()
    profiles, shares = _profiles(model), table["prevalence"].to_numpy()
    overall = shares @ profiles
    if topic is None:
        sizes = overall
        effect = (shares * table["effect"].to_numpy()) @ profiles
        colors = np.where(effect > NOTHING, POSITIVE, np.where(effect < -NOTHING, NEGATIVE, NEUTRAL))
    else:
        k = topic_number(topic, table["label"].tolist())
        sizes = profiles[k]
        colors = np.full(len(sizes), readable(topic_colors(k + 1)[k]))
    best = [j for j in np.argsort(-sizes, kind="stable")[:n] if sizes[j] > 0]
    if not best:
        raise InputError(f"topic {topic!r} has no terms: it died in training")
    ax = axes(ax, PAGE_HEIGHT + 0.2)
    draw_cloud(ax, model.terms_[best].tolist(), sizes[best], colors[best].tolist())
    if topic is None:
        for x, side, color, key in ((0, "left", POSITIVE, "+ raises"), (1, "right", NEGATIVE, "− lowers")):
            ax.text(x, -0.02, f"{key} the response", color=color, ha=side, va="top", transform=ax.transAxes)
    else:
        ax.set_title(plain(table.loc[k, "label"], LIST_LABEL), loc="left")
    return figure_of(ax)


@styled
def skill_path(result: pd.DataFrame, x: str = "x", ax: Axes | None = None) -> Figure:
    """Skill along something that was varied, one line per method.

    Parameters
    ----------
    result : one row per point: column `x`, skill, and where there are several, method. With columns lower and upper
        there is a band around each line.
    x : column of what was varied, such as "n_topics"; it names the axis.
    ax : axes to draw into.

    Examples
    --------
    >>> import textsignal as ts
    >>> result = pd.DataFrame({"n_topics": [5, 10, 5, 10], "skill": [0.5, 0.6, 0.4, 0.5], "method": list("aabb")})
    >>> len(ts.plots.skill_path(result, x="n_topics").axes[0].lines)
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
    """One bar per topic, the first on top, with its label beside it."""
    colors = np.array(topic_colors(len(table)))[table["topic"]]
    ax.barh(np.arange(len(table)), table[column], color=colors, height=0.75)
    _name_rows(ax, table)


def _name_rows(ax: Axes, table: pd.DataFrame) -> None:
    """Labels of topics beside their bars, the first on top."""
    places = np.arange(len(table))
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.set_yticks(places, [plain(label, LIST_LABEL) for label in table["label"]])
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def _topics(model: TextResponseModel, n_terms: int = 10) -> pd.DataFrame:
    """Topics with effect and prevalence; a theme's are its worth less its lift, and its share of the text."""
    table = model.topics(n_terms)
    if "effect" in table:
        return table
    return table.assign(effect=table["worth"] - table["lift"], prevalence=table["share"])


def _effect_name(model: TextResponseModel) -> str:
    return "effect on the linear predictor" if "effect" in model.topics() else "worth less lift, in the response"


def _profiles(model: TextResponseModel) -> NDArray[np.float64]:
    """(topics, terms) shares of terms in each topic; a topic that died has none."""
    topics = model.components_.astype(float)
    mass = topics.sum(axis=1, keepdims=True)
    return topics / np.where(mass > 0, mass, 1)
