"""The frame around losses of ranking that are sums over pairs of rows of a query.

A pair has one row among the first places, by score, and one below it. It pulls the more relevant one up and pushes the other
down, by the chance that their scores are in the wrong order times what swapping them would cost. What each pair adds to both
rows is computed in vectors first, then added. One thread does a query, always in the same order.
"""

import numpy as np

from spinney.data.kernels.queries import Lists, sort_list
from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, f64, framed, hole, i64, inline, out, own, record
from spinney.jit.barrier import meet
from spinney.jit.inline import filled
from spinney.jit.intrinsics import tail
from spinney.jit.math import decay, log
from spinney.objectives.kernels.largest import block_largest
from spinney.objectives.kernels.records import BLOCK, PAIR, Gradients

LANES = 4  # sums of a place's pairs that are added up apart
LN2 = 0.6931471805599453
LARGEST_DIFFERENCE = 700.0  # of scores, beyond which the chance of a wrong order is as good as 0
SOFT = 0.01  # keeps pairs of equal scores from weighing without limit


@record
class Pairs:
    """What a loss of pairs knows of the queries."""

    truncation: i64  # first places of which all pairs count
    norm: i64
    sigmoid: f64
    levels: i64
    gains: f64["levels"]  # by relevance
    discounts: f64["lists.width"]  # by place
    scale: f64["lists.queries"]  # factor on the weight of pairs


@record(per_thread=True)
class QueryPairs:
    """A thread's own memory for one query, by place."""

    gains: out(f64["lists.width"])
    above: out(f64["lists.width"])  # what a place counts as the upper one of a pair
    below: out(f64["lists.width"])  # and as the lower one
    pulls: out(f64["lists.width"])  # what the pairs of one place add to gradients
    bends: out(f64["lists.width"])  # and to hessians
    pulled: out(f64["lists.width"])  # sums of both
    bent: out(f64["lists.width"])


pair_weight = hole("what swapping two rows would cost")
weigh_places = hole("two numbers for each place of a sorted query")
terms = hole("what the pairs of a row add to it and to the others")
of_query = hole("gradients of the rows of a query")


@inline
def pair_terms(i, end, scores, gains, below, above, sigmoid, soft, slope, pulls, bends):
    """What the pairs of place i with all later ones add to gradients and to hessians.

    The chance of a wrong order and its derivative share one exponential and one division.
    """
    score = scores[i]
    gain = gains[i]
    for j in range(i + 1, end):
        distance = score - scores[j]
        weight = pair_weight(gain, gains[j], above, below[j])
        e = decay(min(distance * sigmoid, LARGEST_DIFFERENCE))
        one = 1.0 + e
        part = weight / (one * one * (soft + slope * distance))
        pulls[j] = part * (one * e if weight > 0.0 else one)
        bends[j] = abs(part) * e


@inline
def add_terms(begin, end, pulls, bends, pulled, bent):
    """Add what pairs say to their lower rows."""
    for j in range(begin, end):
        pulled[j] -= pulls[j]
        bent[j] += bends[j]


@inline
def sum_terms(begin, end, pulls, bends):
    """Sum what pairs say to their upper row, a multiple of `LANES` of them. Returns also the sum of its size."""
    g_0, g_1, g_2, g_3 = 0.0, 0.0, 0.0, 0.0
    h_0, h_1, h_2, h_3 = 0.0, 0.0, 0.0, 0.0
    s_0, s_1, s_2, s_3 = 0.0, 0.0, 0.0, 0.0
    for j in range(begin, end, LANES):
        g_0 += pulls[j]
        g_1 += pulls[j + 1]
        g_2 += pulls[j + 2]
        g_3 += pulls[j + 3]
        h_0 += bends[j]
        h_1 += bends[j + 1]
        h_2 += bends[j + 2]
        h_3 += bends[j + 3]
        s_0 += abs(pulls[j])
        s_1 += abs(pulls[j + 1])
        s_2 += abs(pulls[j + 2])
        s_3 += abs(pulls[j + 3])
    return (g_0 + g_1) + (g_2 + g_3), (h_0 + h_1) + (h_2 + h_3), (s_0 + s_1) + (s_2 + s_3)


@inline
def take_gains(begin, count, order, places, target, table, gains):
    """Gains of a query's rows by place. Returns whether they differ."""
    low = float("inf")
    high = float("-inf")
    for k in range(count):
        gain = table[np.int64(target[order[begin + np.int64(places[k])]])]
        gains[k] = gain
        low = min(low, gain)
        high = max(high, gain)
    return low < high


@inline
def write_pairs(begin, count, order, places, labels, factors, pulled, bent, written):
    """Gradients and hessians of a query's rows, times their weights. The pull is against the gradient."""
    for k in range(count):
        row = np.int64(order[begin + np.int64(places[k])])
        w = labels.weight[row] if labels.weighted != 0 else 1.0
        written[2 * row] = np.float32(-pulled[k] * factors[0] * w)
        written[2 * row + 1] = np.float32(bent[k] * factors[1] * w)


@inline
def query_gradients(q, labels, gradients, lists, known, in_order, mine):
    """Gradients of a query."""
    begin = lists.begins[q]
    count = lists.begins[q + 1] - begin
    start = sort_list(begin, count, lists.width, gradients.scores, lists.order, in_order.keys, in_order.places)
    scores, places = tail(in_order.keys, start), tail(in_order.places, start)
    gains, above, below = mine.gains, mine.above, mine.below
    pulls, bends, pulled, bent = mine.pulls, mine.bends, mine.pulled, mine.bent
    differ = take_gains(begin, count, lists.order, places, labels.target, known.gains, gains)
    for k in range(count):
        pulled[k] = 0.0
        bent[k] = 0.0
    total = 0.0
    if differ and known.scale[q] > 0.0:
        weigh_places(count, gains, known.discounts, above, below)
        narrow = known.norm != 0 and scores[0] != scores[count - 1]
        soft, slope = (SOFT, 1.0) if narrow else (1.0, 0.0)
        for k in range(count, count + LANES):
            scores[k] = scores[count - 1]
            below[k] = 0.0
        for i in range(min(known.truncation, count - 1)):
            # Pairs with rows of the same gain, which say nothing, fill up the last vector.
            end = count + (i + 1 - count) % LANES
            for k in range(count, end):
                gains[k] = gains[i]
            terms(i, end, scores, gains, below, above[i], known.sigmoid, soft, slope, pulls, bends)
            add_terms(i + 1, count, pulls, bends, pulled, bent)
            pull, bend, size = sum_terms(i + 1, end, pulls, bends)
            pulled[i] += pull
            bent[i] += bend
            total += size
    factor = known.scale[q] * known.sigmoid
    total *= 2.0 * factor
    factor *= log(1.0 + total) / (LN2 * total) if known.norm != 0 and total > 0.0 else 1.0
    factors = (factor, factor * known.sigmoid)
    write_pairs(begin, count, lists.order, places, labels, factors, pulled, bent, gradients.pairs)


def frame(
    team: Member, labels: LabelArrays, gradients: Gradients, lists: Lists, known: Pairs, scratch: QueryPairs,
):
    """Gradient and hessian of every row, both times the weight."""
    in_order, mine = own(lists.sorted, team.rank), own(scratch, team.rank)
    for q in range(team.rank, lists.queries, team.size):
        of_query(q, labels, gradients, lists, known, in_order, mine)
    if not meet(team, team.size):
        return
    for b in range(team.rank, gradients.blocks, team.size):
        begin = b * BLOCK
        block_largest(gradients.pairs, begin, min(begin + BLOCK, gradients.rows), gradients.largest, PAIR * b)


def ranking(name, weigh_places, pair_weight):
    """The kernel `<name>_gradients` of a loss.

    `weigh_places(count, gains, discounts, above, below)` fills two numbers for each place of a sorted query, and
    `pair_weight(gain, other, above, below)` says what swapping two rows would cost, from the gain of each, the first number of
    the upper place and the second of the lower one: above 0 where the upper row is the more relevant, below 0 where it is less.
    """
    terms = filled(pair_terms, pair_weight=pair_weight)
    of_query = filled(query_gradients, weigh_places=weigh_places, terms=terms)
    of_query.__module__ = weigh_places.__module__
    return framed(f"{name}_gradients", frame, of_query=of_query)
