"""Growing an isolation forest: trees on few rows each, parted at random.

Nothing is binned: trees are grown on the values of the table (`growth/isolation`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Schema, Table, encode, find_schema
from spinney.data.categories import MOST_KEPT
from spinney.data.schema import named_categorical
from spinney.data.table import whole_rows
from spinney.growth.isolation.grower import Gatherer, IsolationGrower
from spinney.jit.team import Team, most_for, threads_for
from spinney.model.isolation import IsolationModel
from spinney.model.kernels.compact_walk import scan_rows
from spinney.model.predict import dense_values, flags_of, no_flags, refuse_infinite
from spinney.params import IsolationConfig
from spinney.tree.isolation import concatenate_forests, depth_limit

# Values (rows of trees × columns) from which growing is shared among threads, and values of the table from which looking is.
SHARE_VALUES = 200_000


def rows_per_tree(config: IsolationConfig, rows: int, weight: NDArray[np.float64] | None) -> int:
    """Rows that each tree sees; without replacement no more than have a weight above 0."""
    wanted = config.rows_per_tree(rows)
    if weight is None:
        return wanted
    # Of rows that weigh next to nothing beside the heaviest one, none can be drawn.
    return wanted if config.bootstrap else min(wanted, int(np.count_nonzero(weight / weight.max())))


def train_isolation(
    config: IsolationConfig,
    table: Table,
    schema: Schema,
    trees: int,
    *,
    first: int = 0,
    weight: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
) -> IsolationModel:
    """Grow trees number first .. first + trees - 1 of an isolation forest; a tree depends on nothing but its number.

    Parameters
    ----------
    config : IsolationConfig
        The parameters.
    table : Table
        The rows, as `encoded` gives them, without infinite values.
    schema : Schema
        Its columns.
    trees, first : int
        How many trees, and the number of the first one.
    weight : float64[rows], optional
        Rows are drawn in proportion to it.
    n_jobs : int, optional
        Number of threads; the model does not depend on it.

    Returns
    -------
    IsolationModel
        With the offset -0.5.
    """
    drawn = rows_per_tree(config, table.rows, weight)
    counts = schema.category_counts
    gatherer = Gatherer(table, config.columns_per_tree(table.columns), counts, config.absent_value)
    words = 0 if counts is None else int((counts.max() + 63) // 64)
    work = trees * drawn * min(table.columns, 64)
    with Team(threads_for(n_jobs, most_for(work, SHARE_VALUES))) as team:
        grower = IsolationGrower(
            gatherer, table.rows, drawn, depth_limit(drawn), words, config.bootstrap, weight, config.random_state, team
        )  # fmt: skip
        forests = list(grower.grow(first, trees))
    return IsolationModel(concatenate_forests(forests), config, schema, table.rows, drawn)


def encoded(
    table: Table,
    categorical: Any,
    weight: NDArray[np.float64] | None,
    known: Schema | None,
    unseen: str,
) -> tuple[Table, Schema]:
    """A table with the numbers of categories in their place, and its columns; `known` has those of an earlier training."""
    schema = find_schema(table, named_categorical(categorical, table), weight, MOST_KEPT, known)
    # Where categories were counted, only rows of weight 0 can hold what was not found.
    return encode(table, schema.categories, "missing" if known is None else unseen), schema


def refuse_infinite_values(table: Table, n_jobs: int | None) -> None:
    """Name the first column that holds an infinite value, where one does."""
    if table.sparse is not None:
        refuse_infinite(table, bool(np.isinf(table.sparse.values).any()))
        return
    with Team(threads_for(n_jobs, most_for(table.rows * table.columns, SHARE_VALUES))) as team:
        for _, block in whole_rows(table):
            seen = no_flags(team.size)
            team.run(scan_rows.bind(dense_values(block), seen))
            refuse_infinite(table, flags_of(team, seen) >= 2)
