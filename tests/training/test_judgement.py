"""Laws of judgement: what a clause says, wherever it stands, by fits that have not seen the response of its text."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsignal import TextResponseModel
from textsignal.compute.engines.local import local_compute
from textsignal.datasets import synthetic_reviews
from textsignal.families import Gaussian
from textsignal.text.features import count_texts
from textsignal.text.scanning import APART, CONTRASTED, JOINED
from textsignal.text.tokens import read_sentences
from textsignal.training import tone as training_tone
from textsignal.training.judgement import (
    LONG,
    LOWERS,
    MOOD,
    NEUTRAL,
    OPPOSED,
    OWN,
    RAISES,
    SHARED,
    TELLING,
    Sides,
    Zone,
    evidence_of,
    fit_judgement,
    flags_of_clauses,
    in_text,
    is_spread,
    with_neighbours,
)
from textsignal.training.theme_model import learn_dictionary, lexicon_slope, read_features
from textsignal.training.tone import TONE_FOLDS, fit_tone

REVIEWS = synthetic_reviews(600, seed=8)
TEXTS, RATINGS = list(REVIEWS.texts), np.asarray(REVIEWS.ratings, dtype=float)
#: Values of words of the synthetic reviews, as a lexicon has them.
LEXICON = {
    "dirty": -2.0,
    "rude": -2.0,
    "friendly": 2.2,
    "comfortable": 1.8,
    "delicious": 2.5,
    "noisy": -1.5,
    "cold": -1.0,
}
FAMILY = Gaussian().learn(RATINGS)


def fit(texts=TEXTS, ratings=RATINGS, **options):
    return TextResponseModel(**{"n_themes": 5, "n_jobs": 1} | options).fit(texts, ratings)


@pytest.fixture(scope="module")
def model():
    return fit()


class Learner:
    """The parts of a fit that judgement is learnt from."""

    def __init__(self, texts=TEXTS, lexicon=LEXICON):
        self.texts = read_sentences(texts)
        with local_compute(1) as compute:
            counts = count_texts(self.texts, compute.engine)
            options = {"language": "english", "stop_words": frozenset(), "max_terms": 500, "neutral": None}
            self.dictionary = learn_dictionary(self.texts.words, counts, len(texts), lexicon=lexicon, **options)
            self.read = read_features(self.texts, self.dictionary.features, compute.engine)
        self.sizes = self.dictionary.features.sizes

    def tone(self, y, weight=None):
        weight = np.ones(len(y)) if weight is None else weight
        with local_compute(1) as compute:
            return fit_tone(self.read.counts, self.sizes, y, weight, FAMILY, compute)

    def judgement(self, tone, response, weight=None, general=None):
        weight = np.ones(len(response)) if weight is None else weight
        general = 0.1 * self.dictionary.general if general is None else general
        found = self.texts, self.read.occurrences, self.sizes, tone, general, response, weight, FAMILY.unit
        with local_compute(1) as compute:
            return fit_judgement(*found, compute)

    def slope(self, y):
        with local_compute(1) as compute:
            return lexicon_slope(self.read, self.dictionary, y, np.ones(len(y)), FAMILY, compute)


@pytest.fixture(scope="module")
def learner():
    return Learner()


def standardised(y):
    return (y - y.mean()) / y.std()


class TestWhatIsLearnt:
    def test_words_of_complaints_and_praise_are_told_apart(self, learner):
        effects = learner.judgement(learner.tone(RATINGS), standardised(RATINGS)).effects
        number = {name: j for j, name in enumerate(learner.dictionary.features.names)}
        assert effects[number["friendly"]] > 0.1
        assert effects[number["dirty"]] < -0.1
        assert not {"the", "was", "and"} & number.keys()

    def test_the_sign_of_the_response_is_the_sign_of_judgement(self, learner):
        """Responses, tone and lexicon the other way round: praise is complaint."""
        tone, response, general = learner.tone(RATINGS), standardised(RATINGS), 0.1 * learner.dictionary.general
        other = replace(tone, effects=-tone.effects, fold_effects=-tone.fold_effects)
        one = learner.judgement(tone, response, general=general)
        flipped = learner.judgement(other, -response, general=-general)
        assert np.abs(one.effects).max() > 0.5
        np.testing.assert_allclose(flipped.effects, -one.effects, atol=1e-6)
        np.testing.assert_allclose(flipped.fold_effects, -one.fold_effects, atol=1e-6)

    def test_a_fit_out_of_fold_has_not_seen_the_responses_of_its_fold(self, learner, monkeypatch):
        """But for the constant that all fits start from, and the size of their steps, which stay here as they were."""
        tone, response, scales = learner.tone(RATINGS), standardised(RATINGS), []
        scale_of = training_tone._scale
        monkeypatch.setattr(training_tone, "_scale", lambda *given: scales.append(scale_of(*given)) or scales[0])
        one = learner.judgement(tone, response)
        for fold in range(TONE_FOLDS):
            other = learner.judgement(tone, np.where(tone.folds == fold, -3 * response, response))
            np.testing.assert_array_equal(other.fold_effects[fold], one.fold_effects[fold])
            assert np.abs(other.fold_effects[fold - 1] - one.fold_effects[fold - 1]).max() > 0.1
            assert np.abs(other.effects - one.effects).max() > 0.1

    def test_texts_without_weight_teach_nothing(self, learner):
        tone, response = learner.tone(RATINGS), standardised(RATINGS)
        weight = np.where(np.arange(len(response)) % 3 == 0, 0.0, 1.0)
        one = learner.judgement(tone, response, weight)
        other = learner.judgement(tone, np.where(weight > 0, response, 9.0), weight)
        np.testing.assert_array_equal(other.effects, one.effects)
        np.testing.assert_array_equal(other.fold_effects, one.fold_effects)

    def test_the_scale_of_weights_does_not_matter(self, learner):
        tone, response = learner.tone(RATINGS), standardised(RATINGS)
        one = learner.judgement(tone, response)
        other = learner.judgement(tone, response, np.full(len(response), 8.0))
        np.testing.assert_allclose(other.effects, one.effects, atol=1e-9)

    def test_without_responses_nothing_is_judged(self, learner):
        tone = learner.tone(RATINGS)
        found = learner.judgement(tone, np.zeros(len(RATINGS)))
        assert not found.effects.any()
        assert found.fold_effects.shape == (TONE_FOLDS, len(learner.sizes))
        assert not learner.judgement(tone, standardised(RATINGS), np.zeros(len(RATINGS))).effects.any()


class TestClauses:
    def test_a_text_of_one_sentence_is_judged_by_it_alone(self, model):
        """And in a text of many, complaints take more, and the mood of the others counts."""
        (alone,) = model.clauses(["The room was dirty."])["judgement"]
        in_bad, in_good = (
            model.clauses([f"The room was dirty. {other} {other}"])["judgement"][0]
            for other in ("The staff were rude.", "The staff were friendly.")
        )
        assert alone < in_bad < in_good < 0

    def test_words_that_the_model_lacks_judge_nothing(self, model):
        table = model.clauses(["Xylophone zeppelin.", "?!", "Friendly staff."])
        assert table["text"].tolist() == [0, 2]
        assert table["kind"].tolist() == ["neutral", "praise"]
        assert table["judgement"][0] == table["contribution"][0] == 0

    def test_the_judgement_of_training_is_shown_out_of_fold(self, model):
        """A text given anew is read by effects that have seen its response."""
        unseen, seen = model.clauses(), model.clauses(TEXTS)
        np.testing.assert_array_equal(unseen["start"], seen["start"])
        assert (unseen["kind"] != seen["kind"]).any()
        assert np.corrcoef(unseen["judgement"], seen["judgement"])[0, 1] > 0.8

    def test_a_response_the_other_way_round_turns_kinds_around(self):
        """Complaints are then praise; of a response without a better direction, clauses raise and lower it."""
        one, other = (fit(ratings=sign * RATINGS, family="gaussian", lexicon=None) for sign in (1, -1))
        words, flipped = (each.reader_.fitted.words for each in (one, other))
        np.testing.assert_allclose(flipped.tone, -words.tone, atol=1e-6)
        np.testing.assert_allclose(flipped.judgement, -words.judgement, atol=1e-6)
        np.testing.assert_allclose([flipped.judged, flipped.spread], [words.judged, words.spread], rtol=1e-6)
        kinds, turned = (each.reader_.fitted.training.clauses.kinds for each in (one, other))
        assert {-1, 0, 1} == set(kinds.tolist())
        assert np.mean(kinds == -turned) > 0.999


class TestZone:
    clauses = st.lists(st.tuples(*[st.floats(-9, 9)] * 3), max_size=20)
    least = st.tuples(st.floats(0, 3), st.floats(0, 3))

    @given(clauses, st.floats(0, 3), least)
    def test_each_clause_is_of_one_kind(self, clauses, half, least):
        judgement, own, tone = np.array(clauses, dtype=float).reshape(-1, 3).T
        kinds = Zone.of(half).kinds(judgement, own, tone, least)
        np.testing.assert_array_equal(kinds == 1, (judgement > half) & (own > OWN * half) & (tone > least[1]))
        np.testing.assert_array_equal(kinds == -1, (judgement < -half) & (own < -OWN * half) & (tone < -least[0]))
        assert set(kinds.tolist()) <= {-1, 0, 1}
        np.testing.assert_array_equal(Zone.of(half).kinds(-judgement, -own, -tone, least[::-1]), -kinds)

    @given(clauses, st.floats(0, 3), st.floats(0, 3), least)
    def test_a_wider_zone_turns_kinds_neutral_only(self, clauses, half, more, least):
        columns = (*np.array(clauses, dtype=float).reshape(-1, 3).T, least)
        narrow, wide = Zone.of(half).kinds(*columns), Zone.of(half + more).kinds(*columns)
        assert ((wide == narrow) | (wide == 0)).all()

    def test_the_zone_is_a_share_of_the_typical_judgement_unless_it_is_set(self, model):
        words = model.reader_.fitted.words
        assert words.zone == Zone.of(NEUTRAL * words.spread)
        assert fit(neutral=0.7).reader_.fitted.words.zone == Zone.of(0.7)

    def test_the_zone_moves_kinds_and_nothing_else(self, model):
        none, all_of_it = fit(neutral=0), fit(neutral=1e9)
        for other in (none, all_of_it):
            np.testing.assert_array_equal(other.predict(TEXTS), model.predict(TEXTS))
        kinds = [each.clauses(TEXTS)["kind"].value_counts() for each in (none, model, all_of_it)]
        neutral = [each["neutral"] for each in kinds]
        assert neutral[0] < neutral[1] < neutral[2] == len(model.clauses(TEXTS))


class TestNeighbours:
    @given(
        st.lists(st.tuples(st.floats(-9, 9), st.sampled_from([APART, JOINED, CONTRASTED])), max_size=12),
        st.floats(0.1, 5),
    )
    def test_clauses_share_the_judgement_of_their_side(self, clauses, most):
        """In plain Python: sides of a sentence end where a clause stands in contrast."""
        judgement = np.array([value for value, _ in clauses], dtype=float)
        joined = np.array([APART, *(kind for _, kind in clauses[1:])], np.int8)[: len(clauses)]
        sentences, sides = np.cumsum(joined == APART), np.cumsum(joined != JOINED)
        heard = np.clip(judgement, -most, most)
        expected = [
            judgement[u]
            + SHARED * sum(heard[v] for v in range(len(clauses)) if v != u and sides[v] == sides[u])
            + OPPOSED
            * sum(heard[v] for v in range(len(clauses)) if sentences[v] == sentences[u] and sides[v] != sides[u])
            for u in range(len(clauses))
        ]
        np.testing.assert_allclose(with_neighbours(judgement, joined, most), expected, atol=1e-9)

    def test_a_sentence_of_one_clause_is_judged_by_itself(self):
        judgement = np.array([1.0, -2.0, 3.0])
        np.testing.assert_array_equal(with_neighbours(judgement, np.full(3, APART), 9.0), judgement)


TEXT_OF_CLAUSES = st.lists(
    st.tuples(st.floats(-9, 9), st.sampled_from([APART, JOINED, CONTRASTED]), st.integers(0, 3)), min_size=1, max_size=6
)
PAIR = st.tuples(st.floats(0.1, 1), st.floats(0.1, 1))


class TestInText:
    @given(st.lists(TEXT_OF_CLAUSES, min_size=1, max_size=3), st.floats(0.1, 5), PAIR, PAIR)
    def test_it_is_that_of_plain_python(self, texts, most, parts, story):
        judgement = np.array([value for text in texts for value, _, _ in text])
        joined = np.array([kind if u else APART for text in texts for u, (_, kind, _) in enumerate(text)], np.int8)
        flags = np.array([flag for text in texts for _, _, flag in text], np.uint8)
        ends = np.cumsum([0, *map(len, texts)])
        sentences, shared = np.cumsum(joined == APART), with_neighbours(judgement, joined, most)
        found = in_text(judgement, joined, ends, flags, parts, story, most)
        for start, stop in pairwise(ends.tolist()):
            rows = range(start, stop)
            n_sentences = len({*sentences[start:stop].tolist()})
            for u in rows:
                others = [judgement[v] for v in rows if sentences[v] != sentences[u]]
                value = shared[u] + MOOD * (float(np.clip(np.mean(others), -most, most)) if others else 0.0)
                side = int(value >= 0)
                takes = (1 + story[side] * (1 - 1 / n_sentences)) * (
                    parts[side] if flags[u] & (LOWERS, RAISES)[side] else 1
                )
                np.testing.assert_allclose(found[:, u], [value / takes, judgement[u] / takes], atol=1e-9)


class TestSides:
    def of(self, slope):
        general, negated = np.array([-2.0, 1.5, 0.0, 0.8]), np.array([False, False, True, True])
        return Sides.of(slope, general, negated)

    def test_what_is_bad_in_general_lowers_the_response_and_a_negation_too(self):
        assert self.of(0.3).flags.tolist() == [LOWERS, RAISES, LOWERS, LOWERS | RAISES]

    def test_a_response_that_bad_words_raise_has_the_sides_the_other_way_round(self):
        one, other = self.of(0.3), self.of(-0.3)
        assert other.flags.tolist() == [RAISES, LOWERS, RAISES, LOWERS | RAISES]
        assert (other.parts, other.story, other.least) == (one.parts[::-1], one.story[::-1], one.least[::-1])

    def test_without_a_lexicon_both_sides_are_alike(self):
        sides = self.of(0.0)
        assert not sides.flags.any()
        assert all(len({*pair}) == 1 for pair in (sides.parts, sides.story, sides.least))

    def test_flags_of_a_clause_are_those_of_its_features(self):
        found = flags_of_clauses(np.array([0, 0, 2]), np.array([0, 1, 2]), self.of(0.3).flags, 4)
        assert found.tolist() == [LOWERS | RAISES, 0, LOWERS, 0]


class TestEvidence:
    def of(self, squares, n_words=0, spread=1.0, known=True):
        return evidence_of(np.array([squares], dtype=float), spread, np.array([n_words]), np.array([known]))[0]

    @given(st.floats(0, 1e6), st.integers(0, 10_000), st.floats(1e-3, 1e3), st.floats(0, 1e3))
    def test_it_is_from_0_to_1_and_grows_with_judgement_and_length(self, squares, n_words, spread, more):
        evidence = self.of(squares, n_words, spread)
        assert 0 <= evidence <= 1
        assert self.of(squares + more, n_words, spread) >= evidence
        assert self.of(squares, n_words + 1, spread) >= evidence

    def test_half_of_it(self):
        assert self.of((2 * TELLING) ** 2, spread=2.0) == pytest.approx(0.5)

    def test_as_many_words_as_are_long_tell_as_much_as_a_typical_judgement(self):
        assert self.of(1.0) == pytest.approx(self.of(0.0, LONG))

    def test_nothing_tells_nothing(self):
        assert self.of(0.0) == 0
        assert self.of(4.0, 50, known=False) == 0

    def test_where_nothing_is_judged_all_texts_with_a_known_word_tell_alike(self):
        assert self.of(0.0, 3, spread=0.0) == 1
        assert self.of(0.0, 3, spread=0.0, known=False) == 0

    def test_a_spread_that_is_too_small_to_divide_by_is_refused(self):
        assert is_spread(0.0)
        assert is_spread(1e-9)
        assert not is_spread(1e-30)


class TestLexicon:
    @pytest.mark.parametrize("seed", range(10))
    def test_its_slope_is_0_on_permuted_responses(self, learner, seed):
        assert learner.slope(np.random.default_rng(seed).permutation(RATINGS)) == 0

    def test_its_slope_has_the_sign_of_the_response(self, learner):
        assert learner.slope(RATINGS) > 0
        assert learner.slope(-RATINGS) == pytest.approx(-learner.slope(RATINGS), rel=1e-6)

    def test_a_lexicon_in_another_unit_has_another_slope_and_the_same_worth(self, learner):
        twice = Learner(lexicon={word: 2 * value for word, value in LEXICON.items()})
        np.testing.assert_array_equal(twice.dictionary.general, 2 * learner.dictionary.general)
        # But for the prior of the slope, which is wide.
        assert 2 * twice.slope(RATINGS) == pytest.approx(learner.slope(RATINGS), rel=0.01)

    def test_without_one_the_model_works(self, model):
        plain = fit(lexicon=None)
        words = plain.reader_.fitted.words
        assert words.slope == 0
        assert not words.general.any()
        assert set(plain.clauses(TEXTS)["kind"]) == {"complaint", "neutral", "praise"}
        test = synthetic_reviews(400, seed=99)
        assert plain.score(test.texts, test.ratings) > 0.5 * model.score(test.texts, test.ratings) > 0.2
        table = plain.clauses(["The staff were friendly, but the bathroom was dirty."])
        assert table["kind"].tolist() == ["praise", "complaint"]

    def test_permuted_responses_leave_no_lexicon_in_a_model(self):
        found = fit(ratings=np.random.default_rng(3).permutation(RATINGS)).reader_.fitted
        assert found.words.slope == 0

    def test_a_given_one_lowers_texts_with_a_rare_word(self):
        """Two ordinary texts have the word, which tells little; the lexicon knows that it is bad."""
        texts = TEXTS.copy()
        middling = np.flatnonzero(RATINGS == 4)[:2]
        for row in middling:
            texts[row] += " The cellar was mouldy."
        lexicons = LEXICON | {"mouldy": -2.1}, LEXICON
        known, unknown = (fit(texts, lexicon=lexicon, family="binomial") for lexicon in lexicons)
        slopes = [each.reader_.fitted.words.slope for each in (known, unknown)]
        assert slopes[0] == pytest.approx(slopes[1], rel=0.05)
        ends = ["The cellar was mouldy.", "The cellar was."]
        worth = [np.subtract(*each.predict(ends)) for each in (known, unknown)]
        assert worth[0] < -0.2
        assert worth[0] < worth[1] - 0.1
        judged = [each.clauses(ends[:1])["judgement"][0] for each in (known, unknown)]
        assert judged[0] < min(judged[1], 0)
        assert known.clauses(ends[:1])["kind"][0] == "complaint"
