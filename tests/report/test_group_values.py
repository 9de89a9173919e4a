"""Groups and time in a report, checked against the texts themselves."""

from itertools import product

import altair as alt
import numpy as np
import pandas as pd
import pytest
from small_reviews import HELD_OUT, REVIEWS, SETTINGS, N, answered, prepare

from textsignal.insight.groups import FALSE_ALARM, compare_groups, trends_of
from textsignal.report.page.charts import chart_specs
from textsignal.report.page.render import check_no_texts, render
from textsignal.report.values.comparisons import NAME, SHOWN
from textsignal.report.values.data import ReportSettings

#: Rows of a table of themes: six, and the overall verdict.
N_ROWS = 7
#: Every third review in one of three hotels.
HOTELS = pd.Series([f"Hotel {i % 3}" for i in range(N)], name="hotel")
DAYS = np.datetime64("2012-01-01", "D") + np.random.default_rng(0).integers(0, 3 * 365, N)


@pytest.fixture(scope="module")
def reading(model):
    return model.read(REVIEWS.texts)


@pytest.fixture(scope="module")
def prepared(model, reading):
    def with_these(groups=None, times=None, settings=SETTINGS):
        return prepare(model, reading, REVIEWS.ratings, HELD_OUT, settings, groups=groups, times=times)

    return with_these


@pytest.fixture(scope="module")
def spoken(model, reading):
    return answered(reading, REVIEWS.ratings).mentions


@pytest.fixture(scope="module")
def report(prepared):
    return prepared(HOTELS, DAYS)


def most_complained_of(spoken):
    """The theme, other than the overall verdict, that most texts complain about."""
    return int(spoken.complains.sum(axis=0)[:-1].argmax())


def by_tone(spoken):
    """A group of the texts that speak worst of a theme, and one of the rest."""
    k = most_complained_of(spoken)
    added = np.where(spoken.mentioned[:, k], spoken.tone[:, k], 0.0)
    return pd.Series(np.where(added < np.quantile(added, 0.2), "Worst Inn", "Others"))


def test_without_groups_and_dates_nothing_is_said_of_them(prepared):
    report = prepared()
    assert report.groups is report.timeline is None
    assert 'id="groups"' not in render(report)


def test_cells_are_the_comparison_of_groups(report, spoken):
    found = compare_groups(spoken, HOTELS)
    assert report.groups.names == list(found.names)
    assert report.groups.sizes == found.documents.tolist()
    for g, k in product(report.groups.shown, range(N_ROWS)):
        cell = report.groups.cell(g, k)
        assert cell.few == found.few[g, k]
        for name in ("tone", "mentions", "cost"):
            shown, means = getattr(cell, name), getattr(found, name)
            assert (shown.value, shown.clear) == (means.shrunk[g, k], means.clear[g, k])


def test_over_all_is_what_the_cards_say(report):
    for theme in report.themes:
        cell = report.groups.overall(theme.number)
        assert (cell.mentions.value, cell.cost.value) == (pytest.approx(theme.mentions), pytest.approx(theme.cost))


def test_colours_are_blue_for_better_and_orange_for_worse_on_one_scale(prepared, spoken):
    table = prepared(by_tone(spoken)).groups
    for name, full, good in (("tone", table.full_tone, 1), ("cost", table.full_cost, -1)):
        for g, k in product(table.shown, range(N_ROWS)):
            shown = getattr(table.cell(g, k), name)
            away = shown.value - getattr(table.overall(k), name).value
            assert shown.shade == pytest.approx(np.clip(good * away / full, -1, 1))


def test_the_worst_group_is_named_where_it_is_clear(prepared, spoken):
    report, k = prepared(by_tone(spoken)), most_complained_of(spoken)
    card = next(theme for theme in report.themes if theme.number == k)
    worst = report.groups.most(k, "cost")[0]
    assert worst.startswith("Worst Inn (costs ")
    assert str(report.groups.findings(report.themes)[0]).startswith(f"“{card.label}” costs Worst Inn ")
    assert not any("Overall verdict" in str(finding) for finding in report.groups.findings(report.themes))
    assert f"Worst group: {worst}." in render(report) or card.cost < card.gain


def test_nothing_is_found_where_groups_do_not_differ(prepared):
    twins = np.arange(N) // 2 % 2  # the same grammar wrote both
    report = prepared(pd.Series(twins))
    (finding,) = report.groups.findings(report.themes)
    assert "No group differs clearly" in str(finding)
    assert not any(report.groups.most(k, measure) for k in range(N_ROWS) for measure in ("cost", "gain"))


def test_only_the_largest_of_many_groups_are_shown_and_the_rest_counted(prepared):
    groups = pd.Series([f"h{i % 200}" for i in range(N)])
    groups[:40] = "largest"
    table = prepared(groups).groups
    assert table.names[0] == "largest"
    assert (len(table.shown), len(table.names)) == (SHOWN, 201)
    assert sum(table.sizes) == N
    assert f"The {SHOWN} largest of 201 groups are shown" in render(prepared(groups))


def test_two_thousand_groups_take_no_more_than_the_shown_ones(model, prepared):
    groups = pd.Series([f"guest {i}" for i in range(N)])
    report = prepared(groups)
    assert len(report.groups.shown) == SHOWN
    assert len(report.groups.findings(report.themes)) == 1
    texts = REVIEWS.texts * 6
    report = prepare(
        model, model.read(texts), np.tile(REVIEWS.ratings, 6), groups=pd.Series(np.arange(len(texts)) % 2000)
    )
    assert (len(report.groups.names), len(report.groups.shown)) == (2000, SHOWN)


def test_one_group_has_nothing_to_be_compared_with(prepared):
    report = prepared(pd.Series(["only"] * N))
    assert [str(finding) for finding in report.groups.findings(report.themes)] == ["There is only one group"]
    assert all(report.groups.cell(0, k).tone.shade == 0 for k in range(N_ROWS))


def test_documents_without_group_are_counted(prepared):
    groups = HOTELS.astype(object)
    groups[1:] = None
    table = prepared(groups).groups
    assert (table.without, table.sizes) == (N - 1, [1])
    render(prepared(groups))


def test_names_that_are_long_or_alike_are_cut_and_told_apart(prepared):
    groups = pd.Series(np.where(np.arange(N) % 2, "x" * 5000 + "a", "x" * 5000 + "b"))
    names = prepared(groups).groups.names
    assert len(set(names)) == 2
    assert max(map(len, names)) <= NAME + 4


def test_names_are_shown_as_they_are(prepared):
    names = ["New_York_City", "東京", "🏨 Inn", "<script>x</script>", "a\nb\x00"]
    shown = set(prepared(pd.Series([names[i % 5] for i in range(N)])).groups.names)
    assert shown == {"New_York_City", "東京", "🏨 Inn", "<script>x</script>", "a b␀"}


def test_facts_hold_the_number_of_the_cell(report):
    for g, k in product(report.groups.shown, range(N_ROWS)):
        cell = report.groups.cell(g, k)
        number = f"{cell.tone.value:+.2f}".replace("-", "−") if abs(cell.tone.value) >= 0.005 else "0.00"
        assert f"Tone: {number}" in cell.facts
        assert f"Mentions: {cell.mentions.value:.0%}" in cell.facts
        assert f"Costs: {cell.cost.value:z.2f}" in cell.facts


def test_lines_are_the_means_of_periods(report, spoken):
    assert report.timeline.noun == "quarters"
    for k in range(N_ROWS):
        points = report.timeline.points(k)
        assert sum(point.texts for point in points) == spoken.mentioned[:, k].sum()
        for point in points:
            if point.tone is not None:
                assert point.low <= point.tone <= point.high


def test_the_order_of_dates_and_their_gaps_do_not_matter(prepared):
    times = DAYS.copy()
    times[5:50] = np.datetime64("NaT")
    timeline = prepared(times=times).timeline
    assert timeline.without == 45
    assert len({len(timeline.points(k)) for k in range(N_ROWS)}) == 1


def test_a_change_is_named(prepared, spoken):
    """Dates by how a theme is spoken of: it gets worse and worse."""
    k = most_complained_of(spoken)
    added = np.where(spoken.mentioned[:, k], spoken.tone[:, k], 0.0)
    times = np.datetime64("2012-01-01", "D") + 3 * np.argsort(np.argsort(-added, kind="stable"))
    assert trends_of(spoken, times).tone.clear[k] == -1
    report = prepared(times=times)
    assert (report.timeline.clear(k), report.timeline.trend(k).startswith("worse: ")) == (-1, True)
    label = next(theme.label for theme in report.themes if theme.number == k)
    conclusion = str(report.timeline.conclusion(report.themes))
    assert conclusion.startswith("Clearly worse: ")
    assert f"“{label}”" in conclusion


def test_of_dates_without_meaning_few_show_a_change_and_no_change_is_said_to_be_none(prepared, spoken):
    dates = [np.datetime64("2012-01-01", "D") + np.random.default_rng(k).integers(0, 1000, N) for k in range(200)]
    changes = [trends_of(spoken, days) for days in dates]
    changed = [change.tone.clear.any() or (change.mentions.clear > 0).any() for change in changes]
    assert np.mean([change.tone.clear.any() for change in changes]) <= FALSE_ALARM + 3 * np.sqrt(FALSE_ALARM / 200)
    timeline = prepared(times=dates[changed.index(False)])
    assert "No theme is clearly better, worse" in str(timeline.timeline.conclusion(timeline.themes))
    assert all(timeline.timeline.trend(k).startswith("no clear change") for k in range(N_ROWS))


def test_one_date_for_all_says_so(prepared):
    report = prepared(times=np.full(N, np.datetime64("2015-08-24", "D")))
    assert "All dates are the same" in str(report.timeline.conclusion(report.themes))
    assert [len(report.timeline.points(k)) for k in range(N_ROWS)] == [1] * N_ROWS
    assert all(report.timeline.trend(k) == "" for k in range(N_ROWS))


def test_texts_that_become_shorter_are_told_of(prepared, reading):
    times = np.datetime64("2012-01-01", "D") + np.argsort(np.argsort(-reading.n_words, kind="stable"))
    assert prepared(times=times).timeline.caution.startswith("Texts became shorter")
    longer = np.datetime64("2012-01-01", "D") + np.argsort(np.argsort(reading.n_words, kind="stable"))
    assert prepared(times=longer).timeline.caution.startswith("Texts became longer")


def test_lines_are_charts_that_vega_lite_allows_on_one_scale(report):
    specs = {name: spec for name, spec in chart_specs(report).items() if name.startswith("time-")}
    assert specs.keys() == {f"time-{theme.number}" for theme in report.themes}
    for spec in specs.values():
        config = {name: value for name, value in spec["config"].items() if name != "background"}
        alt.LayerChart.from_dict(spec | {"config": config}, validate=True)
    domains = {
        tuple(layer["encoding"]["y"]["scale"]["domain"])
        for spec in specs.values()
        for layer in spec["layer"]
        if "scale" in layer["encoding"]["y"]
    }
    assert domains == {report.timeline.ends}


def test_groups_are_shown_without_texts(prepared):
    settings = ReportSettings(response_name="Rating", unit="stars", with_texts=False, group_name="hotel")
    page = render(prepared(HOTELS, DAYS, settings))
    check_no_texts(page, REVIEWS.texts)
    assert "Hotel 1" in page
    assert REVIEWS.texts[0] not in page
