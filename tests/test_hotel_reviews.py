"""Themes and tone of real hotel reviews, where they are at hand: negation, what adds up, and how themes differ."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from textsignal import TextResponseModel

REVIEWS = Path(__file__).parents[2] / "shared" / "data" / "hotel_reviews_10k.csv.gz"

pytestmark = pytest.mark.skipif(not REVIEWS.is_file(), reason="the hotel reviews are not part of this repository")


@pytest.fixture(scope="module")
def sides():
    table = pd.read_csv(REVIEWS, usecols=["text", "rating"]).dropna()
    order = np.random.default_rng(0).permutation(len(table))
    return table.iloc[order[:8000]], table.iloc[order[8000:]]


@pytest.fixture(scope="module")
def model(sides):
    return TextResponseModel(14).fit(sides[0]["text"].tolist(), sides[0]["rating"])


@pytest.mark.parametrize(
    ("negated", "twin", "above"),
    [
        ("not good", "good", False),
        ("not dirty", "dirty", True),
        ("not rude", "rude", True),
        ("never again", "again", False),
        ("nothing to complain about", "something to complain about", True),
        ("no problems at all", "problems", True),
        ("no problems at all", "problems at all", True),
        ("I would not stay again", "I would stay again", False),
        ("definitely not come back", "definitely come back", False),
    ],
)
def test_a_negated_phrase_is_on_the_right_side_of_its_twin(model, negated, twin, above):
    one, two = model.predict([negated, twin])
    assert (one > two) == above


def test_words_sentences_themes_and_constant_add_up(model, sides):
    texts = sides[1]["text"].tolist()[:1000]
    eta, parts = model.predictions(texts).eta, model.contributions(texts)
    np.testing.assert_allclose(parts.sum(axis=1), eta, rtol=0, atol=1e-10)
    for i in range(0, 1000, 10):
        explanation = model.explain(texts[i])
        total = parts["constant"][i] + explanation.clauses["contribution"].sum()
        assert total == pytest.approx(eta[i], abs=1e-10)
        assert explanation.words["contribution"].sum() == pytest.approx(explanation.clauses["tone"].sum(), abs=1e-10)
        points = explanation.baseline_prediction + explanation.themes["points"].sum()
        assert points == pytest.approx(explanation.prediction, abs=1e-10)


def test_themes_are_things_that_differ_in_mentions(model):
    table = model.themes()
    assert table["mentions"].max() >= 3 * table["mentions"].min()
    words = {word for label in table["label"] for word in label.replace(",", "").split()}
    assert not words & {"not", "very", "just", "good", "great", "nice"}
    assert {"staff", "location", "room", "breakfast"} <= words


def test_new_reviews_are_predicted(model, sides):
    assert model.score(sides[1]["text"].tolist(), sides[1]["rating"]) > 0.69


def test_nothing_is_left_of_permuted_ratings(sides):
    training, held_out = sides
    ratings = np.random.default_rng(1).permutation(np.concatenate([training["rating"][:2000], held_out["rating"]]))
    noise = TextResponseModel(14).fit(training["text"].tolist()[:2000], ratings[:2000])
    assert -0.02 < noise.score(held_out["text"].tolist(), ratings[2000:]) < 0.01
    assert noise.drivers()["cost"].max() < 0.01
