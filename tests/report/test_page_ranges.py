"""Ranges on the page: next to every number, explained, and only if requested."""

from dataclasses import replace

import numpy as np
import pytest
from small_reviews import HELD_OUT, REVIEWS, SETTINGS, prepare

from textsignal.errors import InputError
from textsignal.report.page.charts import chart_specs
from textsignal.report.page.render import render
from textsignal.report.values.findings import findings

HOTELS = np.arange(len(REVIEWS.texts)) % 40


@pytest.fixture(scope="module")
def effects(model):
    return model.estimate_effects(texts=REVIEWS.texts, responses=REVIEWS.ratings, groups=HOTELS)


@pytest.fixture(scope="module")
def report(model, effects):
    settings = replace(SETTINGS, within="hotel")
    return prepare(model, model.read(REVIEWS.texts), REVIEWS.ratings, HELD_OUT, settings, effects=effects)


@pytest.fixture(scope="module")
def file(report, tmp_path_factory):
    """Its page: one theme's cost is not clear, and all others are."""
    first, *others = report.themes
    unsure = replace(first, cost_low=-0.4, cost_high=0.3, cost_clear=False)
    sure = [replace(theme, cost_clear=True, gain_clear=True) for theme in others]
    file = tmp_path_factory.mktemp("ranges") / "report.html"
    file.write_text(render(replace(report, themes=(unsure, *sure))), encoding="utf-8")
    return file


def rows_of(report):
    return chart_specs(report)["drivers"]["data"]["values"]


def test_cards_have_the_ranges_of_their_own_themes(report, effects):
    for measure in ("cost", "gain"):
        table = effects.of(measure).set_index("theme")
        for card in report.themes:
            row = table.loc[card.number]
            assert (getattr(card, f"{measure}_low"), getattr(card, f"{measure}_high")) == (row["low"], row["high"])
            assert getattr(card, f"{measure}_clear") == (row["p_holm"] < 0.05 and row["estimate"] > 0)


def test_the_page_says_what_ranges_are_and_which_correction_is_used(report, effects):
    explained = render(report)
    for words in (
        "95% confidence intervals",
        "each theme by itself",
        "all 7 rows of the table tested together",
        "Holm",
        "5%",
    ):
        assert words in explained
    assert "the same hotel are treated as dependent" in explained
    assert "themes as given; “Reproduced” on the cards shows" in explained
    assert "middle of its interval" in explained
    assert report.model_settings["Intervals"] == f"95%. {effects.method}"


def test_nothing_is_said_of_ranges_that_nobody_asked_for(report, page_file):
    page = page_file.read_text(encoding="utf-8")
    assert 'class="range"' not in page
    assert 'id="ranges"' not in page
    assert "cost_low" not in page
    bare = replace(report, ranges=None, themes=tuple(replace(card, **NO_RANGES) for card in report.themes))
    assert all(row["low"] == row["value"] == row["high"] and row["clear"] for row in rows_of(bare))


NO_RANGES = {f"{measure}_{part}": None for measure in ("cost", "gain") for part in ("low", "high", "clear")}


@pytest.mark.parametrize("lower", [False, True])
def test_ranges_in_the_chart_lie_on_the_side_of_their_bars(report, lower):
    naming = replace(report, naming=replace(report.naming, lower_is_better=lower))
    cards = {card.number: card for card in report.themes}
    for row in rows_of(naming):
        card, sign = cards[row["theme"]], (-1 if row["side"] == "costs" else 1) * (-1 if lower else 1)
        name = "cost" if row["side"] == "costs" else "gain"
        ends = sorted(sign * getattr(card, f"{name}_{end}") for end in ("low", "high"))
        assert [row["low"], row["high"]] == pytest.approx(ends)
        assert sign * row["end"] >= max(sign * row[part] for part in ("value", "low", "high")) - 1e-12
        assert row["number"].endswith(" ?") != getattr(card, f"{name}_clear")


def test_the_conclusion_is_of_what_is_clear(report):
    def changed_findings(**changed):
        *themes, overall = report.themes
        of_overall = replace(overall, cost=9.0, gain=9.0, **changed)
        cards = [replace(card, cost=0.1 * place, gain=0.0, **changed) for place, card in enumerate(themes)]
        cards[-1] = replace(cards[-1], cost_clear=False)
        return cards, findings([*cards, of_overall], report.summary, report.prediction, report.naming)

    each = {"cost_per_complaint": 1.0, "gain_per_praise": 1.0}
    cards, found = changed_findings(cost_clear=True, cost_low=0.1, cost_high=0.2, **each)
    assert str(found.conclusion) == f"“{cards[-2].label}” costs most of all clear ones: 0.40 stars (0.10 to 0.20)"
    _, found = changed_findings(cost_clear=False, **each)
    assert str(found.conclusion) == "No theme clearly moves the Rating."
    assert found.titles[0] == "What to fix first: none of these is clear"


def test_a_range_stands_beside_every_number_and_nothing_is_cut_off(file, report, visit):
    first = report.themes[0].number
    for width in (1280, 390):
        page = visit(file, width=width).page
        card = page.locator(f"#theme-{first} summary").first.inner_text()
        assert "(−0.40 to 0.30)" in card
        assert "not clear" in card
        row = page.locator(f"#row-{first}")
        assert "(−0.40 to 0.30)" in row.inner_text()
        assert page.locator("#theme-rows .range").count() == 2 * len(report.themes)
        cut_off = "part => part.scrollWidth > part.clientWidth + 1"
        assert not page.locator(".ranged .scroll").evaluate(cut_off)
        assert not page.locator("html").evaluate(cut_off)
    with page.expect_download() as download:
        page.click("#download")
    assert "cost_low,cost_high,cost_clear,gain_low" in download.value.path().read_text().splitlines()[0]


def test_what_cannot_be_had_is_named(model, tmp_path):
    with pytest.raises(InputError, match="interval=95 must be above 0 and below 1"):
        model.report(tmp_path / "page.html", interval=95)
    with pytest.raises(InputError, match=r"give interval=0\.95 too"):
        model.report(tmp_path / "page.html", groups=HOTELS[:300])
    with pytest.raises(InputError, match="interval=95 must be"):
        model.drivers(interval=95)
