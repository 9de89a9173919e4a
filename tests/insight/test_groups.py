"""Groups and periods: laws of shrunk means, agreement with the table of drivers, periods and changes."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsignal.errors import InputError
from textsignal.families import Binomial
from textsignal.insight.drivers import driver_table, grouped_drivers
from textsignal.insight.groups import (
    FEW,
    FEWEST,
    MOST,
    compare,
    compare_groups,
    compare_periods,
    group_means,
    periods_of,
    trends_of,
)
from textsignal.reading.mentions import Mentions

MEASURES = ("mentions", "tone", "cost", "gain")


FAMILY = Binomial(4, 1)


#: Tone beyond this is a complaint or praise.
NEUTRAL = 0.2


def judged(mentions):
    """Return mentions with the complaints and the praise that their tone makes."""
    bad, good = mentions.tone < -NEUTRAL, mentions.tone > NEUTRAL
    of_tone = {"complaint": mentions.tone * bad, "praise": mentions.tone * good, "complains": bad, "praises": good}
    return replace(mentions, eta=0.4 + mentions.tone.sum(axis=1), **of_tone)


def documents(n=600, themes=3, seed=0, weight=None):
    """Mentions in texts, without a difference between groups."""
    rng = np.random.default_rng(seed)
    mentioned = rng.random((n, themes)) < 0.6
    tone, none = rng.normal(0.1, 0.5, (n, themes)) * mentioned, np.zeros((n, themes))
    mentions = Mentions(
        family=FAMILY,
        eta=np.zeros(n),
        tone=tone,
        complaint=none,
        praise=none,
        shares=np.full((n, themes), 1 / themes),
        mentioned=mentioned,
        complains=none > 0,
        praises=none > 0,
        unplaced=np.zeros(n),
        responses=np.full(n, np.nan),
        weight=np.ones(n) if weight is None else weight,
    )
    return judged(mentions)


def with_problem(mentions, rows, theme=0, by=-1.0):
    """Return texts of which some are more negative about a theme."""
    tone = mentions.tone.copy()
    tone[rows, theme] += by * mentions.mentioned[rows, theme]
    return judged(replace(mentions, tone=tone))


def groups_of(n=600, k=6):
    return pd.Series([f"g{i % k}" for i in range(n)])


@given(st.lists(st.tuples(st.floats(-5, 5), st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=40))
def test_shrunk_means_lie_between_the_group_s_and_that_of_all(rows):
    values, codes, weight = (np.array(column) for column in zip(*rows, strict=True))
    if weight.sum() == 0:
        return
    found = group_means(values, weight.astype(float), codes, 4)
    used = found.count > 0
    low, high = np.minimum(found.mean, found.overall), np.maximum(found.mean, found.overall)
    assert (found.shrunk[used] >= low[used] - 1e-9).all()
    assert (found.shrunk[used] <= high[used] + 1e-9).all()
    assert np.allclose(found.shrunk[~used], found.overall)
    assert (found.sd >= 0).all()
    assert (found.sd[used] <= found.error[used] + 1e-9).all()


def test_the_mean_of_all_is_the_weighted_mean_of_groups():
    rng = np.random.default_rng(1)
    found = group_means(rng.normal(size=90), np.ones(90), rng.integers(0, 5, 90), 5)
    assert found.count @ found.mean / 90 == pytest.approx(found.overall)


def test_one_group_of_all_documents_is_all():
    mentions = documents()
    found = compare_groups(mentions, pd.Series(["all"] * 600))
    table = driver_table(mentions)
    for name in ("mentions", "cost", "gain"):
        means = getattr(found, name)
        np.testing.assert_allclose(means.shrunk[0], means.overall)
        np.testing.assert_allclose(means.overall, table[name])
    assert not any(getattr(found, name).clear.any() for name in MEASURES)


def test_equal_groups_are_shrunk_to_the_mean():
    values = np.tile([0.0, 1.0, 2.0], 8)
    found = group_means(values, np.ones(24), np.repeat(np.arange(4), 6), 4)
    np.testing.assert_allclose(found.shrunk, 1.0)
    np.testing.assert_allclose(found.sd, 0.0)
    assert not found.clear.any()


def test_larger_groups_are_shrunk_less():
    rng = np.random.default_rng(2)
    codes = np.repeat(np.arange(4), (400, 200, 40, 8))
    values = rng.normal(size=648) + np.array([1.0, -1.0, 1.0, -1.0])[codes]
    found = group_means(values, np.ones(648), codes, 4)
    kept = (found.shrunk - found.overall) / (found.mean - found.overall)
    assert (np.diff(kept) < 0).all()
    assert (np.diff(found.sd) > 0).all()


def test_known_variances_are_recovered():
    """Between and within variance of a simulation, by what the shrinkage makes of them."""
    rng = np.random.default_rng(3)
    n_groups, n_each, between, within = 400, 25, 0.3**2, 1.0
    truth = rng.normal(0, between**0.5, n_groups)
    codes = np.repeat(np.arange(n_groups), n_each)
    found = group_means(truth[codes] + rng.normal(0, within**0.5, codes.size), np.ones(codes.size), codes, n_groups)
    kept = between / (between + within / n_each)
    np.testing.assert_allclose(found.sd**2, (1 - kept) * between, rtol=0.1)
    # Closer to the truth than the means themselves, and as close as its standard deviation.
    assert np.mean((found.shrunk - truth) ** 2) < 0.8 * np.mean((found.mean - truth) ** 2)
    assert np.mean(((found.shrunk - truth) / found.sd) ** 2) == pytest.approx(1, abs=0.15)


def test_whole_weights_are_repeated_documents():
    rng = np.random.default_rng(4)
    weight = rng.integers(0, 4, 600).astype(float)
    groups = groups_of()
    weighted = compare_groups(documents(weight=weight), groups)
    rows = np.repeat(np.arange(600), weight.astype(int))
    repeated = compare_groups(documents().at(rows), groups.iloc[rows])
    assert weighted.names == repeated.names
    np.testing.assert_allclose(weighted.documents, repeated.documents)
    np.testing.assert_allclose(weighted.complaints, repeated.complaints)
    for name in MEASURES:
        for part in ("count", "mean", "shrunk", "sd", "error", "overall"):
            np.testing.assert_allclose(getattr(getattr(weighted, name), part), getattr(getattr(repeated, name), part))


def test_means_of_groups_are_their_drivers():
    mentions, groups = documents(), groups_of()
    found = compare_groups(mentions, groups)
    table = grouped_drivers(mentions, groups).set_index(["group", "theme"])
    for g, name in enumerate(found.names):
        for k in range(3):
            row = table.loc[(name, k)]
            assert found.documents[g] == row["documents"]
            for measure in ("mentions", "cost", "gain"):
                assert getattr(found, measure).mean[g, k] == pytest.approx(row[measure])
            assert (found.praise[g, k], found.complaints[g, k]) == (
                pytest.approx(row["praise"]),
                pytest.approx(row["complaints"]),
            )


def test_tone_is_its_contribution_to_predictions_of_texts_with_mentions():
    mentions = documents()
    found = compare_groups(mentions, groups_of())
    rows = np.flatnonzero((groups_of() == found.names[2]) & mentions.mentioned[:, 1])
    added = FAMILY.mean(mentions.eta[rows]) - FAMILY.mean(mentions.eta[rows] - mentions.tone[rows, 1])
    assert found.tone.mean[2, 1] == pytest.approx(added.mean())
    assert found.spoken[2, 1] == rows.size


def test_a_problem_is_found_where_it_is_and_nowhere_else():
    groups = groups_of(3000, 10)
    found = compare_groups(with_problem(documents(3000), (groups == "g7").to_numpy()), groups)
    worst = found.names.index("g7")
    assert found.tone.clear[worst, 0] == -1
    assert found.cost.clear[worst, 0] == 1
    assert found.tone.clear[:, 0].tolist().count(-1) == 1
    assert not found.mentions.clear.any()


def test_groups_that_do_not_differ_are_hardly_ever_called_clear():
    called = [
        np.mean(getattr(compare_groups(documents(1000, seed=seed), groups_of(1000, 20)), name).clear != 0)
        for seed in range(10)
        for name in MEASURES
    ]
    assert np.mean(called) < 0.02


def test_few_documents_are_marked():
    groups = pd.Series(["large"] * 590 + ["small"] * 10)
    found = compare_groups(documents(), groups)
    assert not found.few[0].any()
    assert found.few[1].tolist() == (found.spoken[1] < FEW).tolist()
    assert found.few[1].any()


def test_a_theme_that_a_group_never_mentions_is_shrunk_to_the_mean_of_all():
    mentions = documents()
    mentioned = mentions.mentioned.copy()
    mentioned[::6, 2] = False
    mentions = judged(replace(mentions, tone=mentions.tone * mentioned, mentioned=mentioned))
    found = compare_groups(mentions, groups_of())
    g = found.names.index("g0")
    assert np.isnan(found.tone.mean[g, 2])
    assert found.tone.shrunk[g, 2] == pytest.approx(found.tone.overall[2])
    assert found.tone.clear[g, 2] == 0
    assert found.mentions.clear[g, 2] == -1


def test_a_theme_without_mentions_is_never_clear():
    mentions = documents()
    mentions.mentioned[:, 1] = False
    found = compare_groups(mentions, groups_of())
    assert not found.mentions.clear[:, 1].any()
    assert not found.tone.clear[:, 1].any()
    assert found.few[:, 1].all()


def test_groups_of_one_text_each_are_shrunk_to_the_mean():
    found = compare_groups(documents(50), pd.Series(np.arange(50)))
    np.testing.assert_allclose(found.cost.shrunk, np.tile(found.cost.overall, (50, 1)))
    assert not found.cost.clear.any()


def test_texts_without_a_group_are_excluded():
    mentions, groups = documents(), groups_of().astype(object)
    groups[:300] = None
    found = compare_groups(mentions, groups)
    expected = compare_groups(mentions.at(np.arange(300, 600)), groups.iloc[300:])
    np.testing.assert_array_equal(found.tone.shrunk, expected.tone.shrunk)
    assert found.documents.sum() == 300


def test_groups_are_sorted_by_size_then_by_name_and_those_without_weight_are_excluded():
    groups = pd.Series(["b"] * 200 + ["a"] * 200 + ["c"] * 100 + ["d"] * 100)
    weight = np.where(groups == "d", 0.0, 1.0)
    assert compare_groups(documents(weight=weight), groups).names == ("a", "b", "c")
    with pytest.raises(InputError, match="the weights of all are 0"):
        compare_groups(documents(weight=np.zeros(600)), groups)


def test_the_order_of_documents_does_not_matter():
    mentions, groups, order = documents(), groups_of(), np.random.default_rng(5).permutation(600)
    one, other = compare_groups(mentions, groups), compare_groups(mentions.at(order), groups.iloc[order])
    assert one.names == other.names
    np.testing.assert_allclose(one.tone.shrunk, other.tone.shrunk)


def test_codes_and_names_give_the_same_comparison_as_groups():
    mentions, groups = documents(), groups_of()
    one, other = compare_groups(mentions, groups), compare(mentions, np.arange(600) % 6, [f"g{k}" for k in range(6)])
    assert one.names == other.names
    np.testing.assert_array_equal(one.cost.shrunk, other.cost.shrunk)


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
    mentions, times = documents(), days("2012-01-01", "2014-12-31", 600)
    periods = periods_of(times)
    found = compare_periods(mentions, periods)
    for g in range(len(periods.names)):
        rows = periods.codes == g
        np.testing.assert_allclose(found.mentions.mean[g], mentions.mentioned[rows].mean(axis=0))


def test_what_changes_is_found_and_what_does_not_is_not():
    times = days("2012-01-01", "2014-12-31", 3000)
    late = times > np.datetime64("2014-01-01")
    trends = trends_of(with_problem(documents(3000), late, by=-0.4), times)
    assert trends.tone.clear.tolist() == [-1, 0, 0]
    assert trends.mentions.clear.tolist() == [0, 0, 0]
    better = trends_of(with_problem(documents(3000), late, by=0.4), times)
    assert better.tone.clear[0] == 1


def test_the_thirds_are_thirds():
    times = days("2012-01-01", "2014-12-31", 3000)
    trends = trends_of(documents(3000), times)
    assert np.mean(times <= trends.until) == pytest.approx(1 / 3, abs=0.01)
    assert np.mean(times >= trends.since) == pytest.approx(1 / 3, abs=0.01)


def test_the_error_of_a_change_is_that_of_a_difference_of_means():
    mentions, times = documents(3000), days("2012-01-01", "2014-12-31", 3000)
    trends = trends_of(mentions, times)
    first, last = (mentions.mentioned[rows, 0] for rows in (times <= trends.until, times >= trends.since))
    assert trends.mentions.after[0] - trends.mentions.before[0] == pytest.approx(last.mean() - first.mean())
    expected = np.sqrt(first.var() / first.size + last.var() / last.size)
    assert trends.mentions.error[0] == pytest.approx(expected, rel=0.01)


def test_chance_alone_seldom_makes_a_change():
    times = days("2012-01-01", "2014-12-31", 600)
    called = [trends_of(documents(600, themes=10, seed=seed), times).tone.clear.any() for seed in range(60)]
    assert np.mean(called) < 0.15


@pytest.mark.parametrize(
    "years", [[2015] * 90 + [2016] * 10, [2014] * 10 + [2015] * 90, [2014] * 5 + [2015] * 90 + [2016] * 5, [2014, 2015]]
)
def test_dates_with_many_equals_still_have_a_first_and_a_last(years):
    times = np.array([f"{year}-01-01" for year in years], dtype="datetime64[D]")
    trends = trends_of(documents(len(years)), times)
    assert trends.until < trends.since


def test_the_order_of_dated_documents_does_not_matter():
    mentions, times = documents(), days("2012-01-01", "2014-12-31", 600)
    order = np.argsort(times, kind="stable")
    assert periods_of(times).names == periods_of(times[order]).names
    one, other = trends_of(mentions, times), trends_of(mentions.at(order), times[order])
    np.testing.assert_allclose(one.tone.after, other.tone.after)
