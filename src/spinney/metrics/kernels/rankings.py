"""Rows of each query from the best score to the worst, and the frame around metrics that judge such lists."""

import numpy as np

from spinney.data.kernels.queries import Gains, Lists, sort_list
from spinney.data.kernels.records import LabelArrays
from spinney.jit import Member, f64, framed, hole, i32, kernel, out, own


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


value = hole("what a query gets")


def frame(
    team: Member, labels: LabelArrays, lists: Lists, ranked: i32["lists.rows"], gains: Gains,
    values: out(f64["lists.queries"]),
):
    """What every query gets."""
    for q in range(team.rank, lists.queries, team.size):
        values[q] = value(lists.begins[q], lists.begins[q + 1], team.rank, ranked, labels.target, gains)


def by_query(name, value):
    """The kernel `<name>_values` of a metric: `value(begin, end, rank, ranked, target, gains)` is that of one query."""
    return framed(f"{name}_values", frame, value=value)
