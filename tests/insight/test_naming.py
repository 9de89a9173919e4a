"""Names of a response, how its numbers are written, and which direction is better: laws of both directions."""

import re

import numpy as np
import pandas as pd
import pytest

from textsignal import TextResponseModel, load
from textsignal.datasets import synthetic_reviews
from textsignal.families import Bernoulli, Binomial, Gaussian, NegativeBinomial, Ordinal, Poisson
from textsignal.insight.groups import compare_groups
from textsignal.insight.naming import Naming

REVIEWS = synthetic_reviews(200, seed=3)
OPPOSITE = {"praise": "complaint", "complaint": "praise", "neutral": "neutral"}


@pytest.fixture(scope="module")
def model():
    return TextResponseModel(4, family=Binomial(4, 1), n_jobs=1).fit(REVIEWS.texts, REVIEWS.ratings)


@pytest.fixture(scope="module")
def turned(model):
    return model.name_response("severity", lower_is_better=True)


@pytest.mark.parametrize(
    ("family", "name", "unit", "event"),
    [
        (Bernoulli((0, 1)), "recommended", "percentage points", "1"),
        (Bernoulli(("no", "yes")), "bought", "percentage points", "yes"),
        (Binomial(1, 0), "liked", "percentage points", "1"),
        (Bernoulli((1, 2)), "grade", "points", ""),
        (Binomial(4, 1), "Rating", "points", ""),
        (Binomial(8, 1, 0.5), "stars", "stars", ""),
        (Ordinal((1, 2, 3), (-1.0, 1.0)), "grades", "points", ""),
        (Gaussian(2.0), "points", "points", ""),
        (Poisson(), "helpful_votes", "helpful votes", ""),
        (NegativeBinomial(0.5), "count", "points", ""),
    ],
)
def test_units_and_events_follow_from_the_family_and_the_name(family, name, unit, event):
    found = Naming.of(family, name)
    assert (found.unit, found.event) == (unit, event)
    assert Naming.of(family, name, "steps").unit == "steps"


@pytest.mark.parametrize("share", [0.0, 0.123, 1.0])
def test_shares_are_percentages_and_their_changes_percentage_points(share):
    naming = Naming.of(Bernoulli((0, 1)), "recommended")
    assert naming.mean(share) == f"{share:.0%}"
    assert naming.amount(share) == naming.amount(-share) == f"{100 * share:.1f} percentage points"


def test_a_model_names_its_response_by_its_column_and_family():
    liked = pd.Series(REVIEWS.ratings > 3, name="liked").astype(float)
    naming = TextResponseModel(3, n_jobs=1).fit(REVIEWS.texts, liked).naming_
    assert naming == Naming("liked", "percentage points", event="1")


def test_where_less_is_better_costs_are_what_was_gain_and_the_reverse(model, turned):
    plain, other = (one.drivers().sort_values("theme").set_index("theme") for one in (model, turned))
    swapped = {"cost": "gain", "praise": "complaints", "mean_praise": "mean_complaint"}
    swapped |= {"gain_per_praise": "cost_per_complaint"}
    for name, before in (swapped | {before: name for name, before in swapped.items()}).items():
        np.testing.assert_allclose(other[name], plain[before], atol=1e-12)
    same = ["is_overall", "mentions", "neutral", "share", "mean_mention", "mean_elsewhere", "raises", "lowers"]
    pd.testing.assert_frame_equal(other[same], plain[same])
    assert turned.drivers()["cost"].is_monotonic_decreasing
    assert turned.themes()["cost"].is_monotonic_decreasing
    by = np.arange(200) % 2
    assert turned.drivers(by=by)["cost"].sum() == pytest.approx(model.drivers(by=by)["gain"].sum())


def test_groups_are_compared_in_the_same_direction(model, turned):
    groups = pd.Series(np.arange(200) % 3)
    plain, other = (compare_groups(one.reader_.known(one.naming_.better), groups) for one in (model, turned))
    for name, before in {"cost": "gain", "gain": "cost", "tone": "tone", "mentions": "mentions"}.items():
        np.testing.assert_allclose(getattr(other, name).mean, getattr(plain, before).mean, atol=1e-12)
    np.testing.assert_allclose(other.praise, plain.complaints)


def test_findings_name_what_raises_it_as_what_to_fix(model, turned):
    found = turned.drivers().findings()
    assert found.to_fix
    assert found.to_keep
    assert all(sentence.endswith(" points lower.") and "complaint adds" in sentence for sentence in found.to_fix)
    assert all(sentence.endswith(" points higher.") and "praise takes off" in sentence for sentence in found.to_keep)
    table = turned.drivers().set_index("label")
    for sentence in found.to_fix:
        label, words = sentence[1:].split("”")[0], re.findall(r"complain about it \((.*?)\)", sentence)
        assert {word for listed in words for word in listed.split(", ")} <= set(table.loc[label, "raises"])


def test_clauses_of_praise_are_those_that_lower_it(model, turned):
    for good, other in ((True, False), (False, True), (None, None)):
        found = model.find_clauses(0, good=other)
        expected = found.assign(judgement=-found["judgement"])
        pd.testing.assert_frame_equal(turned.find_clauses(0, good=good), expected)
    plain, other = (one.clauses(REVIEWS.texts[:50]) for one in (model, turned))
    assert other["kind"].tolist() == plain["kind"].map(OPPOSITE).tolist()
    np.testing.assert_array_equal(other["judgement"], -plain["judgement"])
    assert turned.explain(REVIEWS.texts[0]).clauses["kind"].tolist() == other["kind"][other["text"] == 0].tolist()


def test_which_way_is_better_is_stored(turned, tmp_path):
    turned.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.naming_ == turned.naming_
    pd.testing.assert_frame_equal(again.drivers(), turned.drivers())


def test_stability_is_of_what_is_costly(model, turned):
    before, after = (one.stability(4).set_index("theme") for one in (model, turned))
    pd.testing.assert_series_equal(before["reproduced"], after["reproduced"])
    assert not np.allclose(before["cost_high"], after["cost_high"], equal_nan=True)
