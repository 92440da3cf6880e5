"""Areas under curves, from rows sorted by score; and that sort.

It is a stable sort of the bits of scores, so sums in the order of the scores are the same for any number of threads.
"""

import numpy as np

from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, f64, i32, i64, inline, kernel, out, own, record
from spinney.jit.barrier import meet
from spinney.jit.math import order_key
from spinney.metrics.kernels.pointwise import weight_of

# --- Radix sort of rows by the leading bits of their scores, from the least significant digit on; each thread has a share.
#
# As a rule few rows are left out of order, and an insertion sort moves them. Where they are many, passes over all bits follow.
# Rows of the same score stay in their order, so the result does not depend on the number of threads.


BITS = 11
DIGITS = 2048
PASSES = 6  # for all bits
LEADING = 3  # the first pass for the leading bits
LEADING_SHIFT = 33
STEPS = 2  # moves per row, on average, after which the insertion sort gives up


@record
class SortedScores:
    """Keys and their rows, twice: a pass reads one half and writes the other. `start` is where the result begins."""

    rows: i64
    keys: out(i64["2 * rows"])
    order: out(i32["2 * rows"])
    start: out(i64["1"])


@record(per_thread=True)
class DigitCounts:
    """Memory of a thread: how many of its rows have each digit, and where it writes the next one of them."""

    counts: out(i64["DIGITS"])
    offsets: out(i64["DIGITS"])


@inline
def find_offsets(rank, size, rows, digits):
    """Where a thread writes the first row of each digit. Returns whether all rows have the same digit."""
    offsets = own(digits, rank).offsets
    offset = 0
    single_digit = False
    for d in range(DIGITS):
        before = offset
        for t in range(size):
            if t == rank:
                offsets[d] = offset
            offset += own(digits, t).counts[d]
        single_digit = single_digit | (offset - before == rows)
    return single_digit


@inline
def sort_by_digit(team, sorted, digits, source, number):
    """One pass of the radix sort. Returns where the result begins, -1 to give up."""
    rows, keys, order = sorted.rows, sorted.keys, sorted.order
    mine = own(digits, team.rank)
    begin = source + rows * team.rank // team.size
    end = source + rows * (team.rank + 1) // team.size
    shift = number * BITS
    # The last digit ends in copies of the sign bit, the only bit of which 1 is the smaller value.
    flip = DIGITS // 2 if number == PASSES - 1 else 0
    for d in range(DIGITS):
        mine.counts[d] = 0
    for i in range(begin, end):
        mine.counts[((keys[i] >> shift) & (DIGITS - 1)) ^ flip] += 1
    if not meet(team, team.size):
        return -1
    if not find_offsets(team.rank, team.size, rows, digits):
        target = rows - source
        for i in range(begin, end):
            digit = ((keys[i] >> shift) & (DIGITS - 1)) ^ flip
            to = target + mine.offsets[digit]
            mine.offsets[digit] += 1
            keys[to] = keys[i]
            order[to] = order[i]
        source = target
    if not meet(team, team.size):
        return -1
    return source


@inline
def end_of_run(keys, at, end):
    """The first key, from this one on, whose leading bits differ from those of the key before it."""
    while at < end and (keys[at] >> LEADING_SHIFT) == (keys[at - 1] >> LEADING_SHIFT):
        at += 1
    return at


@inline
def sort_nearly_sorted(keys, order, begin, end):
    """Sort rows that are nearly in order. Returns whether it gave up, because too many rows had to move."""
    steps = STEPS * (end - begin)
    for i in range(begin + 1, end):
        key = keys[i]
        if keys[i - 1] > key:
            row = order[i]
            to = i
            while to > begin and keys[to - 1] > key:
                keys[to] = keys[to - 1]
                order[to] = order[to - 1]
                to -= 1
            keys[to] = key
            order[to] = row
            steps -= i - to
            if steps < 0:
                return True
    return False


@inline
def sort_runs(team, sorted, digits, source):
    """Sort rows of the same leading bits by the other bits. Returns 0 when all are sorted, 1 when not, -1 to give up.

    Rows of the same leading bits are sorted by the thread in whose share they begin.
    """
    rows, keys = sorted.rows, sorted.keys
    begin = source + rows * team.rank // team.size
    end = source + rows * (team.rank + 1) // team.size
    first = begin if begin == source else end_of_run(keys, begin, end)
    last = end_of_run(keys, end, source + rows) if first < end else end
    if not meet(team, team.size):
        return -1
    unsorted = sort_nearly_sorted(keys, sorted.order, first, last) if first < end else False
    own(digits, team.rank).counts[0] = 1 if unsorted else 0
    if not meet(team, team.size):
        return -1
    left = 0
    for t in range(team.size):
        left = max(left, own(digits, t).counts[0])
    if not meet(team, team.size):
        return -1
    return left


@kernel
def sort_scores(team: Member, scores: f64["sorted.rows"], sorted: SortedScores, digits: DigitCounts):
    """Keys of the scores in ascending order, and their rows."""
    rows = sorted.rows
    for i in range(rows * team.rank // team.size, rows * (team.rank + 1) // team.size):
        sorted.keys[i] = order_key(scores[i])
        sorted.order[i] = i
    source = 0
    for number in range(LEADING, PASSES):
        source = sort_by_digit(team, sorted, digits, source, number)
        if source < 0:
            return
    left = sort_runs(team, sorted, digits, source)
    if left < 0:
        return
    if left > 0:
        for number in range(PASSES):
            source = sort_by_digit(team, sorted, digits, source, number)
            if source < 0:
                return
    if team.rank == 0:
        sorted.start[0] = source


# --- Areas under curves


AREAS = 4


@inline
def is_class(target, label):
    """Whether a row is of a class; of two classes, targets above a half are of the second."""
    return abs(target - label) < 0.5


@kernel
def curve_areas(
    labels: LabelArrays,
    label: f64,
    keys: i64["labels.rows"],
    order: i32["labels.rows"],
    areas: out(f64["AREAS"]),
):
    """Areas of a class under the ROC curve and under precision by recall, both times total weights; then both weights.

    Rows of one score are one step of a curve.
    """
    positives = 0.0
    negatives = 0.0
    area = 0.0
    precision = 0.0
    i = labels.rows - 1
    while i >= 0:
        key = keys[i]
        positives_here = 0.0
        negatives_here = 0.0
        while i >= 0 and keys[i] == key:
            row = order[i]
            w = weight_of(labels, row)
            # Without a branch, which could not be predicted.
            is_positive = is_class(labels.target[row], label)
            positives_here += w if is_positive else 0.0
            negatives_here += 0.0 if is_positive else w
            i -= 1
        area += negatives_here * (positives + 0.5 * positives_here)
        positives += positives_here
        negatives += negatives_here
        if positives + negatives > 0.0:
            precision += positives_here * (positives / (positives + negatives))
    areas[0] = area
    areas[1] = precision
    areas[2] = positives
    areas[3] = negatives


@kernel
def pair_areas(
    labels: LabelArrays,
    label: i64,
    classes: i64,
    keys: i64["labels.rows"],
    order: i32["labels.rows"],
    below: out(f64["classes"]),
    here: out(f64["classes"]),
    areas: out(f64["classes"]),
):
    """Areas under the ROC curve of a class against each other one, times the weights of both, which are in `below` in the end."""
    rows = labels.rows
    for k in range(classes):
        below[k] = 0.0
        here[k] = 0.0
        areas[k] = 0.0
    begin = 0
    while begin < rows:
        end = begin
        while end < rows and keys[end] == keys[begin]:
            row = order[end]
            here[np.int64(labels.target[row])] += weight_of(labels, row)
            end += 1
        if here[label] > 0.0:
            for k in range(classes):
                areas[k] += here[label] * (below[k] + 0.5 * here[k])
        for i in range(begin, end):
            k = np.int64(labels.target[order[i]])
            below[k] += here[k]
            here[k] = 0.0
        begin = end
