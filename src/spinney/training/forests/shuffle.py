"""Leaves of rows of which one column is shuffled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Table
from spinney.data.sparse import SparseValues
from spinney.data.table import as_matrix, kernel_blocks
from spinney.jit import allocate
from spinney.jit.team import Team
from spinney.model.forest import ForestModel
from spinney.model.predict import dense_values
from spinney.sampling.orders import shuffled_orders
from spinney.training.forests.kernels.records import OnPath, PlainTree, Shuffles
from spinney.training.forests.kernels.shuffle import shuffled_leaves
from spinney.training.forests.trees import CELLS


class Shuffler:
    """Walks rows down trees while one column at a time is shuffled among them.

    Parameters
    ----------
    model : ForestModel
        The forest.
    table : Table
        A table that it has read.
    seed : int
        The order of a column depends on it, on the number of the tree and on that of the column.
    team : Team
        Threads; nothing depends on them.
    """

    def __init__(self, model: ForestModel, table: Table, seed: int, team: Team) -> None:
        self._model, self._table, self._seed, self._team = model, table, seed, team
        self._values = None if table.sparse is not None else dense_values(_matrix(table))

    def leaves(
        self, tree: int, rows: NDArray[np.int64], columns: list[int]
    ) -> Iterator[tuple[list[int], NDArray[np.int32], NDArray[np.int32]]]:
        """Walk some rows down a tree that has a split; a few columns at a time, so that memory stays small.

        Yields
        ------
        tuple of list, int32[rows] and int32[columns, rows]
            Some of the columns, the leaf of every row, and its leaf when each of these columns is shuffled among the rows.
        """
        step = max(1, CELLS // (2 * len(rows)))
        for first in range(0, len(columns), step):
            some = columns[first : first + step]
            orders = shuffled_orders(self._seed, tree, some, len(rows), self._team)
            shuffles = self._shuffles(rows, some, orders)
            if self._values is None:
                self._walk_entries(tree, rows, shuffles)
            else:
                on_path = allocate(OnPath, threads=self._team.size, columns=len(some))
                self._team.run(
                    shuffled_leaves.bind(_plain(self._model, tree), self._values, shuffles, on_path)
                )
            yield some, shuffles.before, shuffles.leaves.reshape(len(some), -1)

    def _shuffles(self, rows: NDArray[np.int64], columns: list[int], orders: NDArray[np.int32]) -> Shuffles:
        count = self._table.columns
        place = np.full(count, -1, np.int32)
        place[columns] = np.arange(len(columns), dtype=np.int32)
        return allocate(
            Shuffles, rows=len(rows), columns=len(columns), table_columns=count, row=rows,
            column=np.array(columns, np.int64), place=place, orders=orders.reshape(-1),
        )  # fmt: skip

    def _walk_entries(self, tree: int, rows: NDArray[np.int64], shuffles: Shuffles) -> None:
        """Write the leaves of rows of a sparse table; only those that lose or get an entry of a column can move."""
        chosen = np.zeros(self._table.rows, np.bool_)
        chosen[rows] = True
        part = self._table.take(chosen)
        assert part.sparse is not None
        by_row, by_column = part.sparse.matrix.tocsr(), part.sparse.matrix.tocsc()
        shuffles.before[:] = self._leaf_numbers(part, tree)
        found = shuffles.leaves.reshape(-1, len(rows))
        for column, order, leaves in zip(
            shuffles.column.tolist(), shuffles.orders.reshape(found.shape), found, strict=True
        ):
            leaves[:] = shuffles.before
            moved, entries = _moved(by_row, by_column, column, order)
            if len(moved):
                leaves[moved] = self._leaf_numbers(
                    Table(len(moved), part.columns, part.names, (), entries), tree
                )

    def _leaf_numbers(self, table: Table, tree: int) -> NDArray[np.int32]:
        return self._model.leaf_numbers(table, tree, tree + 1, n_jobs=self._team.size)[:, 0]


def _matrix(table: Table) -> NDArray[Any]:
    """All columns of a table in one matrix that kernels can read, uncopied where it is one already."""
    if len(table.panels) == 1:
        blocks = list(kernel_blocks(table.panels[0]))
        if len(blocks) == 1:
            return blocks[0][1]
    return as_matrix(table)


def _plain(model: ForestModel, tree: int) -> PlainTree:
    """A tree with its thresholds."""
    forest = model.forest
    begin, end = int(forest.split_start[tree]), int(forest.split_start[tree + 1])
    column, cut = (array[begin:end].astype(np.int64) for array in (forest.column, forest.cut))
    numeric = forest.compares(column)
    threshold, set_at = np.zeros(len(column)), np.full(len(column), -1, np.int64)
    threshold[numeric] = forest.cuts[forest.cut_start[column[numeric]] + cut[numeric]]
    set_at[~numeric] = forest.set_start[cut[~numeric]]
    return PlainTree(
        len(column), len(forest.set_bits), column.astype(np.int32), threshold, set_at, forest.default_left[begin:end],
        forest.children[2 * begin : 2 * end], forest.set_bits,
    )  # fmt: skip


def _moved(
    by_row: Any, by_column: Any, column: int, order: NDArray[np.int32]
) -> tuple[NDArray[np.int64], SparseValues]:
    """Rows of a sparse matrix that lose or get an entry when a column is shuffled, and all entries of these rows then."""
    from scipy import sparse

    stored = slice(by_column.indptr[column], by_column.indptr[column + 1])
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    left = by_column.indices[stored]
    rows = np.union1d(left, back[left])
    others = by_row[rows].tocoo()
    kept = others.col != column
    place = np.concatenate([others.row[kept], np.searchsorted(rows, back[left])])
    across = np.concatenate([others.col[kept], np.full(len(left), column)])
    values = np.concatenate([others.data[kept], by_column.data[stored]])
    matrix = sparse.coo_array((values, (place, across)), shape=others.shape).tocsr()
    matrix.sort_indices()
    return rows, SparseValues.of(matrix)
