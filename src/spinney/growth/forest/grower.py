"""The grower of forests: the rules of trees, the calls of the kernels that grow them, and the leaf of every row in a tree.

Rows that did not grow a tree find their leaves by their codes (`leaf_of_rows`), as well as those that did.

A criterion that is a formula of sums has a number in `kernels/records.py`, its scores in `kernels/scores.py` (`pair_score`) and
`kernels/channels.py` (`side_score`), its place in `FORMULAS` and the unit of its gain here. Any other one has a module like
`kernels/medians.py`, with a search, totals, a decrease and a leaf value, of which `kernels/forms.py` makes a kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spinney.data.table import starts_of
from spinney.data.target import ForestTarget
from spinney.growth.forest.kernels.forms import grow_channel_trees, grow_median_trees, grow_pair_trees
from spinney.growth.forest.kernels.leaves import GrownSplits, find_leaves
from spinney.growth.forest.kernels.records import ABSOLUTE, LOGS, PLACES, POISSON, RANKS, SQUARES, ForestRules
from spinney.growth.forest.memory import MemorySizes, TreeMemory, trees_at_once
from spinney.growth.forest.table import STEP_BITS, ForestTable, target_record
from spinney.growth.forest.thresholds import (
    drawn_thresholds,
    number_gap_thresholds,
    thresholds_between,
    with_cuts,
)
from spinney.jit.team import Team
from spinney.params import ForestConfig
from spinney.tree.compact import GrownTree, narrow_copy
from spinney.tree.forest import concatenated

FEWEST_SETS = 1024  # of categories that a tree has memory for at first
# Squares of numbers below 1e-150 would vanish: gains are then those of larger numbers, in the same proportion.
LEAST_STEP = 2.0**-530
FORMULAS = {
    "gini": SQUARES,
    "entropy": LOGS,
    "squared_error": SQUARES,
    "poisson": POISSON,
    "absolute_error": ABSOLUTE,
}


class ForestGrower:
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
    keep_memory : bool, default=False
        Whether the memory of trees that have grown stays for the next ones.
    """

    def __init__(
        self,
        config: ForestConfig,
        table: ForestTable,
        target: ForestTarget,
        weight: NDArray[np.float64] | None,
        team: Team,
        keep_memory: bool = False,
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
        self._gap_thresholds = table.gap_thresholds if self._rules.random else None
        self._thresholds: list[NDArray[np.float64]] = []  # of exact trees
        self._capacity = min(table.rows, int(self._rules.drawn))
        self._keep_memory = keep_memory
        self._kept_memory: TreeMemory | None = None

    def set_weights(self, weight: NDArray[np.float64]) -> None:
        """Give the rows other weights, for trees that are grown from now on; rows must have had weights before."""
        self._target = replace(self._target, weights=weight)

    def grow(self, first: int, count: int) -> Iterator[GrownTree]:
        """Grow trees number first .. first + count - 1, in order. Some are yielded only after the next ones have grown."""
        self._thresholds = []
        begin, end = first, first + count
        at_once = min(count, self._trees_at_once())
        memory = self._memory_for(at_once)
        other = memory.with_own_finished(self._sizes(at_once)) if at_once < count else memory
        pending: list[Callable[[], GrownTree]] = []  # each copies a grown tree
        while begin < end:
            trees = min(at_once, end - begin)
            copied: list[GrownTree] = []
            # Trees are copied while the next ones grow: 0.7 ms each, during which all threads would wait.
            self._run(memory, begin, trees, partial(_copy_all, pending, copied))
            pending = []
            yield from copied
            if memory.slots.facts.full[:trees].any():
                # There was too little memory for sets of categories. With more of it the same trees grow, fewer at a time.
                self._max_sets *= 4
                at_once = min(at_once, self._trees_at_once())
                self._kept_memory = None
                memory = self._memory_for(at_once)
                other = memory.with_own_finished(self._sizes(at_once))
                continue
            facts = memory.slots.facts.copy()
            pending = [
                partial(self._copy_tree, memory, slot, int(facts.splits[slot]), int(facts.rows[slot]))
                for slot in range(trees)
            ]
            if self._table.category_words:
                # The next trees write their sets to the same memory.
                yield from [copy() for copy in pending]
                pending = []
            begin += trees
            memory, other = other, memory
        for copy in pending:
            yield copy()

    def grow_forest(
        self, first: int, count: int
    ) -> tuple[list[GrownTree], NDArray[np.int64], NDArray[np.float64]]:
        """Grow trees number first .. first + count - 1, and list the cuts of their columns.

        Returns
        -------
        trees : list of GrownTree
            In order.
        cut_start, cuts : int64[columns + 1], float64
            The thresholds that their splits have the numbers of.
        """
        trees = list(self.grow(first, count))
        if self._table.access != RANKS:
            gaps = self._gap_thresholds
            if gaps is None:
                return trees, self._table.cut_start, self._table.cuts
            return trees, self._table.cut_start * PLACES, gaps.reshape(-1)
        return with_cuts(trees, self._thresholds, self._table, self._team.size)

    def _run(self, memory: TreeMemory, first: int, trees: int, meanwhile: Callable[[], None]) -> None:
        rules = replace(self._rules, first_tree=first, trees=trees)
        state = memory.pool.state[0]
        state.next_tree, state.waiting, state.unfinished = 0, 0, trees
        memory.slots.facts.full[:] = 0
        table = self._table
        self._team.run_apart(
            self._kernel.bind(
                table.binned, table.others, table.values, self._target, rules, memory.slots, memory.pool, memory.scratch,
                memory.finished,
            ),
            meanwhile,
        )  # fmt: skip

    def _trees_at_once(self) -> int:
        """Trees that grow at the same time."""
        sizes = self._sizes(1)
        return trees_at_once(self._team.size, self._capacity, sizes.tree_bytes(), self._table.nbytes)

    def _memory_for(self, trees: int) -> TreeMemory:
        """Memory for so many trees at the same time; that of the trees before, where it was kept and is for as many."""
        if self._kept_memory is not None and self._kept_memory.slots.slots == trees:
            return self._kept_memory
        memory = TreeMemory.of(self._sizes(trees))
        self._kept_memory = memory if self._keep_memory else None
        return memory

    def _sizes(self, trees: int) -> MemorySizes:
        return MemorySizes(
            trees=trees,
            threads=self._team.size,
            capacity=self._capacity,
            max_sets=self._max_sets,
            rules=self._rules,
            target=self._target,
            table=self._table,
        )

    def _make_rules(self, target: ForestTarget) -> ForestRules:
        config, table = self._config, self._table
        directions = np.zeros(table.columns, np.int64)
        if config.monotonic_cst is not None:
            directions[:] = np.array(config.monotonic_cst)
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
            max_depth=_max_depth(config),
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
            bounded=int(bool(directions.any())),
            directions=directions,
        )

    def _gain_unit(self, target: ForestTarget, formula: int) -> float:
        """Real decrease of impurity that one unit of score stands for; impurity is the mean over outputs."""
        if target.classes:
            # Of two classes the square of one share is known; the other adds as much.
            unit = 2.0 if formula == SQUARES and self._target.channels == 1 else 1.0
            return unit / (math.log(2.0) if formula == LOGS else 1.0) / target.outputs
        step = float(self._target.units[0])
        if formula in (POISSON, ABSOLUTE):
            return step / target.outputs
        return max(step, LEAST_STEP) ** 2 / target.outputs

    def _copy_tree(self, memory: TreeMemory, slot: int, splits: int, rows: int) -> GrownTree:
        slots, finished = memory.slots, memory.finished
        values = finished.values
        at, leaves_at = slot * finished.max_splits, slot * (finished.max_splits + 1)
        by_split, by_leaf = slice(at, at + splits), slice(leaves_at, leaves_at + splits + 1)
        column, cut = finished.column[by_split], finished.cut[by_split]
        above = finished.above[by_split]
        if self._table.access == RANKS:
            find = drawn_thresholds if self._rules.random else thresholds_between
            self._thresholds.append(find(self._table, column, cut, above))
        elif self._gap_thresholds is not None:
            cut = number_gap_thresholds(self._gap_thresholds, self._table, column, cut, above)
        sets: list[NDArray[np.int64]] = []
        if self._table.category_words:
            chosen = np.flatnonzero(self._table.binned.features.categorical[column])
            words = slots.set_words
            first = (slot * slots.max_sets + cut[chosen].astype(np.int64)) * words
            # A set has words for the column of the most codes, missing values among them; a tree keeps those of its own column.
            lengths = (self._table.values.codes[column[chosen]] + 63) // 64
            sets = [slots.sets[start : start + n].copy() for start, n in zip(first, lengths, strict=True)]
            cut[chosen] = np.arange(len(chosen))
        begin = slot * slots.capacity
        # In narrow types from the start: thousands of trees may be in memory before the forest is put together.
        return GrownTree(
            column=narrow_copy("column", column),
            cut=narrow_copy("cut", cut),
            default_left=finished.default_left[by_split].copy(),
            children=finished.children[2 * at : 2 * (at + splits)].copy(),
            gain=finished.gain[by_split].copy(),
            value=narrow_copy(
                "value", finished.value[leaves_at * values : (leaves_at + splits + 1) * values]
            ),
            weight=narrow_copy("weight", finished.weight[by_leaf]),
            count=narrow_copy("count", finished.count[by_leaf]),
            sets=sets,
            leaf_rows=finished.rows[begin : begin + rows * finished.kept].copy(),
        )


def _copy_all(pending: list[Callable[[], GrownTree]], copied: list[GrownTree]) -> None:
    copied.extend(copy() for copy in pending)


def _max_depth(config: ForestConfig) -> int:
    """Depth that leaves may have; 0: any. A tree of few leaves cannot be deep."""
    limits = [limit for limit in (config.max_depth, config.max_leaf_nodes - 1) if limit > 0]
    return min(limits, default=0)


def leaf_of_rows(table: ForestTable, tree: GrownTree, team: Team) -> NDArray[np.int32]:
    """Number of the leaf, from left to right, that each row reaches; also rows that did not grow the tree.

    Parameters
    ----------
    table : ForestTable
        The bins that the tree was grown on; not ranks.
    tree : GrownTree
        The tree.
    team : Team
        Threads.

    Returns
    -------
    int32 array of shape (rows,)
    """
    begins = starts_of([len(words) for words in tree.sets])
    set_at = np.full(len(tree.column), -1, np.int64)
    chosen = table.binned.features.categorical[tree.column] != 0
    set_at[chosen] = begins[tree.cut[chosen]]
    bits = concatenated(tree.sets, np.int64)
    splits = GrownSplits(
        len(tree.column), len(bits), tree.column.astype(np.int32), tree.cut.astype(np.int32), tree.default_left,
        tree.children, set_at, bits,
    )  # fmt: skip
    leaf = np.empty(table.rows, np.int32)
    team.run(find_leaves.bind(table.binned, splits, leaf))
    return leaf
