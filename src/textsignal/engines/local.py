"""Blocks in this process' memory, worked on by threads."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Self

import numpy as np
from joblib import effective_n_jobs

from textsignal.engines import Item, Result, Sum

#: Documents in a block: enough to pay for the calls around the kernels, few enough to stay in a core's cache.
BLOCK_DOCUMENTS = 2048
#: More blocks than this bring no more parallel work.
MOST_BLOCKS = 256


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

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_threads = effective_n_jobs(n_jobs)
        self._pool = ThreadPoolExecutor(self.n_threads) if self.n_threads > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def cut(self, n_documents: int, n_nonzeros: int, n_terms: int) -> list[tuple[int, int]]:
        """Even row ranges; fewer where the sums over terms would outweigh the work on nonzeros."""
        by_documents = -(-n_documents // BLOCK_DOCUMENTS)
        by_sums = n_nonzeros // (2 * n_terms)
        count = max(1, min(by_documents, by_sums, MOST_BLOCKS))
        edges = np.linspace(0, n_documents, count + 1).astype(int)
        return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))

    def map(self, step: Callable[[Item], Result], blocks: Sequence[Item]) -> list[Result]:
        """`step` of every block, in order."""
        return list(self._results(step, blocks))

    def sweep(self, step: Callable[[Item], Sum], blocks: Sequence[Item]) -> Sum:
        """The sum of `step` over all blocks, added in their order."""
        return functools.reduce(operator.add, self._results(step, blocks))

    def _results(self, step: Callable[[Item], Result], blocks: Sequence[Item]) -> Iterator[Result]:
        if self._pool is None or len(blocks) == 1:
            return map(step, blocks)
        return self._pool.map(step, blocks)
