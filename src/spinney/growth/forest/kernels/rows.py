"""The rows of a tree: records filled from its bag, their codes in a column, and their partition between two children.

Weights are whole numbers of steps (`weight_step`), drawn rows counted as often as they were drawn.
"""

import numpy as np

from spinney.growth.forest.kernels.entries import entries_of
from spinney.growth.forest.kernels.records import (
    ABSOLUTE,
    BYTES,
    MOVED,
    RANKS,
    ROW,
    TARGET,
    WEIGHT,
    payload_of,
    row_of,
)
from spinney.jit import inline
from spinney.jit.intrinsics import copy_to_one, partition_by_code, tail
from spinney.sampling.kernels.bags import fill_counts

# --- The rows of a tree: its bag, as records


MOST_STEPS = 1073741824.0  # of the weight of a tree, so that sums of targets fit 62 bits
# The same where sums and weights share 62 bits: bits of weights are missing for targets, which have 18 bits or more at the root.
PACKED_STEPS = 8388608.0
STEPS_OF_ROW = 16.0  # or more, on average; with many rows, fewer bits are left for targets


@inline
def fill_bag(seed, rules, target, counts):
    """How often the tree has each row."""
    if rules.every_row != 0:
        for i in range(target.rows):
            counts[i] = 1
    else:
        fill_counts(seed, target.rows, rules.drawn, rules.replace, counts, 0)


@inline
def balance(target, rules, counts, factors):
    """Factors that give all classes of the bag the same weight, in every output."""
    if rules.balanced != 0:
        for k in range(target.values):
            factors[k] = 0.0
        total = 0.0
        for i in range(target.rows):
            total += float(counts[i])
            for o in range(target.outputs):
                factors[target.first[o] + target.steps[i * target.outputs + o]] += float(counts[i])
        for o in range(target.outputs):
            end = target.first[o + 1] if o + 1 < target.outputs else target.values
            present = 0
            for k in range(target.first[o], end):
                present += 1 if factors[k] > 0.0 else 0
            for k in range(target.first[o], end):
                factors[k] = total / (float(present) * factors[k]) if factors[k] > 0.0 else 0.0


@inline
def weight_in_bag(i, target, balanced, counts, factors):
    """Real weight of a row: how often it was drawn, times its own weight and those of its classes."""
    weight = float(counts[i])
    if target.weighted != 0:
        weight *= target.weights[i]
    if balanced != 0:
        for o in range(target.outputs):
            weight *= factors[target.first[o] + target.steps[i * target.outputs + o]]
    return weight


@inline
def most_steps(target, rules):
    """Twice the steps of weight that all rows of a tree may have."""
    if rules.target_bits == 1 or rules.formula == ABSOLUTE:
        return MOST_STEPS
    most = PACKED_STEPS
    while most < STEPS_OF_ROW * float(target.rows) and most < MOST_STEPS:
        most *= 2.0
    return most


@inline
def weight_step(target, rules, counts, factors):
    """Real weight of a step: 1 where all weights are whole, else the smallest power of two with which the sum fits."""
    if target.weighted == 0 and rules.balanced == 0:
        return 1.0
    total = 0.0
    whole = True
    for i in range(target.rows):
        weight = weight_in_bag(i, target, rules.balanced, counts, factors)
        total += weight
        whole = whole and weight == np.floor(weight)
    most = most_steps(target, rules)
    if whole and total < most * 0.5:
        return 1.0
    step = 1.0
    while total < most * 0.25 * step and step > 1e-290:
        step *= 0.5
    while total >= most * 0.5 * step and step < 1e290:
        step *= 2.0
    return step


@inline
def fill_records(step, stride, row_codes, target, rules, counts, factors, rows):
    """Write a record for every row of the bag that has a weight. A row of the table has `stride` words. Returns how many,
    and the weight of the heaviest one.
    """
    words = rows.words
    code_words = words if rules.access == MOVED else np.int64(0)
    count = np.int64(0)
    heaviest = np.int64(0)
    for i in range(target.rows):
        if counts[i] != 0:
            weight = weight_in_bag(i, target, rules.balanced, counts, factors)
            steps = np.int64(np.floor(weight / step + 0.5))
            if weight > 0.0:
                for k in range(min(code_words, stride)):
                    rows.memory[count * words + k] = row_codes.words[i * stride + k]
                place = payload_of(count, words)
                rows.ints[place - ROW] = i
                steps = max(steps, np.int64(1))
                rows.ints[place - WEIGHT] = steps
                heaviest = max(heaviest, steps)
                rows.ints[place - TARGET] = target.steps[i * target.outputs]
                count += 1
    return count, heaviest


# --- The codes of a node's rows in a column, which are in the records or looked up in the table


@inline
def read_sparse(column, begin, end, data, rows, mine):
    """Bins of a node's rows in a sparse column: the default one, except for rows that have an entry."""
    default = data.features.default[column]
    first, found = entries_of(column, begin, end, data, rows, mine)
    for k in range(end - begin):
        mine.node_codes[k] = default
    for k in range(first, first + found):
        mine.node_codes[mine.entry_places[k]] = mine.entry_bins[k]


@inline
def read_codes(column, begin, end, data, row_codes, rules, rows, mine):
    """Codes of some records in a column, one after another."""
    group = data.features.group_of[column]
    node_codes = mine.node_codes
    if rules.access == RANKS:
        for k in range(end - begin):
            node_codes[k] = row_codes.ranks[row_of(begin + k, rows) * row_codes.columns + column]
    elif rules.access == MOVED:
        for k in range(end - begin):
            node_codes[k] = rows.bytes[(begin + k) * rows.words * 8 + group]
    elif group < 0:
        read_sparse(column, begin, end, data, rows, mine)
    elif rules.access == BYTES:
        for k in range(end - begin):
            node_codes[k] = data.codes.by_row8[row_of(begin + k, rows) * data.codes.stride + group]
    else:
        for k in range(end - begin):
            node_codes[k] = data.codes.by_row16[row_of(begin + k, rows) * data.codes.stride + group]


# --- Partition of the records of a node


@inline
def goes_left(code, cut, missing_left, members):
    """Whether a code goes left: by the cut, or with `members` by its bit. `missing_left` is a code that always does."""
    if members is None:
        return (1 if code <= cut else 0) | (1 if code == missing_left else 0)
    found = np.int64(0)
    if code != missing_left:
        found = (members[code >> 6] >> (code & 63)) & 1
    return np.int64(1) if code == missing_left else found


@inline
def partition_moved(begin, end, group, cut, missing_left, members, rows, spare):
    """Partition records by a code that they have. Order is kept on both sides. Returns where the right side begins."""
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
def partition_by_cut(begin, end, group, cut, missing_left, rows, spare):
    """Partition records by a code that they have, all codes up to a cut to the left."""
    words = rows.words
    memory = rows.memory
    kept = partition_by_code(memory, begin * words, words, end - begin, group, cut, missing_left, spare)
    copy_to_one(spare, 0, memory, begin * words + kept, spare, 0, 1, (end - begin) * words - kept)
    return begin + kept // words


@inline
def partition_looked_up(begin, end, cut, missing_left, members, rows, node_codes, spare):
    """As `partition_moved`, by codes that were read before."""
    words = rows.words
    memory = rows.memory
    left = begin * words
    right = 0
    for i in range(begin, end):
        go = goes_left(np.int64(node_codes[i - begin]), cut, missing_left, members)
        copy_to_one(memory, i * words, memory, left, spare, right, go, words)
        left += go * words
        right += (1 - go) * words
    for k in range(right):
        memory[left + k] = spare[k]
    return left // words


@inline
def partition_records(begin, end, best, data, row_codes, values, rules, rows, mine):
    """Partition a node's records by the best split. Returns where the right side begins."""
    column = best.column
    missing_left = values.codes[column] if best.default_left != 0 else np.int64(-1)
    members = mine.best_set
    spare = tail(rows.spare, begin * rows.words * rows.spare_step)
    if rules.access == MOVED:
        group = data.features.group_of[column]
        if best.is_set != 0:
            return partition_moved(begin, end, group, 0, missing_left, members, rows, spare)
        return partition_by_cut(begin, end, group, best.cut, missing_left, rows, spare)
    read_codes(column, begin, end, data, row_codes, rules, rows, mine)
    if best.is_set != 0:
        return partition_looked_up(begin, end, 0, missing_left, members, rows, mine.node_codes, spare)
    return partition_looked_up(begin, end, best.cut, missing_left, None, rows, mine.node_codes, spare)
