"""Vector registers inside numba: load, store, fill, arithmetic, and sums and maxima over lanes.

numba leaves vectorising to LLVM, which guards every inner loop with checks that cost more than the few topics it
runs over: an iteration of KL-NMF then takes half as long again (`make bench`). These intrinsics specify the operation
and the number of lanes; LLVM maps them to the widest registers of the machine. An index counts elements from the
array's first, and arrays must be C-contiguous.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model
from numpy.typing import DTypeLike, NDArray

#: Bytes in one vector: a cache line, and the widest register of today's processors.
VECTOR_BYTES = 64


def lanes(dtype: DTypeLike) -> int:
    """Number of elements of this type in one vector."""
    return VECTOR_BYTES // np.dtype(dtype).itemsize


def zeros(shape: tuple[int, int], dtype: DTypeLike) -> NDArray[Any]:
    """Zeros that start on a vector boundary; a vector across two cache lines takes twice as long."""
    size = np.dtype(dtype).itemsize
    memory = np.zeros(shape[0] * shape[1] + VECTOR_BYTES // size, dtype)
    offset = -memory.ctypes.data % VECTOR_BYTES // size
    return memory[offset : offset + shape[0] * shape[1]].reshape(shape)


class Lanes(types.Type):
    """numba type of one vector of floats."""

    def __init__(self, scalar: types.Float) -> None:
        self.scalar, self.count = scalar, VECTOR_BYTES * 8 // scalar.bitwidth
        self.vector = ir.VectorType(ir.DoubleType() if scalar.bitwidth == 64 else ir.FloatType(), self.count)
        super().__init__(f"Lanes({scalar})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Lanes) -> None:
        super().__init__(dmm, fe_type, fe_type.vector)


def _of_vectors(emit: Callable[..., Any], scalar: bool = False) -> Any:
    """An intrinsic on vectors of one type; `emit` writes its LLVM code, whose value is a vector too, or a scalar."""

    @functools.wraps(emit)  # also its signature, of which numba drops the first parameter
    def typed(typingctx: Any, *operands: Lanes) -> Any:
        result = operands[0].scalar if scalar else operands[0]
        return result(*operands), lambda context, builder, signature, values: emit(builder, *values)

    return intrinsic(typed)


_to_scalar = functools.partial(_of_vectors, scalar=True)


def _call(builder: Any, name: str, result: ir.Type, *values: Any, fastmath: tuple[str, ...] = ()) -> Any:
    """Call the function of LLVM that has this name for vectors of the last value's type."""
    vector = values[-1].type
    suffix = f"v{vector.count}f{64 if isinstance(vector.element, ir.DoubleType) else 32}"
    declared = ir.FunctionType(result, [value.type for value in values])
    function = cgutils.get_or_insert_function(builder.module, declared, f"llvm.{name}.{suffix}")
    return builder.call(function, values, fastmath=fastmath)


def _address(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), Lanes(array_type.dtype).vector.as_pointer())


@intrinsic
def load(typingctx: Any, array: Any, index: Any) -> Any:
    """One vector of `array`, from element `index` on."""

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        value = builder.load(_address(context, builder, array, *values))
        value.align = array.dtype.bitwidth // 8
        return value

    return Lanes(array.dtype)(array, types.intp), codegen


@intrinsic
def store(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """Write one vector into `array`, from element `index` on."""

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        written = builder.store(values[2], _address(context, builder, array, *values[:2]))
        written.align = array.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.void(array, types.intp, value), codegen


@intrinsic
def width(typingctx: Any, array: Any) -> Any:
    """Number of elements of `array` in one vector, known at compile time."""
    count = Lanes(array.dtype).count
    return types.intp(array), lambda context, builder, signature, values: context.get_constant(types.intp, count)


@intrinsic
def nothing(typingctx: Any, array: Any) -> Any:
    """A vector of zeros of the array's type, to start a sum from."""
    kind = Lanes(array.dtype)
    return kind(array), lambda context, builder, signature, values: ir.Constant(kind.vector, None)


@intrinsic
def splat(typingctx: Any, number: Any) -> Any:
    """A vector that holds `number` in every lane."""
    kind = Lanes(number)

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        undefined = ir.Constant(kind.vector, ir.Undefined)
        single = builder.insert_element(undefined, values[0], ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(single, undefined, ir.Constant(ir.VectorType(ir.IntType(32), kind.count), None))

    return kind(number), codegen


@_of_vectors
def multiply(builder: Any, a: Any, b: Any) -> Any:
    """a * b."""
    return builder.fmul(a, b)


@_of_vectors
def add(builder: Any, a: Any, b: Any) -> Any:
    """a + b."""
    return builder.fadd(a, b)


@_of_vectors
def multiply_add(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once where the processor can."""
    return _call(builder, "fmuladd", a.type, a, b, c)


@_of_vectors
def divide_if_positive(builder: Any, a: Any, b: Any) -> Any:
    """a / b where b > 0, else 0."""
    zero = ir.Constant(a.type, None)
    return builder.select(builder.fcmp_ordered(">", b, zero), builder.fdiv(a, b), zero)


@_of_vectors
def divide_by_root(builder: Any, a: Any, b: Any) -> Any:
    """a / sqrt(b)."""
    return builder.fdiv(a, _call(builder, "sqrt", b.type, b))


@_of_vectors
def larger(builder: Any, a: Any, b: Any) -> Any:
    """The larger of both, lane by lane; a where b is not a number."""
    return builder.select(builder.fcmp_ordered(">", b, a), b, a)


@_to_scalar
def largest_of(builder: Any, vector: Any) -> Any:
    """The largest of the lanes."""
    return _call(builder, "vector.reduce.fmax", vector.type.element, vector, fastmath=("nnan",))


@_to_scalar
def total(builder: Any, vector: Any) -> Any:
    """The sum over the lanes, added pairwise in a fixed order."""
    element = vector.type.element
    start = ir.Constant(element, -0.0)
    return _call(builder, "vector.reduce.fadd", element, start, vector, fastmath=("reassoc",))
