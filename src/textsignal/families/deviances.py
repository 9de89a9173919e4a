"""How far linear predictors are from the best possible ones, and from the best constant."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from textsignal.arrays import Vector
from textsignal.families.base import Family

#: How far off the best constant may be, in units of the family; and steps towards it, at most.
INEXACT, MOST_STEPS = 1e-2, 50


def deviance(family: Family, y: Vector, eta: Vector, weight: Vector | float = 1.0) -> float:
    """Twice the loss above the smallest possible one, summed over the documents that have a response.

    y : (documents,) encoded responses, NaN where there is none; eta : (documents,) linear predictors; weight : how
    often each document counts.

    Examples
    --------
    >>> from textsignal.families import Binomial
    >>> y = np.array([4.0, 0.0, np.nan])
    >>> round(deviance(Binomial(n=4, lowest=1), y, np.array([1.0, -1.0, 3.0])), 3)
    5.012
    """
    observed = ~np.isnan(y)
    y, eta, weight = y[observed], eta[observed], np.broadcast_to(weight, observed.shape)[observed]
    return 2 * float(np.sum(weight * (family.loss(y, eta) - family.best_loss(y))))


def best_constant(family: Family, y: Vector, weight: Vector, offset: Vector | float = 0.0) -> Any:
    """The constant that with the offset is the linear predictor of the smallest loss; no response is missing.

    (P,) constants of P linear predictors.
    """
    if np.ndim(offset) == 0 or np.ptp(offset) == 0:  # documents of the same response are alike
        y, places = np.unique(y, return_inverse=True)
        weight, offset = np.bincount(places, weights=weight).astype(float), float(np.ravel(offset)[0])

    def loss(constant: Any) -> float:
        return float(np.sum(weight * family.loss(y, constant_predictor(constant, y, offset))))

    def slope(constants: Vector) -> Vector:
        return weight @ family.gradient(y, constant_predictor(constants, y, offset)) / weight.sum()

    if family.n_predictors == 1:
        return _settled(float(minimize_scalar(loss).x), family, y, weight, offset)
    found = minimize(lambda constants: loss(constants) / weight.sum(), np.zeros(family.n_predictors), jac=slope)
    return found.x


def _settled(constant: float, family: Family, y: Vector, weight: Vector, offset: Vector | float) -> float:
    """The constant after Newton steps, where it is far off: a search is as exact as the constant is large."""
    for _ in range(MOST_STEPS):
        eta = constant_predictor(constant, y, offset)
        curvature = max(float(weight @ family.curvature(y, eta)), np.finfo(float).tiny)
        step = float(weight @ family.gradient(y, eta)) / curvature
        other = constant_predictor(constant - step, y, offset)
        if abs(step) <= INEXACT * family.unit or weight @ family.loss(y, other) > weight @ family.loss(y, eta):
            break
        constant -= step
    return constant


def constant_predictor(constant: Any, y: Vector, offset: Vector | float) -> Vector:
    """(documents,) the same linear predictor for all but for the offset; (documents, P) of P constants."""
    return np.add.outer(np.broadcast_to(offset, y.shape), constant)


def null_deviance(family: Family, y: Vector, weight: Vector, offset: Vector | float = 0.0) -> float:
    """The deviance of the best constant, beside the offset, as linear predictor."""
    observed = ~np.isnan(y)
    offset = np.broadcast_to(offset, y.shape)
    constant = best_constant(family, y[observed], weight[observed], offset[observed])
    return deviance(family, y, constant_predictor(constant, y, offset), weight)
