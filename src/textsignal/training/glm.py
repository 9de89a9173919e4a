"""Coefficients given the weights: a penalised GLM, reached only through sums over blocks.

A family of P linear predictors a document has coefficients (columns + 1, P). Gradients have their shape, and Hessians
the order of the flattened ones: the last P are those of the intercepts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from textsignal.arrays import Array, Vector
from textsignal.engines import Compute
from textsignal.families import Family, linear_predictor
from textsignal.kernels import pad
from textsignal.training.corpus import Number, Parameters, Responses, ResponseSums

#: A step is halved this often before it is given up.
MOST_HALVINGS = 40
#: Moves that hardly shrink say little about where they lead.
MOST_PART = 0.95
#: Turns between coefficients and the family's own parameters, at most; and how little may move in the last.
MOST_TURNS, SETTLED = 200, 1e-9
#: Where a saturated response leaves less curvature than this, a Newton step could be longer than a float can square.
LEAST_CURVATURE = 1e-100


@dataclass(frozen=True)
class ResponseModel:
    """The response's side of the objective: sum of weight * loss(y, offset + intercept + w beta) + penalty |beta|^2.

    penalty : one number, or one for each (padded) column. The intercept is never penalised; without `fit_intercept`
        it stays where it is.
    """

    family: Family
    compute: Compute
    penalty: float | Vector
    fit_intercept: bool

    def sums(self, block: Responses, parameters: Parameters) -> ResponseSums:
        """Loss, gradient and Hessian over one block."""
        eta = block.linear_predictor(parameters)
        weight = block.response_weight
        slope = weight * (self.family.gradient(block.y, eta) - block.tilt).T
        curvature = weight * self.family.curvature(block.y, eta).T
        sums = self.compute.kernels.response_sums if eta.ndim == 1 else self._sums_of_many
        gradient, hessian = sums(block.W, slope, curvature)
        return ResponseSums(self._loss(block, eta), gradient, hessian)

    def _sums_of_many(self, W: Array, slope: Vector, curvature: Vector) -> tuple[Vector, Vector]:
        """The same for P linear predictors: slope (P, documents), curvature (P, P, documents)."""
        one = self.compute.kernels.response_sums
        parts = [[one(W, slope[p], curvature[p, q]) for q in range(len(slope))] for p in range(len(slope))]
        gradient = np.stack([row[0][0] for row in parts], axis=1)
        hessian = np.stack([np.stack([part[1] for part in row], axis=-1) for row in parts], axis=1)
        return gradient, hessian.reshape(gradient.size, gradient.size)

    def sweep(self, blocks: Sequence[Responses], parameters: Parameters) -> ResponseSums:
        """Loss, gradient and Hessian over all blocks."""
        return self.compute.engine.sweep(lambda block: self.sums(block, parameters), blocks)

    def loss(self, blocks: Sequence[Responses], parameters: Parameters) -> float:
        """Loss over all blocks, without the penalty."""

        def block_loss(block: Responses) -> Number:
            return Number(self._loss(block, block.linear_predictor(parameters)))

        return self.compute.engine.sweep(block_loss, blocks).value

    def _loss(self, block: Responses, eta: Vector) -> float:
        tilted = block.tilt * eta
        tilted = tilted if eta.ndim == 1 else tilted.sum(axis=1)
        return float(np.sum(block.response_weight * (self.family.loss(block.y, eta) - tilted)))

    def penalty_value(self, parameters: Parameters) -> float:
        """Penalty |beta|^2."""
        return float(np.sum(self.penalty * parameters.beta.T**2))

    def slope(self, sums: ResponseSums, parameters: Parameters) -> Vector:
        """Gradient of loss and penalty in the coefficients that may move (0 for the others)."""
        gradient = sums.gradient.copy()
        gradient[:-1] += (2 * self.penalty * parameters.beta.T).T
        gradient[-1] *= self.fit_intercept
        return gradient

    def information(self, sums: ResponseSums) -> Vector:
        """Hessian of loss and penalty in the coefficients that may move (0 for the others)."""
        hessian, n_predictors = sums.hessian.copy(), self.family.n_predictors
        columns = np.arange(len(hessian) - n_predictors)
        penalty = np.broadcast_to(2 * self.penalty, columns.size // n_predictors)
        hessian[columns, columns] += np.repeat(penalty, n_predictors)
        hessian[-n_predictors:] *= self.fit_intercept
        hessian[:, -n_predictors:] *= self.fit_intercept
        return hessian

    def information_of(self, sums: ResponseSums, kept: NDArray[np.int64]) -> Vector:
        """The same in some of the (padded) columns and the intercept."""
        n_predictors = self.family.n_predictors
        flat = (kept[:, None] * n_predictors + np.arange(n_predictors)).ravel()
        return self.information(sums)[np.ix_(flat, flat)]


class CoefficientStep(Protocol):
    """How coefficients move once per iteration, given the sums at the current weights.

    reads_response : whether it needs these sums.
    """

    reads_response: ClassVar[bool]

    def move(
        self, model: ResponseModel, blocks: Sequence[Responses], parameters: Parameters, sums: ResponseSums
    ) -> Parameters:
        """The parameters with moved coefficients."""

    def settle(self, model: ResponseModel, blocks: Sequence[Responses], parameters: Parameters) -> Parameters:
        """The parameters to start with, and to end with once the weights have stopped moving."""


@dataclass(frozen=True)
class NoStep:
    """Coefficients stay as they are: for training that does not look at the response."""

    reads_response: ClassVar[bool] = False

    def move(
        self, model: ResponseModel, blocks: Sequence[Responses], parameters: Parameters, sums: ResponseSums
    ) -> Parameters:
        """The same coefficients."""
        return parameters

    def settle(self, model: ResponseModel, blocks: Sequence[Responses], parameters: Parameters) -> Parameters:
        """The same coefficients."""
        return parameters


@dataclass(frozen=True)
class NewtonStep:
    """A Newton step, halved until loss and penalty do not rise."""

    reads_response: ClassVar[bool] = True

    def move(
        self, model: ResponseModel, blocks: Sequence[Responses], parameters: Parameters, sums: ResponseSums
    ) -> Parameters:
        """The parameters with moved coefficients; unchanged where no shorter step helps."""
        return descend(model, blocks, parameters, sums, self._direction(model, parameters, sums))

    def settle(self, model: ResponseModel, blocks: Sequence[Responses], parameters: Parameters) -> Parameters:
        """The GLM given the weights."""
        return fit_coefficients(model, blocks, parameters)

    def _direction(self, model: ResponseModel, parameters: Parameters, sums: ResponseSums) -> Vector:
        """Solve (Hessian + 2 penalty) direction = - gradient; directions without data or curvature do not move."""
        hessian = model.information(sums)
        moving = np.diag(sums.hessian) > LEAST_CURVATURE
        moving[-model.family.n_predictors :] &= model.fit_intercept
        direction = np.zeros(len(hessian))
        inside = hessian[np.ix_(moving, moving)]
        # Scaled to a unit diagonal: topics differ in size by orders of magnitude. The pseudo-inverse takes
        # collinear topics (at penalty 0) in its stride.
        scale = 1 / np.sqrt(np.diag(inside))
        slope = model.slope(sums, parameters).ravel()[moving] * scale
        unit = inside * scale[:, None] * scale
        direction[moving] = -scale * (np.linalg.pinv(unit, rcond=1e-13, hermitian=True) @ slope)
        return direction.reshape(sums.gradient.shape)


@dataclass(frozen=True)
class GradientStep:
    """The paper's step: beta <- beta - rate * alpha * (gradient + 2 penalty beta).

    rate : the paper's eta, which it leaves open; None takes 1 / (alpha * largest eigenvalue of the Hessian), halved
        until loss and penalty do not rise, which is safe on every scale of text.
    """

    reads_response: ClassVar[bool] = True
    alpha: float
    rate: float | None

    def move(
        self, model: ResponseModel, blocks: Sequence[Responses], parameters: Parameters, sums: ResponseSums
    ) -> Parameters:
        """The parameters with moved coefficients."""
        slope = model.slope(sums, parameters)
        if self.rate is not None:
            return parameters.with_coefficients(parameters.coefficients - self.rate * self.alpha * slope)
        if self.alpha == 0:
            return parameters
        moving = slice(None) if model.fit_intercept else slice(-1)
        curvature = float(np.linalg.eigvalsh(sums.hessian[moving, moving])[-1]) + 2 * float(np.max(model.penalty))
        return descend(model, blocks, parameters, sums, -slope / curvature)

    def settle(self, model: ResponseModel, blocks: Sequence[Responses], parameters: Parameters) -> Parameters:
        """Leave them where they are, as the paper does."""
        return parameters


def descend(
    model: ResponseModel, blocks: Sequence[Responses], parameters: Parameters, sums: ResponseSums, direction: Vector
) -> Parameters:
    """Go along `direction`, halving the step until loss and penalty do not rise; stay where none is short enough."""
    before = sums.loss + model.penalty_value(parameters)
    length = 1.0
    for _ in range(MOST_HALVINGS):
        moved = parameters.with_coefficients(parameters.coefficients + length * direction)
        if model.loss(blocks, moved) + model.penalty_value(moved) <= before:
            return moved
        length /= 2
    return parameters


def fit_coefficients(
    model: ResponseModel,
    blocks: Sequence[Responses],
    parameters: Parameters,
    *,
    tol: float = 1e-10,
    max_iter: int = 100,
) -> Parameters:
    """Newton steps until the gradient vanishes (relative to the Hessian's scale): the GLM given the weights."""
    newton = NewtonStep()
    for _ in range(max_iter):
        sums = model.sweep(blocks, parameters)
        moved = newton.move(model, blocks, parameters, sums)
        change = np.abs(moved.coefficients - parameters.coefficients).max()
        parameters = moved
        if change <= tol * (1 + np.abs(parameters.coefficients).max()):
            break
    return parameters


def fit_family(
    model: ResponseModel, blocks: Sequence[Responses], parameters: Parameters, max_turns: int = MOST_TURNS
) -> tuple[ResponseModel, Parameters]:
    """Coefficients and the family's own parameters in turn, until both settle: the model with the fitted family."""
    fitted = fit_coefficients(model, blocks, parameters)
    y, weight = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("y", "response_weight"))
    known = weight > 0
    move = np.zeros_like(fitted.coefficients)
    ahead = fitted
    for turn in range(max_turns):
        eta = np.concatenate([block.linear_predictor(ahead) for block in blocks])
        family = model.family.refit(y[known], eta[known], weight[known])
        if family == model.family:
            break
        model, before, last_move = replace(model, family=family), ahead.coefficients, move
        fitted = fit_coefficients(model, blocks, ahead)
        move = fitted.coefficients - before
        if np.abs(move).max() <= SETTLED * (1 + np.abs(before).max()):
            break
        ahead = fitted.with_coefficients(fitted.coefficients + _rest_of(move, last_move, turn) * move)
    return model, fitted


def _rest_of(move: Vector, last_move: Vector, turn: int) -> float:
    """How far a sequence will still go, in units of its last move, if moves shrink as the last two did (Aitken).

    Asked every other turn, so that both moves were made without it.
    """
    size = float(np.sum(last_move**2))
    part = float(np.sum(move * last_move)) / size if turn % 2 and size else 0.0
    return part / (1 - part) if 0 < part < MOST_PART else 0.0


@dataclass(frozen=True)
class GLMFit:
    """A GLM fitted to given columns.

    family : with the own parameters that were estimated.
    coefficients : (columns + 1,) effects, then the intercept; (columns + 1, P) for P linear predictors.
    hessian : (columns + 1, columns + 1) second derivatives of loss and penalty there: the penalised information, given
        the family's own parameters. 0 in the row and column of an intercept that was not fitted.
    loss : sum of weight * loss there, tilted if a tilt was given, without the penalty.
    """

    family: Family
    coefficients: Vector
    hessian: Vector
    loss: float

    @property
    def effects(self) -> Vector:
        """(columns,) coefficients but the intercept; (columns, P) for P linear predictors."""
        return self.coefficients[:-1]

    @property
    def intercept(self) -> Any:
        """Constant of the linear predictor; (P,) of each of P linear predictors."""
        return float(self.coefficients[-1]) if self.coefficients.ndim == 1 else self.coefficients[-1]

    def linear_predictor(self, columns: Array) -> Vector:
        """(documents,) what the GLM says of documents with these columns (documents, columns)."""
        return linear_predictor(columns, self.effects, self.coefficients[-1])


def fit_glm(
    model: ResponseModel,
    columns: Array,
    y: Vector,
    weight: Vector,
    *,
    tilt: Vector | None = None,
    offset: Vector | None = None,
    max_turns: int = MOST_TURNS,
) -> GLMFit:
    """Explain responses by given columns: topics' weights, or anything else, such as covariates.

    model : the family, with one penalty for all columns or one for each: 0 for covariates. Own parameters of the
        family are estimated too.
    columns : (documents, columns).
    y : (documents,) encoded responses, NaN where there is none; weight : (documents,) how often each counts.
    tilt : (documents,) slopes that are taken off the loss; offset : (documents,) what is added to the linear
        predictor, such as the logarithm of an exposure.
    max_turns : between coefficients and own parameters.
    """
    blocks = _place_responses(model.compute, columns, y, weight, tilt, offset)
    width, n_predictors = blocks[0].W.shape[1], model.family.n_predictors
    penalty = np.zeros(width)
    penalty[: columns.shape[1]] = model.penalty
    first = Parameters.without_effects(blocks[0].W[:0], n_predictors)
    model, fitted = fit_family(replace(model, penalty=penalty), blocks, first, max_turns)
    sums = model.sweep(blocks, fitted)
    kept = np.append(np.arange(columns.shape[1]), width)
    return GLMFit(model.family, fitted.coefficients[kept], model.information_of(sums, kept), sums.loss)


def _place_responses(
    compute: Compute, columns: Array, y: Vector, weight: Vector, tilt: Vector | None, offset: Vector | None
) -> list[Responses]:
    observed = ~np.isnan(y)
    parts = [slice(*edges) for edges in compute.engine.cut(len(y), columns.size, columns.shape[1])]
    return [
        Responses(
            W=pad(columns[part], compute.kernels, columns.dtype),
            y=np.where(observed[part], y[part], 0.0),
            response_weight=weight[part] * observed[part],
            tilt=0.0 if tilt is None else tilt[part],
            offset=0.0 if offset is None else offset[part],
        )
        for part in parts
    ]
