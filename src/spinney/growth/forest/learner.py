"""`ForestLearner`: the rules of trees, and the calls of the kernels that grow them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spinney.data.forest_target import ForestTarget
from spinney.growth.forest.kernels.channel_trees import grow_channel_trees
from spinney.growth.forest.kernels.median_trees import grow_median_trees
from spinney.growth.forest.kernels.pair_trees import grow_pair_trees
from spinney.growth.forest.kernels.records import (
    ABSOLUTE,
    LOGS,
    PLACES,
    POISSON,
    RANKS,
    SQUARES,
    ForestRules,
)
from spinney.growth.forest.memory import MemorySizes, TreeMemory, trees_at_once
from spinney.growth.forest.table import ForestTable
from spinney.growth.forest.targets import STEP_BITS, target_record
from spinney.growth.forest.thresholds import (
    drawn_thresholds,
    numbers_of_places,
    thresholds_between,
    with_cuts,
)
from spinney.jit.team import Team
from spinney.params.forest import ForestConfig
from spinney.tree.compact import GrownTree, narrow_copy

FEWEST_SETS = 1024  # of categories, for which a tree has room at first
# Squares of numbers below 1e-150 would vanish: gains are then those of larger numbers, in the same proportion.
LEAST_STEP = 2.0**-530
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
        self._places = table.places if self._rules.random else None
        self._thresholds: list[NDArray[np.float64]] = []  # of exact trees
        self._capacity = min(table.rows, int(self._rules.drawn))
        self._keeps_memory = keep_memory
        self._kept: TreeMemory | None = None

    def weigh(self, weight: NDArray[np.float64]) -> None:
        """Give the rows other weights, for trees that are grown from now on; rows must have had weights before."""
        self._target = replace(self._target, weights=weight)

    def grow(self, first: int, count: int) -> Iterator[GrownTree]:
        """Grow trees number first .. first + count - 1, in order. Some are given only after the next ones have grown."""
        self._thresholds = []
        begin, end = first, first + count
        at_once = min(count, self._at_once())
        memory = self._memory(at_once)
        other = memory.beside(self._sizes(at_once)) if at_once < count else memory
        waiting: list[Callable[[], GrownTree]] = []  # trees that are grown and not yet copied
        while begin < end:
            trees = min(at_once, end - begin)
            copied: list[GrownTree] = []
            # Trees are copied while the next ones grow: 0.7 ms each, for which all threads would wait.
            self._run(memory, begin, trees, partial(_make_all, waiting, copied))
            waiting = []
            yield from copied
            if memory.slots.facts.full[:trees].any():
                # Sets of categories had too little room. With more of it the same trees grow, fewer at a time.
                self._max_sets *= 4
                at_once = min(at_once, self._at_once())
                self._kept = None
                memory = self._memory(at_once)
                other = memory.beside(self._sizes(at_once))
                continue
            facts = memory.slots.facts.copy()
            waiting = [
                partial(self._grown, memory, slot, int(facts.splits[slot]), int(facts.rows[slot]))
                for slot in range(trees)
            ]
            if self._table.category_words:
                # The next trees write their sets to the same memory.
                yield from [make() for make in waiting]
                waiting = []
            begin += trees
            memory, other = other, memory
        for make in waiting:
            yield make()

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
            places = self._places
            if places is None:
                return trees, self._table.cut_start, self._table.cuts
            return trees, self._table.cut_start * PLACES, places.reshape(-1)
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

    def _at_once(self) -> int:
        """Trees that grow at the same time."""
        sizes = self._sizes(1)
        return trees_at_once(self._team.size, self._capacity, sizes.tree_bytes(), self._table.nbytes)

    def _memory(self, trees: int) -> TreeMemory:
        """Memory for so many trees at the same time; that of the trees before, where it was kept and has as much room."""
        if self._kept is not None and self._kept.slots.slots == trees:
            return self._kept
        memory = TreeMemory.of(self._sizes(trees))
        self._kept = memory if self._keeps_memory else None
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
        if formula in (POISSON, ABSOLUTE):
            return step / target.outputs
        return max(step, LEAST_STEP) ** 2 / target.outputs

    def _grown(self, memory: TreeMemory, slot: int, splits: int, rows: int) -> GrownTree:
        slots, finished = memory.slots, memory.finished
        values = finished.values
        at, leaves_at = slot * finished.max_splits, slot * (finished.max_splits + 1)
        by_split, by_leaf = slice(at, at + splits), slice(leaves_at, leaves_at + splits + 1)
        column, cut = finished.column[by_split], finished.cut[by_split]
        above = finished.above[by_split]
        if self._table.access == RANKS:
            find = drawn_thresholds if self._rules.random else thresholds_between
            self._thresholds.append(find(self._table, column, cut, above))
        elif self._places is not None:
            cut = numbers_of_places(self._places, self._table, column, cut, above)
        sets: list[NDArray[np.int64]] = []
        if self._table.category_words:
            chosen = np.flatnonzero(self._table.binned.features.categorical[column])
            words = slots.set_words
            first = (slot * slots.max_sets + cut[chosen].astype(np.int64)) * words
            # There is room for the largest column and its code of missing values; a tree keeps the bits of a column's own.
            own = (self._table.values.codes[column[chosen]] + 63) // 64
            sets = [slots.sets[place : place + n].copy() for place, n in zip(first, own, strict=True)]
            cut[chosen] = np.arange(len(chosen))
        begin = slot * slots.capacity
        # Narrow at once: thousands of trees may wait for the last one.
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


def _make_all(waiting: list[Callable[[], GrownTree]], made: list[GrownTree]) -> None:
    made.extend(make() for make in waiting)


def _deepest(config: ForestConfig) -> int:
    """Depth that leaves may have; 0: any. A tree of few leaves cannot be deep."""
    limits = [limit for limit in (config.max_depth, config.max_leaf_nodes - 1) if limit > 0]
    return min(limits, default=0)
