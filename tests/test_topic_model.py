"""TopicModel: topics of raw texts, by a vectorizer and an estimator."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from textsignal import GLMNMF, JBNMF, TextVectorizer, TopicModel
from textsignal.datasets import synthetic_reviews
from textsignal.training.topics import coherence

REVIEWS = synthetic_reviews(300, seed=4)
NEW = synthetic_reviews(50, seed=5).texts


def topic_model(n_topics, **options):
    return TopicModel(GLMNMF(n_topics, training="predictive", **options))


@pytest.fixture(scope="module", params=["GLMNMF", "JBNMF"])
def either(request):
    """The model with each of the two estimators."""
    estimator = {"GLMNMF": GLMNMF(5), "JBNMF": JBNMF(5, alpha=0.1)}[request.param]
    return TopicModel(estimator).fit(REVIEWS.texts, REVIEWS.ratings)


def bits(model, texts=NEW):
    found = model.predictions(texts)
    return found.weights.tobytes() + found.eta.tobytes() + found.unknown.tobytes()


@pytest.mark.parametrize("seed", [0, 1])
def test_planted_aspects_are_found_with_the_right_effects(seed):
    reviews = synthetic_reviews(3000, seed=seed)
    table = topic_model(14).fit(reviews.texts, reviews.ratings).topics()
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


@pytest.mark.usefixtures("threaded_blas")
def test_threads_change_no_bit_where_there_are_many_blocks():
    reviews = synthetic_reviews(2500, seed=8)
    one, two = (
        TopicModel(GLMNMF(3, max_iter=5, n_jobs=n_jobs)).fit(reviews.texts, reviews.ratings) for n_jobs in (1, 2)
    )
    assert bits(one, reviews.texts) == bits(two, reviews.texts)


def test_fit_changes_no_part_and_no_input():
    texts, ratings, weight = REVIEWS.texts.copy(), REVIEWS.ratings.astype(float), np.ones(300)
    ratings[3] = np.nan
    vectorizer, estimator = TextVectorizer(max_terms=100), JBNMF(3)
    given = copy.deepcopy((texts, ratings, weight))
    TopicModel(estimator, vectorizer).fit(texts, ratings, weight)
    assert texts == given[0]
    np.testing.assert_array_equal(ratings, given[1])
    np.testing.assert_array_equal(weight, given[2])
    assert not hasattr(vectorizer, "terms_")
    assert not hasattr(estimator, "components_")


def test_emoji_are_terms_like_others():
    texts = [
        f"{text} {'😀' if rating > 3 else '😡'}" for text, rating in zip(REVIEWS.texts, REVIEWS.ratings, strict=True)
    ]
    model = topic_model(4).fit(texts, REVIEWS.ratings)
    assert {"😀", "😡"} <= set(model.vectorizer_.terms_)
    good, bad = model.predict(["😀", "😡"])
    assert good > bad


def test_sample_weight_is_how_often_a_document_counts(either):
    weight = np.random.default_rng(0).integers(0, 4, size=300)
    weighted = clone(either).fit(REVIEWS.texts, REVIEWS.ratings, weight)
    X = weighted.vectorizer_.transform(REVIEWS.texts)
    direct = clone(either.estimator).fit(X, REVIEWS.ratings, weight)
    np.testing.assert_array_equal(weighted.estimator_.components_, direct.components_)
    np.testing.assert_array_equal(weighted.estimator_.coef_, direct.coef_)
    assert bits(weighted) != bits(either)
    assert bits(clone(either).fit(REVIEWS.texts, REVIEWS.ratings, np.ones(300))) == bits(either)


def test_a_text_of_unknown_words_gets_the_mean_weights(either):
    found = either.predictions([NEW[0], "xylophone zeppelin", "", "the and of", "5 !"])
    np.testing.assert_array_equal(found.unknown, [False, True, True, True, True])
    estimator = either.estimator_
    for weights in found.weights[1:]:
        np.testing.assert_array_equal(weights, estimator.mean_weights_)
    eta = estimator.intercept_ + estimator.mean_weights_ @ estimator.coef_
    np.testing.assert_allclose(found.mean[1:], 1 + 4 / (1 + np.exp(-eta)))


def test_the_topic_table_has_one_row_per_topic(either):
    table = either.topics()
    assert list(table.columns) == ["topic", "label", "effect", "prevalence", "coherence", "terms"]
    assert sorted(table["topic"]) == list(range(5))
    assert table.index.tolist() == table["topic"].tolist()
    assert table["effect"].is_monotonic_decreasing
    assert table["prevalence"].sum() == pytest.approx(1)
    assert (table["prevalence"] > 0).all()
    assert all(len(terms) == 10 for terms in table["terms"])
    assert all(set(terms) <= set(either.vectorizer_.terms_) for terms in table["terms"])
    assert [len(terms) for terms in either.topics(3)["terms"]] == [3] * 5
    by_prevalence = either.topics(by="prevalence")
    assert by_prevalence["prevalence"].is_monotonic_decreasing
    assert by_prevalence.sort_index().equals(table.sort_index())


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


def test_parameters_are_got_set_and_cloned():
    model = TopicModel(GLMNMF(7, supervision=0.2, levels=(1, 5)), TextVectorizer(max_terms=50))
    assert clone(model).get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert clone(model).get_params()["vectorizer__max_terms"] == 50
    changed = (
        clone(model).set_params(estimator__n_topics=3, vectorizer__max_terms=60).fit(REVIEWS.texts, REVIEWS.ratings)
    )
    assert changed.transform(NEW).shape == (50, 3)
    assert len(changed.vectorizer_.terms_) == 60
    assert model.estimator.n_topics == 7
    assert model.vectorizer.max_terms == 50


def test_a_model_of_texts_is_its_estimator_on_the_matrix_of_its_vectorizer():
    model = topic_model(5).fit(REVIEWS.texts, REVIEWS.ratings)
    direct = GLMNMF(5, training="predictive").fit(model.vectorizer_.transform(REVIEWS.texts), REVIEWS.ratings)
    np.testing.assert_array_equal(model.estimator_.components_, direct.components_)
    X = model.vectorizer_.transform(NEW)
    np.testing.assert_array_equal(model.predict(NEW), direct.predict(X))
    np.testing.assert_array_equal(model.transform(NEW), direct.transform(X))


def test_supervision_counts():
    unsupervised = topic_model(5, supervision=0).fit(REVIEWS.texts, REVIEWS.ratings)
    shuffled = topic_model(5, supervision=0).fit(REVIEWS.texts, REVIEWS.ratings[::-1])
    np.testing.assert_array_equal(unsupervised.estimator_.components_, shuffled.estimator_.components_)
    supervised = topic_model(5, supervision=2).fit(REVIEWS.texts, REVIEWS.ratings)
    assert supervised.score(REVIEWS.texts, REVIEWS.ratings) > unsupervised.score(REVIEWS.texts, REVIEWS.ratings)


@pytest.mark.parametrize("training", ["predictive", "joint"])
def test_prevalence_is_the_share_of_all_text_in_a_topic(training):
    model = TopicModel(GLMNMF(5, training=training)).fit(REVIEWS.texts, REVIEWS.ratings)
    rows = model.estimator_.inference.rows(sp.csr_array(model.vectorizer_.transform(REVIEWS.texts))).toarray()
    W, H = model.transform(REVIEWS.texts), model.estimator_.components_
    in_topic = np.sum(W * ((rows / (W @ H)) @ H.T), axis=0)
    found = model.topics().sort_values("topic")["prevalence"]
    np.testing.assert_allclose(found, in_topic / in_topic.sum(), rtol=1e-3)


@pytest.mark.parametrize("high", [True, False, None])
def test_typical_texts_are_led_by_the_topic(either, high):
    found, weights = either.find_texts(1, n=6, high=high), either.predictions(REVIEWS.texts).shares
    assert list(found.columns) == ["row", "text", "response", "prediction", "share"]
    assert 0 < len(found) <= 6
    assert (weights[found["row"]].argmax(axis=1) == 1).all()
    np.testing.assert_array_equal(found["share"], weights[found["row"], 1])
    np.testing.assert_array_equal(found["response"], REVIEWS.ratings[found["row"]])
    np.testing.assert_array_equal(found["prediction"], either.predict(REVIEWS.texts)[found["row"]])
    label = either.topic_names[1]
    given = either.find_texts(label, n=6, high=high, texts=REVIEWS.texts, responses=REVIEWS.ratings)
    assert given.equals(found)
