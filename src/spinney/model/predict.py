"""Running a forest on a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Table, describe_column
from spinney.data.spans import spans, whole_rows
from spinney.errors import DataError
from spinney.jit.team import Team, run_alone, threads_for
from spinney.model import kernels
from spinney.tree import Forest

# Row-tree walks from which a second thread pays: opening a team costs 0.1 ms, a walk about 20 ns.
SHARE_WALKS = 20_000


class Predictor:
    """A forest packed for walking."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        nodes, trees = forest.nodes, forest.trees
        self._links = np.empty(nodes, np.int64)
        self._limits = np.empty(nodes, np.float64)
        self._depths = np.empty(trees, np.int64)
        missing_right = 1 - forest.default_left.astype(np.int64)
        run_alone(
            kernels.pack_nodes.bind(
                trees, nodes, forest.start, forest.feature, forest.threshold, forest.left, missing_right,
                self._links, self._limits, self._depths, np.empty(nodes, np.int32),
            )
        )  # fmt: skip

    def raw_scores(
        self, start: NDArray[np.float64], table: Table, trees: int, n_jobs: int | None
    ) -> NDArray[np.float64]:
        """Scores of every row, (rows, outputs): the start, (outputs,) or (rows, outputs), then the trees in order."""
        outputs = start.shape[-1]
        scores = np.empty((table.rows, outputs))
        scores[:] = start
        with Team(self._threads(table.rows, trees, n_jobs)) as team:
            for first, block in whole_rows(table):
                given = self._check(table, block, team)
                team.run(
                    kernels.predict_rows.bind(
                        len(block), outputs, trees, self._forest.trees, self._forest.nodes, *given[1:],
                        self._forest.start, self._depths, self._links, self._limits, self._forest.value,
                        scores[first : first + len(block)],
                    )
                )  # fmt: skip
        return scores

    def leaf_indices(self, table: Table, trees: int, n_jobs: int | None) -> NDArray[np.int32]:
        """Leaf of every row in the first `trees` trees, (rows, trees)."""
        leaves = np.empty((table.rows, trees), np.int32)
        with Team(self._threads(table.rows, trees, n_jobs)) as team:
            for first, block in whole_rows(table):
                given = self._check(table, block, team)
                team.run(
                    kernels.leaf_rows.bind(
                        len(block), trees, self._forest.trees, self._forest.nodes, *given[1:],
                        self._forest.start, self._links, self._limits, leaves[first : first + len(block)],
                    )
                )  # fmt: skip
        return leaves

    def _threads(self, rows: int, trees: int, n_jobs: int | None) -> int:
        if n_jobs is None and rows * trees < SHARE_WALKS:
            return 1
        asked = threads_for(n_jobs)
        return asked if rows * trees >= SHARE_WALKS else 1

    def _check(self, table: Table, block: NDArray[Any], team: Team) -> tuple[Any, ...]:
        """Refuse infinite values, and return the block as kernels take it."""
        values32, values64, row_step, column_step = spans(block)
        given = (table.columns, row_step, column_step, values32.size, values64.size, values32, values64)
        found = np.zeros(team.size, np.int64)
        team.run(kernels.find_infinite.bind(len(block), *given[:5], team.size, *given[5:], found))
        if found.any():
            column = describe_column(table, int(found[found > 0].min()) - 1)
            raise DataError(f"{column} holds an infinite value; only finite numbers and NaN (missing) can be used")
        return given
