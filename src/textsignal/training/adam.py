"""Adam: gradient steps scaled by running means of the gradient and of its square."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from textsignal.kernels import Vector

#: How much of the running means each step keeps, and what keeps the division off zero.
KEEP_GRADIENT, KEEP_SQUARE, SMALLEST = 0.9, 0.999, 1e-10


@dataclass(frozen=True)
class Adam:
    """Running means of the gradient and of its square after `count` steps; arrays of the parameters' shape."""

    gradient: Vector
    square: Vector
    count: int

    @classmethod
    def like(cls, parameters: Vector) -> Adam:
        """Before the first step."""
        return cls(np.zeros_like(parameters), np.zeros_like(parameters), 0)

    def after(self, gradient: Vector) -> Adam:
        """The means with one more gradient in them."""
        return Adam(
            KEEP_GRADIENT * self.gradient + (1 - KEEP_GRADIENT) * gradient,
            KEEP_SQUARE * self.square + (1 - KEEP_SQUARE) * gradient**2,
            self.count + 1,
        )

    @property
    def direction(self) -> Vector:
        """What to subtract from the parameters, for a learning rate of 1."""
        mean = self.gradient / (1 - KEEP_GRADIENT**self.count)
        scale = np.sqrt(self.square / (1 - KEEP_SQUARE**self.count))
        direction: Vector = mean / (scale + SMALLEST)
        return direction
