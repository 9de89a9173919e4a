"""Laws of where predictive training begins."""

import numpy as np
import pytest

from textsignal.datasets import simulate_corpus
from textsignal.engines.local import LocalEngine
from textsignal.families import Binomial
from textsignal.kernels import compiled
from textsignal.training.beginning import begin, better_beginning, merge_by_effect, text_weights
from textsignal.training.corpus import Corpus
from textsignal.training.glm import ResponseModel
from textsignal.training.predictive import scale_rows


@pytest.fixture(scope="module")
def simulated():
    return simulate_corpus(n_documents=800, n_terms=200, random_state=4)


@pytest.fixture(scope="module")
def start(simulated):
    """Begins with any topics on the simulated corpus."""
    corpus = Corpus(scale_rows(simulated.counts.astype(float)).X, simulated.ratings - 1.0, np.ones(800))
    with LocalEngine(1) as engine:
        glm = ResponseModel(Binomial(4, 1), engine, compiled, 1.0, fit_intercept=True)
        yield lambda topics: begin(
            topics, corpus, glm, corpus.profile, lambda H: text_weights(corpus, H, 0.1, 1e-8, n_jobs=1)
        )


def test_topics_are_shares_and_all_terms_are_in_them(simulated, start):
    topics = start(3 * simulated.topics).topics
    np.testing.assert_allclose(topics.sum(axis=1), 1)
    assert topics.min() > 0


def test_true_topics_explain_the_response(simulated, start):
    first = start(simulated.topics)
    assert 0.2 < first.explained < 1
    np.testing.assert_allclose(first.prevalence.sum(), 1)


def test_a_dead_topic_begins_as_the_profile(simulated, start):
    dead = simulated.topics.copy()
    dead[0] = 0
    assert np.all(np.isfinite(start(dead).logits))


def test_merged_topics_are_taken_where_plain_ones_explain_nothing(simulated, start):
    # Two topics that each are the mean of all true ones say nothing of the response.
    plain = start(np.full((2, 5), 0.2) @ simulated.topics)
    taken = better_beginning(plain, start(simulated.topics), start)
    assert len(taken.topics) == 2
    assert taken.explained > 2 * plain.explained


def test_plain_topics_are_kept_where_they_explain_as_much(simulated, start):
    plain = start(simulated.topics)
    assert better_beginning(plain, start(simulated.topics), start) is plain


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
