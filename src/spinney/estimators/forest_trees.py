"""Single trees of a forest: views for `estimators_`, depth, leaves and importances of one tree, and pruning."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.model.compact import CompactModel
from spinney.tree import CompactForest, Tree


class TreeView:
    """One tree of a fitted forest. It holds no copy: it is as large as a reference to the forest.

    Attributes
    ----------
    n_outputs_, n_features_in_ : int
        Those of the forest.
    tree_ : Tree
        The nodes as arrays.
    feature_importances_ : float64[columns]
        Share of each column in the decrease of impurity of this tree.
    """

    def __init__(self, model: CompactModel, tree: int, n_jobs: int | None) -> None:
        self._model, self._tree, self._n_jobs = model, tree, n_jobs
        self._range = (tree, tree + 1)
        self.n_outputs_, self.n_features_in_ = model.outputs, model.n_features

    def apply(self, X: object) -> NDArray[np.int32]:
        """Node number of the leaf that each row reaches, (rows,)."""
        numbers = self._model.leaf_numbers(self._model.read(X), *self._range, n_jobs=self._n_jobs)
        return leaf_nodes(self._model.forest, self._tree)[numbers[:, 0]]

    def predict(self, X: object) -> NDArray[Any]:
        """Predict the target: (rows,), or (rows, outputs) for several outputs."""
        found: NDArray[Any] = self._predicted(X)
        return found

    def get_depth(self) -> int:
        """Most splits on the way from the root to a leaf."""
        return depth(self._model.forest, self._tree)

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        return leaves(self._model.forest, self._tree)

    @property
    def tree_(self) -> Tree:
        """The nodes as arrays."""
        return self._model.tree(self._tree)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each column in the decrease of impurity of this tree."""
        return tree_importance(self._model.forest, self._tree)

    def _predicted(self, X: object) -> Any:
        """What the tree predicts of each row, in the shape of the forest's predictions."""
        model = self._model
        return model.shaped(model.tree_values(model.read(X), *self._range, n_jobs=self._n_jobs)[:, 0])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._tree} of {self._model.forest.trees})"


class ClassTreeView(TreeView):
    """One tree of a fitted forest of classes; it predicts in the labels of the forest.

    Attributes
    ----------
    classes_ : ndarray, or list of ndarray
        Labels; a list for several outputs.
    """

    def __init__(
        self, model: CompactModel, tree: int, n_jobs: int | None, labels: list[NDArray[Any]]
    ) -> None:
        super().__init__(model, tree, n_jobs)
        self._labels = labels
        self.classes_ = labels[0] if len(labels) == 1 else labels

    def predict_proba(self, X: object) -> NDArray[np.float64] | list[NDArray[np.float64]]:
        """Share of each class in the leaf of each row: (rows, classes), a list of these for several outputs."""
        shares: NDArray[np.float64] | list[NDArray[np.float64]] = self._predicted(X)
        return shares

    def predict(self, X: object) -> NDArray[Any]:
        """Predict the most frequent class of the leaf: (rows,), or (rows, outputs) for several outputs."""
        shares = self.predict_proba(X)
        return most_likely(shares if isinstance(shares, list) else [shares], self._labels)


def most_likely(shares: list[NDArray[np.float64]], labels: list[NDArray[Any]]) -> NDArray[Any]:
    """Labels of the most likely class of each output, of equal ones the first.

    Examples
    --------
    >>> most_likely([np.array([[0.2, 0.8], [0.5, 0.5]])], [np.array(["ash", "oak"])]).tolist()
    ['oak', 'ash']
    """
    found: list[NDArray[Any]] = [
        names.take(share.argmax(axis=1)) for share, names in zip(shares, labels, strict=True)
    ]
    if len(found) == 1:
        return found[0]
    # Labels of several kinds share no type but object.
    kind = np.dtype(object) if len({one.dtype.kind for one in found}) > 1 else np.result_type(*found)
    predicted = np.empty((len(found[0]), len(found)), kind)
    for output, one in enumerate(found):
        predicted[:, output] = one
    return predicted


def children(forest: CompactForest, tree: int) -> NDArray[np.int32]:
    """Left and right child of each split of a tree: another split, or ~number of a leaf."""
    begin, end = forest.split_start[tree : tree + 2]
    found: NDArray[np.int32] = forest.children[2 * begin : 2 * end]
    return found


def leaves(forest: CompactForest, tree: int) -> int:
    """Number of leaves of a tree."""
    return int(forest.leaf_start[tree + 1] - forest.leaf_start[tree])


def leaf_nodes(forest: CompactForest, tree: int) -> NDArray[np.int32]:
    """Node number of each leaf: the children of split i are nodes 2 * i + 1 and 2 * i + 2."""
    below = children(forest, tree)
    found = np.zeros(leaves(forest, tree), np.int32)
    at = np.flatnonzero(below < 0)
    found[~below[at]] = at + 1
    return found


def depth(forest: CompactForest, tree: int) -> int:
    """Most splits on the way from the root to a leaf."""
    below = children(forest, tree)
    level, found = np.zeros(min(len(below), 1), np.int64), 0
    while len(level):
        found += 1
        after = below[np.concatenate([2 * level, 2 * level + 1])]
        level = after[after >= 0].astype(np.int64)
    return found


def tree_importance(forest: CompactForest, tree: int) -> NDArray[np.float64]:
    """Share of each column in the decrease of impurity of a tree; zeros where it has no split."""
    begin, end = forest.split_start[tree : tree + 2]
    gain = forest.gain[begin:end].astype(np.float64)
    found = np.bincount(forest.column[begin:end], gain, forest.columns).astype(np.float64)
    total = float(found.sum())
    return found / total if total > 0 else found


SAME_PRICE = 1e-6  # share by which two prices may differ through the rounding of gains to float32


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
    # A split gets another price when a part below it has gone; the one before no longer counts.
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
        if price - alphas[-1] > SAME_PRICE * price:
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
    weights = np.ones(len(values)) if weight is None else weight
    shares = weights / weights.sum()
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
