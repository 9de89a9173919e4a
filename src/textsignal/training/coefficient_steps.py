"""Update rules of the coefficients, applied once per training iteration along with weights and topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from textsignal.arrays import Vector
from textsignal.training.corpus import Parameters, Responses, ResponseSums
from textsignal.training.glm import MOST_HALVINGS, ResponseModel, fit_coefficients, newton_direction


class CoefficientStep(Protocol):
    """Update of the coefficients, once per iteration, given the sums at the current weights.

    reads_response : True if the update needs these sums.
    """

    reads_response: ClassVar[bool]

    def move(
        self, model: ResponseModel, blocks: Sequence[Responses], parameters: Parameters, sums: ResponseSums
    ) -> Parameters:
        """Return the parameters with updated coefficients."""

    def settle(self, model: ResponseModel, blocks: Sequence[Responses], parameters: Parameters) -> Parameters:
        """Return the parameters for the start, and for the end after the weights have converged."""


@dataclass(frozen=True)
class NoStep:
    """Fixed coefficients, for training that ignores the response."""

    reads_response: ClassVar[bool] = False

    def move(
        self, model: ResponseModel, blocks: Sequence[Responses], parameters: Parameters, sums: ResponseSums
    ) -> Parameters:
        """Return the parameters unchanged."""
        return parameters

    def settle(self, model: ResponseModel, blocks: Sequence[Responses], parameters: Parameters) -> Parameters:
        """Return the parameters unchanged."""
        return parameters


@dataclass(frozen=True)
class NewtonStep:
    """A Newton step, halved until loss and penalty do not rise."""

    reads_response: ClassVar[bool] = True

    def move(
        self, model: ResponseModel, blocks: Sequence[Responses], parameters: Parameters, sums: ResponseSums
    ) -> Parameters:
        """Return the parameters with updated coefficients, unchanged if no step length lowers the loss."""
        return descend(model, blocks, parameters, sums, self._direction(model, parameters, sums))

    def settle(self, model: ResponseModel, blocks: Sequence[Responses], parameters: Parameters) -> Parameters:
        """Fit the GLM given the weights."""
        return fit_coefficients(model, blocks, parameters)

    def _direction(self, model: ResponseModel, parameters: Parameters, sums: ResponseSums) -> Vector:
        """Solve (Hessian + 2 penalty) direction = - gradient; directions without data or curvature do not move."""
        slope = model.slope(sums, parameters)
        return newton_direction(slope.ravel(), model.information(sums), model.moving(sums)).reshape(slope.shape)


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
        """Return the parameters with updated coefficients."""
        slope = model.slope(sums, parameters)
        if self.rate is not None:
            return parameters.with_coefficients(parameters.coefficients - self.rate * self.alpha * slope)
        if self.alpha == 0:
            return parameters
        moving = slice(None) if model.fit_intercept else slice(-1)
        curvature = float(np.linalg.eigvalsh(sums.hessian[moving, moving])[-1]) + 2 * float(np.max(model.penalty))
        return descend(model, blocks, parameters, sums, -slope / curvature)

    def settle(self, model: ResponseModel, blocks: Sequence[Responses], parameters: Parameters) -> Parameters:
        """Return the parameters unchanged, as in the paper."""
        return parameters


def descend(
    model: ResponseModel, blocks: Sequence[Responses], parameters: Parameters, sums: ResponseSums, direction: Vector
) -> Parameters:
    """Step along `direction`, halving until loss and penalty do not rise; unchanged if no step is short enough."""
    before = sums.loss + model.penalty_value(parameters)
    length = 1.0
    for _ in range(MOST_HALVINGS):
        moved = parameters.with_coefficients(parameters.coefficients + length * direction)
        if model.loss(blocks, moved) + model.penalty_value(moved) <= before:
            return moved
        length /= 2
    return parameters
