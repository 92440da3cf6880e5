"""The exact grower: memory for growing trees on sorted columns, and one call of a kernel per tree.

Columns are sorted once (`SortedTable` in `binning/views.py`); `kernels/exact.py` grows a tree on their entries.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.binning.views import SortedTable
from spinney.data.kernels.records import Gradients, LeafRows
from spinney.growth.kernels.exact import ExactBag, ExactRows, ExactScratch, grow_exact
from spinney.growth.kernels.records import ChosenColumns
from spinney.growth.kernels.scan import SortedCutSums
from spinney.growth.leaf_values import NEWTON, LeafFinisher, LeafValues
from spinney.growth.workspace import (
    ColumnChoice,
    allocate_control,
    allocate_leaf_rows,
    allocate_splits,
    allocate_table,
    allocate_tasks,
    allocate_tree,
    nodes_of,
    rules_of,
    set_control,
    tree_parts,
)
from spinney.jit import Bound, allocate
from spinney.jit.team import Team
from spinney.params import Config
from spinney.sampling import Bag, draw_columns
from spinney.tree import Sets, Tree


class ExactGrower:
    """Grows trees on sorted columns. A tree is grown fully; then splits at its bottom that gain less than gamma are removed.

    Parameters
    ----------
    data : SortedTable
        The training rows.
    config : Config
        Parameters of a tree.
    candidates : int
        Cuts that a node tries in a column, spaced by hessian; 0 for every value.
    gradients, bag, team, values
        As for `HistGrower`.

    Attributes
    ----------
    finisher : LeafFinisher
        The last steps of a tree. The caller does them: rows outside the bag find their leaves by the values of the table.
    """

    def __init__(
        self,
        data: SortedTable,
        config: Config,
        candidates: int,
        gradients: Gradients,
        bag: Bag,
        team: Team,
        values: LeafValues = NEWTON,
    ) -> None:
        self._data, self._team, self._bag, self._unit = data, team, bag, gradients.unit
        columns = data.columns
        self._choice = ColumnChoice(config, columns)
        self._column_count = self._choice.count_of(config.colsample_bytree, columns)
        self._rules = rules_of(config, data.rows, self._choice, self._column_count, self._unit, True)
        self.control = allocate_control()
        self._chosen = allocate(ChosenColumns, columns=columns)
        self._bounds = np.zeros(team.size + 1, np.int64)
        self._use_columns(np.arange(columns))
        max_nodes = 2 * self._rules.limits.max_leaves
        self._table, self._tree = allocate_table(max_nodes, 1), allocate_tree(max_nodes)
        self._by_leaf = allocate_leaf_rows(data.rows, max_nodes)
        self._job = self._bind(candidates, gradients)
        self.finisher = LeafFinisher(
            values, self.control, self._rules, self._table, self._tree, self._by_leaf, gradients, team
        )

    def grow(self, output: int, seed: int, rate: float) -> LeafRows:
        """Grow one tree for an output on the bag's rows, with `rate` as factor on its leaf values; returns these rows by leaf."""
        data = self._data
        set_control(self.control, output, seed, self._bag, rate)
        if self._column_count < data.columns:
            self._use_columns(draw_columns(data.columns, self._column_count, seed, self._choice.weights))
        self._team.run(self._job)
        return self._by_leaf

    def tree(self) -> Tree:
        """A copy of the latest tree."""
        nodes = nodes_of(self._by_leaf)
        parts = tree_parts(self._tree, nodes, self._unit)
        feature, below = parts["feature"], self._tree.cut_bin[:nodes]
        inner = feature >= 0
        above = self._table.nodes.above[self._table.order[:nodes]]
        threshold = np.zeros(nodes)
        threshold[inner] = self._data.threshold(feature[inner], below[inner], above[inner])
        return Tree(threshold=threshold, **parts, sets=Sets.none())

    def _use_columns(self, columns: NDArray[np.int64]) -> None:
        """Let the next tree be split by these columns, ascending, and divide them among the threads by their entries."""
        count, threads, chosen = len(columns), self._team.size, self._chosen
        chosen.used_columns[:count] = columns
        chosen.allowed[:] = 0
        chosen.allowed[columns] = 1
        chosen.extent["columns"] = count
        cost = np.cumsum(np.diff(self._data.record.starts)[columns] + 1)
        self._bounds[:] = np.searchsorted(cost, cost[-1] * np.arange(threads + 1) // threads)
        self._bounds[-1] = count

    def _bind(self, candidates: int, gradients: Gradients) -> Bound:
        data, threads = self._data, self._team.size
        rows, columns, table = data.rows, data.columns, self._table
        sorted_columns = data.record
        job: Bound = grow_exact.bind(
            candidates,
            ExactBag(rows, self.control, self._bag.rows),
            sorted_columns,
            self._chosen,
            gradients,
            self._rules,
            allocate(
                ExactRows,
                rows=rows,
                threads=threads,
                columns=columns,
                bounds=self._bounds,
                scratch=allocate(ExactScratch, threads=threads, rows=rows),
                by_leaf=self._by_leaf,
                sorted_columns=sorted_columns,
                table=table,
            ),
            allocate_splits(threads, columns, self._rules),
            allocate(SortedCutSums, threads=threads),
            allocate_tasks(threads, columns),
            table,
            self._tree,
        )
        return job
