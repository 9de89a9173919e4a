"""Covariance of a GLM's coefficients that holds where its family is wrong: the sandwich.

    V = B (sum over groups g of u_g u_g') B,        u_g = sum over documents i of g of slope_i x_i

B is the inverse of the Hessian of loss and penalty, slope_i the derivative of document i's weighted loss by its linear
predictor, x_i its columns. Each document is a separate group (HC0), or documents are grouped, for example by hotel
(cluster-robust).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Vector
from textsignal.errors import InputError


def sandwich(columns: Vector, slopes: Vector, hessian: Vector) -> Vector:
    """(columns, columns) covariance of coefficients where documents are independent of each other.

    columns : (documents, columns), those of 1 for the constant among them.
    slopes : (documents,) weight times the derivative of the loss by the linear predictor, 0 without a response.
    hessian : (columns, columns) of loss and penalty; directions in which it is flat are excluded.

    Examples
    --------
    >>> y = np.array([1.0, 2.0, 6.0])
    >>> variance = sandwich(np.ones((3, 1)), y.mean() - y, np.array([[3.0]]))
    >>> bool(np.isclose(variance[0, 0], np.var(y) / 3))
    True
    """
    return _around(columns * slopes[:, None], hessian)


def clustered_sandwich(columns: Vector, slopes: Vector, hessian: Vector, groups: NDArray[np.int64]) -> Vector:
    """(columns, columns) covariance of coefficients where documents of a group depend on each other.

    It is G / (G - 1) * (n - 1) / (n - p) times the sum over the G groups, as is usual: few groups say too little of how
    they differ. n counts the documents whose slope is not 0, p the columns that are not collinear.

    groups : (documents,) the number of each document's group; the rest as in `sandwich`.
    """
    answered = slopes != 0
    n_groups, n_documents = len(np.unique(groups[answered])), int(answered.sum())
    n_columns = int(np.linalg.matrix_rank(hessian, hermitian=True))
    if n_groups < 2 or n_documents <= n_columns:
        raise InputError(
            f"{n_groups} groups of {n_documents} documents do not say how groups differ; give two or more groups, and "
            f"more than {n_columns} documents"
        )
    numbers = np.unique(groups, return_inverse=True)[1]
    sums = np.zeros((int(numbers.max()) + 1, columns.shape[1]))
    np.add.at(sums, numbers, columns * slopes[:, None])
    few = n_groups / (n_groups - 1) * (n_documents - 1) / (n_documents - n_columns)
    return few * _around(sums, hessian)


def _around(scores: Vector, hessian: Vector) -> Vector:
    """Inverse Hessian, sum of outer products of scores (groups, columns), inverse Hessian."""
    inverse = np.linalg.pinv(hessian, hermitian=True)
    return np.asarray(inverse @ (scores.T @ scores) @ inverse)
