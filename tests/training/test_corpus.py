"""Blocks hold the corpus and nothing else; sums add."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import xlogy

from textsignal.compute.engines import Compute
from textsignal.compute.engines.local import LocalEngine
from textsignal.compute.kernels import compiled
from textsignal.training.corpus import Corpus, Parameters, ResponseSums, grouped, place


@pytest.fixture
def corpus(simulation) -> Corpus:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.2, np.nan, simulation.ratings - 1.0)
    return Corpus(simulation.counts, y, rng.integers(0, 3, 300).astype(float))


class ThreeBlocks(LocalEngine):
    def cut(self, n_documents, n_nonzeros, n_terms):
        return [(0, 50), (50, 51), (51, n_documents)]


def test_blocks_hold_every_document_once_and_in_order(corpus):
    W = np.random.default_rng(1).random((300, 5))
    blocks = place(corpus, W, Compute(ThreeBlocks(1), compiled))
    rows = [sp.csr_array((b.X.data, b.X.indices, b.X.indptr), shape=(len(b.y), corpus.X.shape[1])) for b in blocks]
    np.testing.assert_array_equal(sp.vstack(rows).toarray(), corpus.X.toarray())
    np.testing.assert_array_equal(np.concatenate([b.W[:, :5] for b in blocks]), W)
    np.testing.assert_array_equal(np.concatenate([b.text_weight for b in blocks]), corpus.weight)


def test_a_missing_response_counts_for_nothing_and_its_text_for_all(corpus):
    (block,) = place(corpus, np.ones((300, 5)), Compute(LocalEngine(1), compiled))
    missing = np.isnan(corpus.y)
    np.testing.assert_array_equal(block.response_weight[missing], 0)
    np.testing.assert_array_equal(block.response_weight[~missing], corpus.weight[~missing])
    np.testing.assert_array_equal(block.text_weight, corpus.weight)
    assert np.all(np.isfinite(block.y))


def test_profile_is_each_terms_share_of_all_text(corpus):
    totals = corpus.weight @ corpus.X.toarray()
    np.testing.assert_allclose(corpus.profile, totals / totals.sum(), rtol=1e-12)


def test_text_null_deviance_is_twice_the_divergence_from_the_profile(corpus):
    counted = corpus.weight > 0
    X = corpus.X.toarray()[counted]
    null = np.outer(X.sum(axis=1), corpus.profile)
    cells = xlogy(X, X / np.where(X > 0, null, 1)) - X + null
    expected = 2 * corpus.weight[counted] @ cells.sum(axis=1)
    assert corpus.text_null_deviance() == pytest.approx(expected, rel=1e-9)


def test_linear_predictor_is_intercept_and_weights_times_effects():
    rng = np.random.default_rng(0)
    W, beta = rng.random((20, 8)), rng.normal(size=8)
    parameters = Parameters(HT=W[:0], beta=beta, intercept=0.5)
    np.testing.assert_allclose(parameters.linear_predictor(W), 0.5 + W @ beta, rtol=1e-12)
    np.testing.assert_array_equal(parameters.with_coefficients(parameters.coefficients).beta, beta)


def test_texts_of_similar_tone_and_equal_response_are_merged():
    tone, stars = np.linspace(0, 1, 1000), np.tile([1.0, 2.0], 500)
    means, folds, responses, counts = grouped(tone, np.zeros(1000, int), stars, np.ones(1000))
    assert (means.shape, folds.shape) == ((200, 1), (200,))
    np.testing.assert_array_equal(responses[:3], [1, 2, 1])
    np.testing.assert_array_equal(counts, 5)
    assert counts @ means[:, 0] == pytest.approx(tone.sum())


def test_sums_add_field_by_field():
    one = ResponseSums(1.0, np.array([1.0, 2.0]), np.eye(2))
    both = one + ResponseSums(2.0, np.array([3.0, 4.0]), np.ones((2, 2)))
    assert both.loss == 3.0
    np.testing.assert_array_equal(both.gradient, [4.0, 6.0])
    np.testing.assert_array_equal(both.hessian, [[2.0, 1.0], [1.0, 2.0]])
