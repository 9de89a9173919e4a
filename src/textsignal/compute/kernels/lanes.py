"""Vector registers inside numba: load, store, fill, add, multiply, divide, compare, and sums and maxima over lanes.

numba leaves vectorising to LLVM, which guards every inner loop with checks that cost more than the few topics it
runs over. These intrinsics specify the operation and the number of lanes; LLVM maps them to the widest
registers the machine has. An index counts elements from the array's first, and arrays must be C-contiguous.
"""

from __future__ import annotations

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


def aligned_zeros(shape: tuple[int, int], dtype: DTypeLike) -> NDArray[Any]:
    """Zeros that start on a vector boundary; a vector across two cache lines takes twice as long."""
    size = np.dtype(dtype).itemsize
    memory = np.zeros(shape[0] * shape[1] + VECTOR_BYTES // size, dtype)
    offset = -memory.ctypes.data % VECTOR_BYTES // size
    return memory[offset : offset + shape[0] * shape[1]].reshape(shape)


class Lanes(types.Type):
    """numba type of one vector of floats."""

    def __init__(self, scalar: types.Float) -> None:
        self.scalar = scalar
        self.count = VECTOR_BYTES * 8 // scalar.bitwidth
        self.suffix = f"v{self.count}f{scalar.bitwidth}"
        super().__init__(f"Lanes({scalar})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Lanes) -> None:
        element = dmm.lookup(fe_type.scalar).get_value_type()
        super().__init__(dmm, fe_type, ir.VectorType(element, fe_type.count))


def _address(context: Any, builder: Any, array_type: Any, array: Any, index: Any, vector: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


@intrinsic
def load(typingctx: Any, array: Any, index: Any) -> Any:
    """One vector of `array`, from element `index` on."""
    lanes_type = Lanes(array.dtype)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = context.get_value_type(lanes_type)
        value = builder.load(_address(context, builder, signature.args[0], args[0], args[1], vector))
        value.align = array.dtype.bitwidth // 8
        return value

    return lanes_type(array, types.intp), codegen


@intrinsic
def store(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """Write one vector into `array`, from element `index` on."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = context.get_value_type(value)
        written = builder.store(args[2], _address(context, builder, signature.args[0], args[0], args[1], vector))
        written.align = array.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.void(array, types.intp, value), codegen


@intrinsic
def width(typingctx: Any, array: Any) -> Any:
    """Number of elements of `array` in one vector, known at compile time."""
    count = Lanes(array.dtype).count

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.get_constant(types.intp, count)

    return types.intp(array), codegen


@intrinsic
def nothing(typingctx: Any, array: Any) -> Any:
    """A vector of zeros of the array's type, to start a sum from."""
    lanes_type = Lanes(array.dtype)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return ir.Constant(context.get_value_type(lanes_type), None)

    return lanes_type(array), codegen


@intrinsic
def splat(typingctx: Any, number: Any) -> Any:
    """A vector that holds `number` in every lane."""
    lanes_type = Lanes(number)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = context.get_value_type(lanes_type)
        undefined = ir.Constant(vector, ir.Undefined)
        single = builder.insert_element(undefined, args[0], ir.Constant(ir.IntType(32), 0))
        first_lane = ir.Constant(ir.VectorType(ir.IntType(32), lanes_type.count), None)
        return builder.shuffle_vector(single, undefined, first_lane)

    return lanes_type(number), codegen


@intrinsic
def multiply(typingctx: Any, a: Any, b: Any) -> Any:
    """a * b."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fmul(*args)

    return a(a, b), codegen


@intrinsic
def add(typingctx: Any, a: Any, b: Any) -> Any:
    """a + b."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fadd(*args)

    return a(a, b), codegen


@intrinsic
def divide_if_positive(typingctx: Any, a: Any, b: Any) -> Any:
    """a / b where b > 0, else 0."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zeros = ir.Constant(context.get_value_type(a), None)
        return builder.select(builder.fcmp_ordered(">", args[1], zeros), builder.fdiv(*args), zeros)

    return a(a, b), codegen


@intrinsic
def larger(typingctx: Any, a: Any, b: Any) -> Any:
    """The larger of both, lane by lane; a where b is not a number."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", args[1], args[0]), args[1], args[0])

    return a(a, b), codegen


@intrinsic
def largest_of(typingctx: Any, value: Any) -> Any:
    """The largest of the lanes."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = context.get_value_type(value)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(vector.element, [vector]), f"llvm.vector.reduce.fmax.{value.suffix}"
        )
        return builder.call(function, [args[0]], fastmath=("nnan",))

    return value.scalar(value), codegen


@intrinsic
def divide_by_root(typingctx: Any, a: Any, b: Any) -> Any:
    """a / sqrt(b)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = context.get_value_type(b)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(vector, [vector]), f"llvm.sqrt.{b.suffix}"
        )
        return builder.fdiv(args[0], builder.call(function, [args[1]]))

    return a(a, b), codegen


@intrinsic
def multiply_add(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once where the processor can."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = context.get_value_type(a)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(vector, [vector] * 3), f"llvm.fmuladd.{a.suffix}"
        )
        return builder.call(function, args)

    return a(a, b, c), codegen


@intrinsic
def total(typingctx: Any, value: Any) -> Any:
    """The sum over the lanes, added pairwise in a fixed order."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = context.get_value_type(value)
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(vector.element, [vector.element, vector]),
            f"llvm.vector.reduce.fadd.{value.suffix}",
        )
        return builder.call(function, [ir.Constant(vector.element, -0.0), args[0]], fastmath=("reassoc",))

    return value.scalar(value), codegen
