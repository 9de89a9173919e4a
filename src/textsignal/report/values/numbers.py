"""The small computations of a report: pure functions of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from textsignal.report.values.data import Bar, Floats

#: Bins of text lengths; the last one takes this share of the longest texts.
LENGTH_BINS, LONGEST = 20, 0.01
#: Numbers at an axis at most.
MOST_TICKS = 11


def length_bars(words: NDArray[np.int64]) -> tuple[Bar, ...]:
    """Number of texts by number of words, in equal bins; the last one holds all longer texts too.

    Examples
    --------
    >>> sum(bar.value for bar in length_bars(np.array([3, 5, 8, 900])))
    4.0
    """
    longest = max(int(np.quantile(words, 1 - LONGEST, method="higher")), 1)
    width = -(-longest // LENGTH_BINS)
    edges = np.arange(0.0, longest + width, width)
    counts = np.histogram(np.minimum(words, edges[-1] - 1), bins=edges)[0]
    labels = [f"{low:.0f} to {high - 1:.0f} words" for low, high in pairwise(edges)]
    labels[-1] = f"{edges[-2]:.0f} words or more"
    return _bars(labels, edges, counts)


def sizes(counts: NDArray[np.int64], steps: int = 6) -> NDArray[np.int64]:
    """Whole numbers from 1 to `steps`, by the square root of counts: (terms,).

    Examples
    --------
    >>> sizes(np.array([100, 25, 1]))
    array([6, 3, 1])
    """
    root = np.sqrt(counts)
    spread = max(float(root.max() - root.min()), np.finfo(float).tiny)
    return 1 + np.floor((root - root.min()) / spread * (steps - 1)).astype(np.int64)


def _bars(labels: list[str], edges: Floats, values: Floats) -> tuple[Bar, ...]:
    return tuple(
        Bar(label, float(low), float(high), float(value))
        for label, low, high, value in zip(labels, edges[:-1], edges[1:], values, strict=True)
    )


def nice_step(rough: float) -> float:
    """The first of 1, 2, 5, 10, ... times a power of ten that is not below `rough`.

    Examples
    --------
    >>> nice_step(3), nice_step(0.07), nice_step(20)
    (5.0, 0.1, 20.0)
    """
    size = 10.0 ** np.floor(np.log10(rough))
    return float(next(factor * size for factor in (1, 2, 5, 10) if factor * size >= rough * (1 - 1e-9)))


def scale_ticks(levels: Sequence[float], low: float, high: float) -> list[float]:
    """Numbers to write at an axis of the response: its levels, or up to 11 round ones that lie on its scale.

    Examples
    --------
    >>> scale_ticks((1, 1.5, 2), 1, 2), scale_ticks((0, 1), 0, 1)[:3], scale_ticks((), 81.5, 99)
    ([1, 1.5, 2], [0.0, 0.1, 0.2], [82.0, 84.0, 86.0, 88.0, 90.0, 92.0, 94.0, 96.0, 98.0])
    """
    if 2 < len(levels) <= MOST_TICKS:
        return list(levels)
    step = nice_step((high - low) / (MOST_TICKS - 1))
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    return [round(float(place * step), 12) + 0.0 for place in np.arange(first, last + 1)]  # 0 has no sign
