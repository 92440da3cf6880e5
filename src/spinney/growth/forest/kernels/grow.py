"""Growing some trees on all threads.

Each thread takes the next tree, or a subtree that another thread has put into the pool, until all are finished: so few trees on
many threads, or one large tree, still use them all. The thread that finishes the last part of a tree writes it. The frames of
this module have holes that `forms` fills for each form of trees.
"""

import numpy as np

from spinney.binning.kernels.records import Binned
from spinney.growth.forest.kernels.categories import place_absent
from spinney.growth.forest.kernels.finish import bit_length, finish_tree
from spinney.growth.forest.kernels.records import (
    PLACES,
    POOL,
    SQUARES,
    BinValues,
    FinishedTrees,
    ForestRules,
    NodeFacts,
    RowCodes,
    Slots,
    SubtreePool,
    Target,
    TreeRows,
    TreeScratch,
)  # fmt: skip
from spinney.growth.forest.kernels.rows import balance, fill_bag, fill_records, partition_records, weight_step
from spinney.jit import Member, hole, inline, own
from spinney.jit.barrier import ABORT, end_turn, take_turn, wait_for_news
from spinney.jit.intrinsics import atomic_add, atomic_load, tail
from spinney.sampling.kernels.bags import seed_of_tree
from spinney.sampling.kernels.random import PURPOSE_PLACE, key_of_child, random_bits

# --- Growing a tree, or a part of one, depth first on one thread.
#
# The larger child of a split is put on the stack, the smaller one is split next, so that at most 64 nodes are ever pending. A
# large one is given to another thread if that is idle. The result for a node depends on its rows and its path alone, so it does
# not matter which thread splits it, or when: the columns drawn are put back in order after each node.


# Rows from which giving a subtree to another thread pays.
SHARED_ROWS = 4000
NO_BOUND = 1.0e300
EXACT_BITS = 26  # of a weight whose square has no more digits than a float64
STACK_END = 63  # a place of the stack that no node takes

search_node = hole("find the best split of a node")
decrease_of = hole("how much less impure a split of some score leaves a node")
totals_of = hole("sum up some records; whether their targets differ")
center_of = hole("the prediction of a node of some records")


@inline
def node_facts(pending, totals, facts, rules, target):
    """The facts of a node that the search needs."""
    weight = totals[0]
    bits = bit_length(weight)
    shift = max(np.int64(0), 2 * bits + rules.target_bits - 62)
    perfect = NO_BOUND
    if rules.formula == SQUARES and target.classes != 0 and target.outputs == 1 and bits <= EXACT_BITS:
        # Of two classes, the sum is the weight of the second one, and scores are relative to no split.
        perfect = float(totals[1]) * float(weight - totals[1]) if target.channels == 1 else float(weight)
    return NodeFacts(
        pending.begin, pending.end, pending.key, weight, np.int64(facts.heaviest), rules.min_weight * float(facts.weight),
        pending.lower, pending.upper, totals, perfect, shift, bits,
    )  # fmt: skip


@inline
def may_split(pending, node, rules):
    """Whether a node is large and mixed enough to be split."""
    rows = pending.end - pending.begin
    large = rows >= rules.min_split and rows >= 2 * rules.min_leaf and rows >= 2
    shallow = rules.max_depth == 0 or pending.depth < rules.max_depth
    weighs_enough = float(node.weight) >= 2.0 * node.min_weight
    return pending.mixed != 0 and large and shallow and weighs_enough


@inline
def keep_set_of_split(slot, best, slots, mine):
    """Store the best split's set among those of the tree and return its number; -1 if there is no memory."""
    number = atomic_add(slots.set_counts, slot, np.int64(1))
    if number >= slots.max_sets:
        slots.facts[slot].full = 1
        return np.int64(-1)
    at = (slot * slots.max_sets + number) * slots.set_words
    for k in range(slots.set_words):
        slots.sets[at + k] = mine.best_set[k]
    return number


@inline
def split_node(pending, totals, target, data, row_codes, values, rules, slots, rows, mine):
    """Search a node and partition its rows. Returns where its right side begins, or -1 if it stays a leaf."""
    slot = pending.slot
    facts = slots.facts[slot]
    node = node_facts(pending, totals, facts, rules, target)
    if not may_split(pending, node, rules):
        return np.int64(-1)
    search_node(node, data, row_codes, values, target, rules, rows, slots.set_words, mine)
    best = mine.best[0]
    if best.column < 0:
        return np.int64(-1)
    grown = slots.nodes[slot * slots.max_nodes + pending.node]
    unit = rules.gain_unit * float(np.int64(1) << node.shift)
    unit = unit * float(np.int64(1) << node.shift) if rules.formula == SQUARES else unit
    gain = max(decrease_of(best.score, node, target, rules) * unit / float(facts.weight), 0.0)
    if gain < rules.min_decrease:
        return np.int64(-1)
    begin = pending.begin
    end = pending.end
    middle = partition_records(begin, end, best, data, row_codes, values, rules, rows, mine)
    if best.is_set != 0:
        place_absent(
            best, begin, middle, end, pending.key, data, row_codes, values, rules, rows, slots.set_words, mine
        )
        best.cut = keep_set_of_split(slot, best, slots, mine)
        if best.cut < 0:
            return np.int64(-1)
    if best.default_left < 0:
        best.default_left = 1 if middle - begin > end - middle else 0
    grown.gain = gain
    grown.column = best.column
    grown.cut = best.cut
    grown.above = best.above
    if rules.random != 0:
        grown.above = random_bits(pending.key, PURPOSE_PLACE, 0) & (PLACES - 1)
    grown.default_left = best.default_left
    return middle


@inline
def put_child(place, right, parent, child, middle, bounds, mine):
    """Write a child of a split to a place of the stack, with its bounds."""
    pending = mine.stack[place]
    pending.slot = parent.slot
    pending.node = child + right
    pending.begin = middle if right != 0 else parent.begin
    pending.end = parent.end if right != 0 else middle
    pending.key = key_of_child(parent.key, right)
    pending.depth = parent.depth + 1
    pending.lower = bounds[0]
    pending.upper = bounds[1]


@inline
def has_two_classes(totals, at, channels):
    """Whether a node has rows of more than one class, by the weights of all classes or of the second one alone."""
    mixed = channels > 1 or totals[at + 1] != 0
    for k in range(1, channels + 1):
        mixed = mixed and totals[at + k] != totals[at]
    return mixed


@inline
def total_children(top, target, rows, mine):
    """Totals of two children, of which the larger one stands at `top`."""
    width = target.channels + 1
    large = mine.stack[top]
    small = mine.stack[top + 1]
    small.mixed = totals_of(small.begin, small.end, target, rows, mine.totals, (top + 1) * width)
    if target.classes != 0 and target.outputs == 1:
        # The rest of their parent without the smaller one.
        for k in range(width):
            mine.totals[top * width + k] = mine.node_totals[k] - mine.totals[(top + 1) * width + k]
        large.mixed = 1 if has_two_classes(mine.totals, top * width, target.channels) else 0
    else:
        large.mixed = totals_of(large.begin, large.end, target, rows, mine.totals, top * width)


@inline
def mean_steps(begin, end, target, rows, mine):
    """Weighted mean of some records' targets, in steps."""
    at = STACK_END * (target.channels + 1)
    totals_of(begin, end, target, rows, mine.totals, at)
    return float(mine.totals[at + 1]) / float(mine.totals[at])


@inline
def bounds_of_children(best_column, pending, middle, target, rules, rows, mine):
    """Bounds of the values of both children: for a column with a direction, the middle of their predictions separates them."""
    lower = pending.lower
    upper = pending.upper
    direction = rules.directions[best_column]
    if rules.bounded == 0 or direction == 0:
        return (lower, upper), (lower, upper)
    left = center_of(pending.begin, middle, target, rows, mine)
    right = center_of(middle, pending.end, target, rows, mine)
    between = (left + right) * 0.5
    if direction > 0:
        return (lower, between), (between, upper)
    return (between, upper), (lower, between)


@inline
def offer(team, place, target, slots, pool, mine):
    """Put the subtree at a place of the stack into the pool, if a thread waits for work. True: it was put there."""
    state = pool.state[0]
    if not take_turn(team.sync):
        return False
    taken = atomic_load(slots.idle, 0) > state.waiting and state.waiting < POOL
    if taken:
        copy_pending(mine.stack[place], pool.nodes[state.waiting])
        width = target.channels + 1
        for k in range(width):
            pool.totals[state.waiting * width + k] = mine.totals[place * width + k]
        state.waiting += 1
        slots.facts[mine.stack[place].slot].parts += 1
    end_turn(team.sync, taken)
    return taken


@inline
def copy_pending(source, target):
    """Copy a pending node."""
    target.slot = source.slot
    target.node = source.node
    target.begin = source.begin
    target.end = source.end
    target.key = source.key
    target.depth = source.depth
    target.mixed = source.mixed
    target.lower = source.lower
    target.upper = source.upper


@inline
def grow_part(team, data, row_codes, values, target, rules, slots, pool, rows, mine):
    """Grow the node at the bottom of the stack and all below it."""
    top = np.int64(1)
    width = target.channels + 1
    while top > 0:
        if atomic_load(team.sync, ABORT) != 0:
            return
        top -= 1
        # The children overwrite the node on the stack, so it is copied first.
        copy_pending(mine.stack[top], mine.current[0])
        pending = mine.current[0]
        for k in range(width):
            mine.node_totals[k] = mine.totals[top * width + k]
        at = pending.slot * slots.max_nodes
        grown = slots.nodes[at + pending.node]
        grown.begin = pending.begin
        grown.end = pending.end
        grown.column = -1
        grown.gain = 0.0
        grown.lower = pending.lower
        grown.upper = pending.upper
        middle = split_node(
            pending, mine.node_totals, target, data, row_codes, values, rules, slots, rows, mine
        )
        if middle < 0:
            continue
        child = atomic_add(slots.node_counts, pending.slot, np.int64(2))
        grown.child = child
        left, right = bounds_of_children(np.int64(grown.column), pending, middle, target, rules, rows, mine)
        # The larger one below.
        larger = 1 if pending.end - middle > middle - pending.begin else 0
        put_child(top + larger, 0, pending, child, middle, left, mine)
        put_child(top + 1 - larger, 1, pending, child, middle, right, mine)
        total_children(top, target, rows, mine)
        top += 2
        large = mine.stack[top - 2]
        if large.end - large.begin >= SHARED_ROWS and team.size > 1 and atomic_load(slots.idle, 0) > 0:
            if offer(team, top - 2, target, slots, pool, mine):
                copy_pending(mine.stack[top - 1], mine.stack[top - 2])
                for k in range(width):
                    mine.totals[(top - 2) * width + k] = mine.totals[(top - 1) * width + k]
                top -= 1


# --- Sharing trees and subtrees among threads


FINISHED = -1
WAIT = -2
FROM_POOL = -3


@inline
def rows_of_tree(slot, rank, slots, finished):
    """The records of a slot's tree, and a thread's buffer for their partition."""
    size = slots.capacity * slots.words
    at = slot * size
    by_thread = slots.by_thread != 0
    return TreeRows(
        slots.words, slot * (finished.max_splits + 1), tail(slots.memory, at), tail(slots.ints, at * 2),
        tail(slots.bytes, at * 8), tail(slots.counts, slot * slots.table_rows), tail(slots.factors, slot * slots.values),
        tail(slots.spare, rank * size if by_thread else at), np.int64(0) if by_thread else np.int64(1),
    )  # fmt: skip


@inline
def start_tree(slot, stride, row_codes, target, rules, slots, rows, mine):
    """Draw a tree's bag, make records of it and put its root on the stack. False: no row of the bag has a weight."""
    seed = seed_of_tree(rules.seed, rules.first_tree + slot)
    fill_bag(seed, rules, target, rows.counts)
    balance(target, rules, rows.counts, rows.factors)
    step = weight_step(target, rules, rows.counts, rows.factors)
    facts = slots.facts[slot]
    facts.weight_unit = step
    facts.rows, facts.heaviest = fill_records(
        step, stride, row_codes, target, rules, rows.counts, rows.factors, rows
    )
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
    """Take a subtree from the pool (FROM_POOL) or the next tree (its slot); else FINISHED, or WAIT for others."""
    state = pool.state[0]
    if not take_turn(team.sync):
        return np.int64(FINISHED)
    found = np.int64(WAIT)
    if state.waiting > 0:
        state.waiting -= 1
        copy_pending(pool.nodes[state.waiting], mine.stack[0])
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
    """Count a part of a tree as grown. True: it was the last one."""
    if not take_turn(team.sync):
        return False
    slots.facts[slot].parts -= 1
    last = slots.facts[slot].parts == 0
    end_turn(team.sync, False)
    return last


@inline
def tree_is_done(team, pool):
    """Count a tree as finished; after the last one, waiting threads are woken."""
    if take_turn(team.sync):
        pool.state[0].unfinished -= 1
        end_turn(team.sync, pool.state[0].unfinished == 0)


def grow_frame(
    team: Member,
    data: Binned,
    row_codes: RowCodes,
    values: BinValues,
    target: Target,
    rules: ForestRules,
    slots: Slots,
    pool: SubtreePool,
    scratch: TreeScratch,
    finished: FinishedTrees,
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
            start_tree(slot, stride, row_codes, target, rules, slots, rows, mine)
        grow_part(team, data, row_codes, values, target, rules, slots, pool, rows, mine)
        if end_part(team, slot, slots):
            finish_tree(slot, target, rules, slots, rows, mine.list_sums, finished)
            tree_is_done(team, pool)
