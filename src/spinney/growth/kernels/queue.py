"""The queue of leaves that can be split: one heap, two orders.

lossguide takes the leaf of the largest gain; depthwise takes the shallowest one, of these the largest gain. Ties go to the
node that is first in the tree.
"""

from spinney.jit.inline import inline


@inline
def comes_before(a, b, depthwise):
    """Whether node a is to be split before node b."""
    if depthwise != 0 and a.depth != b.depth:
        return a.depth < b.depth
    if a.gain != b.gain:
        return a.gain > b.gain
    return a.order < b.order


@inline
def push(heap, count, leaf, nodes, depthwise):
    """Add a leaf to a heap of `count` leaves."""
    at = count
    heap[at] = leaf
    while at > 0:
        parent = (at - 1) // 2
        if not comes_before(nodes[heap[at]], nodes[heap[parent]], depthwise):
            break
        held = heap[at]
        heap[at] = heap[parent]
        heap[parent] = held
        at = parent


@inline
def pop(heap, count, nodes, depthwise):
    """Take the first leaf out of a heap of `count` > 0 leaves."""
    first = heap[0]
    last = heap[count - 1]
    size = count - 1
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and comes_before(nodes[heap[child + 1]], nodes[heap[child]], depthwise):
            child += 1
        if not comes_before(nodes[heap[child]], nodes[last], depthwise):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    return first
