"""How coefficients move once per iteration of training, in which weights and topics move too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from textsignal.arrays import Vector
from textsignal.training.corpus import Parameters, Responses, ResponseSums
from textsignal.training.glm import MOST_HALVINGS, ResponseModel, fit_coefficients, newton_direction


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
