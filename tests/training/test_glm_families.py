"""Coefficients given columns equal those of statsmodels for every family, with covariates, offset and weights."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import special
from scipy.optimize import minimize
from statsmodels.miscmodels.ordinal_model import OrderedModel

from textsignal.compute.engines.local import local_compute
from textsignal.families import (
    AdjacentCategories,
    Bernoulli,
    BetaBinomial,
    Binomial,
    Categorical,
    Gaussian,
    NegativeBinomial,
    Ordinal,
    Poisson,
    Proportion,
    Stereotype,
)
from textsignal.training.glm import ResponseModel, fit_glm

N, WIDTH = 500, 3
SAME = {"rtol": 1e-5, "atol": 1e-5}


class Data:
    """Topics' weights and covariates as columns, an offset, whole weights and the rows that these repeat."""

    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        topics = rng.dirichlet(np.ones(3), N)[:, :2]
        covariates = np.column_stack([rng.normal(size=N), rng.integers(0, 2, N)])
        self.columns = np.column_stack([topics, covariates])
        self.offset = 0.5 * rng.normal(size=N)
        self.weight = rng.integers(0, 4, N).astype(float)
        self.rows = np.repeat(np.arange(N), self.weight.astype(int))
        self.eta = self.columns @ [1.5, -1.0, 0.4, 0.3] + 0.2 + self.offset
        self.rng = rng

    @property
    def exog(self):
        """All columns and a constant, every row as often as it counts."""
        return sm.add_constant(self.columns, prepend=False)[self.rows]

    def fit(self, family, y, offset=None, weight=None, penalty=0.0):
        with local_compute(1) as compute:
            model = ResponseModel(family, compute, penalty, fit_intercept=True)
            return fit_glm(
                model,
                self.columns,
                y,
                self.weight if weight is None else weight,
                offset=self.offset if offset is None else offset,
            )

    def glm(self, family, y, **options):
        glm = sm.GLM(y[self.rows], self.exog, family=family, offset=self.offset[self.rows], **options)
        return glm.fit(tol=1e-14, maxiter=200)


data = pytest.fixture(lambda: Data())


class TestGLM:
    def test_gaussian(self, data):
        y = Gaussian(2.0).sample(data.eta, data.rng)
        fit = data.fit(Gaussian().learn(y), y)
        theirs = data.glm(sm.families.Gaussian(), y)
        np.testing.assert_allclose(fit.coefficients, theirs.params, **SAME)
        assert fit.family.deviation == pytest.approx(np.sqrt(np.mean(theirs.resid_response**2)), rel=1e-6)
        # Our dispersion is the likelihood's, theirs has degrees of freedom.
        scale = fit.family.deviation**2 / theirs.scale
        np.testing.assert_allclose(np.linalg.inv(fit.hessian), scale * theirs.cov_params(), rtol=1e-5, atol=1e-10)

    def test_poisson_with_exposure(self, data):
        exposure = np.exp(data.offset)
        y = Poisson().sample(data.eta, data.rng).astype(float)
        theirs = sm.GLM(y[data.rows], data.exog, sm.families.Poisson(), exposure=exposure[data.rows]).fit(tol=1e-14)
        fit = data.fit(Poisson(), y, offset=np.log(exposure))
        np.testing.assert_allclose(fit.coefficients, theirs.params, **SAME)
        np.testing.assert_allclose(np.linalg.inv(fit.hessian), theirs.cov_params(), rtol=1e-5)

    @pytest.mark.parametrize("family", [Binomial(4, 1), Binomial(8, 1, 0.5)], ids=repr)
    def test_binomial(self, data, family):
        y = family.encode(family.sample(data.eta, data.rng))
        counts = np.column_stack([y, family.n - y])
        theirs = data.glm(sm.families.Binomial(), counts)
        np.testing.assert_allclose(data.fit(family, y).coefficients, theirs.params, **SAME)

    def test_bernoulli(self, data):
        family = Bernoulli(("no", "yes"))
        y = family.encode(family.sample(data.eta, data.rng))
        np.testing.assert_allclose(data.fit(family, y).coefficients, data.glm(sm.families.Binomial(), y).params, **SAME)

    def test_successes_and_trials(self, data):
        trials = data.rng.integers(1, 30, N)
        successes = data.rng.binomial(trials, special.expit(data.eta))
        theirs = data.glm(sm.families.Binomial(), np.column_stack([successes, trials - successes]))
        fit = data.fit(Proportion(), successes / trials, weight=data.weight * trials)
        np.testing.assert_allclose(fit.coefficients, theirs.params, **SAME)
        np.testing.assert_allclose(np.linalg.inv(fit.hessian), theirs.cov_params(), rtol=1e-5)


class TestOwnParameters:
    @pytest.mark.parametrize("thresholds", [(-1.5, 0.2, 1.3), (-0.1, 0.0, 0.1), (-4.0, -3.5, 7.5)])
    def test_ordinal_is_the_ordered_model(self, data, thresholds):
        y = Ordinal((1, 2, 3, 4), thresholds).sample(data.eta, data.rng)
        family = Ordinal().learn(y)
        fit = data.fit(family, family.encode(y))
        model = OrderedModel(y[data.rows], data.columns[data.rows], offset=data.offset[data.rows], distr="logit")
        theirs = model.fit(method="newton", disp=0, maxiter=200, tol=1e-12, warn_convergence=False).params
        np.testing.assert_allclose(fit.effects, theirs[: WIDTH + 1], **SAME)
        cuts = model.transform_threshold_params(theirs)[1:-1]
        np.testing.assert_allclose(np.array(fit.family.thresholds) - fit.intercept, cuts, **SAME)

    @pytest.mark.parametrize("offsets", [(0.0,) * 4, (2.0, -2.0, -2.0, 2.0)])
    def test_adjacent_categories_is_scipys_minimum_of_the_likelihood(self, data, offsets):
        y = AdjacentCategories(3, 0, offsets=offsets).sample(data.eta, data.rng).astype(float)
        Z, levels = sm.add_constant(data.columns, prepend=False), np.arange(4)

        def value(v):
            scores = np.outer(Z @ v[:5] + data.offset, levels) + np.array([0, v[5], v[6], 0])
            return np.sum(data.weight * (special.logsumexp(scores, axis=1) - scores[np.arange(N), y.astype(int)]))

        scipys = minimize(value, np.zeros(7), method="BFGS", options={"gtol": 1e-5}).x
        fit = data.fit(AdjacentCategories(3, 0).learn(y), y)
        np.testing.assert_allclose(fit.effects, scipys[:4], atol=2e-5)
        ours = np.log([1, 3, 3, 1]) + np.array(fit.family.offsets) + fit.intercept * levels
        bends = np.diff(np.array([0, scipys[5], scipys[6], 0]) + scipys[4] * levels, 2)
        np.testing.assert_allclose(np.diff(ours, 2), bends, atol=5e-5)

    @pytest.mark.parametrize("dispersion", [0.2, 1.5])
    def test_negative_binomial(self, data, dispersion):
        y = NegativeBinomial(dispersion).sample(data.eta, data.rng).astype(float)
        theirs = sm.NegativeBinomial(y[data.rows], data.exog, offset=data.offset[data.rows])
        near = theirs.fit(method="bfgs", disp=0, maxiter=500).params
        params = theirs.fit(near, method="newton", disp=0, maxiter=500, tol=1e-14, warn_convergence=False).params
        fit = data.fit(NegativeBinomial().learn(y), y)
        np.testing.assert_allclose([*fit.coefficients, fit.family.dispersion], params, **SAME)

    @pytest.mark.parametrize("dispersion", [0.1, 0.8])
    def test_beta_binomial_is_scipys_minimum_of_the_likelihood(self, data, dispersion):
        y = BetaBinomial(6, 0, dispersion=dispersion).sample(data.eta, data.rng).astype(float)
        Z = sm.add_constant(data.columns, prepend=False)

        def value(v):
            p, size = special.expit(Z @ v[:-1] + data.offset), np.exp(-v[-1])
            likelihood = special.betaln(y + size * p, 6 - y + size * (1 - p)) - special.betaln(size * p, size * (1 - p))
            return -np.sum(data.weight * likelihood)

        scipys = minimize(value, np.zeros(6), method="BFGS", options={"gtol": 1e-4}).x
        scipys = minimize(
            value, scipys, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10, "maxiter": 4000}
        ).x
        fit = data.fit(BetaBinomial(6, 0).learn(y), y)
        np.testing.assert_allclose([*fit.coefficients, np.log(fit.family.dispersion)], scipys, atol=2e-5)

    def test_a_binomial_response_has_no_dispersion(self, data):
        y = Binomial(6, 0).sample(data.eta, data.rng).astype(float)
        fit = data.fit(BetaBinomial(6, 0).learn(y), y)
        assert fit.family.dispersion < 0.05
        np.testing.assert_allclose(fit.coefficients, data.fit(Binomial(6, 0), y).coefficients, atol=0.05)

    def test_without_any_dispersion_it_is_the_binomial(self, data):
        """Responses that scatter less than a binomial's, by coefficients that had to move once there was none."""
        y = np.round(6 * special.expit(data.eta))
        fit = data.fit(BetaBinomial(6, 0, dispersion=2.0), y)
        assert fit.family.dispersion == 0
        np.testing.assert_allclose(fit.coefficients, data.fit(Binomial(6, 0), y).coefficients, rtol=1e-8)

    @pytest.mark.parametrize("family", [Ordinal(), AdjacentCategories(), Stereotype()], ids=repr)
    def test_collinear_columns_explain_as_one_of_them(self, data, family):
        y = np.minimum(Poisson().sample(data.eta, data.rng), 4).astype(float)
        learnt = family.learn(y)
        one = data.fit(learnt, learnt.encode(y))
        data.columns = np.column_stack([data.columns, data.columns[:, 0]])
        two = data.fit(learnt, learnt.encode(y))
        assert two.loss == pytest.approx(one.loss, rel=1e-9)

    def test_the_number_of_threads_changes_no_bit(self):
        rng = np.random.default_rng(0)
        columns = rng.normal(size=(9000, 2))
        y = Ordinal((0, 1, 2), (-1.0, 1.0)).sample(columns.sum(axis=1), rng).astype(float)
        for family in (Stereotype().learn(y), BetaBinomial().learn(y)):
            fits = []
            for n_jobs in (1, 2):
                with local_compute(n_jobs) as compute:
                    fits.append(fit_glm(ResponseModel(family, compute, 0.1, True), columns, y, np.ones(9000)))
            np.testing.assert_array_equal(fits[0].coefficients, fits[1].coefficients)
            assert fits[0].family == fits[1].family

    @pytest.mark.parametrize("start", [0.0, 0.5, -3.0])
    def test_where_a_fit_starts_does_not_matter(self, data, start):
        y = np.minimum(Poisson().sample(data.eta, data.rng), 4).astype(float)
        with local_compute(1) as compute:
            for family in (Ordinal(), Stereotype(), BetaBinomial(), NegativeBinomial()):
                model = ResponseModel(family.learn(y), compute, 0.1, fit_intercept=True)
                one, other = (
                    fit_glm(model, data.columns, y, data.weight, start=first) for first in (None, np.full(5, start))
                )
                np.testing.assert_allclose(other.coefficients, one.coefficients, atol=1e-6)

    @pytest.mark.parametrize(
        "family",
        [Ordinal(), Gaussian(), NegativeBinomial(), BetaBinomial(), AdjacentCategories(), Stereotype()],
        ids=repr,
    )
    def test_both_settle_with_a_penalty_too(self, data, family):
        """Fitting once more from the fitted family changes nothing."""
        y = np.minimum(Poisson().sample(data.eta, data.rng), 6).astype(float)
        learnt = family.learn(y)
        encoded = learnt.encode(y)
        fit = data.fit(learnt, encoded, penalty=np.array([3.0, 3.0, 0.0, 0.0]))
        again = data.fit(fit.family, encoded, penalty=np.array([3.0, 3.0, 0.0, 0.0]))
        np.testing.assert_allclose(again.coefficients, fit.coefficients, atol=1e-7)
        assert again.loss == pytest.approx(fit.loss, rel=1e-9)


class TestSeveralPredictors:
    def drawn(self, data):
        family = Categorical(("a", "b", "c"))
        return family, family.encode(family.sample(np.column_stack([data.eta, 0.5 - data.eta]), data.rng))

    def test_categorical_is_mnlogit(self, data):
        family, y = self.drawn(data)
        fit = data.fit(family, y, offset=np.zeros((N, 2)))
        theirs = sm.MNLogit(y[data.rows], data.exog).fit(method="newton", disp=0, maxiter=100, tol=1e-14)
        np.testing.assert_allclose(fit.coefficients, theirs.params, **SAME)
        # Theirs lists all coefficients of one class after another; ours all classes of one column.
        order = np.arange(10).reshape(2, 5).T.ravel()
        ours = np.linalg.inv(fit.hessian)
        np.testing.assert_allclose(ours, np.asarray(theirs.cov_params())[np.ix_(order, order)], rtol=1e-5)
        np.testing.assert_allclose(fit.linear_predictor(data.columns).shape, (N, 2))

    def test_penalty_offset_and_missing_responses(self, data):
        family, y = self.drawn(data)
        offset = 0.3 * data.rng.normal(size=(N, 2))
        holed = np.where(np.arange(N) % 5 == 0, np.nan, y)
        penalty, known = np.array([2.0, 2.0, 0.0, 1.0]), ~np.isnan(holed)

        def value(v):
            eta = data.columns @ v[:8].reshape(4, 2) + v[8:] + offset
            loss = family.loss(y[known], eta[known])
            return np.sum(data.weight[known] * loss) + np.sum(penalty[:, None] * v[:8].reshape(4, 2) ** 2)

        scipys = minimize(value, np.zeros(10), options={"gtol": 1e-5}).x
        fit = data.fit(family, holed, offset=offset, penalty=penalty)
        np.testing.assert_allclose(fit.coefficients.ravel(), scipys, atol=1e-4)

    def test_an_intercept_that_is_not_fitted_stays_zero(self, data):
        family, y = self.drawn(data)
        with local_compute(1) as compute:
            fit = fit_glm(ResponseModel(family, compute, 0.0, fit_intercept=False), data.columns, y, data.weight)
        assert not fit.coefficients[-1].any()
        assert not fit.hessian[-2:].any()
        theirs = sm.MNLogit(y[data.rows], data.columns[data.rows]).fit(method="newton", disp=0, maxiter=100, tol=1e-14)
        np.testing.assert_allclose(fit.effects, theirs.params, **SAME)
