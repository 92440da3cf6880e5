"""A random forest in little memory: splits and leaves in arrays of their own, each in the narrowest type that holds it.

Fully grown trees have tens of thousands of nodes, half of them leaves of a row or two. A node of a `CompactForest` takes about a
tenth of the memory that a node of `Forest` takes: a leaf of classes has their weights, mostly a byte each, and a split the number
of its cut among those of the column. Below it stand how cuts and sets are numbered when trees are put together, and how one tree
becomes nodes again (`expanded`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.table import starts_of
from spinney.tree.forest import UNSIGNED, Sets, Tree, concatenated, locked, narrowest, packed, same_bits

_FLOAT = (np.dtype(np.float64),)
# The types that an array may have, narrowest first.
COMPACT_DTYPES: dict[str, tuple[np.dtype[Any], ...]] = {
    "split_start": (np.dtype(np.int64),),
    "leaf_start": (np.dtype(np.int64),),
    "column": UNSIGNED[1:],
    "cut": UNSIGNED[1:],
    "default_left": UNSIGNED[:1],
    "children": (np.dtype(np.int32),),
    "gain": (np.dtype(np.float32), *_FLOAT),
    "value": (*UNSIGNED, *_FLOAT),
    "weight": (*UNSIGNED, *_FLOAT),
    "count": UNSIGNED,
    "cut_start": (np.dtype(np.int64),),
    "cuts": _FLOAT,
    "set_start": (np.dtype(np.int64),),
    "set_bits": (np.dtype(np.int64),),
}
BY_SPLIT = ("column", "cut", "default_left", "gain")
BY_LEAF = ("weight", "count")


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree of a forest as `ForestGrower` grows it: s splits and s + 1 leaves.

    Attributes
    ----------
    column, cut : integers[s]
        Column of each split, and which of the column's cuts it makes; for a categorical column the place of its set in `sets`.
    default_left : uint8[s]
        1 where missing values go left.
    children : int32[2 * s]
        Left and right child of each split: another split, or ~number of a leaf.
    gain : float64[s]
        Weighted decrease of impurity over the total weight of the tree.
    value : numbers[(s + 1) * values]
        Weight of each class in each leaf, or its prediction of each output.
    weight : numbers[s + 1]
        Total weight of the rows of each leaf.
    count : integers[s + 1]
        Number of distinct rows of each leaf.
    sets : list of int64 arrays
        Words of each set; bit c is 1 where category c goes left.
    leaf_rows : int32
        Distinct rows of the bag by leaf, `count` of each; empty where they are not kept.
    """

    column: NDArray[Any]
    cut: NDArray[Any]
    default_left: NDArray[np.uint8]
    children: NDArray[np.int32]
    gain: NDArray[np.float64]
    value: NDArray[Any]
    weight: NDArray[Any]
    count: NDArray[Any]
    sets: Sequence[NDArray[np.int64]] = field(default_factory=list)
    leaf_rows: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))


@dataclass(frozen=True, eq=False)
class CompactForest:
    """Trees one after another; a tree of s splits has s + 1 leaves.

    The splits of a tree stand in preorder: a split, all of its left side, its right side. Its leaves stand from left to right. As
    nodes they have other numbers: the root is 0, the children of split i are nodes 2 * i + 1 and 2 * i + 2. Every cut
    is that of some split, so that the arrays do not depend on how the forest was put together.

    Attributes
    ----------
    split_start, leaf_start : int64[trees + 1]
        Where the splits and leaves of each tree begin.
    column, cut : uint16 or uint32, by split
        A row goes left where its value is at most `cuts[cut_start[column] + cut]`. For a categorical column, which has no
        cuts, `cut` is the number of its set; sets are numbered in the order of their splits.
    default_left : uint8, by split
        1 where missing values go left.
    children : int32, two for each split
        Left and right child: another split of the tree, or ~number of a leaf of the tree.
    gain : float32 or float64, by split
        Weighted decrease of impurity over the total weight of the tree.
    value : uint8, uint16, uint32 or float64, `values` for each leaf
        Weight of each class, outputs one after another; or the prediction of each output.
    weight : uint8, uint16, uint32 or float64, by leaf
        Total weight of its training rows.
    count : uint8, uint16 or uint32, by leaf
        How many training rows these are.
    cut_start : int64[columns + 1]
        Where the cuts of each column begin.
    cuts : float64
        Thresholds of each column, ascending.
    set_start : int64[sets + 1]
        Where the words of each set begin.
    set_bits : int64
        Bit c of a set is 1 where category c goes left.

    Examples
    --------
    >>> import numpy as np
    >>> stump = GrownTree(
    ...     column=np.array([1], np.int32), cut=np.array([0], np.int32), default_left=np.array([1], np.uint8),
    ...     children=np.array([~0, ~1], np.int32), gain=np.array([0.5]), value=np.array([3.0, 0.0, 0.0, 5.0]),
    ...     weight=np.array([3.0, 5.0]), count=np.array([3, 4]),
    ... )
    >>> forest = CompactForest.of([stump, stump], np.array([0, 0, 1]), np.array([0.25]), values=2)
    >>> forest.trees, forest.nodes, forest.value.dtype.name
    (2, 6, 'uint8')
    >>> forest.tree(0, shares=True).value.tolist()
    [0.375, 0.625, 1.0, 0.0, 0.0, 1.0]
    """

    split_start: NDArray[np.int64]
    leaf_start: NDArray[np.int64]
    column: NDArray[Any]
    cut: NDArray[Any]
    default_left: NDArray[np.uint8]
    children: NDArray[np.int32]
    gain: NDArray[np.float32 | np.float64]
    value: NDArray[Any]
    weight: NDArray[Any]
    count: NDArray[Any]
    cut_start: NDArray[np.int64]
    cuts: NDArray[np.float64]
    set_start: NDArray[np.int64]
    set_bits: NDArray[np.int64]

    @classmethod
    def of(
        cls, trees: Sequence[GrownTree], cut_start: NDArray[np.int64], cuts: NDArray[np.float64], values: int
    ) -> CompactForest:
        """Put grown trees one after another.

        Parameters
        ----------
        trees : sequence of GrownTree
            In their order.
        cut_start : int64[columns + 1]
            Where the cuts of each column begin; a categorical column has none.
        cuts : float64
            All thresholds that the trees may have, ascending for each column.
        values : int
            Numbers of each leaf.

        Returns
        -------
        CompactForest
            Its arrays are new.
        """
        if any(len(tree.value) != values * len(tree.weight) for tree in trees):
            raise ValueError(f"each leaf of each tree must have {values} values")
        cut, words = numbered_sets(trees, np.diff(cut_start) == 0)
        cut, cut_start, cuts = used_cuts([tree.column for tree in trees], cut, cut_start, cuts)
        arrays = {
            name: [getattr(tree, name) for tree in trees]
            for name in ("column", "default_left", *BY_LEAF, "children", "value")
        }
        arrays["cut"] = cut
        arrays["gain"] = [
            np.maximum(tree.gain, 0.0) for tree in trees
        ]  # rounding may leave a little less than nothing
        return cls(
            split_start=starts_of([len(tree.column) for tree in trees]),
            leaf_start=starts_of([len(tree.weight) for tree in trees]),
            **{name: packed(parts, COMPACT_DTYPES[name]) for name, parts in arrays.items()},
            cut_start=cut_start,
            cuts=cuts + 0.0,
            set_start=starts_of([len(word) for word in words]),
            set_bits=concatenated(words, np.int64),
        )

    @classmethod
    def concatenate(cls, forests: Sequence[CompactForest]) -> CompactForest:
        """Put the trees of one or more forests, over the same columns and values, one after another."""
        first = forests[0]
        for other in forests[1:]:
            if (other.columns, other.values) != (first.columns, first.values):
                raise ValueError(
                    f"a forest of {other.values} values over {other.columns} columns cannot follow one of "
                    f"{first.values} values over {first.columns} columns"
                )
        cut_start, cuts = _merged_cuts(forests)
        cut, before = [], 0
        for one in forests:
            numeric = one.numeric
            place = np.where(numeric, 0, one.cut.astype(np.int64) + before)
            place[numeric] = _cut_numbers(one, cut_start, cuts)
            cut.append(place)
            before += one.sets
        arrays = {
            name: np.concatenate([getattr(one, name) for one in forests])
            for name in ("column", "default_left", "gain", *BY_LEAF, "children", "value")
        }
        return cls(
            split_start=starts_of(np.concatenate([np.diff(one.split_start) for one in forests])),
            leaf_start=starts_of(np.concatenate([np.diff(one.leaf_start) for one in forests])),
            cut=np.concatenate(cut),
            **arrays,
            cut_start=cut_start,
            cuts=cuts,
            set_start=starts_of(np.concatenate([np.diff(one.set_start) for one in forests])),
            set_bits=np.concatenate([one.set_bits for one in forests]),
        )._narrow()

    @property
    def trees(self) -> int:
        """Number of trees."""
        return len(self.split_start) - 1

    @property
    def splits(self) -> int:
        """Number of splits of all trees together."""
        return len(self.column)

    @property
    def leaves(self) -> int:
        """Number of leaves of all trees together."""
        return len(self.weight)

    @property
    def nodes(self) -> int:
        """Number of nodes of all trees together."""
        return self.splits + self.leaves

    @property
    def tree_nodes(self) -> NDArray[np.int64]:
        """Number of nodes of each tree."""
        return 2 * np.diff(self.split_start) + 1

    def split_columns(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Tree and column of every split."""
        tree = np.repeat(np.arange(self.trees), np.diff(self.split_start))
        return tree, self.column.astype(np.int64)

    @property
    def values(self) -> int:
        """Numbers of each leaf."""
        return len(self.value) // max(self.leaves, 1)

    @property
    def columns(self) -> int:
        """Number of columns of the table."""
        return len(self.cut_start) - 1

    @property
    def sets(self) -> int:
        """Number of splits of categorical columns."""
        return len(self.set_start) - 1

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(int(getattr(self, name).nbytes) for name in COMPACT_DTYPES)

    @property
    def numeric(self) -> NDArray[np.bool_]:
        """Which splits compare numbers; the others have a set."""
        return self.compares(self.column)

    def first(self, k: int) -> CompactForest:
        """The first k trees."""
        if not 0 <= k <= self.trees:
            raise IndexError(f"cannot take the first {k} trees of a forest of {self.trees}")
        part = self.between(0, k)
        sets = int(np.count_nonzero(~part.numeric))
        [cut], cut_start, cuts = used_cuts([part.column], [part.cut], self.cut_start, self.cuts)
        words = self.set_bits[: int(self.set_start[sets])]
        return replace(
            part,
            cut=cut,
            cut_start=cut_start,
            cuts=cuts,
            set_start=self.set_start[: sets + 1],
            set_bits=words,
        )._narrow()

    def between(self, first: int, end: int) -> CompactForest:
        """Trees first .. end - 1, as they stand here: with all cuts and sets, and through the same memory."""
        splits = slice(int(self.split_start[first]), int(self.split_start[end]))
        leaves = slice(int(self.leaf_start[first]), int(self.leaf_start[end]))
        values = self.values
        return replace(
            self,
            split_start=self.split_start[first : end + 1] - splits.start,
            leaf_start=self.leaf_start[first : end + 1] - leaves.start,
            **{name: getattr(self, name)[splits] for name in BY_SPLIT},
            **{name: getattr(self, name)[leaves] for name in BY_LEAF},
            children=self.children[2 * splits.start : 2 * splits.stop],
            value=self.value[leaves.start * values : leaves.stop * values],
        )

    def tree(self, t: int, shares: bool = False) -> Tree:
        """Tree t as nodes.

        Parameters
        ----------
        t : int
            Its number, from 0.
        shares : bool, default=False
            Whether the values are weights of classes: then those of the tree are shares of its weight.

        Returns
        -------
        Tree
            Its inner nodes have the mean of the values below them, by weight.
        """
        if not 0 <= t < self.trees:
            raise IndexError(f"tree {t} is not in a forest of {self.trees} trees; trees count from 0")
        return expanded(self, t, shares)

    def equal(self, other: CompactForest) -> bool:
        """Whether both forests hold the same bits."""
        return all(same_bits(getattr(self, name), getattr(other, name)) for name in COMPACT_DTYPES)

    def read_only(self) -> CompactForest:
        """The same forest through arrays that cannot be written to."""
        return CompactForest(**{name: locked(getattr(self, name)) for name in COMPACT_DTYPES})

    def compares(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of some splits on these columns compare numbers."""
        found: NDArray[np.bool_] = np.diff(self.cut_start)[column] > 0
        return found

    def _narrow(self) -> CompactForest:
        """The same forest with every array in the narrowest type that holds it."""
        narrow = {name: narrowest(getattr(self, name), kinds) for name, kinds in COMPACT_DTYPES.items()}
        return CompactForest(**narrow)


def narrow_copy(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """A copy of the array of this name, of one tree, in the narrowest type that holds it."""
    return packed([array], COMPACT_DTYPES[name])


def numbered_sets(
    trees: Sequence[GrownTree], categorical: NDArray[np.bool_]
) -> tuple[list[NDArray[Any]], list[NDArray[np.int64]]]:
    """The number of the cut or of the set of each split, and the words of all sets, which are numbered in the order of splits."""
    if not categorical.any():
        return [tree.cut for tree in trees], []
    cut: list[NDArray[Any]] = []
    words: list[NDArray[np.int64]] = []
    for tree in trees:
        numbers, sets = tree.cut.astype(np.int64), np.flatnonzero(categorical[tree.column])
        chosen = [tree.sets[k] for k in numbers[sets]]
        numbers[sets] = len(words) + np.arange(len(sets))
        cut.append(numbers)
        words += chosen
    return cut, words


def used_cuts(
    columns: Sequence[NDArray[Any]],
    cut: Sequence[NDArray[Any]],
    cut_start: NDArray[np.int64],
    cuts: NDArray[np.float64],
) -> tuple[list[NDArray[Any]], NDArray[np.int64], NDArray[np.float64]]:
    """The numbers of the cuts by split, where the cuts of each column begin, and the cuts: those that no split makes are dropped.

    Splits of categorical columns keep the numbers of their sets.
    """
    compares = np.diff(cut_start) > 0
    every = bool(compares.all())
    used = np.zeros(len(cuts), np.bool_)
    for column, number in zip(columns, cut, strict=True):
        numeric = slice(None) if every else compares[column]
        used[cut_start[column[numeric]] + number[numeric]] = True
    if used.all():
        return list(cut), cut_start.astype(np.int64), cuts.astype(np.float64)
    before = starts_of(used.astype(np.int64))
    start = before[cut_start]
    new = packed([before[:-1] - np.repeat(start[:-1], np.diff(cut_start))], UNSIGNED[1:])
    numbers = []
    for column, number in zip(columns, cut, strict=True):
        numeric = slice(None) if every else compares[column]
        renumbered = new[cut_start[column[numeric]] + number[numeric]]
        if not every:
            every_number = number.astype(np.int64)
            every_number[numeric] = renumbered
            renumbered = every_number
        numbers.append(renumbered)
    return numbers, start, cuts[used]


def _merged_cuts(forests: Sequence[CompactForest]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The cuts of several forests, each once."""
    first = forests[0]
    if all(same_bits(first.cuts, one.cuts) and same_bits(first.cut_start, one.cut_start) for one in forests):
        return first.cut_start, first.cuts
    columns = [
        np.unique(np.concatenate([one.cuts[one.cut_start[c] : one.cut_start[c + 1]] for one in forests]))
        for c in range(first.columns)
    ]
    return starts_of([len(column) for column in columns]), concatenated(columns, np.float64)


def _cut_numbers(
    forest: CompactForest, cut_start: NDArray[np.int64], cuts: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The number of the cut of each split that compares numbers, among some cuts."""
    new = np.zeros(len(forest.cuts), np.int64)
    for c in range(forest.columns):
        own = slice(int(forest.cut_start[c]), int(forest.cut_start[c + 1]))
        new[own] = np.searchsorted(cuts[cut_start[c] : cut_start[c + 1]], forest.cuts[own])
    numeric = forest.numeric
    found: NDArray[np.int64] = new[forest.cut_start[forest.column[numeric]] + forest.cut[numeric]]
    return found


def expanded(forest: CompactForest, t: int, shares: bool) -> Tree:
    """Tree t of a forest; `shares` as in `CompactForest.tree`."""
    splits = slice(int(forest.split_start[t]), int(forest.split_start[t + 1]))
    leaves = slice(int(forest.leaf_start[t]), int(forest.leaf_start[t + 1]))
    children = forest.children[2 * splits.start : 2 * splits.stop]
    own, leaf = split_nodes(children), leaf_nodes(children)
    column, cut = forest.column[splits].astype(np.int64), forest.cut[splits].astype(np.int64)
    numeric = forest.compares(column)
    nodes = len(own) + len(leaf)
    weight = forest.weight[leaves].astype(np.float64)
    value = forest.value[leaves.start * forest.values : leaves.stop * forest.values].astype(np.float64)
    value = value.reshape(-1, forest.values)
    sums = np.zeros((nodes, forest.values + 2))
    sums[leaf] = np.column_stack([value if shares else value * weight[:, None], weight, forest.count[leaves]])
    for level in reversed(_levels(children)):
        sums[own[level]] = sums[2 * level + 1] + sums[2 * level + 2]
    means = sums[:, :-2] / sums[:, -2:-1]
    if not shares:
        means[leaf] = value  # without the rounding of a product and a quotient
    threshold = np.zeros(len(own))
    threshold[numeric] = forest.cuts[forest.cut_start[column[numeric]] + cut[numeric]]
    feature = _at(nodes, own, column, np.int32)
    feature[leaf] = -1
    return Tree(
        feature=feature,
        threshold=_at(nodes, own, threshold, np.float64),
        left=_at(nodes, own, 2 * np.arange(len(own)) + 1, np.int32),
        default_left=_at(nodes, own, forest.default_left[splits], np.uint8),
        value=means.reshape(-1),
        gain=_at(nodes, own, forest.gain[splits], np.float64),
        cover=sums[:, -2].copy(),
        count=sums[:, -1].astype(np.int64),
        sets=_sets(forest, own[~numeric], cut[~numeric]),
    )


def _sets(forest: CompactForest, node: NDArray[np.int64], number: NDArray[np.int64]) -> Sets:
    """The sets of some nodes, by ascending node."""
    order = np.argsort(node)
    words = [forest.set_bits[forest.set_start[k] : forest.set_start[k + 1]] for k in number[order]]
    return Sets(node[order], starts_of([len(word) for word in words]), concatenated(words, np.int64))


def split_nodes(children: NDArray[np.int32]) -> NDArray[np.int64]:
    """Node number of each split of a tree.

    Examples
    --------
    >>> split_nodes(np.array([1, ~2, ~0, ~1], np.int32)).tolist()
    [0, 1]
    """
    node = np.zeros(len(children) // 2, np.int64)
    at = np.flatnonzero(children >= 0)
    node[children[at]] = at + 1
    return node


def leaf_nodes(children: NDArray[np.int32]) -> NDArray[np.int64]:
    """Node number of each leaf of a tree.

    Examples
    --------
    >>> leaf_nodes(np.array([1, ~2, ~0, ~1], np.int32)).tolist()
    [3, 4, 2]
    """
    node = np.zeros(len(children) // 2 + 1, np.int64)
    at = np.flatnonzero(children < 0)
    node[~children[at]] = at + 1
    return node


def _levels(children: NDArray[np.int32]) -> list[NDArray[np.int64]]:
    """The splits of a tree by depth."""
    levels = []
    level = np.zeros(min(len(children), 1), np.int64)
    while len(level):
        levels.append(level)
        below = np.concatenate([children[2 * level], children[2 * level + 1]]).astype(np.int64)
        level = below[below >= 0]
    return levels


def _at(nodes: int, place: NDArray[np.int64], values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Values at some of the nodes, 0 at the others."""
    array = np.zeros(nodes, dtype)
    array[place] = values
    return array
