"""The share of text: one quantity for documents, themes and all text."""

import numpy as np
import pytest
import scipy.sparse as sp

import textsignal as ts
from textsignal.training.topics import text_shares


@pytest.fixture(scope="module")
def corpus():
    return ts.datasets.simulate_corpus(n_documents=300, n_terms=150, random_state=2)


WAYS = {
    "predictive": lambda: ts.GLMNMF(5, max_epochs=5),
    "joint": lambda: ts.GLMNMF(5, training="joint", max_iter=100),
    "JBNMF": lambda: ts.JBNMF(5, max_iter=100),
}


@pytest.fixture(scope="module", params=WAYS)
def model(request, corpus):
    return WAYS[request.param]().fit(corpus.counts, corpus.ratings)


def explained(model, X):
    """(documents, themes) text that each theme explains, term by term: w_k H_kj x_j / (wH)_j summed over j."""
    W, H = model.transform(X).astype(float), model.components_
    rows, fitted = model.inference.rows(sp.csr_array(X)).toarray(), W @ H
    return W * (np.divide(rows, fitted, out=np.zeros_like(fitted), where=fitted > 0) @ H.T)


def test_shares_of_a_document_are_what_themes_explain_of_its_text(model, corpus):
    parts = explained(model, corpus.counts)
    # Weights are found up to a tolerance, and so is the equality.
    within = 1e-6 if model.inference.smoothing else 1e-3
    expected = parts / parts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predictions(corpus.counts).shares, expected, atol=within)


def test_shares_sum_to_one_and_are_never_negative(model, corpus):
    shares = model.predictions(corpus.counts).shares
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert shares.min() >= 0


def test_prevalence_is_the_mean_share_by_text(corpus):
    model = ts.GLMNMF(5, max_epochs=5).fit(corpus.counts, corpus.ratings)
    totals = model.inference.rows(corpus.counts.astype(float)).sum(axis=1)
    mean = np.average(model.predictions(corpus.counts).shares, axis=0, weights=totals)
    np.testing.assert_allclose(model.centred_effects.prevalence, mean, rtol=1e-6)


def test_smoothing_is_not_text(corpus):
    """With more smoothing every weight grows alike, and what texts say of the themes stays."""
    model = ts.GLMNMF(5, max_epochs=5).fit(corpus.counts, corpus.ratings)
    predictions = model.predictions(corpus.counts)
    of_weight = predictions.weights / predictions.weights.sum(axis=1, keepdims=True)
    assert predictions.shares.std(axis=0).mean() > 1.3 * of_weight.std(axis=0).mean()


def test_a_document_without_a_known_term_has_the_mean_shares(model, corpus):
    empty = sp.csr_array((1, corpus.counts.shape[1]))
    np.testing.assert_allclose(model.predictions(empty).shares[0], model.centred_effects.prevalence)


def test_shares_do_not_depend_on_how_themes_are_scaled():
    rng = np.random.default_rng(0)
    weights, themes, size = rng.random((6, 3)) + 1, rng.random((3, 8)), np.array([0.1, 1.0, 30.0])
    one = text_shares(weights, themes, smoothing=0.1)
    np.testing.assert_allclose(text_shares(weights / size, themes * size[:, None], smoothing=0.1), one)


def test_a_dead_theme_and_a_document_without_weight_have_no_share():
    shares = text_shares(np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([[1.0, 0.5], [0.0, 0.0]]), smoothing=0.1)
    np.testing.assert_array_equal(shares, [[1, 0], [0, 0]])
