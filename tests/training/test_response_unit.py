"""Responses of any size: the unit in which numbers are given changes nothing but the unit of results."""

import numpy as np
import pytest

from textsignal import GLMNMF, JBNMF, TextResponseModel, TopicModel
from textsignal.datasets import simulate_corpus, synthetic_reviews
from textsignal.errors import InputError, TrainingError
from textsignal.families import AdjacentCategories, Gaussian, NegativeBinomial, Ordinal, best_constant
from textsignal.insight.explanation import slope_of
from textsignal.training.glm import dispersion_of
from textsignal.training.tone import _expected

CORPUS = simulate_corpus(n_documents=150, n_terms=80, random_state=3)
REVIEWS = synthetic_reviews(300, seed=1)


def explained(predictions, y):
    return 1 - np.mean((predictions - y) ** 2) / np.var(y)


@pytest.mark.parametrize("training", ["predictive", "joint"])
@pytest.mark.parametrize(("size", "centre"), [(1e9, 0), (1e15, 0), (1e29, 0), (1e-9, 0), (1e-25, 0), (1.0, 1e9)])
def test_topics_explain_numbers_of_any_size(training, size, centre):
    ratings = CORPUS.ratings.astype(float)
    first = GLMNMF(3, family="gaussian", training=training).fit(CORPUS.counts, ratings)
    y = centre + size * ratings
    other = GLMNMF(3, family="gaussian", training=training).fit(CORPUS.counts, y)
    found = explained(other.predict(CORPUS.counts), y)
    assert found == pytest.approx(explained(first.predict(CORPUS.counts), ratings), abs=0.05)
    assert other.family_.deviation == pytest.approx(size * first.family_.deviation, rel=0.1)


def test_a_power_of_two_changes_results_by_that_factor_to_the_bit():
    ratings, X = CORPUS.ratings.astype(float), CORPUS.counts
    covariates, offset = np.arange(150.0)[:, None] % 7, np.arange(150.0) % 3
    options = {"family": "gaussian", "max_epochs": 2, "word_residual": True}
    one, other = (
        GLMNMF(3, **options).fit(X, 2.0**power * ratings, covariates=covariates, offset=2.0**power * offset)
        for power in (40, 60)
    )
    np.testing.assert_array_equal(one.components_, other.components_)
    for name in ("effects", "intercept", "word_effects", "covariates", "covariate_errors"):
        np.testing.assert_array_equal(2.0**20 * getattr(one.fitted_, name), getattr(other.fitted_, name))
    np.testing.assert_array_equal(one.fitted_.hessian, 2.0**40 * other.fitted_.hessian)
    assert other.family_.deviation == 2.0**20 * one.family_.deviation
    weight = len(ratings)
    np.testing.assert_allclose(other.objective_ - one.objective_, one.alpha_ * weight * np.log(2.0**20))


def test_the_best_constant_is_exact_however_far_off_it_is():
    y = 1e9 + np.array([0.0, 1.0, 5.0])
    assert best_constant(Gaussian(2.0), y, np.ones(3)) == pytest.approx(1e9 + 2, abs=1e-4)


@pytest.mark.parametrize("training", ["predictive", "joint"])
def test_responses_of_documents_without_a_term_teach_nothing(training):
    X = np.array([[2.0, 1.0], [0.0, 0.0], [1.0, 3.0], [0.0, 0.0]])
    with pytest.raises(InputError, match="no text that has a response has a known term"):
        GLMNMF(1, training=training).fit(X, [np.nan, 1.0, np.nan, 2.0])


@pytest.mark.parametrize("training", ["predictive", "joint"])
def test_an_offset_that_is_the_response_leaves_nothing(training):
    y = CORPUS.ratings.astype(float)
    with pytest.raises(InputError, match="leaves nothing for the text to explain"):
        GLMNMF(2, family="gaussian", training=training).fit(CORPUS.counts, y, offset=y)


def test_themes_learn_no_tone_where_an_offset_is_the_response():
    y = REVIEWS.ratings.astype(float)
    model = TextResponseModel(2, family="gaussian").fit(REVIEWS.texts, y, offset=y)
    np.testing.assert_allclose(model.predict(REVIEWS.texts, offset=y), y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_steps_that_are_too_long_are_an_error_and_no_warning(n_jobs):
    model = JBNMF(2, coefficient_step="gradient", learning_rate=1e15, alpha=1e15, lam=1e15, gamma=0.0, n_jobs=n_jobs)
    with pytest.raises(TrainingError, match="the objective became"):
        model.fit(CORPUS.counts, CORPUS.ratings)


def test_levels_of_which_tiny_weights_say_nothing_stay_where_they_are():
    texts = ["room " * n for n in (8, 4, 5, 1, 11, 8, 5, 8, 2, 4, 5, 6)]
    weight = [4e-4, 2e-3, 5e-4, 1e-3, 1e-3, 1e-5, 7e-4, 7e-4, 5e-5, 4e-4, 2e-4, 2e-4]
    responses = [4, np.nan, 4, 5, np.nan, np.nan, 5, 2, 2, 1, 1, 1]
    model = TopicModel(GLMNMF(3, family="stereotype")).fit(texts, responses, weight)
    assert np.isfinite(model.predict(texts)).all()


def test_thresholds_far_apart_have_finite_derivatives():
    family = Ordinal((1, 2, 3), thresholds=(-500.0, 500.0))
    found = family.own_derivatives(np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.0, 0.0]), np.ones(3))
    assert np.isfinite(found.slope).all()
    assert np.isfinite(found.bend).all()


def test_a_scale_of_one_level_in_the_middle_has_a_unit():
    family = AdjacentCategories(2, 1, offsets=(0.0, 200.0, 0.0))
    assert np.isfinite(family.unit)


def test_explanations_hold_for_large_numbers():
    assert slope_of(Gaussian(1.0), 1e15, 1e15) == pytest.approx(1)


def test_a_scale_of_numbers_that_floats_hardly_tell_apart_is_an_error():
    y = np.nextafter(1e29, 2e29) + np.spacing(1e29) * (np.arange(300) % 3)
    with pytest.raises(InputError, match='family="gaussian" takes larger ones'):
        TextResponseModel(2).fit(REVIEWS.texts, y)


def test_a_rate_without_an_end_has_an_expected_count():
    expected = _expected(NegativeBinomial(0.3), np.array([0.0, 900.0]))
    assert expected[0] == pytest.approx(1)
    assert np.isfinite(expected).all()


def test_dispersion_is_finite_where_no_curvature_is_left():
    y, eta = np.array([0.0, 3.0]), np.array([-900.0, -900.0])
    assert np.isfinite(dispersion_of(NegativeBinomial(0.3), y, eta, np.ones(2)))


def test_levels_may_be_larger_than_whole_numbers_that_floats_tell_apart():
    assert Ordinal().learn(1e29 * np.array([1.0, 2.0, 4.0])).values == (1e29, 2e29, 4e29)


def test_clusters_are_at_most_the_vectors_that_can_be_told_apart():
    sentences = ["price pool pool!", "clean!", "breakfast noisy bed noisy room price friendly staff. The end."]
    texts = [*sentences, "bed view bed pool noisy bed!", "staff staff price.", *[""] * 7]
    weight = [704, 346, 815, 130, 1355, 71, 189, 292, 1016, 1470, 2727, 2947]
    model = TextResponseModel(8, family="gaussian").fit(texts, np.arange(12.0) % 5, weight)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1)


def test_offsets_of_classes_are_checked_too():
    labels = np.array(["a", "b", "c"])[np.arange(300) % 3]
    with pytest.raises(InputError, match="offset is 1e\\+09 in row 1 "):
        TextResponseModel(2).fit(REVIEWS.texts, labels, offset=np.full(300, 1e9))
