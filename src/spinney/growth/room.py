"""What every learner has: memory for the nodes of a tree and for what its threads find."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.growth.axis import TreeAxis
from spinney.growth.kernels import records
from spinney.growth.kernels.records import (
    Found,
    PackedSums,
    Parts,
    Sums,
    Table,
    Tasks,
    TaskScratch,
    TreeArrays,
)
from spinney.growth.kernels.rules import Rules
from spinney.jit import allocate
from spinney.objectives.kernels.records import Grown, LeafRows
from spinney.sampling import Bag

Control = Any  # an array of one records.Control
_PARTS = ("feature", "left", "default_left", "value", "gain", "cover", "count")


def control_room() -> Control:
    """Memory for what changes from tree to tree."""
    # A plain array: the fields of NumPy's record arrays take microseconds to reach, and this is written for every tree.
    return np.zeros(1, records.Control.dtype)


def set_control(control: Control, output: int, seed: int, bag: Bag, rate: float) -> None:
    """Say what the next tree is for, which rows it sees, and the factor on its leaf values."""
    control[0] = (output, seed, len(bag.rows) if bag.count is None else bag.count, bag.count is None, rate)


def leaf_rows_room(rows: int, max_nodes: int) -> LeafRows:
    """Memory for the rows of a tree by leaf."""
    return allocate(LeafRows, rows=rows, max_nodes=max_nodes, grown=np.zeros(1, Grown.dtype))


def nodes_of(by_leaf: LeafRows) -> int:
    """How many nodes the latest tree has."""
    return int(by_leaf.grown["nodes"][0])


def table_room(max_nodes: int, slots: int, most_ahead: int = 0, words: int = 0) -> Table:
    """Memory for the nodes of a growing tree, and histogram slots of leaves that wait."""
    return allocate(Table, max_nodes=max_nodes, slots=slots, most_ahead=most_ahead, words=words)


def found_room(threads: int, columns: int, rules: Rules, words: int = 0) -> Found:
    """Memory for the splits that threads find."""
    return allocate(Found, threads=threads, columns=columns, words=words, rules=rules)


def sums_room(threads: int, slots: int, axis: TreeAxis) -> Sums:
    """Memory for packed sums of each thread, and so many histograms."""
    by_thread = allocate(PackedSums, threads=threads, size=axis.packed_size, axis=axis.record)
    return allocate(Sums, threads=threads, slots=slots, by_thread=by_thread, axis=axis.record)


def tasks_room(threads: int, columns: int, units: int = 0, sides: int = 0, words: int = 0) -> Tasks:
    """Memory for the tasks of all threads."""
    of_task = allocate(TaskScratch, threads=threads, columns=columns, words=words, sides_size=sides)
    return allocate(
        Tasks, threads=threads, units=units, parts=allocate(Parts, threads=threads), of_task=of_task
    )


def tree_room(max_nodes: int) -> TreeArrays:
    """Memory for a finished tree."""
    return allocate(TreeArrays, max_nodes=max_nodes)


def tree_parts(tree: TreeArrays, nodes: int, unit: float) -> dict[str, NDArray[Any]]:
    """Copy the arrays of a finished tree; `unit` is the power of two that penalties were divided by, because weights were."""
    parts: dict[str, NDArray[Any]] = {name: getattr(tree, name)[:nodes].copy() for name in _PARTS}
    if unit != 1.0:
        with np.errstate(over="ignore"):
            parts["gain"] *= unit
            parts["cover"] *= unit
    return parts
