"""Leaf values that a loss computes from the rows of a leaf: quantiles of the residuals, or a line search."""

import numpy as np

from spinney.data.kernels.records import Gradients, LabelArrays, LeafRows
from spinney.jit import Member, f32, f64, framed, hole, i64, inline, kernel, out, own, record
from spinney.jit.intrinsics import prefetch, tail
from spinney.jit.math import fine_scale, order_key, value_of_key
from spinney.objectives.kernels.common import target_of

# --- For both: which leaves a thread works on, and how many rows there are


PREFETCHED = 16  # rows


@inline
def is_own(before, count, total, team):
    """Whether a leaf of `count` rows, with `before` rows in the leaves before it, is worked on by this thread."""
    middle = 2 * before + count
    return 2 * total * team.rank <= middle * team.size < 2 * total * (team.rank + 1)


@inline
def rows_of_leaves(by_leaf):
    """How many rows all leaves have."""
    total = np.int64(0)
    for node in range(by_leaf.grown[0].nodes):
        total += by_leaf.end[node] - by_leaf.begin[node]
    return total


# --- Leaf values as weighted quantiles of the residuals, for losses whose second derivative is 0.
#
# The hessian of these losses is the weight of the row and nothing else. Residuals are compared as integers of the same order,
# and weights are summed as integers: the quantile does not depend on the order of the rows.


BUCKETS = 1024
SMALL_SORT = 32  # values at most, which are sorted by insertion
NO_KEY = 9223372036854775807  # no value has it


@record
class Selection:
    """Memory of the search for quantiles: a key and a mass for each row, by leaf."""

    keys: out(i64["by_leaf.rows"])
    masses: out(i64["by_leaf.rows"])


@record(per_thread=True)
class Buckets:
    """Memory of a thread: masses of a leaf's rows by bucket of their keys."""

    masses: out(i64["BUCKETS"])


@inline
def take_residuals(begin, end, members, scores, pairs, target, selection):
    """Keys and masses of a leaf's rows: residuals and weights as integers. Returns the sum of the masses."""
    smallest = float("inf")
    largest = 0.0
    for i in range(begin, end):
        ahead = members[min(i + PREFETCHED, end - 1)]
        prefetch(scores, ahead)
        prefetch(pairs, 2 * ahead)
        prefetch(target, ahead)
        row = np.int64(members[i])
        selection.keys[i] = order_key(target[row] - scores[row])
        h = float(pairs[2 * row + 1])
        smallest = min(smallest, h)
        largest = max(largest, h)
    if smallest == largest:
        for i in range(begin, end):
            selection.masses[i] = 1
        return end - begin
    total = np.int64(0)
    # A power of two, so that integer weights keep their ratios; up to 2**30, so that the masses of 2**31 rows fit an int64.
    scale = fine_scale(largest)
    for i in range(begin, end):
        h = float(pairs[2 * np.int64(members[i]) + 1])
        mass = max(np.int64(h * scale), np.int64(1)) if h > 0.0 else np.int64(0)
        selection.masses[i] = mass
        total += mass
    return total


@inline
def find_shift(low, high):
    """By how many bits keys are shifted so that those from low to high fall into the buckets, and into two of them at least."""
    shift = 1
    while (high >> shift) - (low >> shift) >= BUCKETS:
        shift += 1
    return 0 if shift == 1 and (high >> 1) - (low >> 1) < BUCKETS // 2 else shift


@inline
def insertion_sort(begin, end, keys, masses):
    """Sort keys, each with its mass."""
    for i in range(begin + 1, end):
        key = keys[i]
        mass = masses[i]
        to = i
        while to > begin and keys[to - 1] > key:
            keys[to] = keys[to - 1]
            masses[to] = masses[to - 1]
            to -= 1
        keys[to] = key
        masses[to] = mass


@inline
def keep_bucket(begin, end, bucket, first, shift, keys, masses):
    """Move the keys of a bucket to the front. Returns their end, and the smallest key above the bucket."""
    above = np.int64(NO_KEY)
    to = begin
    for i in range(begin, end):
        key = keys[i]
        mass = masses[i]
        at = (key >> shift) - first
        keys[to] = key
        masses[to] = mass
        to += 1 if at == bucket else 0
        above = min(above, key) if at > bucket else above
    return to, above


@inline
def quantile(begin, end, wanted, selection, buckets):
    """The smallest value at which the masses up to it reach `wanted`; where they are equal, the middle to the next value."""
    keys = selection.keys
    masses = selection.masses
    below = np.int64(0)
    above = np.int64(NO_KEY)
    while end - begin > SMALL_SORT:
        low = keys[begin]
        high = low
        for i in range(begin, end):
            low = min(low, keys[i])
            high = max(high, keys[i])
        if low == high:
            break
        shift = find_shift(low, high)
        first = low >> shift
        last = (high >> shift) - first
        for b in range(last + 1):
            buckets[b] = 0
        for i in range(begin, end):
            buckets[(keys[i] >> shift) - first] += masses[i]
        bucket = np.int64(0)
        while bucket < last and float(below + buckets[bucket]) < wanted:
            below += buckets[bucket]
            bucket += 1
        end, next_key = keep_bucket(begin, end, bucket, first, shift, keys, masses)
        above = min(above, next_key)
    if end - begin <= SMALL_SORT:
        insertion_sort(begin, end, keys, masses)
    at = begin
    while at < end - 1 and float(below + masses[at]) < wanted:
        below += masses[at]
        at += 1
    value = value_of_key(keys[at])
    after = keys[at + 1] if at + 1 < end else above
    if float(below + masses[at]) == wanted and after != NO_KEY:
        return 0.5 * value + 0.5 * value_of_key(after)
    return value


@kernel
def refit_by_quantile(
    team: Member,
    by_leaf: LeafRows,
    gradients: Gradients,
    labels: LabelArrays,
    levels: f64["gradients.outputs"],
    selection: Selection,
    buckets: Buckets,
    steps: out(f64["by_leaf.max_nodes"]),
):
    """For each leaf the quantile of the residuals, at the level of its output."""
    output = by_leaf.grown[0].output
    target = target_of(labels, output)
    scores = tail(gradients.scores, gradients.rows * output)
    pairs = tail(gradients.pairs, 2 * gradients.rows * output)
    mine = own(buckets, team.rank)
    total = rows_of_leaves(by_leaf)
    before = np.int64(0)
    for node in range(by_leaf.grown[0].nodes):
        begin = by_leaf.begin[node]
        end = by_leaf.end[node]
        if begin < end and is_own(before, end - begin, total, team):
            mass = take_residuals(begin, end, by_leaf.members, scores, pairs, target, selection)
            steps[node] = quantile(begin, end, levels[output] * float(mass), selection, mine.masses)
        before += end - begin


# --- The frame around line searches: for each leaf the constant that lowers the loss of its rows most.
#
# The derivative of the loss by that constant is a sum over the leaf's rows, and a sum of integers, so that it does not depend on
# the order of the rows. From a Newton step on, steps are doubled until the derivative changes its sign. Then its root is found
# by false position, where an end that stays has its slope halved (the Illinois algorithm). A secant that has not halved the
# interval is followed by a bisection: a Newton step may end so far away that the loss is very steep there.


SUM_LIMIT = 2.0e18  # below 2**61
MAX_DOUBLINGS = 64
MAX_STEPS = 200
# The derivative counts as 0 at this share of the first one. The larger share ends the search while steps are doubled, where the
# derivative never changes its sign, as with rows of one class.
NEAR_ZERO = 1e-8
ZERO = 1e-11
NARROW = 1e-13  # as a share of the step


@record
class LineSearch:
    """Rows by leaf: scores, targets, weights. And the penalties of the tree."""

    reg_lambda: f64
    reg_alpha: f64
    scores: out(f64["by_leaf.rows"])
    targets: out(f64["by_leaf.rows"])
    weights: out(f32["by_leaf.rows"])


@inline
def output_column(row, gradients, labels, output):
    """Score and target of a row."""
    return gradients.scores[output * gradients.rows + row], target_of(labels, output)[row]


@inline
def fixed_scale(largest, count):
    """A power of two at which `count` values up to `largest` can be summed as integers."""
    scale = 1.0
    while largest * scale * count > SUM_LIMIT:
        scale *= 0.5
    while largest * scale * 2.0 * count <= SUM_LIMIT and scale < 1e300:
        scale *= 2.0
    return scale


@inline
def first_derivative(begin, end, step, gradient, parameters, search):
    """First derivative of the loss of the rows begin..end-1 after a step."""
    largest = 0.0
    for i in range(begin, end):
        g, _ = gradient(search.scores[i] + step, search.targets[i], parameters)
        largest = max(largest, abs(float(search.weights[i]) * g))
    scale = fixed_scale(largest, float(end - begin))
    total = np.int64(0)
    for i in range(begin, end):
        g, _ = gradient(search.scores[i] + step, search.targets[i], parameters)
        total += np.int64(float(search.weights[i]) * g * scale)
    return float(total) / scale


@inline
def second_derivative(begin, end, gradient, parameters, search):
    """Second derivative of the loss of the rows begin..end-1, as they are."""
    largest = 0.0
    for i in range(begin, end):
        _, h = gradient(search.scores[i], search.targets[i], parameters)
        largest = max(largest, float(search.weights[i]) * h)
    scale = fixed_scale(largest, float(end - begin))
    total = np.int64(0)
    for i in range(begin, end):
        _, h = gradient(search.scores[i], search.targets[i], parameters)
        total += np.int64(float(search.weights[i]) * h * scale)
    return float(total) / scale


@inline
def best_step(begin, end, gradient, parameters, search):
    """The step that lowers loss and penalties of the rows begin..end-1 most."""
    g = first_derivative(begin, end, 0.0, gradient, parameters, search)
    if abs(g) <= search.reg_alpha:
        return 0.0
    side = -1.0 if g > 0.0 else 1.0
    alpha = search.reg_alpha * side
    first_slope = abs(g + alpha)
    curvature = second_derivative(begin, end, gradient, parameters, search) + search.reg_lambda
    # Slopes are in the direction of the step: below 0 at the start, 0 at the best step, above 0 beyond it.
    near = 0.0
    near_slope = -first_slope
    step = first_slope / curvature if curvature > 0.0 else 1.0
    slope = near_slope
    for _ in range(MAX_DOUBLINGS):
        g = first_derivative(begin, end, side * step, gradient, parameters, search)
        slope = side * (g + search.reg_lambda * side * step + alpha)
        if slope >= 0.0 or -slope <= NEAR_ZERO * first_slope:
            break
        near = step
        near_slope = slope
        step *= 2.0
    far = step
    far_slope = slope
    if slope <= ZERO * first_slope:
        return side * far
    return side * find_root(begin, end, near, near_slope, far, far_slope, side, gradient, parameters, search)


@inline
def find_root(begin, end, near, near_slope, far, far_slope, side, gradient, parameters, search):
    """The step at which the slope is 0, between one at which it is below 0 and one at which it is above."""
    enough = ZERO * min(-near_slope, far_slope)
    stayed = 0
    step = far
    secant = True
    for _ in range(MAX_STEPS):
        width = far - near
        step = near - near_slope * (width / (far_slope - near_slope)) if secant else 0.5 * near + 0.5 * far
        if not near < step < far:
            step = 0.5 * near + 0.5 * far
        if not near < step < far or width <= NARROW * far:
            break
        g = first_derivative(begin, end, side * step, gradient, parameters, search)
        slope = side * (g + search.reg_alpha * side) + search.reg_lambda * step
        if abs(slope) <= enough:
            break
        if slope < 0.0:
            near = step
            near_slope = slope
            far_slope *= 0.5 if stayed > 0 else 1.0
            stayed = 1
        else:
            far = step
            far_slope = slope
            near_slope *= 0.5 if stayed < 0 else 1.0
            stayed = -1
        secant = not secant or far - near <= 0.5 * width
    return step


gradient = hole("g and h of one row, from its score, its target and the parameters")
score_and_target = hole("score and target of a row for an output")


def search_leaves(
    team: Member,
    by_leaf: LeafRows,
    gradients: Gradients,
    labels: LabelArrays,
    count: i64,
    parameters: f64["count * gradients.outputs"],
    search: LineSearch,
    steps: out(f64["by_leaf.max_nodes"]),
):
    """For each leaf the step that lowers loss and penalties most."""
    output = by_leaf.grown[0].output
    pairs = tail(gradients.pairs, 2 * gradients.rows * output)
    values = tail(parameters, count * output)
    total = rows_of_leaves(by_leaf)
    before = np.int64(0)
    for node in range(by_leaf.grown[0].nodes):
        begin = by_leaf.begin[node]
        end = by_leaf.end[node]
        if begin < end and is_own(before, end - begin, total, team):
            for i in range(begin, end):
                prefetch(pairs, 2 * by_leaf.members[min(i + PREFETCHED, end - 1)])
                row = np.int64(by_leaf.members[i])
                score, target = score_and_target(row, gradients, labels, output)
                search.scores[i] = score
                search.targets[i] = target
                search.weights[i] = pairs[2 * row + 1]
            steps[node] = best_step(begin, end, gradient, values, search)
        before += end - begin


def line_search(name, gradient, score_and_target=output_column):
    """The kernel `<name>_line_search` of a loss.

    `gradient` is the formula of the loss, as in `pointwise`. `score_and_target(row, gradients, labels, output)` returns its first
    two arguments for an output.
    """
    return framed(f"{name}_line_search", search_leaves, gradient=gradient, score_and_target=score_and_target)
