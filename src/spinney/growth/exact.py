"""The exact learner: memory for growing trees on sorted columns, and one call per tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.binning.blocks import ColumnBlocks
from spinney.growth import layout
from spinney.growth.column_rules import ColumnRules
from spinney.growth.exact_kernels import grow_exact
from spinney.growth.grower import limits_of, rules_of, tree_arrays
from spinney.growth.refit import AllRows, Grown, refit
from spinney.growth.scan_kernels import LINE
from spinney.jit import Bound
from spinney.jit.team import Team
from spinney.params import Config
from spinney.sampling.columns import draw_columns
from spinney.tree import Sets, Tree


class ExactGrower:
    """Grows trees on sorted columns. A tree is grown whole; then splits at its bottom that gain less than gamma are taken back.

    Parameters
    ----------
    blocks : ColumnBlocks
        The training rows.
    config : Config
        Parameters of a tree.
    candidates : int
        Cuts that a node tries in a column, spaced by hessian; 0 for every value.
    weight_unit, scores, pairs, stats, team, everyone
        As for `HistGrower`.
    """

    def __init__(
        self,
        blocks: ColumnBlocks,
        config: Config,
        candidates: int,
        weight_unit: float,
        scores: NDArray[np.float64],
        pairs: NDArray[np.float32],
        stats: NDArray[np.float64],
        team: Team,
        everyone: AllRows | None = None,
    ) -> None:
        self._blocks, self._team, self._unit = blocks, team, weight_unit
        columns = blocks.columns
        self._columns = ColumnRules(config, columns)
        self._column_count = self._columns.drawn(config.colsample_bytree, columns)
        self.bag = np.empty(blocks.rows, np.int32)
        self.control = np.zeros(layout.CONTROLS, np.int64)
        self._used, self._allowed = np.zeros(columns, np.int64), np.zeros(columns, np.uint8)
        self._shares, self._extent = np.zeros(team.size + 1, np.int64), np.zeros(layout.EXTENTS, np.int64)
        self._use(np.arange(columns))
        limits, rules = (
            limits_of(config, blocks.rows, self._columns, self._column_count),
            rules_of(config, weight_unit),
        )
        least = rules[layout.GAMMA : layout.GAMMA + 1].copy()
        rules[layout.GAMMA] = 0.0
        max_nodes = 2 * int(limits[layout.MAX_LEAVES])
        self._tree = tree_arrays(max_nodes)
        self._grown = Grown.room(self.control, limits, rules, self._tree)
        self._job = self._bind(candidates, limits, rules, least, max_nodes, scores, pairs, stats)
        self.leaves = np.empty(0 if everyone is None else blocks.rows, np.int32)
        self._refit = None if everyone is None else refit(everyone, self._grown, self.leaves, scores, team)

    def grow(self, output: int, seed: int, in_bag: int | None) -> Tree:
        """Grow one tree for an output and, if it saw all rows, add it to their scores.

        `in_bag` is the number of rows at the front of `bag` that the tree may see, None for all rows.
        """
        control, blocks = self.control, self._blocks
        control[layout.CLASS], control[layout.SEED] = output, seed
        control[layout.IN_BAG] = blocks.rows if in_bag is None else in_bag
        control[layout.ALL_ROWS] = in_bag is None
        if self._column_count < blocks.columns:
            self._use(draw_columns(blocks.columns, self._column_count, seed, self._columns.weights))
        self._team.run(self._job)
        return self._copy_tree(int(control[layout.NODES]))

    def refit(self) -> Tree:
        """Compute the latest tree's values again, from the leaves of all rows in `leaves`, and add it to the scores."""
        assert self._refit is not None
        self._team.run(self._refit)
        return self._copy_tree(int(self.control[layout.NODES]))

    def _copy_tree(self, nodes: int) -> Tree:
        parts = {name: array[:nodes].copy() for name, array in self._tree.items()}
        below, feature = parts.pop("cut_bin"), parts["feature"]
        inner = feature >= 0
        above = self._grown.nodes.reshape(-1, layout.NODE_WIDTH)[:nodes, layout.CUT_ABOVE]
        threshold = np.zeros(nodes)
        threshold[inner] = self._blocks.threshold(feature[inner], below[inner], above[inner])
        with np.errstate(over="ignore"):
            parts["gain"] *= self._unit
            parts["cover"] *= self._unit
        return Tree(threshold=threshold, **parts, sets=Sets.none())

    def _use(self, columns: NDArray[np.int64]) -> None:
        """Let the next tree be split by these columns, ascending, and share them out by their entries."""
        count, threads = len(columns), self._team.size
        self._used[:count] = columns
        self._allowed[:] = 0
        self._allowed[columns] = 1
        self._extent[layout.COLUMNS_USED] = count
        cost = np.cumsum(np.diff(self._blocks.starts)[columns] + 1)
        self._shares[:] = np.searchsorted(cost, cost[-1] * np.arange(threads + 1) // threads)
        self._shares[-1] = count

    def _bind(
        self,
        candidates: int,
        limits: NDArray[np.int64],
        rules: NDArray[np.float64],
        least: NDArray[np.float64],
        max_nodes: int,
        scores: NDArray[np.float64],
        pairs: NDArray[np.float32],
        stats: NDArray[np.float64],
    ) -> Bound:
        blocks, threads = self._blocks, self._team.size
        rows, columns, listed = blocks.rows, blocks.columns, len(blocks.entries)

        def whole(size: int) -> NDArray[np.int64]:
            return np.zeros(size, np.int64)

        return grow_exact.bind(
            rows, columns, len(scores), threads, listed, max_nodes, stats.shape[1], candidates, *self._columns.sizes,
            blocks.entries, blocks.starts, blocks.rest, blocks.ranks, blocks.zero,
            self._used, self._allowed, self._shares, self._extent, *self._columns.arrays,
            self.bag, pairs, stats, self.control, limits, rules, least, scores,
            np.empty(listed, np.int64), np.empty(threads * rows, np.int64), np.empty(max_nodes * columns, np.int64),
            np.empty(max_nodes * columns, np.int64), np.empty(rows, np.int64), np.empty(rows, np.uint8),
            np.empty(rows, np.int32), np.empty(rows, np.int32), whole(2 * max_nodes),
            np.empty(3 * LINE * threads), np.empty(LINE * threads), whole(LINE * threads),
            self._grown.nodes, self._grown.gains, whole(max_nodes), whole(1),
            self._grown.shared, whole(layout.TASK_WIDTH * threads), np.zeros(layout.SCALES), whole(8 * threads),
            whole(2 * threads * layout.FOUND_WIDTH), np.zeros(2 * threads),
            whole(threads * columns), np.zeros(2 * threads * columns, np.uint8),
            np.zeros(columns, np.uint8), self._columns.keys(threads), whole(1),
            *self._tree.values(),
        )  # fmt: skip
