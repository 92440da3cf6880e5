"""Which leaves are split in the next pass over the blocks: as many as could still enter the tree.

A pass costs about as much for many leaves as for one. So a batch holds every leaf that may be split before the tree is full,
children of splits whose turn has not come among them. A leaf is sure to stay one if at least as many of those known so far
come before it as the tree has room for. So no leaf of the tree waits for a second pass, and a tree takes one pass more than it
is deep, as long as there is room for the histograms. Splits enter the tree in the order of the queue (`turns`).

On 60 000 rows of 28 columns, 255 leaves best first, the leaves that are split in vain have 6 to 9 % of the rows of the others;
with at most 32 leaves a batch .5 to 3 %, but up to two passes more.
"""

from spinney.growth.kernels.nodes import give_slot, open_task
from spinney.growth.kernels.queue import pop, push
from spinney.growth.kernels.records import FINISHED, IDLE, TOGETHER
from spinney.growth.kernels.turns import BOTH_CHILDREN
from spinney.jit import i64, inline, out, record


@record
class Batch:
    """The tasks of one pass, and room to look ahead in the queue."""

    most: i64  # tasks, at most
    count: out(i64["1"])  # tasks
    taken: out(i64["1"])  # of these by threads that work apart
    heap: out(i64["table.max_nodes"])


@inline
def has_room(count, table):
    """Whether a batch of so many tasks can take one more. The slots for histograms that are not kept are for one alone."""
    state = table.state[0]
    return count == 0 or (state.free >= BOTH_CHILDREN and state.open < table.most_ahead)


@inline
def make_room(max_leaves, table):
    """Where not every leaf can keep its histogram, let leaves at the end of the queue give theirs up.

    So half of the slots are for the next batch: else leaves that wait would hold all of them, and each pass could split one leaf.
    Both children of a leaf without a histogram are summed.
    """
    state = table.state[0]
    at = state.waiting
    wanted = table.slots // 2 if table.slots < max_leaves + table.most_ahead else 0
    while at > 1 and wanted >= BOTH_CHILDREN and state.free < wanted:
        at -= 1
        leaf = table.nodes[table.heap[at]]
        if leaf.state == IDLE:
            give_slot(leaf.slot, table)
            leaf.slot = -1


@inline
def open_batch(batch, rules, tasks, table):
    """Open tasks for the leaves to be split next; where there are none, the tree is finished (thread 0)."""
    state = table.state[0]
    nodes = table.nodes
    heap = batch.heap
    depthwise = rules.limits.depthwise
    make_room(rules.limits.max_leaves, table)
    known = state.waiting
    for i in range(known):
        heap[i] = table.heap[i]
    left = rules.limits.max_leaves - state.leaves
    count = 0
    while known > 0 and left > 0 and count < batch.most and has_room(count, table):
        leaf = pop(heap, known, nodes, depthwise)
        known -= 1
        left -= 1
        if nodes[leaf].state == IDLE:
            open_task(count, leaf, rules, tasks, table)
            count += 1
        else:
            for child in range(nodes[leaf].child, nodes[leaf].child + 2):
                if nodes[child].gain > 0.0:
                    push(heap, known, child, nodes, depthwise)
                    known += 1
    batch.count[0] = count
    state.mode = TOGETHER if count > 0 else FINISHED
