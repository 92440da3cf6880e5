"""Cutting a grown tree back: to the leaves that growing best first would have made, and by cost-complexity pruning.

A node's split does not depend on when it is made. So the tree that grows best first is the top of the fully grown one.
"""

import numpy as np

from spinney.jit.inline import inline


@inline
def goes_before(a, b, nodes, at, finished):
    """Whether a node is split before another one: by gain, of equal ones in preorder."""
    gain = nodes[at + a].gain
    other = nodes[at + b].gain
    return gain > other or (gain == other and finished.number[at + a] < finished.number[at + b])


@inline
def push(node, count, heap, nodes, at, finished):
    """Add a node to a heap of `count` nodes."""
    place = count
    while place > 0:
        above = (place - 1) >> 1
        other = np.int64(heap[at + above])
        if not goes_before(node, other, nodes, at, finished):
            break
        heap[at + place] = other
        place = above
    heap[at + place] = node


@inline
def pop(count, heap, nodes, at, finished):
    """Take the first node from a heap of `count` nodes."""
    first = np.int64(heap[at])
    last = np.int64(heap[at + count - 1])
    place = np.int64(0)
    while 2 * place + 1 < count - 1:
        below = 2 * place + 1
        if below + 1 < count - 1:
            right = np.int64(heap[at + below + 1])
            if goes_before(right, np.int64(heap[at + below]), nodes, at, finished):
                below += 1
        other = np.int64(heap[at + below])
        if not goes_before(other, last, nodes, at, finished):
            break
        heap[at + place] = other
        place = below
    heap[at + place] = last
    return first


@inline
def keep_best_splits(most, nodes, at, finished):
    """Keep the splits that are made first, until there are so many leaves. Nodes must be numbered."""
    heap = finished.leaf
    waiting = np.int64(0)
    if nodes[at].column >= 0:
        heap[at] = 0
        waiting += 1
    leaves = 1
    while waiting > 0 and leaves < most:
        node = pop(waiting, heap, nodes, at, finished)
        waiting -= 1
        leaves += 1
        for side in range(2):
            child = np.int64(nodes[at + node].child) + side
            if nodes[at + child].column >= 0:
                push(child, waiting, heap, nodes, at, finished)
                waiting += 1
    for k in range(waiting):
        nodes[at + heap[at + k]].column = -1


@inline
def prune(alpha, used, nodes, at, finished):
    """Undo every split that, with all below it, decreases the impurity by no more than `alpha` a leaf.

    That leaves the smallest of the subtrees whose impurity plus `alpha` a leaf is least, which is where cutting the weakest link
    again and again stops.
    """
    saved = finished.saved
    for k in range(used):
        i = at + used - 1 - k
        node = nodes[i]
        saved[i] = 0.0
        if node.column >= 0:
            best = node.gain - alpha + saved[at + node.child] + saved[at + node.child + 1]
            if best > 0.0:
                saved[i] = best
            else:
                node.column = -1
