"""Models whose effects are given covariates, an offset and weights: laws at both levels, and what is refused."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import sklearn
import statsmodels.api as sm
from sklearn.model_selection import cross_val_predict, cross_val_score

from textsignal import GLMNMF, JBNMF, TextResponseModel, TopicModel, load
from textsignal.compute.engines.local import local_compute
from textsignal.data.covariates.design import Given
from textsignal.datasets import simulate_corpus, synthetic_reviews
from textsignal.errors import InputError
from textsignal.families import Binomial, Gaussian, Poisson
from textsignal.training.contributions import ToneByTheme, fit_theme_effects

REVIEWS = synthetic_reviews(600, seed=1)
TEXTS, RATINGS = list(REVIEWS.texts), np.asarray(REVIEWS.ratings, dtype=float)
RNG = np.random.default_rng(0)
N, NEW = 500, slice(500, 600)
TABLE = pd.DataFrame({"price": RNG.normal(size=600), "country": RNG.choice(["it", "fr", "de"], 600, p=[0.5, 0.3, 0.2])})
SCORES = RATINGS + 1.5 * TABLE["price"].to_numpy() + 2.0 * (TABLE["country"] == "fr").to_numpy()
trainings = pytest.mark.parametrize("training", ["predictive", "joint"])
#: Rounding in another order of columns.
CLOSE = 1e-5


@cache
def fitted():
    return fit(TABLE)


def fit(table, responses=SCORES, n_themes=6, formula=None, **given):
    model = TextResponseModel(n_themes, family="gaussian", formula=formula, n_jobs=1)
    table = None if table is None else table[:N]
    return model.fit(TEXTS[:N], responses[:N], covariates=table, **given)


def predicted(model, table=TABLE, **given):
    return model.predict(TEXTS[NEW], covariates=None if table is None else table[NEW], **given)


class TestLevelTwo:
    """The GLM on themes, given tone."""

    K = 3

    def columns(self, n=900):
        rng = np.random.default_rng(1)
        tone, shares = rng.normal(0, 0.5, (n, self.K)), rng.dirichlet(np.ones(self.K), n)
        given = Given(rng.normal(size=(n, 2)) + tone[:, :1], rng.normal(0, 0.3, n))
        eta = 0.3 + tone.sum(axis=1) + given.columns @ np.array([0.5, -1.0]) + given.offset
        texts = ToneByTheme(tone, shares, np.ones(n))
        return texts, given, eta, rng.integers(0, 3, n).astype(float), rng

    def effects(self, texts, given, y, weight, family):
        with local_compute(1) as compute:
            return fit_theme_effects(texts, texts.shares.mean(axis=0), y, weight, family, compute, given)[0]

    @pytest.mark.parametrize("name", ["gaussian", "binomial", "poisson"])
    def test_effects_of_covariates_equal_statsmodels_given_contributions(self, name):
        texts, given, eta, weight, rng = self.columns()
        family, theirs = {
            "gaussian": (Gaussian(), sm.families.Gaussian()),
            "binomial": (Binomial(4, 1), sm.families.Binomial()),
            "poisson": (Poisson(), sm.families.Poisson()),
        }[name]
        y = {"gaussian": rng.normal, "poisson": lambda mean, _: rng.poisson(np.exp(mean))}.get(
            name, lambda mean, _: rng.binomial(4, 1 / (1 + np.exp(-mean))).astype(float)
        )(eta, 0.5)
        y = np.asarray(y, dtype=float)
        found = self.effects(texts, given, y, weight, family.learn(y + (name == "binomial")))
        offset = found.contributions(texts).sum(axis=1) + given.offset
        response = np.column_stack([y, 4 - y]) if name == "binomial" else y
        expected = sm.GLM(response, sm.add_constant(given.columns), theirs, offset=offset, freq_weights=weight).fit()
        np.testing.assert_allclose([found.constant, *found.covariates], expected.params, atol=1e-5)

    def test_standard_errors_are_those_of_least_squares(self):
        """With one theme and much data the penalties are nothing."""
        texts, given, eta, _, rng = self.columns(4000)
        texts = ToneByTheme(texts.tone[:, :1], np.ones((len(eta), 1)), texts.evidence)
        y = eta + rng.normal(size=4000)
        found = self.effects(texts, given, y, np.ones(4000), Gaussian().learn(y))
        ols = sm.OLS(y - given.offset, sm.add_constant(np.column_stack([texts.tone, given.columns]))).fit()
        np.testing.assert_allclose(found.covariate_errors, ols.bse[-2:], rtol=0.02)

    def test_groups_give_errors_between_groups(self):
        texts, given, eta, _, rng = self.columns(2000)
        texts = ToneByTheme(texts.tone[:, :1], np.ones((len(eta), 1)), texts.evidence)
        groups = np.arange(2000) // 20
        clustered = Given(given.columns + rng.normal(size=(100, 2))[groups], given.offset, groups)
        y = eta + rng.normal(size=100)[groups] + rng.normal(size=2000)
        found = self.effects(texts, clustered, y, np.ones(2000), Gaussian().learn(y))
        columns = sm.add_constant(np.column_stack([texts.tone, clustered.columns]))
        ols = sm.OLS(y - given.offset, columns).fit(cov_type="cluster", cov_kwds={"groups": groups})
        np.testing.assert_allclose(found.covariate_errors, ols.bse[-2:], rtol=0.03)

    def test_an_offset_is_a_covariate_whose_effect_is_known(self):
        texts, given, eta, weight, rng = self.columns()
        y = eta + rng.normal(size=len(eta))
        free = self.effects(texts, given, y, weight, Gaussian().learn(y))
        known = Given(given.columns[:, :1], given.columns[:, 1] * free.covariates[1] + given.offset)
        fixed = self.effects(texts, known, y, weight, Gaussian().learn(y))
        np.testing.assert_allclose(fixed.covariates, free.covariates[:1], atol=1e-4)
        np.testing.assert_allclose(fixed.gamma, free.gamma, atol=1e-3)


class TestLaws:
    def test_effects_that_were_planted_are_found(self):
        table = fitted().covariate_effects_
        assert table["name"].tolist() == ["price", "country=fr", "country=de"]
        wrong = (table["effect"] - [1.5, 2.0, 0.0]).abs()
        assert (wrong < 4 * table["std_error"]).all()
        assert (table["std_error"] < 0.2).all()

    def test_covariates_help_to_predict(self):
        with_them = fitted().score(TEXTS[NEW], SCORES[NEW], covariates=TABLE[NEW])
        assert with_them > fit(None).score(TEXTS[NEW], SCORES[NEW]) + 0.3

    def test_a_constant_covariate_changes_nothing(self):
        model = fit(TABLE.assign(one=1.0))
        np.testing.assert_allclose(predicted(model, TABLE.assign(one=1.0)), predicted(fitted()), atol=CLOSE)
        assert model.covariate_effects_.iloc[-1]["effect"] == 0
        assert np.isnan(model.covariate_effects_.iloc[-1]["std_error"])

    def test_the_reference_does_not_matter(self):
        """Another level is compared with: the same predictions."""
        other = fit(TABLE, formula="price + C(country)")
        np.testing.assert_allclose(predicted(other), predicted(fitted()), atol=CLOSE)
        coded = pd.get_dummies(TABLE["country"], dtype=float)[["it", "de"]].assign(price=TABLE["price"])
        np.testing.assert_allclose(predicted(fit(coded), coded), predicted(fitted()), atol=CLOSE)

    def test_the_order_of_columns_does_not_matter(self):
        turned = TABLE[["country", "price"]]
        np.testing.assert_allclose(predicted(fit(turned), turned), predicted(fitted()), atol=CLOSE)
        np.testing.assert_array_equal(predicted(fitted(), turned), predicted(fitted()))

    def test_an_offset_of_a_gaussian_is_taken_off_the_response(self):
        """The model given an offset is the model of what it leaves."""
        offset = 3 * np.sin(np.arange(600.0))
        one = fit(TABLE, offset=offset[:N])
        other = fit(TABLE, responses=SCORES - offset)
        expected = predicted(other) + offset[NEW]
        np.testing.assert_allclose(predicted(one, offset=offset[NEW]), expected, atol=max(1e-3, CLOSE))

    def test_a_loaded_model_knows_its_covariates(self, tmp_path):
        for model in (fitted(), fit(TABLE, formula="bs(price, 4, extrapolation=clip) * C(country)")):
            model.save(tmp_path / "model", force=True)
            again = load(tmp_path / "model")
            np.testing.assert_array_equal(predicted(again), predicted(model))
            pd.testing.assert_frame_equal(again.covariate_effects_, model.covariate_effects_)
            assert again.naming_ == model.naming_

    @pytest.mark.parametrize("name", ["binomial", "ordinal", "poisson"])
    def test_other_families_take_them(self, name):
        y = RATINGS - (name == "poisson")
        model = TextResponseModel(4, family=name, n_jobs=1).fit(TEXTS[:N], y[:N], covariates=TABLE[:N])
        assert np.isfinite(predicted(model)).all()
        table = model.covariate_effects_
        assert (table["effect"].abs() < 4 * table["std_error"]).all()

    def test_exposure_multiplies_a_rate(self):
        exposure = np.random.default_rng(2).uniform(0.5, 8, 600)
        y = np.random.default_rng(3).poisson(exposure * np.exp(REVIEWS.probability - 0.5)).astype(float)
        model = TextResponseModel(4, family="poisson", n_jobs=1)
        model.fit(TEXTS[:N], y[:N], offset=np.log(exposure[:N]))
        one = model.predict(TEXTS[NEW], offset=np.log(exposure[NEW]))
        np.testing.assert_allclose(model.predict(TEXTS[NEW], offset=np.log(2 * exposure[NEW])), 2 * one)
        assert np.corrcoef(one, y[NEW])[0, 1] > 0.7


def centred(*columns):
    """Columns with the mean 0 in training, as models of themes code them."""
    columns = np.column_stack(columns)
    return columns - columns[:N].mean(axis=0)


#: Covariates as numbers, for models of topics.
DUMMIES = {name: (TABLE["country"] == name).to_numpy(dtype=float) for name in ("it", "fr", "de")}
COLUMNS = centred(TABLE["price"], DUMMIES["fr"], DUMMIES["de"])
#: Training that moves topics amplifies rounding: another order of columns, in the last digit of an offset.
TOPICS_CLOSE = {"predictive": 3e-4, "joint": 0.03}


@cache
def fitted_topics(training):
    return fit_topics(COLUMNS, training)


def fit_topics(columns, training, responses=SCORES, n_topics=6, offset=None):
    model = TopicModel(GLMNMF(n_topics, family="gaussian", training=training, n_jobs=1))
    columns, offset = (None if values is None else values[:N] for values in (columns, offset))
    return model.fit(TEXTS[:N], responses[:N], covariates=columns, offset=offset)


def predicted_by_topics(model, columns=COLUMNS, **given):
    return model.predict(TEXTS[NEW], covariates=columns[NEW], **given)


@trainings
class TestTopics:
    """The laws of covariates for both trainings of topics."""

    def test_effects_that_were_planted_are_found(self, training):
        fitted = fitted_topics(training).estimator_.fitted_
        wrong = np.abs(fitted.covariate_effects - [1.5, 2.0, 0.0])
        assert (wrong < 4 * fitted.covariate_errors).all()
        assert (fitted.covariate_errors < 0.2).all()

    def test_covariates_help_to_predict(self, training):
        with_them = fitted_topics(training).score(TEXTS[NEW], SCORES[NEW], covariates=COLUMNS[NEW])
        assert with_them > fit_topics(None, training).score(TEXTS[NEW], SCORES[NEW]) + 0.3

    def test_a_constant_covariate_changes_nothing(self, training):
        columns = centred(COLUMNS, np.ones(600))
        model = fit_topics(columns, training)
        expected = predicted_by_topics(fitted_topics(training))
        np.testing.assert_allclose(predicted_by_topics(model, columns), expected, atol=TOPICS_CLOSE[training])
        assert model.estimator_.fitted_.covariate_effects[-1] == 0
        assert np.isnan(model.estimator_.fitted_.covariate_errors[-1])

    def test_the_reference_does_not_matter(self, training):
        columns = centred(TABLE["price"], DUMMIES["it"], DUMMIES["de"])
        found = predicted_by_topics(fit_topics(columns, training), columns)
        expected = predicted_by_topics(fitted_topics(training))
        np.testing.assert_allclose(found, expected, atol=TOPICS_CLOSE[training])

    def test_the_order_of_columns_does_not_matter(self, training):
        columns = COLUMNS[:, ::-1]
        found = predicted_by_topics(fit_topics(columns, training), columns)
        expected = predicted_by_topics(fitted_topics(training))
        np.testing.assert_allclose(found, expected, atol=TOPICS_CLOSE[training])

    def test_an_offset_of_a_gaussian_is_taken_off_the_response(self, training):
        """The model given an offset is the model of what it leaves."""
        offset = 3 * np.sin(np.arange(600.0))
        one = fit_topics(COLUMNS, training, offset=offset)
        other = fit_topics(COLUMNS, training, responses=SCORES - offset)
        expected, close = predicted_by_topics(other) + offset[NEW], max(1e-3, TOPICS_CLOSE[training])
        np.testing.assert_allclose(predicted_by_topics(one, offset=offset[NEW]), expected, atol=close)

    def test_a_loaded_model_knows_its_covariates(self, training, tmp_path):
        model = fitted_topics(training)
        model.save(tmp_path / "model")
        again = load(tmp_path / "model")
        np.testing.assert_array_equal(predicted_by_topics(again), predicted_by_topics(model))
        for name in ("covariate_effects", "covariate_errors"):
            of_each = (getattr(each.estimator_.fitted_, name) for each in (again, model))
            np.testing.assert_array_equal(*of_each)

    def test_nine_tenths_of_responses_may_be_missing(self, training):
        holed = np.where(np.arange(600) % 10 == 0, SCORES, np.nan)
        model = fit_topics(COLUMNS, training, responses=holed, n_topics=4)
        assert model.score(TEXTS[NEW], SCORES[NEW], covariates=COLUMNS[NEW]) > 0.5

    def test_weights_are_repetition(self, training):
        corpus = simulate_corpus(n_documents=200, n_terms=80, random_state=3)
        columns, offset = RNG.normal(size=(200, 2)), RNG.normal(size=200)
        y = corpus.probability * 5 + columns @ np.array([1.0, -1.0]) + offset
        weight = np.arange(200) % 3
        rows = np.repeat(np.arange(200), weight)
        one, other = (GLMNMF(3, family="gaussian", training=training, n_jobs=1) for _ in range(2))
        one.fit(corpus.counts, y, weight, covariates=columns, offset=offset)
        other.fit(corpus.counts[rows], y[rows], covariates=columns[rows], offset=offset[rows])
        both = (model.predict(corpus.counts, covariates=columns, offset=offset) for model in (one, other))
        np.testing.assert_allclose(*both, atol=1e-4)


class TestTone:
    def test_a_word_that_only_goes_with_a_covariate_has_no_tone(self):
        """Reviews of dear wines say "grand cru"; it is the price that moves the score."""
        rng = np.random.default_rng(5)
        dear = rng.random(600) < 0.5
        says = np.where(rng.random(600) < 0.9, dear, ~dear)
        texts = [f"{text} A grandcru it was." if yes else text for text, yes in zip(TEXTS, says, strict=True)]
        y = RATINGS + 3.0 * dear
        tones, added = {}, {}
        for name, table in (("without", None), ("with", pd.DataFrame({"dear": dear}))):
            model = TextResponseModel(6, family="gaussian", n_jobs=1).fit(texts, y, covariates=table)
            found = model.reader_.fitted
            tones[name] = found.words.tone[list(found.features.names).index("grandcru")]
            both = ([f"{text}{end}" for text in TEXTS[:100]] for end in (" A grandcru it was.", ""))
            given = {} if table is None else {"covariates": table[:100]}
            added[name] = np.subtract(*(model.predict(each, **given) for each in both)).mean()
        assert added["without"] > 1
        assert abs(added["with"]) < 0.15 * added["without"]
        assert abs(tones["with"]) < 0.15 * tones["without"]

    def test_tone_stays_what_it_is_without_anything_given(self):
        plain, zero = fit(None), fit(None, offset=np.zeros(N))
        one, other = (model.reader_.fitted.words for model in (plain, zero))
        for name in ("tone", "judgement", "judged", "spread", "slope"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-9)


class TestWhatIsSaid:
    def test_contributions_add_up_to_predictions(self):
        given = {"covariates": TABLE[NEW]}
        table = fitted().contributions(TEXTS[NEW], scale="response", **given)
        np.testing.assert_allclose(table.sum(axis=1), fitted().predict(TEXTS[NEW], **given), rtol=1e-6)

    def test_an_explanation_is_of_average_covariates_unless_they_are_given(self):
        model = fitted()
        own = model.explain(TEXTS[-1], covariates=TABLE[-1:])
        assert own.prediction == pytest.approx(model.predict(TEXTS[-1:], covariates=TABLE[-1:])[0])
        for explanation in (own, model.explain(TEXTS[-1])):
            total = explanation.baseline + explanation.themes["contribution"].sum() + explanation.beyond
            assert total == pytest.approx(explanation.linear_predictor)
        moved = own.linear_predictor - model.explain(TEXTS[-1]).linear_predictor
        design = model.design_.columns(TABLE[-1:])
        assert moved == pytest.approx(float(design[0] @ model.covariate_effects_["effect"]), abs=1e-9)

    def test_drivers_of_training_are_those_of_its_documents_with_their_covariates(self):
        model = fitted()
        given = {"texts": TEXTS[:N], "responses": SCORES[:N], "covariates": TABLE[:N]}
        pd.testing.assert_frame_equal(pd.DataFrame(model.drivers()), pd.DataFrame(model.drivers(**given)))

    def test_merged_themes_are_still_given_covariates(self):
        merged = fitted().merge([0, 1])
        effects = merged.covariate_effects_["effect"]
        np.testing.assert_allclose(effects, fitted().covariate_effects_["effect"], atol=0.3)

    def test_stability_refits_with_covariates(self):
        assert fitted().stability(2)["cost_sd"].max() >= 0

    def test_tables_say_what_they_are_given(self):
        said = "given price and country: texts are compared with others of the same price and country"
        assert said in fitted().drivers()._repr_html_()
        assert said in fitted().themes().attrs["given"]
        assert said in fitted().name_response("score", "points").drivers()._repr_html_()
        assert "given" not in fit(None).drivers()._repr_html_()

    def test_weights_need_no_covariates(self):
        assert fitted().transform(TEXTS[:3]).shape == (3, 7)


class TestRefused:
    def test_what_the_model_was_fitted_with_is_needed(self):
        with pytest.raises(InputError, match="give 'price', 'country': covariates="):
            fitted().predict(TEXTS[:3])
        with pytest.raises(InputError, match="lack 'country'"):
            fitted().predict(TEXTS[:3], covariates=TABLE[["price"]][:3])
        with pytest.raises(InputError, match="fitted without covariates"):
            fit(None).predict(TEXTS[:3], covariates=TABLE[:3])
        with pytest.raises(InputError, match="fitted without an offset"):
            fitted().predict(TEXTS[:3], covariates=TABLE[:3], offset=np.zeros(3))
        with pytest.raises(InputError, match="fitted with an offset; give one"):
            fit(None, offset=np.ones(N)).predict(TEXTS[:3])
        with pytest.raises(InputError, match="covariates were given without texts"):
            fitted().drivers(covariates=TABLE)
        with pytest.raises(InputError, match="formula='price' needs covariates"):
            fit(None, formula="price")

    def test_levels_that_are_new(self):
        with pytest.raises(InputError, match="'country' has levels that were not in training: row 2: 'at'"):
            fitted().predict(TEXTS[:2], covariates=pd.DataFrame({"price": [0.0, 1.0], "country": ["it", "at"]}))

    def test_missing_covariates_are_named_or_left_out(self):
        holed = TABLE.assign(price=TABLE["price"].mask(TABLE.index % 5 == 0))
        with pytest.raises(InputError, match=r"row 1: price; row 6: price.*and 95 more.*missing=\"drop\""):
            fit(holed)
        model = TextResponseModel(6, family="gaussian", missing="drop", n_jobs=1)
        model.fit(TEXTS[:N], SCORES[:N], covariates=holed[:N])
        kept = np.flatnonzero(np.arange(N) % 5)
        other = TextResponseModel(6, family="gaussian", n_jobs=1)
        other.fit([TEXTS[i] for i in kept], SCORES[kept], covariates=TABLE.iloc[kept])
        np.testing.assert_array_equal(predicted(model), predicted(other))
        assert model.n_texts_ == len(kept)

    def test_the_papers_model_has_none(self):
        corpus = simulate_corpus(n_documents=60, n_terms=40, random_state=3)
        with pytest.raises(InputError, match="no covariates"):
            JBNMF(2, n_jobs=1).fit(corpus.counts, corpus.ratings, covariates=np.ones((60, 1)))

    def test_an_estimator_takes_numbers(self):
        corpus = simulate_corpus(n_documents=60, n_terms=40, random_state=3)
        with pytest.raises(InputError, match="row 1, column 0"):
            GLMNMF(2, n_jobs=1).fit(
                corpus.counts, corpus.ratings, covariates=np.where(np.arange(60) == 1, np.nan, 0)[:, None]
            )
        model = GLMNMF(2, n_jobs=1, max_epochs=2).fit(corpus.counts, corpus.ratings, covariates=np.ones((60, 1)))
        with pytest.raises(InputError, match="0 columns, and the model was fitted with 1"):
            model.predict(corpus.counts)


class TestScikitLearn:
    def test_metadata_is_routed(self):
        model = TextResponseModel(4, family="gaussian", n_jobs=1)
        with sklearn.config_context(enable_metadata_routing=True):
            model.set_fit_request(covariates=True, offset=True, sample_weight=True, groups=True)
            model.set_predict_request(covariates=True, offset=True).set_score_request(covariates=True, offset=True)
            params = {"covariates": TABLE, "offset": np.zeros(600), "sample_weight": np.ones(600)}
            params["groups"] = np.arange(600) % 50
            model.set_score_request(covariates=True, offset=True, sample_weight=False)
            scores = cross_val_score(model, np.array(TEXTS, dtype=object), SCORES, cv=2, params=params)
        assert scores.min() > 0.7

    def test_a_table_of_texts_and_covariates_is_cross_validated(self):
        """scikit-learn passes params to fit alone there, so predict finds covariates beside the texts."""
        table = TABLE.assign(text=TEXTS)[["text", "price", "country"]]
        model = TextResponseModel(4, family="gaussian", n_jobs=1)
        with sklearn.config_context(enable_metadata_routing=True):
            model.set_fit_request(sample_weight=True)
            params = {"sample_weight": np.ones(600)}
            found = cross_val_predict(model, table, SCORES, cv=2, params=params)
        assert np.corrcoef(found, SCORES)[0, 1] > 0.85
        np.testing.assert_array_equal(fitted().predict(table[NEW]), fitted().predict(TEXTS[NEW], covariates=TABLE[NEW]))


class TestMissingResponses:
    def test_nine_tenths_may_be_missing(self):
        holed = np.where(np.arange(600) % 10 == 0, SCORES, np.nan)
        model = fit(TABLE, responses=holed, n_themes=4)
        assert model.score(TEXTS[NEW], SCORES[NEW], covariates=TABLE[NEW]) > 0.5
