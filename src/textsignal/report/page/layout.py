"""Where ticks and names stand on a chart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: Pixels around the middle of a point and of a line of letters; where a name may stand from its point, best first.
POINT, HALF_LINE, NAME_OFFSETS = 8, 7, (-16, 18)
#: Left, right, top and bottom.
Box = tuple[float, float, float, float]


def level_ticks(levels: Sequence[int]) -> list[int]:
    """Levels to write at an axis, at most 11 of them, at round steps.

    Examples
    --------
    >>> level_ticks(range(1, 6)), level_ticks(range(101))
    ([1, 2, 3, 4, 5], [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100])
    """
    span = levels[-1] - levels[0]
    rough = max(span / 10, 1)
    size = 10 ** int(np.floor(np.log10(rough)))
    step = next(factor * size for factor in (1, 2, 5, 10) if factor * size >= rough)
    return [level for level in range(levels[0], levels[-1] + 1) if level % step == 0]


def name_offsets(places: Sequence[tuple[float, float]], widths: Sequence[float]) -> list[int]:
    """How far below its point each name stands, the first ones placed first; 0 where there is no room for it.

    places : of points, in pixels from the left and the top; widths : of names.

    Examples
    --------
    >>> name_offsets([(50, 50), (60, 52), (65, 50)], [40, 40, 40])
    [-16, 18, 0]
    """
    taken = [(x - POINT, x + POINT, y - POINT, y + POINT) for x, y in places]
    offsets = []
    for (x, y), width in zip(places, widths, strict=True):
        boxes = {dy: (x - width / 2, x + width / 2, y + dy - HALF_LINE, y + dy + HALF_LINE) for dy in NAME_OFFSETS}
        offset = next((dy for dy, box in boxes.items() if not any(_overlap(box, other) for other in taken)), 0)
        taken += [boxes[offset]] if offset else []
        offsets.append(offset)
    return offsets


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]
