"""The local engine: blocks cut by the data alone, added in their order, whatever the threads."""

import functools
import itertools
import operator
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textsignal.compute.engines.local import BLOCK_DOCUMENTS, LARGE_BLOCK, MOST_BLOCKS, SEVERAL, LocalEngine

laws = settings(max_examples=100)
sizes = st.tuples(st.integers(1, 10**7), st.integers(0, 10**9), st.integers(1, 10**6))
any_threads = pytest.mark.parametrize("n_jobs", [1, 2, 3])


class TestCut:
    @laws
    @given(sizes)
    def test_covers_every_document_once_and_in_order(self, size):
        with LocalEngine(1) as engine:
            edges = engine.cut(*size)
        assert edges[0][0] == 0
        assert edges[-1][1] == size[0]
        assert all(stop == start for (_, stop), (start, _) in itertools.pairwise(edges))
        assert all(start < stop for start, stop in edges)

    @laws
    @given(sizes)
    def test_does_not_depend_on_threads(self, size):
        with LocalEngine(1) as one, LocalEngine(3) as three:
            assert one.cut(*size) == three.cut(*size)

    @laws
    @given(sizes)
    def test_blocks_are_even_and_not_too_many(self, size):
        with LocalEngine(1) as engine:
            lengths = [stop - start for start, stop in engine.cut(*size)]
        assert len(lengths) <= MOST_BLOCKS
        assert max(lengths) - min(lengths) <= 1

    def test_a_large_corpus_gives_several_blocks(self):
        with LocalEngine(1) as engine:
            assert len(engine.cut(3 * BLOCK_DOCUMENTS, 10**7, 500)) == 3
            assert len(engine.cut(10 * BLOCK_DOCUMENTS, 10**7, 500)) == SEVERAL
            assert len(engine.cut(10 * LARGE_BLOCK, 10**7, 500)) == 10


class TestSweep:
    #: Sums of these depend on the order in which they are added.
    BLOCKS = tuple(np.random.default_rng(0).standard_cauchy((40, 7)) * 1e8)

    @any_threads
    def test_gives_the_bits_of_adding_in_order(self, n_jobs):
        serial = functools.reduce(operator.add, [np.exp(-(block**2)) + block for block in self.BLOCKS])
        with LocalEngine(n_jobs) as engine:
            swept = engine.sweep(lambda block: np.exp(-(block**2)) + block, self.BLOCKS)
        np.testing.assert_array_equal(swept, serial)
        backwards = functools.reduce(operator.add, self.BLOCKS[::-1])
        assert not np.array_equal(functools.reduce(operator.add, self.BLOCKS), backwards)

    def test_adds_in_order_though_the_first_block_ends_last(self):
        second_is_done = threading.Event()

        def step(block: str) -> str:
            if block == "first":
                assert second_is_done.wait(timeout=60)
            else:
                second_is_done.set()
            return block

        with LocalEngine(2) as engine:
            assert engine.sweep(step, ["first", "second"]) == "firstsecond"

    @any_threads
    def test_an_error_in_a_step_comes_out(self, n_jobs):
        def step(block: int) -> int:
            if block == 2:
                raise FloatingPointError("block 2")
            return block

        with LocalEngine(n_jobs) as engine, pytest.raises(FloatingPointError, match="block 2"):
            engine.sweep(step, [0, 1, 2, 3])

    @any_threads
    def test_map_keeps_the_order_of_blocks(self, n_jobs):
        with LocalEngine(n_jobs) as engine:
            assert engine.map(lambda block: block**2, range(20)) == [block**2 for block in range(20)]


def test_no_thread_outlives_the_engine():
    before = threading.active_count()
    with LocalEngine(3) as engine:
        engine.map(abs, range(10))
        assert threading.active_count() > before
    assert threading.active_count() == before


def test_a_block_may_map_over_blocks_of_its_own():
    with LocalEngine(2) as engine:
        found = engine.map(lambda block: sum(engine.map(lambda item: 2 * item, block)), [(1, 2), (3, 4), (5, 6)])
    assert found == [6, 14, 22]
