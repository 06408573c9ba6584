"""Ask the processor for memory that will be needed soon, so that cache misses overlap."""

from typing import TYPE_CHECKING, Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

if TYPE_CHECKING:

    def prefetch(array: NDArray[Any], index: int) -> None:
        """Bring an item of a flat array near; in kernels only."""

else:

    @intrinsic
    def prefetch(_, array, index):
        """Bring an item of a flat array near; in kernels only."""
        if not isinstance(array, types.Array) or array.ndim != 1 or not isinstance(index, types.Integer):
            return None

        def generate(context, builder, signature, arguments):
            kind = signature.args[0]
            view = context.make_array(kind)(context, builder, arguments[0])
            place = cgutils.get_item_pointer(context, builder, kind, view, [arguments[1]], wraparound=False)
            address, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            asked = ir.FunctionType(ir.VoidType(), [address, number, number, number])
            call = cgutils.get_or_insert_function(builder.module, asked, "llvm.prefetch.p0")
            to_read, near, data = number(0), number(3), number(1)
            builder.call(call, [builder.bitcast(place, address), to_read, near, data])
            return context.get_dummy_value()

        return types.void(array, types.intp), generate
