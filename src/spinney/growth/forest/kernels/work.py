"""Growing a tree, or a part of one, depth first on one thread.

The larger child of a split waits, the smaller one is split next, so that few nodes ever wait. A large one is left to another
thread if that has nothing to do. What a node becomes depends on its rows and its path alone, so it does not matter who splits it,
or when.
"""

import numpy as np

from spinney.growth.forest.kernels.absent import place_absent
from spinney.growth.forest.kernels.finish import bit_length
from spinney.growth.forest.kernels.partition import part_records
from spinney.growth.forest.kernels.records import PLACES, POOL, SQUARES, NodeFacts
from spinney.jit.barrier import ABORT, end_turn, take_turn
from spinney.jit.inline import hole, inline
from spinney.jit.intrinsics import atomic_add, atomic_load
from spinney.sampling.kernels.purposes import PURPOSE_PLACE
from spinney.sampling.kernels.random import mixed, random_bits

# Rows from which a subtree is worth another thread's while.
SHARED_ROWS = 4000
NO_BOUND = 1.0e300
EXACT_BITS = 26  # of a weight whose square has no more digits than a float64
STACK_END = 63  # a place of the stack that no node takes

search_node = hole("find the best split of a node")
decrease_of = hole("how much less impure a split of some score leaves a node")
totals_of = hole("sum up some records; whether their targets differ")
center_of = hole("what a node of some records would predict")


@inline
def key_of_child(key, right):
    """Key of the random numbers of a node's left (0) or right (1) child."""
    return mixed(2 * key + right + 1)


@inline
def node_facts(waiting, totals, facts, rules, target):
    """What the search knows of a node."""
    weight = totals[0]
    bits = bit_length(weight)
    shift = max(np.int64(0), 2 * bits + rules.target_bits - 62)
    perfect = NO_BOUND
    if rules.formula == SQUARES and target.classes != 0 and target.outputs == 1 and bits <= EXACT_BITS:
        # Of two classes, the sum is the weight of the second one, and scores count by how much a split is better than none.
        perfect = float(totals[1]) * float(weight - totals[1]) if target.channels == 1 else float(weight)
    return NodeFacts(
        waiting.begin, waiting.end, waiting.key, weight, np.int64(facts.heaviest), rules.min_weight * float(facts.weight),
        waiting.lower, waiting.upper, totals, perfect, shift, bits,
    )  # fmt: skip


@inline
def may_split(waiting, node, rules):
    """Whether a node is large and mixed enough to be split."""
    rows = waiting.end - waiting.begin
    large = rows >= rules.min_split and rows >= 2 * rules.min_leaf and rows >= 2
    shallow = rules.max_depth == 0 or waiting.depth < rules.max_depth
    heavy = float(node.weight) >= 2.0 * node.min_weight
    return waiting.mixed != 0 and large and shallow and heavy


@inline
def keep_set_of_split(slot, best, slots, mine):
    """Give the best split's set a number among those of the tree; -1 where there is no room."""
    number = atomic_add(slots.set_counts, slot, np.int64(1))
    if number >= slots.max_sets:
        slots.facts[slot].full = 1
        return np.int64(-1)
    at = (slot * slots.max_sets + number) * slots.set_words
    for k in range(slots.set_words):
        slots.sets[at + k] = mine.best_set[k]
    return number


@inline
def split_node(waiting, totals, target, data, others, values, rules, slots, rows, mine):
    """Search a node and part its rows. Returns where its right side begins, or -1 where it stays a leaf."""
    slot = waiting.slot
    facts = slots.facts[slot]
    node = node_facts(waiting, totals, facts, rules, target)
    if not may_split(waiting, node, rules):
        return np.int64(-1)
    search_node(node, data, others, values, target, rules, rows, slots.set_words, mine)
    best = mine.best[0]
    if best.column < 0:
        return np.int64(-1)
    grown = slots.nodes[slot * slots.max_nodes + waiting.node]
    unit = rules.gain_unit * float(np.int64(1) << node.shift)
    unit = unit * float(np.int64(1) << node.shift) if rules.formula == SQUARES else unit
    gain = max(decrease_of(best.score, node, target, rules) * unit / float(facts.weight), 0.0)
    if gain < rules.min_decrease:
        return np.int64(-1)
    begin = waiting.begin
    end = waiting.end
    middle = part_records(begin, end, best, data, others, values, rules, rows, mine)
    if best.is_set != 0:
        place_absent(best, begin, middle, end, waiting.key, data, others, values, rules, rows, slots.set_words, mine)
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
        grown.above = random_bits(waiting.key, PURPOSE_PLACE, 0) & (PLACES - 1)
    grown.default_left = best.default_left
    return middle


@inline
def put_child(place, right, waiting, child, middle, bounds, mine):
    """Write a child of a split to a place of the stack, with its bounds."""
    made = mine.stack[place]
    made.slot = waiting.slot
    made.node = child + right
    made.begin = middle if right != 0 else waiting.begin
    made.end = waiting.end if right != 0 else middle
    made.key = key_of_child(waiting.key, right)
    made.depth = waiting.depth + 1
    made.lower = bounds[0]
    made.upper = bounds[1]


@inline
def has_two_classes(totals, at, channels):
    """Whether the weights of classes, or the weight of the second one alone, tell of more than one class."""
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
        # What the smaller one leaves of their parent.
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
def bounds_of_children(best_column, waiting, middle, target, rules, rows, mine):
    """Bounds of the values of both children: a column with a direction parts them halfway between what both would predict."""
    lower = waiting.lower
    upper = waiting.upper
    sign = rules.signs[best_column]
    if rules.bounded == 0 or sign == 0:
        return (lower, upper), (lower, upper)
    left = center_of(waiting.begin, middle, target, rows, mine)
    right = center_of(middle, waiting.end, target, rows, mine)
    between = (left + right) * 0.5
    if sign > 0:
        return (lower, between), (between, upper)
    return (between, upper), (lower, between)


@inline
def offer(team, place, target, slots, pool, mine):
    """Leave the subtree at a place of the stack to the pool, if somebody waits for work. True: it was taken."""
    state = pool.state[0]
    if not take_turn(team.sync):
        return False
    taken = atomic_load(slots.idle, 0) > state.waiting and state.waiting < POOL
    if taken:
        copy_waiting(mine.stack[place], pool.nodes[state.waiting])
        width = target.channels + 1
        for k in range(width):
            pool.totals[state.waiting * width + k] = mine.totals[place * width + k]
        state.waiting += 1
        slots.facts[mine.stack[place].slot].parts += 1
    end_turn(team.sync, taken)
    return taken


@inline
def copy_waiting(source, target):
    """Copy a node that waits."""
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
def grow_part(team, data, others, values, target, rules, slots, pool, rows, mine):
    """Grow the node at the bottom of the stack and all below it."""
    top = np.int64(1)
    width = target.channels + 1
    while top > 0:
        if atomic_load(team.sync, ABORT) != 0:
            return
        top -= 1
        # Where the children will go is where the node stands: it is copied first.
        copy_waiting(mine.stack[top], mine.current[0])
        waiting = mine.current[0]
        for k in range(width):
            mine.node_totals[k] = mine.totals[top * width + k]
        at = waiting.slot * slots.max_nodes
        grown = slots.nodes[at + waiting.node]
        grown.begin = waiting.begin
        grown.end = waiting.end
        grown.column = -1
        grown.gain = 0.0
        grown.lower = waiting.lower
        grown.upper = waiting.upper
        middle = split_node(waiting, mine.node_totals, target, data, others, values, rules, slots, rows, mine)
        if middle < 0:
            continue
        child = atomic_add(slots.node_counts, waiting.slot, np.int64(2))
        grown.child = child
        left, right = bounds_of_children(np.int64(grown.column), waiting, middle, target, rules, rows, mine)
        # The larger one below.
        larger = 1 if waiting.end - middle > middle - waiting.begin else 0
        put_child(top + larger, 0, waiting, child, middle, left, mine)
        put_child(top + 1 - larger, 1, waiting, child, middle, right, mine)
        total_children(top, target, rows, mine)
        top += 2
        large = mine.stack[top - 2]
        if large.end - large.begin >= SHARED_ROWS and team.size > 1 and atomic_load(slots.idle, 0) > 0:
            if offer(team, top - 2, target, slots, pool, mine):
                copy_waiting(mine.stack[top - 1], mine.stack[top - 2])
                for k in range(width):
                    mine.totals[(top - 2) * width + k] = mine.totals[(top - 1) * width + k]
                top -= 1
