"""Hessians that are weights, for boosting of first order: trees are fitted to gradients alone."""

import numpy as np

from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, kernel
from spinney.objectives.kernels.largest import block_largest
from spinney.objectives.kernels.outputs import weight_of
from spinney.objectives.kernels.records import BLOCK, PAIR, Gradients


@kernel
def flatten_hessians(team: Member, labels: LabelArrays, gradients: Gradients):
    """Put the weight of every row in the place of its hessians."""
    rows, pairs = gradients.rows, gradients.pairs
    for b in range(team.rank, gradients.blocks * gradients.outputs, team.size):
        output = b // gradients.blocks
        first = output * rows
        weight = weight_of(labels, output)
        begin = b % gradients.blocks * BLOCK
        end = min(begin + BLOCK, rows)
        for i in range(begin, end):
            w = weight[i] if labels.weighted != 0 else 1.0
            pairs[PAIR * (first + i) + 1] = np.float32(w)
        block_largest(pairs, first + begin, first + end, gradients.largest, PAIR * b)
