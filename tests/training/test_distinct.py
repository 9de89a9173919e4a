"""Equal documents are one, in an order that follows from them alone."""

import numpy as np
import pytest
import scipy.sparse as sp

from textsignal import GLMNMF
from textsignal.training.corpus import Corpus, distinct_documents
from textsignal.training.draws import content_keys

RNG = np.random.default_rng(0)
X = sp.csr_array(RNG.poisson(0.7, size=(60, 20)).astype(float))
Y = np.where(RNG.random(60) < 0.2, np.nan, RNG.integers(0, 5, 60))
WEIGHT = RNG.integers(0, 4, 60)


def as_rows(corpus):
    return np.column_stack([corpus.X.toarray(), corpus.y, corpus.weight])


def test_repeated_weighted_and_shuffled_documents_are_the_same_corpus():
    rows = np.repeat(np.arange(60), WEIGHT)
    order = RNG.permutation(60)
    weighted = distinct_documents(Corpus(X[order], Y[order], WEIGHT[order].astype(float)))
    repeated = distinct_documents(Corpus(X[rows], Y[rows], np.ones(len(rows))))
    np.testing.assert_array_equal(as_rows(weighted.corpus), as_rows(repeated.corpus))
    assert len(repeated.corpus.y) < len(rows)
    assert repeated.corpus.weight.sum() == WEIGHT.sum()


def test_every_document_is_found_at_its_place():
    found = distinct_documents(Corpus(X, Y, WEIGHT.astype(float)))
    counts = WEIGHT > 0
    np.testing.assert_array_equal(found.places >= 0, counts)
    np.testing.assert_array_equal(found.corpus.X[found.places[counts]].toarray(), X[counts].toarray())
    np.testing.assert_array_equal(found.corpus.y[found.places[counts]], Y[counts])


def test_values_are_given_back_to_all_documents():
    found = distinct_documents(Corpus(X, Y, WEIGHT.astype(float)))
    spread = found.for_all(found.corpus.X.toarray(), X.toarray()[WEIGHT == 0])
    np.testing.assert_array_equal(spread, X.toarray())


@pytest.mark.parametrize("change", ["value", "term", "response"])
def test_documents_that_differ_in_anything_stay_apart(change):
    one, other = np.zeros((2, 4))
    one[:2] = other[:2] = 1, 2
    y = np.array([1.0, 1.0])
    if change == "value":
        other[1] = 3
    elif change == "term":
        other[1], other[2] = 0, 2
    else:
        y[1] = np.nan
    keys = content_keys(sp.csr_array(np.array([one, other])), y)
    assert keys[0] != keys[1]


def test_joint_training_gives_the_same_bits_for_documents_in_any_order(simulation):
    order = np.random.default_rng(1).permutation(300)
    one = GLMNMF(3, training="joint", max_iter=30).fit(simulation.counts, simulation.ratings)
    other = GLMNMF(3, training="joint", max_iter=30).fit(simulation.counts[order], simulation.ratings[order])
    np.testing.assert_array_equal(one.components_, other.components_)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.weights_[order], other.weights_)


def test_a_document_that_does_not_count_gets_weights_all_the_same(simulation):
    weight = np.ones(300)
    weight[[4, 7]] = 0
    model = GLMNMF(3, training="joint", max_iter=10).fit(simulation.counts, simulation.ratings, weight)
    np.testing.assert_array_equal(model.weights_, model.transform(simulation.counts))
