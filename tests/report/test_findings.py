"""Findings: the largest lifts and worths are named, nothing else is, and doubts are said."""

from dataclasses import replace

import pytest
from small_reviews import HELD_OUT, REVIEWS, SETTINGS

from textsignal.insight.findings import NOTHING, TO_FIX, TO_KEEP
from textsignal.report.values.data import Named
from textsignal.report.values.findings import findings
from textsignal.report.values.prepare import prepare


@pytest.fixture(scope="module", params=["themes", "predictive"])
def report(request, models):
    model = models[request.param]
    return prepare(model, model.read(REVIEWS.texts), REVIEWS.ratings, HELD_OUT, SETTINGS)


def found(report, lifts=None, worths=None, settings=SETTINGS, **changed):
    """Findings on a report with other numbers: of all topics, or of the documents."""
    lifts = lifts or [topic.lift for topic in report.topics]
    worths = worths or [topic.worth for topic in report.topics]
    parts = zip(report.topics, lifts, worths, strict=True)
    of_topics = {name: value for name, value in changed.items() if hasattr(report.topics[0], name)}
    topics = [replace(topic, lift=lift, worth=worth, **of_topics) for topic, lift, worth in parts]
    documents = replace(report.documents, **{name: changed[name] for name in changed.keys() - of_topics.keys()})
    return findings(topics, documents, report.prediction, settings, report.noun)


def named(sentences):
    return [part.number for said in sentences for part in said.parts if isinstance(part, Named)]


WORDS = {"raises": ("quiet", "warm"), "lowers": ("loud", "cold")}


def test_what_to_fix_is_the_largest_lift_and_what_to_keep_the_largest_worth_of_the_others(report):
    numbers = [topic.number for topic in report.topics]
    said = found(report, [0.6, 0.5, 0.4, 0.3, 0.2, 0.1], [0.5, 0.1, 0.2, 0.2, 0.8, 0.7], **WORDS)
    assert named(said.to_fix) == numbers[:TO_FIX]
    assert named(said.to_keep) == [numbers[4], numbers[5]][:TO_KEEP]
    assert named([said.conclusion]) == [numbers[0], numbers[4]]


def test_a_strength_is_not_fixed_first(report):
    numbers = [topic.number for topic in report.topics]
    said = found(report, [0.6, 0.5, 0.4, 0.3, 0.2, 0.1], [0.9, 0.1, 0.1, 0.1, 0.1, 0.0], **WORDS)
    assert named(said.to_fix) == numbers[1:4]
    assert named(said.to_keep)[0] == numbers[0]


def test_what_is_only_judged_comes_last(report):
    numbers = [topic.number for topic in report.topics]
    judged = replace(report.topics[0], raises=("great", "love"), lowers=("worst", "not good"))
    others = [replace(topic, **WORDS) for topic in report.topics[1:]]
    said = found(replace(report, topics=(judged, *others)), [0.6, 0.5, 0.4, 0.3, 0.2, 0.1], [0.0] * 6)
    assert named(said.to_fix) == numbers[1:4]
    telling = replace(judged, lowers=("worst", "not good", "loud", "cold"))
    said = found(replace(report, topics=(telling, *others)), [0.6, 0.5, 0.4, 0.3, 0.2, 0.1], [0.0] * 6)
    assert named(said.to_fix) == numbers[:3]
    assert "badly (loud, cold)." in str(said.to_fix[0])


def test_a_finding_says_reach_tone_means_and_what_would_change(report):
    said = found(report, [0.6, 0.5, 0.4, 0.3, 0.2, 0.1], **WORDS, mean_response=3.14, mean_elsewhere=4.0)
    topic, sentence = report.topics[0], str(said.to_fix[0])
    assert sentence.startswith(
        f"“{topic.label}”: {topic.reach:.0%} of texts speak of it, {topic.badly:.0%} of them badly"
    )
    assert "Where it comes up, the average Rating is 3.1 instead of 4.0." in sentence
    assert sentence.endswith("the average would be 0.60 stars higher.")
    same = found(report, [0.6] * 6, **WORDS, mean_response=3.99, mean_elsewhere=4.01)
    assert "instead of" not in str(same.to_fix[0])


@pytest.mark.parametrize("value", [0.0, NOTHING * 0.99])
def test_nothing_is_made_of_a_topic_that_moves_nothing(report, value):
    said = found(report, [value] * 6, [value] * 6)
    assert said.to_fix == said.to_keep == ()
    assert str(said.conclusion) == f"No {report.noun} moves the Rating."


@pytest.mark.parametrize(
    ("name", "shown"), [("stars", "stars"), ("Overall_satisfaction", "Overall satisfaction"), ("NPS", "NPS")]
)
def test_sentences_hold_for_any_name_and_unit(report, name, shown):
    settings = replace(SETTINGS, response_name=name, unit="units")
    said = found(report, [0.6] * 6, settings=settings, mean_response=3.1, mean_elsewhere=4.0)
    assert f"the average {shown} is 3.1 instead of 4.0" in str(said.to_fix[0])
    assert f"differences in the {shown}:" in str(said.trust[0])
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
