"""A forest as it is kept: splits and leaves in arrays of their own, each in the narrowest type that holds it.

Fully grown trees have tens of thousands of nodes, half of them leaves of a row or two. Kept like this a node takes about
a tenth of the memory that the nodes of `Forest` take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.lists import starts_of
from spinney.tree.arrays import WHOLE, concatenated, narrowest, packed
from spinney.tree.expand import expanded
from spinney.tree.forest import Tree, locked, same_bits
from spinney.tree.numbering import numbered_sets, used_cuts

_FLOAT = (np.dtype(np.float64),)
# The types that an array may have, narrowest first.
COMPACT_DTYPES: dict[str, tuple[np.dtype[Any], ...]] = {
    "split_start": (np.dtype(np.int64),),
    "leaf_start": (np.dtype(np.int64),),
    "column": WHOLE[1:],
    "cut": WHOLE[1:],
    "default_left": WHOLE[:1],
    "children": (np.dtype(np.int32),),
    "gain": (np.dtype(np.float32), *_FLOAT),
    "value": (*WHOLE, *_FLOAT),
    "weight": (*WHOLE, *_FLOAT),
    "count": WHOLE,
    "cut_start": (np.dtype(np.int64),),
    "cuts": _FLOAT,
    "set_start": (np.dtype(np.int64),),
    "set_bits": (np.dtype(np.int64),),
}
BY_SPLIT = ("column", "cut", "default_left", "gain")
BY_LEAF = ("weight", "count")


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree of a forest as its learner gives it: s splits and s + 1 leaves.

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
        Words of which bit c tells whether category c goes left.
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
    nodes they are numbered otherwise: the root is 0, the children of split i are nodes 2 * i + 1 and 2 * i + 2. Every cut
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
        Bit c of a set tells whether category c goes left.

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
            All that the trees may split at, ascending for each column.
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
    def joined(cls, forests: Sequence[CompactForest]) -> CompactForest:
        """Put the trees of several forests, at least one, over the same columns and values, one after another."""
        first = forests[0]
        for other in forests[1:]:
            if (other.columns, other.values) != (first.columns, first.values):
                raise ValueError(
                    f"a forest of {other.values} values over {other.columns} columns cannot follow one of "
                    f"{first.values} values over {first.columns} columns"
                )
        cut_start, cuts = _united(forests)
        cut, before = [], 0
        for one in forests:
            numeric = one.numeric
            place = np.where(numeric, 0, one.cut.astype(np.int64) + before)
            place[numeric] = _found(one, cut_start, cuts)
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
        """Tree t, nodes and all.

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


def _united(forests: Sequence[CompactForest]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The cuts of several forests, each once."""
    first = forests[0]
    if all(same_bits(first.cuts, one.cuts) and same_bits(first.cut_start, one.cut_start) for one in forests):
        return first.cut_start, first.cuts
    columns = [
        np.unique(np.concatenate([one.cuts[one.cut_start[c] : one.cut_start[c + 1]] for one in forests]))
        for c in range(first.columns)
    ]
    return starts_of([len(column) for column in columns]), concatenated(columns, np.float64)


def _found(
    forest: CompactForest, cut_start: NDArray[np.int64], cuts: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Which of some cuts each split that compares numbers makes."""
    new = np.zeros(len(forest.cuts), np.int64)
    for c in range(forest.columns):
        mine = slice(int(forest.cut_start[c]), int(forest.cut_start[c + 1]))
        new[mine] = np.searchsorted(cuts[cut_start[c] : cut_start[c + 1]], forest.cuts[mine])
    numeric = forest.numeric
    found: NDArray[np.int64] = new[forest.cut_start[forest.column[numeric]] + forest.cut[numeric]]
    return found
