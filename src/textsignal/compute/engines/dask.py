"""Blocks in the memory of Dask's workers, on one machine or many: steps are sent there, and only sums are returned.

Values that `keep` makes stay with their worker, as Dask futures, and are recomputed, from the file on, if it dies.
Workers need textsignal and the files under the same names; they share no folder. Sums are added in the order of the
local engine: the same bits, on processors of one kind.
"""

# ruff: noqa: D102 -- methods of `LocalEngine`

from __future__ import annotations

import ctypes
import functools
import gc
import operator
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from textsignal.compute.engines.local import GROUPS, Item, LocalEngine, Result, Sum, add_up, in_groups
from textsignal.errors import InputError

if TYPE_CHECKING:
    from distributed import Client, Future

#: Blocks that a stream works on at once, for every thread of the workers.
AT_ONCE = 2
#: Dask warns of larger tasks: those of tone hold the effects of all features.
LARGE_TASKS = {"distributed.admin.large-graph-warning-threshold": "4GB"}
#: The values that glibc settles on by itself: arrays of up to 32 MB reuse freed memory (M_MMAP_THRESHOLD), of which up
#: to 64 MB are kept (M_TRIM_THRESHOLD).
MALLOC_OPTIONS = {-3: 2**25, -1: 2**26}


class DaskEngine(LocalEngine):
    """Steps on the workers of a Dask cluster; `TextResponseModel.fit(..., engine=DaskEngine(client))`.

    On a worker it is a local engine: a step that cuts its own documents does so there.

    client : distributed.Client; one with `direct_to_workers=True` is faster, if it reaches all of them.
    n_threads : of one step, for workers that take one step at a time and have more cores.
    """

    is_spread = True

    def __init__(self, client: Client, n_threads: int = 1) -> None:
        super().__init__()
        self.client, self.n_threads = client, n_threads

    def __reduce__(self) -> tuple[type[LocalEngine], tuple[int]]:
        return LocalEngine, (self.n_threads,)

    def map(self, step: Callable[[Item], Result], blocks: Sequence[Item]) -> list[Result]:
        return list(self.client.gather(self.keep(step, blocks)))

    def keep(
        self, step: Callable[[Any], Any], blocks: Iterable[Any], turns: Iterable[int] | None = None
    ) -> list[Future]:
        """Futures of `step` of every block, in order; Dask chooses workers if there are fewer turns than threads."""
        sent, blocks, turns = self._sent(step), list(blocks), list(turns or ())
        # The scheduler is asked only if there are turns.
        threads = [worker for worker, n in sorted(self.client.nthreads().items()) for _ in range(n)] if turns else []
        if not threads or len({*turns}) < len(threads):
            return self.client.map(_taken, blocks, step=sent, pure=False)
        # A worker that is late, or dead, loses its turns to others.
        submit = functools.partial(self.client.submit, _taken, step=sent, pure=False, allow_other_workers=True)
        pairs = zip(blocks, turns, strict=True)
        return [submit(block, workers=threads[turn % len(threads)]) for block, turn in pairs]

    def stream(self, step: Callable[[Any], Result], blocks: Iterable[Any]) -> Iterator[Result]:
        sent, most = self._sent(step), AT_ONCE * max(1, sum(self.client.nthreads().values()))
        waiting: deque[Future] = deque()
        for block in blocks:
            waiting.append(self.client.submit(_taken, block, step=sent, pure=False))
            if len(waiting) > most:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def sweep(self, step: Callable[[Item], Sum], blocks: Sequence[Item], groups: int = GROUPS) -> Sum:
        """The sum of `step` over all blocks, in the local engine's order; workers add."""
        add = functools.partial(self.client.submit, operator.add, pure=False)
        # In turns: a block that was once taken from a late worker has copies, and Dask by itself would not see that one
        # worker then has more to do than the others.
        values = in_groups(self.keep(step, blocks, range(len(blocks))), groups)
        total = self.client.submit(add_up, [functools.reduce(add, group) for group in values], pure=False)
        del values  # Dask releases each value once it is added
        return total.result()

    def _sent(self, step: Callable[..., Any]) -> Future:
        """Submit a step as a task: unlike scattered data, it can be recomputed."""
        import dask

        with dask.config.set(LARGE_TASKS):
            return self.client.submit(_same, step, pure=False)


def _same(step: Callable[..., Any]) -> Callable[..., Any]:
    return step


def _taken(block: Any, step: Callable[[Any], Any]) -> Any:
    _use_memory_again()
    return step(block)


@functools.cache
def _use_memory_again() -> None:
    """Let a worker keep freed memory: Dask has it return all (MALLOC_TRIM_THRESHOLD_), for a tenth of a fit's time."""
    if sys.platform != "linux":
        return
    library = ctypes.CDLL(None)
    for option, size in MALLOC_OPTIONS.items() if hasattr(library, "mallopt") else ():
        library.mallopt(option, size)


@contextmanager
def connect(address: str, n_threads: int = 1) -> Iterator[DaskEngine]:
    """Return the engine of a running cluster for a `with` block; address : of its scheduler, "tcp://host:8786"."""
    if find_spec("distributed") is None:
        raise InputError("the Dask engine needs Dask; install textsignal[dask]")
    from distributed import Client

    try:
        client = Client(address)
    except (OSError, ValueError):
        client = None
    if client is None:
        # A half-made client closes itself when it is collected, which hangs while another one starts.
        gc.collect()
        raise InputError(
            f"no Dask scheduler answers at {address!r}; give the address that dask-scheduler prints when it starts"
        )
    with client:
        yield DaskEngine(client, n_threads)
