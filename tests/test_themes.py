"""Themes and tone: what adds up, what nobody may see, and what is found."""

import numpy as np
import pytest

from textsignal import TextResponseModel
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError

REVIEWS = synthetic_reviews(900, seed=5)


@pytest.fixture(scope="module")
def model():
    return TextResponseModel(n_topics=12).fit(REVIEWS.texts[:700], REVIEWS.ratings[:700])


class TestWhatAddsUp:
    def test_themes_and_constant_to_the_linear_predictor(self, model):
        eta = model.predictions(REVIEWS.texts).eta
        np.testing.assert_allclose(model.contributions(REVIEWS.texts).sum(axis=1), eta, atol=1e-10)

    def test_sentences_to_the_linear_predictor(self, model):
        for text in REVIEWS.texts[:60]:
            total = model.reader_.fitted.effects.constant + model.sentences(text)["contribution"].sum()
            assert total == pytest.approx(model.predictions([text]).eta[0], abs=1e-10)

    def test_words_to_the_tone_of_themes(self, model):
        reading = model.read(REVIEWS.texts[:60]).sentences
        places = reading.places[reading.texts.sentence_of_word[reading.occurrences.words]]
        document = reading.texts.documents[reading.texts.sentence_of_word[reading.occurrences.words]]
        tone = np.zeros_like(reading.tone)
        np.add.at(tone, document, reading.values[:, None] * places)
        np.testing.assert_allclose(tone, reading.tone, atol=1e-10)

    def test_shares_to_one(self, model):
        shares = model.transform([*REVIEWS.texts[:20], "", "zxqv", "!!!"])
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        assert shares.min() >= 0


class TestWhatIsFound:
    def test_new_texts_are_predicted(self, model):
        assert model.score(REVIEWS.texts[700:], REVIEWS.ratings[700:]) > 0.45

    def test_themes_are_the_planted_aspects(self, model):
        leading = {term for terms in model.topics(6)["terms"] for term in terms}
        assert {"staff", "breakfast", "bathroom", "noise"} & leading >= {"staff", "breakfast"}
        assert not {"not", "very", "just", "the"} & leading

    def test_negation_turns_a_word(self, model):
        friendly, unfriendly = model.predictions(["The staff were friendly", "The staff were not friendly"]).eta
        assert friendly > unfriendly

    def test_lift_and_worth_are_what_ifs_on_the_model(self, model):
        table = model.drivers().sort_values("topic")
        training, effects = model.reader_.fitted.training, model.reader_.fitted.effects
        eta = effects.linear_predictor(training.tone, training.shares)
        family = model.reader_.fitted.family
        for k in range(3):
            part = effects.gamma[k] * training.tone[:, k]
            lift = np.mean(family.mean(eta - np.minimum(part, 0))) - np.mean(family.mean(eta))
            worth = np.mean(family.mean(eta)) - np.mean(family.mean(eta - np.maximum(part, 0)))
            assert table["lift"].iloc[k] == pytest.approx(lift)
            assert table["worth"].iloc[k] == pytest.approx(worth)
        assert (table[["lift", "worth"]].to_numpy() >= 0).all()

    def test_reach_and_sides_are_shares(self, model):
        table = model.drivers()
        for name in ("reach", "share", "well", "badly"):
            assert table[name].between(0, 1).all()
        assert table["share"].sum() == pytest.approx(1)
        assert table["mean_response"].between(1, 5).all()

    def test_a_seeded_theme_is_about_its_words(self):
        seeds = {"food": ["breakfast", "eggs", "buffet"]}
        model = TextResponseModel(n_topics=8, seed_words=seeds).fit(REVIEWS.texts[:400], REVIEWS.ratings[:400])
        table = model.topics(8).set_index("label")
        assert "breakfast" in table.loc["food", "terms"]
        assert model.transform(["Fresh eggs at the breakfast buffet."]).argmax() == 0


class TestWhatNobodyMaySee:
    def test_tone_out_of_fold_has_not_seen_its_response(self, model):
        changed = REVIEWS.ratings[:700].astype(float).copy()
        changed[3] = 6 - changed[3]
        other = TextResponseModel(n_topics=12).fit(REVIEWS.texts[:700], changed)
        one, two = (m.reader_.fitted.training.tone[3].sum() for m in (model, other))
        assert one == pytest.approx(two, abs=0.02)
        rows = np.arange(700) != 3
        assert not np.allclose(
            model.reader_.fitted.training.tone[rows], other.reader_.fitted.training.tone[rows], atol=1e-6
        )

    @pytest.mark.parametrize("seed", range(2))
    def test_nothing_is_left_of_a_response_that_is_noise(self, seed):
        ratings = np.random.default_rng(seed).permutation(REVIEWS.ratings)
        model = TextResponseModel(n_topics=8).fit(REVIEWS.texts[:700], ratings[:700])
        assert -0.05 < model.score(REVIEWS.texts[700:], ratings[700:]) < 0.03
        assert model.drivers()["lift"].max() < 0.01


class TestUsers:
    def test_the_same_bits_for_any_number_of_threads(self, model):
        one = TextResponseModel(n_topics=12, n_jobs=1).fit(REVIEWS.texts[:700], REVIEWS.ratings[:700])
        assert np.array_equal(one.predictions(REVIEWS.texts).eta, model.predictions(REVIEWS.texts).eta)

    def test_responses_may_be_missing(self):
        ratings = np.where(np.arange(400) % 2, np.nan, REVIEWS.ratings[:400])
        model = TextResponseModel(n_topics=6).fit(REVIEWS.texts[:400], ratings)
        assert model.score(REVIEWS.texts[400:], REVIEWS.ratings[400:]) > 0.2

    @pytest.mark.parametrize("n_topics", [1, 3, 40])
    def test_any_number_of_themes(self, n_topics):
        model = TextResponseModel(n_topics=n_topics).fit(REVIEWS.texts[:200], REVIEWS.ratings[:200])
        assert model.transform(REVIEWS.texts[:5]).shape == (5, n_topics)
        assert len(set(model.topics()["label"])) == n_topics

    def test_one_word_texts_and_empty_ones(self):
        texts = ["good", "bad", "", "fine", "good room", "bad room", "good bed", "bad bed"] * 15
        model = TextResponseModel(n_topics=2).fit(texts, [5, 1, 3, 4, 5, 1, 5, 1] * 15)
        good, bad = model.predict(["good", "bad"])
        assert good > bad
        assert np.all(np.isfinite(model.predict(["", "unknown"])))

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n_topics": 0}, "n_topics=0 must be a whole number"),
            ({"n_topics": 61}, "n_topics=61 is more than anybody reads"),
            ({"n_topics": 1, "seed_words": {"a": ["x"], "b": ["y"]}}, "seed_words names 2 themes, but n_topics=1"),
        ],
    )
    def test_bad_options_are_named(self, options, message):
        with pytest.raises(InputError, match=message):
            TextResponseModel(**options).fit(REVIEWS.texts[:50], REVIEWS.ratings[:50])

    def test_responses_must_fit_the_texts(self):
        with pytest.raises(InputError, match="2 texts, but 1 responses"):
            TextResponseModel().fit(["a room", "b room"], [3])
        with pytest.raises(InputError, match="no content term is left"):
            TextResponseModel(n_topics=1).fit(["the", "and"], [1, 2])
