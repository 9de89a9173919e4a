"""Laws of the guide: a penalised GLM, chosen on held-back documents, distrusted where it explains nothing there."""

import numpy as np
import pytest
import scipy.sparse as sp

from textsignal.families import Binomial
from textsignal.training.corpus import Corpus
from textsignal.training.draws import document_keys
from textsignal.training.guide import NO_GUIDE, fit_guide

N, V = 600, 40
FAMILY = Binomial(4, 1)


def problem(strength, seed=0):
    """Ratings that depend on words, times `strength`."""
    rng = np.random.default_rng(seed)
    X = sp.csr_array(rng.poisson(0.5, size=(N, V)).astype(float))
    effects = strength * rng.standard_normal(V)
    y = rng.binomial(4, 1 / (1 + np.exp(-(X @ effects)))).astype(float)
    return Corpus(X, y, np.ones(N))


def guide_of(corpus, weights=None):
    weights = np.ones((corpus.X.shape[0], 1)) if weights is None else weights
    return fit_guide(corpus, weights, FAMILY, 1.0, document_keys(corpus.X))


def test_what_words_explain_is_trusted():
    assert guide_of(problem(1.0)).distrust < 0.4


def test_what_no_word_explains_is_not():
    assert guide_of(problem(0.0)).distrust > 0.95


def test_the_tilt_is_the_share_of_its_own_slope():
    corpus = problem(0.5)
    guide = guide_of(corpus)
    rows = np.array([3, 5, 8])
    eta = guide.constant[rows] + corpus.X[rows] @ guide.words
    np.testing.assert_allclose(
        guide.tilt(corpus.X[rows], rows, corpus.y[rows], FAMILY),
        guide.distrust * FAMILY.gradient(corpus.y[rows], eta),
    )


def test_there_is_no_tilt_without_a_response():
    corpus = problem(0.5)
    tilt = guide_of(corpus).tilt(corpus.X[:2], np.arange(2), np.array([np.nan, 1.0]), FAMILY)
    assert tilt[0] == 0
    assert tilt[1] != 0


def test_no_guide_takes_responses_as_they_are():
    corpus = problem(0.5)
    assert not NO_GUIDE.tilt(corpus.X, np.arange(N), corpus.y, FAMILY).any()


def test_missing_responses_do_not_count():
    corpus = problem(0.5)
    y = np.where(np.arange(N) < 100, np.nan, corpus.y)
    missing = guide_of(Corpus(corpus.X, y, corpus.weight))
    removed = guide_of(Corpus(corpus.X[100:], corpus.y[100:], corpus.weight[100:]))
    np.testing.assert_allclose(missing.words, removed.words, atol=1e-6)


def test_weights_equal_repetition():
    corpus = problem(0.5)
    weight = (np.arange(N) % 3).astype(float)
    rows = np.repeat(np.arange(N), weight.astype(int))
    weighted = guide_of(Corpus(corpus.X, corpus.y, weight))
    repeated = guide_of(Corpus(corpus.X[rows], corpus.y[rows], np.ones(len(rows))))
    np.testing.assert_allclose(weighted.words, repeated.words, atol=1e-4)
    assert weighted.distrust == pytest.approx(repeated.distrust, abs=1e-4)


@pytest.mark.parametrize("n_documents", [1, 2, 6])
def test_too_few_documents_to_hold_back_are_not_trusted(n_documents):
    corpus = problem(1.0)
    some = Corpus(corpus.X[:n_documents], np.arange(n_documents) % 2.0, np.ones(n_documents))
    guide = guide_of(some)
    assert 0 <= guide.distrust <= 1
    assert np.all(np.isfinite(guide.words))
