"""Ranges of cost and gain: clear ones come first, and sentences state which are not clear."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from textsignal.insight.findings import Drivers, cost_of, finding_of, gain_of, titles_of, to_fix, to_keep
from textsignal.insight.naming import Naming, Range, is_clear, range_of

STARS = Naming("rating", "stars")
SHARE = Naming("bought", "percentage points", event="yes")


@dataclass(frozen=True)
class Theme:
    label: str
    cost: float
    gain: float = 0.0
    cost_low: float = np.nan
    cost_high: float = np.nan
    cost_clear: bool = False
    gain_low: float = np.nan
    gain_high: float = np.nan
    gain_clear: bool = False
    mentions: float = 0.3
    praise: float = 0.1
    complaints: float = 0.2
    mean_praise: float = np.nan
    mean_complaint: float = np.nan
    is_overall: bool = False

    @property
    def cost_per_complaint(self) -> float:
        return self.cost / self.complaints

    @property
    def gain_per_praise(self) -> float:
        return self.gain / self.praise


CLEAR = Theme("noise", 0.06, 0.01, 0.042, 0.068, True, -0.01, 0.02)
LARGER = Theme("costs", 0.20, 0.09, -0.011, 0.41, False, 0.05, 0.12, True)
ALONE = Theme("pool", 0.03, 0.02, 0.004, 0.05, False, 0.001, 0.03)


def test_what_is_not_clear_comes_after_what_is():
    assert to_fix([LARGER, CLEAR, ALONE], STARS) == [CLEAR, LARGER, ALONE]
    assert to_keep([ALONE, LARGER, CLEAR], [], STARS, 3) == [LARGER, ALONE, CLEAR]


def test_sentences_have_ranges_and_doubts():
    assert cost_of(CLEAR, STARS).endswith("the average would be 0.06 stars higher (0.04 to 0.07).")
    assert "(−0.01 to 0.41). Not clear: the interval includes 0." in cost_of(LARGER, STARS)
    assert "(0.00 to 0.05). Not clear when all themes are tested together." in cost_of(ALONE, STARS)
    assert gain_of(LARGER, STARS).endswith("0.09 stars lower (0.05 to 0.12).")
    assert "(0.04 to 0.07)" in finding_of(CLEAR, STARS)
    assert "6.0 percentage points higher (4.2 to 6.8)" in cost_of(CLEAR, SHARE)


def test_titles_do_not_promise_what_nobody_knows():
    assert titles_of([CLEAR, LARGER], [], STARS) == STARS.titles
    assert titles_of([LARGER], [CLEAR], STARS) == tuple(f"{title}: none of these is clear" for title in STARS.titles)


def test_without_ranges_nothing_is_said_of_them():
    class Bare:
        label, cost, gain, mentions, praise, complaints, is_overall = "noise", 0.06, 0.01, 0.3, 0.1, 0.5, False
        mean_complaint = mean_praise = None
        cost_per_complaint, gain_per_praise = cost / complaints, gain / praise

    assert range_of(Bare, "cost") is None
    assert is_clear(Bare, "cost")
    assert cost_of(Bare, STARS).endswith("0.06 stars higher.")
    assert titles_of([Bare], [Bare], STARS) == STARS.titles
    assert range_of(Theme("empty", 0.0), "cost") is None


@pytest.mark.parametrize("low", [0.0004, 0.004, 0.04, -0.04])
def test_a_clear_range_is_not_written_as_if_it_began_at_0(low):
    written = Range(low, 0.3, True).written(STARS)
    assert written.startswith({0.0004: "0.000", 0.004: "0.004", 0.04: "0.04 ", -0.04: "−0.04 "}[low])
    assert Range(low, 0.3, False).written(STARS, sign="+").endswith(" to +0.30")


def test_a_table_says_so_too():
    rows = [vars(theme) | {"cost_per_complaint": theme.cost_per_complaint} for theme in (LARGER, ALONE)]
    rows = [row | {"gain_per_praise": theme.gain_per_praise} for row, theme in zip(rows, (LARGER, ALONE), strict=True)]
    table = Drivers.of(pd.DataFrame(rows), STARS)
    assert table.titles == ("What to fix first: none of these is clear", "What to keep")
    assert "(−0.01 to 0.41). Not clear" in table.findings().to_fix[0]
    assert "What to fix first: none of these is clear" in table._repr_html_()
