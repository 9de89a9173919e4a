"""The small computations of a report, each by its definition."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsignal.families import Binomial, Gaussian, Poisson
from textsignal.report.page.charts import scale_ticks
from textsignal.report.values.cards import tone_marks
from textsignal.report.values.texts import bins_of, bins_of_levels, length_bars, sizes
from textsignal.report.values.wording import signed_number, visible

STARS = Binomial(4, 1)


@given(st.lists(st.integers(0, 5), min_size=1))
def test_shares_of_responses_are_one_a_level_and_sum_to_one(responses):
    bars = bins_of_levels(np.arange(6.0)).bars(np.array([*responses, np.nan]))
    assert [bar.label for bar in bars] == ["0", "1", "2", "3", "4", "5"]
    assert [bar.value for bar in bars] == pytest.approx([responses.count(level) / len(responses) for level in range(6)])


def test_bins_are_levels_or_have_round_edges():
    assert bins_of(Binomial(2, 1, 0.5), np.array([1.0, 2.0])).labels == ("1", "1.5", "2")
    assert bins_of(Gaussian(1.0), np.array([80.2, 91.0, 99.9])).labels[:2] == ("below 82", "82 to 84")
    assert bins_of(Poisson(), np.array([0.0, 3.0, 1.0])).labels == ("0", "1", "2", "3 or more")


def test_words_that_clearly_add_are_marked():
    assert tone_marks("so clean", np.array([0.0, 0.3])) == ["", "", "", *["up"] * 5]
    assert tone_marks("so bad", np.array([0.01, -0.3])) == ["", "", "", *["down"] * 3]


def test_many_levels_are_put_in_bins_that_hold_them_all():
    responses = np.arange(101.0)
    bars = bins_of_levels(np.arange(101.0)).bars(responses)
    assert len(bars) <= 21
    assert sum(bar.value for bar in bars) == pytest.approx(1)
    assert (bars[0].low, bars[-1].high) == (0, 100)


@given(st.lists(st.integers(0, 3000), min_size=1))
def test_every_text_is_in_one_bin_of_lengths(words):
    bars = length_bars(np.array(words))
    assert sum(bar.value for bar in bars) == len(words)
    assert len(bars) <= 21
    assert all(before.high == after.low for before, after in pairwise(bars))


@given(st.lists(st.integers(1, 10_000), min_size=1))
def test_more_frequent_words_are_never_smaller(counts):
    found = sizes(np.array(counts))
    assert found.min() >= 1
    assert found.max() <= 6
    order = np.argsort(counts, kind="stable")
    assert (np.diff(found[order]) >= 0).all()


@pytest.mark.parametrize(("value", "words"), [(0.4, "+0.40"), (-1.234, "−1.23"), (0.004, "0.00"), (-0.004, "0.00")])
def test_changes_are_signed_unless_they_are_none(value, words):
    assert signed_number(value) == words


@given(st.text(st.characters(codec=None)))
def test_what_is_shown_can_be_written_and_holds_no_control_character(text):
    shown = visible(text)
    shown.encode("utf-8")
    assert len(shown) == len(text)
    assert not any(ord(sign) < 32 and sign not in "\n\t" for sign in shown)
    if text.isprintable():
        assert shown == text


@given(st.floats(1.05, 4.95))
def test_the_link_gives_the_linear_predictor_of_a_mean(mean):
    assert STARS.mean(STARS.link(np.array([mean]))) == pytest.approx(mean)


def test_the_link_keeps_means_inside_the_scale():
    assert np.isfinite(STARS.link(np.array([-5.0, 1.0, 5.0, 99.0]))).all()


@given(st.integers(-1000, 1000), st.integers(1, 100_000))
def test_ticks_are_few_and_are_levels(lowest, n):
    ticks = scale_ticks(range(lowest, lowest + n + 1), lowest, lowest + n)
    assert 2 <= len(ticks) <= 11
    assert all(lowest <= tick <= lowest + n for tick in ticks)
    assert n < 2 or set(ticks) <= set(range(lowest, lowest + n + 1))
    assert np.ptp(np.diff(ticks)) < 1e-9
