"""What a report says of unstable themes: they are named and marked, not hidden."""

from dataclasses import replace

import pytest
from small_reviews import HELD_OUT, REVIEWS, SETTINGS

from textsignal.report.page.render import render
from textsignal.report.values.findings import MANY, NAMED, unstable
from textsignal.report.values.prepare import prepare
from textsignal.uncertainty.stability import STABLE


@pytest.fixture(scope="module")
def report(models):
    return prepare(models["themes"], models["themes"].read(REVIEWS.texts), REVIEWS.ratings, HELD_OUT, SETTINGS)


def cards_of(report, *shares):
    return [replace(card, stability=share) for card, share in zip(report.topics, shares, strict=True)]


def test_themes_of_a_report_on_the_training_texts_are_checked(report, models):
    assert all(0 <= card.stability <= 1 for card in report.topics)
    other = prepare(models["themes"], models["themes"].read(REVIEWS.texts[:50]), REVIEWS.ratings[:50])
    assert all(card.stability is None for card in other.topics)
    topics = prepare(models["predictive"], models["predictive"].read(REVIEWS.texts), REVIEWS.ratings)
    assert all(card.stability is None for card in topics.topics)


def test_a_warning_names_the_unstable_in_the_order_of_the_cards(report):
    names = [f"“{card.label}”" for card in report.topics]
    assert unstable(cards_of(report, *[1.0] * 6)) is None
    assert unstable(cards_of(report, *[None] * 6)) is None
    assert unstable(cards_of(report, 1, 1, STABLE, 1, 1, 1)) is None
    one = unstable(cards_of(report, 1, 1, 0.4, 1, 1, 1))
    assert one == f"{names[2]} is cut differently in other samples of these texts: read it with care."
    two = unstable(cards_of(report, 1, 0.2, 1, 1, 1, 0))
    assert two.startswith(f"{names[1]} and {names[5]} are cut differently in other samples of these texts: read them")


def test_many_are_counted_and_fewer_themes_advised(report):
    said = unstable(cards_of(report, *[0.0] * 6))
    assert said.count("“") == NAMED
    assert f"and {6 - NAMED} more are" in said
    assert said.endswith("Fewer themes may be steadier.")
    assert "steadier" not in unstable(cards_of(report, 0, *[1] * 5))
    assert 1 / 6 < MANY <= 2 / 6


def test_the_page_marks_the_cards_of_unstable_themes(report):
    page = render(replace(report, topics=tuple(cards_of(report, 0.25, 1, 1, 1, 0, 1))))
    assert page.count('class="unstable"') == 2
    assert "in 1 of 4 models of other samples" in page
    plain = render(replace(report, topics=tuple(cards_of(report, *[None] * 6))))
    assert 'class="unstable"' not in plain
    assert "Comes back" not in plain
