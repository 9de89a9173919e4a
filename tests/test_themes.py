"""Themes and tone: what adds up, what nobody may see, and what is found."""

from dataclasses import replace

import numpy as np
import pytest

from textsignal import TextResponseModel
from textsignal.datasets import synthetic_reviews

REVIEWS = synthetic_reviews(900, seed=5)


@pytest.fixture(scope="module")
def model():
    return TextResponseModel(n_themes=12).fit(REVIEWS.texts[:700], REVIEWS.ratings[:700])


class TestWhatAddsUp:
    def test_themes_and_constant_to_the_linear_predictor(self, model):
        eta = model.predictions(REVIEWS.texts).eta
        np.testing.assert_allclose(model.contributions(REVIEWS.texts).sum(axis=1), eta, atol=1e-10)

    def test_clauses_to_themes_and_the_linear_predictor(self, model):
        texts = REVIEWS.texts[:200]
        table, parts = model.clauses(texts), model.contributions(texts)
        np.testing.assert_allclose(table["contribution"], table["tone"] + table["speaking"], atol=1e-12)
        sums = np.zeros((len(texts), 14))
        np.add.at(sums, (table["text"], table["theme"]), table["contribution"])  # -1, unplaced, is the last one
        np.testing.assert_allclose(sums, parts.drop(columns="constant"), atol=1e-10)
        eta = model.predictions(texts).eta
        np.testing.assert_allclose(parts["constant"] + sums.sum(axis=1), eta, atol=1e-10)

    def test_words_to_the_tone_of_clauses_and_themes(self, model):
        reading = model.read(REVIEWS.texts[:60]).clauses
        clause = reading.texts.sentence_of_word[reading.occurrences.words]
        words, sizes = model.reader_.fitted.words, model.reader_.fitted.features.sizes
        values = words.values(reading.occurrences, reading.texts, reading.clauses.evidence, sizes)
        tone = np.bincount(clause, values, len(reading.clauses.tone))
        np.testing.assert_allclose(tone, reading.clauses.tone, atol=1e-10)
        sums = np.zeros_like(reading.tone)
        np.add.at(sums, (reading.texts.documents, reading.clauses.places), tone)
        np.testing.assert_allclose(sums, reading.tone, atol=1e-10)

    def test_shares_to_one(self, model):
        texts = [*REVIEWS.texts[:20], "", "zxqv", "!!!"]
        shares, reading = model.transform(texts), model.read(texts).clauses
        unplaced = reading.shares[:, -1]
        np.testing.assert_allclose(shares.sum(axis=1) + unplaced, 1)
        assert shares.min() >= 0
        np.testing.assert_array_equal(unplaced[-3:], 1)
        clauses = model.clauses(texts)
        n_words = np.diff(reading.texts.indptr)
        words = np.bincount(clauses["text"], n_words, len(texts))
        on_none = np.bincount(clauses["text"], n_words * (clauses["theme"] < 0), len(texts))
        np.testing.assert_allclose(unplaced, np.divide(on_none, words, out=np.ones(len(texts)), where=words > 0))


class TestWhatIsFound:
    def test_new_texts_are_predicted(self, model):
        assert model.score(REVIEWS.texts[700:], REVIEWS.ratings[700:]) > 0.45

    @pytest.mark.parametrize("seed", [0, 1, 2])
    def test_planted_aspects_are_found_and_cost_or_bring_what_they_should(self, seed):
        """An aspect may be two themes, as the staff in general and by their professions."""
        reviews = synthetic_reviews(3000, seed=seed)
        table = TextResponseModel(n_themes=14).fit(reviews.texts, reviews.ratings).themes()
        table = table[~table["is_overall"]]
        hits = np.array(
            [[len({*terms} & {*aspect.keywords}) for aspect in reviews.aspects] for terms in table["terms"]]
        )
        for number, aspect in enumerate(reviews.aspects):
            own = (hits[:, number] > 0) & (hits.argmax(axis=1) == number)
            assert hits[own, number].max(initial=0) >= 2, f"no theme shows {aspect.name}"
            cost, gain = table.loc[own, ["cost", "gain"]].sum()
            if aspect.effect < 0:
                assert cost > max(0.03, 2 * gain), aspect.name
            elif aspect.effect > 0:
                assert gain > max(0.02, 2 * cost), aspect.name
            else:
                assert max(cost, gain) < 0.03, aspect.name

    @pytest.mark.parametrize("seed", [11, 12, 13])
    def test_a_few_hundred_documents_are_enough_for_tone(self, seed):
        reviews = synthetic_reviews(800, seed=seed)
        model = TextResponseModel(n_themes=5).fit(reviews.texts[:300], reviews.ratings[:300])
        assert model.score(reviews.texts[300:], reviews.ratings[300:]) > 0.4

    def test_themes_are_the_planted_aspects(self, model):
        leading = {term for terms in model.themes(6)["terms"] for term in terms}
        assert {"staff", "breakfast", "bathroom", "noise"} & leading >= {"staff", "breakfast"}
        assert not {"not", "very", "just", "the"} & leading

    def test_negation_turns_a_word(self, model):
        friendly, unfriendly = model.predictions(["The staff were friendly", "The staff were not friendly"]).eta
        assert friendly > unfriendly

    def test_cost_and_gain_are_what_ifs_on_the_model(self, model):
        """Complaints, or praise, count as neutral mentions: their tone is 0, and nothing else changes."""
        table = model.drivers().sort_values("theme")
        training, effects = model.reader_.fitted.training, model.reader_.fitted.effects
        clauses, family = training.clauses, model.reader_.fitted.family

        def mean(tone):
            changed = replace(clauses, tone=tone).of_texts(len(table) + 1)
            return family.mean(effects.linear_predictor(changed)).mean()

        now = mean(clauses.tone)
        for k in range(len(table)):
            here = clauses.places == k
            without_bad = np.where(here & (clauses.kinds < 0), 0.0, clauses.tone)
            without_good = np.where(here & (clauses.kinds > 0), 0.0, clauses.tone)
            assert table["cost"].iloc[k] == pytest.approx(mean(without_bad) - now, abs=1e-12)
            assert table["gain"].iloc[k] == pytest.approx(now - mean(without_good), abs=1e-12)
        assert (table[["cost", "gain"]].to_numpy() >= 0).all()

    def test_mentions_and_sides_are_shares(self, model):
        table = model.drivers()
        for name in ("mentions", "complaints", "praise", "neutral", "share", "share_of_low"):
            assert table[name].between(0, 1).all()
        assert (table[["complaints", "praise", "neutral"]].max(axis=1) <= table["mentions"]).all()
        assert table["share"].sum() + table.attrs["unplaced"] == pytest.approx(1)
        assert table["mean_mention"].dropna().between(1, 5).all()

    def test_a_seeded_theme_is_about_its_words(self):
        seeds = {"food": ["breakfast", "eggs", "buffet"]}
        model = TextResponseModel(n_themes=8, seed_words=seeds).fit(REVIEWS.texts[:400], REVIEWS.ratings[:400])
        table = model.themes(8).set_index("label")
        assert "breakfast" in table.loc["food", "terms"]
        assert model.transform(["Fresh eggs at the breakfast buffet."]).argmax() == 0

    def test_seeds_are_read_as_texts_are(self):
        seeds = {"food": ["Breakfast", "EGGS"], "sleep": {"bed"}}
        one = TextResponseModel(n_themes=4, seed_words=seeds).fit(REVIEWS.texts[:200], REVIEWS.ratings[:200])
        plain = {"food": ("breakfast", "eggs"), "sleep": ["bed"]}
        two = TextResponseModel(n_themes=4, seed_words=plain).fit(REVIEWS.texts[:200], REVIEWS.ratings[:200])
        np.testing.assert_array_equal(one.components_, two.components_)
        assert one.labels_ == ["food", "sleep", None, None, None]
        assert one.clauses(["A soft bed."])["label"].tolist() == ["sleep"]
        assert one.rename("food", None).labels_ == [None, "sleep", None, None, None]


class TestWords:
    """Stop words and negations are the language's, or those that are given."""

    GERMAN = [
        *("Das Zimmer war nicht sauber.", "Das Zimmer war sauber.", "Kein gutes Frühstück.", "Ein gutes Frühstück."),
        *("Das Bett war nicht bequem.", "Das Bett war bequem.", "Nie wieder dieses Hotel.", "Gerne wieder im Hotel."),
    ] * 12
    RATINGS = [1, 5] * 48

    def test_german(self):
        model = TextResponseModel(n_themes=2, language="german").fit(self.GERMAN, self.RATINGS)
        assert {"zimmer", "frühstück", "bett", "hotel"} <= set(model.terms_)
        assert not {"das", "war", "nicht", "kein", "nie"} & set(model.terms_)
        assert "not sauber" in model.explain("nicht sauber").words["word"].tolist()
        by_code = TextResponseModel(n_themes=2, language="de").fit(self.GERMAN, self.RATINGS)
        np.testing.assert_array_equal(by_code.predict(self.GERMAN), model.predict(self.GERMAN))

    def test_without_a_language_every_word_is_a_term_and_none_negates(self):
        model = TextResponseModel(n_themes=2, language=None).fit(self.GERMAN, self.RATINGS)
        assert {"das", "war", "nicht", "zimmer"} <= set(model.terms_)
        assert not any(word.startswith("not ") for word in model.explain("nicht sauber").words["word"])

    def test_stop_words_may_be_a_list(self):
        options = {"n_themes": 2, "stop_words": ["breakfast", "hotel"]}
        model = TextResponseModel(**options).fit(REVIEWS.texts[:150], REVIEWS.ratings[:150])
        assert not {"breakfast", "hotel"} & set(model.terms_)
        assert "the" in model.terms_
        # They are no themes, but they have a tone like any word.
        assert "breakfast" in model.explain("A lovely breakfast.").words["word"].tolist()

    def test_terms_are_the_most_frequent_ones(self):
        few, many = (
            TextResponseModel(n_themes=2, max_terms=n).fit(REVIEWS.texts[:150], REVIEWS.ratings[:150])
            for n in (20, None)
        )
        assert len(few.terms_) == 20
        assert set(few.terms_) < set(many.terms_)
        assert list(many.terms_) == sorted(many.terms_)

    def test_html_is_no_word(self):
        marked = [f'<p class="review">{text}</p><br/>&nbsp;' for text in REVIEWS.texts[:150]]
        plain = TextResponseModel(n_themes=2).fit(REVIEWS.texts[:150], REVIEWS.ratings[:150])
        model = TextResponseModel(n_themes=2).fit(marked, REVIEWS.ratings[:150])
        np.testing.assert_array_equal(model.terms_, plain.terms_)
        np.testing.assert_allclose(model.predict(marked), plain.predict(REVIEWS.texts[:150]))


class TestWeights:
    """Of a document: how often it counts."""

    def test_weight_two_is_nearly_two_copies(self):
        texts, ratings = REVIEWS.texts[:300], REVIEWS.ratings[:300]
        twice = np.arange(300) < 120
        weighted = TextResponseModel(n_themes=4).fit(texts, ratings, 1.0 + twice)
        copied = TextResponseModel(n_themes=4).fit([*texts, *texts[:120]], [*ratings, *ratings[:120]])
        # Not quite: a word is kept where it is in two documents, and a copy is one more.
        one, two = (model.predict(REVIEWS.texts[300:500]) for model in (weighted, copied))
        assert np.abs(one - two).mean() < 0.2
        assert np.corrcoef(one, two)[0, 1] > 0.95

    def test_drivers_count_a_document_by_its_weight(self):
        texts, ratings, weight = REVIEWS.texts[:200], REVIEWS.ratings[:200], 1.0 + (np.arange(200) < 50)
        model = TextResponseModel(n_themes=4).fit(texts, ratings)
        repeated = model.drivers(texts=[*texts, *texts[:50]], responses=[*ratings, *ratings[:50]])
        weighted = model.drivers(texts=texts, responses=ratings, sample_weight=weight)
        numbers = weighted.select_dtypes("number")
        assert {"mentions", "cost", "cost_per_complaint", "share_of_low", "share_of_gap"} < set(numbers)
        for name in numbers:
            np.testing.assert_allclose(weighted[name], repeated[name], rtol=1e-10, atol=1e-12)


class TestWhatNobodyMaySee:
    def test_tone_out_of_fold_has_not_seen_its_response(self, model):
        changed = REVIEWS.ratings[:700].astype(float).copy()
        changed[3] = 6 - changed[3]
        other = TextResponseModel(n_themes=12).fit(REVIEWS.texts[:700], changed)
        first, second = (m.reader_.fitted.training.clauses for m in (model, other))
        of_it = first.documents == 3
        assert first.tone[of_it].sum() == pytest.approx(second.tone[of_it].sum(), abs=0.02)
        np.testing.assert_allclose(first.judgement[of_it], second.judgement[of_it], atol=0.05)
        np.testing.assert_array_equal(first.kinds[of_it], second.kinds[of_it])
        assert not np.allclose(first.tone[~of_it], second.tone[~of_it], atol=1e-6)

    @pytest.mark.parametrize("seed", range(2))
    def test_nothing_is_left_of_a_response_that_is_noise(self, seed):
        ratings = np.random.default_rng(seed).permutation(REVIEWS.ratings)
        model = TextResponseModel(n_themes=8).fit(REVIEWS.texts[:700], ratings[:700])
        assert -0.05 < model.score(REVIEWS.texts[700:], ratings[700:]) < 0.03
        assert model.drivers()["cost"].max() < 0.01


class TestUsers:
    @pytest.mark.usefixtures("threaded_blas")
    def test_the_same_bits_for_any_number_of_threads(self, model):
        one = TextResponseModel(n_themes=12, n_jobs=1).fit(REVIEWS.texts[:700], REVIEWS.ratings[:700])
        assert np.array_equal(one.predictions(REVIEWS.texts).eta, model.predictions(REVIEWS.texts).eta)

    def test_responses_may_be_missing(self):
        ratings = np.where(np.arange(400) % 2, np.nan, REVIEWS.ratings[:400])
        model = TextResponseModel(n_themes=6).fit(REVIEWS.texts[:400], ratings)
        assert model.score(REVIEWS.texts[400:], REVIEWS.ratings[400:]) > 0.2

    @pytest.mark.parametrize("n_themes", [1, 3, 40])
    def test_any_number_of_themes(self, n_themes):
        model = TextResponseModel(n_themes=n_themes).fit(REVIEWS.texts[:200], REVIEWS.ratings[:200])
        assert model.transform(REVIEWS.texts[:5]).shape == (5, n_themes + 1)
        assert len(set(model.themes()["label"])) == n_themes + 1
        assert model.themes()["is_overall"].sort_index().tolist() == [False] * n_themes + [True]

    def test_one_word_texts_and_empty_ones(self):
        names = ["room", "bed", "staff", "food", "pool", "view", "bar", "lobby", "desk", "shower"]
        texts = ["", *[f"{word} {name}".strip() for word in ("good", "bad") for name in ["", *names]]] * 5
        model = TextResponseModel(n_themes=2).fit(texts, [3, *[5] * 11, *[1] * 11] * 5)
        good, unknown, empty, bad = model.predict(["good", "unknown", "", "bad"])
        assert good > unknown == empty > bad

    def test_copies_alone_teach_no_tone(self):
        """What is said of a text comes from others: where there are none but copies, there is nothing to go by."""
        model = TextResponseModel(n_themes=2).fit(["good room", "bad bed"] * 50, [5, 1] * 50)
        assert np.all((model.predict(["good room", "bad bed"]) - 3) * [1, -1] >= 0)
        assert np.abs(model.reader_.fitted.effects.gamma).max() < 10
