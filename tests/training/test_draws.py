"""Laws of the draws: they follow from a document's terms, the seed and the epoch, and from nothing else."""

import numpy as np
import pytest
import scipy.sparse as sp

from textsignal.compute.hashing import drawn
from textsignal.training.draws import document_keys, half_memory, thinned, unit_halves

X = sp.csr_array(np.random.default_rng(3).poisson(1.0, size=(400, 60)).astype(float))
KEYS = document_keys(X)
RATE = np.full(400, 0.4)


class TestKeys:
    def test_copies_have_one_and_others_another(self):
        twice = sp.csr_array(sp.vstack([X, X]))
        np.testing.assert_array_equal(document_keys(twice), np.concatenate([KEYS, KEYS]))
        assert len(np.unique(KEYS)) == 400

    def test_do_not_depend_on_precision_or_unit(self):
        np.testing.assert_array_equal(document_keys((X / 7).astype(np.float32)), KEYS)

    @pytest.mark.parametrize("other", [(1, 3), (2, 2), (1,)])
    def test_drawn_anew_differ_by_seed_and_epoch(self, other):
        assert not np.any(drawn(KEYS, 1, 2) == drawn(KEYS, *other))

    def test_an_empty_document_has_one_too(self):
        assert len(document_keys(sp.csr_array((3, 5)))) == 3


class TestThinning:
    def test_leaves_out_about_the_share_asked_for_and_keeps_the_mean(self):
        kept = thinned(X, RATE, KEYS, 0, 0)
        assert abs(kept.nnz / X.nnz - 0.6) < 0.02
        assert abs(kept.sum() / X.sum() - 1) < 0.05

    def test_is_by_document(self):
        rate = np.where(np.arange(400) < 200, 0.0, 0.8)
        kept = thinned(X, rate, KEYS, 0, 0)
        assert abs(kept[:200] - X[:200]).nnz == 0
        assert abs(kept[200:].nnz / X[200:].nnz - 0.2) < 0.03

    def test_does_not_depend_on_where_a_document_stands(self):
        order = np.random.default_rng(0).permutation(400)
        here, there = thinned(X, RATE, KEYS, 0, 0, order), thinned(X[order], RATE, KEYS[order], 0, 0)
        assert abs(here - there).nnz == 0

    def test_differs_between_draws(self):
        one, *others = (thinned(X, RATE, KEYS, seed, epoch) for seed, epoch in ((0, 0), (0, 1), (1, 0), (0, 5)))
        for other in others:
            assert abs(one - other).nnz > 0.3 * X.nnz

    def test_leaves_out_every_term_nearly_equally_often(self):
        often = sum((thinned(X, RATE, KEYS, 0, epoch) > 0).astype(int) for epoch in range(30))
        assert np.all(often[X > 0] == 18)

    def test_draws_of_one_document_are_independent(self):
        kept = np.array([thinned(X, RATE, KEYS, 0, epoch)[[5]].toarray()[0] > 0 for epoch in range(400)])
        terms = np.flatnonzero(X[[5]].toarray()[0])
        shares = kept[:, terms].mean(axis=0)
        assert np.all(np.abs(shares - 0.6) < 0.1)
        correlation = np.corrcoef(kept[:, terms].T)[np.triu_indices(len(terms), 1)]
        assert np.abs(correlation).max() < 0.25

    def test_does_not_change_its_input(self):
        before = X.copy()
        thinned(X, RATE, KEYS, 0, 0)
        assert abs(before - X).nnz == 0


class TestHalves:
    ROWS = np.arange(400)

    def halves(self, draw, rows=ROWS, keys=KEYS):
        return unit_halves(X, rows, keys, draw)

    def test_two_halves_are_the_whole(self):
        one, other = ((self.halves(draw) > 0).toarray() for draw in (4, 5))
        assert not np.any(one & other)
        np.testing.assert_array_equal(one | other, X.toarray() > 0)
        assert abs(one.sum() / X.nnz - 0.5) < 0.02

    def test_values_keep_their_proportions_at_norm_one(self):
        half = self.halves(0)
        norms = np.sqrt(half.multiply(half).sum(axis=1))
        np.testing.assert_allclose(norms[np.diff(half.indptr) > 0], 1)
        ratios = half[[7]].data / X.toarray()[7, half[[7]].indices]
        np.testing.assert_allclose(ratios, ratios[0])

    def test_cuts_differ(self):
        one, *others = (self.halves(draw) > 0 for draw in (0, 2, 4))
        for other in others:
            assert 0.4 < (one.astype(int) != other.astype(int)).nnz / X.nnz < 0.6

    def test_follow_from_the_key_wherever_a_document_stands_and_however_often(self):
        rows = np.array([3, 9, 3, 0])
        some = self.halves(1, rows, KEYS[rows]).toarray()
        np.testing.assert_array_equal(some, self.halves(1).toarray()[rows])
        np.testing.assert_array_equal(some[0], some[2])

    def test_an_empty_document_stays_empty(self):
        empty = sp.csr_array((2, 5))
        assert unit_halves(empty, np.arange(2), document_keys(empty), 0).nnz == 0

    def test_memory_that_is_given_is_used_and_changes_nothing(self):
        X = sp.csr_array(np.arange(12.0).reshape(3, 4))
        rows, keys = np.array([2, 0, 2]), document_keys(X)[[2, 0, 2]]
        memory = half_memory(X, 20)
        found, expected = unit_halves(X, rows, keys, 0, memory=memory), unit_halves(X, rows, keys, 0)
        assert np.array_equal(found.toarray(), expected.toarray())
        assert np.shares_memory(found.data, memory[0])
