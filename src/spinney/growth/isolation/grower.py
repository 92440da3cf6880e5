"""The grower of isolation forests: the values of the rows that trees see, gathered side by side, and the call of the kernel.

Of a sparse table the stored entries of these rows are gathered. Nodes are kept as those of boosted trees.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Table
from spinney.growth.isolation.kernels.grow import IsolationScratch, IsolationTrees, Samples, grow_trees
from spinney.jit import allocate
from spinney.jit.team import Team
from spinney.sampling.bags import small_samples
from spinney.sampling.orders import draw_columns
from spinney.tree import Forest, Sets
from spinney.tree.isolation import isolation_forest

NO_ENTRIES = np.empty(0, np.int32), np.empty(0)


class Gatherer:
    """A table from which the rows of trees are taken.

    Parameters
    ----------
    table : Table
        Categories stand in it as their numbers.
    columns : int
        How many columns are drawn for each tree.
    categories : int64[columns], optional
        How many categories each column has, 0 for a column of numbers.
    absent : float
        The value of entries that a sparse table does not store.
    """

    def __init__(
        self, table: Table, columns: int, categories: NDArray[np.int64] | None, absent: float
    ) -> None:
        self._table, self._columns, self._absent = table, columns, absent
        self._categories = np.zeros(table.columns, np.int64) if categories is None else categories

    def tree_bytes(self, rows: int) -> int:
        """Bytes that the sample of a tree of so many rows takes, about."""
        table = self._table
        if table.sparse is None:
            return 8 * rows * table.columns
        return 12 * self._columns + 32 * rows * (1 + table.sparse.stored // table.rows)

    def samples(self, rows: NDArray[np.int64], seeds: NDArray[np.int64]) -> Samples:
        """Values of the rows of some trees, (trees, rows of each)."""
        if self._table.sparse is None:
            return self._dense(rows, seeds)
        return self._sparse(rows, seeds)

    def _dense(self, rows: NDArray[np.int64], seeds: NDArray[np.int64]) -> Samples:
        trees, many = rows.shape
        columns = self._table.columns
        values = np.empty((rows.size, columns))
        for panel in self._table.panels:
            # A long double beyond float64 becomes infinite; such a table is refused before it is sampled.
            values[:, panel.first : panel.first + panel.columns] = panel.values[rows.ravel()]
        chosen = [self._draw_columns(int(seed)) for seed in seeds]
        starts = np.arange(trees + 1, dtype=np.int64) * self._columns
        return Samples(
            trees, many, columns, int(starts[-1]), 1, 0, self._absent, values.ravel(), starts, np.concatenate(chosen),
            np.empty(0, np.int64), *NO_ENTRIES, self._categories, seeds,
        )  # fmt: skip

    def _sparse(self, rows: NDArray[np.int64], seeds: NDArray[np.int64]) -> Samples:
        trees, many = rows.shape
        chosen = [self._draw_columns(int(seed)) for seed in seeds]
        parts = [
            self._entries[tree_rows].tocsc()[:, drawn]
            if self._columns < self._table.columns
            else self._entries[tree_rows].tocsc()
            for tree_rows, drawn in zip(rows, chosen, strict=True)
        ]
        # Entries by candidate, one tree after another.
        counts = np.concatenate([np.diff(part.indptr) for part in parts])
        entries = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
        starts = np.arange(trees + 1, dtype=np.int64) * self._columns
        return Samples(
            trees, many, self._table.columns, int(starts[-1]), 0, int(entries[-1]), self._absent, np.empty(0), starts,
            np.concatenate(chosen), entries, np.concatenate([part.indices for part in parts]).astype(np.int32),
            np.concatenate([part.data for part in parts]).astype(np.float64), self._categories, seeds,
        )  # fmt: skip

    def _draw_columns(self, seed: int) -> NDArray[np.int32]:
        """Columns of a tree."""
        if self._columns == self._table.columns:
            return self._all_columns
        return draw_columns(self._table.columns, self._columns, seed).astype(np.int32)

    @cached_property
    def _all_columns(self) -> NDArray[np.int32]:
        return np.arange(self._table.columns, dtype=np.int32)

    @cached_property
    def _entries(self) -> Any:
        """The entries of a sparse table by row, as SciPy's matrix."""
        assert self._table.sparse is not None
        return self._table.sparse.csr.matrix


# Of the samples and nodes of the trees that are grown in one go; for a table of 28 columns some 60 trees of 256 rows.
BATCH_BYTES = 2**22


class IsolationGrower:
    """Grows the trees of an isolation forest.

    Parameters
    ----------
    gatherer : Gatherer
        Where values come from.
    table_rows, rows : int
        Rows of the table, and how many of them each tree sees.
    max_depth : int
        Most splits on the way from the root to a leaf.
    set_words : int
        Words of a set of categories, 0 where no column is categorical.
    replace : bool
        Whether a tree may see a row more than once.
    weight : float64[table_rows], optional
        A row is drawn with a chance in proportion to it.
    seed : int
        Trees depend on it and on their number.
    team : Team
        Threads to work with; trees do not depend on them.
    """

    def __init__(
        self,
        gatherer: Gatherer,
        table_rows: int,
        rows: int,
        max_depth: int,
        set_words: int,
        replace: bool,
        weight: NDArray[np.float64] | None,
        seed: int,
        team: Team,
    ) -> None:
        self._gatherer, self._table_rows, self._rows = gatherer, table_rows, rows
        self._max_depth, self._words = max_depth, set_words
        self._replace, self._weight, self._seed, self._team = replace, weight, seed, team
        self._max_nodes = 2 * min(rows, 2**max_depth) - 1

    def grow(self, first: int, count: int) -> Iterator[Forest]:
        """Grow trees number first .. first + count - 1, in order, some at a time."""
        bytes_of_tree = self._gatherer.tree_bytes(self._rows) + self._max_nodes * (25 + 4 * self._words)
        step = max(self._team.size, BATCH_BYTES // bytes_of_tree)
        for begin in range(first, first + count, step):
            trees = min(step, first + count - begin)
            rows, seeds = small_samples(
                self._seed, begin, trees, self._table_rows, self._rows, self._replace, self._weight
            )
            yield self._grow_on(self._gatherer.samples(rows, seeds))

    def _grow_on(self, samples: Samples) -> Forest:
        """Grow a tree on each sample."""
        grown = allocate(
            IsolationTrees,
            max_nodes=self._max_nodes,
            max_depth=self._max_depth,
            max_sets=self._max_nodes // 2 if self._words else 0,
            words=self._words,
            samples=samples,
        )
        most = int(np.diff(samples.starts).max())
        scratch = allocate(
            IsolationScratch, threads=self._team.size, candidates=most, samples=samples, grown=grown
        )
        self._team.run(grow_trees.bind(samples, grown, scratch))
        return _trees_of(samples, grown)


def _trees_of(samples: Samples, grown: IsolationTrees) -> Forest:
    """The nodes in use, one tree after another."""
    trees, most = samples.trees, grown.max_nodes
    used = np.arange(most) < grown.nodes[:, None]
    names = ("feature", "threshold", "left", "default_left", "count")
    arrays = {name: getattr(grown, name).reshape(trees, most)[used] for name in names}
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(grown.nodes)])
    sets = _sets_of(samples, grown, start, arrays["feature"]) if grown.max_sets else Sets.none()
    return isolation_forest(start=start, **arrays, sets=sets)


def _sets_of(
    samples: Samples, grown: IsolationTrees, start: NDArray[np.int64], feature: NDArray[np.int32]
) -> Sets:
    """The sets in the order of their nodes, each with the words that the categories of its column need."""
    trees, most = samples.trees, grown.max_sets
    used = np.arange(most) < grown.sets.value[:, None]
    node = (grown.set_node.reshape(trees, most) + start[:-1, None])[used]
    order = np.argsort(node)
    node = node[order]
    bits = grown.set_bits.reshape(trees, most, grown.words)[used][order]
    counts: NDArray[np.int64] = np.asarray(samples.categories)
    words = (counts[feature[node]] + 63) // 64
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(words)])
    return Sets(node, starts, bits[np.arange(grown.words) < words[:, None]])
