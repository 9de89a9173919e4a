"""Laws of the GLM on themes: what tone counts is found, and nothing is made of noise."""

import numpy as np
import pytest

from textsignal.compute.engines.local import local_compute
from textsignal.families import Binomial, Gaussian, Stereotype
from textsignal.training import contributions
from textsignal.training.contributions import fit_theme_effects

FAMILY = Binomial(4, 1)
K = 4


def columns(n, seed=0):
    """Tone about themes, and shares of them."""
    rng = np.random.default_rng(seed)
    return rng.normal(0, 0.5, (n, K)), rng.dirichlet(np.ones(K), n)


def responses(eta, seed=100, scatter=0.0):
    """Binomial responses; `scatter` is added to the linear predictor at random."""
    rng = np.random.default_rng(seed)
    eta = eta + scatter * rng.standard_normal(len(eta))
    return rng.binomial(4, 1 / (1 + np.exp(-eta))).astype(float)


def effects_of(tone, shares, y, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    prevalence = np.average(shares, axis=0, weights=weight)
    with local_compute(1) as compute:
        return fit_theme_effects(tone, shares, prevalence, y, weight, FAMILY, compute)[0]


class TestWhatIsFound:
    def test_gammas_and_betas_where_there_are_many_documents(self):
        tone, shares = columns(20_000)
        gamma, beta = np.array([0.8, 1.0, 1.2, 1.4]), np.array([-0.3, -0.1, 0.1, 0.3])
        found = effects_of(tone, shares, responses(0.4 + tone @ gamma + shares @ beta))
        np.testing.assert_allclose(found.gamma, gamma, atol=0.06)
        np.testing.assert_allclose(found.beta, beta, atol=0.12)
        assert found.constant == pytest.approx(0.4, abs=0.1)

    def test_one_gamma_and_no_beta_where_there_are_few(self):
        tone, shares = columns(40)
        gamma, beta = np.array([0.2, 1.0, 1.8, 2.6]), np.array([-1.0, -1.0, 1.0, 1.0])
        few = effects_of(tone, shares, responses(tone @ gamma + shares @ beta))
        assert np.ptp(few.gamma) < 0.5 * np.ptp(gamma)
        assert np.ptp(few.beta) < 0.5 * np.ptp(beta)

    def test_betas_are_around_the_average_text(self):
        tone, shares = columns(500)
        found = effects_of(tone, shares, responses(tone.sum(axis=1) + 2 * shares[:, 0]))
        assert shares.mean(axis=0) @ found.beta == pytest.approx(0, abs=1e-10)

    @pytest.mark.parametrize("scatter", [0.0, 1.5])
    def test_the_hessian_says_how_far_gammas_vary_over_samples(self, scatter):
        def found(seed):
            tone, shares = columns(1000, seed)
            return effects_of(tone, shares, responses(tone.sum(axis=1), seed + 1, scatter))

        samples = [found(seed) for seed in range(0, 120, 2)]
        gammas = np.hstack([np.ones((K, 1)), np.eye(K), np.zeros((K, K + 1))])
        errors = [np.sqrt(np.diag(gammas @ np.linalg.pinv(one.hessian) @ gammas.T)) for one in samples]
        spread = np.std([one.gamma for one in samples], axis=0)
        assert np.mean(errors) == pytest.approx(np.mean(spread), rel=0.2)

    @pytest.mark.parametrize("family", [FAMILY, Stereotype(4, 1), Gaussian()])
    def test_where_many_documents_start_from_a_part_of_them_changes_nothing(self, monkeypatch, family):
        tone, shares = columns(2000)
        y = responses(tone @ np.array([0.5, 1.0, 1.5, 2.0]) + shares[:, 0])
        y[::7] = np.nan
        weight = np.where(np.arange(2000) % 5 == 0, 0.0, 1.0)
        given = (tone, shares, shares.mean(axis=0), y, weight, family.learn(y + 1))
        with local_compute(1) as compute:
            at_once, _ = fit_theme_effects(*given, compute)
            monkeypatch.setattr(contributions, "LEAST_OF_PARTS", 100)
            nearer, _ = fit_theme_effects(*given, compute)
        for name in ("gamma", "beta", "constant"):
            np.testing.assert_allclose(getattr(nearer, name), getattr(at_once, name), rtol=1e-6, atol=1e-8)

    def test_contributions_add_up(self):
        tone, shares = columns(300)
        found = effects_of(tone, shares, responses(tone.sum(axis=1)))
        total = found.constant + found.contributions(tone, shares).sum(axis=1)
        np.testing.assert_allclose(total, found.linear_predictor(tone, shares), atol=1e-10)


class TestNoise:
    @pytest.mark.parametrize("seed", range(10))
    @pytest.mark.parametrize("scatter", [0.0, 1.5])
    def test_nothing_is_left_of_a_tone_that_says_nothing(self, seed, scatter):
        tone, shares = columns(400, seed)
        found = effects_of(tone, shares, responses(np.full(400, 0.8), 100 + seed, scatter))
        np.testing.assert_array_equal(found.gamma, 0)
        assert np.std(shares @ found.beta) < 0.1

    def test_nothing_is_left_of_a_tone_that_says_the_opposite(self):
        tone, shares = columns(400)
        np.testing.assert_array_equal(effects_of(tone, shares, responses(-tone.sum(axis=1))).gamma, 0)

    def test_a_tone_without_words_is_nothing(self):
        tone, shares = columns(400)
        found = effects_of(0 * tone, shares, responses(np.zeros(400)))
        np.testing.assert_array_equal(found.gamma, 0)
        assert np.isfinite(found.constant)


class TestDocuments:
    def test_weights_are_repetition(self):
        tone, shares = columns(300)
        y = responses(tone.sum(axis=1))
        weight = np.arange(300) % 3.0
        rows = np.repeat(np.arange(300), weight.astype(int))
        one, other = effects_of(tone, shares, y, weight), effects_of(tone[rows], shares[rows], y[rows])
        np.testing.assert_allclose(one.gamma, other.gamma, atol=1e-6)
        np.testing.assert_allclose(one.beta, other.beta, atol=1e-6)

    def test_missing_responses_teach_nothing(self):
        tone, shares = columns(300)
        y = responses(tone.sum(axis=1))
        missing = np.where(np.arange(300) < 100, np.nan, y)
        one, other = effects_of(tone, shares, missing), effects_of(tone[100:], shares[100:], y[100:])
        np.testing.assert_allclose(one.gamma, other.gamma, atol=1e-3)
