"""Starts: nonnegative, of the text's size, the same for the same seed, and blind to how rows are written."""

import numpy as np
import pytest
import scipy.sparse as sp

from textsignal.training.corpus import Corpus
from textsignal.training.start import STARTS, nndsvda_start, random_start, weights_for

every_start = pytest.mark.parametrize("start", STARTS.values(), ids=STARTS.keys())


def corpus_of(X, weight=None) -> Corpus:
    X = sp.csr_array(X)
    return Corpus(X, np.zeros(X.shape[0]), np.ones(X.shape[0]) if weight is None else weight)


@pytest.fixture
def corpus(simulation) -> Corpus:
    return corpus_of(simulation.counts)


@every_start
class TestEveryStart:
    @pytest.mark.parametrize("n_topics", [1, 5, 200])
    def test_is_nonnegative_finite_and_has_a_row_for_every_topic_and_document(self, corpus, start, n_topics):
        # 200 topics are more than there are terms.
        begun = start(corpus, n_topics, 0, 1)
        assert begun.topics.shape == (n_topics, corpus.X.shape[1])
        assert begun.weights.shape == (corpus.X.shape[0], n_topics)
        for values in (begun.topics, begun.weights):
            assert np.all(np.isfinite(values))
            assert np.all(values >= 0)
        assert np.all(begun.topics.sum(axis=1) > 0)

    @pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
    def test_reconstructs_text_of_the_right_size(self, corpus, start, unit):
        begun = start(corpus_of(unit * corpus.X), 5, 0, 1)
        mean = (begun.weights @ begun.topics).mean()
        assert 0.3 < mean / (unit * corpus.X.mean()) < 3

    def test_is_the_same_for_the_same_seed(self, corpus, start):
        one, other = start(corpus, 5, 7, 1), start(corpus, 5, 7, 2)
        np.testing.assert_array_equal(one.topics, other.topics)
        np.testing.assert_array_equal(one.weights, other.weights)

    def test_every_term_can_be_reached(self, corpus, start):
        used = corpus.X.sum(axis=0) > 0
        assert np.all(start(corpus, 5, 0, 1).topics[:, used] > 0)

    def test_survives_text_of_one_kind_only(self, start):
        same = np.tile([3.0, 1.0, 0.0, 2.0], (20, 1))
        begun = start(corpus_of(same), 3, 0, 1)
        assert np.all(np.isfinite(begun.topics))
        assert np.all(np.isfinite(begun.weights))

    def test_does_not_change_the_corpus(self, corpus, start):
        data = corpus.X.data.copy()
        start(corpus, 5, 0, 1)
        np.testing.assert_array_equal(corpus.X.data, data)


def test_random_starts_of_other_seeds_differ(corpus):
    assert not np.array_equal(random_start(corpus, 5, 0, 1).topics, random_start(corpus, 5, 1, 1).topics)


class TestNndsvda:
    def test_separates_texts_that_share_no_term(self):
        rng = np.random.default_rng(0)
        X = np.zeros((40, 20))
        X[:20, :10], X[20:, 10:] = rng.poisson(5, (20, 10)), rng.poisson(3, (20, 10))
        topics = nndsvda_start(corpus_of(X), 2, 0, 1).topics
        first_half = topics[:, :10].sum(axis=1) / topics.sum(axis=1)
        assert first_half.max() > 0.6
        assert first_half.min() < 0.4

    def test_whole_weights_equal_repeated_rows(self, corpus):
        weight = np.random.default_rng(0).integers(0, 4, corpus.X.shape[0])
        rows = np.repeat(np.arange(corpus.X.shape[0]), weight)
        weighted = nndsvda_start(corpus_of(corpus.X, weight.astype(float)), 5, 0, 1)
        repeated = nndsvda_start(corpus_of(corpus.X[rows]), 5, 0, 1)
        np.testing.assert_allclose(weighted.topics, repeated.topics, rtol=1e-6)
        np.testing.assert_allclose(weighted.weights[rows], repeated.weights, rtol=1e-6, atol=1e-12)

    def test_a_repeated_document_starts_where_its_twin_does(self, corpus):
        twins = sp.vstack([corpus.X[:50], corpus.X[:50]])
        weights = nndsvda_start(corpus_of(twins), 5, 0, 1).weights
        np.testing.assert_array_equal(weights[:50], weights[50:])


def test_weights_for_topics_carry_each_documents_total(corpus):
    topics = np.random.default_rng(0).random((4, corpus.X.shape[1]))
    weights = weights_for(corpus, topics, 1)
    np.testing.assert_allclose(weights @ topics.sum(axis=1), corpus.X.sum(axis=1), rtol=1e-9)
