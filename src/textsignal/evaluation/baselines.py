"""Simpler predictions of a response from the same matrix of documents and terms, to compare a model with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, Ridge

Floats = NDArray[np.float64]
#: Predictions of a fit for new documents, (documents, terms) -> (documents, ...).
Predict = Callable[[sp.csr_array], Floats]
#: Fits documents and their responses with one penalty after another, with a warm start if it can.
FitPath = Callable[[sp.csr_array, Floats], Callable[[float], Predict]]

#: Ridge penalties, strongest first, and folds by which one is chosen.
PENALTIES, FOLDS = (100.0, 31.6, 10.0, 3.16, 1.0, 0.316, 0.1, 0.0316, 0.01), 3
#: Tolerances of ridge and linear regression, relative to the right-hand side.
RIDGE_TOL, LINEAR_TOL = 1e-3, 1e-6


class Regressor(Protocol):
    """A fitted regression."""

    def predict(self, X: sp.csr_array) -> Floats:
        """Return (documents,) expected responses."""


def fit_baselines(X: sp.csr_array, y: Floats) -> dict[str, Regressor]:
    """Fit ridge and linear regression on terms, and the mean: name -> fitted.

    X : (documents, terms); y : (documents,), none missing.
    """
    return {
        "ridge": fit_ridge(X, y),
        "linear": LinearRegression(tol=LINEAR_TOL).fit(X, y),
        "mean": DummyRegressor().fit(X, y),
    }


@dataclass(frozen=True, eq=False)
class Chosen:
    """The penalty that predicts held-out documents best, and (documents, ...) its predictions out of fold."""

    penalty: float
    unseen: Floats


def choose_penalty(
    fit_path: FitPath,
    X: sp.csr_array,
    y: Floats,
    folds: NDArray[np.int64],
    penalties: Sequence[float],
    loss: Callable[[Floats, Floats], float],
) -> Chosen | None:
    """Try penalties in order, the strongest first, until the loss on held-out folds rises.

    Weaker ones fit worse still and take longest. None if there is only one fold.

    X : (documents, terms), sparse; y : (documents,), none missing; folds : (documents,) the fold of each.
    loss : of responses and their predictions.
    """
    sides = [(folds == fold, fit_path(X[folds != fold], y[folds != fold])) for fold in np.unique(folds)]
    best, least = None, np.inf
    for penalty in penalties if len(sides) > 1 else ():
        predictions = [(held_out, fit(penalty)(X[held_out])) for held_out, fit in sides]
        unseen = np.empty((len(y), *predictions[0][1].shape[1:]))
        for held_out, predicted in predictions:
            unseen[held_out] = predicted
        lost = loss(y, unseen)
        if lost > least:
            break
        best, least = Chosen(penalty, unseen), lost
    return best


def ridge_path(tol: float = RIDGE_TOL) -> FitPath:
    """Return the path of ridge regressions."""
    return lambda X, y: lambda penalty: _ridge(penalty, tol).fit(X, y).predict


def squared_error(y: Floats, predicted: Floats) -> float:
    """Return the mean squared error."""
    return float(np.mean((y - predicted) ** 2))


def fit_ridge(
    X: sp.csr_array, y: Floats, *, penalties: Sequence[float] = PENALTIES, folds: int = FOLDS, tol: float = RIDGE_TOL
) -> Ridge:
    """Fit ridge regression on terms, its penalty chosen by cross-validation.

    X : (documents, terms), sparse; y : (documents,), none missing.

    Examples
    --------
    >>> X = sp.random_array((60, 4), density=0.5, format="csr", random_state=np.random.default_rng(0))
    >>> fit_ridge(X, X @ np.array([1.0, -1.0, 2.0, 3.0])).coef_.round(1)
    array([ 1., -1.,  2.,  3.])
    """
    chosen = choose_penalty(ridge_path(tol), X, y, _fold_of(X, folds), penalties, squared_error)
    return _ridge(penalties[0] if chosen is None else chosen.penalty, tol).fit(X, y)


def _ridge(penalty: float, tol: float) -> Any:
    return Ridge(penalty, solver="sparse_cg", tol=tol)


def _fold_of(X: sp.csr_array, folds: int) -> NDArray[np.int64]:
    """(documents,) the fold of each: distinct rows one after the other, and equal rows together."""
    number: dict[bytes, int] = {}
    rows = (X.indices[start:end].tobytes() + X.data[start:end].tobytes() for start, end in pairwise(X.indptr.tolist()))
    distinct = np.array([number.setdefault(row, len(number)) for row in rows], dtype=np.int64)
    return distinct * folds // len(number)
