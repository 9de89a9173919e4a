"""Blocks in this process' memory, worked on by threads."""

from __future__ import annotations

import functools
import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from joblib import effective_n_jobs

from textsignal.compute.gpu import kernels as gpu
from textsignal.compute.gpu import missing
from textsignal.compute.kernels import Kernels, compiled
from textsignal.errors import InputError

#: Texts in a block: enough to pay for the calls around the kernels. With blocks for several cores they grow up to the
#: second number: between calls of kernels only one thread can work.
BLOCK_DOCUMENTS, LARGE_BLOCK = 4096, 2**14
#: Blocks for several cores, and the number above which more blocks bring no more parallel work.
SEVERAL, MOST_BLOCKS = 8, 256
#: Groups of blocks whose sums are held at once, and blocks that a stream works on at once.
GROUPS, AT_ONCE = 64, 8
#: Kernels of each device.
DEVICES: dict[str, Kernels] = {"cpu": compiled, "cuda": gpu}


Item = TypeVar("Item")
Result = TypeVar("Result")
Sum = TypeVar("Sum")


class LocalEngine:
    """Threads over blocks, which are cut by the data alone and added in their order: the same bits for any `n_jobs`.

    Blocks are whatever a step takes, including handles from `keep`, and lists or tuples with these in them.
    n_threads : of a step that cuts its own texts.
    """

    #: True if workers with separate memory run steps.
    is_spread: ClassVar[bool] = False

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_threads = effective_n_jobs(n_jobs)
        # One for each thread: a step of `map` may wait for another in `ahead` while the caller waits for both.
        self._pool = ThreadPoolExecutor(self.n_threads) if self.n_threads > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def cut(self, n_documents: int, n_nonzeros: int, n_terms: int) -> list[tuple[int, int]]:
        """Even row ranges; fewer where the sums over terms would outweigh the work on nonzeros."""
        by_documents = min(-(-n_documents // BLOCK_DOCUMENTS), max(SEVERAL, -(-n_documents // LARGE_BLOCK)))
        by_sums = n_nonzeros // (2 * n_terms)
        count = max(1, min(by_documents, by_sums, MOST_BLOCKS))
        edges = np.linspace(0, n_documents, count + 1).astype(int)
        return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))

    def map(self, step: Callable[[Item], Result], blocks: Sequence[Item]) -> list[Result]:
        """`step` of every block, in order.

        The calling thread works too and every thread takes the next free block: waking a thread can
        take as long as a block, and then the others do not wait for it.
        """
        # All that `work` holds is emptied here: the pool may keep cancelled work for long.
        waiting, results = deque((i, functools.partial(step, block)) for i, block in enumerate(blocks)), {}

        def work() -> None:
            while waiting:
                try:
                    i, task = waiting.popleft()
                except IndexError:  # another thread took the last one
                    return
                results[i] = task()

        helpers = min(self.n_threads, len(blocks)) - 1
        # In the caller's context, which holds what NumPy does about overflow.
        others = [self._pool.submit(copy_context().run, work) for _ in range(helpers)] if self._pool else []
        try:
            work()
        finally:
            # What has not begun has nothing left to do, and never begins if a step maps over further blocks.
            begun = [other for other in others if not other.cancel()]
            wait(begun)
        for other in begun:
            other.result()
        return [results.pop(i) for i in range(len(blocks))]

    def keep(self, step: Callable[[Any], Any], blocks: Iterable[Any], turns: Iterable[int] | None = None) -> list[Any]:
        """Handles of `step` of every block, in order: the values stay where they are made.

        turns : (blocks,) workers take blocks in turn, those of one turn together; None if the order does not matter.
        """
        return self.map(step, list(blocks))

    def stream(self, step: Callable[[Any], Result], blocks: Iterable[Any]) -> Iterator[Result]:
        """`step` of every block, in order, a few at once."""
        waiting = iter(blocks)
        while some := list(islice(waiting, AT_ONCE)):
            yield from self.map(step, some)

    def ahead(self, step: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """`step` of every item, in order; another thread works on the next one while the caller uses one."""
        following: Callable[[], Result] | None = None
        for item in items:
            own = self._begun(functools.partial(step, item))
            if following is not None:
                yield following()
            following = own
        if following is not None:
            yield following()

    def _begun(self, task: Callable[[], Result]) -> Callable[[], Result]:
        """Return a function that returns the result of a task, which an idle thread begins."""
        if self._pool is None:
            return task
        future = self._pool.submit(copy_context().run, task)
        # What has not begun is done here: all threads may wait for each other otherwise.
        return lambda: task() if future.cancel() else future.result()

    def sweep(self, step: Callable[[Item], Sum], blocks: Sequence[Item], groups: int = GROUPS) -> Sum:
        """The sum of `step` over all blocks, added in their order within fixed groups, then group by group."""
        parts = in_groups(blocks, groups)
        return add_up(self.map(lambda part: add_up(map(step, part)), parts))


@dataclass(frozen=True)
class Compute:
    """Engine and kernels of a computation: chosen once, by the caller, and passed on."""

    engine: LocalEngine
    kernels: Kernels


def in_groups(blocks: Sequence[Item], groups: int) -> list[Sequence[Item]]:
    """Cut blocks into at most `groups` runs of consecutive blocks, which are added together first."""
    edges = np.linspace(0, len(blocks), min(groups, len(blocks)) + 1).astype(int)
    return [blocks[start:stop] for start, stop in pairwise(edges.tolist())]


def add_up(values: Iterable[Sum]) -> Sum:
    """Sum values in their order."""
    return functools.reduce(operator.add, values)


def kernels_of(device: str) -> Kernels:
    """The kernels of a device; raises if it is not available."""
    if device not in DEVICES:
        raise InputError(f"device={device!r} is not known; give {' or '.join(map(repr, DEVICES))}")
    if device == "cuda" and missing():
        raise InputError(f"device={device!r}: {missing()}")
    return DEVICES[device]


@contextmanager
def local_compute(n_jobs: int | None, device: str = "cpu") -> Iterator[Compute]:
    """Threads of this process and the kernels of a device: what every estimator computes with."""
    kernels = kernels_of(device)
    with LocalEngine(n_jobs) as engine:
        yield Compute(engine, kernels)
