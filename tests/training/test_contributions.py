"""Laws of the GLM on themes: what tone counts is found, and nothing is made of noise."""

from dataclasses import replace

import numpy as np
import pytest

from textsignal.compute.engines.local import local_compute
from textsignal.families import Binomial, Gaussian, Stereotype
from textsignal.training import contributions
from textsignal.training.contributions import ToneByTheme, fit_theme_effects, residuals, trusted_effect, weigh

FAMILY = Binomial(4, 1)
K = 4


def columns(n, seed=0, telling=1.0):
    """Texts whose evidence is between `telling` and 1."""
    rng = np.random.default_rng(seed)
    tone, shares = rng.normal(0, 0.5, (n, K)), rng.dirichlet(np.ones(K), n)
    return ToneByTheme(tone, shares, rng.uniform(telling, 1, n))


def at(texts, rows):
    """Some of the texts."""
    return ToneByTheme(texts.tone[rows], texts.shares[rows], texts.evidence[rows])


def responses(eta, seed=100, scatter=0.0):
    """Binomial responses; `scatter` is added to the linear predictor at random."""
    rng = np.random.default_rng(seed)
    eta = eta + scatter * rng.standard_normal(len(eta))
    return rng.binomial(4, 1 / (1 + np.exp(-eta))).astype(float)


def effects_of(texts, y, weight=None, family=FAMILY):
    weight = np.ones(len(y)) if weight is None else weight
    prevalence = np.average(texts.shares, axis=0, weights=weight)
    with local_compute(1) as compute:
        return fit_theme_effects(texts, prevalence, y, weight, family, compute)[0]


class TestWhatIsFound:
    def test_gammas_and_betas_where_there_are_many_documents(self):
        texts = columns(20_000)
        gamma, beta = np.array([0.8, 1.0, 1.2, 1.4]), np.array([-0.3, -0.1, 0.1, 0.3])
        found = effects_of(texts, responses(0.4 + texts.tone @ gamma + texts.shares @ beta))
        np.testing.assert_allclose(found.gamma, gamma, atol=0.06)
        np.testing.assert_allclose(found.beta, beta, atol=0.12)
        assert found.constant == pytest.approx(0.4, abs=0.1)

    def test_one_gamma_and_no_beta_where_there_are_few(self):
        texts = columns(40)
        gamma, beta = np.array([0.2, 1.0, 1.8, 2.6]), np.array([-1.0, -1.0, 1.0, 1.0])
        few = effects_of(texts, responses(texts.tone @ gamma + texts.shares @ beta))
        assert np.ptp(few.gamma) < 0.5 * np.ptp(gamma)
        assert np.ptp(few.beta) < 0.5 * np.ptp(beta)

    def test_betas_are_around_the_average_text(self):
        texts = columns(500)
        found = effects_of(texts, responses(texts.tone.sum(axis=1) + 2 * texts.shares[:, 0]))
        assert texts.shares.mean(axis=0) @ found.beta == pytest.approx(0, abs=1e-10)

    @pytest.mark.parametrize("scatter", [0.0, 1.5])
    def test_the_hessian_says_how_far_gammas_vary_over_samples(self, scatter):
        def found(seed):
            texts = columns(1000, seed)
            return effects_of(texts, responses(texts.tone.sum(axis=1), seed + 1, scatter))

        samples = [found(seed) for seed in range(0, 120, 2)]
        gammas = np.hstack([np.ones((K, 1)), np.eye(K), np.zeros((K, K + 1))])
        errors = [np.sqrt(np.diag(gammas @ np.linalg.pinv(one.hessian) @ gammas.T)) for one in samples]
        spread = np.std([one.gamma for one in samples], axis=0)
        assert np.mean(errors) == pytest.approx(np.mean(spread), rel=0.2)

    @pytest.mark.parametrize("family", [FAMILY, Stereotype(4, 1), Gaussian()])
    def test_where_many_documents_start_from_a_part_of_them_changes_nothing(self, monkeypatch, family):
        texts = columns(2000, telling=0.2)
        y = responses(texts.tone @ np.array([0.5, 1.0, 1.5, 2.0]) + texts.shares[:, 0])
        y[::7] = np.nan
        weight = np.where(np.arange(2000) % 5 == 0, 0.0, 1.0)
        given = (texts, texts.shares.mean(axis=0), y, weight, family.learn(y + 1))
        with local_compute(1) as compute:
            at_once, _ = fit_theme_effects(*given, compute)
            monkeypatch.setattr(contributions, "LEAST_OF_PARTS", 100)
            nearer, _ = fit_theme_effects(*given, compute)
        for name in ("gamma", "beta", "constant", "average"):
            np.testing.assert_allclose(getattr(nearer, name), getattr(at_once, name), rtol=1e-6, atol=1e-8)

    def test_contributions_add_up(self):
        texts = columns(300, telling=0.0)
        found = effects_of(texts, responses(texts.tone.sum(axis=1)))
        total = found.baseline(texts.evidence) + found.contributions(texts).sum(axis=1)
        np.testing.assert_allclose(total, found.linear_predictor(texts), rtol=0, atol=1e-10)
        of_speaking = found.beta * texts.shares * texts.evidence[:, None]
        np.testing.assert_allclose(
            found.contributions(texts), found.gamma * texts.tone + of_speaking, rtol=0, atol=1e-12
        )

    def test_a_text_that_tells_nothing_gets_the_mean_response(self):
        # Every tenth text tells nothing; the others speak well of everything.
        texts, tells = columns(20_000), np.arange(20_000) % 10 > 0
        texts = ToneByTheme((texts.tone + 0.5) * tells[:, None], texts.shares, tells.astype(float))
        y = responses(0.2 + texts.tone.sum(axis=1))
        y[~tells] = np.random.default_rng(1).choice(y[tells], (~tells).sum())
        found = effects_of(texts, y)
        assert 4 / (1 + np.exp(-found.baseline(np.zeros(1))[0])) == pytest.approx(y.mean(), abs=0.05)
        np.testing.assert_allclose(found.baseline(np.array([0.0, 1.0])), [found.average, found.constant], atol=1e-12)

    def test_evidence_of_one_is_no_evidence_at_all(self):
        texts = columns(400)
        y = responses(texts.tone.sum(axis=1) + 2 * texts.shares[:, 0])
        found = effects_of(texts, y)
        np.testing.assert_array_equal(found.baseline(texts.evidence), found.average + (found.constant - found.average))
        np.testing.assert_array_equal(found.speaking(texts.shares, texts.evidence), found.beta * texts.shares)


class TestNoise:
    @pytest.mark.parametrize("scatter", [0.0, 1.5])
    def test_nothing_is_left_of_a_tone_that_says_nothing(self, scatter):
        variances = []
        for seed in range(10):
            texts = columns(400, seed)
            found = effects_of(texts, responses(np.full(400, 0.8), 100 + seed, scatter))
            np.testing.assert_array_equal(found.gamma, 0)
            variances.append(np.var(texts.shares @ found.beta))
        # Of betas without a prior, chance would leave (K - 1) / information.
        share = 1 / (1 + np.exp(-0.8))
        assert np.mean(variances) < 0.5 * (K - 1) / (400 * 4 * share * (1 - share))

    def test_nothing_is_left_of_a_tone_that_says_the_opposite(self):
        texts = columns(400)
        np.testing.assert_array_equal(effects_of(texts, responses(-texts.tone.sum(axis=1))).gamma, 0)

    def test_a_tone_without_words_is_nothing(self):
        texts = columns(400)
        found = effects_of(replace(texts, tone=0 * texts.tone), responses(np.zeros(400)))
        np.testing.assert_array_equal(found.gamma, 0)
        assert np.isfinite(found.constant)


class TestDocuments:
    def test_weights_are_repetition(self):
        texts = columns(300)
        y = responses(texts.tone.sum(axis=1))
        weight = np.arange(300) % 3.0
        rows = np.repeat(np.arange(300), weight.astype(int))
        one, other = effects_of(texts, y, weight), effects_of(at(texts, rows), y[rows])
        np.testing.assert_allclose(one.gamma, other.gamma, atol=1e-6)
        np.testing.assert_allclose(one.beta, other.beta, atol=1e-6)

    def test_missing_responses_teach_nothing(self):
        texts = columns(300)
        y = responses(texts.tone.sum(axis=1))
        missing = np.where(np.arange(300) < 100, np.nan, y)
        one, other = effects_of(texts, missing), effects_of(at(texts, slice(100, None)), y[100:])
        np.testing.assert_allclose(one.gamma, other.gamma, atol=1e-3)


class TestWords:
    """What words are worth, before themes are known."""

    def columns(self, n=2000, seed=0):
        rng = np.random.default_rng(seed)
        return rng.normal(0, 1, (n, 2))

    def weights_of(self, columns, y, weight=None):
        weight = np.ones(len(y)) if weight is None else weight
        with local_compute(1) as compute:
            return weigh(columns, y, weight, FAMILY, compute, np.zeros(len(y)))

    def test_weights_of_tone_and_judgement_are_found(self):
        columns = self.columns(20_000)
        assert self.weights_of(columns, responses(columns @ [0.7, 0.3])) == pytest.approx((0.7, 0.3), abs=0.05)

    def test_no_weight_is_below_zero(self):
        columns = self.columns()
        of_tone, judged = self.weights_of(columns, responses(columns @ [0.7, -0.3]))
        assert of_tone > 0
        assert judged == 0
        of_tone, judged = self.weights_of(columns, responses(columns @ [-0.7, 0.3]))
        assert of_tone == 0
        assert judged > 0

    def test_without_two_responses_tone_counts_as_it_is(self):
        columns = self.columns(10)
        assert self.weights_of(columns, np.full(10, 3.0)) == (1.0, 0.0)
        assert self.weights_of(columns, np.full(10, np.nan)) == (1.0, 0.0)

    def effect_of(self, column, y):
        with local_compute(1) as compute:
            return trusted_effect(column, y, np.ones(len(y)), FAMILY, compute, np.zeros(len(y)))

    def test_the_effect_of_a_clear_column_is_found_whatever_its_sign(self):
        column = self.columns(20_000)[:, :1]
        assert self.effect_of(column, responses(0.5 * column[:, 0])) == pytest.approx(0.5, abs=0.03)
        assert self.effect_of(column, responses(-0.5 * column[:, 0])) == pytest.approx(-0.5, abs=0.03)

    @pytest.mark.parametrize("seed", range(10))
    def test_an_unrelated_column_has_no_effect(self, seed):
        assert self.effect_of(self.columns(seed=seed)[:, :1], responses(np.zeros(2000), 100 + seed)) == 0

    def test_residuals_are_in_standard_deviations_around_what_is_known(self):
        y = responses(np.linspace(-1, 1, 500))
        y[::5] = np.nan
        weight = np.where(np.arange(500) % 3 == 0, 0.0, 1.0)
        left = residuals(FAMILY, y, weight, np.zeros(500))
        used = ~np.isnan(y) & (weight > 0)
        assert (left[~used] == 0).all()
        assert left[used].mean() == pytest.approx(0, abs=1e-6)
        assert left[used].std() == pytest.approx(1, abs=1e-6)
        assert np.corrcoef(left[used], y[used])[0, 1] == pytest.approx(1)
        assert not residuals(FAMILY, np.full(5, 2.0), np.ones(5), np.zeros(5)).any()
