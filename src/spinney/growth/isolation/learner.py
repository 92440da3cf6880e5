"""Memory of the isolation trees that grow, and the call of their kernel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from spinney.growth.isolation.kernels.grow import grow_trees
from spinney.growth.isolation.kernels.records import GrownTrees, Samples, Scratch
from spinney.growth.isolation.sample import Gatherer
from spinney.jit import allocate
from spinney.jit.team import Team
from spinney.sampling.few import few_rows
from spinney.tree import Forest, Sets
from spinney.tree.isolation import isolation_forest

# Of the samples and nodes of the trees that are grown in one go; for a table of 28 columns some 60 trees of 256 rows.
BATCH_BYTES = 2**22


class IsolationLearner:
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
    ) -> None:
        self._gatherer, self._table_rows, self._rows = gatherer, table_rows, rows
        self._max_depth, self._words = max_depth, set_words
        self._replace, self._weight = replace, weight
        self._max_nodes = 2 * min(rows, 2**max_depth) - 1

    def grow(self, seed: int, first: int, count: int, team: Team) -> Iterator[Forest]:
        """Grow trees number first .. first + count - 1, in order, some at a time."""
        bytes_of_tree = self._gatherer.tree_bytes(self._rows) + self._max_nodes * (25 + 4 * self._words)
        step = max(team.size, BATCH_BYTES // bytes_of_tree)
        for begin in range(first, first + count, step):
            trees = min(step, first + count - begin)
            rows, seeds = few_rows(
                seed, begin, trees, self._table_rows, self._rows, self._replace, self._weight
            )
            yield self._grown(self._gatherer.samples(rows, seeds), team)

    def _grown(self, samples: Samples, team: Team) -> Forest:
        grown = allocate(
            GrownTrees,
            max_nodes=self._max_nodes,
            max_depth=self._max_depth,
            max_sets=self._max_nodes // 2 if self._words else 0,
            words=self._words,
            samples=samples,
        )
        most = int(np.diff(samples.starts).max())
        scratch = allocate(Scratch, threads=team.size, candidates=most, samples=samples, grown=grown)
        team.run(grow_trees.bind(samples, grown, scratch))
        return _trees_of(samples, grown)


def _trees_of(samples: Samples, grown: GrownTrees) -> Forest:
    """The nodes in use, one tree after another."""
    trees, most = samples.trees, grown.max_nodes
    used = np.arange(most) < grown.nodes[:, None]
    names = ("feature", "threshold", "left", "default_left", "count")
    arrays = {name: getattr(grown, name).reshape(trees, most)[used] for name in names}
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(grown.nodes)])
    sets = _sets_of(samples, grown, start, arrays["feature"]) if grown.max_sets else Sets.none()
    return isolation_forest(start=start, **arrays, sets=sets)


def _sets_of(
    samples: Samples, grown: GrownTrees, start: NDArray[np.int64], feature: NDArray[np.int32]
) -> Sets:
    """The sets in the order of their nodes, each with the words that the categories of its column need."""
    trees, most = samples.trees, grown.max_sets
    having = np.arange(most) < grown.sets.value[:, None]
    node = (grown.set_node.reshape(trees, most) + start[:-1, None])[having]
    order = np.argsort(node)
    node = node[order]
    bits = grown.set_bits.reshape(trees, most, grown.words)[having][order]
    counts: NDArray[np.int64] = np.asarray(samples.categories)
    words = (counts[feature[node]] + 63) // 64
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(words)])
    return Sets(node, starts, bits[np.arange(grown.words) < words[:, None]])
