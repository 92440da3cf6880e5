"""The finished table in order: which node stands behind each number of the tree.

Nodes stay where they are; `order` says which of them the tree has, and in which order. Whoever holds rows by node reads it.
"""

from spinney.jit.inline import inline


@inline
def put_in_order(table):
    """List the nodes as they entered the tree, and forget splits whose turn never came (thread 0)."""
    for number in range(table.state[0].made):
        node = table.nodes[number]
        if node.child != 0 and table.nodes[node.child].order < 0:
            node.child = 0
        if node.order >= 0:
            table.order[node.order] = number


@inline
def prune(least, table):
    """Make leaves of splits with two leaves below them and a gain under `least`, from the bottom up (thread 0).

    The nodes that are left close up, in their order.
    """
    nodes = table.nodes
    order = table.order
    reached = table.heap  # nobody waits any more
    used = table.state[0].used
    for back in range(used):
        node = nodes[order[used - 1 - back]]
        child = node.child
        if child != 0 and node.gain < least and nodes[child].child == 0 and nodes[child + 1].child == 0:
            node.child = 0
    reached[0] = 1
    for number in range(1, used):
        reached[number] = 0
    for number in range(used):
        child = nodes[order[number]].child
        if reached[number] != 0 and child != 0:
            reached[nodes[child].order] = 1
            reached[nodes[child + 1].order] = 1
    kept = 0
    for number in range(used):
        if reached[number] != 0:
            order[kept] = order[number]
            nodes[order[kept]].order = kept
            kept += 1
    table.state[0].used = kept
