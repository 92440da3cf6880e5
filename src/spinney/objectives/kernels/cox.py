"""Cox's partial likelihood: the sum over events of log S - F, where S sums e^F over all rows at risk at the time of the event.

Events of one time all see the whole of that time's risk set, which is Breslow's way.
"""

import numpy as np

from spinney.data.kernels.risk_sets import BLOCK, RiskSets, at_risk, sum_risk_sets
from spinney.jit import Member, f64, i32, inline, kernel, out, record
from spinney.jit.barrier import meet
from spinney.objectives.kernels.largest import block_largest
from spinney.objectives.kernels.records import PAIR, Gradients
from spinney.objectives.kernels.records import BLOCK as LARGEST_BLOCK

# Of a row of weight 1. Where every risk set is sure of its event, gradients are what rounding has left of them, 1e-13 or less,
# and a smaller hessian would make steps of them, round after round.
LEAST_HESSIAN = 1e-10


@record
class Cumulated:
    """By place, sums of w / S and w / S² over events up to it within its block, and over all blocks before each.

    `last` is the last place of the same time.
    """

    last: i32["sets.rows"]
    hazard: out(f64["sets.rows"])
    square: out(f64["sets.rows"])
    hazard_before: out(f64["sets.blocks"])
    square_before: out(f64["sets.blocks"])


@inline
def cumulate(team, sets, sums):
    """Fill the sums over events. False: the team was told to give up."""
    for b in range(team.rank, sets.blocks, team.size):
        hazard = 0.0
        square = 0.0
        for i in range(b * BLOCK, min((b + 1) * BLOCK, sets.rows)):
            w = sets.event[i]
            if w > 0.0:
                part = 1.0 / at_risk(sets, i)
                hazard += w * part
                square += w * part * part
            sums.hazard[i] = hazard
            sums.square[i] = square
        sums.hazard_before[b] = hazard
        sums.square_before[b] = square
    if not meet(team, team.size):
        return False
    if team.rank == 0:
        hazard = 0.0
        square = 0.0
        for b in range(sets.blocks):
            own_hazard = sums.hazard_before[b]
            own_square = sums.square_before[b]
            sums.hazard_before[b] = hazard
            sums.square_before[b] = square
            hazard += own_hazard
            square += own_square
    return meet(team, team.size)


@kernel
def cox_gradients(team: Member, sets: RiskSets, sums: Cumulated, gradients: Gradients):
    """g = x H - w d, h = x H - x² Q: x the weighted hazard, d the event, H and Q the sums of w / S and w / S² up to the time.

    The hessian of a row is `LEAST_HESSIAN` times its weight at least.
    """
    if not sum_risk_sets(team, sets, gradients.scores):
        return
    if not cumulate(team, sets, sums):
        return
    pairs = gradients.pairs
    for b in range(team.rank, sets.blocks, team.size):
        for i in range(b * BLOCK, min((b + 1) * BLOCK, sets.rows)):
            last = np.int64(sums.last[i])
            before = last // BLOCK
            x = sets.hazards[i]
            first = x * (sums.hazard[last] + sums.hazard_before[before])
            second = x * x * (sums.square[last] + sums.square_before[before])
            row = np.int64(sets.order[i])
            pairs[2 * row] = np.float32(first - sets.event[i])
            pairs[2 * row + 1] = np.float32(max(first - second, LEAST_HESSIAN * sets.weight[i]))
    if not meet(team, team.size):
        return
    for b in range(team.rank, gradients.blocks, team.size):
        end = min((b + 1) * LARGEST_BLOCK, gradients.rows)
        block_largest(pairs, b * LARGEST_BLOCK, end, gradients.largest, PAIR * b)
