"""The sandwich: what statsmodels gives, and what follows from its formula."""

import numpy as np
import pytest
import statsmodels.api as sm

from textsignal.compute.engines.local import local_compute
from textsignal.errors import InputError
from textsignal.families import Binomial
from textsignal.training.glm import ResponseModel, clustered_sandwich, fit_glm, sandwich

FAMILY, N = Binomial(4, 1), 600


@pytest.fixture(scope="module")
def case():
    """Columns with a constant, responses that hang together within groups, and our GLM without penalty."""
    rng = np.random.default_rng(3)
    groups = rng.integers(0, 25, N)
    X = rng.normal(size=(N, 3)) + 0.5 * rng.normal(size=25)[groups, None]
    eta = 0.3 + X @ [0.5, -0.2, 0.0] + 0.8 * rng.normal(size=25)[groups]
    y = rng.binomial(4, 1 / (1 + np.exp(-eta))).astype(float)
    with local_compute(1) as compute:
        fit = fit_glm(ResponseModel(FAMILY, compute, 0.0, fit_intercept=True), X, y, np.ones(N))
    return np.column_stack([X, np.ones(N)]), y, groups, fit.hessian, FAMILY.gradient(y, fit.linear_predictor(X))


def theirs(case, **options):
    columns, y, *_ = case
    model = sm.GLM(np.column_stack([y, 4 - y]), columns, family=sm.families.Binomial())
    return model.fit(tol=1e-12, **options)


def test_plain_is_statsmodels_hc0(case):
    columns, _, _, hessian, slopes = case
    np.testing.assert_allclose(
        sandwich(columns, slopes, hessian), theirs(case, cov_type="HC0").cov_params(), rtol=1e-5, atol=1e-9
    )


def test_clustered_is_statsmodels_cluster(case):
    columns, _, groups, hessian, slopes = case
    expected = theirs(case, cov_type="cluster", cov_kwds={"groups": groups}).cov_params()
    np.testing.assert_allclose(clustered_sandwich(columns, slopes, hessian, groups), expected, rtol=1e-5, atol=1e-9)


def test_groups_of_one_document_are_plain_but_for_the_correction(case):
    columns, _, _, hessian, slopes = case
    alone = clustered_sandwich(columns, slopes, hessian, np.arange(N))
    np.testing.assert_allclose(alone, N / (N - 4) * sandwich(columns, slopes, hessian))


def test_names_and_order_of_groups_and_documents_without_a_response_do_not_matter(case):
    columns, _, groups, hessian, slopes = case
    plain = clustered_sandwich(columns, slopes, hessian, groups)
    order = np.random.default_rng(0).permutation(N)
    again = clustered_sandwich(columns[order], slopes[order], hessian, 100 - 3 * groups[order])
    np.testing.assert_allclose(again, plain)
    more = [np.vstack([columns, columns[:5]]), np.append(slopes, np.zeros(5)), hessian, np.append(groups, [99] * 5)]
    np.testing.assert_allclose(clustered_sandwich(*more), plain)


def test_one_group_is_refused(case):
    columns, _, _, hessian, slopes = case
    with pytest.raises(InputError, match="there are 1 and 600"):
        clustered_sandwich(columns, slopes, hessian, np.zeros(N, int))
