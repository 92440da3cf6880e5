"""Areas under curves, from rows that are sorted by score."""

import numpy as np

from spinney.data.kernels.records import LabelArrays
from spinney.jit import f64, i32, i64, inline, kernel, out
from spinney.metrics.kernels.frames import weight_of

AREAS = 4


@inline
def is_of(target, label):
    """Whether a row is of a class; of two classes, targets above a half are of the second."""
    return abs(target - label) < 0.5


@kernel
def curve_areas(
    labels: LabelArrays, label: f64, keys: i64["labels.rows"], order: i32["labels.rows"], areas: out(f64["AREAS"]),
):
    """Under the ROC curve of a class and under precision by recall, both times totals; then these: its weight, the others'.

    Rows of one score make one step of a curve.
    """
    own = 0.0
    other = 0.0
    area = 0.0
    precision = 0.0
    i = labels.rows - 1
    while i >= 0:
        key = keys[i]
        own_here = 0.0
        other_here = 0.0
        while i >= 0 and keys[i] == key:
            row = order[i]
            w = weight_of(labels, row)
            # Without a jump, which nobody could foresee.
            mine = is_of(labels.target[row], label)
            own_here += w if mine else 0.0
            other_here += 0.0 if mine else w
            i -= 1
        area += other_here * (own + 0.5 * own_here)
        own += own_here
        other += other_here
        if own + other > 0.0:
            precision += own_here * (own / (own + other))
    areas[0] = area
    areas[1] = precision
    areas[2] = own
    areas[3] = other


@kernel
def pair_areas(
    labels: LabelArrays, label: i64, classes: i64, keys: i64["labels.rows"], order: i32["labels.rows"],
    below: out(f64["classes"]), here: out(f64["classes"]), areas: out(f64["classes"]),
):
    """Under the ROC curve of a class against each other one, times the weights of both, which `below` ends as."""
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
