"""Pruning: splits at the bottom of a finished tree that do not pay are taken back."""

from spinney.growth.layout import CHILD, NODE_WIDTH, USED_NODES
from spinney.jit.kernel import inline


@inline
def prune(least, table, marks, stretches, stretch_width, words):
    """Make leaves of splits with two leaves below them and a gain under `least`, from the bottom up (thread 0).

    The nodes that are left close up, in their order. `marks` is scratch, one item a node; `stretches` holds `stretch_width`
    items a node that move with it, the table's sets `words`.
    """
    nodes, gains, _, _, shared, sets = table
    used = shared[USED_NODES]
    for back in range(used):
        node = used - 1 - back
        child = nodes[node * NODE_WIDTH + CHILD]
        if (
            child != 0 and gains[node] < least
            and nodes[child * NODE_WIDTH + CHILD] == 0 and nodes[(child + 1) * NODE_WIDTH + CHILD] == 0
        ):
            nodes[node * NODE_WIDTH + CHILD] = 0
    # marks: first whether a node can be reached, then its new number.
    marks[0] = 1
    for node in range(1, used):
        marks[node] = 0
    for node in range(used):
        child = nodes[node * NODE_WIDTH + CHILD]
        if marks[node] != 0 and child != 0:
            marks[child] = 1
            marks[child + 1] = 1
    kept = 0
    for node in range(used):
        reached = marks[node]
        marks[node] = kept
        if reached != 0:
            if kept != node:
                for i in range(NODE_WIDTH):
                    nodes[kept * NODE_WIDTH + i] = nodes[node * NODE_WIDTH + i]
                for i in range(stretch_width):
                    stretches[kept * stretch_width + i] = stretches[node * stretch_width + i]
                for i in range(words):
                    sets[kept * words + i] = sets[node * words + i]
                gains[kept] = gains[node]
            kept += 1
    for node in range(kept):
        child = nodes[node * NODE_WIDTH + CHILD]
        if child != 0:
            nodes[node * NODE_WIDTH + CHILD] = marks[child]
    shared[USED_NODES] = kept
