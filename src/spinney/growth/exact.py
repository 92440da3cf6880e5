"""The exact learner: memory for growing trees on sorted columns, and one call per tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.binning.sorted import SortedColumns
from spinney.growth.kernels.exact import ExactBag, ExactRows, ExactScratch, grow_exact
from spinney.growth.kernels.records import Chosen
from spinney.growth.kernels.scan import SortedLine
from spinney.growth.leaf_values import NEWTON, Finish, LeafValues
from spinney.growth.room import (
    control_room,
    found_room,
    leaf_rows_room,
    nodes_of,
    set_control,
    table_room,
    tasks_room,
    tree_parts,
    tree_room,
)
from spinney.growth.rules import ColumnChoice, rules_of
from spinney.jit import Bound, allocate
from spinney.jit.team import Team
from spinney.objectives.kernels.records import Gradients, LeafRows
from spinney.params import Config
from spinney.sampling import Bag, draw_columns
from spinney.tree import Sets, Tree


class ExactGrower:
    """Grows trees on sorted columns. A tree is grown whole; then splits at its bottom that gain less than gamma are taken back.

    Parameters
    ----------
    data : SortedColumns
        The training rows.
    config : Config
        Parameters of a tree.
    candidates : int
        Cuts that a node tries in a column, spaced by hessian; 0 for every value.
    gradients, bag, team, values
        As for `HistGrower`.

    Attributes
    ----------
    finish : Finish
        The last steps of a tree. Only whoever holds the table can lead rows outside the bag to their leaves.
    """

    def __init__(
        self,
        data: SortedColumns,
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
        self._column_count = self._choice.drawn(config.colsample_bytree, columns)
        self._rules = rules_of(config, data.rows, self._choice, self._column_count, self._unit, True)
        self.control = control_room()
        self._chosen = allocate(Chosen, columns=columns)
        self._own = np.zeros(team.size + 1, np.int64)
        self._use(np.arange(columns))
        max_nodes = 2 * self._rules.limits.max_leaves
        self._table, self._tree = table_room(max_nodes, 1), tree_room(max_nodes)
        self._by_leaf = leaf_rows_room(data.rows, max_nodes)
        self._job = self._bind(candidates, gradients)
        self.finish = Finish(
            values, self.control, self._rules, self._table, self._tree, self._by_leaf, gradients, team
        )

    def grow(self, output: int, seed: int, rate: float) -> LeafRows:
        """Grow one tree for an output on the bag's rows; returns these by leaf."""
        data = self._data
        set_control(self.control, output, seed, self._bag, rate)
        if self._column_count < data.columns:
            self._use(draw_columns(data.columns, self._column_count, seed, self._choice.weights))
        self._team.run(self._job)
        return self._by_leaf

    def tree(self) -> Tree:
        """Copy the latest tree."""
        nodes = nodes_of(self._by_leaf)
        parts = tree_parts(self._tree, nodes, self._unit)
        feature, below = parts["feature"], self._tree.cut_bin[:nodes]
        inner = feature >= 0
        above = self._table.nodes.above[self._table.order[:nodes]]
        threshold = np.zeros(nodes)
        threshold[inner] = self._data.threshold(feature[inner], below[inner], above[inner])
        return Tree(threshold=threshold, **parts, sets=Sets.none())

    def _use(self, columns: NDArray[np.int64]) -> None:
        """Let the next tree be split by these columns, ascending, and share them out by their entries."""
        count, threads, chosen = len(columns), self._team.size, self._chosen
        chosen.used_columns[:count] = columns
        chosen.allowed[:] = 0
        chosen.allowed[columns] = 1
        chosen.extent["columns"] = count
        cost = np.cumsum(np.diff(self._data.record.starts)[columns] + 1)
        self._own[:] = np.searchsorted(cost, cost[-1] * np.arange(threads + 1) // threads)
        self._own[-1] = count

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
                bounds=self._own,
                scratch=allocate(ExactScratch, threads=threads, rows=rows),
                by_leaf=self._by_leaf,
                sorted_columns=sorted_columns,
                table=table,
            ),
            found_room(threads, columns, self._rules),
            allocate(SortedLine, threads=threads),
            tasks_room(threads, columns),
            table,
            self._tree,
        )
        return job
