"""How charts of a report look. Colours are the page's own, so that charts follow light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import altair as alt
import vl_convert

Spec = dict[str, Any]
#: What Altair says that charts laid over each other are.
Layers: TypeAlias = alt.LayerChart | alt.FacetChart
#: Colours that the style sheet defines.
INK, MUTED, LINE, ACCENT, QUIET = "var(--ink)", "var(--muted)", "var(--line)", "var(--accent)", "var(--quiet)"
UP, DOWN = "var(--up)", "var(--down)"
#: Pixels of a label beside an axis at most.
LABEL_WIDTH = 210
#: Pixels of an axis title at most: a longer one would leave no room for the chart.
TITLE_WIDTH = 320


def rule(color: str, *, dashed: bool = False) -> alt.Chart:
    """One line across a chart; give it an x or a y."""
    return alt.Chart(alt.Data(values=[{}])).mark_rule(color=color, strokeDash=[4, 4] if dashed else [])


def axis(
    title: str, number: str = "", *, grid: bool = True, ticks: int | None = None, values: Sequence[float] = ()
) -> dict[str, Any]:
    """An axis with a format for its numbers; about so many ticks, or ticks at these values."""
    options: dict[str, Any] = {"title": title or None, "grid": grid, "labelAngle": 0, "labelLimit": LABEL_WIDTH}
    options |= {"format": number} if number else {}
    options |= {"tickCount": ticks} if ticks else {}
    return options | ({"values": list(values)} if values else {})


def names_axis() -> dict[str, Any]:
    """An axis of names, on as many lines as `lines` allows; what has no room there ends in an ellipsis."""
    # Letters that a line has room for, up to a space.
    broken = r"split(trim(replace(datum.label, regexp('(.{1,' + letters + '})(\\s+|$)', 'g'), '$1\n')), '\n')"
    shown = f"length({broken}) > lines ? split(join(slice({broken}, 0, lines), '\\n') + '…', '\\n') : {broken}"
    # Lines are set below the first, so that the first has to move up by half a line for each.
    rise = [{"test": f"min(lines, length({broken})) == {n}", "value": -7 * (n - 1)} for n in (2, 3)]
    return axis("", grid=False) | {"labelExpr": shown, "labelOffset": {"condition": rise, "value": 0}}


def lines() -> tuple[alt.Parameter, ...]:
    """Letters of a line of a name, and how many lines there are; the page has more and shorter ones on a phone."""
    return alt.param("letters", value=30), alt.param("lines", value=2)


def spec_of(chart: alt.Chart | Layers) -> Spec:
    """A specification as wide as its place on the page, in the page's colours and font."""
    axes = {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "gridColor": LINE,
        "domainColor": LINE,
        "tickColor": LINE,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "titleLimit": TITLE_WIDTH,
    }
    config = {
        "background": None,
        "font": "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
        "view": {"stroke": None},
        "aria": False,  # The place of a chart says in words what it shows.
        "mark": {"invalid": None},
        "axis": axes,
        "axisY": {"labelColor": INK},
        "text": {"fontSize": 12},
    }
    size = {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
    # Checking against the schema takes most of the time, and tests do it.
    spec: Spec = chart.to_dict(validate=False)
    # Altair's own defaults for a notebook are not ours.
    return {key: value for key, value in spec.items() if key != "config"} | size | {"config": config}


def drawable(spec: Spec) -> Spec:
    """A specification as the page draws it: Vega, so that no browser has to compile Vega-Lite."""
    return dict(vl_convert.vegalite_to_vega(spec))
