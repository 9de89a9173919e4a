"""The headline: what stands out is named, and nothing is said to stand out that does not."""

from dataclasses import replace

import pytest
from small_reviews import HELD_OUT, REVIEWS, SETTINGS

from textsignal.report.values.headline import headline
from textsignal.report.values.prepare import prepare


@pytest.fixture(scope="module")
def report(models):
    model = models["predictive"]
    return prepare(model, model.read(REVIEWS.texts), REVIEWS.ratings, HELD_OUT, SETTINGS)


def sentences(report, prevalences, effects=None):
    effects = effects or [topic.response_effect for topic in report.topics]
    parts = zip(report.topics, prevalences, effects, strict=True)
    topics = [replace(topic, prevalence=share, response_effect=effect) for topic, share, effect in parts]
    return headline(topics, report.documents, report.prediction, SETTINGS, common=report.common)


EQUAL, ONE_LARGE = [1 / 6] * 6, [0.12] * 5 + [0.4]


def test_a_topic_that_is_common_is_named(report):
    named = next(part for part in sentences(report, ONE_LARGE) if part.before.startswith("Talked about most"))
    assert (named.topic, named.label) == (report.topics[5].number, report.topics[5].label)
    assert named.after == ": 40% of all text."


def test_topics_of_nearly_equal_share_are_not_told_apart(report):
    written = " ".join(map(str, sentences(report, [0.155, 0.16, 0.165, 0.17, 0.175, 0.175])))
    assert "Talked about most" not in written
    assert "each takes up 16% to 18% of all text" in written


def test_what_moves_nothing_is_not_named(report):
    written = " ".join(map(str, sentences(report, EQUAL, [0.001] * 3 + [-0.001] * 3)))
    assert "raises" not in written
    assert "lowers" not in written
