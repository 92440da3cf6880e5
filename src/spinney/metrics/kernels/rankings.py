"""Metrics of ranking: rows of each query sorted by score, the value of one query, and the frame around it.

A metric is the mean of a value for each query. A new one is the function of that value, put into the frame by `by_query`.
"""

import numpy as np

from spinney.data.kernels.queries import Gains, Lists, best_gain, sort_list
from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, f64, framed, hole, i32, inline, kernel, out, own


@kernel
def rank_lists(team: Member, lists: Lists, scores: f64["lists.rows"], ranked: out(i32["lists.rows"])):
    """Rows of each query by score, the largest first; of equal scores the first rows come first."""
    mine = own(lists.sorted, team.rank)
    for q in range(team.rank, lists.queries, team.size):
        begin = lists.begins[q]
        count = lists.begins[q + 1] - begin
        start = sort_list(begin, count, lists.width, scores, lists.order, mine.keys, mine.places)
        for k in range(count):
            ranked[begin + k] = lists.order[begin + np.int64(mine.places[start + k])]


value = hole("the value of a query")


def query_values(
    team: Member,
    labels: LabelArrays,
    lists: Lists,
    ranked: i32["lists.rows"],
    gains: Gains,
    values: out(f64["lists.queries"]),
):
    """The values of all queries."""
    for q in range(team.rank, lists.queries, team.size):
        values[q] = value(lists.begins[q], lists.begins[q + 1], team.rank, ranked, labels.target, gains)


def by_query(name, value):
    """The kernel `<name>_values` of a metric: `value(begin, end, rank, ranked, target, gains)` is the value of one query."""
    return framed(f"{name}_values", query_values, value=value)


# --- Mean average precision


@inline
def average_precision(begin, end, rank, ranked, target, gains):
    """Mean precision at the positions of relevant rows; 1 where no row is relevant."""
    found = 0.0
    total = 0.0
    relevant = 0.0
    for i in range(begin, end):
        one = 1.0 if target[ranked[i]] > 0.0 else 0.0
        relevant += one
        if i - begin < gains.depth:
            found += one
            total += one * found / float(i - begin + 1)
    return total / min(relevant, float(gains.depth)) if relevant > 0.0 else 1.0


map_values = by_query("map", average_precision)


# --- Mean reciprocal rank


@inline
def reciprocal_rank(begin, end, rank, ranked, target, gains):
    """1 over the position of the first relevant row, 0 if it is too far down; 1 where no row is relevant."""
    position = begin
    while position < end and target[ranked[position]] <= 0.0:
        position += 1
    if position == end:
        return 1.0
    return 1.0 / float(position - begin + 1) if position - begin < gains.depth else 0.0


mrr_values = by_query("mrr", reciprocal_rank)


# --- Normalised discounted cumulative gain


@inline
def normalized_gain(begin, end, rank, ranked, target, gains):
    """Gain as a share of the best order's; 1 where that is 0."""
    best = best_gain(begin, end, rank, ranked, target, gains)
    found = 0.0
    for position in range(min(end - begin, gains.depth)):
        found += gains.gains[np.int64(target[ranked[begin + position]])] * gains.discounts[position]
    return found / best if best > 0.0 else 1.0


ndcg_values = by_query("ndcg", normalized_gain)
