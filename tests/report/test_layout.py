"""Ticks and names of charts: few, and off each other."""

from itertools import combinations, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from textsignal.report.page.layout import level_ticks, name_offsets


@given(st.integers(-1000, 1000), st.integers(1, 100_000))
def test_ticks_are_few_and_are_levels(lowest, n):
    ticks = level_ticks(range(lowest, lowest + n + 1))
    assert 2 <= len(ticks) <= 11 or n < 10
    assert all(lowest <= tick <= lowest + n for tick in ticks)
    assert len(set(np.diff(ticks))) <= 1


def boxes(places, widths, offsets):
    named = zip(places, widths, offsets, strict=True)
    return [(x - w / 2, x + w / 2, y + dy - 7, y + dy + 7) for (x, y), w, dy in named if dy]


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(0, 400), st.integers(10, 180)), max_size=30))
def test_names_keep_off_each_other_and_off_points(points):
    places, widths = [(x, y) for x, y, _ in points], [width for *_, width in points]
    found = boxes(places, widths, name_offsets(places, widths))
    circles = [(x - 8, x + 8, y - 8, y + 8) for x, y in places]
    for a, b in [*combinations(found, 2), *product(found, circles)]:
        assert a[1] <= b[0] or b[1] <= a[0] or a[3] <= b[2] or b[3] <= a[2]
