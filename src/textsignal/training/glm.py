"""Coefficients given the weights: a penalised GLM, reached only through sums over blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import minimize_scalar

from textsignal.engines import Engine
from textsignal.families import Family
from textsignal.kernels import Array, Kernels
from textsignal.training.corpus import Block, Corpus, Number, Parameters, ResponseSums, Vector, place

#: A step is halved this often before it is given up.
MOST_HALVINGS = 40
#: Where a saturated response leaves less curvature than this, a Newton step could be longer than a float can square.
LEAST_CURVATURE = 1e-100


@dataclass(frozen=True)
class ResponseModel:
    """The response's side of the objective: sum of weight * loss(y, intercept + w beta) + penalty |beta|^2.

    The intercept is never penalised; without `fit_intercept` it stays where it is.
    """

    family: Family
    engine: Engine
    kernels: Kernels
    penalty: float
    fit_intercept: bool

    def sums(self, block: Block, parameters: Parameters) -> ResponseSums:
        """Loss, gradient and Hessian over one block."""
        eta = parameters.linear_predictor(block.W)
        weight = block.response_weight
        gradient, hessian = self.kernels.response_sums(
            block.W,
            weight * (self.family.gradient(block.y, eta) - block.tilt),
            weight * self.family.curvature(block.y, eta),
        )
        return ResponseSums(self._loss(block, eta), gradient, hessian)

    def sweep(self, blocks: Sequence[Block], parameters: Parameters) -> ResponseSums:
        """Loss, gradient and Hessian over all blocks."""
        return self.engine.sweep(lambda block: self.sums(block, parameters), blocks)

    def loss(self, blocks: Sequence[Block], parameters: Parameters) -> float:
        """Loss over all blocks, without the penalty."""

        def block_loss(block: Block) -> Number:
            return Number(self._loss(block, parameters.linear_predictor(block.W)))

        return self.engine.sweep(block_loss, blocks).value

    def _loss(self, block: Block, eta: Vector) -> float:
        return float(np.sum(block.response_weight * (self.family.loss(block.y, eta) - block.tilt * eta)))

    def penalty_value(self, parameters: Parameters) -> float:
        """Penalty |beta|^2."""
        return self.penalty * float(np.sum(parameters.beta**2))

    def slope(self, sums: ResponseSums, parameters: Parameters) -> Vector:
        """Gradient of loss and penalty in the coefficients that may move (0 for the others)."""
        gradient = sums.gradient + np.append(2 * self.penalty * parameters.beta, 0.0)
        gradient[-1] *= self.fit_intercept
        return gradient


class CoefficientStep(Protocol):
    """How coefficients move once an iteration, given the sums at the current weights."""

    def move(
        self, model: ResponseModel, blocks: Sequence[Block], parameters: Parameters, sums: ResponseSums
    ) -> Parameters:
        """The parameters with moved coefficients."""

    def settle(self, model: ResponseModel, blocks: Sequence[Block], parameters: Parameters) -> Parameters:
        """The parameters to start with, and to end with once the weights have stopped moving."""


@dataclass(frozen=True)
class NoStep:
    """Coefficients stay as they are: for training that does not look at the response."""

    def move(
        self, model: ResponseModel, blocks: Sequence[Block], parameters: Parameters, sums: ResponseSums
    ) -> Parameters:
        """The same coefficients."""
        return parameters

    def settle(self, model: ResponseModel, blocks: Sequence[Block], parameters: Parameters) -> Parameters:
        """The same coefficients."""
        return parameters


@dataclass(frozen=True)
class NewtonStep:
    """A Newton step, halved until loss and penalty do not rise."""

    def move(
        self, model: ResponseModel, blocks: Sequence[Block], parameters: Parameters, sums: ResponseSums
    ) -> Parameters:
        """The parameters with moved coefficients; unchanged where no shorter step helps."""
        return descend(model, blocks, parameters, sums, self._direction(model, parameters, sums))

    def settle(self, model: ResponseModel, blocks: Sequence[Block], parameters: Parameters) -> Parameters:
        """The GLM given the weights."""
        return fit_coefficients(model, blocks, parameters)

    def _direction(self, model: ResponseModel, parameters: Parameters, sums: ResponseSums) -> Vector:
        """Solve (Hessian + 2 penalty) direction = - gradient; directions without data or curvature do not move."""
        hessian = sums.hessian.copy()
        n_topics = parameters.beta.size
        hessian[np.arange(n_topics), np.arange(n_topics)] += 2 * model.penalty
        moving = np.diag(sums.hessian) > LEAST_CURVATURE
        moving[-1] &= model.fit_intercept
        direction = np.zeros(n_topics + 1)
        inside = hessian[np.ix_(moving, moving)]
        # Scaled to a unit diagonal: topics differ in size by orders of magnitude. The pseudo-inverse takes
        # collinear topics (at penalty 0) in its stride.
        scale = 1 / np.sqrt(np.diag(inside))
        slope = model.slope(sums, parameters)[moving] * scale
        unit = inside * scale[:, None] * scale
        direction[moving] = -scale * (np.linalg.pinv(unit, rcond=1e-13, hermitian=True) @ slope)
        return direction


@dataclass(frozen=True)
class GradientStep:
    """The paper's step: beta <- beta - rate * alpha * (gradient + 2 penalty beta).

    rate : the paper's eta, which it leaves open; None takes 1 / (alpha * largest eigenvalue of the Hessian), halved
        until loss and penalty do not rise, which is safe on every scale of text.
    """

    alpha: float
    rate: float | None

    def move(
        self, model: ResponseModel, blocks: Sequence[Block], parameters: Parameters, sums: ResponseSums
    ) -> Parameters:
        """The parameters with moved coefficients."""
        slope = model.slope(sums, parameters)
        if self.rate is not None:
            return parameters.with_coefficients(parameters.coefficients - self.rate * self.alpha * slope)
        if self.alpha == 0:
            return parameters
        moving = slice(None) if model.fit_intercept else slice(-1)
        curvature = float(np.linalg.eigvalsh(sums.hessian[moving, moving])[-1]) + 2 * model.penalty
        return descend(model, blocks, parameters, sums, -slope / curvature)

    def settle(self, model: ResponseModel, blocks: Sequence[Block], parameters: Parameters) -> Parameters:
        """Leave them where they are, as the paper does."""
        return parameters


def descend(
    model: ResponseModel, blocks: Sequence[Block], parameters: Parameters, sums: ResponseSums, direction: Vector
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
    blocks: Sequence[Block],
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


def coefficients_for(model: ResponseModel, corpus: Corpus, weights: Array, tilt: Vector | None = None) -> Vector:
    """(topics + 1,) effects and intercept of the GLM on given weights (documents, topics)."""
    blocks = place(corpus, weights, model.engine, model.kernels, tilt)
    first = Parameters(blocks[0].W[:0], beta=np.zeros(blocks[0].W.shape[1]), intercept=0.0)
    fitted = fit_coefficients(model, blocks, first)
    return np.append(fitted.beta[: weights.shape[1]], fitted.intercept)


def best_constant(family: Family, y: Vector, weight: Vector) -> float:
    """The constant linear predictor with the smallest loss."""
    return float(minimize_scalar(lambda eta: float(np.sum(weight * family.loss(y, np.full(y.size, eta))))).x)


def null_deviance(family: Family, y: Vector, weight: Vector) -> float:
    """Twice the loss of the best constant linear predictor above the smallest possible loss."""
    seen = ~np.isnan(y)
    y, weight = y[seen], weight[seen]
    null = family.loss(y, np.full(y.size, best_constant(family, y, weight)))
    return 2 * float(np.sum(weight * (null - family.best_loss(y))))
