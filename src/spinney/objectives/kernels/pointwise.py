"""The frame around losses of one score: outputs, blocks of rows, weights, the largest gradients."""

import numpy as np

from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, f64, framed, hole, i64
from spinney.jit.intrinsics import tail
from spinney.objectives.kernels.largest import block_largest
from spinney.objectives.kernels.line_search import line_search
from spinney.objectives.kernels.outputs import target_of, weight_of
from spinney.objectives.kernels.records import BLOCK, PAIR, Gradients

gradient = hole("g and h of one row, from its score, its target and the parameters")


def frame(
    team: Member, labels: LabelArrays, count: i64, parameters: f64["count * gradients.outputs"], gradients: Gradients,
):
    """Gradient and hessian of every row and output, both times the weight.

    Blocks of all outputs stand together, so that a target which they share is read once.
    """
    outputs, blocks, weighted = gradients.outputs, gradients.blocks, labels.weighted
    for b in range(team.rank, blocks * outputs, team.size):
        output = b % outputs
        begin = b // outputs * BLOCK
        end = min(begin + BLOCK, gradients.rows)
        scores = tail(gradients.scores, output * gradients.rows)
        pairs = tail(gradients.pairs, PAIR * output * gradients.rows)
        target = target_of(labels, output)
        weight = weight_of(labels, output)
        values = tail(parameters, output * count)
        for i in range(begin, end):
            w = weight[i] if weighted != 0 else 1.0
            g, h = gradient(scores[i], target[i], values)
            pairs[2 * i] = np.float32(g * w)
            pairs[2 * i + 1] = np.float32(h * w)
        block_largest(pairs, begin, end, gradients.largest, PAIR * (output * blocks + b // outputs))


def pointwise(name, gradient, searched=True):
    """The kernel `<name>_gradients` of a loss and, where leaf values may be searched for, `<name>_line_search`.

    `gradient(score, target, parameters)` gives g and h of one row. The parameters are those that the objective's row in
    `params` names, in its order.
    """
    if searched:
        line_search(name, gradient)
    return framed(f"{name}_gradients", frame, gradient=gradient)
