"""Where blocks of texts live, and how a step is taken over all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from textsignal.compute.kernels import Kernels

Item = TypeVar("Item")
Result = TypeVar("Result")
Sum = TypeVar("Sum")


class Engine(Protocol):
    """Cuts texts into blocks and maps steps over them, whose results do not depend on the number of threads.

    Blocks are whatever a step takes, including handles from `keep`, and lists or tuples with these in them.
    n_threads : of a step that cuts its own texts; is_spread : True if workers with separate memory run steps.
    """

    n_threads: int
    is_spread: bool

    def cut(self, n_documents: int, n_nonzeros: int, n_terms: int) -> list[tuple[int, int]]:
        """Row ranges of the blocks."""

    def map(self, step: Callable[[Item], Result], blocks: Sequence[Item]) -> list[Result]:
        """`step` of every block, in order."""

    def keep(self, step: Callable[[Any], Any], blocks: Iterable[Any], turns: Iterable[int] | None = None) -> list[Any]:
        """Handles of `step` of every block, in order: the values stay where they are made.

        turns : (blocks,) workers take blocks in turn, those of one turn together; None if the order does not matter.
        """

    def stream(self, step: Callable[[Any], Result], blocks: Iterable[Any]) -> Iterator[Result]:
        """`step` of every block, in order; only a few blocks are held at once."""

    def sweep(self, step: Callable[[Item], Sum], blocks: Sequence[Item], groups: int = ...) -> Sum:
        """The sum of `step` over all blocks, added in their order; at most `groups` sums are held at once."""


@dataclass(frozen=True)
class Compute:
    """Engine and kernels of a computation: chosen once, by the caller, and passed on."""

    engine: Engine
    kernels: Kernels
