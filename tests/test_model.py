"""TextResponseModel: raw texts in, everything out; the truth of synthetic reviews comes back."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from textsignal import GLMNMF, JBNMF, Binomial, TextResponseModel, TextVectorizer
from textsignal.datasets import synthetic_reviews
from textsignal.errors import InputError
from textsignal.evaluate import coherence

REVIEWS = synthetic_reviews(300, seed=4)
NEW = synthetic_reviews(50, seed=5).texts


@pytest.fixture(scope="module")
def model():
    return TextResponseModel(5).fit(REVIEWS.texts, REVIEWS.ratings)


@pytest.fixture(scope="module", params=["GLMNMF", "JBNMF"])
def either(request):
    """The model with each of the two estimators."""
    estimator = {"GLMNMF": GLMNMF(5), "JBNMF": JBNMF(5, alpha=0.1)}[request.param]
    return TextResponseModel(estimator=estimator).fit(REVIEWS.texts, REVIEWS.ratings)


def bits(model, texts=NEW):
    said = model.predictions(texts)
    return said.weights.tobytes() + said.eta.tobytes() + said.unknown.tobytes()


def error_of(model, *data, **options):
    with pytest.raises(InputError) as caught:
        model.fit(*data, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# What is planted is found


@pytest.mark.parametrize("seed", [0, 1])
def test_planted_aspects_are_found_with_the_right_effects(seed):
    reviews = synthetic_reviews(3000, seed=seed)
    table = TextResponseModel(14).fit(reviews.texts, reviews.ratings).topics()
    found = {}
    for aspect in reviews.aspects:
        hits = table["terms"].map(lambda terms, of=aspect: len(set(terms) & set(of.keywords)))
        assert hits.max() >= 3, f"no topic shows {aspect.name}"
        found[aspect] = table.loc[hits.idxmax()]
    assert len({row["topic"] for row in found.values()}) == len(reviews.aspects)
    # Texts have nearly one length, so all effects may share a constant: the neutral aspects tell which.
    neutral = [row["effect"] for aspect, row in found.items() if aspect.effect == 0]
    for aspect, row in found.items():
        if aspect.effect > 0:
            assert row["effect"] > max(neutral) + 0.1, aspect.name
        if aspect.effect < 0:
            assert row["effect"] < min(neutral) - 0.1, aspect.name
        if abs(aspect.effect) >= 2:
            assert np.sign(row["effect"]) == np.sign(aspect.effect), aspect.name


def test_predictions_of_new_reviews_come_close_to_what_can_be_known():
    reviews = synthetic_reviews(3000, seed=0)
    train, test = slice(2400), slice(2400, None)
    model = TextResponseModel(12).fit(reviews.texts[train], reviews.ratings[train])
    assert model.score(reviews.texts[test], reviews.ratings[test]) > 0.85 * reviews.ceiling(np.arange(2400, 3000))


# Inputs of every kind


def test_lists_series_arrays_and_generators_give_the_same_bits(model):
    ratings = REVIEWS.ratings
    index = np.arange(300)[::-1]
    forms = [
        (pd.Series(REVIEWS.texts, index=index), pd.Series(ratings, index=index)),
        (np.array(REVIEWS.texts, dtype=object), ratings.astype(float)),
        (np.array(REVIEWS.texts), ratings.tolist()),
        (pd.Series(REVIEWS.texts, dtype="string"), ratings.astype(np.int8)),
        (tuple(REVIEWS.texts), pd.array(ratings, dtype="Int64").to_numpy(dtype=float)),
        ((text for text in REVIEWS.texts), ratings),
    ]
    for texts, responses in forms:
        assert bits(TextResponseModel(5).fit(texts, responses)) == bits(model)


def test_the_number_of_threads_changes_no_bit(model):
    one, two = (TextResponseModel(5, n_jobs=n_jobs).fit(REVIEWS.texts, REVIEWS.ratings) for n_jobs in (1, 2))
    assert bits(one) == bits(two) == bits(model)


def test_threads_change_no_bit_where_there_are_many_blocks():
    reviews = synthetic_reviews(2500, seed=8)
    one, two = (
        TextResponseModel(estimator=GLMNMF(3, max_iter=5, n_jobs=n_jobs)).fit(reviews.texts, reviews.ratings)
        for n_jobs in (1, 2)
    )
    assert bits(one, reviews.texts) == bits(two, reviews.texts)


def test_fitting_twice_equals_fitting_once(model):
    again = clone(model).fit(REVIEWS.texts, REVIEWS.ratings).fit(REVIEWS.texts, REVIEWS.ratings)
    assert bits(again) == bits(model)


def test_fit_changes_none_of_its_inputs():
    texts, ratings, weight = REVIEWS.texts.copy(), REVIEWS.ratings.astype(float), np.ones(300)
    ratings[3] = np.nan
    vectorizer, estimator = TextVectorizer(max_terms=100), JBNMF(3)
    given = copy.deepcopy((texts, ratings, weight))
    TextResponseModel(vectorizer=vectorizer, estimator=estimator).fit(texts, ratings, weight)
    assert texts == given[0]
    np.testing.assert_array_equal(ratings, given[1])
    np.testing.assert_array_equal(weight, given[2])
    assert not hasattr(vectorizer, "terms_")
    assert not hasattr(estimator, "components_")


def test_texts_without_response_teach_the_terms_and_topics():
    ratings = REVIEWS.ratings.astype(float)
    ratings[150:] = np.nan
    model = TextResponseModel(4).fit(REVIEWS.texts, ratings)
    alone = TextResponseModel(4).fit(REVIEWS.texts[:150], ratings[:150])
    assert len(model.vectorizer_.terms_) > len(alone.vectorizer_.terms_)
    assert model.n_documents_ == 300
    assert np.isfinite(model.predict(REVIEWS.texts)).all()
    assert model.score(REVIEWS.texts, ratings) == model.score(REVIEWS.texts[:150], ratings[:150])


def test_empty_texts_do_no_harm():
    texts = REVIEWS.texts.copy()
    texts[::10] = [""] * 30
    model = TextResponseModel(4).fit(texts, REVIEWS.ratings)
    said = model.predictions(texts)
    np.testing.assert_array_equal(said.unknown, [text == "" for text in texts])
    assert np.isfinite(said.mean).all()


def test_emoji_are_terms_like_others():
    texts = [
        f"{text} {'😀' if rating > 3 else '😡'}" for text, rating in zip(REVIEWS.texts, REVIEWS.ratings, strict=True)
    ]
    model = TextResponseModel(4).fit(texts, REVIEWS.ratings)
    assert {"😀", "😡"} <= set(model.vectorizer_.terms_)
    good, bad = model.predict(["😀", "😡"])
    assert good > bad


def test_a_document_of_a_million_words_is_one_document_among_others(model):
    rng = np.random.default_rng(0)
    words = sorted({word for text in REVIEWS.texts for word in text.split()})
    long = " ".join(rng.choice(words, size=1_000_000))
    fitted = TextResponseModel(5).fit([*REVIEWS.texts, long], [*REVIEWS.ratings, 3])
    assert np.isfinite(fitted.predict([long, *NEW])).all()
    # It counts no more than another: what is said of the others hardly changes.
    assert np.corrcoef(fitted.predict(NEW), model.predict(NEW))[0, 1] > 0.9


def test_a_document_does_not_depend_on_the_others(model):
    together = model.predictions(NEW)
    for position in (0, 7, 49):
        alone = model.predictions([NEW[position]])
        np.testing.assert_array_equal(alone.weights[0], together.weights[position])
        assert alone.eta[0] == together.eta[position]


def test_sample_weight_is_how_often_a_document_counts(either):
    weight = np.random.default_rng(0).integers(0, 4, size=300)
    weighted = clone(either).fit(REVIEWS.texts, REVIEWS.ratings, weight)
    X = weighted.vectorizer_.transform(REVIEWS.texts)
    direct = clone(either.estimator).fit(X, REVIEWS.ratings, weight)
    np.testing.assert_array_equal(weighted.estimator_.components_, direct.components_)
    np.testing.assert_array_equal(weighted.estimator_.coef_, direct.coef_)
    assert bits(weighted) != bits(either)
    assert bits(clone(either).fit(REVIEWS.texts, REVIEWS.ratings, np.ones(300))) == bits(either)


# What it says


def test_all_predictions_are_one(either):
    said = either.predictions(NEW)
    np.testing.assert_array_equal(either.transform(NEW), said.weights)
    np.testing.assert_array_equal(either.predict(NEW), said.mean)
    np.testing.assert_array_equal(either.predict_proba(NEW), said.probabilities)
    for rule in ("round", "mode"):
        np.testing.assert_array_equal(either.predict_level(NEW, rule), said.level(rule))


def test_predictions_hang_together(either):
    mean, probability = either.predict(NEW), either.predict_proba(NEW)
    assert either.transform(NEW).shape == (50, 5)
    assert (either.transform(NEW) >= 0).all()
    np.testing.assert_array_equal(either.levels_, [1, 2, 3, 4, 5])
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    np.testing.assert_allclose(probability @ either.levels_, mean)
    np.testing.assert_array_equal(either.predict_level(NEW), np.floor(mean + 0.5))
    np.testing.assert_array_equal(either.predict_level(NEW, "mode"), either.levels_[probability.argmax(axis=1)])


def test_an_unknown_rule_is_an_error(model):
    with pytest.raises(InputError, match='rule=\'median\' is not known; give "round" or "mode"'):
        model.predict_level(NEW, "median")


def test_a_text_of_unknown_words_gets_the_mean_weights(either):
    said = either.predictions([NEW[0], "xylophone zeppelin", "", "the and of", "5 !"])
    np.testing.assert_array_equal(said.unknown, [False, True, True, True, True])
    estimator = either.estimator_
    for weights in said.weights[1:]:
        np.testing.assert_array_equal(weights, estimator.mean_weights_)
    eta = estimator.intercept_ + estimator.mean_weights_ @ estimator.coef_
    np.testing.assert_allclose(said.mean[1:], 1 + 4 / (1 + np.exp(-eta)))


def test_score_is_r2_over_the_texts_that_have_a_response(model):
    ratings = REVIEWS.ratings.astype(float)
    predicted = model.predict(REVIEWS.texts)
    expected = 1 - np.sum((ratings - predicted) ** 2) / np.sum((ratings - ratings.mean()) ** 2)
    assert model.score(REVIEWS.texts, ratings) == pytest.approx(expected)
    ratings[100:] = np.nan
    assert model.score(REVIEWS.texts, ratings) == model.score(REVIEWS.texts[:100], ratings[:100])


def test_the_topic_table_has_one_row_per_topic(either):
    table = either.topics()
    assert list(table.columns) == ["topic", "label", "effect", "prevalence", "coherence", "terms"]
    assert sorted(table["topic"]) == list(range(5))
    assert table["effect"].is_monotonic_decreasing
    assert table["prevalence"].sum() == pytest.approx(1)
    assert (table["prevalence"] > 0).all()
    assert all(len(terms) == 10 for terms in table["terms"])
    assert all(set(terms) <= set(either.vectorizer_.terms_) for terms in table["terms"])
    assert [len(terms) for terms in either.topics(3)["terms"]] == [3] * 5


def test_coherence_is_that_of_the_training_texts(either):
    X = either.vectorizer_.transform(REVIEWS.texts)
    table = either.topics().sort_values("topic")
    np.testing.assert_array_equal(table["coherence"], coherence(X, either.estimator_.components_))


def test_effects_and_prevalence_do_not_depend_on_how_the_estimator_scales_its_topics(either):
    scaled = copy.deepcopy(either)
    size = np.array([0.1, 1.0, 3.0, 20.0, 500.0])
    fitted = scaled.estimator_.fitted_
    scaled.estimator_.fitted_ = replace(
        fitted,
        topics=fitted.topics * size[:, None],
        mean_weights=fitted.mean_weights / size,
        effects=fitted.effects * size,
    )
    ours, theirs = scaled.topics(), either.topics()
    np.testing.assert_allclose(ours["effect"], theirs["effect"])
    np.testing.assert_allclose(ours["prevalence"], theirs["prevalence"])
    assert ours[["topic", "label", "terms"]].equals(theirs[["topic", "label", "terms"]])


def test_a_model_of_one_topic_works():
    model = TextResponseModel(1).fit(REVIEWS.texts, REVIEWS.ratings)
    table = model.topics()
    assert table["prevalence"].tolist() == [1.0]
    assert model.transform(NEW).shape == (50, 1)
    assert np.isfinite(model.predict(NEW)).all()


@pytest.mark.parametrize(
    ("options", "levels"),
    [
        ({}, range(1, 6)),
        ({"levels": (0, 10)}, range(0, 11)),
        ({"levels": [1, 2, 3, 4, 5, 6, 7]}, range(1, 8)),
        ({"family": Binomial(n=5, lowest=0)}, range(0, 6)),
        ({"family": Binomial(lowest=0)}, range(0, 6)),
    ],
)
def test_the_scale_is_given_or_learnt(options, levels):
    model = TextResponseModel(3, **options).fit(REVIEWS.texts, REVIEWS.ratings)
    assert model.levels_.tolist() == list(levels)
    assert model.predict_proba(NEW).shape == (50, len(levels))
    assert ((model.predict(NEW) >= levels[0]) & (model.predict(NEW) <= levels[-1])).all()


# As scikit-learn expects


def test_parameters_are_got_set_and_cloned():
    model = TextResponseModel(7, supervision=0.2, levels=(1, 5), vectorizer=TextVectorizer(max_terms=50))
    assert clone(model).get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert clone(model).get_params()["vectorizer__max_terms"] == 50
    changed = clone(model).set_params(n_topics=3, vectorizer__max_terms=60).fit(REVIEWS.texts, REVIEWS.ratings)
    assert changed.transform(NEW).shape == (50, 3)
    assert len(changed.vectorizer_.terms_) == 60
    assert model.n_topics == 7
    assert model.vectorizer.max_terms == 50


def test_the_options_reach_the_estimator(model):
    direct = GLMNMF(5).fit(model.vectorizer_.transform(REVIEWS.texts), REVIEWS.ratings)
    np.testing.assert_array_equal(model.estimator_.components_, direct.components_)
    chosen = TextResponseModel(3, supervision=0.1, levels=(0, 6), random_state=4, n_jobs=1)
    params = chosen.fit(REVIEWS.texts, REVIEWS.ratings).estimator_.get_params()
    assert {name: params[name] for name in ("n_topics", "supervision", "levels", "random_state", "n_jobs")} == {
        "n_topics": 3,
        "supervision": 0.1,
        "levels": (0, 6),
        "random_state": 4,
        "n_jobs": 1,
    }


def test_a_clone_is_not_fitted(model):
    for ask in (TextResponseModel().predict, clone(model).predict):
        with pytest.raises(NotFittedError):
            ask(NEW)
    with pytest.raises(NotFittedError):
        TextResponseModel().topics()
    with pytest.raises(NotFittedError):
        _ = TextResponseModel().levels_


def test_a_pickled_model_says_the_same_bits(either):
    again = pickle.loads(pickle.dumps(either))
    assert bits(again) == bits(either)
    assert again.topics().equals(either.topics())


def test_supervision_counts():
    unsupervised = TextResponseModel(5, supervision=0).fit(REVIEWS.texts, REVIEWS.ratings)
    shuffled = TextResponseModel(5, supervision=0).fit(REVIEWS.texts, REVIEWS.ratings[::-1])
    np.testing.assert_array_equal(unsupervised.estimator_.components_, shuffled.estimator_.components_)
    supervised = TextResponseModel(5, supervision=2).fit(REVIEWS.texts, REVIEWS.ratings)
    assert supervised.score(REVIEWS.texts, REVIEWS.ratings) > unsupervised.score(REVIEWS.texts, REVIEWS.ratings)


def test_callbacks_see_every_iteration():
    seen = []

    class Watch:
        max_estimator_depth = None

        def setup(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context):
            seen.append(context.task_name)

        def teardown(self, estimator, context):
            pass

    model = TextResponseModel(3).set_callbacks(Watch()).fit(REVIEWS.texts, REVIEWS.ratings)
    assert seen.count("iteration") == model.estimator_.n_iter_


# Bad input


@pytest.mark.parametrize(
    ("texts", "ratings", "message"),
    [
        ("one text", [3], "a list of texts is needed, not a single str; for one text give [text]"),
        (["one", "two"], [1, 2, 3], "2 texts, but 3 responses; give one for each text"),
        (["one", "two"], [], "2 texts, but 0 responses; give one for each text"),
        (["one", "two"], None, "2 texts, but 0 responses; give one for each text"),
        ([], [], "no texts were given"),
        (["one", None], [1, 2], 'text 1 is a NoneType (None), counting from 0; every text must be a string, ""'),
        (["one", 5.0], [1, 2], "text 1 is a float (5.0), counting from 0"),
        (["one", b"two"], [1, 2], "text 1 is a bytes (b'two'), counting from 0"),
        (["the", "and of", "", "!"], [1, 2, 3, 4], "no term is left: the 4 texts are empty or hold nothing but"),
    ],
)
def test_bad_texts_get_a_clear_error(texts, ratings, message):
    assert message in error_of(TextResponseModel(1), texts, ratings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y: np.full(300, 4), "the response is constant (always 4), so there is nothing to explain"),
        (lambda y: np.full(300, np.nan), "no document has a response (all are missing)"),
        (lambda y: np.where(np.arange(300) == 7, 3.5, y), "not a whole number"),
        (lambda y: np.where(np.arange(300) == 7, 3.5, y), "row 7: 3.5"),
        (lambda y: np.where(np.arange(300) == 7, np.inf, y), "row 7: inf"),
        (lambda y: np.where(np.arange(300) == 7, 999, y), "responses run from 1 to 999"),
        (lambda y: [*y[:-1], "five"], "the response must be numbers, NaN where there is none"),
    ],
)
def test_bad_responses_get_a_clear_error(change, message):
    assert message in error_of(TextResponseModel(3), REVIEWS.texts, change(REVIEWS.ratings.astype(float)))


def test_a_response_off_the_given_scale_is_named():
    message = error_of(TextResponseModel(3, levels=(1, 4)), REVIEWS.texts, REVIEWS.ratings)
    first = np.flatnonzero(REVIEWS.ratings == 5)[0]
    assert "not one of the levels 1 to 4" in message
    assert f"row {first}: 5" in message


def test_a_constant_response_on_a_given_scale_is_an_error_too():
    for model in (TextResponseModel(3, levels=(1, 5)), TextResponseModel(estimator=GLMNMF(3, levels=(1, 5)))):
        assert "the response is constant" in error_of(model, REVIEWS.texts, np.full(300, 5))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_topics": 301}, "cannot carry 301 topics"),
        ({"n_topics": 0}, "n_topics=0 must be a whole number of at least 1"),
        ({"n_topics": 2.5}, "n_topics=2.5 must be a whole number of at least 1"),
        ({"supervision": -1}, "supervision=-1 must be a number of at least 0"),
        ({"supervision": np.nan}, "supervision=nan must be a number of at least 0"),
        ({"training": "magic"}, "training='magic' is not known; allowed: 'joint'"),
        ({"family": "gamma"}, "family='gamma' is not known; allowed: binomial"),
        ({"levels": [3]}, "levels=[3]: give at least two whole numbers, such as (1, 5)"),
        ({"vectorizer": TextVectorizer(min_df=301)}, "no term is left: none of the"),
        ({"vectorizer": TextVectorizer(stop_words="klingon")}, "no stop words for 'klingon'"),
    ],
)
def test_bad_options_get_a_clear_error(options, message):
    assert message in error_of(TextResponseModel(**options), REVIEWS.texts, REVIEWS.ratings)


def test_new_texts_are_checked_like_the_first(model):
    for ask in (model.predict, model.transform, model.predict_proba, model.predict_level, model.predictions):
        with pytest.raises(InputError, match="a list of texts is needed, not a single str"):
            ask("one text")
    with pytest.raises(InputError, match="text 1 is a NoneType"):
        model.predict(["one", None])


def test_no_texts_give_no_predictions(model):
    assert model.predict([]).shape == (0,)
    assert model.transform([]).shape == (0, len(model.components_))
    assert model.predict_proba([]).shape == (0, len(model.classes_))


@pytest.mark.parametrize("training", ["predictive", "joint"])
def test_prevalence_is_the_share_of_all_text_in_a_topic(training):
    model = TextResponseModel(5, training=training).fit(REVIEWS.texts, REVIEWS.ratings)
    rows = model.estimator_.inference.rows(sp.csr_array(model.vectorizer_.transform(REVIEWS.texts))).toarray()
    W, H = model.transform(REVIEWS.texts), model.estimator_.components_
    in_topic = np.sum(W * ((rows / (W @ H)) @ H.T), axis=0)
    found = model.topics().sort_values("topic")["prevalence"]
    np.testing.assert_allclose(found, in_topic / in_topic.sum(), rtol=1e-3)
