"""The charts of a report, as Altair makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import altair as alt

from textsignal.report.page.chart_style import ACCENT, INK, MUTED, QUIET, Layers, Spec, axis, rule, spec_of
from textsignal.report.values.data import Bar, Prediction, ReportData, TopicCard
from textsignal.report.values.numbers import level_ticks
from textsignal.report.values.wording import signed

#: Pixels of a topic's row.
ROW = 34
#: Characters of a label on the map.
SHORT_LABEL = 26
#: Height of the map.
MAP_HEIGHT = 440


def chart_specs(report: ReportData) -> dict[str, Spec]:
    """Name -> Vega-Lite specification, the data inside."""
    charts: dict[str, alt.Chart | Layers] = {
        "effects": effects_chart(report.topics, report.unit),
        "prevalence": prevalence_chart(report.topics),
        "map": map_chart(report),
        "responses": bars_chart(report.documents.responses, report.response_name, "share of texts", "%"),
        "lengths": lengths_chart(report.documents.lengths),
        "levels": levels_chart(report),
        "contributions": contributions_chart(),
    }
    if report.prediction is not None:
        charts |= {
            "agreement": agreement_chart(report.prediction, report),
            "reliability": reliability_chart(report.prediction),
            "pit": pit_chart(report.prediction),
        }
    return {name: spec_of(chart) for name, chart in charts.items()}


def effects_chart(topics: Sequence[TopicCard], unit: str) -> Layers:
    """Signed bars, the words for each on the other side of zero."""
    rows = [_row(topic) | _words(topic, unit) for topic in topics]
    most = 1.02 * max(abs(topic.response_effect) for topic in topics) or 1.0
    base = alt.Chart().encode(y=_topic_axis(rows))
    bars = base.mark_bar(height=18, cornerRadiusEnd=3).encode(
        x=alt.X("effect:Q", scale=alt.Scale(domain=[-most, most]), axis=axis(_per_step(unit), ticks=5)),
        color=alt.Color("color:N", scale=None),
        tooltip=_tooltip(),
    )
    layers: list[alt.Chart] = [bars]
    for positive in (True, False):
        side = base.transform_filter(f"datum.effect {'>=' if positive else '<'} 0").encode(x=alt.datum(0))
        align: Literal["left", "right"] = "right" if positive else "left"
        dx = -7 if positive else 7
        layers += [
            side.mark_text(align=align, dx=dx, dy=-6, fontWeight=600, color=INK).encode(text="words:N"),
            side.mark_text(align=align, dx=dx, dy=7, fontSize=10.5, color=MUTED).encode(text="below:N"),
        ]
    zero = rule(MUTED).encode(x=alt.datum(0))
    return alt.layer(*layers, zero, data=alt.Data(values=rows)).properties(height=ROW * len(rows))


def prevalence_chart(topics: Sequence[TopicCard]) -> Layers:
    """Bars, most common first."""
    rows = [_row(topic) for topic in sorted(topics, key=lambda topic: -topic.prevalence)]
    base = alt.Chart().encode(
        y=_topic_axis(rows),
        x=alt.X(
            "prevalence:Q",
            scale=alt.Scale(domainMin=0, domainMax=rows[0]["prevalence"] * 1.25),
            axis=axis("share of all text", "%", ticks=5),
        ),
    )
    bars = base.mark_bar(height=18, cornerRadiusEnd=3).encode(
        color=alt.Color("color:N", scale=None), tooltip=_tooltip()
    )
    words = base.mark_text(align="left", dx=6, fontWeight=600, color=INK).encode(
        text=alt.Text("prevalence:Q", format=".1%")
    )
    return alt.layer(bars, words, data=alt.Data(values=rows)).properties(height=ROW * len(rows))


def map_chart(report: ReportData) -> Layers:
    """Effect against prevalence; the last two layers are points and their names, which the page keeps apart."""
    rows = [_row(topic) | {"short": _short(topic.label)} for topic in report.topics]
    left, right = _with_room([row["prevalence"] for row in rows])
    left, right = max(left, 0.0), min(right, 1.1)
    bottom, top = _with_room([*(row["effect"] for row in rows), report.strong, -report.strong])
    x = alt.X(
        "prevalence:Q",
        scale=alt.Scale(domain=[left, right], nice=False, zero=False),
        axis=axis("share of all text", "%", grid=False, ticks=6),
    )
    y = alt.Y(
        "effect:Q",
        scale=alt.Scale(domain=[bottom, top], nice=False),
        axis=axis(_per_step(report.unit), "+.2f", grid=False),
    )
    points = alt.Chart().mark_circle(size=260, opacity=0.92, stroke="var(--paper)", strokeWidth=1.5, cursor="pointer")
    points = points.encode(x=x, y=y, color=alt.Color("color:N", scale=None), tooltip=_tooltip())
    names = alt.Chart().mark_text(fontSize=12, fontWeight=600, color=INK).encode(x=x, y=y, text="short:N")
    shares = [share for share in (report.rare, report.common) if left < share < right]
    lines = [
        rule(QUIET, dashed=True).encode(y=alt.datum(report.strong)),
        rule(QUIET, dashed=True).encode(y=alt.datum(-report.strong)),
        *(rule(QUIET, dashed=True).encode(x=alt.datum(share)) for share in shares),
        rule(MUTED).encode(y=alt.datum(0)),
    ]
    corners = [_corner(f"{_often(right, report)}{size}", right, y) for size, y in (("strong", top), ("strong", bottom))]
    corners.append(_corner(f"{_often(right, report)}neutral", right, 0.0))
    if report.rare in shares:
        corners += [_corner("rarer and strong", left, top), _corner("rarer and strong", left, bottom)]
    return alt.layer(*lines, *corners, points, names, data=alt.Data(values=rows)).properties(height=MAP_HEIGHT)


def bars_chart(bars: Sequence[Bar], name: str, what: str, number: str) -> alt.Chart:
    """One bar per level."""
    rows = [{"label": bar.label, "value": bar.value} for bar in bars]
    labels = [bar.label for bar in bars]
    return (
        alt.Chart(alt.Data(values=rows), height=190)
        .mark_bar(color=ACCENT, cornerRadiusEnd=3)
        .encode(
            x=alt.X("label:O", sort=labels, axis=axis(name, grid=False) | {"labelOverlap": True}),
            y=alt.Y("value:Q", axis=axis(what, number)),
            tooltip=[alt.Tooltip("label:N", title=name), alt.Tooltip("value:Q", title=what, format=".1%")],
        )
    )


def lengths_chart(bars: Sequence[Bar]) -> alt.Chart:
    """Histogram of text lengths."""
    rows = [{"label": bar.label, "low": bar.low, "high": bar.high, "value": bar.value} for bar in bars]
    return (
        alt.Chart(alt.Data(values=rows), height=190)
        .mark_bar(color=ACCENT)
        .encode(
            x=alt.X(
                "low:Q", bin="binned", axis=axis(f"words in a text; last bar: {bars[-1].label}", grid=False, ticks=6)
            ),
            x2="high:Q",
            y=alt.Y("value:Q", axis=axis("texts")),
            tooltip=[
                alt.Tooltip("label:N", title="length"),
                alt.Tooltip("value:Q", title="texts", format=","),
            ],
        )
    )


def agreement_chart(prediction: Prediction, report: ReportData) -> Layers:
    """Circles as large as there are documents, the line of perfect prediction, and means of tenths."""
    low, high = report.levels[0], report.levels[-1]
    ticks = level_ticks(report.levels)
    scale = alt.Scale(domain=[low - (high - low) * 0.06, high + (high - low) * 0.06], nice=False)
    cells = [{"predicted": a.predicted, "observed": a.observed, "count": a.count} for a in prediction.agreement]
    means = [{"predicted": a.predicted, "observed": a.observed, "count": a.count} for a in prediction.means]
    x = alt.X("predicted:Q", scale=scale, axis=axis(f"predicted {report.response_name}", values=ticks))
    y = alt.Y("observed:Q", scale=scale, axis=axis(f"observed {report.response_name}", values=ticks))
    dots = (
        alt.Chart(alt.Data(values=cells), height=300)
        .mark_circle(color=QUIET, opacity=1)
        .encode(x=x, y=y, size=alt.Size("count:Q", scale=alt.Scale(range=[3, 500]), legend=None), tooltip=_counts())
    )
    ends = [{"predicted": low, "observed": low}, {"predicted": high, "observed": high}]
    perfect = alt.Chart(alt.Data(values=ends)).mark_line(color=MUTED, strokeDash=[4, 4]).encode(x=x, y=y)
    line = alt.Chart(alt.Data(values=means)).encode(x=x, y=y)
    points = line.mark_circle(color=ACCENT, size=60, opacity=1).encode(tooltip=_counts())
    return alt.layer(dots, perfect, line.mark_line(color=ACCENT), points)


def reliability_chart(prediction: Prediction) -> Layers:
    """Predicted probabilities against what happened."""
    rows = [{"probability": r.probability, "happened": r.happened, "count": r.count} for r in prediction.reliability]
    x = alt.X("probability:Q", scale=alt.Scale(domain=[0, 1]), axis=axis("predicted probability", "%"))
    y = alt.Y("happened:Q", scale=alt.Scale(domain=[0, 1]), axis=axis("how often it happened", "%"))
    ends = [{"probability": 0, "happened": 0}, {"probability": 1, "happened": 1}]
    perfect = alt.Chart(alt.Data(values=ends)).mark_line(color=MUTED, strokeDash=[4, 4]).encode(x=x, y=y)
    line = alt.Chart(alt.Data(values=rows), height=230).encode(x=x, y=y)
    points = line.mark_circle(color=ACCENT, size=70, opacity=1).encode(
        tooltip=[
            alt.Tooltip("probability:Q", title="predicted", format=".0%"),
            alt.Tooltip("happened:Q", title="happened", format=".1%"),
            alt.Tooltip("count:Q", title="cases", format=","),
        ]
    )
    return alt.layer(perfect, line.mark_line(color=ACCENT), points)


def pit_chart(prediction: Prediction) -> Layers:
    """Where responses fell in their predicted distributions."""
    rows = [{"low": bar.low, "high": bar.high, "value": bar.value, "label": bar.label} for bar in prediction.pit]
    bars = (
        alt.Chart(alt.Data(values=rows), height=230)
        .mark_bar(color=ACCENT)
        .encode(
            x=alt.X("low:Q", bin="binned", axis=axis("place in the predicted distribution", "%", grid=False, ticks=5)),
            x2="high:Q",
            y=alt.Y("value:Q", axis=axis("frequency, 1 = as predicted")),
            tooltip=[alt.Tooltip("label:N", title="place"), alt.Tooltip("value:Q", title="frequency", format=".2f")],
        )
    )
    return alt.layer(bars, rule(INK, dashed=True).encode(y=alt.datum(1)))


def levels_chart(report: ReportData) -> alt.Chart:
    """Predicted distribution of one text; the page fills in the values."""
    chart = bars_chart(
        [Bar(f"{level}", 0, 0, 0.0) for level in report.levels], report.response_name, "probability", "%"
    )
    return chart.properties(height=160)


def contributions_chart() -> Layers:
    """Topics' contributions to one prediction; the page fills in the values."""
    base = alt.Chart().encode(y=alt.Y("label:N", sort=None, axis=axis("", grid=False)))
    bars = base.mark_bar(height=14, cornerRadiusEnd=3).encode(
        x=alt.X("value:Q", axis=axis("contribution to the linear predictor", "+.1f", ticks=4)),
        color=alt.Color("color:N", scale=None),
        tooltip=[
            alt.Tooltip("label:N", title="topic"),
            alt.Tooltip("value:Q", title="contribution", format="+.3f"),
            alt.Tooltip("share:Q", title="share of the text", format=".0%"),
        ],
    )
    zero = rule(MUTED).encode(x=alt.datum(0))
    return alt.layer(bars, zero, data=alt.Data(values=[]))


def _often(share: float, report: ReportData) -> str:
    """How a region's name begins at a share of all text."""
    return "common and " if share > report.common else ""


def _corner(words: str, x: float, y: float) -> alt.Chart:
    """The name of a part of the map, in its corner."""
    mark = alt.Chart(alt.Data(values=[{}])).mark_text(
        align="left" if words.startswith("rarer") else "right",
        baseline="top" if y > 0 else "bottom",
        dx=6 if words.startswith("rarer") else -6,
        dy=4 if y > 0 else -4,
        color=MUTED,
        fontSize=11,
        fontStyle="italic",
        text=words,
    )
    return mark.encode(x=alt.datum(x), y=alt.datum(y))


def _with_room(values: Sequence[float]) -> tuple[float, float]:
    """Least and greatest value, with room beyond them for names."""
    room = (max(values) - min(values)) * 0.15 or max(map(abs, values)) or 1.0
    return min(values) - room, max(values) + room


def _color(topic: TopicCard) -> str:
    return f"var(--t{topic.number})"


def _row(topic: TopicCard) -> dict[str, Any]:
    return {
        "topic": topic.number,
        "label": topic.label,
        "color": _color(topic),
        "effect": topic.response_effect,
        "prevalence": topic.prevalence,
        "coefficient": f"{topic.effect:+.2f}".replace("-", "−"),
        "terms": ", ".join(topic.terms[:8]),
    }


def _words(topic: TopicCard, unit: str) -> dict[str, str]:
    """What stands beside a bar, and what stands there where there is little room."""
    words, coefficient = signed(topic.response_effect, unit), f"{topic.effect:+.2f}".replace("-", "−")
    return {
        "words": words,
        "words_narrow": words.removesuffix(f" {unit}"),
        "below": f"coefficient {coefficient}",
        "below_narrow": f"({coefficient})",
    }


def _short(label: str) -> str:
    """The first two terms of a label."""
    return ", ".join(label.split(", ")[:2])[:SHORT_LABEL]


def _per_step(unit: str) -> str:
    return f"{unit} for another 10% of the text"


def _topic_axis(rows: Sequence[dict[str, Any]]) -> alt.Y:
    return alt.Y("label:N", sort=[row["label"] for row in rows], axis=axis("", grid=False))


def _tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("label:N", title="topic"),
        alt.Tooltip("effect:Q", title="effect on the response", format="+.3f"),
        alt.Tooltip("coefficient:N", title="coefficient"),
        alt.Tooltip("prevalence:Q", title="share of all text", format=".1%"),
        alt.Tooltip("terms:N", title="terms"),
    ]


def _counts() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("predicted:Q", format=".2f"),
        alt.Tooltip("observed:Q", format=".2f"),
        alt.Tooltip("count:Q", title="texts", format=","),
    ]
