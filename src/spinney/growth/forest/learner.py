"""`ForestLearner`: memory for trees that grow at the same time, and the calls of the kernels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spinney.data.forest_target import ForestTarget
from spinney.growth.forest.kernels.channel_trees import grow_channel_trees
from spinney.growth.forest.kernels.median_trees import grow_median_trees
from spinney.growth.forest.kernels.pair_trees import grow_pair_trees
from spinney.growth.forest.kernels.records import (
    ABSOLUTE,
    BATCH,
    LOGS,
    MOVED,
    PAYLOAD,
    POISSON,
    RANKS,
    SLACK,
    SQUARES,
    FinishedTrees,
    ForestRules,
    ForestScratch,
    Slots,
    SubtreePool,
)
from spinney.growth.forest.table import ForestTable
from spinney.growth.forest.targets import STEP_BITS, target_record
from spinney.growth.forest.thresholds import thresholds_between, with_cuts
from spinney.jit import room
from spinney.jit.team import Team
from spinney.params.forest import ForestConfig
from spinney.tree.compact import GrownTree

# Rows of all trees that grow at the same time, where that is more than a tree for each thread.
ROWS_AT_ONCE = 200_000
FEWEST_SETS = 1024  # of categories, for which a tree has room at first
FORMULAS = {
    "gini": SQUARES,
    "entropy": LOGS,
    "squared_error": SQUARES,
    "poisson": POISSON,
    "absolute_error": ABSOLUTE,
}


class ForestLearner:
    """Grows trees of a forest.

    Parameters
    ----------
    config : ForestConfig
        Parameters; directions of columns are one a column.
    table : ForestTable
        What is split.
    target : ForestTarget
        What is predicted.
    weight : float64[rows], optional
        Weights of the rows.
    team : Team
        Threads to work with; trees do not depend on them.
    """

    def __init__(
        self,
        config: ForestConfig,
        table: ForestTable,
        target: ForestTarget,
        weight: NDArray[np.float64] | None,
        team: Team,
    ) -> None:
        self._config, self._table, self._team = config, table, team
        formula = FORMULAS[config.criterion]
        pair = target.outputs == 1 and (not target.classes or target.classes[0] <= 2)
        channels = 1 if pair or formula == ABSOLUTE else target.leaf_values
        centered = formula != POISSON
        self._target = target_record(target, weight, channels, centered)
        self._rules = self._make_rules(target)
        self._kernel = grow_pair_trees if pair else grow_channel_trees
        if formula == ABSOLUTE:
            self._kernel = grow_median_trees
        self._max_sets = FEWEST_SETS if table.category_words else 0
        self._thresholds: list[NDArray[np.float64]] = []  # of exact trees
        self._capacity = min(table.rows, int(self._rules.drawn))

    def grow(self, first: int, count: int) -> Iterator[GrownTree]:
        """Grow trees number first .. first + count - 1, in order."""
        self._thresholds = []
        at_once = min(count, self._at_once())
        memory = self._memory(at_once)
        for begin in range(first, first + count, at_once):
            trees = min(at_once, first + count - begin)
            self._run(memory, begin, trees)
            while memory.slots.facts.full[:trees].any():
                # Sets of categories had too little room. With more of it the same trees grow.
                self._max_sets *= 4
                memory = self._memory(at_once)
                self._run(memory, begin, trees)
            for slot in range(trees):
                yield self._grown(memory, slot)

    def forest(
        self, first: int, count: int
    ) -> tuple[list[GrownTree], NDArray[np.int64], NDArray[np.float64]]:
        """Grow trees number first .. first + count - 1, and give the cuts of their columns.

        Returns
        -------
        trees : list of GrownTree
            In order.
        cut_start, cuts : int64[columns + 1], float64
            The thresholds that their splits name.
        """
        trees = list(self.grow(first, count))
        if self._table.access != RANKS:
            return trees, self._table.cut_start, self._table.cuts
        return with_cuts(trees, self._thresholds, self._table)

    def _run(self, memory: _Memory, first: int, trees: int) -> None:
        rules = replace(self._rules, first_tree=first, trees=trees)
        state = memory.pool.state[0]
        state.next_tree, state.waiting, state.unfinished = 0, 0, trees
        memory.slots.facts.full[:] = 0
        table = self._table
        self._team.run(
            self._kernel.bind(
                table.binned, table.others, table.values, self._target, rules, memory.slots, memory.pool, memory.scratch,
                memory.finished,
            )
        )  # fmt: skip

    def _at_once(self) -> int:
        """Trees that grow at the same time: one for each thread, more where they are small."""
        return max(self._team.size, ROWS_AT_ONCE // self._capacity)

    def _memory(self, trees: int) -> _Memory:
        rules, target, table, team = self._rules, self._target, self._table, self._team
        capacity = self._capacity
        held = table.held if table.access == MOVED else 0
        words = -(-(-(-held // 4) + PAYLOAD) // 2)
        max_splits = max(1, capacity // max(1, rules.min_leaf) - 1)
        max_nodes = 2 * max_splits + 1
        memory = np.zeros(trees * capacity * words + SLACK, np.int64)
        chunks = -(-held // 32)
        low, high = np.zeros((2, team.size * chunks * 4), np.int64)
        slots = room(
            Slots,
            slots=trees,
            capacity=capacity,
            words=words,
            max_nodes=max_nodes,
            max_sets=min(self._max_sets, max_splits),
            set_words=table.category_words,
            table_rows=table.rows,
            values=target.values,
            memory=memory,
            ints=memory.view(np.int32),
            bytes=memory.view(np.uint8),
        )
        width = int(table.values.codes.max()) + 1
        scratch = room(
            ForestScratch,
            threads=team.size,
            width=width,
            lines=width + 1,
            batch=BATCH,
            chunks=chunks,
            low=low,
            high=high,
            low_bytes=low.view(np.uint8),
            high_bytes=high.view(np.uint8),
            cell_columns=BATCH if target.channels == 1 else 1,
            capacity=capacity,
            words=words,
            set_words=table.category_words,
            sorted=max(width + 1, self._for_medians(capacity)),
            order=np.tile(np.arange(table.columns), team.size),
            target=target,
            rules=rules,
        )
        finished = room(
            FinishedTrees,
            max_splits=max_splits,
            values=target.values,
            kept=rules.keep_rows,
            pruned=int(rules.prune >= 0),
            slots=slots,
        )
        return _Memory(slots, room(SubtreePool, target=target), scratch, finished)

    def _make_rules(self, target: ForestTarget) -> ForestRules:
        config, table = self._config, self._table
        signs = np.zeros(table.columns, np.int64)
        if config.monotonic_cst is not None:
            signs[:] = np.array(config.monotonic_cst)
        formula = FORMULAS[config.criterion]
        return ForestRules(
            columns=table.columns,
            trees=0,
            first_tree=0,
            seed=config.random_state,
            drawn=config.rows_per_tree(table.rows),
            replace=int(config.bootstrap),
            every_row=int(not config.draws_rows),
            balanced=int(config.class_weight == "balanced_subsample"),
            per_split=config.columns_per_split(table.columns),
            max_depth=_deepest(config),
            max_leaves=config.max_leaf_nodes,
            min_split=config.least_split(table.rows),
            min_leaf=config.least_leaf(table.rows),
            min_weight=config.min_weight_fraction_leaf,
            min_decrease=config.min_impurity_decrease,
            prune=config.ccp_alpha if config.ccp_alpha > 0 else -1.0,
            gain_unit=self._gain_unit(target, formula),
            formula=formula,
            random=int(config.splitter == "random"),
            target_bits=STEP_BITS if self._target.channels == 1 and not target.classes else 1,
            access=table.access,
            keep_rows=int(config.keep_leaf_rows),
            bounded=int(bool(signs.any())),
            signs=signs,
        )

    def _gain_unit(self, target: ForestTarget, formula: int) -> float:
        """Real decrease of impurity that one unit of score stands for; impurity is the mean over outputs."""
        if target.classes:
            # Of two classes the square of one share is known; the other adds as much.
            unit = 2.0 if formula == SQUARES and self._target.channels == 1 else 1.0
            return unit / (math.log(2.0) if formula == LOGS else 1.0) / target.outputs
        step = float(self._target.units[0])
        return (step if formula in (POISSON, ABSOLUTE) else step * step) / target.outputs

    def _for_medians(self, rows: int) -> int:
        """Half of the whole numbers that medians of so many rows take."""
        if self._rules.formula != ABSOLUTE:
            return 0
        return int((2 * self._target.outputs + 6) * rows + 3) // 2

    def _grown(self, memory: _Memory, slot: int) -> GrownTree:
        slots, finished = memory.slots, memory.finished
        splits, values = int(slots.facts.splits[slot]), finished.values
        at, leaves_at = slot * finished.max_splits, slot * (finished.max_splits + 1)
        by_split, by_leaf = slice(at, at + splits), slice(leaves_at, leaves_at + splits + 1)
        column, cut = finished.column[by_split].copy(), finished.cut[by_split].copy()
        if self._table.access == RANKS:
            self._thresholds.append(thresholds_between(self._table, column, cut, finished.above[by_split]))
        sets: list[NDArray[np.int64]] = []
        if self._table.category_words:
            chosen = np.flatnonzero(self._table.binned.features.categorical[column])
            words = slots.set_words
            first = (slot * slots.max_sets + cut[chosen].astype(np.int64)) * words
            # There is room for the largest column and its code of missing values; a tree keeps the bits of a column's own.
            own = (self._table.values.codes[column[chosen]] + 63) // 64
            sets = [slots.sets[place : place + n].copy() for place, n in zip(first, own, strict=True)]
            cut[chosen] = np.arange(len(chosen))
        begin, rows = slot * slots.capacity, int(slots.facts.rows[slot]) if finished.kept else 0
        return GrownTree(
            column=column,
            cut=cut,
            default_left=finished.default_left[by_split].copy(),
            children=finished.children[2 * at : 2 * (at + splits)].copy(),
            gain=finished.gain[by_split].copy(),
            value=finished.value[leaves_at * values : (leaves_at + splits + 1) * values].copy(),
            weight=finished.weight[by_leaf].copy(),
            count=finished.count[by_leaf].astype(np.int64),
            sets=sets,
            leaf_rows=finished.rows[begin : begin + rows].copy(),
        )


def _deepest(config: ForestConfig) -> int:
    """Depth that leaves may have; 0: any. A tree of few leaves cannot be deep."""
    limits = [limit for limit in (config.max_depth, config.max_leaf_nodes - 1) if limit > 0]
    return min(limits, default=0)


@dataclass(frozen=True, eq=False)
class _Memory:
    """What the kernels write to."""

    slots: Slots
    pool: SubtreePool
    scratch: ForestScratch
    finished: FinishedTrees
