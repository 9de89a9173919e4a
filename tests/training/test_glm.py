"""Coefficients given the weights: a penalised GLM that other packages agree with, reached by steps that never rise."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from textsignal.compute.engines import Compute
from textsignal.compute.engines.local import LocalEngine
from textsignal.compute.kernels import compiled, pad, reference
from textsignal.families import Binomial
from textsignal.training.corpus import Parameters, Responses
from textsignal.training.glm import ResponseModel, fit_coefficients, fit_glm
from textsignal.training.joint import GradientStep, NewtonStep

laws = settings(max_examples=30)
STARS = Binomial(n=4, lowest=1)
N_DOCUMENTS, N_TOPICS = 200, 3


def draw(seed: int = 0, n_documents: int = N_DOCUMENTS):
    """Weights, encoded responses and document weights; topics differ in size by orders of magnitude."""
    rng = np.random.default_rng(seed)
    W = rng.exponential(1, (n_documents, N_TOPICS)) * [1.0, 0.01, 30.0]
    eta = 0.3 + W @ [1.0, -80.0, 0.02]
    y = rng.binomial(4, 1 / (1 + np.exp(-eta))).astype(float)
    return W, y, rng.integers(0, 3, n_documents).astype(float)


class Problem:
    """Blocks, model and starting parameters for given weights and responses."""

    def __init__(self, W, y, weight=None, *, penalty=0.0, fit_intercept=True, kernels=compiled) -> None:
        weight = np.ones(len(y)) if weight is None else weight
        observed = ~np.isnan(y)
        columns = pad(W, kernels, W.dtype)
        self.blocks = [Responses(columns, np.where(observed, y, 0.0), weight * observed, tilt=0.0, offset=0.0)]
        self.model = ResponseModel(STARS, Compute(LocalEngine(1), kernels), penalty, fit_intercept)
        self.n_topics = W.shape[1]

    def parameters(self, beta=0.0, intercept=0.0) -> Parameters:
        padded = np.zeros(self.blocks[0].W.shape[1])
        padded[: self.n_topics] = beta
        return Parameters(HT=self.blocks[0].W[:0], beta=padded, intercept=intercept)

    def value(self, parameters: Parameters) -> float:
        return self.model.loss(self.blocks, parameters) + self.model.penalty_value(parameters)

    def fit(self) -> np.ndarray:
        """(intercept, effects) of the GLM."""
        fitted = fit_coefficients(self.model, self.blocks, self.parameters())
        np.testing.assert_array_equal(fitted.beta[self.n_topics :], 0)
        return np.array([fitted.intercept, *fitted.beta[: self.n_topics]])


def statsmodels_glm(exog, y, weight=None) -> np.ndarray:
    endog = np.column_stack([y, 4 - y])
    glm = sm.GLM(endog, exog, family=sm.families.Binomial(), freq_weights=weight)
    return glm.fit(tol=1e-14, maxiter=200).params


class TestSums:
    @pytest.mark.parametrize("kernels", [reference, compiled], ids=["reference", "compiled"])
    def test_gradient_and_hessian_are_derivatives_of_the_loss(self, kernels):
        W, y, weight = draw()
        problem = Problem(W, y, weight, kernels=kernels)
        at = problem.parameters([0.5, -20.0, 0.01], 0.2)
        sums = problem.model.sweep(problem.blocks, at)
        kept = [*range(N_TOPICS), -1]
        for place_, position in enumerate(kept):
            step = np.zeros(at.coefficients.size)
            step[position] = 1e-5 * [1, 100, 0.03, 1][place_]
            up, down = (at.with_coefficients(at.coefficients + sign * step) for sign in (1, -1))
            width = 2 * step[position]
            slope = (problem.model.loss(problem.blocks, up) - problem.model.loss(problem.blocks, down)) / width
            assert sums.gradient[position] == pytest.approx(slope, rel=1e-5)
            gradients = [problem.model.sweep(problem.blocks, moved).gradient[kept] for moved in (up, down)]
            np.testing.assert_allclose(sums.hessian[position][kept], (gradients[0] - gradients[1]) / width, rtol=1e-5)

    def test_loss_of_the_sums_is_the_loss(self):
        problem = Problem(*draw())
        at = problem.parameters([0.5, -20.0, 0.01], 0.2)
        assert problem.model.sweep(problem.blocks, at).loss == pytest.approx(problem.model.loss(problem.blocks, at))


class TestFitCoefficients:
    @pytest.mark.parametrize("seed", range(3))
    def test_is_statsmodels_glm_with_an_intercept(self, seed):
        W, y, weight = draw(seed)
        theirs = statsmodels_glm(sm.add_constant(W), y, weight)
        np.testing.assert_allclose(Problem(W, y, weight).fit(), theirs, rtol=1e-6)

    @pytest.mark.parametrize("seed", range(3))
    def test_is_statsmodels_glm_without_an_intercept(self, seed):
        W, y, weight = draw(seed)
        theirs = statsmodels_glm(W, y, weight)
        ours = Problem(W, y, weight, fit_intercept=False).fit()
        np.testing.assert_allclose(ours[1:], theirs, rtol=1e-6)
        assert ours[0] == 0

    def test_missing_responses_are_left_out(self):
        W, y, _ = draw()
        holed = np.where(np.arange(len(y)) % 4 == 0, np.nan, y)
        seen = ~np.isnan(holed)
        np.testing.assert_allclose(Problem(W, holed).fit(), Problem(W[seen], y[seen]).fit(), rtol=1e-8)

    def test_penalty_is_on_the_effects_and_not_on_the_intercept(self):
        W, y, _ = draw()
        W /= W.mean(axis=0)
        problem = Problem(W, y, penalty=5.0)

        def value(v):
            eta = v[0] + W @ v[1:]
            return np.sum(STARS.loss(y, eta)) + 5.0 * np.sum(v[1:] ** 2)

        scipys = minimize(value, np.zeros(4), options={"gtol": 1e-6}).x
        np.testing.assert_allclose(problem.fit(), scipys, atol=1e-4)

    def test_collinear_topics_predict_like_one_of_them(self):
        W, y, _ = draw()
        twice = np.column_stack([W, W[:, 0]])
        ours = Problem(twice, y).fit()
        assert np.all(np.isfinite(ours))
        single = Problem(W, y).fit()
        np.testing.assert_allclose(ours[0] + twice @ ours[1:], single[0] + W @ single[1:], rtol=1e-5, atol=1e-5)

    def test_a_topic_without_weight_has_no_effect(self):
        W, y, _ = draw()
        ours = Problem(np.insert(W, 1, 0.0, axis=1), y).fit()
        assert ours[2] == 0
        np.testing.assert_allclose(np.delete(ours, 2), Problem(W, y).fit(), rtol=1e-8)

    @pytest.mark.parametrize("level", [0.0, 4.0])
    def test_a_response_that_only_infinity_explains_gives_finite_effects(self, level):
        W, y, _ = draw()
        ours = Problem(W, np.full_like(y, level)).fit()
        assert np.all(np.isfinite(ours))
        assert np.all(np.abs(STARS.mean(ours[0] + W @ ours[1:]) - 1 - level) < 0.1)


class TestNewtonStep:
    @laws
    @given(st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 10.0]), st.sampled_from([0.0, 1.0, 30.0]))
    @example(132, 0.0, 30.0)  # so far out that almost no curvature is left
    def test_never_raises_loss_and_penalty_wherever_it_starts(self, seed, penalty, distance):
        W, y, weight = draw(seed, n_documents=40)
        problem = Problem(W, y, weight, penalty=penalty)
        rng = np.random.default_rng(seed)
        at = problem.parameters(distance * rng.normal(size=N_TOPICS), distance * rng.normal())
        moved = NewtonStep().move(problem.model, problem.blocks, at, problem.model.sweep(problem.blocks, at))
        assert problem.value(moved) <= problem.value(at)

    def test_lowers_the_loss_where_the_gradient_is_not_zero(self):
        problem = Problem(*draw())
        at = problem.parameters()
        moved = NewtonStep().move(problem.model, problem.blocks, at, problem.model.sweep(problem.blocks, at))
        assert problem.value(moved) < 0.9 * problem.value(at)


class TestGradientStep:
    def test_is_the_papers_formula(self):
        W, y, _ = draw()
        problem = Problem(W, y, penalty=0.1, fit_intercept=False)
        beta = np.array([0.5, -2.0, 0.01])
        at = problem.parameters(beta)
        step = GradientStep(alpha=0.05, rate=1e-3)
        moved = step.move(problem.model, problem.blocks, at, problem.model.sweep(problem.blocks, at))
        q = 4 / (1 + np.exp(-W @ beta)) - y
        expected = beta - 1e-3 * 0.05 * (W.T @ q + 2 * 0.1 * beta)
        np.testing.assert_allclose(moved.beta[:N_TOPICS], expected, rtol=1e-12)
        assert moved.intercept == 0

    @pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
    @pytest.mark.parametrize("distance", [0.0, 1.0, 10.0])
    def test_its_own_rate_never_raises_loss_and_penalty(self, unit, distance):
        W, y, _ = draw()
        problem = Problem(unit * W, y, penalty=0.1, fit_intercept=False)
        at = problem.parameters(distance / unit / W.mean(axis=0))
        step = GradientStep(alpha=0.05, rate=None)
        moved = step.move(problem.model, problem.blocks, at, problem.model.sweep(problem.blocks, at))
        assert problem.value(moved) <= problem.value(at)

    def test_its_own_rate_does_not_depend_on_the_unit_of_the_weights(self):
        W, y, _ = draw()
        predictors = []
        for unit in (1e-3, 1.0):
            problem = Problem(unit * W, y, fit_intercept=False)
            at = problem.parameters()
            step = GradientStep(alpha=0.05, rate=None)
            moved = step.move(problem.model, problem.blocks, at, problem.model.sweep(problem.blocks, at))
            predictors.append(unit * W @ moved.beta[:N_TOPICS])
        np.testing.assert_allclose(*predictors, rtol=1e-6)

    def test_stands_still_where_the_response_does_not_count(self):
        problem = Problem(*draw())
        at = problem.parameters()
        step = GradientStep(alpha=0.0, rate=None)
        moved = step.move(problem.model, problem.blocks, at, problem.model.sweep(problem.blocks, at))
        np.testing.assert_array_equal(moved.beta, at.beta)


class TestFitGLM:
    """A GLM on any columns, with its Hessian."""

    model = ResponseModel(STARS, Compute(LocalEngine(1), compiled), 2.0, fit_intercept=True)

    def value(self, v, columns, y, weight, penalty, tilt=0.0, offset=0.0):
        eta = offset + columns @ v[:-1] + v[-1]
        return np.sum(weight * (STARS.loss(y, eta) - tilt * eta)) + np.sum(penalty * v[:-1] ** 2)

    def test_is_the_same_glm_as_that_of_the_blocks(self):
        W, y, weight = draw()
        fit = fit_glm(self.model, W, y, weight)
        intercept, *effects = Problem(W, y, weight, penalty=2.0).fit()
        np.testing.assert_allclose(fit.effects, effects, rtol=1e-8)
        assert fit.intercept == pytest.approx(intercept, rel=1e-8)
        np.testing.assert_allclose(fit.linear_predictor(W), intercept + W @ effects, rtol=1e-8)
        assert fit.loss == pytest.approx(self.value(fit.coefficients, W, y, weight, 0.0), rel=1e-12)

    @pytest.mark.parametrize("kernels", [reference, compiled], ids=["reference", "compiled"])
    def test_penalties_tilts_and_offsets_are_those_of_every_column_and_document(self, kernels):
        W, y, weight = draw()
        W /= W.mean(axis=0)
        rng = np.random.default_rng(1)
        tilt, offset, penalty = (
            0.3 * rng.standard_normal(len(y)),
            rng.standard_normal(len(y)),
            np.array([0.0, 1.0, 9.0]),
        )
        model = ResponseModel(STARS, Compute(LocalEngine(1), kernels), penalty, fit_intercept=True)
        fit = fit_glm(model, W, y, weight, tilt=tilt, offset=offset)
        scipys = minimize(self.value, np.zeros(4), (W, y, weight, penalty, tilt, offset), options={"gtol": 1e-6}).x
        np.testing.assert_allclose(fit.coefficients, scipys, atol=1e-4)

    def test_the_hessian_is_that_of_loss_and_penalty_at_the_coefficients(self):
        W, y, weight = draw()
        W /= W.mean(axis=0)
        penalty = np.array([0.0, 1.0, 9.0])
        fit = fit_glm(ResponseModel(STARS, self.model.compute, penalty, fit_intercept=True), W, y, weight)
        Z = np.column_stack([W, np.ones(len(y))])
        curvature = weight * STARS.curvature(y, fit.linear_predictor(W))
        np.testing.assert_allclose(fit.hessian, (Z.T * curvature) @ Z + np.diag([0.0, 2.0, 18.0, 0.0]), rtol=1e-10)

    def test_its_inverse_is_statsmodels_covariance(self):
        W, y, weight = draw()
        model = ResponseModel(STARS, self.model.compute, 0.0, fit_intercept=True)
        glm = sm.GLM(np.column_stack([y, 4 - y]), sm.add_constant(W, prepend=False), sm.families.Binomial(),
                     freq_weights=weight)  # fmt: skip
        theirs = glm.fit(tol=1e-14, maxiter=200).cov_params()
        np.testing.assert_allclose(np.linalg.inv(fit_glm(model, W, y, weight).hessian), theirs, rtol=1e-5)

    def test_an_intercept_that_is_not_fitted_has_no_information(self):
        W, y, weight = draw()
        fit = fit_glm(ResponseModel(STARS, self.model.compute, 1.0, fit_intercept=False), W, y, weight)
        assert fit.intercept == 0
        assert not fit.hessian[-1].any()
        assert not fit.hessian[:, -1].any()
