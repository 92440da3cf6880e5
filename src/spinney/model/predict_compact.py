"""Running a compact forest on a table.

Rows become codes, a chunk of them at a time; then the trees take all rows of the chunk, one tree after another. Nothing large is
kept between two calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Table
from spinney.data.sparse import SparseBlock
from spinney.data.table import whole_rows
from spinney.jit import allocate as allocate
from spinney.jit.team import Team, most_for, threads_for
from spinney.model.kernels.compact_walk import (
    CUT,
    WORTH,
    add_numbered,
    code_entries,
    code_rows,
    number_leaves,
    scan_rows,
    walk_trees,
)
from spinney.model.kernels.records import (
    LANES,
    CodedRows,
    CompactLeafValues,
    CompactScratch,
    CompactTrees,
    CutSearch,
    LeafOutput,
    StoredRows,
    UsedCuts,
)
from spinney.model.predict import WORK, dense_values, flags_of, no_flags, refuse_infinite
from spinney.tree import CompactForest

# Walks (rows × trees) from which prediction is shared among threads: those down fully grown trees are long.
SHARE_WALKS = 20_000
CODE_BYTES = 2**24  # of one chunk of rows
FEW_ROWS = 64  # up to so many, threads share trees and not rows
MOST_SPLITS = 2**23 - 1  # of a tree whose nodes are packed, and
MOST_PLACES = 2**16  # places of its codes
NO_SUMS = np.empty((0, 1))
NO_LEAVES = np.empty((0, 1), np.int32)


class ForestPredictor:
    """A compact forest and the cuts of its columns.

    Parameters
    ----------
    forest : CompactForest
        The trees, which were checked.
    shares : bool
        Whether values are weights of classes, to be divided by the weight of their leaf.
    categories : int64[columns], optional
        How many categories each column has, 0 for a column of numbers.
    absent : float, default=0.0
        What an entry that a sparse table does not store means.
    """

    def __init__(
        self,
        forest: CompactForest,
        shares: bool,
        categories: NDArray[np.int64] | None = None,
        absent: float = 0.0,
    ) -> None:
        self._absent = absent
        many = np.diff(forest.cut_start)
        seen = many > 0
        seen[forest.column] = True
        used = np.flatnonzero(seen).astype(np.int32)
        self._place = np.full(forest.columns, -1, np.int32)
        self._place[used] = np.arange(len(used), dtype=np.int32)
        counts = np.zeros(forest.columns, np.int64) if categories is None else categories
        # Columns that no split uses have no cuts, so those of the others stand one after another.
        start = np.append(forest.cut_start[used], len(forest.cuts))
        kinds = (counts[used] > 0).astype(np.uint8)
        self._cuts = UsedCuts(len(used), len(forest.cuts), used, kinds, start, forest.cuts)
        self._largest = int(max(many.max(initial=0), counts[used].max(initial=0)))
        self._most = np.diff(forest.split_start)
        self._trees = _trees_of(forest, self._place)
        self._leaves = _leaves_of(forest, shares)

    def means(self, table: Table, n_jobs: int | None) -> NDArray[np.float64]:
        """Values of every row, (rows, values), the mean over the trees."""
        sums = self.sums(table, n_jobs)
        sums /= self._trees.trees
        return sums

    def sums(self, table: Table, n_jobs: int | None) -> NDArray[np.float64]:
        """Values of every row, (rows, values), summed up in the order of the trees."""
        sums = np.zeros((table.rows, self._leaves.values))
        self._walk(table, 0, self._trees.trees, n_jobs, sums=sums)
        return sums

    def leaf_numbers(self, table: Table, first: int, last: int, n_jobs: int | None) -> NDArray[np.int32]:
        """Leaf of every row in trees first..last-1, (rows, last - first), counted in each tree from left to right."""
        leaves = np.empty((table.rows, last - first), np.int32)
        self._walk(table, first, last, n_jobs, leaves=leaves)
        return leaves

    def _walk(
        self,
        table: Table,
        first: int,
        last: int,
        n_jobs: int | None,
        *,
        sums: NDArray[np.float64] = NO_SUMS,
        leaves: NDArray[np.int32] = NO_LEAVES,
    ) -> None:
        """Add trees first..last-1 to the sums of all rows, or number their leaves."""
        threads_for(n_jobs, 1)  # refuse nonsense, whether or not the work is shared
        if table.rows == 0 or first == last:
            return
        threads = threads_for(n_jobs, most_for(table.rows * (last - first), SHARE_WALKS))
        with Team(threads) as team:
            for begin, coded in self._coded(table, team):
                part = slice(begin, begin + coded.rows)
                if team.size > 1 and coded.rows <= FEW_ROWS:
                    self._few_rows(coded, first, last, sums[part], leaves[part], team)
                else:
                    self._many_rows(coded, first, last, sums[part], leaves[part], team)

    def _many_rows(
        self,
        coded: CodedRows,
        first: int,
        last: int,
        sums: NDArray[np.float64],
        leaves: NDArray[np.int32],
        team: Team,
    ) -> None:
        """Tree after tree takes all rows; an interrupt is served between two calls."""
        scratch = self._scratch(first, last, coded, team.size)
        depth = 2 * int(self._most[first:last].max()).bit_length() + 1
        step = max(1, WORK * team.size // (depth * coded.rows))
        for t in range(first, last, step):
            wanted = _wanted(t, min(t + step, last), first, sums, leaves)
            team.run(walk_trees.bind(self._trees, self._cuts, coded, scratch, self._leaves, wanted))

    def _few_rows(
        self,
        coded: CodedRows,
        first: int,
        last: int,
        sums: NDArray[np.float64],
        leaves: NDArray[np.int32],
        team: Team,
    ) -> None:
        """Threads share trees; then one adds their values in the order of the trees."""
        numbers = leaves if len(leaves) else np.empty((coded.rows, last - first), np.int32)
        wanted = _wanted(first, last, first, sums, numbers)
        team.run(number_leaves.bind(self._trees, self._cuts, coded, self._leaves, wanted))
        if len(sums):
            add_numbered(
                coded.rows, self._trees.trees, self._trees.leaf_start, self._leaves, wanted, np.zeros(1, np.int32)
            )  # fmt: skip

    def _coded(self, table: Table, team: Team) -> Iterator[tuple[int, CodedRows]]:
        """Chunks of rows as codes; a table that holds an infinite value is refused."""
        wide = 2 * max(self._cuts.used, 1) * self._code_bytes
        chunk = max(CODE_BYTES // wide // LANES, 1) * LANES
        if table.sparse is not None:
            for first, entries in table.sparse.row_blocks(chunk):
                refuse_infinite(table, bool(np.isinf(entries.values).any()))
                yield first, self._coded_entries(entries, table.columns, team)
            return
        search = allocate(CutSearch, threads=team.size)
        for first, block in whole_rows(table):
            for begin in range(0, len(block), chunk):
                rows, seen = dense_values(block[begin : begin + chunk]), no_flags(team.size)
                team.run(scan_rows.bind(rows, seen))
                flags = flags_of(team, seen)
                refuse_infinite(table, flags >= 2)
                coded = self._allocate_codes(rows.rows, flags != 0)
                team.run(code_rows.bind(rows, self._cuts, coded, search))
                yield first + begin, coded

    def _coded_entries(self, entries: SparseBlock, columns: int, team: Team) -> CodedRows:
        cuts = self._cuts
        values32, values64 = entries.typed
        missing = bool(np.isnan(self._absent) or np.isnan(entries.values).any())
        coded = self._allocate_codes(entries.rows, missing)
        stored = StoredRows(
            entries.rows, columns, cuts.used, len(entries.indices), len(values32), len(values64), self._absent,
            entries.starts, entries.indices, values32, values64, self._place,
        )  # fmt: skip
        team.run(code_entries.bind(stored, cuts, self._absent_codes, coded))
        return coded

    @cached_property
    def _absent_codes(self) -> NDArray[np.int32]:
        """Code of what a sparse table does not store, by used column; -1 where it is missing."""
        cuts = self._cuts
        if np.isnan(self._absent):
            return np.full(cuts.used, -1, np.int32)
        columns = (cuts.cut[cuts.start[c] : cuts.start[c + 1]] for c in range(cuts.used))
        return np.array([np.searchsorted(column, self._absent) for column in columns], np.int32)

    @property
    def _code_bytes(self) -> int:
        """Bytes of a code: the largest one is the number of a column's cuts, or the top code."""
        if self._largest < 2**8:
            return 1
        return 2 if self._largest < 2**16 else 4

    def _allocate_codes(self, rows: int, missing: bool) -> CodedRows:
        """Memory for the codes of so many rows."""
        size, copies = self._code_bytes, 2 if missing else 1
        width = copies * max(self._cuts.used, 1)
        # What pads the last eight rows must be codes as well.
        codes = [
            np.zeros(-(-rows // LANES) * LANES * width if size == one else 0, dtype)
            for one, dtype in ((1, np.uint8), (2, np.uint16), (4, np.int32))
        ]
        top = {1: 2**8 - 1, 2: 2**16 - 1, 4: CUT if self._largest <= CUT else 2**31 - 1}[size]
        return CodedRows(rows, width, copies, top, *(one.size for one in codes), *codes)

    def _scratch(self, first: int, last: int, coded: CodedRows, threads: int) -> CompactScratch:
        """Memory for the nodes of the largest tree that will be packed."""
        splits = self._most[first:last]
        fitting = splits[(splits <= MOST_SPLITS) & (splits <= WORTH * coded.rows)]
        if coded.width > MOST_PLACES or max(self._largest, self._trees.sets) > CUT:
            fitting = fitting[:0]
        return allocate(CompactScratch, threads=threads, most=int(fitting.max(initial=0)))


def _wanted(
    first: int, last: int, begin: int, sums: NDArray[np.float64], leaves: NDArray[np.int32]
) -> LeafOutput:
    return LeafOutput(first, last, begin, leaves.shape[1], len(sums), len(leaves), sums, leaves)


def _trees_of(forest: CompactForest, place: NDArray[np.int32]) -> CompactTrees:
    column16, column32 = _by_type(forest.column, (np.uint16, np.uint32))
    cut16, cut32 = _by_type(forest.cut, (np.uint16, np.uint32))
    return CompactTrees(
        trees=forest.trees,
        splits=forest.splits,
        sets=forest.sets,
        words=len(forest.set_bits),
        columns=forest.columns,
        columns16=len(column16),
        columns32=len(column32),
        cuts16=len(cut16),
        cuts32=len(cut32),
        split_start=forest.split_start,
        leaf_start=forest.leaf_start,
        column16=column16,
        column32=column32,
        cut16=cut16,
        cut32=cut32,
        default_left=forest.default_left,
        children=forest.children,
        set_start=forest.set_start,
        set_bits=forest.set_bits,
        place=place,
    )


def _leaves_of(forest: CompactForest, shares: bool) -> CompactLeafValues:
    kinds = (np.uint8, np.uint16, np.uint32, np.float64)
    value8, value16, value32, value64 = _by_type(forest.value, kinds)
    weight8, weight16, weight32, weight64 = _by_type(forest.weight, kinds)
    return CompactLeafValues(
        leaves=forest.leaves,
        values=forest.values,
        shares=int(shares),
        value_span8=len(value8),
        value_span16=len(value16),
        value_span32=len(value32),
        value_span64=len(value64),
        weight_span8=len(weight8),
        weight_span16=len(weight16),
        weight_span32=len(weight32),
        weight_span64=len(weight64),
        value8=value8,
        value16=value16,
        value32=value32,
        value64=value64,
        weight8=weight8,
        weight16=weight16,
        weight32=weight32,
        weight64=weight64,
    )


def _by_type(array: NDArray[Any], kinds: tuple[type, ...]) -> list[NDArray[Any]]:
    """An array in the place of its type, nothing in those of the others."""
    return [array if array.dtype == kind else np.empty(0, kind) for kind in kinds]
