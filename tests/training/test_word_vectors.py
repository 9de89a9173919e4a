"""Vectors of words, and the topics that their clusters start."""

import numpy as np
import pytest
import scipy.sparse as sp

from textsignal.compute.engines.local import LocalEngine
from textsignal.errors import InputError
from textsignal.training.themes import clustered_topics, seed_terms, word_vectors


@pytest.fixture(scope="module")
def units():
    """Three groups of eight terms; every unit takes three terms of one group, and one of any now and then."""
    rng = np.random.default_rng(0)
    rows = np.zeros((900, 24))
    for u in range(900):
        rows[u, 8 * (u % 3) + rng.choice(8, 3, replace=False)] = 1
        if u % 5 == 0:
            rows[u, rng.integers(24)] = 1
    return sp.csr_array(rows)


ENGINE = LocalEngine(1)


def test_words_of_one_group_are_near_and_others_far(units):
    cosine = word_vectors(units) @ word_vectors(units).T
    same = np.arange(24)[:, None] // 8 == np.arange(24) // 8
    assert cosine[same & ~np.eye(24, dtype=bool)].mean() > 0.5
    assert cosine[~same].mean() < 0.2


@pytest.mark.parametrize("seed", range(4))
def test_clusters_are_the_groups_whatever_the_seed(units, seed):
    frequency = np.asarray(units.sum(axis=0))
    topics = clustered_topics(word_vectors(units), frequency, 3, seed, ENGINE)
    assert np.allclose(topics.sum(axis=1), 1)
    assert sorted(topics[:, start : start + 8].sum(axis=1).argmax() for start in (0, 8, 16)) == [0, 1, 2]


def test_a_seeded_topic_is_about_its_words(units):
    frequency = np.asarray(units.sum(axis=0))
    topics = clustered_topics(word_vectors(units), frequency, 3, 0, ENGINE, [np.array([17, 18])])
    assert topics[0, 16:].sum() > 0.5
    assert topics[0, 17] > 2 * topics[1:, 17].max()


@pytest.mark.parametrize("n_topics", [1, 2, 30])
def test_any_number_of_topics_can_be_asked_for(units, n_topics):
    topics = clustered_topics(word_vectors(units), np.asarray(units.sum(axis=0)), n_topics, 0, ENGINE)
    assert topics.shape == (n_topics, 24)
    assert np.all(np.isfinite(topics))


def test_terms_that_never_meet_have_no_vector():
    assert not word_vectors(sp.csr_array(np.eye(4))).any()


def test_vectors_do_not_depend_on_how_often_the_corpus_is_repeated_nor_on_the_order_of_units(units):
    cosine = word_vectors(units) @ word_vectors(units).T
    mixed = units[np.random.default_rng(1).permutation(units.shape[0])]
    np.testing.assert_allclose(word_vectors(mixed) @ word_vectors(mixed).T, cosine, atol=1e-8)
    often = sp.csr_array(sp.vstack([units] * 50))
    assert np.corrcoef((word_vectors(often) @ word_vectors(often).T).ravel(), cosine.ravel())[0, 1] > 0.95


def test_seed_words_that_are_no_terms_are_left_out_unless_all_are():
    found = seed_terms({"food": ["eggs", "brunch"], "staff": ["staff"]}, ["eggs", "room", "staff"])
    assert [places.tolist() for places in found] == [[0], [2]]
    with pytest.raises(InputError, match="no word of 'bar' is a content term of these texts \\(gin, rum\\)"):
        seed_terms({"food": ["eggs"], "bar": ["gin", "rum"]}, ["eggs", "room"])


def test_terms_that_never_meet_are_dealt_out_to_the_topics():
    units = sp.csr_array(np.eye(4))
    topics = clustered_topics(word_vectors(units), np.array([4.0, 1.0, 3.0, 2.0]), 2, 0, ENGINE)
    assert topics.argmax(axis=0).tolist() == [0, 1, 1, 0]
