"""Risk sets: at each time the rows that are still at risk, and the sum of their hazards.

Sums are of numbers above 0, over blocks of places that do not depend on the threads, each in order. So every sum is right to
about 1e-13 of itself, and has the same bits on any number of threads.
"""

import numpy as np

from spinney.jit import f64, i32, i64, inline, out, record
from spinney.jit.barrier import meet
from spinney.jit.math import exp

RISK_BLOCK = 8192  # places whose hazards are summed together
# Hazards are shares of the largest; one below this counts as this, so that 1 / sum**2 of any number of them stays finite.
SMALLEST = 1e-140


@record
class RiskSets:
    """Rows by time, each at a place. `first` is the first place of the same time, where its risk set begins."""

    rows: i64
    blocks: i64
    order: i32["rows"]
    first: i32["rows"]
    weight: f64["rows"]
    event: f64["rows"]  # the weight, 0 where the row is censored
    tops: out(f64["blocks"])  # largest score
    hazards: out(f64["rows"])  # weight times e to the power of the score, as a share of the largest
    ahead: out(f64["rows"])  # sum of hazards from a place to the end of its block
    after: out(f64["blocks"])  # of all later blocks


@inline
def block_top(sets, scores, begin, end):
    """Largest score of the places begin..end-1 that weigh anything."""
    top = float("-inf")
    for i in range(begin, end):
        score = scores[np.int64(sets.order[i])]
        top = score if sets.weight[i] > 0.0 and score > top else top
    return top


@inline
def block_hazards(sets, scores, begin, end, top):
    """Hazards of the places begin..end-1, and their sums from each place on. Returns the sum of all."""
    for i in range(begin, end):
        w = sets.weight[i]
        share = w * exp(min(scores[np.int64(sets.order[i])] - top, 0.0))
        sets.hazards[i] = max(share, SMALLEST) if w > 0.0 else 0.0
    total = 0.0
    for back in range(end - begin):
        i = end - 1 - back
        total += sets.hazards[i]
        sets.ahead[i] = total
    return total


@inline
def sum_risk_sets(team, sets, scores):
    """Fill hazards and their sums from scores. False: another thread failed."""
    for b in range(team.rank, sets.blocks, team.size):
        sets.tops[b] = block_top(sets, scores, b * RISK_BLOCK, min((b + 1) * RISK_BLOCK, sets.rows))
    if not meet(team, team.size):
        return False
    top = sets.tops[0]
    for b in range(sets.blocks):
        top = max(top, sets.tops[b])
    for b in range(team.rank, sets.blocks, team.size):
        sets.after[b] = block_hazards(sets, scores, b * RISK_BLOCK, min((b + 1) * RISK_BLOCK, sets.rows), top)
    if not meet(team, team.size):
        return False
    if team.rank == 0:
        total = 0.0
        for back in range(sets.blocks):
            b = sets.blocks - 1 - back
            own = sets.after[b]
            sets.after[b] = total
            total += own
    return meet(team, team.size)


@inline
def at_risk(sets, i):
    """Sum of the hazards of all rows at risk at the time of a place."""
    place = np.int64(sets.first[i])
    return sets.ahead[place] + sets.after[place // RISK_BLOCK]
