"""Laws of the simulated data: what is planted is what the data show."""

import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import r2_score

from textsignal.datasets import SimulatedCorpus, simulate_corpus
from textsignal.errors import InputError


@pytest.fixture(scope="module")
def corpus() -> SimulatedCorpus:
    return simulate_corpus(n_documents=3000, n_terms=200, random_state=3)


@settings(max_examples=40)
@given(
    n_documents=st.integers(1, 40),
    n_terms=st.integers(1, 60),
    n_topics=st.integers(1, 6),
    n_levels=st.integers(2, 11),
    sparsity=st.floats(1e-6, 1e3),
    random_state=st.integers(0, 2**32),
)
def test_shapes_and_ranges(n_documents, n_terms, n_topics, n_levels, sparsity, random_state):
    corpus = simulate_corpus(
        n_documents,
        n_terms,
        n_topics,
        n_levels=n_levels,
        topic_sparsity=sparsity,
        term_sparsity=sparsity,
        random_state=random_state,
    )
    assert corpus.counts.shape == (n_documents, n_terms)
    assert corpus.weights.shape == (n_documents, n_topics)
    assert corpus.topics.shape == (n_topics, n_terms)
    assert corpus.effects.shape == (n_topics,)
    assert corpus.ratings.shape == corpus.probability.shape == (n_documents,)
    assert len(set(corpus.terms)) == n_terms
    np.testing.assert_allclose(corpus.weights.sum(axis=1), 1)
    np.testing.assert_allclose(corpus.topics.sum(axis=1), 1)
    assert set(corpus.ratings) <= set(range(1, n_levels + 1))


@pytest.mark.parametrize("sparsity", [1e-4, 0.01, 0.05])
def test_sparse_rows_never_vanish(sparsity):
    for seed in range(200):
        corpus = simulate_corpus(5, 2000, 5, term_sparsity=sparsity, topic_sparsity=sparsity, random_state=seed)
        for rows in (corpus.weights, corpus.topics):
            assert (rows >= 0).all()
            np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-12)


def test_lengths_are_poisson(corpus):
    lengths = corpus.counts.sum(axis=1)
    assert lengths.mean() == pytest.approx(30, abs=5 * np.sqrt(30 / len(lengths)))
    assert lengths.var() == pytest.approx(30, rel=0.15)


def test_counts_are_multinomial_given_the_truth():
    # Pearson's statistic of each document is about its degrees of freedom, terms - 1, on average.
    corpus = simulate_corpus(3000, 20, 4, term_sparsity=5, topic_sparsity=0.5)
    expected = corpus.counts.sum(axis=1)[:, None] * (corpus.weights @ corpus.topics)
    pearson = ((corpus.counts.toarray() - expected) ** 2 / expected).sum(axis=1)
    standard_error = pearson.std() / np.sqrt(len(pearson))
    assert pearson.mean() == pytest.approx(19, abs=5 * standard_error)


def test_terms_outside_a_topic_never_occur(corpus):
    documents, terms = corpus.counts.nonzero()
    assert ((corpus.weights @ corpus.topics)[documents, terms] > 0).all()


def test_ratings_follow_the_probability(corpus):
    np.testing.assert_allclose(corpus.probability, 1 / (1 + np.exp(-corpus.weights @ corpus.effects)))
    residual = corpus.ratings - corpus.expected_ratings
    variance = 4 * corpus.probability * (1 - corpus.probability)
    assert abs(residual.sum()) < 5 * np.sqrt(variance.sum())
    assert np.mean(residual**2) == pytest.approx(variance.mean(), rel=0.1)


def test_ceiling_is_the_r2_of_the_truth(corpus):
    rows = np.arange(100, 400)
    truth = 1 + 4 * corpus.probability
    assert corpus.ceiling() == pytest.approx(r2_score(corpus.ratings, truth))
    assert corpus.ceiling(rows) == pytest.approx(r2_score(corpus.ratings[rows], truth[rows]))
    mask = np.isin(np.arange(3000), rows)
    assert corpus.ceiling(mask) == corpus.ceiling(rows) == corpus.ceiling(slice(100, 400))


def test_no_effects_no_signal():
    corpus = simulate_corpus(500, 50, effect_sd=0)
    assert (corpus.probability == 0.5).all()
    assert corpus.ceiling() <= 0


def test_ceiling_needs_ratings_that_differ(corpus):
    with pytest.raises(InputError, match="rows"):
        corpus.ceiling([0])
    with pytest.raises(InputError, match="rows"):
        corpus.ceiling([])


def test_texts_hold_the_counts(corpus):
    texts = corpus.texts()
    column = {term: j for j, term in enumerate(corpus.terms)}
    for document in (0, 1, 1500, 2999):
        counted = np.bincount([column[word] for word in texts[document].split()], minlength=200)
        np.testing.assert_array_equal(counted, corpus.counts[[document]].toarray()[0])


def test_empty_documents_are_kept():
    corpus = simulate_corpus(200, 20, mean_length=0.5)
    empty = corpus.counts.sum(axis=1) == 0
    assert empty.any()
    assert [text == "" for text in corpus.texts()] == empty.tolist()


def test_same_seed_same_bits():
    one, same, other = (simulate_corpus(200, 50, random_state=seed) for seed in (7, 7, 8))
    np.testing.assert_array_equal(one.counts.toarray(), same.counts.toarray())
    np.testing.assert_array_equal(one.ratings, same.ratings)
    np.testing.assert_array_equal(one.topics, same.topics)
    assert not np.array_equal(one.counts.toarray(), other.counts.toarray())


def test_text_does_not_depend_on_the_response():
    weak, strong = (simulate_corpus(200, 50, effect_sd=0.1), simulate_corpus(200, 50, effect_sd=3, n_levels=9))
    np.testing.assert_array_equal(weak.counts.toarray(), strong.counts.toarray())


def test_memory_is_that_of_the_tokens():
    tracemalloc.start()
    simulate_corpus(n_documents=20_000, n_terms=5000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * 20_000 * 5000 * 8


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("n_documents", 0),
        ("n_terms", 2.5),
        ("n_topics", True),
        ("n_levels", 1),
        ("mean_length", 0),
        ("mean_length", np.inf),
        ("topic_sparsity", -1),
        ("term_sparsity", np.nan),
        ("term_sparsity", 1.7e308),
        ("effect_sd", -0.1),
        ("effect_sd", "2"),
        ("random_state", -1),
        ("random_state", "seed"),
    ],
)
def test_bad_arguments_are_named(argument, value):
    with pytest.raises(InputError, match=re.escape(f"{argument}={value!r} must be")):
        simulate_corpus(**{"n_documents": 10, "n_terms": 10, argument: value})
