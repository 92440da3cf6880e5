"""The frame around losses of one score: blocks of rows, weights, the largest gradients."""

import numpy as np

from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, f64, framed, i64
from spinney.objectives.kernels.largest import block_largest
from spinney.objectives.kernels.line_search import line_search
from spinney.objectives.kernels.records import BLOCK, PAIR, Gradients


def frame(team: Member, labels: LabelArrays, count: i64, parameters: f64["count"], gradients: Gradients):
    """Gradient and hessian of every row, both times the weight."""
    scores, pairs, target, weight = gradients.scores, gradients.pairs, labels.target, labels.weight
    weighted = labels.weighted
    for b in range(team.rank, gradients.blocks, team.size):
        begin = b * BLOCK
        end = min(begin + BLOCK, gradients.rows)
        for i in range(begin, end):
            w = weight[i] if weighted != 0 else 1.0
            g, h = gradient(scores[i], target[i], parameters)
            pairs[2 * i] = np.float32(g * w)
            pairs[2 * i + 1] = np.float32(h * w)
        block_largest(pairs, begin, end, gradients.largest, PAIR * b)


def pointwise(name, gradient, searched=True):
    """The kernel `<name>_gradients` of a loss and, where leaf values may be searched for, `<name>_line_search`.

    `gradient(score, target, parameters)` gives g and h of one row. The parameters are those that the objective's row in
    `params` names, in its order.
    """
    if searched:
        line_search(name, gradient)
    return framed(f"{name}_gradients", frame, gradient=gradient)
