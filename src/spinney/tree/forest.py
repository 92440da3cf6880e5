"""Flat node arrays: one tree, and all trees of a model one after another.

The last functions are for compact forests as well: the narrowest type for some arrays, and arrays joined one after another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Indices inside a tree fit 32 bits. What reaches a score is float64, so that a stored model adds up to the
# same bits as the one that was trained.
NODE_DTYPES: dict[str, np.dtype[Any]] = {
    "feature": np.dtype(np.int32),
    "threshold": np.dtype(np.float64),
    "left": np.dtype(np.int32),
    "default_left": np.dtype(np.uint8),
    "value": np.dtype(np.float64),
    "gain": np.dtype(np.float64),
    "cover": np.dtype(np.float64),
    "count": np.dtype(np.int64),
}
FOREST_DTYPES: dict[str, np.dtype[Any]] = {"start": np.dtype(np.int64), **NODE_DTYPES}
SET_DTYPES: dict[str, np.dtype[Any]] = {
    "node": np.dtype(np.int64),
    "start": np.dtype(np.int64),
    "bits": np.dtype(np.int64),
}


@dataclass(frozen=True, eq=False)
class Sets:
    """Which categories go left at the nodes that split a categorical column.

    Attributes
    ----------
    node : int64[sets]
        The nodes, ascending.
    start : int64[sets + 1]
        Where each one's words begin in `bits`.
    bits : int64
        Bit c of a node's words is 1 where category number c goes left.
    """

    node: NDArray[np.int64]
    start: NDArray[np.int64]
    bits: NDArray[np.int64]

    @staticmethod
    @cache
    def none() -> Sets:
        """Arrays for no such node, which all trees without such nodes share."""
        return Sets(*(locked(np.zeros(count, np.int64)) for count in (0, 1, 0)))

    def between(self, first: int, last: int) -> Sets:
        """Those of the nodes first..last-1, which are then counted from 0."""
        if not len(self.node):
            return self
        a, b = np.searchsorted(self.node, [first, last])
        begin = int(self.start[a])
        return Sets(
            self.node[a:b] - first, self.start[a : b + 1] - begin, self.bits[begin : int(self.start[b])]
        )

    def members(self, node: int) -> list[int] | None:
        """Numbers of the categories that go left at a node, None where it has no set."""
        place = int(np.searchsorted(self.node, node))
        if place == len(self.node) or self.node[place] != node:
            return None
        words = self.bits[self.start[place] : self.start[place + 1]]
        bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little")
        return [int(number) for number in np.flatnonzero(bits)]


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree; node 0 is its root and a child always stands after its parent.

    Attributes
    ----------
    feature : int32[nodes]
        Split column of an inner node, -1 for a leaf.
    threshold : float64[nodes]
        A value <= threshold goes left; 0.0 at a leaf.
    left : int32[nodes]
        Left child; the right child is left + 1; 0 at a leaf.
    default_left : uint8[nodes]
        1 where missing values go left; 0 at a leaf.
    value : float64[nodes * values]
        What a leaf adds to the score, learning rate included; what an inner node would add if it were a leaf. In a tree of a
        random forest the shares of the classes, or the prediction of each output.
    gain : float64[nodes]
        Gain of the split, 0.0 at a leaf.
    cover : float64[nodes]
        Sum of the hessians of the training rows that reached the node.
    count : int64[nodes]
        Number of training rows that reached the node.
    sets : Sets
        Categories that go left, where the split column is categorical.

    Examples
    --------
    >>> import numpy as np
    >>> stump = Tree(
    ...     feature=np.array([2, -1, -1], np.int32), threshold=np.array([0.5, 0.0, 0.0]),
    ...     left=np.array([1, 0, 0], np.int32), default_left=np.array([1, 0, 0], np.uint8),
    ...     value=np.array([0.0, -1.0, 1.0]), gain=np.array([8.0, 0.0, 0.0]),
    ...     cover=np.array([20.0, 10.0, 10.0]), count=np.array([20, 10, 10]),
    ... )
    >>> stump.nodes, stump.leaves, stump.depth
    (3, 2, 1)
    >>> list(stump.walk())
    [(0, 0), (1, 1), (2, 1)]
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    default_left: NDArray[np.uint8]
    value: NDArray[np.float64]
    gain: NDArray[np.float64]
    cover: NDArray[np.float64]
    count: NDArray[np.int64]
    sets: Sets = field(default_factory=Sets.none)

    @property
    def nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.feature)

    @property
    def values(self) -> int:
        """Numbers of each node in `value`."""
        return len(self.value) // self.nodes

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.feature < 0))

    @property
    def depth(self) -> int:
        """Number of splits on the longest path; 0 for a single leaf."""
        depth = 0
        level = np.zeros(1, np.int64)
        while True:
            inner = level[self.feature[level] >= 0]
            if not len(inner):
                return depth
            left = self.left[inner].astype(np.int64)
            level = np.concatenate([left, left + 1])
            depth += 1

    def walk(self) -> Iterator[tuple[int, int]]:
        """Yield (node, depth) from the root down, a node before its children, left before right."""
        pending = [(0, 0)]
        while pending:
            node, depth = pending.pop()
            yield node, depth
            if self.feature[node] >= 0:
                left = int(self.left[node])
                pending.append((left + 1, depth + 1))
                pending.append((left, depth + 1))


@dataclass(frozen=True, eq=False)
class Forest:
    """All trees of a model, one after another; every array is C-contiguous.

    The nodes of tree t are `start[t] .. start[t + 1] - 1`, and `left` counts from the tree's own first node.
    The other arrays are those of `Tree`. Tree t adds to output `t % outputs`; one round is `outputs` trees.

    Examples
    --------
    >>> import numpy as np
    >>> leaf = Tree(
    ...     feature=np.array([-1], np.int32), threshold=np.zeros(1), left=np.zeros(1, np.int32),
    ...     default_left=np.zeros(1, np.uint8), value=np.array([0.25]), gain=np.zeros(1),
    ...     cover=np.array([3.0]), count=np.array([3]),
    ... )
    >>> forest = concatenate([leaf, leaf])
    >>> forest.trees, forest.nodes, forest.start.tolist()
    (2, 2, [0, 1, 2])
    >>> forest.first(1).equal(concatenate([leaf]))
    True
    """

    start: NDArray[np.int64]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    default_left: NDArray[np.uint8]
    value: NDArray[np.float64]
    gain: NDArray[np.float64]
    cover: NDArray[np.float64]
    count: NDArray[np.int64]
    sets: Sets = field(default_factory=Sets.none)

    @property
    def trees(self) -> int:
        """Number of trees."""
        return len(self.start) - 1

    @property
    def nodes(self) -> int:
        """Number of nodes of all trees together."""
        return len(self.feature)

    @property
    def tree_nodes(self) -> NDArray[np.int64]:
        """Number of nodes of each tree."""
        return np.diff(self.start)

    def split_columns(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Tree and column of every split."""
        split = self.feature >= 0
        tree = np.repeat(np.arange(self.trees), self.tree_nodes)
        return tree[split], self.feature[split].astype(np.int64)

    def tree(self, t: int) -> Tree:
        """Tree t, as views into the arrays of the forest."""
        if not 0 <= t < self.trees:
            raise IndexError(f"tree {t} is not in a forest of {self.trees} trees; trees count from 0")
        nodes = slice(int(self.start[t]), int(self.start[t + 1]))
        sets = self.sets.between(nodes.start, nodes.stop)
        return Tree(**{name: getattr(self, name)[nodes] for name in NODE_DTYPES}, sets=sets)

    def first(self, k: int) -> Forest:
        """The first k trees, as views into the arrays of the forest."""
        if not 0 <= k <= self.trees:
            raise IndexError(f"cannot take the first {k} trees of a forest of {self.trees}")
        nodes = slice(0, int(self.start[k]))
        sets = self.sets.between(0, nodes.stop)
        arrays = {name: getattr(self, name)[nodes] for name in NODE_DTYPES}
        return Forest(start=self.start[: k + 1], **arrays, sets=sets)

    def depth(self, t: int) -> int:
        """Number of splits on the longest path of tree t."""
        return self.tree(t).depth

    def walk(self, t: int) -> Iterator[tuple[int, int]]:
        """Yield (node, depth) of tree t, a node before its children, left before right."""
        return self.tree(t).walk()

    def equal(self, other: Forest) -> bool:
        """Whether both forests hold the same bits."""
        return all(same_bits(getattr(self, name), getattr(other, name)) for name in FOREST_DTYPES) and all(
            same_bits(getattr(self.sets, name), getattr(other.sets, name)) for name in SET_DTYPES
        )

    def read_only(self) -> Forest:
        """The same forest through arrays that cannot be written to."""
        sets = Sets(**{name: locked(getattr(self.sets, name)) for name in SET_DTYPES})
        return Forest(**{name: locked(getattr(self, name)) for name in FOREST_DTYPES}, sets=sets)


def concatenate(trees: Sequence[Tree]) -> Forest:
    """Put trees one after another into a forest.

    Parameters
    ----------
    trees : sequence of Tree
        In the order they were grown: round by round, and within a round output by output.

    Returns
    -------
    Forest
        Its arrays are new. It has no trees where there are none to put into it.

    Examples
    --------
    >>> concatenate([]).trees
    0
    """
    start = np.zeros(len(trees) + 1, np.int64)
    np.cumsum([tree.nodes for tree in trees], out=start[1:])
    sets = _concatenated_sets([tree.sets for tree in trees], start)
    return Forest(start=start, **{name: _concatenated_nodes(trees, name) for name in NODE_DTYPES}, sets=sets)


def _concatenated_sets(sets: Sequence[Sets], start: NDArray[np.int64]) -> Sets:
    if not any(len(some.node) for some in sets):
        return Sets.none()
    lengths = np.concatenate([np.diff(some.start) for some in sets])
    return Sets(
        np.concatenate([some.node + first for some, first in zip(sets, start, strict=False)]),
        np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
        np.concatenate([some.bits for some in sets]),
    )


def _concatenated_nodes(trees: Sequence[Tree], name: str) -> NDArray[Any]:
    dtype = NODE_DTYPES[name]
    arrays = [np.zeros(0, dtype), *(getattr(tree, name) for tree in trees)]
    return np.concatenate(arrays, dtype=dtype, casting="no")


def same_bits(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether two arrays are the same to the bit."""
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def locked(array: NDArray[Any]) -> NDArray[Any]:
    """A view of an array that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


# Types of whole numbers of 0 or more, narrowest first.
UNSIGNED = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.uint32))
LEAST_FLOAT32 = 1e-30  # of the largest number of an array: float32 has no numbers below 1e-45


def narrowest(array: NDArray[Any], kinds: Sequence[np.dtype[Any]]) -> NDArray[Any]:
    """An array in the first of some types that holds it, C-contiguous."""
    return np.ascontiguousarray(array, _kind([array], kinds))


def packed(arrays: Sequence[NDArray[Any]], kinds: Sequence[np.dtype[Any]]) -> NDArray[Any]:
    """Arrays one after another, in the first of some types that holds them all; the list may be empty."""
    return concatenated(arrays, _kind(arrays, kinds))


def _kind(arrays: Sequence[NDArray[Any]], kinds: Sequence[np.dtype[Any]]) -> np.dtype[Any]:
    """The first of some types that holds all of some arrays, else the last one."""
    some = [array for array in arrays if len(array)]
    for kind in kinds[:-1]:
        if kind.kind == "f":
            # Digits may be lost, the largest number may not: it must neither overflow nor come near the smallest ones.
            largest = max((np.abs(array).max() for array in some), default=0.0)
            if largest == 0 or LEAST_FLOAT32 <= largest <= np.finfo(kind).max:
                return kind
        elif all(_fits(array, kind) for array in some):
            return kind
    return kinds[-1]


def _fits(array: NDArray[Any], kind: np.dtype[Any]) -> bool:
    """Whether a type of whole numbers of 0 or more holds all of an array."""
    if array.dtype.kind != "f":
        return bool(array.max() <= np.iinfo(kind).max and array.min() >= 0)
    # Not by the sign: -0.0 is no whole number of 0 or more.
    if not array.max() <= np.iinfo(kind).max or np.signbit(array).any():
        return False
    return bool((array == np.floor(array)).all())


def concatenated(arrays: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    """Arrays one after another in one type; the list may be empty."""
    return np.concatenate([np.zeros(0, dtype), *arrays], dtype=dtype, casting="unsafe")
