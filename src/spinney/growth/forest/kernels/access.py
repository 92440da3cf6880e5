"""The numbers of a record: its row, weight and target; how many columns of records are searched in one go."""

import numpy as np

from spinney.growth.forest.kernels.records import BATCH, DRAWN, MOVED, ROW, TARGET, WEIGHT
from spinney.jit.inline import inline

TOGETHER_ROWS = 512  # of a node, from which four columns are summed in one pass


@inline
def payload_of(i, words):
    """Where the three numbers at the end of a record stand."""
    return (i + 1) * words * 2


@inline
def row_of(i, rows):
    """Number of a record's row in the table."""
    return np.int64(rows.ints[payload_of(i, rows.words) - ROW])


@inline
def weight_of(i, rows):
    """Weight of a record, in steps."""
    return np.int64(rows.ints[payload_of(i, rows.words) - WEIGHT])


@inline
def target_of(i, rows):
    """Target of a record: class or steps of its first output."""
    return np.int64(rows.ints[payload_of(i, rows.words) - TARGET])


@inline
def differs(i, first, target, rows):
    """1 where an output of a record differs from that of the first one, else 0."""
    if target.outputs == 1:
        # Records hold their first target; the list of all is far away.
        return 1 if target_of(i, rows) != target_of(first, rows) else 0
    own = row_of(i, rows) * target.outputs
    other = row_of(first, rows) * target.outputs
    found = 0
    for o in range(target.outputs):
        found |= 1 if target.steps[own + o] != target.steps[other + o] else 0
    return found


@inline
def columns_at_once(size, node, rules):
    """How many columns of a node of some rows are searched in one go."""
    if rules.access != MOVED:
        return np.int64(1)
    if rules.random != 0:
        return np.int64(DRAWN) if size > 2 else np.int64(1)
    return np.int64(BATCH) if size > TOGETHER_ROWS else np.int64(1)
