"""Charts of a report, by Altair, in the colours of the page, which follow light and dark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import altair as alt
import numpy as np
import vl_convert

from textsignal.insight.groups import FEW
from textsignal.insight.naming import MEASURES, Naming, is_clear, range_of
from textsignal.report.values.cards import ThemeCard
from textsignal.report.values.comparisons import Point, Timeline
from textsignal.report.values.prepare import ReportData
from textsignal.report.values.skill import Agreement, Prediction
from textsignal.report.values.texts import Bar, Bins, nice_step
from textsignal.report.values.wording import count, number, percent, signed_number, signed_points

Spec = dict[str, Any]
#: Altair's type of layered charts.
Layers: TypeAlias = alt.LayerChart | alt.FacetChart
#: Colours that the style sheet defines.
INK, MUTED, LINE, ACCENT, QUIET = "var(--ink)", "var(--muted)", "var(--line)", "var(--accent)", "var(--quiet)"
UP, DOWN = "var(--up)", "var(--down)"
#: Height in pixels of a theme's row, with two lines of a name, and of a line over time.
ROW, TIME = 34, 110
#: Width in pixels of a number at the end of a bar; largest widths of labels and titles of an axis.
NUMBER_WIDTH, LABEL_WIDTH, TITLE_WIDTH = 48, 210, 320
#: Opacity of bars that are not clear; pixels by which intervals are above and below the middle of their bars.
PALE, APART = 0.4, 3
#: Most ticks of an axis of the response.
MOST_TICKS = 11
#: Bars in the order of the page.
_BY_PLACE = alt.EncodingSortField("place", op="min")


def chart_specs(report: ReportData) -> dict[str, Spec]:
    """Return name -> Vega-Lite specification with its data."""
    naming, bins, prediction, timeline = report.naming, report.bins, report.prediction, report.timeline
    charts: dict[str, alt.Chart | Layers] = {
        "drivers": drivers_chart(report.themes, naming),
        "responses": bars_chart(report.summary.responses, naming.noted, "share of texts", "%"),
        "lengths": lengths_chart(report.summary.lengths),
        "levels": levels_chart(bins, naming),
        "contributions": contributions_chart(naming),
    }
    if prediction is not None:
        charts |= {
            "agreement": agreement_chart(prediction, bins, naming),
            "reliability": reliability_chart(prediction),
            "pit": pit_chart(prediction),
        }
    if timeline is not None:
        charts |= {f"time-{theme.number}": time_chart(theme.number, timeline) for theme in report.themes}
    return {name: spec_of(chart) for name, chart in charts.items()}


def drivers_chart(themes: Sequence[ThemeCard], naming: Naming) -> Layers:
    """Draw what themes cost and add to the average, with numbers at the ends of the bars.

    Costs are to the left, unless less is better. Thin lines are intervals; bars that are not clear are pale. The page
    sorts the chart by `place`.
    """
    shares = ("mentions", "praise", "complaints", "neutral")
    rows: list[dict[str, Any]] = [
        {"theme": theme.number, "label": theme.label, "terms": ", ".join(theme.terms[:8]), "place": place}
        | {name: percent(getattr(theme, name)) for name in shares}
        | bar
        for place, theme in enumerate(themes)
        for bar in _drivers(theme, naming)
    ]
    ends = [row["end"] for row in rows]
    least, most = min(ends), max(ends)
    ranges = any(range_of(theme, measure) for theme in themes for measure in MEASURES)
    titles = (
        {"label": "theme", "words": "effect"} | ({"range": "interval"} if ranges else {}) | {"mentions": "mentions"}
    )
    bad, good = naming.short_ways
    titles |= {"complaints": bad, "praise": good, "neutral": "neutral", "terms": "terms"}

    def x(field: str) -> alt.X:
        return alt.X(
            f"{field}:Q",
            stack=None,
            scale=alt.Scale(domain=[least, most] if least < most else [-1, 1], padding=NUMBER_WIDTH, nice=False),
            axis=axis(naming.unit if naming.event else f"{naming.unit} of the average", ticks=5) | {"labelBound": True},
        )

    base = alt.Chart().encode(y=alt.Y("label:N", sort=_BY_PLACE, axis=names_axis()), x=x("value"))
    bars = base.mark_bar(height=18, cornerRadiusEnd=3, cursor="pointer").encode(
        color=alt.condition("datum.side == 'costs'", alt.value(DOWN), alt.value(UP)),
        opacity=alt.condition("datum.clear", alt.value(1), alt.value(PALE)),
        tooltip=tooltip(titles),
    )
    left = f"datum.side == '{'adds' if naming.lower_is_better else 'costs'}'"
    align, dx = alt.expr(f"{left} ? 'right' : 'left'"), alt.expr(f"{left} ? -5 : 5")
    numbers = base.mark_text(color=INK, align=align, dx=dx).encode(x=x("end"), text="number:N")
    apart = alt.expr(f"datum.side == 'costs' ? {-APART} : {APART}")
    spans = [base.mark_rule(color=INK, strokeWidth=1.5, yOffset=apart).encode(x=x("low"), x2="high:Q")]
    zero = rule(MUTED).encode(x=alt.datum(0))
    layers = alt.layer(bars, *(spans if ranges else []), numbers, zero, data=_rows(rows))
    return layers.properties(height=alt.Step(ROW)).add_params(*lines())


def _drivers(theme: ThemeCard, naming: Naming) -> list[dict[str, Any]]:
    """Bars of the cost and gain of a theme; without intervals, low and high are the value."""
    # The number stands at `end`, beyond the bar and all that crosses 0 towards it.
    bars = []
    for measure, side in zip(MEASURES, ("costs", "adds"), strict=True):
        step = naming.better * naming.steps * (-1 if side == "costs" else 1)
        value, span = step * getattr(theme, measure), range_of(theme, measure)
        low, high = (value, value) if span is None else sorted((step * span.low, step * span.high))
        clear, written = is_clear(theme, measure), signed_number(value, naming.digits)
        bars.append(
            {
                "side": side,
                "value": value,
                "low": low,
                "high": high,
                "clear": clear,
                "number": written if clear else f"{written} ?",
                "words": f"{written} {naming.unit}",
                "range": "–" if span is None else f"{span.written(naming)}{'' if clear else ', not clear'}",
            }
        )
    least = min(0.0, *(bar[name] for bar in bars for name in ("value", "low")))
    most = max(0.0, *(bar[name] for bar in bars for name in ("value", "high")))
    ends = (least, most) if naming.better > 0 else (most, least)
    return [bar | {"end": end} for bar, end in zip(bars, ends, strict=True)]


def bars_chart(bars: Sequence[Bar], name: str, what: str, numbers: str) -> alt.Chart:
    """Draw one bar per level."""
    rows = [
        {"label": bar.label, "value": bar.value, "words": percent(bar.value, 1), "place": place}
        for place, bar in enumerate(bars)
    ]
    return (
        alt.Chart(_rows(rows), height=190)
        .mark_bar(color=ACCENT, cornerRadiusEnd=3)
        .encode(
            x=alt.X("label:O", sort=_BY_PLACE, axis=axis(name, grid=False) | {"labelOverlap": True}),
            y=alt.Y("value:Q", stack=None, axis=axis(what, numbers)),
            tooltip=tooltip({"label": name, "words": what}),
        )
    )


def lengths_chart(bars: Sequence[Bar]) -> alt.Chart:
    """Draw the histogram of text lengths."""
    x = axis(f"words in a text; last bar: {bars[-1].label}", grid=False, ticks=6)
    return _histogram(bars, x, "texts", {"label": "length", "words": "texts"}, count).properties(height=190)


def _histogram(
    bars: Sequence[Bar], x: dict[str, Any], y: str, titles: dict[str, str], written: Callable[[float], str]
) -> alt.Chart:
    """Bars between their edges; x : axis; y : title of the other; titles : in tooltips; written : writes a value."""
    rows = [bar._asdict() | {"words": written(bar.value)} for bar in bars]
    return (
        alt.Chart(_rows(rows))
        .mark_bar(color=ACCENT)
        .encode(
            x=alt.X("low:Q", bin="binned", axis=x),
            x2="high:Q",
            y=alt.Y("value:Q", stack=None, axis=axis(y)),
            tooltip=tooltip(titles),
        )
    )


def agreement_chart(prediction: Prediction, bins: Bins, naming: Naming) -> Layers:
    """Draw circles sized by the number of texts, the line of perfect prediction, and means of tenths."""
    low, high, levels = bins.low, bins.high, bins.levels.tolist()
    scale = alt.Scale(domain=[low - (high - low) * 0.06, high + (high - low) * 0.06], nice=False)
    of = f"share of {naming.event}" if naming.event else naming.name  # room for little more on a phone
    numbers, ticks = "%" if naming.event else "", scale_ticks(levels, low, high)
    x = alt.X("predicted:Q", scale=scale, axis=axis(f"predicted {of}", numbers, values=ticks))
    y = alt.Y("observed:Q", scale=scale, axis=axis(f"observed {of}", numbers, values=ticks))
    shown = tooltip({"value": "predicted", "seen": "observed", "texts": "texts"})
    cells, means = map(_agreements, (prediction.agreement, prediction.means))
    dots = (
        alt.Chart(alt.Data(values=cells), height=300)
        .mark_circle(color=QUIET, opacity=1)
        .encode(x=x, y=y, size=alt.Size("count:Q", scale=alt.Scale(range=[3, 500]), legend=None), tooltip=shown)
    )
    return alt.layer(dots, *_calibration(means, x, y, low, high, shown, 60))


def _calibration(
    rows: list[dict[str, Any]], x: alt.X, y: alt.Y, low: float, high: float, shown: list[alt.Tooltip], size: int
) -> list[alt.Chart]:
    """The line of perfect prediction from low to high, and observed against predicted means."""
    ends = [{"predicted": end, "observed": end} for end in (low, high)]
    perfect = alt.Chart(alt.Data(values=ends)).mark_line(color=MUTED, strokeDash=[4, 4]).encode(x=x, y=y)
    line = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y)
    points = line.mark_circle(color=ACCENT, size=size, opacity=1).encode(tooltip=shown)
    return [perfect, line.mark_line(color=ACCENT), points]


def reliability_chart(prediction: Prediction) -> Layers:
    """Draw observed frequencies against predicted probabilities, of bins with enough cases."""
    rows = [
        {"predicted": each.predicted, "observed": each.observed}
        | {"value": percent(each.predicted), "seen": percent(each.observed), "cases": count(each.cases)}
        for each in prediction.reliability
        if each.cases >= FEW
    ]
    share = alt.Scale(domain=[0, 1])
    x = alt.X("predicted:Q", scale=share, axis=axis("predicted probability", "%"))
    y = alt.Y("observed:Q", scale=share, axis=axis("observed frequency", "%"))
    shown = tooltip({"value": "predicted", "seen": "observed", "cases": "cases"})
    return alt.layer(*_calibration(rows, x, y, 0, 1, shown, 70)).properties(height=230)


def pit_chart(prediction: Prediction) -> Layers:
    """Draw the histogram of the probability integral transform."""
    x = axis("quantile in the predicted distribution", "%", grid=False, ticks=5)
    bars = _histogram(
        prediction.pit, x, "frequency, 1 = as predicted", {"label": "quantile", "words": "frequency"}, number
    )
    return alt.layer(bars, rule(INK, dashed=True).encode(y=alt.datum(1))).properties(height=230)


def levels_chart(bins: Bins, naming: Naming) -> alt.Chart:
    """Draw the predicted distribution of one text, over levels or bins; the page fills in the values."""
    many = bins.levels.size > len(bins.labels)
    labels = [f"{level:g}" for level in bins.levels] if many else bins.labels
    bars = [Bar(label, 0, 0, 0.0) for label in labels]
    return bars_chart(bars, naming.noted, "probability", "%").properties(height=160)


def contributions_chart(naming: Naming) -> Layers:
    """Draw themes' contributions to one prediction; the page fills in the values."""
    base = alt.Chart().encode(y=alt.Y("label:N", sort=_BY_PLACE, axis=names_axis()))
    bars = base.mark_bar(height=14, cornerRadiusEnd=3).encode(
        x=alt.X("value:Q", stack=None, axis=axis(naming.unit, "+~g", ticks=4)),
        color=alt.condition(f"{naming.better} * datum.value < 0", alt.value(DOWN), alt.value(UP)),
        tooltip=tooltip({"label": "theme", "words": "contribution", "part": "share of the text"}),
    )
    zero = rule(MUTED).encode(x=alt.datum(0))
    return alt.layer(bars, zero, data=_rows([])).properties(height=alt.Step(ROW)).add_params(*lines())


def _rows(rows: list[dict[str, Any]]) -> alt.Data:
    """Data under the name by which the page updates them."""
    return alt.Data(values=rows, name="rows")


def _agreements(agreements: Sequence[Agreement]) -> list[dict[str, Any]]:
    return [
        {"predicted": a.predicted, "observed": a.observed, "count": a.cases}
        | {"value": number(a.predicted), "seen": number(a.observed), "texts": count(a.cases)}
        for a in agreements
    ]


def time_chart(theme: int, timeline: Timeline) -> Layers:
    """Draw the tone of one theme over time with its error, on the scale of all themes."""
    when = axis("", grid=False) | {"labelOverlap": True, "labelSeparation": 8}
    naming = timeline.naming
    low, high = (naming.steps * end for end in timeline.ends)
    digits = "+.1f" if high - low >= 0.3 else "+.2f"
    scale = alt.Scale(domain=[low, high])
    base = alt.Chart().encode(
        x=alt.X("when:O", sort=None, scale=alt.Scale(padding=0.1), axis=when),
        y=alt.Y("tone:Q", scale=scale, axis=axis("", digits, ticks=4)),
    )
    colour = {1: UP, -1: DOWN, 0: MUTED}[timeline.clear(theme)]
    band = base.mark_area(opacity=0.2, color=colour, clip=True).encode(y=alt.Y("low:Q"), y2="high:Q")
    path = base.mark_line(color=colour, clip=True)
    dots = base.mark_point(color=colour, size=30, opacity=1, clip=True, cursor="pointer").encode(
        fill=alt.condition("datum.few", alt.value("var(--paper)"), alt.value(colour)),
        tooltip=tooltip({"when": "when", "value": naming.unit, "share": "mentions", "texts": "texts that mention it"}),
    )
    zero = rule(LINE).encode(y=alt.datum(0))
    rows = [_at(point, naming) | {"theme": theme} for point in timeline.points(theme)]
    return alt.layer(zero, band, path, dots, data=alt.Data(values=rows)).properties(height=TIME)


def _at(point: Point, naming: Naming) -> dict[str, Any]:
    """Row of a point, rounded to visible digits, with its tooltip."""
    ends = {"tone": point.tone, "low": point.low, "high": point.high}
    drawn = {name: None if value is None else round(naming.steps * value, 4) for name, value in ends.items()}
    value = "–" if point.tone is None else signed_points(point.tone, naming)
    texts = {"share": percent(point.mentions), "texts": count(point.texts)}
    return drawn | {"when": point.when, "few": point.few, "value": value} | texts


def tooltip(titles: dict[str, str]) -> list[alt.Tooltip]:
    """Return the tooltip of a mark: the title of each field of its row."""
    return [alt.Tooltip(f"{name}:N", title=title) for name, title in titles.items()]


def scale_ticks(levels: Sequence[float], low: float, high: float) -> list[float]:
    """Return the ticks of an axis of the response: its levels, or at most MOST_TICKS round numbers on its scale."""
    if 2 < len(levels) <= MOST_TICKS:
        return list(levels)
    step = nice_step((high - low) / (MOST_TICKS - 1))
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    return [round(float(i * step), 12) + 0.0 for i in np.arange(first, last + 1)]  # + 0.0 : no negative zero


def rule(color: str, *, dashed: bool = False) -> alt.Chart:
    """Draw one line across a chart, at an x or y to be set."""
    return alt.Chart(alt.Data(values=[{}])).mark_rule(color=color, strokeDash=[4, 4] if dashed else [])


def axis(
    title: str, number: str = "", *, grid: bool = True, ticks: int | None = None, values: Sequence[float] = ()
) -> dict[str, Any]:
    """Describe an axis: the format of its numbers, and an approximate number of ticks or their values."""
    options: dict[str, Any] = {"title": title or None, "grid": grid, "labelAngle": 0, "labelLimit": LABEL_WIDTH}
    options |= {"format": number} if number else {}
    options |= {"tickCount": ticks} if ticks else {}
    return options | ({"values": list(values)} if values else {})


def names_axis() -> dict[str, Any]:
    """Describe an axis of names, broken into lines by `lines`; longer names end in an ellipsis."""
    # Break at spaces, after at most `letters` characters.
    broken = r"split(trim(replace(datum.label, regexp('(.{1,' + letters + '})(\\s+|$)', 'g'), '$1\n')), '\n')"
    shown = f"length({broken}) > lines ? split(join(slice({broken}, 0, lines), '\\n') + '…', '\\n') : {broken}"
    # Lines are set below the first, which moves up by half a line for each.
    rise = [{"test": f"min(lines, length({broken})) == {n}", "value": -7 * (n - 1)} for n in (2, 3)]
    return axis("", grid=False) | {"labelExpr": shown, "labelOffset": {"condition": rise, "value": 0}}


def lines() -> tuple[alt.Parameter, ...]:
    """Return the parameters of names: letters per line and lines. The page sets more and shorter lines on a phone."""
    return alt.param("letters", value=30), alt.param("lines", value=2)


def spec_of(chart: alt.Chart | Layers) -> Spec:
    """Return a specification as wide as its container, in the page's colours and font."""
    axes = dict.fromkeys(("labelColor", "titleColor"), MUTED) | dict.fromkeys(("labelFontSize", "titleFontSize"), 12)
    axes |= dict.fromkeys(("gridColor", "domainColor", "tickColor"), LINE)
    config = {
        "background": None,
        "font": "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
        "view": {"stroke": None},
        "aria": False,  # The container describes the chart in words.
        "mark": {"invalid": None},
        "axis": axes | {"titleFontWeight": "normal", "titlePadding": 8, "titleLimit": TITLE_WIDTH},
        "axisY": {"labelColor": INK},
        "text": {"fontSize": 12},
    }
    size = {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
    # Validation takes most of the time, and tests do it.
    spec: Spec = chart.to_dict(validate=False)
    # Drop Altair's defaults for notebooks.
    return {key: value for key, value in spec.items() if key != "config"} | size | {"config": config}


def drawable(spec: Spec) -> Spec:
    """Compile a specification to Vega, so that the browser does not have to."""
    return dict(vl_convert.vegalite_to_vega(spec))
