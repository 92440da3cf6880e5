"""Parting the records of a node."""

import numpy as np

from spinney.growth.forest.kernels.codes import read_codes
from spinney.growth.forest.kernels.records import MOVED
from spinney.jit.inline import inline
from spinney.jit.intrinsics import copy_to_one, part_by_code, tail


@inline
def goes_left(code, cut, missing_left, members):
    """Whether a code goes left: by its place, or with `members` by its bit. `missing_left` is a code that does anyway."""
    if members is None:
        return (1 if code <= cut else 0) | (1 if code == missing_left else 0)
    found = np.int64(0)
    if code != missing_left:
        found = (members[code >> 6] >> (code & 63)) & 1
    return np.int64(1) if code == missing_left else found


@inline
def part_moved(begin, end, group, cut, missing_left, members, rows, spare):
    """Part records by a code that they hold. Order is kept on both sides. Returns where the right side begins."""
    words = rows.words
    memory = rows.memory
    held = rows.bytes
    left = begin * words
    right = 0
    here = begin * words
    place = here * 8 + group
    for _ in range(begin, end):
        go = goes_left(np.int64(held[place]), cut, missing_left, members)
        copy_to_one(memory, here, memory, left, spare, right, go, words)
        left += words & -go
        right += words & (go - 1)
        here += words
        place += words * 8
    for k in range(right):
        memory[left + k] = spare[k]
    return left // words


@inline
def part_by_cut(begin, end, group, cut, missing_left, rows, spare):
    """Part records by a code that they hold, all codes up to a cut to the left."""
    words = rows.words
    memory = rows.memory
    kept = part_by_code(memory, begin * words, words, end - begin, group, cut, missing_left, spare)
    copy_to_one(spare, 0, memory, begin * words + kept, spare, 0, 1, (end - begin) * words - kept)
    return begin + kept // words


@inline
def part_looked_up(begin, end, cut, missing_left, members, rows, line, spare):
    """The same by codes that were read before."""
    words = rows.words
    memory = rows.memory
    left = begin * words
    right = 0
    for i in range(begin, end):
        go = goes_left(np.int64(line[i - begin]), cut, missing_left, members)
        copy_to_one(memory, i * words, memory, left, spare, right, go, words)
        left += go * words
        right += (1 - go) * words
    for k in range(right):
        memory[left + k] = spare[k]
    return left // words


@inline
def part_records(begin, end, best, data, others, values, rules, rows, mine):
    """Part a node's records by the best split. Returns where the right side begins."""
    column = best.column
    missing_left = values.codes[column] if best.default_left != 0 else np.int64(-1)
    members = mine.best_set
    spare = tail(rows.spare, begin * rows.words * rows.spare_step)
    if rules.access == MOVED:
        group = data.features.group_of[column]
        if best.is_set != 0:
            return part_moved(begin, end, group, 0, missing_left, members, rows, spare)
        return part_by_cut(begin, end, group, best.cut, missing_left, rows, spare)
    read_codes(column, begin, end, data, others, rules, rows, mine)
    if best.is_set != 0:
        return part_looked_up(begin, end, 0, missing_left, members, rows, mine.line, spare)
    return part_looked_up(begin, end, best.cut, missing_left, None, rows, mine.line, spare)
