"""The leaves of a finished forest: those that rows reach, a few trees or rows at a time, and what each leaf predicts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Table
from spinney.model.forest import ForestModel

CELLS = 2**24  # leaf numbers that are held at a time: 64 MB


def each_tree(
    model: ForestModel, table: Table, n_jobs: int | None
) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """Number of every tree, and the leaf of every row in it."""
    trees = model.forest.trees
    step = max(1, CELLS // max(table.rows, 1))
    for first in range(0, trees, step):
        leaves = np.ascontiguousarray(
            model.leaf_numbers(table, first, min(first + step, trees), n_jobs=n_jobs).T
        )
        yield from enumerate(leaves, first)


def each_block(
    model: ForestModel, table: Table, n_jobs: int | None
) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """First row of every block of rows, and the leaf of each of its rows in every tree, (rows, trees)."""
    trees = model.forest.trees
    step = max(1, CELLS // (4 * max(trees, 1)))
    for first in range(0, table.rows, step):
        part = table if step >= table.rows else table.between(first, min(first + step, table.rows))
        yield first, model.leaf_numbers(part, 0, trees, n_jobs=n_jobs)


def leaf_predictions(model: ForestModel, tree: int) -> NDArray[np.float64]:
    """What each leaf of a tree predicts, (leaves, values): shares of classes, outputs one after another, or numbers."""
    forest = model.forest
    leaves = slice(int(forest.leaf_start[tree]), int(forest.leaf_start[tree + 1]))
    values: NDArray[np.float64] = forest.value.reshape(-1, forest.values)[leaves].astype(np.float64)
    if model.classes:
        values /= forest.weight[leaves].astype(np.float64)[:, None]
    return values


def by_output(model: ForestModel) -> list[slice]:
    """Which of a leaf's values belong to each output."""
    ends = np.cumsum([0, *(model.classes or (1,) * model.outputs)]).tolist()
    return [slice(begin, end) for begin, end in pairwise(ends)]


def predicted_outputs(model: ForestModel, values: NDArray[np.float64]) -> NDArray[Any]:
    """What values of leaves or rows come to, (…, outputs): the most likely class, of equal ones the first; or the numbers."""
    if not model.classes:
        return values
    return np.stack([values[:, part].argmax(axis=1) for part in by_output(model)], axis=1)


def without_single_output(values: NDArray[Any]) -> NDArray[Any]:
    """Values of rows, (rows, outputs), in the shape that users get: (rows,) where there is one output."""
    return values[:, 0] if values.shape[1] == 1 else values
