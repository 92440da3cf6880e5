"""Softmax loss, for many classes: -log p_y with p = softmax(F)."""

import numpy as np

from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, f64, i64, inline, kernel, out
from spinney.jit.math import exp, log
from spinney.objectives.kernels.largest import block_largest
from spinney.objectives.kernels.line_search import line_search
from spinney.objectives.kernels.log_loss import gradient
from spinney.objectives.kernels.records import BLOCK, PAIR, Gradients


@kernel
def softmax_gradients(
    team: Member, labels: LabelArrays, gradients: Gradients, threads: i64, scratch: out(f64["2 * BLOCK * threads"]),
):
    """g = p - 1[y = class], h = K/(K-1) p(1-p), both times the weight.

    One of the K scores of a row is free, because adding a constant to all changes nothing; the factor K/(K-1) makes up for
    it where the classes are alike, as in Friedman's multi-class boosting and in LightGBM.
    """
    rows, outputs, blocks = gradients.rows, gradients.outputs, gradients.blocks
    scores, pairs, target, weight = gradients.scores, gradients.pairs, labels.target, labels.weight
    weighted = labels.weighted
    factor = float(outputs) / float(outputs - 1)
    largest = team.rank * 2 * BLOCK
    norm = largest + BLOCK
    for b in range(team.rank, blocks, team.size):
        begin = b * BLOCK
        end = min(begin + BLOCK, rows)
        for i in range(begin, end):
            scratch[largest + i - begin] = scores[i]
            scratch[norm + i - begin] = 0.0
        for k in range(1, outputs):
            for i in range(begin, end):
                s = scores[k * rows + i]
                top = scratch[largest + i - begin]
                scratch[largest + i - begin] = s if s > top else top
        # The exponentials are summed, then computed again: there is no room to keep them all.
        for k in range(outputs):
            for i in range(begin, end):
                scratch[norm + i - begin] += exp(scores[k * rows + i] - scratch[largest + i - begin])
        for k in range(outputs):
            at = k * rows
            for i in range(begin, end):
                w = weight[i] if weighted != 0 else 1.0
                p = exp(scores[at + i] - scratch[largest + i - begin]) / scratch[norm + i - begin]
                y = 1.0 if target[i] == float(k) else 0.0
                pairs[2 * (at + i)] = np.float32((p - y) * w)
                pairs[2 * (at + i) + 1] = np.float32(factor * p * (1.0 - p) * w)
            block_largest(pairs, at + begin, at + end, gradients.largest, PAIR * (k * blocks + b))


@inline
def against_others(row, gradients, labels, output):
    """A class against the others: its score minus the log of the sum of their exponentials, and whether a row is of it."""
    rows = gradients.rows
    scores = gradients.scores
    top = float("-inf")
    for k in range(gradients.outputs):
        top = max(top, scores[k * rows + row]) if k != output else top
    total = 0.0
    for k in range(gradients.outputs):
        total += exp(scores[k * rows + row] - top) if k != output else 0.0
    return scores[output * rows + row] - top - log(total), 1.0 if labels.target[row] == float(output) else 0.0


softmax_line_search = line_search("softmax", gradient, against_others)
