"""Findings: what to fix and keep, how doubts are stated, which themes are unstable, and what looks wrong."""

from dataclasses import replace

import pandas as pd
import pytest
from small_reviews import HELD_OUT, REVIEWS, SETTINGS, prepare

from textsignal.insight.findings import NOTHING, TO_FIX, TO_KEEP, cost_of
from textsignal.report.page.render import render
from textsignal.report.values.data import Named
from textsignal.report.values.findings import MANY, NAMED, findings, unstable
from textsignal.uncertainty.stability import STABLE


@pytest.fixture(scope="module")
def report(model):
    return prepare(model, model.read(REVIEWS.texts), REVIEWS.ratings, HELD_OUT, SETTINGS)


def found(report, costs=None, gains=None, naming=None, **changed):
    """Findings on a report with other numbers: of all themes but the overall verdict, or of the texts."""
    *of_report, overall = report.themes
    costs = costs or [theme.cost for theme in of_report]
    gains = gains or [theme.gain for theme in of_report]
    parts = zip(of_report, costs, gains, strict=True)
    of_themes = {name: value for name, value in changed.items() if hasattr(report.themes[0], name)}
    themes = [replace(theme, cost=cost, gain=gain, **EACH, **of_themes) for theme, cost, gain in parts]
    documents = replace(report.summary, **{name: changed[name] for name in changed.keys() - of_themes.keys()})
    return findings([*themes, overall], documents, report.prediction, naming or report.naming)


def named(sentences):
    return [part.number for sentence in sentences for part in sentence.parts if isinstance(part, Named)]


#: What each complaint costs, and each praise adds, whatever themes are made of.
EACH = {"cost_per_complaint": 0.5, "gain_per_praise": 0.5}
WORDS = {"raises": ("quiet", "warm"), "lowers": ("loud", "cold")}


def test_what_to_fix_is_the_largest_cost_and_what_to_keep_the_largest_gain_of_the_others(report):
    numbers = [theme.number for theme in report.themes]
    result = found(report, [0.6, 0.5, 0.4, 0.3, 0.2, 0.1], [0.5, 0.1, 0.2, 0.2, 0.8, 0.7], **WORDS)
    assert named(result.to_fix) == numbers[:TO_FIX]
    assert named(result.to_keep) == [numbers[4], numbers[5]][:TO_KEEP]
    assert named([result.conclusion]) == [numbers[0], numbers[4]]


def test_the_overall_verdict_is_last_and_never_a_finding(report):
    *others, overall = report.themes
    assert overall.is_overall
    assert not any(theme.is_overall for theme in others)
    most = replace(overall, cost=9.0, gain=9.0, cost_per_complaint=9.0, gain_per_praise=9.0)
    result = findings([*others, most], report.summary, report.prediction, report.naming)
    assert overall.number not in named([*result.to_fix, *result.to_keep, result.conclusion])


def test_a_strength_is_not_fixed_first(report):
    numbers = [theme.number for theme in report.themes]
    result = found(report, [0.6, 0.5, 0.4, 0.3, 0.2, 0.1], [0.9, 0.1, 0.1, 0.1, 0.1, 0.0], **WORDS)
    assert named(result.to_fix) == numbers[1:4]
    assert named(result.to_keep)[0] == numbers[0]


def test_what_is_only_judged_comes_last(report):
    numbers = [theme.number for theme in report.themes]
    judged = replace(report.themes[0], raises=("great", "love"), lowers=("worst", "not good"))
    others = [replace(theme, **WORDS) for theme in report.themes[1:]]
    result = found(replace(report, themes=(judged, *others)), [0.6, 0.5, 0.4, 0.3, 0.2, 0.1], [0.0] * 6)
    assert named(result.to_fix) == numbers[1:4]
    telling = replace(judged, lowers=("worst", "not good", "loud", "cold"))
    result = found(replace(report, themes=(telling, *others)), [0.6, 0.5, 0.4, 0.3, 0.2, 0.1], [0.0] * 6)
    assert named(result.to_fix) == numbers[:3]
    assert "(loud, cold);" in str(result.to_fix[0])


def test_a_finding_says_how_many_complain_their_mean_and_what_each_costs(report):
    numbers = {"complaints": 0.2, "cost_per_complaint": 3.0, "mean_complaint": 3.14}
    themes = [replace(theme, cost=0.6, gain=0.0, **WORDS, **numbers) for theme in report.themes[:-1]]
    result = findings(themes, report.summary, report.prediction, report.naming)
    assert str(result.to_fix[0]) == f"“{themes[0].label}”{cost_of(themes[0], report.naming)}"
    assert str(result.to_fix[0]).endswith(
        ": 20% of texts complain about it (loud, cold); their average Rating is 3.1. Each complaint costs 3.00 stars, "
        "together 0.60: without complaints, the average would be 0.60 stars higher."
    )
    unknown = [replace(theme, mean_complaint=None) for theme in themes]
    assert "their average" not in str(findings(unknown, report.summary, report.prediction, report.naming).to_fix[0])


@pytest.mark.parametrize("value", [0.0, NOTHING * 0.99])
def test_nothing_is_made_of_a_theme_that_moves_nothing(report, value):
    result = found(report, [value] * 6, [value] * 6)
    assert result.to_fix == result.to_keep == ()
    assert str(result.conclusion) == "No theme moves the Rating."


@pytest.mark.parametrize(
    ("name", "shown"), [("stars", "stars"), ("Overall_satisfaction", "Overall satisfaction"), ("NPS", "NPS")]
)
def test_sentences_hold_for_any_name_and_unit(report, name, shown):
    naming = replace(report.naming, response=name, unit="units")
    result = found(report, [0.6] * 6, naming=naming, mean_complaint=3.1)
    assert f"their average {shown} is 3.1" in str(result.to_fix[0])
    assert f"differences in the {shown}:" in result.trust
    assert "units higher." in str(result.to_fix[0])


def test_doubts_are_said(report):
    assert found(report).warnings == report.findings.warnings
    doubts = {"training": "few texts", "copies": "copies of others", "leaked": "in training too"}
    for name, words in doubts.items():
        result = found(report, **{name: 40})
        assert any(words in warning for warning in result.warnings)
        assert not any(words in warning for warning in found(report, **{name: 0}).warnings)


def test_held_out_skill_is_said_in_words_and_numbers(report):
    ours = report.prediction.rows[0].held_out
    trust = report.findings.trust
    assert f"{max(ours.r2, 0):.0%}" in trust
    assert "100 texts held out from training" in trust
    assert f"{ours.rmse:.2f} stars" in trust


def cards_of(report, *shares):
    *themes, overall = report.themes
    return [replace(card, stability=share) for card, share in zip(themes, shares, strict=True)] + [overall]


def test_themes_of_a_report_on_the_training_texts_are_checked(report, model):
    *themes, overall = report.themes
    assert all(0 <= card.stability <= 1 for card in themes)
    assert overall.stability is None
    other = prepare(model, model.read(REVIEWS.texts[:50]), REVIEWS.ratings[:50])
    assert all(card.stability is None for card in other.themes)


def test_a_warning_names_the_unstable_in_the_order_of_the_cards(report):
    names = [f"“{card.label}”" for card in report.themes]
    assert unstable(cards_of(report, *[1.0] * 6)) is None
    assert unstable(cards_of(report, *[None] * 6)) is None
    assert unstable(cards_of(report, 1, 1, STABLE, 1, 1, 1)) is None
    one = unstable(cards_of(report, 1, 1, 0.4, 1, 1, 1))
    assert one == f"{names[2]} is unstable: most refits to other samples do not reproduce it."
    two = unstable(cards_of(report, 1, 0.2, 1, 1, 1, 0))
    assert two.startswith(
        f"{names[1]} and {names[5]} are unstable: most refits to other samples do not reproduce them."
    )


def test_many_are_counted_and_fewer_themes_advised(report):
    warning = unstable(cards_of(report, *[0.0] * 6))
    assert warning.count("“") == NAMED
    assert f"and {6 - NAMED} more are" in warning
    assert warning.endswith("Fewer themes may be more stable.")
    assert "more stable" not in unstable(cards_of(report, 0, *[1] * 5))
    assert 1 / 6 < MANY <= 2 / 6


def test_the_page_marks_the_cards_of_unstable_themes(report):
    page = render(replace(report, themes=tuple(cards_of(report, 0.25, 1, 1, 1, 0, 1))))
    assert page.count('class="unstable"') == 2
    assert "in 1 of 4 refits to halves" in page
    plain = render(replace(report, themes=tuple(cards_of(report, *[None] * 6))))
    assert 'class="unstable"' not in plain
    assert "Reproduced" not in plain


TITLE = "What looks wrong</h2>"


@pytest.fixture(scope="module")
def reading(model):
    return model.read(REVIEWS.texts)


def test_clean_data_have_no_such_section(model, reading):
    report = prepare(model, reading, REVIEWS.ratings, HELD_OUT, SETTINGS)
    assert report.checks == ()
    assert TITLE not in render(report)


def test_what_looks_wrong_is_listed_as_written_and_linked(model, reading):
    hotels = pd.Series([f"<{'low' if rating < 4 else 'high'}>" for rating in REVIEWS.ratings], name="hotel")
    report = prepare(model, reading, REVIEWS.ratings, HELD_OUT, SETTINGS, groups=hotels)
    assert "residuals" in {finding.check for finding in report.checks}
    page = render(report)
    assert page.count(TITLE) == 1
    assert 'href="#checks"' in page
    assert "&lt;low&gt;" in page
    assert "<low>" not in page


def test_too_few_responses_are_not_checked(model, reading):
    few = pd.Series(REVIEWS.ratings, dtype=float).where(pd.Series(range(len(REVIEWS.ratings))) < 20)
    assert prepare(model, reading, few, None, SETTINGS).checks == ()
