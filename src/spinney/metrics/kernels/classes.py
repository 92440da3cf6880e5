"""Metrics of classes: losses of many classes, and the sums of weights by class from which accuracies and F1 are computed."""

import numpy as np

from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, f64, i64, inline, kernel, out
from spinney.jit.math import exp, log
from spinney.metrics.kernels.pointwise import LOSS_BLOCK, metric_of_outputs, weight_of

SUMS = 3  # of a class: rows predicted right, its rows, rows predicted as it


@kernel
def class_sums(
    team: Member,
    labels: LabelArrays,
    outputs: i64,
    classes: i64,
    blocks: i64,
    scores: f64["labels.rows * outputs"],
    sums: out(f64["SUMS * classes * blocks"]),
):
    """The sums of each class in each block of rows; one score predicts the second of two classes where it is above 0."""
    for b in range(team.rank, blocks, team.size):
        correct = b * SUMS * classes
        for j in range(correct, correct + SUMS * classes):
            sums[j] = 0.0
        actual = correct + classes
        predicted = actual + classes
        for i in range(b * LOSS_BLOCK, min((b + 1) * LOSS_BLOCK, labels.rows)):
            w = weight_of(labels, i)
            y = labels.target[i]
            if outputs == 1:
                truth = 1 if y > 0.5 else 0
                guess = 1 if scores[i] > 0.0 else 0
            else:
                truth = np.int64(y)
                guess = top_class(scores, i, labels.rows, outputs)
            sums[actual + truth] += w
            sums[predicted + guess] += w
            sums[correct + truth] += w if truth == guess else 0.0


@inline
def top_class(scores, row, rows, outputs):
    """The class of the largest score; of equal ones the first."""
    top = scores[row]
    at = 0
    for k in range(1, outputs):
        if scores[k * rows + row] > top:
            top = scores[k * rows + row]
            at = k
    return at


@metric_of_outputs
def merror(scores, row, rows, outputs, target):
    """Wrong class: 1 where another class has the largest score."""
    return 0.0 if top_class(scores, row, rows, outputs) == np.int64(target) else 1.0


@metric_of_outputs
def mlogloss(scores, row, rows, outputs, target):
    """Softmax loss: -log p_y with p = softmax(F)."""
    top = scores[row]
    for k in range(1, outputs):
        top = max(top, scores[k * rows + row])
    total = 0.0
    for k in range(outputs):
        total += exp(scores[k * rows + row] - top)
    return log(total) - (scores[np.int64(target) * rows + row] - top)
