"""Simpler ways to predict a response from the same matrix of documents and terms, to hold a model against."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import PredefinedSplit

from textsignal.evaluate import r2_score

Floats = NDArray[np.float64]

#: Ridge penalties that are tried, and folds that choose among them.
PENALTIES, FOLDS = (100.0, 31.6, 10.0, 3.16, 1.0, 0.316, 0.1, 0.0316, 0.01), 3
#: How exactly ridge and linear regression are solved, relative to the right-hand side.
RIDGE_TOL, LINEAR_TOL = 1e-3, 1e-6


class Regressor(Protocol):
    """A fitted regression."""

    def predict(self, X: sp.csr_array) -> Floats:
        """(documents,) expected responses."""


def fit_baselines(X: sp.csr_array, y: Floats) -> dict[str, Regressor]:
    """Ridge and linear regression on terms, and the mean: name -> fitted.

    X : (documents, terms); y : (documents,), none missing.
    """
    return {
        "ridge": fit_ridge(X, y),
        "linear": LinearRegression(tol=LINEAR_TOL).fit(X, y),
        "mean": DummyRegressor().fit(X, y),
    }


def fit_ridge(
    X: sp.csr_array, y: Floats, *, penalties: Sequence[float] = PENALTIES, folds: int = FOLDS, tol: float = RIDGE_TOL
) -> Ridge:
    """Ridge regression on terms, its penalty chosen by cross-validation.

    Penalties are tried in the order given, the strongest first, until the mean R2 on left-out folds falls: weaker ones
    fit worse still and take longest.

    X : (documents, terms), sparse; y : (documents,), none missing.

    Examples
    --------
    >>> X = sp.random_array((60, 4), density=0.5, format="csr", random_state=np.random.default_rng(0))
    >>> fit_ridge(X, X @ np.array([1.0, -1.0, 2.0, 3.0])).coef_.round(1)
    array([ 1., -1.,  2.,  3.])
    """
    split = PredefinedSplit(_fold_of(X, folds))
    best, best_score = penalties[0], -np.inf
    for penalty in penalties:
        score = _left_out_r2(Ridge(penalty, solver="sparse_cg", tol=tol), X, y, split)
        if score < best_score:
            break
        best, best_score = penalty, score
    return Ridge(best, solver="sparse_cg", tol=tol).fit(X, y)


def _left_out_r2(ridge: Ridge, X: sp.csr_array, y: Floats, split: PredefinedSplit) -> float:
    """Mean R2 on folds that the regression was not fitted to."""
    scores = [
        r2_score(y[left_out], ridge.fit(X[rest], y[rest]).predict(X[left_out]))
        for rest, left_out in split.split()
        if rest.size
    ]
    return float(np.mean(scores)) if scores else 0.0


def _fold_of(X: sp.csr_array, folds: int) -> NDArray[np.int64]:
    """(documents,) the fold of each: distinct rows one after the other, and equal rows together."""
    number: dict[bytes, int] = {}
    rows = (X.indices[start:end].tobytes() + X.data[start:end].tobytes() for start, end in pairwise(X.indptr.tolist()))
    distinct = np.array([number.setdefault(row, len(number)) for row in rows], dtype=np.int64)
    return distinct * folds // len(number)
