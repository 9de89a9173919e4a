"""Periods: long enough, short enough, whatever dates come; and what is called a change."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spoken_documents import documents, with_problem

from textsignal.insight.groups import FEWEST, MOST, compare_periods, periods_of, trends_of


def days(first, last, n, seed=0):
    """Dates at random, in no order."""
    low, high = np.datetime64(first, "D"), np.datetime64(last, "D")
    return low + np.random.default_rng(seed).integers(0, (high - low).astype(int) + 1, n)


@pytest.mark.parametrize(
    ("first", "last", "noun", "example"),
    [
        ("2015-03-01", "2015-03-10", "days", "4 Mar 2015"),
        ("2015-03-02", "2015-06-28", "weeks", "9 Mar 2015"),
        ("2014-01-01", "2015-06-30", "months", "Feb 2014"),
        ("2011-01-01", "2015-12-31", "quarters", "2011 Q2"),
        ("2001-01-01", "2018-12-31", "years", "2002"),
        ("1980-01-01", "2019-12-31", "periods of 2 years", "1982–1983"),
        ("1800-01-01", "2019-12-31", "periods of 10 years", "1810–1819"),
    ],
)
def test_periods_are_as_short_as_the_span_allows(first, last, noun, example):
    found = periods_of(days(first, last, 20_000))
    assert found.noun == noun
    assert example in found.names
    assert FEWEST <= len(found.names) <= MOST


def test_few_documents_have_longer_periods():
    many, few = (periods_of(days("2014-01-01", "2015-12-31", n)) for n in (5000, 150))
    assert (many.noun, few.noun) == ("months", "quarters")


def test_a_week_starts_on_monday():
    found = periods_of(days("2015-03-02", "2015-05-31", 5000))
    assert found.names[0] == "2 Mar 2015"
    times = np.array(["2015-03-08", "2015-03-09"] + ["2015-03-02", "2015-05-31"] * 2500, dtype="datetime64[D]")
    assert np.diff(periods_of(times).codes[:2]) == 1


def test_dates_that_stray_do_not_stretch_the_periods():
    times = days("2012-01-01", "2016-12-31", 2000)
    times[:5], times[5:8] = np.datetime64("1970-01-01"), np.datetime64("2099-01-01")
    found = periods_of(times)
    assert found.noun == "quarters"
    assert found.names[0].startswith("to 2012")
    assert found.names[-1].startswith("since 2016")
    assert set(found.codes[:5]) == {0}
    assert set(found.codes[5:8]) == {len(found.names) - 1}


def test_ends_with_few_documents_are_put_together():
    times = np.concatenate([days("2008-01-01", "2010-12-31", 30), days("2011-01-01", "2015-12-31", 5000)])
    found = periods_of(times)
    counts = np.bincount(found.codes)
    assert counts[0] >= 30
    assert counts[-1] >= 30


def test_documents_without_date_are_in_no_period():
    times = days("2012-01-01", "2016-12-31", 500)
    times[::7] = np.datetime64("NaT")
    found = periods_of(times)
    assert (found.codes[::7] == -1).all()
    assert (np.delete(found.codes, np.arange(0, 500, 7)) >= 0).all()


@given(st.lists(st.integers(-90_000, 90_000), min_size=1, max_size=60))
def test_periods_keep_the_order_of_time(numbers):
    times = np.array(numbers).astype("datetime64[D]")
    found = periods_of(times)
    assert (np.diff(found.codes[np.argsort(times, kind="stable")]) >= 0).all()
    assert 1 <= len(found.names) <= MOST
    assert len(set(found.names)) == len(found.names)
    assert found.codes.min() >= 0
    assert found.codes.max() < len(found.names)


def test_one_day_is_one_period_and_has_no_trend():
    times = np.full(100, np.datetime64("2015-08-24", "D"))
    assert periods_of(times).names == ("24 Aug 2015",)
    assert trends_of(documents(100), times) is None


def test_periods_of_few_dates_lose_none():
    found = periods_of(np.array(["2015-08-24", "NaT", "2016-01-02"], dtype="datetime64[D]"))
    assert found.codes[1] == -1
    assert found.codes[0] < found.codes[2]


def test_means_of_periods_are_those_of_their_documents():
    spoken, times = documents(), days("2012-01-01", "2014-12-31", 600)
    periods = periods_of(times)
    found = compare_periods(spoken, periods)
    for g in range(len(periods.names)):
        rows = periods.codes == g
        np.testing.assert_allclose(found.reach.mean[g], spoken.spoken[rows].mean(axis=0))


def test_what_changes_is_found_and_what_does_not_is_not():
    times = days("2012-01-01", "2014-12-31", 3000)
    late = times > np.datetime64("2014-01-01")
    trends = trends_of(with_problem(documents(3000), late, by=-0.4), times)
    assert trends.tone.clear.tolist() == [-1, 0, 0]
    assert trends.reach.clear.tolist() == [0, 0, 0]
    better = trends_of(with_problem(documents(3000), late, by=0.4), times)
    assert better.tone.clear[0] == 1


def test_the_thirds_are_thirds():
    times = days("2012-01-01", "2014-12-31", 3000)
    trends = trends_of(documents(3000), times)
    assert np.mean(times <= trends.until) == pytest.approx(1 / 3, abs=0.01)
    assert np.mean(times >= trends.since) == pytest.approx(1 / 3, abs=0.01)


def test_the_error_of_a_change_is_that_of_a_difference_of_means():
    spoken, times = documents(3000), days("2012-01-01", "2014-12-31", 3000)
    trends = trends_of(spoken, times)
    first, last = (spoken.spoken[rows, 0] for rows in (times <= trends.until, times >= trends.since))
    assert trends.reach.after[0] - trends.reach.before[0] == pytest.approx(last.mean() - first.mean())
    expected = np.sqrt(first.var() / first.size + last.var() / last.size)
    assert trends.reach.error[0] == pytest.approx(expected, rel=0.01)


def test_chance_alone_seldom_makes_a_change():
    times = days("2012-01-01", "2014-12-31", 600)
    called = [trends_of(documents(600, topics=10, seed=seed), times).tone.clear.any() for seed in range(60)]
    assert np.mean(called) < 0.15


@pytest.mark.parametrize(
    "years",
    [[2015] * 90 + [2016] * 10, [2014] * 10 + [2015] * 90, [2014] * 5 + [2015] * 90 + [2016] * 5, [2014, 2015]],
)
def test_dates_with_many_equals_still_have_a_first_and_a_last(years):
    times = np.array([f"{year}-01-01" for year in years], dtype="datetime64[D]")
    trends = trends_of(documents(len(years)), times)
    assert trends.until < trends.since


def test_the_order_of_documents_does_not_matter():
    spoken, times = documents(), days("2012-01-01", "2014-12-31", 600)
    order = np.argsort(times, kind="stable")
    assert periods_of(times).names == periods_of(times[order]).names
    one, other = trends_of(spoken, times), trends_of(spoken.at(order), times[order])
    np.testing.assert_allclose(one.tone.after, other.tone.after)
