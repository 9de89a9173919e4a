"""Word clouds."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties, findfont
from numpy.typing import NDArray
from wordcloud import WordCloud

from textsignal.plots.canvas import COLUMN_WIDTH, drawable

#: A cloud's size in pixels, and of its largest word.
CLOUD_WIDTH, CLOUD_HEIGHT, LARGEST_WORD = 1360, 840, 190
#: Its height on a page of one column's width, in inches.
PAGE_HEIGHT = COLUMN_WIDTH * CLOUD_HEIGHT / CLOUD_WIDTH


def draw_cloud(ax: Axes, words: Sequence[str], sizes: Sequence[float] | NDArray, colors: Sequence[str]) -> None:
    """Draw words, each in its colour and in a size that goes by its number. The same words give the same picture.

    Parameters
    ----------
    ax : axes to draw into.
    words, sizes, colors : (words,) each; sizes are positive, and the largest come first.

    Examples
    --------
    >>> from textsignal.plots.canvas import axes
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
