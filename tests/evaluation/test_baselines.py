"""Baselines: they learn what there is to learn, and the penalty is the one that predicts best."""

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

from textsignal.evaluation.methods import FOLDS, PENALTIES, fit_baselines, fit_ridge


def test_baselines_learn_what_there_is_to_learn():
    X = sp.random_array((600, 30), density=0.3, random_state=np.random.default_rng(1), format="csr")
    truth = np.zeros(30)
    truth[:3] = [2.0, -1.0, 1.0]
    y = 3 + X @ truth
    found = {name: regressor.predict(X) for name, regressor in fit_baselines(X, y).items()}
    np.testing.assert_allclose(found["linear"], y, atol=0.01)
    assert np.corrcoef(found["ridge"], y)[0, 1] > 0.99
    np.testing.assert_allclose(found["mean"], y.mean())


def test_the_penalty_is_as_good_as_that_of_a_search_over_all():
    rng = np.random.default_rng(2)
    X = sp.random_array((150, 80), density=0.2, random_state=rng, format="csr")
    y = X @ rng.normal(size=80) + 2 * rng.normal(size=150)
    scores = [cross_val_score(Ridge(penalty), X.toarray(), y, cv=FOLDS, scoring="r2").mean() for penalty in PENALTIES]
    chosen = PENALTIES.index(fit_ridge(X, y).alpha)
    assert scores[chosen] > max(scores) - 0.001
    assert scores[chosen] > max(scores[0], scores[-1]) + 0.01


def test_copies_of_a_document_are_in_one_fold():
    """A penalty that only has to know the copies of what it was fitted to would be the weakest."""
    rng = np.random.default_rng(3)
    X = sp.random_array((60, 80), density=0.3, random_state=rng, format="csr")
    y = rng.normal(size=60)
    five_times = fit_ridge(sp.csr_array(sp.vstack([X] * 5)), np.tile(y, 5))
    assert five_times.alpha == PENALTIES[0]
