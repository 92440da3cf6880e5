"""Growing some trees on all threads.

Each thread takes the next tree, or a subtree that another thread left to the pool, until all are finished. Who finishes the last
part of a tree writes it down.
"""

import numpy as np

from spinney.binning.kernels.records import Binned
from spinney.growth.forest.kernels.bags import balance, fill_bag, fill_records, weight_step
from spinney.growth.forest.kernels.finish import finish_tree
from spinney.growth.forest.kernels.records import (
    BinValues, FinishedTrees, ForestRules, RowCodes, Slots, SubtreePool, Target, TreeRows, TreeScratch,
)  # fmt: skip
from spinney.growth.forest.kernels.work import NO_BOUND, copy_waiting, grow_part
from spinney.jit import Member, hole, inline, own
from spinney.jit.barrier import ABORT, end_turn, take_turn, wait_for_news
from spinney.jit.intrinsics import atomic_add, atomic_load, tail
from spinney.sampling.kernels.bootstrap import seed_of_tree

FINISHED = -1
WAIT = -2
FROM_POOL = -3

totals_of = hole("sum up some records; whether their targets differ")


@inline
def rows_of_tree(slot, rank, slots, finished):
    """The records of a slot's tree, and room for a thread to part them."""
    size = slots.capacity * slots.words
    at = slot * size
    by_thread = slots.by_thread != 0
    return TreeRows(
        slots.words, slot * (finished.max_splits + 1), tail(slots.memory, at), tail(slots.ints, at * 2),
        tail(slots.bytes, at * 8), tail(slots.counts, slot * slots.table_rows), tail(slots.factors, slot * slots.values),
        tail(slots.spare, rank * size if by_thread else at), np.int64(0) if by_thread else np.int64(1),
    )  # fmt: skip


@inline
def start_tree(slot, stride, others, target, rules, slots, rows, mine):
    """Draw a tree's bag, make records of it and put its root on the stack. False: no row of the bag has a weight."""
    seed = seed_of_tree(rules.seed, rules.first_tree + slot)
    fill_bag(seed, rules, target, rows.counts)
    balance(target, rules, rows.counts, rows.factors)
    step = weight_step(target, rules, rows.counts, rows.factors)
    facts = slots.facts[slot]
    facts.weight_unit = step
    facts.rows, facts.heaviest = fill_records(step, stride, others, target, rules, rows.counts, rows.factors, rows)
    facts.parts = 1
    facts.full = 0
    slots.node_counts[slot].value = 1
    slots.set_counts[slot].value = 0
    root = mine.stack[0]
    root.slot = slot
    root.node = 0
    root.begin = 0
    root.end = facts.rows
    root.key = seed
    root.depth = 0
    root.lower = -NO_BOUND
    root.upper = NO_BOUND
    root.mixed = totals_of(0, facts.rows, target, rows, mine.totals, 0)
    facts.weight = mine.totals[0]


@inline
def next_part(team, rules, target, pool, slots, mine):
    """Take a subtree from the pool, FROM_POOL, or the next tree, its slot; else FINISHED, or WAIT for others."""
    state = pool.state[0]
    if not take_turn(team.sync):
        return np.int64(FINISHED)
    found = np.int64(WAIT)
    if state.waiting > 0:
        state.waiting -= 1
        copy_waiting(pool.nodes[state.waiting], mine.stack[0])
        width = target.channels + 1
        for k in range(width):
            mine.totals[k] = pool.totals[state.waiting * width + k]
        found = np.int64(FROM_POOL)
    elif state.next_tree < rules.trees:
        found = np.int64(state.next_tree)
        state.next_tree += 1
    elif state.unfinished == 0:
        found = np.int64(FINISHED)
    if found != WAIT:
        end_turn(team.sync, False)
        return found
    atomic_add(slots.idle, 0, np.int64(1))
    seen = end_turn(team.sync, False)
    wait_for_news(team.sync, seen)
    atomic_add(slots.idle, 0, np.int64(-1))
    return found


@inline
def end_part(team, slot, slots):
    """Note that a part of a tree is grown. True: it was the last one."""
    if not take_turn(team.sync):
        return False
    slots.facts[slot].parts -= 1
    last = slots.facts[slot].parts == 0
    end_turn(team.sync, False)
    return last


@inline
def tree_is_done(team, pool):
    """Note that a tree is finished; with the last one, all who wait are told."""
    if take_turn(team.sync):
        pool.state[0].unfinished -= 1
        end_turn(team.sync, pool.state[0].unfinished == 0)


def grow_frame(
    team: Member, data: Binned, others: RowCodes, values: BinValues, target: Target, rules: ForestRules, slots: Slots,
    pool: SubtreePool, scratch: TreeScratch, finished: FinishedTrees,
):
    """Grow the trees of this call, one a slot."""
    mine = own(scratch, team.rank)
    stride = data.codes.stride // 8
    while atomic_load(team.sync, ABORT) == 0:
        found = next_part(team, rules, target, pool, slots, mine)
        if found == FINISHED:
            return
        if found == WAIT:
            continue
        slot = mine.stack[0].slot if found == FROM_POOL else found
        rows = rows_of_tree(slot, team.rank, slots, finished)
        if found != FROM_POOL:
            start_tree(slot, stride, others, target, rules, slots, rows, mine)
        grow_part(team, data, others, values, target, rules, slots, pool, rows, mine)
        if end_part(team, slot, slots):
            finish_tree(slot, target, rules, slots, rows, mine.list_sums, finished)
            tree_is_done(team, pool)
