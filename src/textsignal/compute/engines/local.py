"""Blocks in this process' memory, worked on by threads."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import copy_context
from itertools import islice, pairwise
from queue import Empty, SimpleQueue
from typing import Any, Generic, Self, cast

import numpy as np
from joblib import effective_n_jobs

from textsignal.compute.engines import Compute, Item, Result, Sum
from textsignal.compute.gpu import kernels as gpu
from textsignal.compute.gpu.code import missing
from textsignal.compute.kernels import Kernels, compiled
from textsignal.errors import InputError

#: Documents in a block: enough to pay for the calls around the kernels. Where there are blocks for several cores they
#: are larger, up to the second number of documents: between calls of kernels only one thread can work.
BLOCK_DOCUMENTS, LARGE_BLOCK = 4096, 2**14
#: Blocks for several cores; more blocks than the second bring no more parallel work.
SEVERAL, MOST_BLOCKS = 8, 256
#: Sums are held for this many groups of blocks at once: enough for any number of cores here, few enough for memory.
GROUPS = 64
#: Blocks that a stream works on at once.
AT_ONCE = 8
#: Where documents are worked on, by the kernels for it.
DEVICES: dict[str, Kernels] = {"cpu": compiled, "cuda": gpu}


class LocalEngine:
    """Threads over blocks; kernels release the interpreter lock.

    Blocks are cut by the data alone and added in their order, so results are the same bits for any `n_jobs`.

    Parameters
    ----------
    n_jobs : threads; -1 for all cores, None for 1 (joblib's convention).

    Examples
    --------
    >>> with LocalEngine(n_jobs=2) as engine:
    ...     engine.sweep(lambda block: sum(block), [(1, 2), (3, 4)])
    10
    """

    is_spread = False

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_threads = effective_n_jobs(n_jobs)
        self._pool = ThreadPoolExecutor(self.n_threads - 1) if self.n_threads > 1 else None

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
        task = _Task(step, blocks)
        helpers = min(self.n_threads, len(blocks)) - 1
        # In the caller's context, which holds what NumPy does about overflow.
        works = [functools.partial(copy_context().run, task.work) for _ in range(helpers)]
        others = [] if self._pool is None else [self._pool.submit(work) for work in works]
        try:
            task.work()
        finally:
            # What has not begun has nothing left to do, and never begins if a step maps over further blocks.
            begun = [other for other in others if not other.cancel()]
            wait(begun)
            results = task.end()
        for other in begun:
            other.result()
        return results

    def keep(self, step: Callable[[Any], Any], blocks: Iterable[Any], turns: Iterable[int] | None = None) -> list[Any]:
        """`step` of every block: all is in this process."""
        return self.map(step, list(blocks))

    def stream(self, step: Callable[[Any], Result], blocks: Iterable[Any]) -> Iterator[Result]:
        """`step` of every block, in order, a few at once."""
        waiting = iter(blocks)
        while some := list(islice(waiting, AT_ONCE)):
            yield from self.map(step, some)

    def sweep(self, step: Callable[[Item], Sum], blocks: Sequence[Item], groups: int = GROUPS) -> Sum:
        """The sum of `step` over all blocks, added in their order within fixed groups, then group by group."""
        parts = in_groups(blocks, groups)
        return add_up(self.map(lambda part: add_up(map(step, part)), parts))


def in_groups(blocks: Sequence[Item], groups: int) -> list[Sequence[Item]]:
    """Cut blocks into at most `groups` runs of consecutive blocks, which are added together first.

    Examples
    --------
    >>> in_groups("abcde", 2)
    ['ab', 'cde']
    """
    edges = np.linspace(0, len(blocks), min(groups, len(blocks)) + 1).astype(int)
    return [blocks[start:stop] for start, stop in pairwise(edges.tolist())]


class _Task(Generic[Item, Result]):
    """A step for every block, which any thread may take."""

    def __init__(self, step: Callable[[Item], Result], blocks: Sequence[Item]) -> None:
        self._step: Callable[[Item], Result] | None = step
        self._blocks: Sequence[Item] = blocks
        self._results: list[Result | None] = [None] * len(blocks)
        self._waiting: SimpleQueue[int] = SimpleQueue()
        for i in range(len(blocks)):
            self._waiting.put(i)

    def work(self) -> None:
        """Take blocks until none is left."""
        with suppress(Empty):
            while self._step is not None:
                i = self._waiting.get_nowait()
                self._results[i] = self._step(self._blocks[i])

    def end(self) -> list[Result]:
        """The results; nothing of them stays here, as a thread that comes too late may hold the task for long."""
        results, self._step, self._blocks, self._results = self._results, None, (), []
        return cast("list[Result]", results)


def add_up(values: Iterable[Sum]) -> Sum:
    """Their sum, in their order."""
    return functools.reduce(operator.add, values)


def kernels_of(device: str) -> Kernels:
    """The kernels of a device; raises where it is not there."""
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
