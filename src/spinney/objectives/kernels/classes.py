"""Losses of several classes: softmax, and one score against the rest for each class."""

import numpy as np

from spinney.data.kernels.records import GRADIENT_BLOCK, PAIR, Gradients, LabelArrays
from spinney.jit import Member, f64, inline, kernel, out, own, record
from spinney.jit.intrinsics import tail
from spinney.jit.math import exp, log, sigmoid
from spinney.objectives.kernels.common import block_largest
from spinney.objectives.kernels.leaf_values import line_search
from spinney.objectives.kernels.pointwise import log_loss

# --- Softmax loss, for many classes: -log p_y with p = softmax(F)


@record(per_thread=True)
class BlockProbabilities:
    """Memory of a thread for one block of rows: the largest score, the sum of the exponentials, probabilities of one class."""

    largest_scores: out(f64["GRADIENT_BLOCK"])
    sums: out(f64["GRADIENT_BLOCK"])
    probabilities: out(f64["GRADIENT_BLOCK"])


@kernel
def softmax_gradients(team: Member, labels: LabelArrays, gradients: Gradients, scratch: BlockProbabilities):
    """g = p - 1[y = class], h = K/(K-1) p(1-p), both times the weight.

    One of the K scores of a row is free, because adding a constant to all changes nothing; the factor K/(K-1) makes up for
    it where the classes are alike, as in Friedman's multi-class boosting and in LightGBM.
    """
    rows, outputs, blocks = gradients.rows, gradients.outputs, gradients.blocks
    scores, pairs, target, weight = gradients.scores, gradients.pairs, labels.target, labels.weight
    weighted = labels.weighted
    factor = float(outputs) / float(outputs - 1)
    mine = own(scratch, team.rank)
    largest_scores, sums, probabilities = mine.largest_scores, mine.sums, mine.probabilities
    for b in range(team.rank, blocks, team.size):
        begin = b * GRADIENT_BLOCK
        count = min(GRADIENT_BLOCK, rows - begin)
        for i in range(count):
            largest_scores[i] = scores[begin + i]
            sums[i] = 0.0
        for k in range(1, outputs):
            of_class = tail(scores, k * rows + begin)
            for i in range(count):
                largest_scores[i] = of_class[i] if of_class[i] > largest_scores[i] else largest_scores[i]
        # The exponentials are computed twice, for the sum and for the probabilities: the buffer has space for one class.
        for k in range(outputs):
            of_class = tail(scores, k * rows + begin)
            for i in range(count):
                sums[i] += exp(of_class[i] - largest_scores[i])
        for k in range(outputs):
            at = k * rows + begin
            of_class = tail(scores, at)
            of_block = tail(pairs, 2 * at)
            # Alone this loop is vectorized; in one loop with the next one it was not.
            for i in range(count):
                probabilities[i] = exp(of_class[i] - largest_scores[i]) / sums[i]
            for i in range(count):
                w = weight[begin + i] if weighted != 0 else 1.0
                p = probabilities[i]
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


softmax_line_search = line_search("softmax", log_loss, against_others)


# --- One against the rest, for many classes: the logistic loss of each class, whether a row is of it or not


@kernel
def one_vs_rest_gradients(team: Member, labels: LabelArrays, gradients: Gradients):
    """g = p - 1[y = class], h = p(1-p), both times the weight."""
    rows, blocks = gradients.rows, gradients.blocks
    scores, pairs, target, weight = gradients.scores, gradients.pairs, labels.target, labels.weight
    weighted = labels.weighted
    for b in range(team.rank, blocks, team.size):
        begin = b * GRADIENT_BLOCK
        end = min(begin + GRADIENT_BLOCK, rows)
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
    return gradients.scores[output * gradients.rows + row], 1.0 if labels.target[row] == float(
        output
    ) else 0.0


one_vs_rest_line_search = line_search("one_vs_rest", log_loss, of_class)
