"""One against the rest, for many classes: the logistic loss of each class, whether a row is of it or not."""

import numpy as np

from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, inline, kernel
from spinney.jit.math import sigmoid
from spinney.objectives.kernels.largest import block_largest
from spinney.objectives.kernels.line_search import line_search
from spinney.objectives.kernels.log_loss import gradient
from spinney.objectives.kernels.records import BLOCK, PAIR, Gradients


@kernel
def one_vs_rest_gradients(team: Member, labels: LabelArrays, gradients: Gradients):
    """g = p - 1[y = class], h = p(1-p), both times the weight."""
    rows, blocks = gradients.rows, gradients.blocks
    scores, pairs, target, weight = gradients.scores, gradients.pairs, labels.target, labels.weight
    weighted = labels.weighted
    for b in range(team.rank, blocks, team.size):
        begin = b * BLOCK
        end = min(begin + BLOCK, rows)
        for k in range(gradients.outputs):
            at = k * rows
            for i in range(begin, end):
                w = weight[i] if weighted != 0 else 1.0
                p = sigmoid(scores[at + i])
                y = 1.0 if target[i] == float(k) else 0.0
                pairs[2 * (at + i)] = np.float32((p - y) * w)
                pairs[2 * (at + i) + 1] = np.float32(p * (1.0 - p) * w)
            block_largest(pairs, at + begin, at + end, gradients.largest, PAIR * (k * blocks + b))


@inline
def of_class(row, gradients, labels, output):
    """Score of a class, and whether a row is of it."""
    return gradients.scores[output * gradients.rows + row], 1.0 if labels.target[row] == float(output) else 0.0


one_vs_rest_line_search = line_search("one_vs_rest", gradient, of_class)
