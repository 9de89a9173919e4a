"""Covariance of a GLM's coefficients: from its Hessian, or the sandwich that is valid where its family is wrong.

    V = B (sum over groups g of u_g u_g') B,        u_g = sum over texts i of g of slope_i x_i

B is the inverse of the Hessian of loss and penalty, slope_i the derivative of text i's weighted loss by its linear
predictor, x_i its columns. Each text is a separate group (HC0), or texts are grouped, for example by hotel
(cluster-robust).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Array, Vector
from textsignal.data.covariates.design import Given
from textsignal.errors import InputError
from textsignal.families import Family
from textsignal.training.glm import LEAST_CURVATURE, GLMFit

#: A direction with less curvature than this share of the greatest does not determine its coefficient.
FLAT = 1e-12


def sandwich(columns: Vector, slopes: Vector, hessian: Vector) -> Vector:
    """(columns, columns) covariance of coefficients if texts are independent of each other.

    columns : (texts, columns), with a column of 1 for the constant.
    slopes : (texts,) weight times the derivative of the loss by the linear predictor, 0 without a response.
    hessian : (columns, columns) of loss and penalty; directions in which it is flat are excluded.
    """
    scores, inverse = columns * slopes[:, None], np.linalg.pinv(hessian, hermitian=True)
    return np.asarray(inverse @ (scores.T @ scores) @ inverse)


def clustered_sandwich(columns: Vector, slopes: Vector, hessian: Vector, groups: NDArray[np.int64]) -> Vector:
    """(columns, columns) covariance of coefficients if texts of a group depend on each other.

    It is G / (G - 1) * (n - 1) / (n - p) times the sum over the G groups, as is usual: a sum over few groups is too
    small. n counts the texts whose slope is not 0, p the columns that are not collinear.

    groups : (texts,) the number of each text's group; the rest as in `sandwich`.
    """
    answered = slopes != 0
    n_groups, n_texts = len(np.unique(groups[answered])), int(answered.sum())
    n_columns = int(np.linalg.matrix_rank(hessian, hermitian=True))
    if n_groups < 2 or n_texts <= n_columns:
        raise InputError(
            f"{n_groups} groups of {n_texts} documents do not say how groups differ; give two or more groups, and "
            f"more than {n_columns} documents"
        )
    numbers = np.unique(groups, return_inverse=True)[1]
    sums = np.zeros((int(numbers.max()) + 1, columns.shape[1]))
    np.add.at(sums, numbers, columns * slopes[:, None])
    few = n_groups / (n_groups - 1) * (n_texts - 1) / (n_texts - n_columns)
    return few * sandwich(sums, np.ones(len(sums)), hessian)


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

    columns : (texts, columns) that were fitted, covariates last; eta : (texts,) the linear predictor.
    """
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
    errors = np.where(known, np.sqrt(np.maximum(variance, 0)) * scale, np.nan)
    return errors[columns.shape[1] - given.n_columns : columns.shape[1]]
