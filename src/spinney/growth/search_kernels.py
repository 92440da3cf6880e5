"""Splits: integer sums per bin → the best cut of a column.

Sums are in steps of the quantized gradients; gains are computed in those units and scaled once at the end. `line` is
scratch of a thread: prefix sums are written there first, because a running sum does not vectorise and a gain does.
"""

import numpy as np

from spinney.jit.intrinsics import bits_of, from_bits
from spinney.jit.kernel import inline

INVALID = -1.0
# A smaller penalty cannot keep a side without hessian from being divided by nothing, so each side must have some.
LEAST = 1e-30


@inline
def shrunk(g, alpha):
    """Gradient sum after L1 shrinkage."""
    if g > alpha:
        return g - alpha
    if g < -alpha:
        return g + alpha
    return 0.0


@inline
def node_score(g, h, reg_lambda, reg_alpha, max_step):
    """Twice the loss that a node saves by its best weight: G²/(H+λ), with L1 and the step limit taken into account."""
    s = shrunk(g, reg_alpha)
    d = h + reg_lambda
    if d <= 0.0:
        return 0.0
    if max_step == 0.0:
        return s * s / d
    w = min(max(-s / d, -max_step), max_step)
    return -(2.0 * s * w + d * w * w)


@inline
def node_weight(g, h, reg_lambda, reg_alpha, max_step):
    """Best weight of a leaf."""
    d = h + reg_lambda
    if d <= 0.0:
        return 0.0
    w = -shrunk(g, reg_alpha) / d
    if max_step > 0.0:
        w = min(max(w, -max_step), max_step)
    return w


@inline
def prefix_sums(planes, plane_at, total, start, bins, line, line_at, width):
    """Running sums over the bins of a column that has a code for each of them, as the left side of each cut."""
    g = 0
    h = 0
    c = 0
    for b in range(bins):
        at = plane_at + start + b
        g += planes[at]
        h += planes[at + total]
        c += planes[at + 2 * total]
        line[line_at + b] = g
        line[line_at + width + b] = h
        line[line_at + 2 * width + b] = c


@inline
def prefix_filled(planes, plane_at, total, start, bins, line, line_at, width):
    """`prefix_sums` after the bins that have rows only, and in a fourth line which bins these are; returns how many.

    A cut after an empty bin is the same as the one before it.
    """
    g = 0
    h = 0
    c = 0
    filled = 0
    for b in range(bins):
        at = plane_at + start + b
        count = planes[at + 2 * total]
        g += planes[at]
        h += planes[at + total]
        c += count
        to = line_at + filled
        line[to] = g
        line[to + width] = h
        line[to + 2 * width] = c
        line[to + 3 * width] = b
        filled += 1 if count > 0 else 0
    return filled


@inline
def code_sums(planes, plane_at, total, start, codes):
    """Sums over all codes of a column."""
    g = np.int64(0)
    h = np.int64(0)
    c = np.int64(0)
    for at in range(plane_at + start, plane_at + start + codes):
        g += planes[at]
        h += planes[at + total]
        c += planes[at + 2 * total]
    return g, h, c


@inline
def prefix_around(planes, plane_at, total, start, bins, default, rest_g, rest_h, rest_c, line, line_at, width):
    """The same for a column whose default bin has no code; the rows in it are the rest of the node."""
    g = np.int64(0)
    h = np.int64(0)
    c = np.int64(0)
    at = plane_at + start
    for b in range(bins):
        if b == default:
            g += rest_g
            h += rest_h
            c += rest_c
        else:
            g += planes[at]
            h += planes[at + total]
            c += planes[at + 2 * total]
            at += 1
        line[line_at + b] = g
        line[line_at + width + b] = h
        line[line_at + 2 * width + b] = c


@inline
def rest_of_each(planes, plane_at, total, start, columns, g, h, c, line, line_at, width):
    """Left sides of columns that have one code each, side by side: the node's rows that are not in it."""
    for k in range(columns):
        at = plane_at + start + k
        line[line_at + k] = g - planes[at]
        line[line_at + width + k] = h - planes[at + total]
        line[line_at + 2 * width + k] = c - planes[at + 2 * total]


@inline
def score_cuts(
    cuts, add_g, add_h, add_c, g, h, c, min_count, min_hessian, reg_lambda, reg_alpha, max_step,
    line, line_at, width, gains, gains_at,
):
    """Score of both sides of each cut, INVALID where a side is too small. (add_*: sums that join the left side.)

    All sums are float64 by now (exact: they are below 2**31), because AVX2 cannot convert 64-bit integers; those of NumPy, which
    may be divided by 0 where nothing is compiled.
    """
    if reg_alpha == 0.0 and max_step == 0.0:
        for b in range(cuts):
            left_g = np.float64(line[line_at + b]) + add_g
            left_h = np.float64(line[line_at + width + b]) + add_h
            left_c = np.float64(line[line_at + 2 * width + b]) + add_c
            right_g = g - left_g
            right_h = h - left_h
            fits = (
                (left_c >= min_count) & (c - left_c >= min_count)
                & (left_h >= min_hessian) & (right_h >= min_hessian)
            )
            left_d = left_h + reg_lambda
            right_d = right_h + reg_lambda
            # One division for two: a/b + c/d = (a·d + c·b) / (b·d). Where a cut does not fit, whatever comes out is masked:
            # with a condition the compiler would load and divide under masks, which takes half as long again.
            score = (left_g * left_g * right_d + right_g * right_g * left_d) / (left_d * right_d)
            mask = -np.int64(fits)
            gains[gains_at + b] = from_bits((bits_of(score) & mask) | (bits_of(INVALID) & ~mask))
    else:
        for b in range(cuts):
            left_g = float(line[line_at + b]) + add_g
            left_h = float(line[line_at + width + b]) + add_h
            left_c = float(line[line_at + 2 * width + b]) + add_c
            right_h = h - left_h
            gains[gains_at + b] = INVALID
            if (
                left_c >= min_count and c - left_c >= min_count
                and left_h >= min_hessian and right_h >= min_hessian
            ):
                gains[gains_at + b] = node_score(left_g, left_h, reg_lambda, reg_alpha, max_step) + node_score(
                    g - left_g, right_h, reg_lambda, reg_alpha, max_step
                )


@inline
def largest(gains, gains_at, cuts):
    """Largest of some gains, INVALID where there is none.

    The bits of positive floats have the order of the floats; as integers, their maximum vectorises.
    """
    best = bits_of(INVALID)
    for b in range(cuts):
        best = max(best, bits_of(gains[gains_at + b]))
    return from_bits(best)


@inline
def first_of(gains, gains_at, gain):
    """Position of the first gain of this size, which must be there."""
    at = 0
    while bits_of(gains[gains_at + at]) != bits_of(gain):
        at += 1
    return at
