"""Scores of trees for rows of which some columns are shuffled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.data import Panel, Table
from spinney.data.sparse import SparseValues
from spinney.data.table import CONVERTED_ROWS, whole_rows
from spinney.inspection.forest_leaves import predicted_outputs
from spinney.inspection.kernels.shuffled import (
    BLOCK,
    Groups,
    Shuffled,
    ShuffleScratch,
    SomeTrees,
    UsedColumns,
    shuffled_scores,
)
from spinney.jit import allocate
from spinney.jit.team import Team
from spinney.model.base import EnsembleView
from spinney.model.forest import ForestModel
from spinney.model.kernels.compact_walk import scan_rows
from spinney.model.predict import dense_values, flags_of, no_flags, pack, rows_per_call
from spinney.sampling.orders import shuffled_orders
from spinney.tree import Tree

Floats = NDArray[np.float64]
Columns = tuple[int, ...]

CELLS = 2**24  # shuffled values and scores that are held at a time: 128 MB
# Pairs of a tree and a group in one go, .5 MB of listed rows a thread; 2**10 pairs take 1.15 times as long.
LISTS = 2**8
NODES = 2**17  # of the trees of one go: 2 MB
DENSE_CELLS = 2**20  # values of a sparse table that are written out at a time


# Forests are shuffled out of bag tree by tree, on the walks of whole models. A kernel of its own, which walked row by row, took
# 1.1 to 4 times as long with 30 to 100 trees on 50 000 rows; on 1 000 rows it took half as long, .6 ms a tree less.
def single_tree(model: ForestModel, number: int) -> EnsembleView:
    """One tree of a forest; its nodes have what the tree decides, the class or number of every output."""

    def decisions(_: int) -> Tree:
        tree = model.tree(number)
        values = predicted_outputs(model, tree.value.reshape(tree.nodes, -1))
        return replace(tree, value=values.astype(np.float64).reshape(-1))

    only = model.forest.between(number, number + 1)
    return EnsembleView(only, decisions, np.zeros(model.outputs), model.outputs)


@dataclass(frozen=True, eq=False)
class ColumnReader:
    """A table whose columns can be had one by one, or block by block.

    Attributes
    ----------
    table : Table
        A table that a model has read.
    absent : float
        What an entry that a sparse table does not store means.
    """

    table: Table
    absent: float

    def column(self, column: int) -> Floats:
        """One column."""
        table, found = self.table, np.empty(self.table.rows)
        if table.sparse is not None:
            starts, row, values = table.sparse.by_column
            stored = slice(int(starts[column]), int(starts[column + 1]))
            found[:] = self.absent
            found[row[stored]] = values[stored]
            return found
        panel = next(p for p in table.panels if p.first <= column < p.first + p.columns)
        one = Panel(0, panel.values[:, column - panel.first : column - panel.first + 1])
        for first, block in one.blocks(CONVERTED_ROWS):
            found[first : first + len(block)] = block[:, 0]
        return found

    def blocks(self, columns: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[Any], NDArray[np.int64]]]:
        """First row of each block, a matrix of its rows, and where some columns stand in it."""
        if self.table.sparse is None:
            for first, block in whole_rows(self.table):
                yield first, block, columns
            return
        place = np.full(self.table.columns, -1)
        place[columns] = np.arange(len(columns))
        for first, entries in self._by_row.row_blocks(max(BLOCK, DENSE_CELLS // len(columns))):
            matrix = np.full((entries.rows, len(columns)), self.absent)
            row, at = np.repeat(np.arange(entries.rows), np.diff(entries.starts)), place[entries.indices]
            matrix[row[at >= 0], at[at >= 0]] = entries.values[at >= 0]
            yield first, matrix, np.arange(len(columns))

    @cached_property
    def _by_row(self) -> SparseValues:
        """The stored entries by row."""
        assert self.table.sparse is not None
        return SparseValues.of(self.table.sparse.matrix.tocsr())

    def any_missing(self, columns: NDArray[np.int64], team: Team) -> bool:
        """Whether a value may be missing."""
        seen = no_flags(team.size)
        for _, block, _ in self.blocks(columns):
            team.run(scan_rows.bind(dense_values(block), seen))
        return flags_of(team, seen) & 1 != 0


Reordered = Callable[[int, Columns, NDArray[Any]], Floats | None]


class ShuffledGroup(NamedTuple):
    """A group of columns to shuffle: its number, those of its columns that trees split by, its first column, all of them."""

    number: int
    used: Columns
    key: int
    columns: Columns


class ShuffledScores:
    """Scores of trees for rows of which groups of columns are shuffled, one group at a time.

    Parameters
    ----------
    trees : EnsembleView
        The trees.
    rows : ColumnReader
        The table.
    repeats : range
        Numbers of the orders that each group gets. An order depends on the seed, on its number and on the first column of the
        group.
    seed : int
        The seed.
    team : Team
        Threads; no score depends on them.
    reordered : callable, optional
        For a column that is made from others, by its number, those of a group and their order: its values then. None where it is
        in that order as a whole.
    """

    def __init__(
        self,
        trees: EnsembleView,
        rows: ColumnReader,
        repeats: range,
        seed: int,
        team: Team,
        reordered: Reordered | None = None,
    ) -> None:
        self._trees, self._nodes, self._rows = trees, trees.nodes, rows
        self._repeats, self._seed, self._team = repeats, seed, team
        self._reordered = reordered
        self._tree, self._column = trees.split_columns()
        self.used = np.unique(self._column)
        self._missing = bool(len(self.used)) and rows.any_missing(self.used, team)

    def scores(self, groups: Sequence[Columns]) -> Iterator[tuple[int, int, Floats]]:
        """Shuffle groups of columns.

        Yields
        ------
        tuple of int, int and float64[outputs, rows]
            Numbers of a group and of an order, and the scores when its columns are shuffled together. A group by whose columns
            no tree splits is left out.
        """
        known = set(self.used.tolist())
        all_groups = [
            ShuffledGroup(
                number, tuple(column for column in sorted(group) if column in known), min(group), group
            )
            for number, group in enumerate(groups)
        ]
        for repeats, batch in self._batches([group for group in all_groups if group.used]):
            for group, by_repeat in zip(batch, self._batch_scores(repeats, batch), strict=True):
                yield from (
                    (group.number, repeat, scores) for repeat, scores in zip(repeats, by_repeat, strict=True)
                )
        if self._rows.table.sparse is not None:
            self._rows.table.sparse.forget()

    def _batches(self, groups: list[ShuffledGroup]) -> Iterator[tuple[range, list[ShuffledGroup]]]:
        """Some repeats of groups without a column in common, as many as memory allows."""
        rows, outputs = self._rows.table.rows, self._trees.outputs
        widest = max((len(group.used) for group in groups), default=1)
        step = max(1, min(len(self._repeats), CELLS // (rows * (widest + outputs))))
        for first in range(0, len(self._repeats), step):
            repeats = self._repeats[first : first + step]
            batch: list[ShuffledGroup] = []
            taken: set[int] = set()
            cells = 0
            for group in groups:
                more = rows * (len(repeats) * (len(group.used) + outputs) + len(group.used))
                if batch and (cells + more > CELLS or taken & set(group.used)):
                    yield repeats, batch
                    batch, taken, cells = [], set(), 0
                batch.append(group)
                taken.update(group.used)
                cells += more
            if batch:
                yield repeats, batch

    def _batch_scores(self, repeats: range, batch: list[ShuffledGroup]) -> Floats:
        """Scores of some groups, (groups, repeats, outputs, rows)."""
        members = [column for group in batch for column in group.used]
        start = np.cumsum([0, *(len(group.used) for group in batch)])
        rows, outputs = self._rows.table.rows, self._trees.outputs
        scores = np.empty((len(batch), len(repeats), outputs, rows))
        scores[:] = self._trees.start[:, None]
        shuffled = Shuffled(
            rows, len(repeats), outputs, len(members), len(batch),
            self._shuffled_values(repeats, batch, start).reshape(-1), scores.reshape(-1),
        )  # fmt: skip
        place = np.searchsorted(self.used, members)
        group_of = np.full(len(self.used), -1, np.int32)
        group_of[place] = np.repeat(np.arange(len(batch)), np.diff(start))
        pairs = np.zeros((len(self._nodes), len(batch)), np.bool_)
        of_split = group_of[np.searchsorted(self.used, self._column)]
        pairs[self._tree[of_split >= 0], of_split[of_split >= 0]] = True
        for first, last in pairwise(self._cuts(pairs)):
            self._add(first, last, _numbered(pairs[first:last], start, place), group_of, shuffled)
        self._trees.finish(scores)
        return scores

    def _shuffled_values(self, repeats: range, batch: list[ShuffledGroup], start: NDArray[Any]) -> Floats:
        """Values of the groups' columns in other orders, (members, repeats, rows)."""
        members = [column for group in batch for column in group.used]
        columns = [self._rows.column(column) for column in members]
        values = np.empty((len(columns), len(repeats), self._rows.table.rows))
        keys = [group.key for group in batch]
        for place, repeat in enumerate(repeats):
            orders = shuffled_orders(self._seed, repeat, keys, values.shape[2], self._team)
            for k, order in enumerate(orders):
                for m in range(int(start[k]), int(start[k + 1])):
                    own = self._reordered and self._reordered(members[m], batch[k].columns, order)
                    if own is None:
                        np.take(columns[m], order, out=values[m, place], mode="clip")
                    else:
                        values[m, place] = own
        return values

    def _cuts(self, pairs: NDArray[np.bool_]) -> list[int]:
        """Numbers of trees between which a few are walked in one go."""
        cuts, nodes, lists = [0], 0, 0
        costs = np.maximum(pairs.sum(axis=1), self._trees.width)
        for tree, (more, cost) in enumerate(zip(self._nodes.tolist(), costs.tolist(), strict=True)):
            if tree > cuts[-1] and (nodes + more > NODES or lists + cost > LISTS):
                cuts.append(tree)
                nodes = lists = 0
            nodes, lists = nodes + more, lists + cost
        return [*cuts, len(pairs)]

    def _add(
        self, first: int, last: int, groups: Groups, group_of: NDArray[np.int32], shuffled: Shuffled
    ) -> None:
        """Add trees first..last-1 to all scores; an interrupt is served between two runs of rows."""
        trees = self._packed(first, last)
        scratch = allocate(
            ShuffleScratch, threads=self._team.size, columns=len(self.used), values=trees.trees * trees.width,
            width=trees.width, pairs=groups.pairs, groups=groups.groups,
        )  # fmt: skip
        step = rows_per_call(shuffled.groups * shuffled.repeats * trees.trees * trees.width, self._team.size)
        for above, block, column in self._rows.blocks(self.used):
            used, table = UsedColumns(len(column), int(self._missing), column, group_of), dense_values(block)
            for begin in range(0, len(block), step):
                end = min(begin + step, len(block))
                self._team.run(
                    shuffled_scores.bind(begin, end, above, table, trees, used, groups, shuffled, scratch)
                )

    def _packed(self, first: int, last: int) -> SomeTrees:
        """Trees whose nodes have the places of their columns among the used ones."""
        forest, width = self._trees.trees(first, last), self._trees.width
        place = np.searchsorted(self.used, np.maximum(forest.feature, 0)).astype(np.int32)
        walked = pack(replace(forest, feature=np.where(forest.feature < 0, forest.feature, place)))
        output = (np.arange(first, last) * width) % self._trees.outputs
        return SomeTrees(
            forest.trees, forest.nodes, walked.words, width, walked.starts, output, walked.packed, walked.sets, forest.value
        )  # fmt: skip


def _numbered(pairs: NDArray[np.bool_], start: NDArray[Any], place: NDArray[Any]) -> Groups:
    """Groups, and the pairs of a tree and a group by which it splits."""
    number = np.full(pairs.shape, -1, np.int32)
    many = int(pairs.sum())
    number[pairs] = np.arange(many)
    return Groups(
        pairs.shape[1], len(place), len(pairs), many, start.astype(np.int64), place.astype(np.int64), number.reshape(-1)
    )  # fmt: skip
