"""Losses of ranking: gradients from the pairs of rows of a query, and XE-NDCG.

A query belongs to one thread, which sorts its rows by score and computes in a fixed order, so nothing depends on threads. Losses
of pairs share a frame (`pairwise`): a loop over the first positions, and one in vectors over all positions below. A loss only has
the cost of swapping two rows. A pair takes about 4 ns on one thread. XE-NDCG draws its target anew in each round, by the seed of
the round and the row.
"""

import numpy as np

from spinney.data.kernels.queries import LN2, Lists, sort_list
from spinney.data.kernels.records import GRADIENT_BLOCK, PAIR, Gradients, LabelArrays
from spinney.jit import Member, f64, framed, hole, i64, inline, kernel, out, own, record
from spinney.jit.barrier import meet
from spinney.jit.intrinsics import tail
from spinney.jit.math import decay, exp, log
from spinney.jit.types import filled
from spinney.objectives.kernels.common import block_largest
from spinney.sampling.kernels.random import PURPOSE_TARGETS, random_bits, unit

# --- The frame around ranking losses that are sums over pairs of rows of a query.
#
# The upper row of a pair, by score, is one of the first positions. The gradient of a pair moves the more relevant row up and the
# other one down, by the probability that their scores are in the wrong order times the cost of swapping them. The terms of all
# pairs of a row are computed in vectors first, then added. One thread works on a query, always in the same order.


LANES = 4  # partial sums over the pairs of a row
LARGEST_DIFFERENCE = 700.0  # of scores, beyond which the probability of a wrong order counts as 0
SOFT = 0.01  # limits the weight of pairs of equal scores


@record
class PairSettings:
    """Parameters of a pairwise loss, gains by relevance, discounts by position, and a factor for each query."""

    truncation: i64  # first positions, all pairs of which count
    norm: i64
    sigmoid: f64
    levels: i64
    gains: f64["levels"]  # by relevance
    discounts: f64["lists.width"]  # by position
    scale: f64["lists.queries"]  # factor on the weight of pairs


@record(per_thread=True)
class QueryPairs:
    """Memory of a thread for one query, by position."""

    gains: out(f64["lists.width"])
    above: out(f64["lists.width"])  # first number of a position, as the upper one of a pair
    below: out(f64["lists.width"])  # second number, as the lower one
    g_terms: out(f64["lists.width"])  # terms of the pairs of one row, of the gradients
    h_terms: out(f64["lists.width"])  # and of the hessians
    g_sums: out(f64["lists.width"])  # sums of both by row
    h_sums: out(f64["lists.width"])


pair_weight = hole("the cost of swapping two rows")
weigh_positions = hole("two numbers for each position of a sorted query")
terms = hole("terms of the pairs of a row")
of_query = hole("gradients of the rows of a query")


@inline
def pair_terms(i, end, scores, gains, below, above, sigmoid, soft, slope, g_terms, h_terms):
    """Terms of gradients and hessians of the pairs of position i with all later ones.

    The probability of a wrong order and its derivative share one exponential and one division.
    """
    score = scores[i]
    gain = gains[i]
    for j in range(i + 1, end):
        distance = score - scores[j]
        weight = pair_weight(gain, gains[j], above, below[j])
        e = decay(min(distance * sigmoid, LARGEST_DIFFERENCE))
        one = 1.0 + e
        part = weight / (one * one * (soft + slope * distance))
        g_terms[j] = part * (one * e if weight > 0.0 else one)
        h_terms[j] = abs(part) * e


@inline
def add_terms(begin, end, g_terms, h_terms, g_sums, h_sums):
    """Add the terms of pairs to their lower rows."""
    for j in range(begin, end):
        g_sums[j] -= g_terms[j]
        h_sums[j] += h_terms[j]


@inline
def sum_terms(begin, end, g_terms, h_terms):
    """Sums of terms for the upper row of pairs, a multiple of `LANES` of them. Returns also the sum of |g|."""
    g_0, g_1, g_2, g_3 = 0.0, 0.0, 0.0, 0.0
    h_0, h_1, h_2, h_3 = 0.0, 0.0, 0.0, 0.0
    s_0, s_1, s_2, s_3 = 0.0, 0.0, 0.0, 0.0
    for j in range(begin, end, LANES):
        g_0 += g_terms[j]
        g_1 += g_terms[j + 1]
        g_2 += g_terms[j + 2]
        g_3 += g_terms[j + 3]
        h_0 += h_terms[j]
        h_1 += h_terms[j + 1]
        h_2 += h_terms[j + 2]
        h_3 += h_terms[j + 3]
        s_0 += abs(g_terms[j])
        s_1 += abs(g_terms[j + 1])
        s_2 += abs(g_terms[j + 2])
        s_3 += abs(g_terms[j + 3])
    return (g_0 + g_1) + (g_2 + g_3), (h_0 + h_1) + (h_2 + h_3), (s_0 + s_1) + (s_2 + s_3)


@inline
def take_gains(begin, count, order, places, target, table, gains):
    """Gains of a query's rows by position. Returns whether they differ."""
    low = float("inf")
    high = float("-inf")
    for k in range(count):
        gain = table[np.int64(target[order[begin + np.int64(places[k])]])]
        gains[k] = gain
        low = min(low, gain)
        high = max(high, gain)
    return low < high


@inline
def write_pairs(begin, count, order, places, labels, factors, g_sums, h_sums, written):
    """Gradients and hessians of a query's rows, times their weights. The sums are of negative gradients."""
    for k in range(count):
        row = np.int64(order[begin + np.int64(places[k])])
        w = labels.weight[row] if labels.weighted != 0 else 1.0
        written[2 * row] = np.float32(-g_sums[k] * factors[0] * w)
        written[2 * row + 1] = np.float32(h_sums[k] * factors[1] * w)


@inline
def query_gradients(q, labels, gradients, lists, settings, in_order, mine):
    """Gradients of a query."""
    begin = lists.begins[q]
    count = lists.begins[q + 1] - begin
    start = sort_list(
        begin, count, lists.width, gradients.scores, lists.order, in_order.keys, in_order.places
    )
    scores, places = tail(in_order.keys, start), tail(in_order.places, start)
    gains, above, below = mine.gains, mine.above, mine.below
    g_terms, h_terms, g_sums, h_sums = mine.g_terms, mine.h_terms, mine.g_sums, mine.h_sums
    differ = take_gains(begin, count, lists.order, places, labels.target, settings.gains, gains)
    for k in range(count):
        g_sums[k] = 0.0
        h_sums[k] = 0.0
    total = 0.0
    if differ and settings.scale[q] > 0.0:
        weigh_positions(count, gains, settings.discounts, above, below)
        narrow = settings.norm != 0 and scores[0] != scores[count - 1]
        soft, slope = (SOFT, 1.0) if narrow else (1.0, 0.0)
        for k in range(count, count + LANES):
            scores[k] = scores[count - 1]
            below[k] = 0.0
        for i in range(min(settings.truncation, count - 1)):
            # Pairs of rows of the same gain, whose terms are 0, fill up the last vector.
            end = count + (i + 1 - count) % LANES
            for k in range(count, end):
                gains[k] = gains[i]
            terms(i, end, scores, gains, below, above[i], settings.sigmoid, soft, slope, g_terms, h_terms)
            add_terms(i + 1, count, g_terms, h_terms, g_sums, h_sums)
            g, h, size = sum_terms(i + 1, end, g_terms, h_terms)
            g_sums[i] += g
            h_sums[i] += h
            total += size
    factor = settings.scale[q] * settings.sigmoid
    total *= 2.0 * factor
    factor *= log(1.0 + total) / (LN2 * total) if settings.norm != 0 and total > 0.0 else 1.0
    factors = (factor, factor * settings.sigmoid)
    write_pairs(begin, count, lists.order, places, labels, factors, g_sums, h_sums, gradients.pairs)


def fill_gradients(
    team: Member,
    labels: LabelArrays,
    gradients: Gradients,
    lists: Lists,
    settings: PairSettings,
    scratch: QueryPairs,
):
    """Gradient and hessian of every row, both times the weight."""
    in_order, mine = own(lists.sorted, team.rank), own(scratch, team.rank)
    for q in range(team.rank, lists.queries, team.size):
        of_query(q, labels, gradients, lists, settings, in_order, mine)
    if not meet(team, team.size):
        return
    for b in range(team.rank, gradients.blocks, team.size):
        begin = b * GRADIENT_BLOCK
        block_largest(
            gradients.pairs, begin, min(begin + GRADIENT_BLOCK, gradients.rows), gradients.largest, PAIR * b
        )


def pairwise(name, weigh_positions, pair_weight):
    """The kernel `<name>_gradients` of a loss.

    `weigh_positions(count, gains, discounts, above, below)` fills two numbers for each position of a sorted query, and
    `pair_weight(gain, other, above, below)` is the cost of swapping two rows, from the gain of each, the first number of the
    upper position and the second of the lower one: above 0 where the upper row is the more relevant, below 0 where it is less.
    """
    terms = filled(pair_terms, pair_weight=pair_weight)
    of_query = filled(query_gradients, weigh_positions=weigh_positions, terms=terms)
    of_query.__module__ = weigh_positions.__module__
    return framed(f"{name}_gradients", fill_gradients, of_query=of_query)


# --- LambdaMART: the weight of a pair is the change of the normalised discounted gain when its rows are swapped


@inline
def weigh_discounts(count, gains, discounts, above, below):
    """Discounts; the difference of two is the cost of a swap for each unit of gain."""
    for k in range(count):
        above[k] = discounts[k]
        below[k] = -discounts[k]


@inline
def gain_difference(gain, other, above, below):
    """Difference of gains times that of discounts."""
    return (gain - other) * (above + below)


rank_ndcg_gradients = pairwise("rank_ndcg", weigh_discounts, gain_difference)


# --- The same with the average precision; a row is relevant, 1, or not, 0


@inline
def weigh_precision(count, gains, discounts, above, below):
    """Precision that a relevant row adds at its position, and what it adds at relevant rows between the two positions."""
    found = 0.0
    between = 0.0
    for k in range(count):
        position = float(k + 1)
        above[k] = (found + 1.0) / position
        found += gains[k]
        below[k] = between - found / position
        between += gains[k] / position
        above[k] -= between


rank_map_gradients = pairwise("rank_map", weigh_precision, gain_difference)


# --- RankNet: all pairs have the same weight


@inline
def weigh_equally(count, gains, discounts, above, below):
    """Positions do not matter."""
    for k in range(count):
        above[k] = 0.0
        below[k] = 0.0


@inline
def more_relevant(gain, other, above, below):
    """Which of two rows is the more relevant."""
    return 1.0 if gain > other else (-1.0 if gain < other else 0.0)


rank_pairwise_gradients = pairwise("rank_pairwise", weigh_equally, more_relevant)


# --- XE-NDCG: cross entropy between the softmax of a query's scores and a distribution drawn from its gains.
#
# The distribution is drawn again in each round: the probabilities of rows of equal relevance differ. Gradients have terms up to
# the third order, as in the paper (Bruch, "An Alternative Cross Entropy Loss for Learning-to-Rank") and in LightGBM.


LEAST = 1e-10  # probability of all other rows of a query, at least


@record
class TargetDraw:
    """The seed of a round, from which targets are drawn, and gains by relevance."""

    levels: i64
    first: i64  # number of the first row in the whole table; draws are by row
    seed: i64["1"]
    gains: f64["levels"]


@record(per_thread=True)
class QueryProbabilities:
    """Memory of a thread for one query: probabilities of its rows by score, their targets, and gradients."""

    probabilities: out(f64["lists.width"])
    targets: out(f64["lists.width"])
    slopes: out(f64["lists.width"])


@inline
def softmax_of(begin, count, order, scores, probabilities):
    """Softmax of a query's scores."""
    top = scores[order[begin]]
    for k in range(1, count):
        top = max(top, scores[order[begin + k]])
    total = 0.0
    for k in range(count):
        probabilities[k] = exp(scores[order[begin + k]] - top)
        total += probabilities[k]
    for k in range(count):
        probabilities[k] /= total


@inline
def draw_targets(begin, count, order, target, draw, targets):
    """Draw the target distribution of a query. Returns whether the relevances of its rows differ."""
    first = target[order[begin]]
    differ = False
    total = 0.0
    for k in range(count):
        row = np.int64(order[begin + k])
        differ = differ or target[row] != first
        gain = draw.gains[np.int64(target[row])]
        targets[k] = gain + 1.0 - unit(random_bits(draw.seed[0], PURPOSE_TARGETS, draw.first + row))
        total += targets[k]
    for k in range(count):
        targets[k] /= total
    return differ


@inline
def add_orders(count, probabilities, targets, slopes):
    """Gradients: terms of the first order, then of the second and third, each from the sum of those before."""
    total = 0.0
    for k in range(count):
        slopes[k] = probabilities[k] - targets[k]
        targets[k] = slopes[k] / max(1.0 - probabilities[k], LEAST)
        total += targets[k]
    for _ in range(2):
        before = total
        total = 0.0
        for k in range(count):
            term = probabilities[k] * (before - targets[k])
            slopes[k] += term
            targets[k] = term / max(1.0 - probabilities[k], LEAST)
            total += targets[k]


@kernel
def rank_xendcg_gradients(
    team: Member,
    labels: LabelArrays,
    gradients: Gradients,
    lists: Lists,
    draw: TargetDraw,
    scratch: QueryProbabilities,
):
    """Gradient and hessian of every row, both times the weight; 0 in queries whose rows have all the same relevance."""
    mine = own(scratch, team.rank)
    probabilities, targets, slopes = mine.probabilities, mine.targets, mine.slopes
    for q in range(team.rank, lists.queries, team.size):
        begin = lists.begins[q]
        count = lists.begins[q + 1] - begin
        softmax_of(begin, count, lists.order, gradients.scores, probabilities)
        differ = draw_targets(begin, count, lists.order, labels.target, draw, targets)
        add_orders(count, probabilities, targets, slopes)
        for k in range(count):
            row = np.int64(lists.order[begin + k])
            w = labels.weight[row] if labels.weighted != 0 else 1.0
            w = w if differ else 0.0
            gradients.pairs[2 * row] = np.float32(slopes[k] * w)
            gradients.pairs[2 * row + 1] = np.float32(probabilities[k] * (1.0 - probabilities[k]) * w)
    if not meet(team, team.size):
        return
    for b in range(team.rank, gradients.blocks, team.size):
        first = b * GRADIENT_BLOCK
        block_largest(
            gradients.pairs, first, min(first + GRADIENT_BLOCK, gradients.rows), gradients.largest, PAIR * b
        )
