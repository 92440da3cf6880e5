"""Softmax loss, for many classes: -log p_y with p = softmax(F)."""

import numpy as np

from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, f64, inline, kernel, out, own, record
from spinney.jit.intrinsics import tail
from spinney.jit.math import exp, log
from spinney.objectives.kernels.largest import block_largest
from spinney.objectives.kernels.line_search import line_search
from spinney.objectives.kernels.log_loss import gradient
from spinney.objectives.kernels.records import BLOCK, PAIR, Gradients


@record(per_thread=True)
class BlockShares:
    """A thread's own memory for one block of rows: the largest score, the sum of the exponentials, shares of one class."""

    tops: out(f64["BLOCK"])
    sums: out(f64["BLOCK"])
    shares: out(f64["BLOCK"])


@kernel
def softmax_gradients(team: Member, labels: LabelArrays, gradients: Gradients, scratch: BlockShares):
    """g = p - 1[y = class], h = K/(K-1) p(1-p), both times the weight.

    One of the K scores of a row is free, because adding a constant to all changes nothing; the factor K/(K-1) makes up for
    it where the classes are alike, as in Friedman's multi-class boosting and in LightGBM.
    """
    rows, outputs, blocks = gradients.rows, gradients.outputs, gradients.blocks
    scores, pairs, target, weight = gradients.scores, gradients.pairs, labels.target, labels.weight
    weighted = labels.weighted
    factor = float(outputs) / float(outputs - 1)
    mine = own(scratch, team.rank)
    tops, sums, shares = mine.tops, mine.sums, mine.shares
    for b in range(team.rank, blocks, team.size):
        begin = b * BLOCK
        count = min(BLOCK, rows - begin)
        for i in range(count):
            tops[i] = scores[begin + i]
            sums[i] = 0.0
        for k in range(1, outputs):
            of_class = tail(scores, k * rows + begin)
            for i in range(count):
                tops[i] = of_class[i] if of_class[i] > tops[i] else tops[i]
        # The exponentials are summed, then computed again: there is no room to keep them all.
        for k in range(outputs):
            of_class = tail(scores, k * rows + begin)
            for i in range(count):
                sums[i] += exp(of_class[i] - tops[i])
        for k in range(outputs):
            at = k * rows + begin
            of_class = tail(scores, at)
            of_block = tail(pairs, 2 * at)
            # By itself this is a loop of vectors; together with the next one it was not.
            for i in range(count):
                shares[i] = exp(of_class[i] - tops[i]) / sums[i]
            for i in range(count):
                w = weight[begin + i] if weighted != 0 else 1.0
                p = shares[i]
                y = 1.0 if target[begin + i] == float(k) else 0.0
                of_block[2 * i] = np.float32((p - y) * w)
                of_block[2 * i + 1] = np.float32(factor * p * (1.0 - p) * w)
            block_largest(pairs, at, at + count, gradients.largest, PAIR * (k * blocks + b))


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
