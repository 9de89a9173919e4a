"""The loop: when it stops, why, and what it does with an objective that is not a number."""

from dataclasses import dataclass

import pytest

from textsignal.errors import TrainingError
from textsignal.training.fitted import Losses, run


@dataclass(frozen=True)
class Descent:
    """A method whose objectives are given."""

    objectives: tuple[float, ...]

    def init(self):
        return Point(0, self.objectives)

    def step(self, state):
        return Point(state.number + 1, self.objectives)


@dataclass(frozen=True)
class Point:
    number: int
    objectives: tuple[float, ...]

    @property
    def losses(self) -> Losses:
        return Losses(self.objectives[self.number], 0.0, 0.0, 1.0)


def never(iteration: int, losses: Losses) -> bool:
    return False


def test_stops_once_the_relative_change_falls_below_the_tolerance():
    solution = run(Descent((100.0, 50.0, 49.0, 48.9, 0.0)), max_iter=4, tol=0.01, watch=never)
    assert (solution.reason, len(solution.trace) - 1, solution.state.number) == ("converged", 3, 3)
    assert [losses.objective for losses in solution.trace] == [100.0, 50.0, 49.0, 48.9]


def test_change_is_measured_against_one_where_the_objective_is_smaller():
    solution = run(Descent((1e-3, 5e-4, 0.0)), max_iter=2, tol=1e-3, watch=never)
    assert (solution.reason, len(solution.trace) - 1) == ("converged", 1)


def test_zero_tolerance_runs_to_the_last_iteration():
    solution = run(Descent((5.0,) * 4), max_iter=3, tol=0.0, watch=never)
    assert (solution.reason, len(solution.trace) - 1) == ("max_iter", 3)


def test_a_watch_sees_every_iteration_and_can_stop():
    seen = []

    def watch(iteration: int, losses: Losses) -> bool:
        seen.append((iteration, losses.objective))
        return iteration == 2

    solution = run(Descent((9.0, 8.0, 7.0, 6.0)), max_iter=3, tol=0.0, watch=watch)
    assert (solution.reason, len(solution.trace) - 1) == ("callback", 2)
    assert seen == [(1, 8.0), (2, 7.0)]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_an_objective_that_is_no_number_is_an_error_that_names_the_iteration(bad):
    with pytest.raises(TrainingError, match="at iteration 2"):
        run(Descent((9.0, 8.0, bad)), max_iter=2, tol=0.0, watch=never)


def test_objective_adds_text_and_supervised_response_and_penalty():
    assert Losses(text=3.0, response=5.0, penalty=7.0, supervision=0.5).objective == 9.0


def test_an_unsupervised_objective_ignores_the_response_altogether():
    assert Losses(text=3.0, response=float("inf"), penalty=7.0, supervision=0.0).objective == 3.0
