"""The compiled side of `intrinsics`: atomics, addresses, bits. LLVM instructions behind the same names. Imports Numba."""

from __future__ import annotations

import operator
import sys
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel.models import PointerModel
from numba.extending import intrinsic, lower_builtin, register_model


class ItemPointer(types.CPointer):
    """A pointer to items with named fields. One of them is a place in memory, whose fields are read and written there."""


register_model(ItemPointer)(PointerModel)


def _item(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.gep(args[0], [args[1]])


lower_builtin(operator.getitem, ItemPointer, types.Integer)(_item)


def address_of(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """The address of an item of an array or behind a pointer."""
    if isinstance(kind, types.CPointer):
        return builder.gep(array, [index])
    view = context.make_array(kind)(context, builder, array)
    return builder.gep(view.data, [index])


def _cell(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """The address of a whole number, or of the first field of an item."""
    address = address_of(context, builder, kind, array, index)
    return builder.bitcast(address, ir.IntType(64).as_pointer())


@intrinsic
def _atomic_add(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        cell = _cell(context, builder, signature.args[0], args[0], args[1])
        return builder.atomic_rmw("add", cell, args[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), codegen


@intrinsic
def _atomic_load(typingctx: Any, array: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        cell = _cell(context, builder, signature.args[0], args[0], args[1])
        return builder.load_atomic(cell, "seq_cst", 8)

    return types.int64(array, types.int64), codegen


@intrinsic
def _atomic_store(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        cell = _cell(context, builder, signature.args[0], args[0], args[1])
        builder.store_atomic(args[2], cell, "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), codegen


@intrinsic
def _prefetch(typingctx: Any, array: Any, index: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        cell = builder.bitcast(address_of(context, builder, signature.args[0], args[0], args[1]), byte)
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [cell, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


@intrinsic
def _give_way(typingctx: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def _call_code(typingctx: Any, code: Any, rank: Any, size: Any, sync: Any, words: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        cells = address_of(context, builder, signature.args[3], args[3], ir.IntType(64)(0))
        packed = builder.inttoptr(args[4], ir.IntType(64).as_pointer())
        # Numba's calling convention: places for a result and an exception, then the arguments.
        ignored = [cgutils.alloca_once(builder, ir.IntType(8).as_pointer()) for _ in range(2)]
        given = [*ignored, args[1], args[2], cells, packed]
        kind = ir.FunctionType(ir.IntType(32), [value.type for value in given])
        return builder.sext(builder.call(builder.inttoptr(args[0], kind.as_pointer()), given), ir.IntType(64))

    number = types.int64
    return number(number, number, number, sync, number), codegen


def loaded_as(result: Any) -> Any:
    """What reads one of a kernel's packed arguments, 64 bits each, as a number or a pointer of some type."""

    @intrinsic
    def load(typingctx: Any, words: Any, index: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            cell = builder.gep(args[0], [args[1]])
            wanted = context.get_value_type(result)
            stored = ir.IntType(64) if isinstance(result, types.Integer) else wanted
            stored = ir.DoubleType() if isinstance(result, types.Float) else stored
            value = builder.load(builder.bitcast(cell, stored.as_pointer()))
            if stored != wanted:
                value = (builder.trunc if isinstance(result, types.Integer) else builder.fptrunc)(
                    value, wanted
                )
            return value

        return result(words, types.int64), codegen

    return load


def _from(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """An array or a pointer from one of its items on."""
    if isinstance(signature.args[0], types.CPointer):
        return builder.gep(args[0], [args[1]])
    return context.compile_internal(builder, lambda whole, first: whole[first:], signature, args)


@intrinsic
def _tail(typingctx: Any, array: Any, begin: Any) -> Any:
    return array(array, types.int64), _from


def item_bytes(kind: Any) -> int:
    """Bytes of an item or a number."""
    return int(kind.size if isinstance(kind, types.Record) else kind.bitwidth // 8)


@intrinsic
def _own(typingctx: Any, scratch: Any, rank: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = cgutils.unpack_tuple(builder, args[0], len(scratch))
        length = values[scratch.fields.index("thread_bytes")]
        begin = builder.mul(args[1], length)
        moved = []
        for kind, value in zip(scratch, values, strict=True):
            if isinstance(kind, types.CPointer | types.Array):
                items = builder.sdiv(begin, ir.IntType(64)(item_bytes(kind.dtype)))
                value = _from(context, builder, kind(kind, types.int64), (value, items))
            moved.append(value)
        return context.make_tuple(builder, scratch, moved)

    return scratch(scratch, types.int64), codegen


def chosen(builder: Any, goes: Any, first: Any, other: Any) -> Any:
    """One of two values, without a branch, which LLVM would otherwise make of it in loops."""
    found = builder.select(goes, first, other)
    found.set_metadata("unpredictable", builder.module.add_metadata([]))
    return found


@intrinsic
def _lowest_bit(typingctx: Any, bits: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.int64), codegen


@intrinsic
def _either(typingctx: Any, goes: Any, first: Any, other: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return chosen(builder, builder.icmp_signed("!=", args[0], ir.IntType(64)(0)), args[1], args[2])

    return types.int64(types.int64, types.int64, types.int64), codegen


@intrinsic
def _bits_of(typingctx: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


@intrinsic
def _from_bits(typingctx: Any, bits: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen
