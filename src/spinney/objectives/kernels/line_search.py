"""The frame around line searches: for each leaf the constant that lowers the loss of its rows most.

The derivative of the loss by that constant is a sum over the leaf's rows. It is summed as whole numbers, so that it does not
depend on the order of the rows. From a Newton step on, steps are doubled until the derivative changes its sign; then the place
where it is 0 is closed in by secants, the end that stays being weighed down (the Illinois way). Where a secant has not halved
what is left, the middle is tried next: a Newton step may lead far beyond, to where the loss is as steep as a cliff.
"""

import numpy as np

from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, f32, f64, framed, hole, i64, inline, out, record
from spinney.jit.intrinsics import prefetch, tail
from spinney.objectives.kernels.outputs import target_of
from spinney.objectives.kernels.records import Gradients, LeafRows
from spinney.objectives.kernels.renewal import PREFETCHED, is_own, rows_of_leaves

SUM_LIMIT = 2.0e18  # below 2**61
MOST_DOUBLINGS = 64
MOST_TURNS = 200
# The derivative counts as 0 at this share of what it was at first. Where it never changes its sign, as with rows of one class
# alone, the first one ends the search.
NEAR_ZERO = 1e-8
ZERO = 1e-11
NARROW = 1e-13  # as a share of the step


@record
class Search:
    """The rows of the leaves side by side: scores, targets, weights. Penalties are those of the tree."""

    reg_lambda: f64
    reg_alpha: f64
    scores: out(f64["by_leaf.rows"])
    targets: out(f64["by_leaf.rows"])
    weights: out(f32["by_leaf.rows"])


@inline
def own_column(row, gradients, labels, output):
    """Score and target of a row."""
    return gradients.scores[output * gradients.rows + row], target_of(labels, output)[row]


@inline
def fixed_scale(largest, count):
    """A power of two at which `count` values up to `largest` can be summed as whole numbers."""
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
    at_first = abs(g + alpha)
    curvature = second_derivative(begin, end, gradient, parameters, search) + search.reg_lambda
    # Slopes are those in the direction of the step: below 0 at first, 0 at the best step, above 0 beyond it.
    near = 0.0
    near_slope = -at_first
    step = at_first / curvature if curvature > 0.0 else 1.0
    slope = near_slope
    for _ in range(MOST_DOUBLINGS):
        g = first_derivative(begin, end, side * step, gradient, parameters, search)
        slope = side * (g + search.reg_lambda * side * step + alpha)
        if slope >= 0.0 or -slope <= NEAR_ZERO * at_first:
            break
        near = step
        near_slope = slope
        step *= 2.0
    far = step
    far_slope = slope
    if slope <= ZERO * at_first:
        return side * far
    return side * closed_in(begin, end, near, near_slope, far, far_slope, side, gradient, parameters, search)


@inline
def closed_in(begin, end, near, near_slope, far, far_slope, side, gradient, parameters, search):
    """Where the slope is 0 between a step at which it is below and one at which it is above."""
    enough = ZERO * min(-near_slope, far_slope)
    kept = 0
    step = far
    secant = True
    for _ in range(MOST_TURNS):
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
            far_slope *= 0.5 if kept > 0 else 1.0
            kept = 1
        else:
            far = step
            far_slope = slope
            near_slope *= 0.5 if kept < 0 else 1.0
            kept = -1
        secant = not secant or far - near <= 0.5 * width
    return step


gradient = hole("g and h of one row, from its score, its target and the parameters")
score_and_target = hole("those of a row for an output")


def frame(
    team: Member, by_leaf: LeafRows, gradients: Gradients, labels: LabelArrays, count: i64,
    parameters: f64["count * gradients.outputs"], search: Search, steps: out(f64["by_leaf.max_nodes"]),
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
                score, goal = score_and_target(row, gradients, labels, output)
                search.scores[i] = score
                search.targets[i] = goal
                search.weights[i] = pairs[2 * row + 1]
            steps[node] = best_step(begin, end, gradient, values, search)
        before += end - begin


def line_search(name, gradient, score_and_target=own_column):
    """The kernel `<name>_line_search` of a loss.

    `gradient` is the loss's formula, as in the pointwise frame. `score_and_target(row, gradients, labels, output)` gives those
    that it takes for an output.
    """
    return framed(f"{name}_line_search", frame, gradient=gradient, score_and_target=score_and_target)
