"""XE-NDCG: cross entropy between the softmax of a query's scores and a distribution drawn from its gains.

The distribution is drawn anew each round, so that rows of equal relevance do not always share alike. Gradients have terms up to
the third order, as in the paper (Bruch, "An Alternative Cross Entropy Loss for Learning-to-Rank") and in LightGBM.
"""

import numpy as np

from spinney.data.kernels.queries import Lists
from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, f64, i64, inline, kernel, out, own, record
from spinney.jit.barrier import meet
from spinney.jit.math import exp
from spinney.objectives.kernels.largest import block_largest
from spinney.objectives.kernels.records import BLOCK, PAIR, Gradients
from spinney.sampling.kernels.purposes import PURPOSE_TARGETS
from spinney.sampling.kernels.random import random_bits, unit

LEAST = 1e-10  # what is left for all other rows of a query, at least


@record
class Drawn:
    """The seed of a round, and gains by relevance."""

    levels: i64
    first: i64  # number of row 0, for what is drawn by row
    seed: i64["1"]
    gains: f64["levels"]


@record(per_thread=True)
class QueryShares:
    """A thread's own memory for one query: shares of its rows by score and as they are wanted, and gradients."""

    shares: out(f64["lists.width"])
    wanted: out(f64["lists.width"])
    slopes: out(f64["lists.width"])


@inline
def softmax_of(begin, count, order, scores, shares):
    """Softmax of a query's scores."""
    top = scores[order[begin]]
    for k in range(1, count):
        top = max(top, scores[order[begin + k]])
    total = 0.0
    for k in range(count):
        shares[k] = exp(scores[order[begin + k]] - top)
        total += shares[k]
    for k in range(count):
        shares[k] /= total


@inline
def draw_targets(begin, count, order, target, drawn, wanted):
    """Draw the distribution that the scores should have. Returns whether the rows' relevances differ."""
    first = target[order[begin]]
    differ = False
    total = 0.0
    for k in range(count):
        row = np.int64(order[begin + k])
        differ = differ or target[row] != first
        gain = drawn.gains[np.int64(target[row])]
        wanted[k] = gain + 1.0 - unit(random_bits(drawn.seed[0], PURPOSE_TARGETS, drawn.first + row))
        total += wanted[k]
    for k in range(count):
        wanted[k] /= total
    return differ


@inline
def add_orders(count, shares, wanted, slopes):
    """Gradients: terms of the first order, then of the second and third, which follow from the sums of those before."""
    total = 0.0
    for k in range(count):
        slopes[k] = shares[k] - wanted[k]
        wanted[k] = slopes[k] / max(1.0 - shares[k], LEAST)
        total += wanted[k]
    for _ in range(2):
        before = total
        total = 0.0
        for k in range(count):
            term = shares[k] * (before - wanted[k])
            slopes[k] += term
            wanted[k] = term / max(1.0 - shares[k], LEAST)
            total += wanted[k]


@kernel
def rank_xendcg_gradients(
    team: Member, labels: LabelArrays, gradients: Gradients, lists: Lists, drawn: Drawn, scratch: QueryShares,
):
    """Gradient and hessian of every row, both times the weight; 0 in queries whose rows are all as relevant."""
    mine = own(scratch, team.rank)
    shares, wanted, slopes = mine.shares, mine.wanted, mine.slopes
    for q in range(team.rank, lists.queries, team.size):
        begin = lists.begins[q]
        count = lists.begins[q + 1] - begin
        softmax_of(begin, count, lists.order, gradients.scores, shares)
        differ = draw_targets(begin, count, lists.order, labels.target, drawn, wanted)
        add_orders(count, shares, wanted, slopes)
        for k in range(count):
            row = np.int64(lists.order[begin + k])
            w = labels.weight[row] if labels.weighted != 0 else 1.0
            w = w if differ else 0.0
            gradients.pairs[2 * row] = np.float32(slopes[k] * w)
            gradients.pairs[2 * row + 1] = np.float32(shares[k] * (1.0 - shares[k]) * w)
    if not meet(team, team.size):
        return
    for b in range(team.rank, gradients.blocks, team.size):
        first = b * BLOCK
        block_largest(gradients.pairs, first, min(first + BLOCK, gradients.rows), gradients.largest, PAIR * b)
