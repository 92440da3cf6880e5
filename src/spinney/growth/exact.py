"""The exact learner: memory for growing trees on sorted columns, and one call per tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.binning.sorted import SortedColumns
from spinney.growth.kernels.exact import ExactBag, ExactRows, grow_exact
from spinney.growth.kernels.records import Chosen
from spinney.growth.kernels.scan import SortedLines
from spinney.growth.refit import AllRows, refit
from spinney.growth.room import (
    control_room,
    found_room,
    nodes_of,
    set_control,
    table_room,
    tasks_room,
    tree_parts,
    tree_room,
)
from spinney.growth.rules import ColumnChoice, rules_of
from spinney.jit import Bound, room
from spinney.jit.team import Team
from spinney.objectives.kernels.records import Gradients
from spinney.params import Config
from spinney.sampling.columns import draw_columns
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
    weight_unit, gradients, team, all_rows
        As for `HistGrower`.
    """

    def __init__(
        self,
        data: SortedColumns,
        config: Config,
        candidates: int,
        weight_unit: float,
        gradients: Gradients,
        team: Team,
        all_rows: AllRows | None = None,
    ) -> None:
        self._data, self._team, self._unit = data, team, weight_unit
        columns = data.columns
        self._choice = ColumnChoice(config, columns)
        self._column_count = self._choice.drawn(config.colsample_bytree, columns)
        self._rules = rules_of(config, data.rows, self._choice, self._column_count, weight_unit, True)
        self.bag = np.empty(data.rows, np.int32)
        self.control = control_room()
        self._chosen = room(Chosen, columns=columns)
        self._own = np.zeros(team.size + 1, np.int64)
        self._use(np.arange(columns))
        max_nodes = 2 * self._rules.limits.max_leaves
        self._table, self._tree = table_room(max_nodes, 1), tree_room(max_nodes)
        self._job = self._bind(candidates, gradients)
        self.leaves = np.empty(0 if all_rows is None else data.rows, np.int32)
        self._refit = (
            None
            if all_rows is None
            else refit(all_rows, self.control, self._rules, self._table, self._tree, self.leaves, team)
        )

    def grow(self, output: int, seed: int, in_bag: int | None) -> Tree:
        """Grow one tree for an output and, if it saw all rows, add it to their scores.

        `in_bag` is the number of rows at the front of `bag` that the tree may see, None for all rows.
        """
        data = self._data
        set_control(self.control, output, seed, data.rows, in_bag)
        if self._column_count < data.columns:
            self._use(draw_columns(data.columns, self._column_count, seed, self._choice.weights))
        self._team.run(self._job)
        return self._copy_tree(nodes_of(self.control))

    def refit(self) -> Tree:
        """Compute the latest tree's values again, from the leaves of all rows in `leaves`, and add it to the scores."""
        assert self._refit is not None
        self._team.run(self._refit)
        return self._copy_tree(nodes_of(self.control))

    def _copy_tree(self, nodes: int) -> Tree:
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
        found = found_room(threads, columns, self._rules)
        job: Bound = grow_exact.bind(
            candidates,
            ExactBag(rows, self.control, self.bag),
            sorted_columns,
            self._chosen,
            gradients,
            self._rules,
            room(
                ExactRows,
                rows=rows,
                threads=threads,
                columns=columns,
                own=self._own,
                sorted_columns=sorted_columns,
                table=table,
            ),
            found,
            room(SortedLines, found=found),
            tasks_room(threads, columns),
            table,
            self._tree,
        )
        return job
