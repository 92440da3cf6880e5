"""The compiled side of `intrinsics`, of those that work on vectors: records of codes, sums, sorting. Imports Numba."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from spinney.jit.intrinsics_numba import address_of, chosen, item_bytes


@intrinsic
def _copy_to_one(
    typingctx: Any, source: Any, at: Any, target: Any, to: Any, other: Any, also: Any, first: Any, count: Any
) -> Any:
    word = ir.IntType(64)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        read, one, two = (address_of(context, builder, kinds[k], args[k], args[k + 1]) for k in (0, 2, 4))
        # Chosen without a branch, which a processor could not guess.
        written = builder.select(builder.icmp_signed("!=", args[6], word(0)), one, two)
        length = args[7]

        def copy(begin: Any, size: int) -> None:
            kind = ir.VectorType(word, size).as_pointer()
            found = builder.load(builder.bitcast(builder.gep(read, [begin]), kind), align=8)
            builder.store(found, builder.bitcast(builder.gep(written, [begin]), kind), align=8)

        with builder.if_else(builder.icmp_unsigned("<", length, word(4))) as (short, long):
            with short, cgutils.for_range(builder, length, intp=word) as loop:
                copy(loop.index, 1)
            with long:
                # Four words at a time; the last four may have been copied in part before. A loop is for records of more than
                # twelve words.
                last = builder.sub(length, word(4))
                kind = ir.VectorType(word, 4).as_pointer()
                end = builder.load(builder.bitcast(builder.gep(read, [last]), kind), align=8)
                copy(word(0), 4)
                with builder.if_then(builder.icmp_unsigned(">", length, word(8))):
                    copy(word(4), 4)
                with builder.if_then(builder.icmp_unsigned(">", length, word(12)), likely=False):
                    blocks = builder.lshr(builder.add(last, word(3)), word(2))
                    with cgutils.for_range_slice(builder, word(2), blocks, word(1), intp=word) as (block, _):
                        copy(builder.shl(block, word(2)), 4)
                builder.store(end, builder.bitcast(builder.gep(written, [last]), kind), align=8)
        return context.get_dummy_value()

    number = types.int64
    return types.void(source, number, target, number, other, number, number, number), codegen


@intrinsic
def _partition_by_code(
    typingctx: Any, words: Any, first: Any, step: Any, count: Any, place: Any, cut: Any, also: Any, spare: Any
) -> Any:
    word = ir.IntType(64)
    four = ir.VectorType(word, 4)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        begin = address_of(context, builder, kinds[0], args[0], args[1])
        step, count = args[2], args[3]
        left, right = cgutils.alloca_once_value(builder, begin), cgutils.alloca_once(builder, begin.type)
        builder.store(address_of(context, builder, kinds[7], args[7], word(0)), right)

        def copied(source: Any, offset: Any, kind: Any) -> tuple[Any, Any]:
            at = builder.bitcast(builder.gep(source, [offset]), kind.as_pointer())
            return builder.load(at, align=8), offset

        def put(target: Any, found: tuple[Any, Any]) -> None:
            at = builder.bitcast(builder.gep(target, [found[1]]), found[0].type.as_pointer())
            builder.store(found[0], at, align=8)

        def part(copy: Any) -> None:
            with cgutils.for_range(builder, count, intp=word) as loop:
                source = builder.gep(begin, [builder.mul(loop.index, step)])
                codes = builder.bitcast(source, ir.IntType(8).as_pointer())
                code = builder.zext(builder.load(builder.gep(codes, [args[4]]), align=1), word)
                below = builder.icmp_signed("<=", code, args[5])
                goes = builder.or_(below, builder.icmp_signed("==", code, args[6]))
                one, two = builder.load(left), builder.load(right)
                copy(source, chosen(builder, goes, one, two))
                by = chosen(builder, goes, step, word(0))
                builder.store(builder.gep(one, [by]), left)
                builder.store(builder.gep(two, [builder.sub(step, by)]), right)

        def copy_short(source: Any, target: Any) -> None:
            # Both halves are read before one is written: they may overlap.
            found = [copied(source, offset, four) for offset in (word(0), builder.sub(step, word(4)))]
            for one in found:
                put(target, one)

        def copy_long(source: Any, target: Any) -> None:
            with cgutils.for_range(builder, step, intp=word) as loop:
                put(target, copied(source, loop.index, word))

        few = builder.and_(
            builder.icmp_unsigned(">=", step, word(4)), builder.icmp_unsigned("<=", step, word(8))
        )
        with builder.if_else(few) as (short, long):
            with short:
                part(copy_short)
            with long:
                part(copy_long)
        size = builder.sub(builder.ptrtoint(builder.load(left), word), builder.ptrtoint(begin, word))
        return builder.lshr(size, word(3))

    number = types.int64
    return number(words, number, number, number, number, number, number, spare), codegen


@intrinsic
def _byte_ranges(
    typingctx: Any, words: Any, first: Any, step: Any, count: Any, low: Any, high: Any, at: Any
) -> Any:
    vector = ir.VectorType(ir.IntType(8), 32)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def place(kind: Any, array: Any, index: Any) -> Any:
            return builder.bitcast(address_of(context, builder, kind, array, index), vector.as_pointer())

        def load(index: Any) -> Any:
            return builder.load(place(signature.args[0], args[0], index), align=8)

        # Kept in registers while the records are read.
        least, largest = cgutils.alloca_once(builder, vector), cgutils.alloca_once(builder, vector)
        start = load(args[1])
        builder.store(start, least)
        builder.store(start, largest)
        with cgutils.for_range(builder, args[3], intp=ir.IntType(64)) as loop:
            found = load(builder.add(args[1], builder.mul(loop.index, args[2])))
            for kept, sign in ((least, "<"), (largest, ">")):
                old = builder.load(kept)
                builder.store(builder.select(builder.icmp_unsigned(sign, found, old), found, old), kept)
        for kind, target, kept in (
            (signature.args[4], args[4], least),
            (signature.args[5], args[5], largest),
        ):
            builder.store(builder.load(kept), place(kind, target, args[6]), align=8)
        return context.get_dummy_value()

    number = types.int64
    return types.void(words, number, number, number, low, high, number), codegen


def _below(context: Any, builder: Any, signature: Any, args: Any, add: Any) -> None:
    """For each of some records, let `add` have a byte for each of its 32 codes, all bits of it where the code is at most the
    cut, and where its weight and its target stand.
    """
    word = ir.IntType(64)
    vector = ir.VectorType(ir.IntType(8), 32)

    def load(kind: Any, array: Any, index: Any, align: int) -> Any:
        place = address_of(context, builder, kind, array, index)
        return builder.load(builder.bitcast(place, vector.as_pointer()), align=align)

    records, first, step, count, chunk, cuts, at = args[:7]
    limits = load(signature.args[5], cuts, at, 1)
    with cgutils.for_range(builder, count, intp=word) as loop:
        begin = builder.add(first, builder.mul(loop.index, step))
        codes = load(signature.args[0], records, builder.add(begin, chunk), 8)
        end = address_of(context, builder, signature.args[0], records, builder.add(begin, step))
        end = builder.bitcast(end, ir.IntType(32).as_pointer())
        weight, target = builder.gep(end, [word(-2)]), builder.gep(end, [word(-1)])
        add(builder.sext(builder.icmp_unsigned("<=", codes, limits), vector), weight, target)


def _splat(builder: Any, value: Any, kind: Any) -> Any:
    """A vector with the same number at all places."""
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.IntType(32)(0))
    places = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
    return builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), places)


@intrinsic
def _classes_below(
    typingctx: Any, words: Any, first: Any, step: Any, count: Any, chunk: Any, cuts: Any, at: Any, classes: Any,
    left: Any,
) -> Any:  # fmt: skip
    word, byte = ir.IntType(64), ir.IntType(8)
    vector = ir.VectorType(byte, 32)
    none = ir.Constant(vector, [0] * 32)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        sums = address_of(context, builder, signature.args[8], args[8], word(0))
        sums = builder.bitcast(sums, vector.as_pointer())

        def low_byte(place: Any) -> Any:
            return _splat(builder, builder.load(builder.bitcast(place, byte.as_pointer()), align=1), vector)

        with builder.if_else(builder.icmp_unsigned("==", args[7], word(2))) as (two, several):
            with two:
                # Kept in registers while the records are read: all rows, and those of the second class.
                every, second = cgutils.alloca_once(builder, vector), cgutils.alloca_once(builder, vector)
                builder.store(none, every)
                builder.store(none, second)

                def add_to_two(masks: Any, weight: Any, target: Any) -> None:
                    more = builder.and_(masks, low_byte(weight))
                    builder.store(builder.add(builder.load(every), more), every)
                    more = builder.and_(more, builder.sub(none, low_byte(target)))
                    builder.store(builder.add(builder.load(second), more), second)

                _below(context, builder, signature, args, add_to_two)
                first_class = builder.sub(builder.load(every), builder.load(second))
                builder.store(first_class, sums, align=1)
                builder.store(builder.load(second), builder.gep(sums, [word(1)]), align=1)
            with several:
                with cgutils.for_range(builder, args[7], intp=word) as loop:
                    builder.store(none, builder.gep(sums, [loop.index]), align=1)

                def add_to_class(masks: Any, weight: Any, target: Any) -> None:
                    place = builder.gep(sums, [builder.sext(builder.load(target, align=4), word)])
                    more = builder.and_(masks, low_byte(weight))
                    builder.store(builder.add(builder.load(place, align=1), more), place, align=1)

                _below(context, builder, signature, args, add_to_class)
        return context.get_dummy_value()

    number = types.int64
    return types.void(words, number, number, number, number, cuts, number, number, left), codegen


@intrinsic
def _sums_below(
    typingctx: Any, words: Any, first: Any, step: Any, count: Any, chunk: Any, cuts: Any, at: Any, shift: Any,
    bits: Any, left: Any,
) -> Any:  # fmt: skip
    word = ir.IntType(64)
    vector = ir.VectorType(word, 4)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        none = ir.Constant(vector, [0] * 4)
        # Kept in registers while the records are read.
        sums = [cgutils.alloca_once(builder, vector) for _ in range(8)]
        for kept in sums:
            builder.store(none, kept)

        def add(masks: Any, weight: Any, target: Any) -> None:
            weight = builder.zext(builder.load(weight, align=4), word)
            target = builder.sext(builder.load(target, align=4), word)
            product = builder.mul(builder.ashr(target, args[7]), weight)
            row = _splat(builder, builder.add(builder.shl(product, args[8]), weight), vector)
            for k, kept in enumerate(sums):
                places = ir.Constant(ir.VectorType(ir.IntType(32), 4), [4 * k + j for j in range(4)])
                some = builder.sext(builder.shuffle_vector(masks, masks, places), vector)
                builder.store(builder.add(builder.load(kept), builder.and_(some, row)), kept)

        _below(context, builder, signature, args, add)
        for k, kept in enumerate(sums):
            place = address_of(context, builder, signature.args[9], args[9], word(4 * k))
            builder.store(builder.load(kept), builder.bitcast(place, vector.as_pointer()), align=8)
        return context.get_dummy_value()

    number = types.int64
    return types.void(words, number, number, number, number, cuts, number, number, number, left), codegen


@intrinsic
def _filled_cells(typingctx: Any, cells: Any, at: Any) -> Any:
    word = ir.IntType(64)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = address_of(context, builder, signature.args[0], args[0], args[1])
        found = word(0)
        # Eight at a time: vectors of 64 take LLVM long, and the machine has none.
        size = item_bytes(signature.args[0].dtype)
        cell = ir.IntType(8 * size)
        few = ir.VectorType(cell, 8)
        for k in range(8):
            place = builder.bitcast(builder.gep(first, [word(8 * k)]), few.as_pointer())
            differs = builder.icmp_signed("!=", builder.load(place, align=size), few([cell(0)] * 8))
            bits = builder.zext(builder.bitcast(differs, ir.IntType(8)), word)
            found = builder.or_(found, builder.shl(bits, word(8 * k)))
        return found

    return types.int64(cells, types.int64), codegen


def _shuffled(builder: Any, vector: Any, places: list[int]) -> Any:
    """The items of a vector in another order."""
    return builder.shuffle_vector(
        vector, vector.type(ir.Undefined), ir.VectorType(ir.IntType(32), len(places))(places)
    )


def _in_order(builder: Any, one: Any, two: Any) -> tuple[Any, Any]:
    """Two vectors, item by item the lower and the higher one."""
    lower = builder.icmp_unsigned("<", one, two)
    return builder.select(lower, one, two), builder.select(lower, two, one)


def _merge_steps(builder: Any, vectors: list[Any], size: int) -> None:
    """Sort runs of `size` items, of which each half is sorted, in a list of vectors of 16: a bitonic merge."""
    lanes = 16
    # First every item meets the one opposite in its run, then those at half, a quarter, an eighth of the distance.
    masks = [size - 1, *(size >> k for k in range(2, size.bit_length()))]
    for mask in masks:
        if mask < lanes:
            keeps_lower = ir.VectorType(ir.IntType(1), lanes)([int(k < k ^ mask) for k in range(lanes)])
            for k, vector in enumerate(vectors):
                low, high = _in_order(
                    builder, vector, _shuffled(builder, vector, [i ^ mask for i in range(lanes)])
                )
                vectors[k] = builder.select(keeps_lower, low, high)
            continue
        for k in range(len(vectors)):
            other = k ^ (mask // lanes)
            if k < other:
                turned = [i ^ (mask % lanes) for i in range(lanes)]
                low, high = _in_order(builder, vectors[k], _shuffled(builder, vectors[other], turned))
                vectors[k], vectors[other] = low, _shuffled(builder, high, turned)


@intrinsic
def _transpose_records(
    typingctx: Any, words: Any, first: Any, step: Any, count: Any, lines: Any, at: Any
) -> Any:
    word = ir.IntType(64)
    vector, half = ir.VectorType(ir.IntType(8), 32), ir.VectorType(ir.IntType(8), 16)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place, rows = args[1], []
        for _ in range(16):
            read = address_of(context, builder, signature.args[0], args[0], place)
            rows.append(builder.load(builder.bitcast(read, vector.as_pointer()), align=8))
            place = builder.add(place, args[2])
        # Four times, the bytes of records that are eight apart are put side by side; in each half of a vector alone, as
        # machines do it.
        for _ in range(4):
            mixed = []
            for k in range(8):
                for begin in (0, 8):
                    order = [
                        lane + b + side for lane in (begin, 16 + begin) for b in range(8) for side in (0, 32)
                    ]
                    mixed.append(
                        builder.shuffle_vector(rows[k], rows[k + 8], ir.VectorType(ir.IntType(32), 32)(order))
                    )
            rows = mixed
        for k, found in enumerate(rows):
            for side in range(2):
                part = builder.shuffle_vector(
                    found,
                    vector(ir.Undefined),
                    ir.VectorType(ir.IntType(32), 16)([16 * side + b for b in range(16)]),
                )
                written = builder.add(args[5], word((16 * side + k) * 64))
                target = address_of(context, builder, signature.args[4], args[4], written)
                builder.store(part, builder.bitcast(target, half.as_pointer()), align=1)
        return context.get_dummy_value()

    number = types.int64
    return types.void(words, number, number, number, lines, number), codegen


@intrinsic
def _sort_bytes(typingctx: Any, line: Any, at: Any, count: Any, keys: Any) -> Any:
    word, key = ir.IntType(64), ir.IntType(16)
    vector, half = ir.VectorType(key, 16), ir.VectorType(ir.IntType(8), 16)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = address_of(context, builder, signature.args[0], args[0], args[1])
        written = address_of(context, builder, signature.args[3], args[3], word(0))
        alone = builder.insert_element(vector(ir.Undefined), builder.trunc(args[2], key), ir.IntType(32)(0))
        rows = _shuffled(builder, alone, [0] * 16)

        def sort(size: int) -> None:
            vectors = []
            for k in range(0, size, 16):
                place = builder.bitcast(builder.gep(first, [word(k)]), half.as_pointer())
                codes = builder.zext(builder.load(place, align=1), vector)
                places = vector(list(range(k, k + 16)))
                found = builder.or_(builder.shl(codes, vector([8] * 16)), places)
                inside = builder.icmp_unsigned("<", places, rows)
                vectors.append(builder.select(inside, found, vector([65535] * 16)))
            run = 2
            while run <= size:
                _merge_steps(builder, vectors, run)
                run *= 2
            for k, found in enumerate([*vectors, vector([65535] * 16)]):
                place = builder.bitcast(builder.gep(written, [word(16 * k)]), vector.as_pointer())
                builder.store(found, place, align=2)

        with builder.if_else(builder.icmp_signed("<=", args[2], word(16))) as (few, more):
            with few:
                sort(16)
            with more, builder.if_else(builder.icmp_signed("<=", args[2], word(32))) as (some, many):
                with some:
                    sort(32)
                with many:
                    sort(64)
        return context.get_dummy_value()

    return types.void(line, types.int64, types.int64, keys), codegen


@intrinsic
def _first_highest(typingctx: Any, values: Any, count: Any) -> Any:
    word, vector = ir.IntType(64), ir.VectorType(ir.DoubleType(), 8)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = address_of(context, builder, signature.args[0], args[0], word(0))

        def block(at: Any) -> Any:
            return builder.load(builder.bitcast(builder.gep(first, [at]), vector.as_pointer()), align=8)

        highest = block(word(0))
        kept = cgutils.alloca_once_value(builder, highest)
        with cgutils.for_range_slice(builder, word(8), args[1], word(8), intp=word) as (at, _):
            found, old = block(at), builder.load(kept)
            builder.store(builder.select(builder.fcmp_ordered(">", found, old), found, old), kept)
        highest = builder.load(kept)
        for distance in (4, 2, 1):
            other = _shuffled(builder, highest, [i ^ distance for i in range(8)])
            highest = builder.select(builder.fcmp_ordered(">", highest, other), highest, other)
        result = cgutils.alloca_once_value(builder, word(0))
        with cgutils.for_range(builder, builder.lshr(args[1], word(3)), intp=word) as loop:
            at = builder.shl(loop.index, word(3))
            same = builder.fcmp_ordered("==", block(at), highest)
            bits = builder.zext(builder.bitcast(same, ir.IntType(8)), word)
            with builder.if_then(builder.icmp_unsigned("!=", bits, word(0))):
                builder.store(builder.add(at, builder.cttz(bits, ir.IntType(1)(1))), result)
                loop.do_break()
        return builder.load(result)

    return types.int64(values, types.int64), codegen


@intrinsic
def _running_sums(typingctx: Any, source: Any, at: Any, target: Any, count: Any) -> Any:
    word, number, lanes = ir.IntType(64), ir.IntType(32), 8
    vector = ir.VectorType(number, lanes)
    zeros = vector([number(0)] * lanes)

    def shuffled(builder: Any, one: Any, other: Any, places: list[int]) -> Any:
        return builder.shuffle_vector(one, other, ir.VectorType(number, lanes)([number(k) for k in places]))

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        read = address_of(context, builder, signature.args[0], args[0], args[1])
        written = address_of(context, builder, signature.args[2], args[2], word(0))
        # The sum so far, in every lane.
        total = cgutils.alloca_once_value(builder, zeros)
        whole = builder.lshr(args[3], word(3))
        with cgutils.for_range(builder, whole, intp=word) as loop:
            begin = builder.shl(loop.index, word(3))
            sums = builder.load(builder.bitcast(builder.gep(read, [begin]), vector.as_pointer()), align=4)
            # Each half adds its neighbours one and two places before, then the second half what the first one sums up to.
            for step in (1, 2):
                before = [k - step if k % 4 >= step else lanes for k in range(lanes)]
                sums = builder.add(sums, shuffled(builder, sums, zeros, before))
            sums = builder.add(sums, shuffled(builder, sums, zeros, [lanes] * 4 + [3] * 4))
            sums = builder.add(sums, builder.load(total))
            builder.store(sums, builder.bitcast(builder.gep(written, [begin]), vector.as_pointer()), align=4)
            builder.store(shuffled(builder, sums, zeros, [lanes - 1] * lanes), total)
        last = cgutils.alloca_once_value(builder, builder.extract_element(builder.load(total), number(0)))
        with cgutils.for_range_slice(builder, builder.shl(whole, word(3)), args[3], word(1), word) as (k, _):
            more = builder.add(builder.load(last), builder.load(builder.gep(read, [k])))
            builder.store(more, last)
            builder.store(more, builder.gep(written, [k]))
        return context.get_dummy_value()

    return types.void(source, types.int64, target, types.int64), codegen
