"""Isolation trees: the average length of paths, which their values are made of, and the checks of their arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.data.arrays import as_array
from spinney.errors import DataError, ModelFormatError
from spinney.jit.math import log
from spinney.messages import shown
from spinney.tree.check import check
from spinney.tree.forest import Forest, Sets, Tree, concatenate

# The arrays of an isolation forest besides its sets; all others follow from them.
ISOLATION_ARRAYS = ("start", "feature", "threshold", "left", "default_left", "count")
EULER = 0.5772156649015329
MOST_ROWS = 2**53
FEW_ROWS = 2**20


def average_path_length(rows: ArrayLike) -> NDArray[np.float64] | float:
    """Average number of splits that isolate one of so many rows: c(n) = 2 (ln(n - 1) + 0.5772...) - 2 (n - 1) / n.

    It is that of an unsuccessful search in a binary search tree of n rows, with ln and Euler's constant in place of the harmonic
    number, as in scikit-learn. c(2) is 1, and c(1) and c(0) are 0.

    Parameters
    ----------
    rows : int or array of int
        Numbers of rows, 0 or more.

    Returns
    -------
    float64, or array of the same shape

    Examples
    --------
    >>> round(average_path_length(256), 4)
    10.2448
    >>> average_path_length([0, 1, 2]).tolist()
    [0.0, 0.0, 1.0]
    """
    given = as_array(rows, "rows")
    if given.dtype.kind not in "iu" or (given.size and not 0 <= given.min() <= given.max() <= MOST_ROWS):
        raise DataError(f"rows must be whole numbers of rows from 0 to 2**53, got {shown(rows)}")
    if given.size and given.max() <= FEW_ROWS:
        # Counts of nodes: all of them looked up is faster than sorted.
        present = np.flatnonzero(np.bincount(given.ravel()))
        lengths = np.zeros(int(given.max()) + 1)
        lengths[present] = [_average_path_length(int(n)) for n in present]
        found: NDArray[np.float64] = lengths[given]
    else:
        distinct, places = np.unique(given, return_inverse=True)
        found = np.array([_average_path_length(int(n)) for n in distinct])[places].reshape(given.shape)
    return found if given.ndim else float(found)


def _average_path_length(n: int) -> float:
    if n <= 2:
        return float(n == 2)
    # Our own logarithm: those of systems differ in the last bit.
    return float(2.0 * (log(float(n - 1)) + EULER) - 2.0 * (n - 1) / n)


def depth_limit(rows: int) -> int:
    """Most splits on a path of a tree that sees so many rows: the logarithm to base 2, rounded up, at least 1.

    Examples
    --------
    >>> [depth_limit(rows) for rows in (1, 2, 3, 256, 257)]
    [1, 1, 2, 8, 9]
    """
    return max(1, (rows - 1).bit_length())


def isolation_forest(
    *,
    start: NDArray[np.int64],
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    left: NDArray[np.int32],
    default_left: NDArray[np.uint8],
    count: NDArray[np.int64],
    sets: Sets,
) -> Forest:
    """A forest of these nodes without values yet, which `with_path_lengths` gives it; `cover` is the number of rows."""
    nothing = np.zeros(len(feature))
    return Forest(
        start=start, feature=feature, threshold=threshold, left=left, default_left=default_left, value=nothing,
        gain=nothing, cover=count.astype(np.float64), count=count, sets=sets,
    )  # fmt: skip


def concatenate_forests(forests: list[Forest]) -> Forest:
    """All trees of several forests, one after another."""
    if len(forests) == 1:
        return forests[0]
    trees: list[Tree] = [forest.tree(t) for forest in forests for t in range(forest.trees)]
    return concatenate(trees)


def with_path_lengths(forest: Forest, rows: int) -> Forest:
    """The same forest with values: a node's depth, and the average path length of its rows.

    Parameters
    ----------
    forest : Forest
        One that has passed `check_isolation`.
    rows : int
        Rows that each tree saw.
    """
    values = node_depths(forest, depth_limit(rows)).astype(np.float64)
    values += average_path_length(forest.count)
    nothing = np.zeros(forest.nodes)
    return Forest(
        **{name: getattr(forest, name) for name in ISOLATION_ARRAYS}, value=values, gain=nothing,
        cover=forest.count.astype(np.float64), sets=forest.sets,
    )  # fmt: skip


def roots(forest: Forest) -> NDArray[np.int64]:
    """The first node of the tree of each node."""
    return np.repeat(forest.start[:-1], np.diff(forest.start))


def node_depths(forest: Forest, most: int) -> NDArray[np.int64]:
    """Splits above every node; a path of more than so many is refused."""
    depth = np.zeros(forest.nodes, np.int64)
    left = roots(forest) + forest.left
    level = forest.start[:-1]
    for below in range(1, most + 2):
        inner = level[forest.feature[level] >= 0]
        if not len(inner):
            return depth
        level = np.concatenate([left[inner], left[inner] + 1])
        depth[level] = below
    raise ModelFormatError(f"an isolation tree must have no path of more than {most} splits")


def check_isolation(
    forest: Forest, columns: int, rows: int, categories: NDArray[np.int64] | None = None
) -> None:
    """Refuse a forest that is not one of isolation trees, each of which saw so many rows.

    Raises
    ------
    ModelFormatError
        Names the array, the tree, the node and the value found.
    """
    check(forest, columns, 1, categories)
    if not forest.trees:
        raise ModelFormatError("an isolation forest must have a tree")
    node_depths(forest, depth_limit(rows))
    count = forest.count
    odd = count[forest.start[:-1]] != rows
    if odd.any():
        tree = int(np.argmax(odd))
        raise ModelFormatError(
            f"tree {tree} has count {count[forest.start[tree]]} at its root; it must be {rows}, the rows of each tree"
        )
    inner = np.flatnonzero(forest.feature >= 0)
    children = (roots(forest) + forest.left)[inner]
    # Compared before they are added, so that no sum of two wild numbers wraps around.
    wrong = (count[children] < 1) | (count[children + 1] < 1)
    wrong |= (count[children] >= count[inner]) | (count[inner] - count[children] != count[children + 1])
    if wrong.any():
        node = int(inner[np.argmax(wrong)])
        tree = int(np.searchsorted(forest.start, node, side="right")) - 1
        raise ModelFormatError(
            f"tree {tree}, node {node - int(forest.start[tree])} has count {count[node]}; its children must have 1 or more "
            "each, and as many together"
        )


def saved_depths(forest: Forest) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Parent of every node, -1 for a root, counted over all trees; and the depth that the split above it saves a row of the node.

    A split costs one step, after which c(rows of the node) steps are left instead of c(rows of the parent). Along a path this
    adds up to c(rows of the tree) less the length of the path.
    """
    inner = np.flatnonzero(forest.feature >= 0).astype(np.int32)
    left = (roots(forest) + forest.left)[inner]
    parent = np.full(forest.nodes, -1, np.int32)
    parent[left] = inner
    parent[left + 1] = inner
    steps_left = np.asarray(average_path_length(forest.count))
    saved = np.where(parent >= 0, steps_left[parent] - 1.0 - steps_left, 0.0)
    return parent, saved
