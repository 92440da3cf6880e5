"""Weights by class, from which accuracies and F1 follow."""

import numpy as np

from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, f64, i64, kernel, out
from spinney.metrics.kernels.frames import BLOCK, weight_of
from spinney.metrics.kernels.merror import top_class

SUMS = 3  # of a class: its rows that were found, its rows, rows taken for it


@kernel
def class_sums(
    team: Member, labels: LabelArrays, outputs: i64, classes: i64, blocks: i64,
    scores: f64["labels.rows * outputs"], sums: out(f64["SUMS * classes * blocks"]),
):
    """The sums of each class in each block of rows; one score speaks for the second of two classes where it is above 0."""
    for b in range(team.rank, blocks, team.size):
        found = b * SUMS * classes
        for j in range(found, found + SUMS * classes):
            sums[j] = 0.0
        own = found + classes
        taken = own + classes
        for i in range(b * BLOCK, min((b + 1) * BLOCK, labels.rows)):
            w = weight_of(labels, i)
            y = labels.target[i]
            if outputs == 1:
                truth = 1 if y > 0.5 else 0
                guess = 1 if scores[i] > 0.0 else 0
            else:
                truth = np.int64(y)
                guess = top_class(scores, i, labels.rows, outputs)
            sums[own + truth] += w
            sums[taken + guess] += w
            sums[found + truth] += w if truth == guess else 0.0
