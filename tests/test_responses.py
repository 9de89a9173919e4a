"""Models of responses of every family: what is predicted, explained, stored and refused."""

from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.special import logit
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import KFold, cross_val_score

from textsignal import GLMNMF, TextResponseModel, load
from textsignal.datasets import simulate_corpus, synthetic_reviews
from textsignal.errors import InputError
from textsignal.estimators.predictions import r2_score
from textsignal.families import (
    AdjacentCategories,
    Bernoulli,
    BetaBinomial,
    Binomial,
    Gaussian,
    NegativeBinomial,
    Ordinal,
    Poisson,
    Proportion,
    deviance,
    null_deviance,
)
from textsignal.workflow.apply import predict_table

REVIEWS = synthetic_reviews(1200, seed=1)
ETA = logit(REVIEWS.probability)
N = 900
#: The true family, and the linear predictor of each review.
TRUTH = {
    "binomial": (Binomial(4, 1, 0.5), ETA),
    "beta-binomial": (BetaBinomial(10, 0, dispersion=0.3), ETA),
    "adjacent-categories": (AdjacentCategories(4, 1, offsets=(1.0, -1.0, -0.5, -0.2, 0.7)), 0.5 * ETA),
    "ordinal": (Ordinal((1, 2, 3, 5), (-1.5, 0.0, 1.5)), 1.5 * ETA),
    "bernoulli": (Bernoulli((0, 1)), 1.5 * ETA),
    "proportion": (Proportion(), 1.5 * ETA),
    "poisson": (Poisson(), 0.7 * ETA),
    "negative-binomial": (NegativeBinomial(0.3), 0.7 * ETA),
    "gaussian": (Gaussian(3.0), 80 + 5 * ETA),
}
LEVELLED = [name for name, (family, _) in TRUTH.items() if hasattr(family, "levels")]
every = pytest.mark.parametrize("name", TRUTH)


@cache
def responses(name):
    family, eta = TRUTH[name]
    return family.sample(eta, np.random.default_rng(0)).astype(float)


@cache
def fitted(name):
    levels = (1, 3, 0.5) if name == "binomial" else None
    model = TextResponseModel(12, family=name, levels=levels, n_jobs=1)
    return model.fit(REVIEWS.texts[:N], responses(name)[:N])


class TestWhatIsFound:
    @every
    def test_new_texts_have_nearly_their_true_predictors(self, name):
        found = fitted(name).predictions(REVIEWS.texts[N:]).eta
        assert np.corrcoef(found, TRUTH[name][1][N:])[0, 1] > 0.84

    @every
    def test_deviance_of_new_texts_is_below_that_of_a_constant(self, name):
        family = fitted(name).reader_.family
        y = family.encode(responses(name)[N:])
        eta = fitted(name).predictions(REVIEWS.texts[N:]).eta
        assert deviance(family, y, eta) < 0.9 * null_deviance(family, y, np.ones(y.size))

    @every
    def test_what_lowers_and_raises_it_is_what_was_planted(self, name):
        """But for one aspect at most: so few reviews may mix two of them in a theme."""
        table, right = fitted(name).drivers(), []
        strong = [aspect for aspect in REVIEWS.aspects if abs(aspect.effect) > 0.5]
        for aspect in strong:
            hits = table["terms"].map(lambda terms, of=aspect: len(set(terms) & set(of.keywords)))
            row = table.loc[hits.idxmax()]
            right.append((row["cost"] > row["gain"]) == (aspect.effect < 0))
        assert sum(right) >= len(strong) - 1

    @pytest.mark.parametrize(
        ("name", "parameter", "least", "most"),
        [("gaussian", "deviation", 3.0, 5.5), ("beta-binomial", "dispersion", 0.25, 0.5),
         ("negative-binomial", "dispersion", 0.2, 0.6)],
    )  # fmt: skip
    def test_own_parameters_are_estimated_with_the_rest(self, name, parameter, least, most):
        """They are above the truth by what the text does not tell."""
        assert least < getattr(fitted(name).reader_.family, parameter) < most

    def test_thresholds_are_estimated_with_the_rest(self):
        thresholds = np.array(fitted("ordinal").reader_.family.thresholds)
        np.testing.assert_allclose(thresholds / thresholds[-1], [-1, 0, 1], atol=0.25)
        assert 0.9 < thresholds[-1] < 1.7


class TestWhatIsSaid:
    @every
    def test_predictions_are_means_or_the_most_probable_class(self, name):
        model = fitted(name)
        family, predictions = model.reader_.family, model.predictions(REVIEWS.texts[N:])
        np.testing.assert_array_equal(predictions.mean, family.mean(predictions.eta))
        said = family.level(predictions.eta, "mode") if family.classifies else predictions.mean
        np.testing.assert_array_equal(model.predict(REVIEWS.texts[N:]), said)

    @every
    def test_contributions_add_up_in_points_of_the_response(self, name):
        points = fitted(name).contributions(REVIEWS.texts[N:], scale="response")
        np.testing.assert_allclose(points.sum(axis=1), fitted(name).predictions(REVIEWS.texts[N:]).mean, rtol=1e-6)

    @every
    def test_an_explanation_can_be_shown(self, name):
        explanation = fitted(name).explain(REVIEWS.texts[-1])
        naming = fitted(name).naming_
        assert f"{naming.steps * explanation.prediction:.{naming.digits}f}" in repr(explanation)
        assert len(explanation.probabilities) == len(getattr(fitted(name).reader_.family, "levels", ()))

    @pytest.mark.parametrize("name", LEVELLED)
    def test_probabilities_of_levels_sum_to_one_and_are_better_than_frequencies(self, name):
        model, y = fitted(name), responses(name)
        chances = model.predict_proba(REVIEWS.texts[N:])
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        assert set(model.predict_level(REVIEWS.texts[N:], "mode")) <= set(model.levels_)
        places = model.reader_.family.encode(y).astype(int)
        frequency = np.bincount(places[:N], minlength=len(model.levels_)) / N
        ours = -np.mean(np.log(chances[np.arange(len(y) - N), places[N:]]))
        assert ours < -np.mean(np.log(frequency[places[N:]])) - 0.1

    @pytest.mark.parametrize("name", sorted({*TRUTH} - {*LEVELLED}))
    def test_levels_are_absent_where_there_are_none(self, name):
        model = fitted(name)
        assert not hasattr(model, "levels_")
        assert not hasattr(model, "classes_")
        with pytest.raises(InputError, match="have no levels"):
            model.predict_proba(REVIEWS.texts[:2])


class TestStored:
    @every
    def test_a_loaded_model_predicts_the_same_bits(self, name, tmp_path):
        model = fitted(name)
        model.save(tmp_path / "model")
        again = load(tmp_path / "model")
        assert again.reader_.family == model.reader_.family
        np.testing.assert_array_equal(again.predict(REVIEWS.texts[N:]), model.predict(REVIEWS.texts[N:]))

    def test_a_family_that_was_given_is_stored_as_it_was_given(self, tmp_path):
        model = TextResponseModel(4, family=Ordinal(values=(1, 2, 3, 4, 5)))
        model.fit(REVIEWS.texts[:200], REVIEWS.ratings[:200]).save(tmp_path / "model")
        assert load(tmp_path / "model").family == Ordinal(values=(1, 2, 3, 4, 5))

    @every
    def test_merged_themes_have_own_parameters_of_their_own(self, name):
        merged = fitted(name).merge([0, 1])
        assert merged.n_themes == 11
        assert len(merged.themes()) == 12
        assert type(merged.reader_.family) is type(fitted(name).reader_.family)


class TestDocuments:
    @pytest.mark.parametrize("name", ["ordinal", "gaussian", "negative-binomial"])
    def test_missing_responses_are_left_out(self, name):
        holed = np.where(np.arange(N) % 2 == 0, np.nan, responses(name)[:N])
        model = TextResponseModel(8, family=name, n_jobs=1).fit(REVIEWS.texts[:N], holed)
        assert np.corrcoef(model.predictions(REVIEWS.texts[N:]).eta, ETA[N:])[0, 1] > 0.75

    @pytest.mark.parametrize("name", ["ordinal", "gaussian"])
    def test_noise_leaves_nothing_of_the_tone(self, name):
        y = np.random.default_rng(1).permutation(responses(name)[:N])
        model = TextResponseModel(8, family=name, n_jobs=1).fit(REVIEWS.texts[:N], y)
        np.testing.assert_array_equal(model.reader_.fitted.effects.gamma, 0)
        assert r2_score(responses(name)[N:], model.predictions(REVIEWS.texts[N:]).mean) < 0.04

    @pytest.mark.parametrize("unit", [0.01, 100.0])
    def test_the_unit_of_a_number_does_not_matter(self, unit):
        """Points, or cents: the same themes, the same predictions."""
        one = fitted("gaussian").predict(REVIEWS.texts[N:])
        model = TextResponseModel(12, family="gaussian", n_jobs=1)
        other = model.fit(REVIEWS.texts[:N], unit * responses("gaussian")[:N]).predict(REVIEWS.texts[N:])
        np.testing.assert_allclose(other / unit, one, rtol=1e-4)

    @pytest.mark.parametrize("name", ["proportion"])
    def test_a_report_leaves_out_what_its_page_cannot_compute(self, name, tmp_path):
        fitted(name).report(tmp_path / "report.html")
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "The page cannot compute this family of responses" in page

    @pytest.mark.parametrize("name", ["ordinal", "gaussian"])
    def test_predictions_of_a_table_have_levels_where_there_are_some(self, name):
        table = predict_table(fitted(name), pd.DataFrame({"text": REVIEWS.texts[N:]}), "text")
        levels = [f"p_{level}" for level in getattr(fitted(name), "levels_", ())]
        assert [column for column in table if column.startswith("p_")] == levels
        assert ("level" in table) == (name == "ordinal")

    @pytest.mark.parametrize("name", ["ordinal", "gaussian"])
    def test_stability_takes_them(self, name):
        assert fitted(name).stability(2)["cost_sd"].max() > 0


class TestEstimators:
    @pytest.mark.parametrize("training", ["predictive", "joint"])
    @every
    def test_topics_take_every_family(self, name, training):
        corpus = simulate_corpus(n_documents=700, n_terms=150, random_state=3)
        family, _ = TRUTH[name]
        eta = logit(corpus.probability)
        eta = (eta - eta.mean()) / eta.std() + (80 if name == "gaussian" else 0)
        y = family.sample(eta, np.random.default_rng(0)).astype(float)
        levels = (1, 3, 0.5) if name == "binomial" else None
        model = GLMNMF(5, family=name, levels=levels, training=training, n_jobs=1)
        model.fit(corpus.counts[:500], y[:500])
        assert np.corrcoef(model.predictions(corpus.counts[500:]).eta, eta[500:])[0, 1] > 0.5
        assert None not in model.family_.settings().values()


class TestAuto:
    @pytest.mark.parametrize(
        ("name", "taken"),
        [("adjacent-categories", "adjacent-categories stereotype"), ("bernoulli", "bernoulli"),
         ("gaussian", "gaussian"), ("beta-binomial", "beta-binomial adjacent-categories stereotype ordinal")],
    )  # fmt: skip
    def test_a_family_that_fits_is_taken_and_told(self, name, taken, tmp_path):
        model = TextResponseModel(8, n_jobs=1).fit(REVIEWS.texts[:N], responses(name)[:N])
        assert model.family_.name in taken.split()
        said = model.reader_.described["Response"]
        assert model.family_.name in said
        model.save(tmp_path / "model")
        again = load(tmp_path / "model")
        assert (again.family, again.family_) == ("auto", model.family_)
        assert again.reader_.described["Response"] == said

    def test_what_is_taken_is_what_that_family_gives(self):
        y = responses("adjacent-categories")[:N]
        auto = TextResponseModel(8, n_jobs=1).fit(REVIEWS.texts[:N], y)
        given = TextResponseModel(8, n_jobs=1, family=auto.family_.name).fit(REVIEWS.texts[:N], y)
        np.testing.assert_array_equal(auto.predict(REVIEWS.texts[N:]), given.predict(REVIEWS.texts[N:]))

    def test_words_among_numbers_are_refused_with_what_would_take_them(self):
        with pytest.raises(InputError, match=r"the response must be numbers.*'good' is not .row 1;.*categorical"):
            TextResponseModel(4).fit(REVIEWS.texts[:4], ["good", 1, "good", 2])


YES = {
    "booleans": REVIEWS.ratings > 3,
    "a list of booleans": (REVIEWS.ratings > 3).tolist(),
    "0 and 1": (REVIEWS.ratings > 3).astype(int),
    "text": np.where(REVIEWS.ratings > 3, "yes", "no"),
    "a column": pd.Series(REVIEWS.ratings > 3),
}


class TestScikitLearn:
    @pytest.mark.parametrize("response", YES.values(), ids=YES)
    @pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss", "accuracy", None])
    def test_auto_is_scored_as_a_classifier_of_two_classes(self, scoring, response):
        texts, y = REVIEWS.texts[:300], response[:300]
        scores = cross_val_score(TextResponseModel(3, n_jobs=1), texts, y, scoring=scoring, cv=2, error_score="raise")
        named = TextResponseModel(3, family="bernoulli", n_jobs=1)
        # Folds of a classifier are stratified, and a model is one once it has seen its response.
        folds = KFold(2)
        expected = cross_val_score(named, texts, y, scoring=scoring, cv=folds, error_score="raise")
        np.testing.assert_allclose(scores, expected)

    def test_labels_are_those_of_the_response(self):
        model = TextResponseModel(3, n_jobs=1)
        assert is_regressor(model)
        model.fit(REVIEWS.texts, REVIEWS.ratings > 3)
        assert is_classifier(model)
        assert model.classes_.tolist() == [False, True]
        assert model.predict(REVIEWS.texts[:5]).dtype == bool
        assert is_regressor(clone(model))
        assert is_regressor(TextResponseModel(3, n_jobs=1).fit(REVIEWS.texts, REVIEWS.ratings))
        assert is_regressor(TextResponseModel(3, n_jobs=1).fit(REVIEWS.texts, np.where(REVIEWS.ratings > 3, 5, 1)))

    def test_a_stored_model_of_booleans_predicts_the_same(self, tmp_path):
        model = TextResponseModel(3, n_jobs=1).fit(REVIEWS.texts, REVIEWS.ratings > 3)
        model.save(tmp_path / "model")
        np.testing.assert_array_equal(load(tmp_path / "model").predict(REVIEWS.texts), model.predict(REVIEWS.texts))


class TestOrderedCategories:
    NAMES = ("awful", "bad", "fine", "good", "best")

    def column(self, categories=NAMES, ordered=True):
        return pd.Series(pd.Categorical(np.array(self.NAMES)[REVIEWS.ratings - 1], categories, ordered=ordered))

    @pytest.mark.parametrize("family", ["auto", "ordinal"])
    def test_they_are_a_scale_in_their_order(self, family):
        model = TextResponseModel(3, family=family, n_jobs=1).fit(REVIEWS.texts, self.column())
        named = TextResponseModel(3, family="ordinal", levels=self.NAMES, n_jobs=1)
        assert model.family_ == named.fit(REVIEWS.texts, self.column().astype(str)).family_
        assert model.classes_.tolist() == [*self.NAMES]
        assert model.predict(REVIEWS.texts[:1])[0] in self.NAMES

    def test_categories_that_do_not_occur_are_levels(self):
        model = TextResponseModel(3, n_jobs=1).fit(REVIEWS.texts, self.column(["none", *self.NAMES]))
        assert model.levels_.tolist() == ["none", *self.NAMES]

    def test_numbers_with_an_order_are_its_levels(self):
        ratings = pd.Categorical(REVIEWS.ratings, [0, 1, 2, 3, 4, 5], ordered=True)
        model = TextResponseModel(3, n_jobs=1).fit(REVIEWS.texts, ratings)
        assert (model.family_.name, model.levels_.tolist()) == ("ordinal", [0, 1, 2, 3, 4, 5])

    def test_two_of_them_are_classes_of_which_the_second_counts(self):
        happy = pd.Categorical(np.where(REVIEWS.ratings > 3, "no", "yes"), ["yes", "no"], ordered=True)
        model = TextResponseModel(3, n_jobs=1).fit(REVIEWS.texts, happy)
        assert model.classes_.tolist() == ["yes", "no"]
        assert model.naming_.event == "no"

    def test_an_arrow_dictionary_with_an_order_is_one(self):
        column = pa.DictionaryArray.from_arrays(pa.array(REVIEWS.ratings - 1), pa.array(self.NAMES), ordered=True)
        for given in (column, pa.chunked_array([column])):
            assert TextResponseModel(3, n_jobs=1).fit(REVIEWS.texts, given).classes_.tolist() == [*self.NAMES]

    def test_without_an_order_all_is_as_before(self):
        model = TextResponseModel(3, n_jobs=1).fit(REVIEWS.texts, self.column(ordered=False))
        assert (model.family_.name, model.classes_.tolist()) == ("categorical", sorted(self.NAMES))
        numbers = TextResponseModel(3, n_jobs=1).fit(REVIEWS.texts, pd.Categorical(REVIEWS.ratings))
        assert numbers.family_ == TextResponseModel(3, n_jobs=1).fit(REVIEWS.texts, REVIEWS.ratings).family_

    def test_levels_that_are_given_come_first(self):
        model = TextResponseModel(3, levels=self.NAMES[::-1], n_jobs=1).fit(REVIEWS.texts, self.column())
        assert model.levels_.tolist() == [*self.NAMES[::-1]]

    def test_several_responses_have_their_own(self):
        columns = pd.DataFrame({"word": self.column(), "stars": REVIEWS.ratings})
        model = TextResponseModel(3, n_jobs=1).fit(REVIEWS.texts, columns)
        assert model.of("word").levels_.tolist() == [*self.NAMES]
