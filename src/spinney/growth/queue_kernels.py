"""The queue of leaves that can be split: one heap, two orders.

lossguide takes the leaf of the largest gain; depthwise takes the shallowest one, of these the largest gain. Ties go to the
node that is first in the tree.
"""

from spinney.growth.layout import DEPTH, NODE_WIDTH, ORDER
from spinney.jit.kernel import inline


@inline
def ahead(a, b, nodes, gains, depthwise):
    """Whether node a is to be split before node b."""
    if depthwise != 0:
        depth_a = nodes[a * NODE_WIDTH + DEPTH]
        depth_b = nodes[b * NODE_WIDTH + DEPTH]
        if depth_a != depth_b:
            return depth_a < depth_b
    if gains[a] != gains[b]:
        return gains[a] > gains[b]
    return nodes[a * NODE_WIDTH + ORDER] < nodes[b * NODE_WIDTH + ORDER]


@inline
def push(heap, count, node, nodes, gains, depthwise):
    """Add a node to a heap of `count` nodes."""
    at = count
    heap[at] = node
    while at > 0:
        parent = (at - 1) // 2
        if not ahead(heap[at], heap[parent], nodes, gains, depthwise):
            break
        held = heap[at]
        heap[at] = heap[parent]
        heap[parent] = held
        at = parent


@inline
def pop(heap, count, nodes, gains, depthwise):
    """Take the first node out of a heap of `count` > 0 nodes."""
    first = heap[0]
    last = heap[count - 1]
    size = count - 1
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and ahead(heap[child + 1], heap[child], nodes, gains, depthwise):
            child += 1
        if not ahead(heap[child], last, nodes, gains, depthwise):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    return first
