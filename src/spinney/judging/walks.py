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
from spinney.jit import allocate
from spinney.jit.team import Team
from spinney.judging.kernels.records import BLOCK, Groups, Shuffled, ShuffleScratch, SomeTrees, UsedColumns
from spinney.judging.kernels.shuffled import shuffled_scores
from spinney.model.base import EnsembleView
from spinney.model.kernels.compact_walk import scan_rows
from spinney.model.predict import dense_values, flags_of, no_flags, pack, rows_per_call
from spinney.sampling.orders import shuffled_orders

Floats = NDArray[np.float64]
Columns = tuple[int, ...]

CELLS = 2**24  # shuffled values and scores that are held at a time: 128 MB
# Pairs of a tree and a group in one go, .5 MB of listed rows a thread; 2**10 pairs take 1.15 times as long.
LISTS = 2**8
NODES = 2**17  # of the trees of one go: 2 MB
DENSE_CELLS = 2**20  # values of a sparse table that are written out at a time


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
        for first, entries in self._lines.row_blocks(max(BLOCK, DENSE_CELLS // len(columns))):
            matrix = np.full((entries.rows, len(columns)), self.absent)
            row, at = np.repeat(np.arange(entries.rows), np.diff(entries.starts)), place[entries.indices]
            matrix[row[at >= 0], at[at >= 0]] = entries.values[at >= 0]
            yield first, matrix, np.arange(len(columns))

    @cached_property
    def _lines(self) -> SparseValues:
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


class Chosen(NamedTuple):
    """A group of columns to shuffle: its number, those of its columns that trees ask for, its first column, all of them."""

    number: int
    columns: Columns
    key: int
    moved: Columns


class ShuffledScores:
    """Scores of a model's trees for rows of which groups of columns are shuffled, one group at a time.

    Parameters
    ----------
    trees : EnsembleView
        The trees of a model.
    rows : ColumnReader
        The table.
    repeats, seed : int
        How many orders a group gets. An order depends on the seed, on its number and on the first column of the group.
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
        repeats: int,
        seed: int,
        team: Team,
        reordered: Reordered | None = None,
    ) -> None:
        self._trees, self._nodes, self._rows = trees, trees.nodes, rows
        self._repeats, self._seed, self._team = repeats, seed, team
        self._reordered = reordered
        self._tree, self._column = trees.split_columns()
        self._asked = np.unique(self._column)
        self._missing = bool(len(self._asked)) and rows.any_missing(self._asked, team)

    def scores(self, groups: Sequence[Columns]) -> Iterator[tuple[int, int, Floats]]:
        """Shuffle groups of columns.

        Yields
        ------
        tuple of int, int and float64[outputs, rows]
            Numbers of a group and of a repeat, and the scores when its columns are shuffled together. A group that no tree asks
            for is left out.
        """
        known = set(self._asked.tolist())
        used = [
            Chosen(number, tuple(column for column in sorted(group) if column in known), min(group), group)
            for number, group in enumerate(groups)
        ]
        for turns, batch in self._batches([one for one in used if one.columns]):
            for one, by_turn in zip(batch, self._batch(turns, batch), strict=True):
                yield from ((one.number, turn, scores) for turn, scores in zip(turns, by_turn, strict=True))
        if self._rows.table.sparse is not None:
            self._rows.table.sparse.forget()

    def _batches(self, used: list[Chosen]) -> Iterator[tuple[range, list[Chosen]]]:
        """Some repeats of groups without a column in common, as many as memory has room for."""
        rows, outputs = self._rows.table.rows, self._trees.outputs
        widest = max((len(one.columns) for one in used), default=1)
        step = max(1, min(self._repeats, CELLS // (rows * (widest + outputs))))
        for first in range(0, self._repeats, step):
            turns = range(first, min(first + step, self._repeats))
            batch: list[Chosen] = []
            cells = 0
            for one in used:
                more = rows * (len(turns) * (len(one.columns) + outputs) + len(one.columns))
                taken = {column for other in batch for column in other.columns}
                if batch and (cells + more > CELLS or taken & set(one.columns)):
                    yield turns, batch
                    batch, cells = [], 0
                batch.append(one)
                cells += more
            if batch:
                yield turns, batch

    def _batch(self, turns: range, batch: list[Chosen]) -> Floats:
        """Scores of some groups, (groups, repeats, outputs, rows)."""
        members = [column for one in batch for column in one.columns]
        start = np.cumsum([0, *(len(one.columns) for one in batch)])
        rows, outputs = self._rows.table.rows, self._trees.outputs
        scores = np.empty((len(batch), len(turns), outputs, rows))
        scores[:] = self._trees.start[:, None]
        shuffled = Shuffled(
            rows, len(turns), outputs, len(members), len(batch),
            self._values(turns, batch, start).reshape(-1), scores.reshape(-1),
        )  # fmt: skip
        place = np.searchsorted(self._asked, members)
        group = np.full(len(self._asked), -1, np.int32)
        group[place] = np.repeat(np.arange(len(batch)), np.diff(start))
        pairs = np.zeros((len(self._nodes), len(batch)), np.bool_)
        of_split = group[np.searchsorted(self._asked, self._column)]
        pairs[self._tree[of_split >= 0], of_split[of_split >= 0]] = True
        for first, last in pairwise(self._cuts(pairs)):
            self._add(first, last, _numbered(pairs[first:last], start, place), group, shuffled)
        self._trees.finish(scores)
        return scores

    def _values(self, turns: range, batch: list[Chosen], start: NDArray[Any]) -> Floats:
        """Values of the groups' columns in other orders, (members, repeats, rows)."""
        members = [column for one in batch for column in one.columns]
        columns = [self._rows.column(column) for column in members]
        values = np.empty((len(columns), len(turns), self._rows.table.rows))
        keys = [one.key for one in batch]
        for place, turn in enumerate(turns):
            orders = shuffled_orders(self._seed, turn, keys, values.shape[2], self._team)
            for k, order in enumerate(orders):
                for m in range(int(start[k]), int(start[k + 1])):
                    own = self._reordered and self._reordered(members[m], batch[k].moved, order)
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
        self, first: int, last: int, groups: Groups, group: NDArray[np.int32], shuffled: Shuffled
    ) -> None:
        """Add trees first..last-1 to all scores; an interrupt is served between two stretches of rows."""
        trees = self._packed(first, last)
        desk = allocate(
            ShuffleScratch, threads=self._team.size, columns=len(self._asked), values=trees.trees * trees.width,
            width=trees.width, pairs=groups.pairs, groups=groups.groups,
        )  # fmt: skip
        step = rows_per_call(shuffled.groups * shuffled.repeats * trees.trees * trees.width, self._team.size)
        for above, block, column in self._rows.blocks(self._asked):
            asked, table = UsedColumns(len(column), int(self._missing), column, group), dense_values(block)
            for begin in range(0, len(block), step):
                end = min(begin + step, len(block))
                self._team.run(
                    shuffled_scores.bind(begin, end, above, table, trees, asked, groups, shuffled, desk)
                )

    def _packed(self, first: int, last: int) -> SomeTrees:
        """Trees whose nodes know columns by their place among those that some node asks for."""
        forest, width = self._trees.trees(first, last), self._trees.width
        place = np.searchsorted(self._asked, np.maximum(forest.feature, 0)).astype(np.int32)
        walked = pack(replace(forest, feature=np.where(forest.feature < 0, forest.feature, place)))
        output = (np.arange(first, last) * width) % self._trees.outputs
        return SomeTrees(
            forest.trees, forest.nodes, walked.words, width, walked.starts, output, walked.packed, walked.sets, forest.value
        )  # fmt: skip


def _numbered(pairs: NDArray[np.bool_], start: NDArray[Any], place: NDArray[Any]) -> Groups:
    """Groups, and the pairs of a tree and a group of which it asks for a column."""
    number = np.full(pairs.shape, -1, np.int32)
    many = int(pairs.sum())
    number[pairs] = np.arange(many)
    return Groups(
        pairs.shape[1], len(place), len(pairs), many, start.astype(np.int64), place.astype(np.int64), number.reshape(-1)
    )  # fmt: skip
