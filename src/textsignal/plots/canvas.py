"""What figures are drawn on: their style, size and labels."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import wraps
from io import BytesIO
from typing import Any, ParamSpec, TypeVar

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

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
#: Where a label may stand around its point: direction, in the order of liking, and distances in points.
DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
DISTANCES = (4, 9, 15)
#: From a label this near to its point, in points, no line leads there.
BESIDE = 6


P = ParamSpec("P")
R = TypeVar("R")


class ShownFigure(Figure):
    """A figure that notebooks show, whether or not pyplot was imported."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Draw in our style, and leave the user's as it is."""

    @wraps(draw)
    def drawn(*args: P.args, **options: P.kwargs) -> R:
        with mpl.rc_context(STYLE):
            return draw(*args, **options)

    return drawn


def axes(ax: Axes | None, height: float) -> Axes:
    """Give the axes, or else new ones in a figure of one column's width and this height, in inches."""
    if ax is not None:
        return ax
    return ShownFigure(figsize=(COLUMN_WIDTH, height), dpi=200, layout="constrained").add_subplot()


def figure_of(ax: Axes) -> Figure:
    """Give the figure that axes are in."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def drawable(text: str) -> str:
    """A text in which symbols that no font at hand can draw, such as emoji, are spelt out by name.

    Examples
    --------
    >>> drawable("caf\u00e9 \N{WORLD MAP}")
    'caf\u00e9 [world map]'
    """
    fonts = [get_font(findfont(FontProperties(family=[family]))) for family in mpl.rcParams["font.family"]]
    unknown = {c for c in text if unicodedata.category(c) == "So" and not any(f.get_char_index(ord(c)) for f in fonts)}
    return "".join(f"[{unicodedata.name(c, 'symbol').lower()}]" if c in unknown else c for c in text)


def plain(label: str, most: int) -> str:
    """A label on one line, cut between words where it is too long, with no dollar sign read as mathematics.

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
    """Name points at `places` (points, 2), in data units: the first ones first, and only where there is room."""
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
    """Put a label into its box, in pixels, with a thin line to a point that is not beside it."""
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
    """Where a label of this size may stand around (x, y), in pixels, best first."""
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
