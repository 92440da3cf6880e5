"""Minimal cost-complexity pruning: which parts of a tree go first."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from spinney.estimators.forests.trees import children
from spinney.tree import CompactForest

SAME = 1e-6  # share by which two prices may differ through the rounding of gains to float32


def pruning_path(forest: CompactForest, tree: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Prices of a leaf at which parts of a tree go, and how much impurity is back after each.

    What the splits below and at a node gain, over how many they are, is the price at which it pays to make the node a leaf.

    Returns
    -------
    alphas : float64[steps]
        Ascending, from 0, at which nothing is pruned; after the last only the root is left.
    removed : float64[steps]
        Sum of the gains of the splits that are gone.
    """
    below = children(forest, tree)
    begin, end = forest.split_start[tree : tree + 2]
    gain = forest.gain[begin:end].astype(np.float64)
    splits = len(gain)
    parent = np.full(splits, -1, np.int64)
    inner = np.flatnonzero(below >= 0)
    parent[below[inner]] = inner // 2
    size, total = np.ones(splits, np.int64), gain.copy()
    for split in range(splits - 1, 0, -1):  # a split stands before all that are below it
        size[parent[split]] += size[split]
        total[parent[split]] += total[split]
    last = np.arange(splits) + size  # in preorder, what is below a split follows it
    alive = np.ones(splits, np.bool_)
    # A price is looked at again when a part below its split has gone; what was noted before no longer counts.
    latest = total / size
    queue = list(zip(latest.tolist(), range(splits), strict=True))
    heapify(queue)
    alphas, removed, gone = [0.0], [0.0], 0.0
    while queue:
        price, split = heappop(queue)
        if not alive[split] or price != latest[split]:
            continue
        count, lost, above = size[split], total[split], int(parent[split])
        alive[split : last[split]] = False
        while above >= 0:
            size[above] -= count
            total[above] -= lost
            latest[above] = total[above] / size[above]
            heappush(queue, (float(latest[above]), above))
            above = int(parent[above])
        gone += float(lost)
        if price - alphas[-1] > SAME * price:
            alphas.append(price)
            removed.append(gone)
        else:
            removed[-1] = gone
    return np.array(alphas), np.array(removed)


def root_impurity(
    criterion: str, values: NDArray[np.float64], classes: tuple[int, ...], weight: NDArray[np.float64] | None
) -> float:
    """Impurity of all rows together, the mean over outputs, as scikit-learn defines it.

    Parameters
    ----------
    criterion : str
        By canonical name.
    values : [rows, outputs]
        Class numbers, or numbers.
    classes : tuple of int
        Number of classes of each output; empty for numbers.
    weight : float64[rows], optional
        Weights of the rows.

    Examples
    --------
    >>> root_impurity("gini", np.array([[0], [1], [1], [1]]), (2,), None)
    0.375
    >>> root_impurity("squared_error", np.array([[1.0], [3.0]]), (), None)
    1.0
    """
    heavy = np.ones(len(values)) if weight is None else weight
    shares = heavy / heavy.sum()
    found = []
    for output, column in enumerate(values.T):
        if classes:
            p = np.bincount(column.astype(np.int64), shares, classes[output])
            p = p[p > 0]
            found.append(1.0 - float(p @ p) if criterion == "gini" else -float(p @ np.log2(p)))
        elif criterion == "absolute_error":
            found.append(float(shares @ np.abs(column - _median(column, shares))))
        elif criterion == "poisson":
            positive = column > 0
            mean = float(shares @ column)
            found.append(float(shares[positive] @ (column[positive] * np.log(column[positive] / mean))))
        else:
            found.append(float(shares @ np.square(column - shares @ column)))
    return float(np.mean(found))


def _median(values: NDArray[np.float64], shares: NDArray[np.float64]) -> float:
    order = np.argsort(values, kind="stable")
    place = int(np.searchsorted(np.cumsum(shares[order]), 0.5))
    return float(values[order[min(place, len(order) - 1)]])
