"""The training rows behind each leaf of a forest: what quantiles are found from. A model keeps them where that is requested."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.errors import ModelFormatError

MOST_COUNT = 255  # that one entry holds; a row that a bag has more often has several entries

LEAF_ROWS_DTYPES: dict[str, np.dtype[Any]] = {
    "start": np.dtype(np.int64),
    "rows": np.dtype(np.int32),
    "counts": np.dtype(np.uint8),
    "targets": np.dtype(np.float64),
    "weight": np.dtype(np.float64),
}


@dataclass(frozen=True, eq=False)
class TrainingRowsByLeaf:
    """Which training rows ended in each leaf, how often its tree's bag has them, and their targets.

    Attributes
    ----------
    start : int64[leaves + 1]
        Where the entries of each leaf begin, the leaves of all trees one after another. Every leaf has an entry.
    rows : int32[entries]
        Training row of each entry, ascending in a leaf.
    counts : uint8[entries]
        How often the bag has the row, 1 or more. A row that it has more than 255 times has several entries.
    targets : float64[training rows, outputs]
        Target of every training row.
    weight : float64[training rows], or float64[0]
        Weight of every training row; none where all weigh the same.
    """

    start: NDArray[np.int64]
    rows: NDArray[np.int32]
    counts: NDArray[np.uint8]
    targets: NDArray[np.float64]
    weight: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        lists: Iterable[tuple[NDArray[np.int64], NDArray[np.int32]]],
        bag: Callable[[int], NDArray[np.int32]],
        targets: NDArray[np.float64],
        weight: NDArray[np.float64] | None = None,
        first: int = 0,
    ) -> TrainingRowsByLeaf:
        """Put together what the trees have.

        Parameters
        ----------
        lists : iterable of two arrays
            Of each tree: int64[leaves + 1], where the rows of each leaf begin, and the distinct rows themselves, in any order.
        bag : callable
            Takes the number of a tree; gives how often it has each row, int32[rows].
        targets : float64[rows, outputs]
            Targets of the training rows.
        weight : float64[rows], optional
            Their weights.
        first : int
            Number of the first tree.

        Examples
        --------
        >>> import numpy as np
        >>> lists = [(np.array([0, 1, 3]), np.array([1, 2, 0], np.int32))]
        >>> made = TrainingRowsByLeaf.of(lists, lambda tree: np.array([1, 2, 1], np.int32), np.zeros((3, 1)))
        >>> made.start.tolist(), made.rows.tolist(), made.counts.tolist()
        ([0, 1, 3], [1, 0, 2], [2, 1, 1])
        """
        sizes, rows, counts = [np.zeros(1, np.int64)], [], []
        for tree, (start, listed) in enumerate(lists, first):
            size, sorted_rows, count = _entries(start, listed, bag(tree))
            sizes.append(size)
            rows.append(sorted_rows)
            counts.append(count)
        return cls(
            np.cumsum(np.concatenate(sizes)),
            np.concatenate([np.zeros(0, np.int32), *rows]),
            np.concatenate([np.zeros(0, np.uint8), *counts]),
            np.ascontiguousarray(targets, np.float64),
            np.zeros(0) if weight is None else np.ascontiguousarray(weight, np.float64),
        )

    @property
    def leaves(self) -> int:
        """Number of leaves of all trees."""
        return len(self.start) - 1

    def joined(self, more: TrainingRowsByLeaf) -> TrainingRowsByLeaf:
        """These leaves, then those of further trees that grew on the same rows."""
        return TrainingRowsByLeaf(
            np.concatenate([self.start, self.start[-1] + more.start[1:]]),
            np.concatenate([self.rows, more.rows]),
            np.concatenate([self.counts, more.counts]),
            more.targets,
            more.weight,
        )

    def first(self, leaves: int) -> TrainingRowsByLeaf:
        """The first so many leaves."""
        entries = int(self.start[leaves])
        return TrainingRowsByLeaf(
            self.start[: leaves + 1], self.rows[:entries], self.counts[:entries], self.targets, self.weight
        )


def check(leaf_rows: TrainingRowsByLeaf, leaves: int, rows: int, outputs: int) -> None:
    """Refuse arrays that do not fit a forest of so many leaves, grown on so many rows with so many outputs.

    What passes can be read without looking at any bound.

    Raises
    ------
    ModelFormatError
        Names the array and what is wrong with it.

    Examples
    --------
    >>> import numpy as np
    >>> check(TrainingRowsByLeaf.of([], lambda tree: np.zeros(0, np.int32), np.zeros((3, 1))), leaves=0, rows=3, outputs=1)
    """
    _check_layout(leaf_rows, leaves, rows, outputs)
    start, entries = leaf_rows.start, len(leaf_rows.rows)
    # Compared, not subtracted: the difference of two wild 64-bit numbers may wrap around.
    if start[0] != 0 or start[-1] != entries or (start[1:] <= start[:-1]).any():
        raise ModelFormatError(
            "the array 'leaf_row_start' must lead from 0 to the end of 'leaf_row_rows' and give every leaf an entry"
        )
    if ((leaf_rows.rows < 0) | (leaf_rows.rows >= rows)).any():
        raise ModelFormatError(f"the array 'leaf_row_rows' must hold training rows from 0 to {rows - 1}")
    if (leaf_rows.counts == 0).any():
        raise ModelFormatError("the array 'leaf_row_counts' must hold numbers above 0")
    if not np.isfinite(leaf_rows.targets).all():
        raise ModelFormatError("the array 'leaf_row_targets' must hold finite numbers")
    if not (np.isfinite(leaf_rows.weight) & (leaf_rows.weight >= 0)).all():
        raise ModelFormatError("the array 'leaf_row_weight' must hold finite numbers of 0 or more")


def _check_layout(leaf_rows: TrainingRowsByLeaf, leaves: int, rows: int, outputs: int) -> None:
    entries = np.size(leaf_rows.rows)
    shapes = {
        "start": ((leaves + 1,),),
        "rows": ((entries,),),
        "counts": ((entries,),),
        "targets": ((rows, outputs),),
        "weight": ((rows,), (0,)),
    }
    for name, dtype in LEAF_ROWS_DTYPES.items():
        array: object = getattr(leaf_rows, name)
        if not isinstance(array, np.ndarray) or array.dtype != dtype or not array.dtype.isnative:
            found = getattr(array, "dtype", type(array).__name__)
            raise ModelFormatError(f"the array 'leaf_row_{name}' holds {found}; it must hold {dtype}")
        if array.shape not in shapes[name] or not (array.flags.c_contiguous and array.flags.aligned):
            raise ModelFormatError(
                f"the array 'leaf_row_{name}' has the shape {array.shape}; it must be {shapes[name][0]}, without gaps"
            )


def _entries(
    start: NDArray[np.int64], rows: NDArray[np.int32], bag: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]:
    """Entries of each leaf of a tree: how many, their rows, ascending in a leaf, and their counts."""
    leaf = np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start))
    order = np.lexsort((rows, leaf))
    leaf, rows = leaf[order], rows[order]
    counts = bag[rows]
    times = -(-counts // MOST_COUNT)
    if (times > 1).any():
        leaf, rows = np.repeat(leaf, times), np.repeat(rows, times)
        last = np.cumsum(times) - 1
        rest = counts - (times - 1) * MOST_COUNT
        counts = np.full(len(rows), MOST_COUNT)
        counts[last] = rest
    sizes = np.bincount(leaf, minlength=len(start) - 1).astype(np.int64)
    return sizes, rows.astype(np.int32, copy=False), counts.astype(np.uint8)
