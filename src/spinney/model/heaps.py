"""Trees of few levels laid out as full binary heaps, and running them on a dense table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.data import Table
from spinney.data.table import whole_rows
from spinney.jit import allocate
from spinney.jit.team import Team
from spinney.model.kernels.heaps import LARGEST, HeapBatch, Heaps, sum_heaps
from spinney.model.kernels.records import LANES
from spinney.model.predict import given, refuse_infinite
from spinney.model.seen import met_by, nothing_seen
from spinney.model.stretches import stretch
from spinney.tree import Forest

MOST_LEVELS = 10
MOST_ASKED = 256
# Numbers in the lines of a batch, which with a tree then stay in the nearest cache.
LINE_NUMBERS = 3072


class HeapWalker:
    """A forest as heaps.

    Parameters
    ----------
    forest : Forest
        Trees without categorical splits, of at most `MOST_LEVELS` levels; see `fits`.
    """

    def __init__(self, forest: Forest, levels: int) -> None:
        asked = _asked(forest)
        size = 2**levels
        shape = forest.trees, size
        key = np.full(shape, LARGEST, np.int64)
        place, twin = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
        value = np.zeros(shape)
        tree, node = np.arange(forest.trees), forest.start[:-1]
        heap = np.ones(forest.trees, np.int64)
        for level in range(levels + 1):
            inner = forest.feature[node] >= 0
            leaf = ~inner
            value[tree[leaf], (heap[leaf] << (levels - level)) - size] = forest.value[node[leaf]]
            tree, node, heap = tree[inner], node[inner], heap[inner]
            column = np.searchsorted(asked, forest.feature[node]).astype(np.int32)
            key[tree, heap] = _order_keys(forest.threshold[node])
            place[tree, heap] = LANES * column
            twin[tree, heap] = LANES * (2 * column + 1 - forest.default_left[node])
            below = forest.start[tree] + forest.left[node]
            tree, node = np.concatenate([tree, tree]), np.concatenate([below, below + 1])
            heap = np.concatenate([2 * heap, 2 * heap + 1])
        self._heaps = Heaps(
            forest.trees, levels, size, len(asked), asked, key.ravel(), place.ravel(), twin.ravel(), value.ravel()
        )  # fmt: skip

    @staticmethod
    def fits(forest: Forest, levels: int) -> bool:
        """Whether a forest of so many levels can be laid out."""
        return levels <= MOST_LEVELS and not len(forest.sets.node) and 0 < len(_asked(forest)) <= MOST_ASKED

    def sums(self, table: Table, team: Team) -> NDArray[np.float64]:
        """The sum of the trees' values for every row of a dense table; one that holds an infinite value is refused."""
        heaps = self._heaps
        sums = np.empty(table.rows)
        batch = max(LINE_NUMBERS // heaps.used // LANES, 1) * LANES
        lines = allocate(HeapBatch, threads=team.size, rows=batch, heaps=heaps)
        seen = nothing_seen(team.size)
        most = stretch(heaps.trees * heaps.levels + table.columns, team.size)
        for first, block in whole_rows(table):
            for begin in range(0, len(block), most):
                part = block[begin : begin + most]
                out = sums[first + begin : first + begin + len(part)]
                team.run(sum_heaps.bind(given(part), heaps, lines, out, seen))
                refuse_infinite(table, met_by(team, seen) != 0)
        return sums


def _asked(forest: Forest) -> NDArray[np.int32]:
    """Columns that some split asks for."""
    return np.unique(forest.feature[forest.feature >= 0])


def _order_keys(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole numbers in the order of the values; -0 has that of 0."""
    bits = (values + 0.0).view(np.int64)
    keys: NDArray[np.int64] = bits ^ ((bits >> 63) & LARGEST)
    return keys
