"""Laws of tone: what features add is found, and held-out fits have not seen what they are held out from."""

import numpy as np
import pytest
import scipy.sparse as sp

from textsignal.compute.engines import Compute
from textsignal.compute.engines.local import LocalEngine
from textsignal.compute.kernels import compiled, reference
from textsignal.families import (
    AdjacentCategories,
    Bernoulli,
    BetaBinomial,
    Binomial,
    Gaussian,
    NegativeBinomial,
    Ordinal,
    Poisson,
    Proportion,
)
from textsignal.training import tone
from textsignal.training.corpus import Corpus
from textsignal.training.tone import TONE_FOLDS, _expected, fit_tone

FAMILY = Binomial(4, 1)
ENGINE = LocalEngine()
COMPUTE = Compute(ENGINE, compiled)
N, V = 600, 40
FAMILIES = {
    family.name: family
    for family in (
        FAMILY,
        BetaBinomial(4, 1, dispersion=0.3),
        AdjacentCategories(4, 1, offsets=(0, 0, 0, 0, 0)),
        Ordinal((1, 2, 3), (-1.0, 1.0)),
        Bernoulli((0, 1)),
        Proportion(),
        Poisson(),
        NegativeBinomial(0.5),
        Gaussian(2.0),
    )
}


def documents(n=N, seed=0):
    """Counts, and ratings that depend on the first two features."""
    rng = np.random.default_rng(seed)
    counts = sp.csr_array(rng.poisson(0.3, size=(n, V)).astype(float))
    eta = 2.5 * (counts[:, [0]].toarray() > 0) - 2.5 * (counts[:, [1]].toarray() > 0)
    return counts, rng.binomial(4, 1 / (1 + np.exp(-eta[:, 0]))).astype(float)


def tone_of(counts, y, weight=None, sizes=None, kernels=compiled):
    weight = np.ones(len(y)) if weight is None else weight
    sizes = np.ones(counts.shape[1]) if sizes is None else sizes
    return fit_tone(counts, sizes, y, weight, FAMILY, Compute(ENGINE, kernels))


def assert_same(one, other):
    np.testing.assert_array_equal(one.effects, other.effects)
    np.testing.assert_array_equal(one.fold_effects, other.fold_effects)


class TestWhatIsFound:
    def test_planted_effects(self):
        effects = tone_of(*documents()).effects
        assert effects[0] > 1
        assert effects[1] < -1
        assert np.abs(effects[2:]).max() < min(effects[0], -effects[1]) / 2

    def test_the_fits_out_of_fold_find_them_too(self):
        tone = tone_of(*documents())
        assert np.all(tone.fold_effects[:, 0] > 1)
        assert np.all(tone.fold_effects[:, 1] < -1)

    def test_features_of_no_size_have_no_effect(self):
        counts, y = documents()
        assert tone_of(counts, y, sizes=np.arange(V) % 2.0).effects[0] == 0

    def test_nothing_out_of_fold_where_nothing_is(self):
        counts, y = documents()
        y = np.random.default_rng(1).permutation(y)
        tone = tone_of(counts, y)
        rows, features = counts.nonzero()
        found = np.bincount(rows, weights=tone.fold_effects[tone.folds[rows], features], minlength=N)
        assert abs(np.corrcoef(found, y)[0, 1]) < 0.15

    def test_the_unit_of_the_response_does_not_matter(self):
        """Twice the steps on the scale, all responses doubled: the same linear predictor."""
        counts, y = documents()
        twice = fit_tone(counts, np.ones(V), 2 * y, np.ones(N), Binomial(8, 1), COMPUTE)
        np.testing.assert_allclose(twice.effects, tone_of(counts, y).effects, atol=1e-6)


class TestOffset:
    def test_tone_does_not_learn_what_is_known(self):
        counts, y = documents()
        offset = 2.5 * (counts[:, [0]].toarray()[:, 0] > 0)
        known = fit_tone(counts, np.ones(V), y, np.ones(N), FAMILY, COMPUTE, offset)
        assert abs(known.effects[0]) < 0.2 * tone_of(counts, y).effects[0]
        assert known.effects[1] < -1

    def test_documents_that_count_twice_are_two_copies(self):
        counts, y = documents()
        offset, weight = np.sin(np.arange(N)), np.arange(N) % 3
        rows = np.repeat(np.arange(N), weight)
        one = fit_tone(counts, np.ones(V), y, weight.astype(float), FAMILY, COMPUTE, offset)
        other = fit_tone(counts[rows], np.ones(V), y[rows], np.ones(len(rows)), FAMILY, COMPUTE, offset[rows])
        np.testing.assert_allclose(one.effects, other.effects, atol=1e-9)

    def test_copies_with_other_offsets_are_other_documents(self):
        """Two of one text and response, offset up and down: the mean of both is not 0."""
        counts, y = documents(200)
        both, twice = sp.csr_array(sp.vstack([counts, counts])), np.concatenate([y, y])
        offset = np.concatenate([np.ones(200), -np.ones(200)])
        moved = fit_tone(both, np.ones(V), twice, np.ones(400), FAMILY, COMPUTE, offset).effects
        assert np.abs(moved - tone_of(both, twice).effects).max() > 1e-3


class TestFolds:
    def test_a_fit_has_not_seen_the_documents_it_left_out(self):
        """But for the constant that all fits start from, and the size of their steps."""
        counts, y = documents()
        tone = tone_of(counts, y)
        inside = tone.folds == 2
        changed = y.copy()
        changed[inside] = np.random.default_rng(0).permutation(y[inside])
        again = tone_of(counts, changed)
        moved = np.abs(again.fold_effects - tone.fold_effects).max(axis=1)
        assert np.all(moved[2] < 0.02 * np.delete(moved, 2))

    def test_copies_of_a_text_are_left_out_together(self):
        counts, y = documents()
        twice = sp.csr_array(sp.vstack([counts, counts]))
        folds = tone_of(twice, np.concatenate([y, 4 - y])).folds
        np.testing.assert_array_equal(folds[:N], folds[N:])
        assert set(folds.tolist()) == set(range(TONE_FOLDS))


class TestDocuments:
    def test_whole_weights_are_repetition(self):
        counts, y = documents()
        weight = (np.arange(N) % 3).astype(float)
        rows = np.repeat(np.arange(N), weight.astype(int))
        assert_same(tone_of(counts, y, weight), tone_of(counts[rows], y[rows]))

    def test_only_proportions_of_weights_matter(self):
        counts, y = documents()
        weight = (1 + np.arange(N) % 3).astype(float)
        assert_same(tone_of(counts, y, weight), tone_of(counts, y, 4 * weight))

    def test_a_heavy_document_is_safe(self):
        counts, y = documents()
        tone = tone_of(counts, y, np.where(np.arange(N) == 5, 1e6, 1.0))
        assert np.abs(tone.effects).max() < 20

    def test_their_order_does_not_matter(self):
        counts, y = documents()
        order = np.random.default_rng(0).permutation(N)
        assert_same(tone_of(counts[order], y[order]), tone_of(counts, y))

    def test_few_missing_responses_and_weights_of_0_do_not_count(self):
        counts, y = documents()
        rest = tone_of(counts[100:], y[100:])
        assert_same(tone_of(counts, np.where(np.arange(N) < 100, np.nan, y)), rest)
        assert_same(tone_of(counts, y, np.where(np.arange(N) < 100, 0.0, 1.0)), rest)

    def test_an_empty_document_does_not_count(self):
        counts, y = documents()
        longer = sp.csr_array(sp.vstack([counts, sp.csr_array((1, V))]))
        tone = tone_of(longer, np.append(y, 4.0))
        assert_same(tone, tone_of(counts, y))
        assert len(tone.folds) == N + 1

    @pytest.mark.parametrize("n", [0, 1, 2, 7])
    def test_few_are_enough_for_finite_effects(self, n):
        counts, y = documents()
        tone = tone_of(counts[:n], y[:n])
        assert tone.effects.shape == (V,)
        assert tone.fold_effects.shape == (TONE_FOLDS, V)
        assert np.all(np.isfinite(tone.fold_effects))

    @pytest.mark.parametrize("level", [0.0, 2.0, 4.0])
    def test_constant_responses_give_no_effects(self, level):
        counts, _ = documents()
        tone = tone_of(counts, np.full(N, level))
        assert not tone.effects.any()
        assert not tone.fold_effects.any()


class TestWithoutResponses:
    """Most documents have no response."""

    @staticmethod
    def holed(n=N, known=150):
        """As `documents`, with a response here and there; the last feature never stands in such a document."""
        counts, y = documents(n)
        counts = counts.tolil()
        counts[:known, [V - 1]] = 0
        counts[known:, [V - 1]] = (counts[known:, [0]].toarray() > 0).astype(float)
        return sp.csr_array(counts), np.where(np.arange(n) < known, y, np.nan)

    def test_a_word_beside_good_ones_becomes_good(self):
        tone = tone_of(*self.holed())
        assert tone.effects[V - 1] > 0.3
        assert np.all(tone.fold_effects[:, V - 1] > 0.3)

    def test_a_fit_has_not_seen_the_responses_it_left_out(self):
        counts, y = self.holed()
        tone = tone_of(counts, y)
        inside = (tone.folds == 2) & ~np.isnan(y)
        changed = y.copy()
        changed[inside] = np.random.default_rng(0).permutation(y[inside])
        moved = np.abs(tone_of(counts, changed).fold_effects - tone.fold_effects).max(axis=1)
        assert np.all(moved[2] < 0.05 * np.delete(moved, 2))

    def test_whole_weights_are_repetition(self):
        counts, y = self.holed()
        weight = (1 + np.arange(N) % 3).astype(float)
        rows = np.repeat(np.arange(N), weight.astype(int))
        assert_same(tone_of(counts, y, weight), tone_of(counts[rows], y[rows]))

    @pytest.mark.parametrize("name", FAMILIES)
    def test_expected_responses_have_no_slope(self, name):
        family = FAMILIES[name].of_words
        eta = np.linspace(-2, 2, 5)
        np.testing.assert_allclose(family.gradient(_expected(family, eta), eta), 0, atol=1e-12)


class TestBlocks:
    """Blocks take their steps side by side, until documents that fits have not seen say that it is enough."""

    @staticmethod
    def passes(y, counts, monkeypatch):
        losses, look = [], tone._held_back_loss

        def looked(*given, **named):
            losses.append(look(*given, **named))
            return losses[-1]

        monkeypatch.setattr(tone, "BLOCK", len(y) // 4)
        monkeypatch.setattr(tone, "MOST_RUNS", 1)
        monkeypatch.setattr(tone, "_held_back_loss", looked)
        return tone_of(counts, y), losses

    def test_what_cannot_be_learnt_takes_few_passes(self, monkeypatch):
        counts, _ = documents(4 * N)
        noise = np.random.default_rng(1).binomial(4, 0.5, 4 * N).astype(float)
        # One look before the first pass.
        assert len(self.passes(noise, counts, monkeypatch)[1]) == 4

    def test_what_can_takes_more_and_is_learnt(self, monkeypatch):
        counts, y = documents(4 * N)
        found, losses = self.passes(y, counts, monkeypatch)
        assert 4 < len(losses) <= tone.PASSES
        assert losses[-1] < 0.9 * losses[0]
        assert found.effects[0] > 0.5
        assert found.effects[1] < -0.5

    def test_nobody_is_judged_by_a_fit_that_has_seen_it(self):
        counts, y = documents()
        block = tone.tone_block(Corpus(counts, y, np.ones(N)), np.ones(V))
        effects = np.zeros((V + 1, 8))
        before = tone._held_back_loss(block, effects, FAMILY, compiled)
        for fit in range(TONE_FOLDS):
            moved = effects.copy()
            moved[-1, fit] = 1.0
            eta = np.where(block.folds == fit, 1.0, 0.0)
            expected = np.average(FAMILY.loss(block.y[:, 0], eta), weights=block.weight)
            assert tone._held_back_loss(block, moved, FAMILY, compiled) == pytest.approx(expected)
            assert expected != before


@pytest.mark.parametrize("most", [3, 2**16 - 1, 2**16, 2**20, 2.5])
def test_a_block_holds_any_count(most):
    counts = sp.csr_array(np.array([[1.0, 0.0, most], [0.0, 2.0, 1.0]]))
    block = tone.tone_block(Corpus(counts, np.array([1.0, 0.0]), np.ones(2)), np.array([1.0, 0.5, 0.7]))
    rows = sorted(block.roots.toarray().tolist())
    np.testing.assert_allclose(rows, [[0, 0.5 * 2**0.5, 0.7], [1, 0, 0.7 * most**0.5]], rtol=1e-15)
    assert (block.counts.data.dtype == np.uint16) == (most in (3, 2**16 - 1))


def test_compiled_is_the_reference():
    counts, y = documents(80)
    one, other = (tone_of(counts, y, kernels=kernels) for kernels in (reference, compiled))
    np.testing.assert_allclose(one.effects, other.effects, atol=1e-9)
    np.testing.assert_allclose(one.fold_effects, other.fold_effects, atol=1e-9)


def test_what_is_given_is_not_changed():
    counts, y = documents()
    before, responses = counts.copy(), y.copy()
    tone_of(counts, y)
    assert abs(before - counts).nnz == 0
    np.testing.assert_array_equal(y, responses)
