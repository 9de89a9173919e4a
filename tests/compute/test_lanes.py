"""The vector operations inside numba do to every lane what NumPy does to every element."""

import numpy as np
import pytest
from numba import njit

from textsignal.compute.kernels.lanes import (
    VECTOR_BYTES,
    add,
    divide_by_root,
    divide_if_positive,
    lanes,
    larger,
    largest_of,
    load,
    multiply,
    multiply_add,
    nothing,
    splat,
    store,
    total,
    width,
    zeros,
)

dtypes = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


@njit
def _axpy(scale, x, y):
    """y += scale * x, one vector at a time."""
    factor = splat(scale)
    for start in range(0, x.size, width(x)):
        store(y, start, multiply_add(factor, load(x, start), load(y, start)))


@njit
def _dot(x, y):
    result = nothing(x)
    for start in range(0, x.size, width(x)):
        result = multiply_add(load(x, start), load(y, start), result)
    return total(result)


@njit
def _scaled(x, y, out):
    """out = x * x / sqrt(y)."""
    for start in range(0, x.size, width(x)):
        store(out, start, divide_by_root(multiply(load(x, start), load(x, start)), load(y, start)))


@dtypes
def test_one_vector_fills_a_cache_line(dtype):
    assert lanes(dtype) * np.dtype(dtype).itemsize == VECTOR_BYTES


@dtypes
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (7, 16)])
def test_zeros_are_zeros_that_start_on_a_vector_boundary(dtype, shape):
    made = zeros(shape, dtype)
    assert (made.shape, made.dtype) == (shape, dtype)
    assert made.ctypes.data % VECTOR_BYTES == 0
    assert made.flags.c_contiguous
    assert made.flags.writeable
    np.testing.assert_array_equal(made, 0)


@dtypes
def test_lanes_multiply_add_and_store_like_numpy(dtype):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 3 * lanes(dtype))).astype(dtype)
    expected = dtype(1.5) * x + y
    _axpy(dtype(1.5), x, y)
    np.testing.assert_allclose(y, expected, rtol=4 * np.finfo(dtype).eps, atol=4 * np.finfo(dtype).eps)


@dtypes
def test_lanes_multiply_and_divide_by_a_root_like_numpy(dtype):
    x, y = np.random.default_rng(2).random((2, 2 * lanes(dtype))).astype(dtype) + dtype(0.1)
    out = np.zeros_like(x)
    _scaled(x, y, out)
    np.testing.assert_allclose(out, x * x / np.sqrt(y), rtol=4 * np.finfo(dtype).eps)


@dtypes
def test_lanes_add_up_to_the_scalar_product(dtype):
    x, y = np.random.default_rng(1).random((2, 3 * lanes(dtype))).astype(dtype)
    np.testing.assert_allclose(_dot(x, y), x.astype(float) @ y.astype(float), rtol=50 * np.finfo(dtype).eps)


@dtypes
def test_an_unaligned_array_is_read_all_the_same(dtype):
    x = np.arange(2 * lanes(dtype) + 1, dtype=dtype)[1:]
    assert _dot(x, np.ones_like(x)) == x.sum()


@njit
def _largest_ratio(x, y, out):
    """x / y + x into out, where y > 0; the largest of the ratios."""
    largest = nothing(x)
    for start in range(0, x.size, width(x)):
        ratio = divide_if_positive(load(x, start), load(y, start))
        largest = larger(largest, ratio)
        store(out, start, add(ratio, load(x, start)))
    return largest_of(largest)


@dtypes
def test_division_comparison_and_maximum(dtype):
    rng = np.random.default_rng(3)
    x, y = rng.random((2, 4 * lanes(dtype))).astype(dtype)
    y[::3] = 0
    out = np.empty_like(x)
    largest = _largest_ratio(x, y, out)
    ratio = np.divide(x, y, out=np.zeros_like(x), where=y > 0)
    assert largest == ratio.max()
    np.testing.assert_array_equal(out, ratio + x)
