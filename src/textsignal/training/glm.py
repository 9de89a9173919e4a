"""Coefficients given the weights: a penalised GLM, computed from sums over blocks only, and their covariance.

A family with P linear predictors per text has coefficients (columns + 1, P). Gradients have the same shape, and
Hessians the order of the flattened coefficients: the last P are the intercepts.

The covariance of the coefficients follows from the Hessian, or from the sandwich, valid where the family is wrong:

    V = B (sum over groups g of u_g u_g') B,        u_g = sum over texts i of g of slope_i x_i

B is the inverse of the Hessian of loss and penalty, slope_i the derivative of text i's weighted loss by its linear
predictor, x_i its columns. Each text is a separate group (HC0), or texts are grouped, for example by hotel
(cluster-robust).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from textsignal.arrays import Array, Vector
from textsignal.compute.engines import Compute
from textsignal.compute.kernels import pad
from textsignal.data.covariates.design import Given
from textsignal.errors import InputError
from textsignal.families import Family, linear_predictor
from textsignal.families.base import OwnPrior
from textsignal.training.corpus import Parameters, Responses, ResponseSums

Blocks = Sequence[Responses]
#: Maximum number of halvings of a step, of Newton steps, and of turns between coefficients and family parameters.
MOST_HALVINGS, MOST_STEPS, MOST_TURNS = 40, 100, 50
#: Stop after a step whose predicted decrease of the loss is below this share of the texts.
SETTLED = 1e-13
#: Relative rounding error of a sum.
ROUNDING = 1e-14
#: Columns are collinear if the residual share of one, given those before it, is below this.
LEAST_PIVOT = 1e-11
#: Ridge added to a unit diagonal if columns are collinear, so that family parameters still move jointly.
RIDGE = 1e-9
#: Least curvature for a Newton step: with less, from a saturated response, the squared step could overflow.
LEAST_CURVATURE = 1e-100
#: A direction with less curvature than this share of the greatest does not determine its coefficient.
FLAT = 1e-12


@dataclass(frozen=True)
class OwnSums(ResponseSums):
    """Sums over texts if parameters of the family move jointly with the coefficients.

    counts, slope, bend : as in `OwnDerivatives`; cross : second derivatives, (padded columns + 1, directions).
    """

    weight: float
    eta: float
    counts: Vector
    slope: Vector
    bend: Vector
    cross: Vector


@dataclass(frozen=True)
class ResponseModel:
    """The response's side of the objective: sum of weight * loss(y, offset + intercept + w beta) + penalty |beta|^2.

    penalty : one number, or one for each (padded) column. The intercept has none; without `fit_intercept` it stays.
    """

    family: Family
    compute: Compute
    penalty: float | Vector
    fit_intercept: bool

    def sums(self, block: Responses, parameters: Parameters) -> ResponseSums:
        """Loss, gradient and Hessian over one block."""
        return self._sums_at(block, block.linear_predictor(parameters))

    def _sums_at(self, block: Responses, eta: Vector) -> ResponseSums:
        weight = block.response_weight
        loss, slope, curvature = self.family.derivatives(block.y, eta)
        sums = self.compute.kernels.response_sums if eta.ndim == 1 else self._sums_of_many
        gradient, hessian = sums(block.W, weight * (slope - block.tilt).T, weight * curvature.T)
        return ResponseSums(_total(block, eta, loss), gradient, hessian)

    def own_sums(self, block: Responses, parameters: Parameters, directions: Vector) -> OwnSums:
        """Sums over one block, including derivatives in the family parameters that move with the coefficients."""
        eta, weight = block.linear_predictor(parameters), block.response_weight
        own = self.family.own_derivatives(block.y, eta, weight)
        cross = weight * np.einsum("od,oi->di", directions, own.cross)
        with_columns = np.einsum("di,ik->kd", cross, block.W, dtype=np.float64)
        return OwnSums(
            **vars(self._sums_at(block, eta)),
            weight=float(weight.sum()),
            eta=float(np.sum(weight * eta.T)),
            counts=own.counts,
            slope=own.slope,
            bend=own.bend,
            cross=np.concatenate([with_columns, cross.sum(axis=1)[None]]),
        )

    def _sums_of_many(self, W: Array, slope: Vector, curvature: Vector) -> tuple[Vector, Vector]:
        """Gradient and Hessian for P linear predictors: slope (P, texts), curvature (P, P, texts)."""
        one = self.compute.kernels.response_sums
        parts = [[one(W, slope[p], curvature[p, q]) for q in range(len(slope))] for p in range(len(slope))]
        gradient = np.stack([row[0][0] for row in parts], axis=1)
        hessian = np.stack([np.stack([part[1] for part in row], axis=-1) for row in parts], axis=1)
        return gradient, hessian.reshape(gradient.size, gradient.size)

    def sweep(self, blocks: Blocks, parameters: Parameters) -> ResponseSums:
        """Loss, gradient and Hessian over all blocks."""
        return self.compute.engine.sweep(lambda block: self.sums(block, parameters), blocks)

    def loss(self, blocks: Blocks, parameters: Parameters) -> float:
        """Loss over all blocks, without the penalty."""

        def block_loss(block: Responses) -> float:
            eta = block.linear_predictor(parameters)
            return _total(block, eta, self.family.loss(block.y, eta))

        return self.compute.engine.sweep(block_loss, blocks)

    def penalty_value(self, parameters: Parameters) -> float:
        """Penalty |beta|^2."""
        return float(np.sum(self.penalty * parameters.beta.T**2))

    def slope(self, sums: ResponseSums, parameters: Parameters) -> Vector:
        """Gradient of loss and penalty in the coefficients that may move (0 for the others)."""
        gradient = sums.gradient.copy()
        gradient[:-1] += (2 * self.penalty * parameters.beta.T).T
        gradient[-1] *= self.fit_intercept
        return gradient

    def information(self, sums: ResponseSums, kept: NDArray[np.int64] | None = None) -> Vector:
        """Hessian of loss and penalty in the coefficients that may move (0 for the others); kept : only these rows."""
        hessian, n_predictors = sums.hessian.copy(), self.family.n_predictors
        columns = np.arange(len(hessian) - n_predictors)
        penalty = np.broadcast_to(2 * self.penalty, columns.size // n_predictors)
        hessian[columns, columns] += np.repeat(penalty, n_predictors)
        hessian[-n_predictors:] *= self.fit_intercept
        hessian[:, -n_predictors:] *= self.fit_intercept
        if kept is None:
            return hessian
        flat = (kept[:, None] * n_predictors + np.arange(n_predictors)).ravel()
        return hessian[np.ix_(flat, flat)]

    def moving(self, sums: ResponseSums) -> NDArray[np.bool_]:
        """Mask of the (flattened) coefficients that have data and curvature, and may move."""
        moving = np.diag(sums.hessian) > LEAST_CURVATURE
        moving[-self.family.n_predictors :] &= self.fit_intercept
        return moving


def newton_direction(slope: Vector, hessian: Vector, moving: NDArray[np.bool_], n_own: int = 0) -> Vector:
    """Solve hessian direction = - slope in the moving coefficients, of which the last `n_own` are the family's."""
    direction = np.zeros(len(slope))
    if not moving.any():
        return direction
    # Scaled to a unit diagonal: topics differ in size by orders of magnitude.
    scale = 1 / np.sqrt(np.diag(hessian)[moving])
    unit = hessian[np.ix_(moving, moving)] * scale[:, None] * scale
    root = _root(unit)
    if root is None and n_own:
        root = _root(unit + RIDGE * np.eye(len(unit)))
        # Its diagonal blocks are positive definite.
        unit[-n_own:, :-n_own] = unit[:-n_own, -n_own:] = 0
        root = _root(unit) if root is None else root
    if root is not None:
        solved = lapack.dpotrs(root, slope[moving] * scale, lower=1)[0]
    else:
        # The pseudo-inverse handles collinear topics (at penalty 0).
        solved = np.linalg.pinv(unit, rcond=1e-13, hermitian=True) @ (slope[moving] * scale)
    direction[moving] = -scale * solved
    return direction


def _root(unit: Vector) -> Vector | None:
    """Cholesky factor of a matrix with unit diagonal; None if it is not positive definite."""
    root, failed = lapack.dpotrf(unit, lower=1)
    return None if failed or np.diag(root).min() ** 2 <= LEAST_PIVOT else root


def fit_coefficients(model: ResponseModel, blocks: Blocks, parameters: Parameters) -> Parameters:
    """Fit the coefficients given the weights and the family."""
    return Fitting.at(model, blocks, parameters, model.family.directions[:, :0]).settled().parameters


@dataclass(frozen=True, eq=False)
class Fitting:
    """State of a GLM fit; directions : (own, directions) in which parameters of the family move."""

    model: ResponseModel
    blocks: Blocks
    parameters: Parameters
    directions: Vector
    sums: OwnSums

    @classmethod
    def at(cls, model: ResponseModel, blocks: Blocks, parameters: Parameters, directions: Vector) -> Fitting:
        """Compute the sums at given parameters."""
        sums = model.compute.engine.sweep(lambda block: model.own_sums(block, parameters, directions), blocks)
        return cls(model, blocks, parameters, directions, sums)

    def settled(self) -> Fitting:
        """Take Newton steps until the predicted decrease is negligible or no step lowers the loss."""
        fitting = self
        for _ in range(MOST_STEPS):
            moved, last = fitting.stepped()
            fitting = moved or fitting
            if moved is None or last:
                break
        return fitting

    def stepped(self) -> tuple[Fitting | None, bool]:
        """Take a Newton step, halved until the loss does not rise (or None); True if its promise is negligible."""
        model, sums, directions = self.model, self.sums, self.directions
        gradient, hessian, moving = model.slope(sums, self.parameters), model.information(sums), model.moving(sums)
        slope, n_moving = gradient.ravel(), 0
        if directions.shape[1]:
            prior = self._prior(model.family)
            slope = np.concatenate([slope, directions.T @ (sums.slope + prior.slope)])
            bend = directions.T @ (sums.bend + prior.bend) @ directions
            hessian = np.block([[hessian, sums.cross], [sums.cross.T, bend]])
            curved = np.diag(bend) > LEAST_CURVATURE
            moving, n_moving = np.concatenate([moving, curved]), int(curved.sum())
        direction = newton_direction(slope, hessian, moving, n_moving)
        last = -float(slope @ direction) <= SETTLED * sums.weight
        coefficients = direction[: gradient.size].reshape(gradient.shape)
        own, before = directions @ direction[gradient.size :], self._value(self)
        for halving in range(MOST_HALVINGS):
            length = 0.5**halving
            family = model.family.moved(length * own) if own.size else model.family
            if family is None:
                continue
            parameters = self.parameters.with_coefficients(self.parameters.coefficients + length * coefficients)
            moved = Fitting.at(replace(model, family=family), self.blocks, parameters, directions)
            if self._value(moved) <= before + ROUNDING * abs(before):
                return moved, last
        return None, last

    def _value(self, other: Fitting) -> float:
        """Loss and penalties at `other`, with unobserved levels fixed at their current value."""
        penalty = other.model.penalty_value(other.parameters)
        return other.sums.loss + penalty + self._prior(other.model.family).loss

    def _prior(self, family: Family) -> OwnPrior:
        """Penalty on the family parameters, at the current linear predictors."""
        return family.own_prior(self.sums.counts, self.sums.eta / max(self.sums.weight, np.finfo(float).tiny))


def fit_family(model: ResponseModel, blocks: Blocks, parameters: Parameters) -> Fitting:
    """Fit coefficients and parameters of the family, jointly, or in turn if the family has no joint directions."""
    directions = model.family.directions
    fitting = Fitting.at(model, blocks, parameters, directions).settled()
    y, weight = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("y", "response_weight"))
    known = weight > 0
    for turn in range(0 if directions.size else MOST_TURNS):
        eta = np.concatenate([block.linear_predictor(fitting.parameters) for block in blocks])
        family = fitting.model.family.refit(y[known], eta[known], weight[known])
        if family == fitting.model.family:
            return fitting.settled() if turn else fitting
        turned = Fitting.at(replace(fitting.model, family=family), blocks, fitting.parameters, directions)
        moved, last = turned.stepped()
        fitting = moved or turned
        if last:
            break
    return fitting


@dataclass(frozen=True)
class GLMFit:
    """A GLM fitted to given columns.

    coefficients : (columns + 1,) effects, then the intercept; (columns + 1, P) for P linear predictors.
    hessian : of loss and penalty, given the family's estimated parameters; 0 for an intercept that was not fitted.
    loss : at the fit, tilted if a tilt was given, without the penalty.
    """

    family: Family
    coefficients: Vector
    hessian: Vector
    loss: float

    @property
    def effects(self) -> Vector:
        """(columns,) or (columns, P) coefficients without the intercept."""
        return self.coefficients[:-1]

    @property
    def intercept(self) -> Any:
        """Intercept: a number, or (P,) for P linear predictors."""
        return float(self.coefficients[-1]) if self.coefficients.ndim == 1 else self.coefficients[-1]

    def linear_predictor(self, columns: Array) -> Vector:
        """(texts,) linear predictor from columns (texts, columns)."""
        return linear_predictor(columns, self.effects, self.coefficients[-1])


def fit_glm(
    model: ResponseModel,
    columns: Array,
    y: Vector,
    weight: Vector,
    *,
    tilt: Vector | None = None,
    offset: Vector | None = None,
    start: Vector | None = None,
) -> GLMFit:
    """Fit a GLM of the responses on columns (texts, columns), such as weights of topics or covariates.

    model : its family's parameters are estimated too; y : (texts,) encoded responses, NaN if missing.
    tilt, offset : (texts,) subtracted from the slope of the loss; added to the linear predictor.
    start : (columns + 1,) coefficients to start from, such as those of a similar fit.
    """
    observed = ~np.isnan(y)
    rows = [slice(*edges) for edges in model.compute.engine.cut(len(y), columns.size, columns.shape[1])]
    blocks = [
        Responses(
            W=pad(columns[block], model.compute.kernels, columns.dtype),
            y=np.where(observed[block], y[block], 0.0),
            response_weight=weight[block] * observed[block],
            tilt=0.0 if tilt is None else tilt[block],
            offset=0.0 if offset is None else offset[block],
        )
        for block in rows
    ]
    width, n_predictors = blocks[0].W.shape[1], model.family.n_predictors
    penalty = np.zeros(width)
    penalty[: columns.shape[1]] = model.penalty
    first = Parameters.without_effects(blocks[0].W[:0], n_predictors)
    kept = np.append(np.arange(columns.shape[1]), width)
    if start is not None:
        coefficients = first.coefficients
        coefficients[kept] = start
        first = first.with_coefficients(coefficients)
    fitting = fit_family(replace(model, penalty=penalty), blocks, first)
    fitted, sums = fitting.model, fitting.sums
    return GLMFit(fitted.family, fitting.parameters.coefficients[kept], fitted.information(sums, kept), sums.loss)


def _total(block: Responses, eta: Vector, loss: Vector) -> float:
    """Weighted loss of a block, minus its tilts."""
    tilted = block.tilt * eta
    return float(np.sum(block.response_weight * (loss - (tilted if eta.ndim == 1 else tilted.sum(axis=1)))))


def fit_alone(given: Given, y: Vector, weight: Vector, family: Family, compute: Compute) -> tuple[Vector, Family]:
    """Fit covariates alone: (texts,) offset plus their effects against the average, and the family given these."""
    model = ResponseModel(family, compute, 0.0, fit_intercept=True)
    columns = given.columns if given.n_columns else np.zeros((len(y), 1))
    fit = fit_glm(model, columns, y, weight, offset=given.offset)
    mean = np.average(columns, axis=0, weights=weight)
    return (linear_predictor(columns - mean, fit.effects, 0.0).T + given.offset).T, fit.family


def sandwich(columns: Vector, slopes: Vector, hessian: Vector) -> Vector:
    """(columns, columns) covariance of coefficients if texts are independent of each other.

    columns : (texts, columns), with a column of 1 for the constant; slopes : (texts,) 0 without a response.
    hessian : of loss and penalty; directions in which it is flat are excluded.
    """
    scores, inverse = columns * slopes[:, None], np.linalg.pinv(hessian, hermitian=True)
    return np.asarray(inverse @ (scores.T @ scores) @ inverse)


def clustered_sandwich(columns: Vector, slopes: Vector, hessian: Vector, groups: NDArray[np.int64]) -> Vector:
    """(columns, columns) covariance of coefficients if texts of a group depend on each other.

    It is G / (G - 1) * (n - 1) / (n - p) times the sum over the G groups, as a sum over few groups is too small; for n
    texts whose slope is not 0, and p columns that are not collinear.
    """
    answered = slopes != 0
    n_groups, n_texts = len(np.unique(groups[answered])), int(answered.sum())
    n_columns = int(np.linalg.matrix_rank(hessian, hermitian=True))
    if n_groups < 2 or n_texts <= n_columns:
        raise InputError(
            f"standard errors robust to groups need at least 2 groups and {n_columns + 1} texts with a response, but "
            f"there are {n_groups} and {n_texts}"
        )
    numbers = np.unique(groups, return_inverse=True)[1]
    sums = np.zeros((int(numbers.max()) + 1, columns.shape[1]))
    np.add.at(sums, numbers, columns * slopes[:, None])
    few = n_groups / (n_groups - 1) * (n_texts - 1) / (n_texts - n_columns)
    return few * sandwich(sums, np.ones(len(sums)), hessian)


def dispersion_of(family: Family, y: Vector, eta: Vector, weight: Vector) -> float:
    """Return the dispersion relative to the family, about 2 for ratings: mean of gradient^2 / mean of curvature."""
    known = ~np.isnan(y) & (weight > 0)
    y, eta, weight = y[known], eta[known], weight[known]
    squares, curvature = family.gradient(y, eta) ** 2, family.curvature(y, eta)
    return float(np.average(squares, weights=weight) / max(np.average(curvature, weights=weight), LEAST_CURVATURE))


def standard_errors(
    fit: GLMFit, columns: Array, given: Given, y: Vector, weight: Vector, eta: Vector, dispersion: float
) -> Vector:
    """(covariates,) standard errors of the effects of the last columns: by the Hessian, or between groups."""
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
