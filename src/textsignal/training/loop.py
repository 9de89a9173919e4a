"""The training loop: start, iterate until convergence, and return the reason for stopping."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from textsignal.arrays import Vector
from textsignal.errors import TrainingError
from textsignal.stored_values import rule

#: Relative rounding error of an objective, from the order of summation.
ROUNDING = 1e-14


@dataclass(frozen=True)
class Losses:
    """One point of the trace: objective = text + supervision * (response + penalty)."""

    text: float
    response: float
    penalty: float
    supervision: float

    @property
    def objective(self) -> float:
        """The objective that training minimises."""
        return _objective(self.text, self.response, self.penalty, self.supervision)


@dataclass(frozen=True)
class Trace:
    """Losses at the start of training and after every iteration: objective = text + supervision (response + penalty).

    text, response, penalty : (iterations + 1,), NaN at the start if the method has no losses there.
    supervision : constant over iterations.
    """

    text: Vector = field(metadata=rule(shape=("iterations",), infinite=True))
    response: Vector = field(metadata=rule(shape=("iterations",), infinite=True))
    penalty: Vector = field(metadata=rule(shape=("iterations",), infinite=True))
    supervision: float = field(metadata=rule(least=0))

    @classmethod
    def of(cls, losses: Sequence[Losses]) -> Self:
        """Collect losses into a trace."""
        parts = np.array([(each.text, each.response, each.penalty) for each in losses], dtype=float)
        text, response, penalty = parts.T.copy()
        return cls(text, response, penalty, losses[-1].supervision)

    @property
    def objective(self) -> Vector:
        """(iterations + 1,) the objective that training minimises."""
        return _objective(self.text, self.response, self.penalty, self.supervision)


def _objective(text: Any, response: Any, penalty: Any, supervision: float) -> Any:
    # 0 * inf is nan: an unsupervised fit must not depend on the response at all.
    return text + (supervision * (response + penalty) if supervision else 0.0)


@dataclass(frozen=True)
class Solution:
    """Result of training: the final state, the trace and the reason for stopping.

    trace : losses at the start and after every iteration.
    reason : "converged", "max_iter" or "callback".
    """

    state: Any
    trace: tuple[Losses, ...]
    reason: str

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.trace) - 1


#: Called after every iteration with its number and losses; returning True stops training.
Watch = Callable[[int, Losses], bool]


def run(method: Any, *, max_iter: int, tol: float, watch: Watch) -> Solution:
    """Iterate until the objective changes by less than `tol`, relative to max(1, its size): the paper's rule.

    method : with `init()`, which returns a state, and `step(state)`, which returns the next; states have `losses`.
    """
    state = method.init()
    trace = [state.losses]
    for iteration in range(1, max_iter + 1):
        with np.errstate(over="ignore", invalid="ignore"):  # overflow from too long steps raises below
            state = method.step(state)
        trace.append(state.losses)
        before, after = trace[-2].objective, trace[-1].objective
        if not np.isfinite(after):
            raise TrainingError(
                f"the objective became {after} at iteration {iteration}; with a fixed gamma or learning rate "
                'steps can be too long: use gamma="adaptive" and coefficient_step="newton"'
            )
        if watch(iteration, state.losses):
            return Solution(state, tuple(trace), "callback")
        if tol > 0 and iteration > 1 and 0 < after - before < ROUNDING * abs(before):
            # Only rounding changed: the previous iteration had converged.
            return Solution(state, tuple(trace[:-1]), "converged")
        if abs(after - before) / max(1.0, abs(before)) < tol:
            return Solution(state, tuple(trace), "converged")
    return Solution(state, tuple(trace), "max_iter")
