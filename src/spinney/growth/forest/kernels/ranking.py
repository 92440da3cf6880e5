"""Ranks of a node's targets, and the weighted median of some records."""

import numpy as np

from spinney.growth.forest.kernels.access import row_of, weight_of
from spinney.growth.forest.kernels.ordering import sort_few
from spinney.jit.inline import filled, hole, inline
from spinney.jit.intrinsics import tail
from spinney.jit.math import order_key, value_of_key

FEW = 256  # rows up to which they are compared to be sorted
PLACE_BITS = 31
PLACE = 2147483647  # the bits of a row's place in a key
NO_KEY = 9223372036854775807  # above all keys


@inline
def steps_of(i, o, target, rows):
    """An output of a record, in steps."""
    return np.int64(target.steps[row_of(i, rows) * target.outputs + o])


@inline
def sort_digit(count, shift, source, sorted, places):
    """Sort keys by eight of their bits, keeping the order of equal ones. There are 256 places."""
    for digit in range(256):
        places[digit] = 0
    for i in range(count):
        places[(source[i] >> shift) & 255] += 1
    at = np.int64(0)
    for digit in range(256):
        held = places[digit]
        places[digit] = at
        at += held
    for i in range(count):
        digit = (source[i] >> shift) & 255
        sorted[places[digit]] = source[i]
        places[digit] += 1


@inline
def sort_keys(count, largest, keys, spare, places):
    """Sort keys whose places are ascending already. The largest target among them tells how many digits there are."""
    if count <= FEW:
        sort_few(count, keys)
        return
    shift = np.int64(PLACE_BITS)
    while largest > 0:
        # Two digits at a time, so that the keys end where they began.
        sort_digit(count, shift, keys, spare, places)
        sort_digit(count, shift + 8, spare, keys, places)
        shift += 16
        largest >>= 16


@inline
def rank_targets(node, target, rows, medians):
    """Rank the rows of a node by each output, and list the outputs in the order of the ranks."""
    count = medians.rows
    keys = medians.order
    for i in range(count):
        medians.weights[i] = weight_of(node.begin + i, rows)
    for o in range(target.outputs):
        low = steps_of(node.begin, o, target, rows)
        high = low
        for i in range(node.begin, node.end):
            step = steps_of(i, o, target, rows)
            low = min(low, step)
            high = max(high, step)
        for i in range(count):
            keys[i] = ((steps_of(node.begin + i, o, target, rows) - low) << PLACE_BITS) | i
        # Nodes of many rows have room for the places where the Fenwick tree will be.
        sort_keys(count, high - low, keys, medians.left, medians.tree)
        ranks = tail(medians.ranks, o * count)
        levels = tail(medians.levels, o * count)
        for rank in range(count):
            ranks[keys[rank] & PLACE] = rank
            levels[rank] = (keys[rank] >> PLACE_BITS) + low


@inline
def middle_of(low, high):
    """The whole number halfway between two, rounded down; their sum may be too large."""
    return (low & high) + ((low ^ high) >> 1)


key_at = hole("an output of a record, as a whole number in the order of its values")


@inline
def find_median(begin, end, o, target, rows):
    """Weighted median of a whole number of each record, and the next one above it if just half of the weight is below."""
    low = key_at(begin, o, target, rows)
    high = low
    weight = np.int64(0)
    for i in range(begin, end):
        key = key_at(i, o, target, rows)
        low = min(low, key)
        high = max(high, key)
        weight += weight_of(i, rows)
    while low < high:
        middle = middle_of(low, high)
        held = np.int64(0)
        for i in range(begin, end):
            held += weight_of(i, rows) if key_at(i, o, target, rows) <= middle else 0
        if 2 * held >= weight:
            high = middle
        else:
            low = middle + 1
    held = np.int64(0)
    above = np.int64(NO_KEY)
    for i in range(begin, end):
        key = key_at(i, o, target, rows)
        held += weight_of(i, rows) if key <= low else 0
        above = min(above, key) if key > low else above
    return low, above if 2 * held == weight and above != NO_KEY else low


@inline
def number_key(i, o, target, rows):
    """An output of a record, as a whole number in the order of floats."""
    return order_key(target.numbers[row_of(i, rows) * target.outputs + o])


_median_number = filled(find_median, key_at=number_key)
_median_steps = filled(find_median, key_at=steps_of)


@inline
def median_number(begin, end, o, unit, target, rows):
    """Weighted median of an output of some records; where just half of the weight is below, the middle of two numbers."""
    low, high = _median_number(begin, end, o, target, rows)
    if low == high:
        return value_of_key(low)
    return 0.5 * value_of_key(low) + 0.5 * value_of_key(high)


@inline
def median_steps(begin, end, target, rows, mine):
    """The same of the first output, in steps."""
    low, high = _median_steps(begin, end, 0, target, rows)
    return 0.5 * float(low + high)
