"""Effects of covariates: by themselves, so that text need not learn them, and how well they are known."""

from __future__ import annotations

import numpy as np

from textsignal.arrays import Array, Vector
from textsignal.compute.engines import Compute
from textsignal.data.covariates.design import Given
from textsignal.families import Family, linear_predictor
from textsignal.training.covariance import clustered_sandwich
from textsignal.training.glm import LEAST_CURVATURE, GLMFit, ResponseModel, fit_glm

#: Directions of less curvature than this share of the greatest say nothing of their coefficient.
FLAT = 1e-12


def fit_alone(given: Given, y: Vector, weight: Vector, family: Family, compute: Compute) -> tuple[Vector, Family]:
    """(documents,) offset and what covariates by themselves add to it against their average; the family given these.

    y : (documents,) encoded responses, NaN if missing; weight : (documents,) how often each counts.
    """
    model = ResponseModel(family, compute, 0.0, fit_intercept=True)
    columns = given.columns if given.n_columns else np.zeros((len(y), 1))
    fit = fit_glm(model, columns, y, weight, offset=given.offset)
    mean = np.average(columns, axis=0, weights=weight)
    return (linear_predictor(columns - mean, fit.effects, 0.0).T + given.offset).T, fit.family


def dispersion_of(family: Family, y: Vector, eta: Vector, weight: Vector) -> float:
    """Return the dispersion relative to the family: mean of gradient^2 / mean of curvature.

    Ratings have about twice the variance of a binomial; for a Gaussian it is the variance.
    """
    known = ~np.isnan(y) & (weight > 0)
    y, eta, weight = y[known], eta[known], weight[known]
    squares, curvature = family.gradient(y, eta) ** 2, family.curvature(y, eta)
    return float(np.average(squares, weights=weight) / max(np.average(curvature, weights=weight), LEAST_CURVATURE))


def standard_errors(
    fit: GLMFit, columns: Array, given: Given, y: Vector, weight: Vector, eta: Vector, dispersion: float
) -> Vector:
    """(covariates,) standard errors of the effects of the last columns: by the Hessian, or between groups.

    columns : (documents, columns) that were fitted, covariates last; eta : (documents,) the linear predictor.
    """
    places = np.arange(columns.shape[1] - given.n_columns, columns.shape[1])
    hessian = fit.hessian
    size = np.sqrt(np.maximum(np.diag(hessian), 0))
    known = size**2 > FLAT * max(float(np.max(size**2)), np.finfo(float).tiny)
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=known)
    unit = hessian * scale[:, None] * scale
    if given.groups is None:
        variance = dispersion * np.diag(np.linalg.pinv(unit, hermitian=True))
    else:
        slopes = np.where(np.isnan(y), 0.0, weight * fit.family.gradient(np.nan_to_num(y), eta))
        every = np.column_stack([columns, np.ones(len(columns))]) * scale
        variance = np.diag(clustered_sandwich(every, slopes, unit, given.groups))
    errors = np.sqrt(np.maximum(variance, 0)) * scale
    return np.where(known, errors, np.nan)[places]
