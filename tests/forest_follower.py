"""Follows a tree that other code grew, and fails where it took a worse split than it could have.

Where two splits are level, rounding decides between them, and all that is below them differs. So a tree is followed, not compared
with one that was grown anew. This does not prove which of equal splits wins.
"""

from dataclasses import dataclass

import numpy as np

from forest_oracle import EPSILON, Node, first_best, is_leaf, nodes_of, open_children, splits_of

NOISE = 1e-9  # of a score: what rounding alone may do


@dataclass(frozen=True)
class GrownSplit:
    """A split of a grown tree. `cut` as in `Split`."""

    column: int
    cut: object
    missing_left: bool


def follow(problem, rules, key, found, noise=NOISE):
    """Grow the tree whose splits are {key of a node: GrownSplit}, and fail where that took a worse split than it could have."""
    total = int(problem.weight.sum())
    root = Node(np.flatnonzero(problem.weight > 0), key)
    waiting = [root]
    while waiting:
        node = waiting.pop()
        take_split(problem, rules, node, total, found.get(node.key), noise)
        if node.split is not None:
            open_children(problem, rules, node)
            waiting += node.children
    assert len(found) == sum(node.split is not None for node in nodes_of(root))
    if rules.max_leaves > 0:
        check_best_first(rules, root, noise)
    return root


def take_split(problem, rules, node, total, found, noise):
    """Give a node the split that was found for it. `gain` is that of the best one even if none was found."""
    tried = [] if is_leaf(problem, rules, node) else list(splits_of(problem, rules, node))
    best = first_best(tried)
    slack = 0.0 if best is None else noise * float(abs(best.score)) + EPSILON * total
    if found is None:
        if best is not None and (best.score - slack) / total >= rules.least_decrease:
            node.gain = float(best.score / total)
            assert rules.max_leaves > 0 or rules.ccp_alpha > 0, ("not split", len(node.rows), best)
        return
    same = [
        s for s in tried if (s.column, s.cut, s.missing_left) == (found.column, found.cut, found.missing_left)
    ]
    assert same, ("no split of this node", found, best)
    assert same[0].score >= best.score - slack, ("not the best", found, same[0].score, best)
    assert (same[0].score + slack) / total >= rules.least_decrease
    node.split, node.gain = same[0], float(same[0].score / total)


def check_best_first(rules, root, noise):
    """Whether no leaf would have been split before a split that was made."""
    waiting, leaves = [root], 1
    while any(node.split is not None for node in waiting):
        taken = max((node for node in waiting if node.split is not None), key=lambda node: node.gain)
        assert taken.gain >= max(node.gain for node in waiting) * (1 - noise) - EPSILON
        waiting.remove(taken)
        waiting += taken.children
        leaves += 1
    assert leaves == rules.max_leaves or all(node.gain == 0 for node in waiting)
