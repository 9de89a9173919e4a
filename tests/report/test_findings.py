"""Findings: the largest lifts and worths are named, nothing else is, and doubts are said."""

from dataclasses import replace

import pytest
from small_reviews import HELD_OUT, REVIEWS, SETTINGS

from textsignal.report.values.data import Named
from textsignal.report.values.findings import TO_FIX, TO_KEEP, findings
from textsignal.report.values.prepare import prepare
from textsignal.report.values.wording import NOTHING


@pytest.fixture(scope="module", params=["themes", "predictive"])
def report(request, models):
    model = models[request.param]
    return prepare(model, model.read(REVIEWS.texts), REVIEWS.ratings, HELD_OUT, SETTINGS)


def found(report, lifts=None, worths=None, settings=SETTINGS, **changed):
    """Findings on a report with other numbers."""
    lifts = lifts or [topic.lift for topic in report.topics]
    worths = worths or [topic.worth for topic in report.topics]
    parts = zip(report.topics, lifts, worths, strict=True)
    topics = [replace(topic, lift=lift, worth=worth) for topic, lift, worth in parts]
    documents = replace(report.documents, **changed)
    return findings(topics, documents, report.prediction, settings, report.noun)


def named(sentences):
    return [part.number for said in sentences for part in said.parts if isinstance(part, Named)]


def test_what_to_fix_is_the_largest_lift_and_what_to_keep_the_largest_worth_of_the_others(report):
    numbers = [topic.number for topic in report.topics]
    said = found(report, [0.6, 0.5, 0.4, 0.3, 0.2, 0.1], [0.9, 0.1, 0.2, 0.3, 0.8, 0.7])
    assert named(said.to_fix) == numbers[:TO_FIX]
    assert named(said.to_keep) == [numbers[4], numbers[5]][:TO_KEEP]
    assert named([said.conclusion]) == [numbers[0], numbers[0]]


def test_a_finding_says_reach_tone_means_and_what_would_change(report):
    said = found(report, [0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
    topic, sentence = report.topics[0], str(said.to_fix[0])
    assert sentence.startswith(
        f"“{topic.label}”: {topic.reach:.0%} of texts speak of it, {topic.badly:.0%} of them badly"
    )
    assert "Average Rating where they do: " in sentence
    assert sentence.endswith("the average would be 0.60 stars higher.")


@pytest.mark.parametrize("value", [0.0, NOTHING * 0.99])
def test_nothing_is_made_of_a_topic_that_moves_nothing(report, value):
    said = found(report, [value] * 6, [value] * 6)
    assert said.to_fix == said.to_keep == ()
    assert str(said.conclusion) == f"No {report.noun} moves the Rating."


@pytest.mark.parametrize("name", ["stars", "Overall satisfaction", "NPS"])
def test_sentences_hold_for_any_name_and_unit(report, name):
    said = found(report, [0.6] * 6, settings=replace(SETTINGS, response_name=name, unit="units"))
    assert f"Average {name} where they do" in str(said.to_fix[0])
    assert f"differences in {name}:" in str(said.trust[0])
    assert "units higher." in str(said.to_fix[0])


def test_doubts_are_said(report):
    assert found(report).warnings == report.findings.warnings
    doubts = {"training": "few texts", "copies": "copies of others", "leaked": "in training too"}
    for name, words in doubts.items():
        said = found(report, **{name: 40})
        assert any(words in warning for warning in said.warnings)
        assert not any(words in warning for warning in found(report, **{name: 0}).warnings)


def test_held_out_skill_is_said_in_words_and_numbers(report):
    ours = report.prediction.rows[0].held_out
    trust = " ".join(map(str, report.findings.trust))
    assert f"{max(ours.r2, 0):.0%}" in trust
    assert "100 texts it had not seen" in trust
    assert f"{ours.rmse:.2f} stars" in trust
