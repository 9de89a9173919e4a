"""Measures of skill and of themes agree with other packages and with their definitions, written out slowly."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import metrics

from textsignal.errors import InputError
from textsignal.estimators.predictions import r2_score, rmse
from textsignal.evaluation.metrics import calibration_table, overfit_warning
from textsignal.training.topics import coherence, exclusivity, top_terms

laws = settings(max_examples=60)
numbers = st.floats(-100, 100)
pairs = st.integers(2, 20).flatmap(
    lambda n: st.tuples(arrays(float, n, elements=numbers), arrays(float, n, elements=numbers))
)
theme_matrices = arrays(float, (3, 8), elements=st.floats(0, 1))


@pytest.mark.parametrize("measure", [r2_score, rmse])
class TestSkill:
    def test_ignores_documents_without_a_response(self, measure):
        y, predicted = np.array([1.0, np.nan, 3.0, 5.0]), np.array([1.5, 9.0, 2.0, 4.0])
        seen = ~np.isnan(y)
        assert measure(y, predicted) == measure(y[seen], predicted[seen])

    def test_whole_weights_equal_repeated_documents(self, measure):
        rng = np.random.default_rng(0)
        y, predicted, weight = rng.normal(size=30), rng.normal(size=30), rng.integers(0, 4, 30)
        repeated = measure(np.repeat(y, weight), np.repeat(predicted, weight))
        assert measure(y, predicted, weight) == pytest.approx(repeated, rel=1e-12)

    def test_cannot_be_measured_without_a_response(self, measure):
        with pytest.raises(InputError, match="no text has a response"):
            measure([np.nan, np.nan], [1.0, 2.0])

    def test_needs_a_prediction_for_every_response(self, measure):
        with pytest.raises(InputError, match="3 responses, but 2 predictions"):
            measure([1, 2, 3], [1, 2])


class TestR2:
    @laws
    @given(pairs)
    def test_is_scikit_learns(self, pair):
        y, predicted = pair
        if np.ptp(y) < 1e-3:
            return
        assert r2_score(y, predicted) == pytest.approx(metrics.r2_score(y, predicted), rel=1e-9, abs=1e-9)

    def test_with_weights_is_scikit_learns(self):
        rng = np.random.default_rng(0)
        y, predicted, weight = rng.normal(size=30), rng.normal(size=30), rng.random(30)
        theirs = metrics.r2_score(y, predicted, sample_weight=weight)
        assert r2_score(y, predicted, weight) == pytest.approx(theirs, rel=1e-12)

    def test_is_undefined_where_nothing_varies(self):
        assert math.isnan(r2_score([3, 3, 3], [3, 3, 2]))


@laws
@given(pairs)
def test_rmse_is_scikit_learns(pair):
    assert rmse(*pair) == pytest.approx(metrics.root_mean_squared_error(*pair), rel=1e-12)


class TestTopTerms:
    @laws
    @given(theme_matrices, st.integers(1, 10))
    def test_no_other_term_is_more_probable_and_ties_go_by_number(self, themes, n):
        best = top_terms(themes, n)
        assert best.shape == (3, min(n, 8))
        for theme, chosen in zip(themes, best, strict=True):
            assert chosen.tolist() == sorted(range(8), key=lambda j: (-theme[j], j))[:n]


def slow_coherence(X: np.ndarray, theme: np.ndarray, n: int) -> float:
    """Mean NPMI by its definition, one pair of terms at a time."""
    terms = sorted(range(len(theme)), key=lambda j: (-theme[j], j))[:n]
    values = []
    for a, b in itertools.combinations(terms, 2):
        together = np.mean((X[:, a] > 0) & (X[:, b] > 0))
        if together == 0:
            values.append(-1.0)
        elif together == 1:
            values.append(1.0)
        else:
            chance = np.mean(X[:, a] > 0) * np.mean(X[:, b] > 0)
            values.append(math.log(together / chance) / -math.log(together))
    return float(np.mean(values))


class TestCoherence:
    @laws
    @given(arrays(int, (12, 8), elements=st.integers(0, 2)), theme_matrices, st.integers(2, 8))
    def test_is_its_definition(self, X, themes, n):
        ours = coherence(sp.csr_array(X), themes, n)
        np.testing.assert_allclose(ours, [slow_coherence(X, theme, n) for theme in themes], atol=1e-12)

    @laws
    @given(arrays(int, (12, 8), elements=st.integers(0, 2)), theme_matrices)
    def test_lies_between_minus_one_and_one(self, X, themes):
        ours = coherence(sp.csr_array(X), themes, 4)
        assert np.all((ours >= -1 - 1e-12) & (ours <= 1 + 1e-12))

    def test_does_not_depend_on_how_often_a_term_occurs_in_a_document(self):
        rng = np.random.default_rng(0)
        X, themes = rng.poisson(0.5, (50, 8)), rng.random((3, 8))
        np.testing.assert_array_equal(
            coherence(sp.csr_array(X), themes, 4), coherence(sp.csr_array(7.5 * X), themes, 4)
        )

    def test_a_stored_zero_is_no_occurrence(self):
        clean = sp.csr_array(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
        stored = sp.csr_array((np.array([1.0, 1, 0, 1, 1, 1]), [0, 1, 2, 0, 1, 2], [0, 3, 5, 6]), shape=(3, 3))
        themes = np.array([[0.5, 0.0, 0.5]])
        np.testing.assert_array_equal(coherence(stored, themes, 2), coherence(clean, themes, 2))

    def test_of_one_term_is_undefined(self):
        assert np.all(np.isnan(coherence(sp.csr_array(np.eye(4)), np.ones((2, 4)), 1)))


class TestExclusivity:
    @laws
    @given(theme_matrices, st.integers(1, 8))
    def test_lies_between_zero_and_one(self, themes, n):
        ours = exclusivity(themes, n)
        assert np.all((ours >= 0) & (ours <= 1 + 1e-12))

    def test_is_one_where_themes_share_no_term(self):
        np.testing.assert_allclose(exclusivity(np.kron(np.eye(3), np.ones((1, 4))), 4), 1)

    def test_is_an_even_share_where_all_themes_are_alike(self):
        np.testing.assert_allclose(exclusivity(np.tile(np.arange(1.0, 9), (4, 1)), 5), 1 / 4)


def test_bins_of_calibration_hold_alike_predictions_and_every_document_with_a_response():
    rng = np.random.default_rng(0)
    predicted = rng.uniform(1, 5, 103)
    y = np.where(np.arange(103) < 3, np.nan, np.round(predicted + rng.normal(size=103)))
    table = calibration_table(y, predicted, n_bins=10)
    assert table["documents"].tolist() == [10] * 10
    assert table["predicted"].is_monotonic_increasing
    assert np.average(table["observed"], weights=table["documents"]) == pytest.approx(np.nanmean(y))
    first = np.argsort(predicted[3:])[:10] + 3
    assert table.loc[0, "predicted"] == pytest.approx(predicted[first].mean())
    assert table.loc[0, "standard_error"] == pytest.approx(y[first].std(ddof=1) / np.sqrt(10))


def test_equal_predictions_share_a_bin_and_single_documents_have_no_error():
    table = calibration_table([1, 2, 3, 4], [2, 2, 2, 5], n_bins=4)
    assert table["documents"].tolist() == [3, 1]
    assert table["standard_error"].isna().tolist() == [False, True]
    with pytest.raises(InputError, match="n_bins=0"):
        calibration_table([1, 2], [1, 2], n_bins=0)


@pytest.mark.parametrize(
    ("training", "held_out", "documents", "warned"),
    [
        (0.96, 0.58, 400, True),
        (0.80, 0.22, 800, True),
        (0.75, 0.69, 2000, False),
        (0.30, 0.20, 2000, False),  # a third of it is gone, but it is little
        (0.90, 0.74, 2000, False),  # a gap, but most of it holds
        (0.60, 0.40, 60, False),  # 60 documents may differ that much by chance
        (0.50, -0.40, 60, True),
        (0.50, float("nan"), 60, False),
    ],
)
def test_training_skill_far_above_held_out_skill_is_warned_of(training, held_out, documents, warned):
    warning = overfit_warning(training, held_out, documents)
    assert (warning is not None) == warned
    assert warning is None or f"{training:.2f}" in warning


def test_weights_that_are_not_one_for_each_response_are_named():
    with pytest.raises(InputError, match=r"3 responses, but weights of shape \(2,\); give one for each"):
        r2_score([1, 2, 3], [1, 2, 4], [1, 1])
