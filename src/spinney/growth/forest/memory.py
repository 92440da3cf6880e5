"""Memory of trees that grow at the same time, and how many of them there may be.

All threads can work on one tree, so there need not be a tree for each thread: all trees that grow at the same time take at most
`TABLES` times what the table's codes take, or `FREE_BYTES` if that is more, but one always grows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney.growth.forest.kernels.records import (
    ABSOLUTE,
    BATCH,
    MOVED,
    PAYLOAD,
    SLACK,
    FinishedTrees,
    ForestRules,
    Slots,
    SubtreePool,
    Target,
    TreeScratch,
)
from spinney.growth.forest.table import ForestTable
from spinney.jit import allocate
from spinney.jit.records import allocated_bytes

# Rows of all trees that grow at the same time, where that is more than a tree for each thread.
ROWS_AT_ONCE = 200_000
# What trees may take that grow at the same time: so many bytes, or so many times what the table's codes take.
FREE_BYTES = 2**31
TABLES = 10
MOST_LISTED = 1 << 20  # entries of a node's rows in sparse columns that each thread can list


def trees_at_once(threads: int, rows: int, tree_bytes: int, table_bytes: int) -> int:
    """Trees that grow at the same time.

    One for each thread, more where they are small; fewer where they would take too much memory, but one always. Threads that
    have no tree of their own take subtrees of the others.

    Examples
    --------
    >>> trees_at_once(threads=8, rows=100, tree_bytes=10_000, table_bytes=2_000)
    2000
    >>> trees_at_once(threads=8, rows=10_000_000, tree_bytes=2_000_000_000, table_bytes=600_000_000)
    3
    """
    wanted = max(threads, ROWS_AT_ONCE // rows)
    most = max(FREE_BYTES, TABLES * table_bytes) // max(tree_bytes, 1)
    return max(1, min(wanted, most))


@dataclass(frozen=True, eq=False)
class MemorySizes:
    """What memory is for: trees of `capacity` rows and `max_sets` sets of categories that are grown at once by some threads."""

    trees: int
    threads: int
    capacity: int
    max_sets: int
    rules: ForestRules
    target: Target
    table: ForestTable

    @property
    def record_codes(self) -> int:
        """Bytes of codes in a record."""
        return self.table.record_codes if self.table.access == MOVED else 0

    @property
    def words(self) -> int:
        """Words of a record."""
        numbers: int = -(-self.record_codes // 4) + PAYLOAD  # of four bytes
        return -(-numbers // 2)

    @property
    def max_splits(self) -> int:
        """Splits that a tree may have."""
        most = max(1, self.capacity // max(1, int(self.rules.min_leaf)) - 1)
        depth = int(self.rules.max_depth)
        return most if depth == 0 or depth > most.bit_length() else min(most, 2**depth - 1)

    def tree_bytes(self) -> int:
        """Bytes that one more tree takes, and another finished one that is being copied."""
        slots, finished = self.slot_sizes(1), self.finished_sizes()
        counted = slots | {"memory": None, "ints": None, "bytes": None, "spare": None}
        records = 2 * self.capacity * self.words * 8  # and the records of the two sides of a split
        return (
            records
            + allocated_bytes(Slots, **counted)
            + 2 * allocated_bytes(FinishedTrees, **finished, slots=_Sizes(slots))
        )

    def slot_sizes(self, trees: int) -> dict[str, int]:
        """The numbers of `Slots`."""
        return {
            "slots": trees,
            "capacity": self.capacity,
            "words": self.words,
            "max_nodes": 2 * self.max_splits + 1,
            "max_sets": min(self.max_sets, self.max_splits),
            "set_words": self.table.category_words,
            "table_rows": self.table.rows,
            "values": int(self.target.values),
        }

    def finished_sizes(self) -> dict[str, int]:
        """The numbers of `FinishedTrees`."""
        return {
            "max_splits": self.max_splits,
            "values": int(self.target.values),
            "kept": int(self.rules.keep_rows),
            "pruned": int(self.rules.prune >= 0),
        }

    def entry_sizes(self) -> dict[str, Any]:
        """The numbers of a thread's memory for entries of sparse columns; 0 where there are none."""
        entries = int(self.table.others.listed)
        columns = self.table.columns if entries else 0
        dense = self.table.binned.features.group_of[:columns] >= 0
        return {
            "sparse_columns": columns,
            "sparse_rows": self.table.rows if columns else 0,
            "entry_capacity": max(self.capacity, min(entries, MOST_LISTED)) if columns else 0,
            "entry_counts": dense.astype(np.int32),
        }

    def median_keys(self) -> int:
        """Half of the whole numbers that the medians of a node take."""
        if self.rules.formula != ABSOLUTE:
            return 0
        return int((2 * self.target.outputs + 6) * self.capacity + 3) // 2


class _Sizes:
    """Numbers as attributes, which the sizes of a record's arrays are computed from."""

    def __init__(self, numbers: dict[str, int]) -> None:
        self.__dict__.update(numbers)


@dataclass(frozen=True, eq=False)
class TreeMemory:
    """Memory of trees that grow at the same time."""

    slots: Slots
    pool: SubtreePool
    scratch: TreeScratch
    finished: FinishedTrees

    @classmethod
    def of(cls, sizes: MemorySizes) -> TreeMemory:
        """Allocate it."""
        table = sizes.table
        memory = np.zeros(sizes.trees * sizes.capacity * sizes.words + SLACK, np.int64)
        slots = allocate(
            Slots,
            **sizes.slot_sizes(sizes.trees),
            memory=memory,
            ints=memory.view(np.int32),
            bytes=memory.view(np.uint8),
            spares=min(sizes.threads, sizes.trees),
            by_thread=int(sizes.threads <= sizes.trees),
        )
        width = int(table.values.codes.max()) + 1
        scratch = allocate(
            TreeScratch,
            threads=sizes.threads,
            width=width,
            list_length=width + 1,
            chunks=-(-sizes.record_codes // 32),
            cell_columns=BATCH if sizes.target.channels == 1 else 1,
            capacity=sizes.capacity,
            set_words=table.category_words,
            sorted=max(width + 1, sizes.median_keys()),
            order=np.arange(table.columns, dtype=np.int32),
            **sizes.entry_sizes(),
            target=sizes.target,
            rules=sizes.rules,
        )
        finished = allocate(FinishedTrees, **sizes.finished_sizes(), slots=slots)
        return cls(slots, allocate(SubtreePool, target=sizes.target), scratch, finished)

    def with_own_finished(self, sizes: MemorySizes) -> TreeMemory:
        """The same memory with arrays of its own for finished trees."""
        return replace(self, finished=allocate(FinishedTrees, **sizes.finished_sizes(), slots=self.slots))
