"""Topics put right by hand: numbers, labels and profiles."""

import numpy as np
import pytest

from textsignal.errors import InputError
from textsignal.insight.revise import dropped, merged, renamed, topic_number

NAMES = ["staff", "room", "noise", "room"]
OWN = ["staff", None, "noise", None]
TOPICS = np.random.default_rng(0).dirichlet(np.ones(6), size=4)
WEIGHTS = np.array([0.4, 0.3, 0.2, 0.1])


def test_a_topic_is_given_by_number_or_label():
    assert [topic_number(k, NAMES) for k in (0, np.int64(3), "noise")] == [0, 3, 2]


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        ("pool", "no topic has the label 'pool'; give a number or one of: 0 'staff'; 1 'room'"),
        ("room", "2 topics have the label 'room'"),
        (4, "topic=4 is not a topic; topics are numbered from 0 to 3"),
        (-1, "topic=-1 is not a topic"),
        (True, "topic=True is not a topic"),
        (1.5, "topic=1.5 is neither a number nor a label"),
        (None, "topic=None is neither a number nor a label"),
    ],
)
def test_what_is_no_topic_is_an_error_that_says_what_there_is(topic, message):
    with pytest.raises(InputError) as caught:
        topic_number(topic, NAMES)
    assert message in str(caught.value)


def test_renaming_changes_the_topics_named_and_no_other():
    assert renamed({"noise": "loud", 1: "bed"}, OWN, NAMES) == ["staff", "bed", "loud", None]
    assert renamed({"staff": None}, OWN, NAMES) == [None, None, "noise", None]
    assert renamed({"staff": "noise", "noise": "staff"}, OWN, NAMES) == ["noise", None, "staff", None]
    assert OWN == ["staff", None, "noise", None]


@pytest.mark.parametrize("label", ["", "  ", 5, ["x"]])
def test_a_label_is_a_text_that_is_not_empty(label):
    with pytest.raises(InputError, match="must be a text that is not empty"):
        renamed({0: label}, OWN, NAMES)


def test_two_topics_cannot_have_one_label():
    with pytest.raises(InputError, match="two topics would be called 'noise'; labels must differ"):
        renamed({0: "noise"}, OWN, NAMES)


def test_a_merged_topic_is_the_mean_weighted_by_prevalence():
    revision = merged([3, "noise"], "both", topics=TOPICS, weights=WEIGHTS, own=OWN, names=NAMES)
    np.testing.assert_allclose(revision.topics, [TOPICS[0], TOPICS[1], (2 * TOPICS[2] + TOPICS[3]) / 3])
    np.testing.assert_allclose(revision.weights, [0.4, 0.3, 0.3])
    assert revision.labels == ["staff", None, "both"]
    np.testing.assert_allclose(revision.topics.sum(axis=1), 1)


def test_merging_does_not_depend_on_how_topics_are_scaled():
    size = np.array([5.0, 0.1, 2.0, 30.0])
    one = merged([0, 2, 3], None, topics=TOPICS, weights=WEIGHTS, own=OWN, names=NAMES).topics[0]
    scaled = TOPICS * size[:, None]
    two = merged([0, 2, 3], None, topics=scaled, weights=WEIGHTS / size, own=OWN, names=NAMES).topics[0]
    np.testing.assert_allclose(two / two.sum(), one / one.sum())


def test_a_merged_topic_may_take_a_label_that_is_freed_but_none_that_is_not():
    parts = {"topics": TOPICS, "weights": WEIGHTS, "own": OWN, "names": NAMES}
    assert merged([1, 2], "noise", **parts).labels == ["staff", "noise", None]
    assert merged([1, 2], None, **parts).labels == ["staff", None, None]
    with pytest.raises(InputError, match="two topics would be called 'staff'"):
        merged([1, 2], "staff", **parts)


def test_topics_without_any_weight_are_merged_evenly():
    revision = merged([0, 1], None, topics=TOPICS, weights=np.zeros(4), own=OWN, names=NAMES)
    np.testing.assert_allclose(revision.topics[0], TOPICS[:2].mean(axis=0))


def test_dropping_leaves_the_others_as_they_are():
    before = TOPICS.copy()
    revision = dropped(["staff", 3, 3], topics=TOPICS, weights=WEIGHTS, own=OWN, names=NAMES)
    np.testing.assert_array_equal(revision.topics, TOPICS[[1, 2]])
    np.testing.assert_array_equal(revision.weights, WEIGHTS[[1, 2]])
    assert revision.labels == [None, "noise"]
    assert dropped("noise", topics=TOPICS, weights=WEIGHTS, own=OWN, names=NAMES).labels == ["staff", None, None]
    np.testing.assert_array_equal(TOPICS, before)


def test_too_few_or_too_many_topics_are_errors():
    for group in ([], [1], [1, 1], ["noise", 2]):
        with pytest.raises(InputError, match="merging needs at least two topics"):
            merged(group, None, topics=TOPICS, weights=WEIGHTS, own=OWN, names=NAMES)
    with pytest.raises(InputError, match="dropping all 4 topics leaves no model"):
        dropped(range(4), topics=TOPICS, weights=WEIGHTS, own=OWN, names=NAMES)
