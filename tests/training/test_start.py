"""Starts: nonnegative, of the text's size, the same for the same seed, and blind to how rows are written."""

import numpy as np
import pytest
import scipy.sparse as sp

from textsignal.compute.engines import Compute
from textsignal.compute.engines.local import LocalEngine, local_compute
from textsignal.compute.kernels import compiled
from textsignal.datasets import simulate_corpus
from textsignal.families import Binomial
from textsignal.training.corpus import Corpus
from textsignal.training.glm import ResponseModel
from textsignal.training.inference import unit_rows
from textsignal.training.start import (
    STARTS,
    better_start,
    merge_by_effect,
    nndsvda_start,
    predictive_start,
    random_start,
    weights_for,
)

ONE_THREAD = Compute(LocalEngine(1), compiled)

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
        begun = start(corpus, n_topics, 0, ONE_THREAD)
        assert begun.topics.shape == (n_topics, corpus.X.shape[1])
        assert begun.weights.shape == (corpus.X.shape[0], n_topics)
        for values in (begun.topics, begun.weights):
            assert np.all(np.isfinite(values))
            assert np.all(values >= 0)
        assert np.all(begun.topics.sum(axis=1) > 0)

    @pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
    def test_reconstructs_text_of_the_right_size(self, corpus, start, unit):
        begun = start(corpus_of(unit * corpus.X), 5, 0, ONE_THREAD)
        mean = (begun.weights @ begun.topics).mean()
        assert 0.3 < mean / (unit * corpus.X.mean()) < 3

    @pytest.mark.usefixtures("threaded_blas")
    def test_is_the_same_for_the_same_seed(self, corpus, start):
        one = start(corpus, 5, 7, ONE_THREAD)
        with local_compute(2) as two_threads:
            other = start(corpus, 5, 7, two_threads)
        np.testing.assert_array_equal(one.topics, other.topics)
        np.testing.assert_array_equal(one.weights, other.weights)

    def test_every_term_can_be_reached(self, corpus, start):
        used = corpus.X.sum(axis=0) > 0
        assert np.all(start(corpus, 5, 0, ONE_THREAD).topics[:, used] > 0)

    def test_survives_text_of_one_kind_only(self, start):
        same = np.tile([3.0, 1.0, 0.0, 2.0], (20, 1))
        begun = start(corpus_of(same), 3, 0, ONE_THREAD)
        assert np.all(np.isfinite(begun.topics))
        assert np.all(np.isfinite(begun.weights))

    def test_does_not_change_the_corpus(self, corpus, start):
        data = corpus.X.data.copy()
        start(corpus, 5, 0, ONE_THREAD)
        np.testing.assert_array_equal(corpus.X.data, data)


def test_random_starts_of_other_seeds_differ(corpus):
    assert not np.array_equal(
        random_start(corpus, 5, 0, ONE_THREAD).topics, random_start(corpus, 5, 1, ONE_THREAD).topics
    )


class TestNndsvda:
    def test_separates_texts_that_share_no_term(self):
        rng = np.random.default_rng(0)
        X = np.zeros((40, 20))
        X[:20, :10], X[20:, 10:] = rng.poisson(5, (20, 10)), rng.poisson(3, (20, 10))
        topics = nndsvda_start(corpus_of(X), 2, 0, ONE_THREAD).topics
        first_half = topics[:, :10].sum(axis=1) / topics.sum(axis=1)
        assert first_half.max() > 0.6
        assert first_half.min() < 0.4

    def test_whole_weights_equal_repeated_rows(self, corpus):
        weight = np.random.default_rng(0).integers(0, 4, corpus.X.shape[0])
        rows = np.repeat(np.arange(corpus.X.shape[0]), weight)
        weighted = nndsvda_start(corpus_of(corpus.X, weight.astype(float)), 5, 0, ONE_THREAD)
        repeated = nndsvda_start(corpus_of(corpus.X[rows]), 5, 0, ONE_THREAD)
        np.testing.assert_allclose(weighted.topics, repeated.topics, rtol=1e-6)
        np.testing.assert_allclose(weighted.weights[rows], repeated.weights, rtol=1e-6, atol=1e-12)

    def test_a_repeated_document_starts_where_its_twin_does(self, corpus):
        twins = sp.vstack([corpus.X[:50], corpus.X[:50]])
        weights = nndsvda_start(corpus_of(twins), 5, 0, ONE_THREAD).weights
        np.testing.assert_array_equal(weights[:50], weights[50:])


def test_weights_for_topics_carry_each_documents_total(corpus):
    topics = np.random.default_rng(0).random((4, corpus.X.shape[1]))
    weights = weights_for(corpus, topics, ONE_THREAD)
    np.testing.assert_allclose(weights @ topics.sum(axis=1), corpus.X.sum(axis=1), rtol=1e-9)


@pytest.fixture(scope="module")
def simulated():
    return simulate_corpus(n_documents=800, n_terms=200, random_state=4)


def starts_of(simulated, weight, rows=slice(None)):
    """Starts predictive training from any topics on the simulated corpus."""
    X, y = unit_rows(simulated.counts.astype(float)), simulated.ratings - 1.0
    corpus = Corpus(X[rows], y[rows], weight)
    glm = ResponseModel(Binomial(4, 1), ONE_THREAD, 1.0, fit_intercept=True)
    return lambda topics: predictive_start(topics, corpus, glm, corpus.profile, smoothing=0.1, tol=1e-8)


@pytest.fixture(scope="module")
def start(simulated):
    return starts_of(simulated, np.ones(800))


def test_topics_are_shares_and_all_terms_are_in_them(simulated, start):
    topics = start(3 * simulated.topics).topics
    np.testing.assert_allclose(topics.sum(axis=1), 1)
    assert topics.min() > 0


def test_true_topics_explain_the_response(simulated, start):
    first = start(simulated.topics)
    assert 0.2 < first.explained < 1
    np.testing.assert_allclose(first.prevalence.sum(), 1)


def test_a_dead_topic_starts_as_the_profile(simulated, start):
    dead = simulated.topics.copy()
    dead[0] = 0
    assert np.all(np.isfinite(start(dead).logits))


def test_a_document_that_counts_twice_starts_as_two_copies_do(simulated):
    weight = np.random.default_rng(0).integers(0, 4, 800)
    weighted = starts_of(simulated, weight.astype(float))(simulated.topics)
    rows = np.repeat(np.arange(800), weight)
    repeated = starts_of(simulated, np.ones(len(rows)), rows)(simulated.topics)
    np.testing.assert_allclose(weighted.prevalence, repeated.prevalence, rtol=1e-9)
    np.testing.assert_allclose(weighted.coefficients, repeated.coefficients, rtol=1e-6)
    assert weighted.explained == pytest.approx(repeated.explained)


def test_merged_topics_are_taken_where_plain_ones_explain_nothing(simulated, start):
    # Two topics that each are the mean of all true ones say nothing of the response.
    plain = start(np.full((2, 5), 0.2) @ simulated.topics)
    taken = better_start(plain, start(simulated.topics), start)
    assert len(taken.topics) == 2
    assert taken.explained > 2 * plain.explained


def test_plain_topics_are_kept_where_they_explain_as_much(simulated, start):
    plain = start(simulated.topics)
    assert better_start(plain, start(simulated.topics), start) is plain


class TestMerging:
    topics = np.eye(6)
    effects = np.array([2.0, -1.0, 0.1, -1.1, 0.0, 2.2])
    prevalence = np.array([0.1, 0.2, 0.3, 0.2, 0.1, 0.1])

    def test_joins_neighbours_in_effect(self):
        merged = merge_by_effect(self.topics, self.effects, self.prevalence, 3)
        assert [set(np.flatnonzero(topic)) for topic in merged] == [{1, 3}, {2, 4}, {0, 5}]

    def test_means_are_by_prevalence(self):
        merged = merge_by_effect(self.topics, self.effects, self.prevalence, 3)
        np.testing.assert_allclose(merged[1], [0, 0, 0.75, 0, 0.25, 0])

    def test_into_one_gives_the_whole(self):
        np.testing.assert_allclose(merge_by_effect(self.topics, self.effects, self.prevalence, 1)[0], self.prevalence)

    def test_topics_without_weight_are_no_trouble(self):
        merged = merge_by_effect(self.topics, self.effects, np.zeros(6), 2)
        np.testing.assert_allclose(merged.sum(axis=1), 1)

    def test_does_not_change_its_input(self):
        before = self.topics.copy()
        merge_by_effect(self.topics, self.effects, self.prevalence, 2)
        np.testing.assert_array_equal(self.topics, before)
