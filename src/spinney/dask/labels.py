"""Labels of all rows: concatenated on one worker, 16 bytes a row and more, and sent back to the partitions.

Groups of rows that are held out together are concatenated too: their numbers take 8 bytes a row. Where a query spans partitions,
the parts that are binned end where a query does (`query_boundaries`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray

from spinney.dask.inputs import check_computed, compute_collection
from spinney.dask.partitions import (
    PartTable,
    ScannedPartitions,
    array_of,
    check_label_info,
    label_arrays,
    label_info,
)
from spinney.dask.tasks import as_task, put, register_sizeof, result
from spinney.data import Labels, RawLabels, Table, read_labels
from spinney.data.labels import LABEL_NAMES
from spinney.data.table import starts_of
from spinney.training.splitting import group_numbers


def number_groups(client: Client, groups: Any, rows: int) -> Future:
    """The number of each row's group, as a future of an array.

    Parameters
    ----------
    client : Client
        The client, whose workers compute.
    groups : dask array or series, or list of delayed arrays
        A group for each row, in any partitions.
    rows : int
        How many rows there are.

    Raises
    ------
    DataError
        There are more or fewer groups, or one is missing.
    """
    parts = compute_collection(client, groups, "groups")
    numbers = client.submit(number_groups_of_parts, parts, rows, pure=False)
    try:
        result(client, client.submit(count_rows, numbers, pure=False))
    except Exception:
        check_computed({"groups": parts})
        raise
    return numbers


@as_task
def number_groups_of_parts(parts: list[Any], rows: int) -> NDArray[np.int64]:
    """Task: the number of each row's group."""
    arrays = [array_of(part, "groups") for part in parts]
    nonempty = [k for k, array in enumerate(arrays) if array is None or len(array)]
    infos = [label_info(parts[k], "groups") for k in nonempty]
    check_label_info("groups", infos, [f"partition {k}" for k in nonempty])
    found = [array for array in arrays if array is not None]
    numbers = group_numbers(np.concatenate(found), rows)
    assert numbers is not None
    return numbers


@as_task
def count_rows(numbers: NDArray[np.int64]) -> int:
    """Task: the length of an array."""
    return len(numbers)


@dataclass(frozen=True, eq=False)
class JoinedLabels:
    """The labels of all rows, on one worker.

    Attributes
    ----------
    labels : Labels
        Labels of the rows to train on.
    facts : object
        More results of a `MakeLabels`, which the client gets.
    holdout : Labels, optional
        Labels of the rows that are held out.
    in_holdout : bool[rows], optional
        Whether each row is held out.
    """

    labels: Labels
    facts: Any = None
    holdout: Labels | None = None
    in_holdout: NDArray[np.bool_] | None = None


# A function of the raw labels of all rows, a table of their number and their columns but without values, and the number of each
# row's group, where rows of a group are held out together. It checks the labels, and holds out rows where a fit does.
MakeLabels = Callable[[RawLabels, Table, NDArray[np.int64] | None], JoinedLabels]


@dataclass(frozen=True, eq=False)
class LabelSummary:
    """Summary of the labels of a set of rows, which the client has.

    Attributes
    ----------
    lengths : int64
        Rows of each partition.
    no_labels : Labels
        The labels of no rows, which have the types and columns of all.
    begins : int64
        The first row of each part, so that no query is cut, and the end of the last part.
    """

    lengths: NDArray[np.int64]
    no_labels: Labels
    begins: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LabelledPartitions:
    """Partitions that are to be binned.

    Attributes
    ----------
    tables, labels : list of Future
        A `PartTable` and the `Labels` of each.
    joined : Future
        The labels of all rows, a `JoinedLabels`.
    summary : LabelSummary
        Summary of their labels.
    empty_table : Table
        The columns and the number of all rows, without values.
    from_sparse : bool
        Whether they are sparse.
    """

    tables: list[Future]
    labels: list[Future]
    joined: Future
    summary: LabelSummary
    empty_table: Table
    from_sparse: bool


# The summary of the rows to train on, that of the rows held out, and `JoinedLabels.facts`.
Summaries = tuple[LabelSummary, LabelSummary | None, Any]


def plain_labels(raw: RawLabels, table: Table, groups: NDArray[np.int64] | None) -> JoinedLabels:
    """A `MakeLabels` for a `Dataset`: it checks the labels, and holds out nothing."""
    return JoinedLabels(read_labels(raw, table.rows))


def gather_labels(
    client: Client, scanned: ScannedPartitions, make_labels: MakeLabels, groups: Future | None = None
) -> tuple[Future, LabelSummary, LabelSummary | None, Any]:
    """Gather all labels on one worker, and make labels of them. `groups` has the number of each row's group.

    Returns the `JoinedLabels`, the summaries of the rows to train on and of those held out, and `JoinedLabels.facts`.
    """
    raw = scanned.labels
    shared = put(
        client, (make_labels, scanned.empty_table, scanned.input_lengths, raw.where, raw.weight_name)
    )
    joined = client.submit(join_labels, shared, groups, *raw.by_name.values(), pure=False)
    summaries: Summaries = result(client, client.submit(summarize, joined, scanned.lengths, pure=False))
    return joined, *summaries


@as_task
def join_labels(
    shared: tuple[MakeLabels, Table, list[int], str, str],
    groups: NDArray[np.int64] | None,
    *labels: list[Any] | None,
) -> JoinedLabels:
    """Task: concatenate the labels of all partitions, and make labels of them."""
    make_labels, empty_table, lengths, where, weight_name = shared
    names: Any = {"where": where, "weight_name": weight_name}
    parts = [
        label_arrays(RawLabels(*(one and one[k] for one in labels), **names), rows)
        for k, rows in enumerate(lengths)
    ]

    def concatenated(name: str) -> Any:
        values = [getattr(part, name) for part in parts]
        return None if values[0] is None else np.concatenate(values)

    return make_labels(RawLabels(*map(concatenated, LABEL_NAMES), **names), empty_table, groups)


@as_task
def summarize(joined: JoinedLabels, lengths: NDArray[np.int64]) -> Summaries:
    """Task: the summaries and facts that the client gets."""
    if joined.in_holdout is None:
        return _summary(joined.labels, lengths), None, joined.facts
    assert joined.holdout is not None
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(joined.in_holdout)])[starts_of(lengths)]
    held_out = np.diff(ends)
    return _summary(joined.labels, lengths - held_out), _summary(joined.holdout, held_out), joined.facts


def _summary(labels: Labels, lengths: NDArray[np.int64]) -> LabelSummary:
    return LabelSummary(lengths, labels.between(0, 0), query_boundaries(labels.queries, lengths))


def query_boundaries(queries: NDArray[np.int64] | None, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first row of each part, and the end of the last one, so that no query is cut: as early as possible in each partition.

    Examples
    --------
    >>> query_boundaries(np.array([0, 0, 1, 2, 2, 3, 2]), np.array([1, 2, 2, 2])).tolist()
    [0, 2, 3, 7]
    """
    begins = starts_of(lengths)
    if queries is None or not len(queries):
        return np.unique(begins)
    count = int(queries.max()) + 1
    low, high = np.empty(count, np.int64), np.empty(count, np.int64)
    rows = np.arange(len(queries))
    high[queries] = rows
    low[queries[::-1]] = rows[::-1]
    # Queries that have rows both before and after a position.
    change = np.zeros(len(queries) + 2, np.int64)
    np.add.at(change, low + 1, 1)
    np.add.at(change, high + 1, -1)
    positions = np.flatnonzero(np.cumsum(change[:-1]) == 0)
    return np.unique(positions[np.searchsorted(positions, begins)])


def select_rows(
    client: Client,
    scanned: ScannedPartitions,
    joined: Future,
    summary: LabelSummary,
    *,
    has_holdout: bool = False,
    holdout: bool = False,
) -> LabelledPartitions:
    """The partitions of the rows to train on, or of the rows that are held out; only those that have such rows.

    Parameters
    ----------
    client : Client
        The client, whose workers have the partitions.
    scanned : ScannedPartitions
        The partitions of all rows.
    joined : Future
        The labels of all rows, a `JoinedLabels`.
    summary : LabelSummary
        Summary of the selected rows.
    has_holdout : bool, default=False
        Whether some rows are held out.
    holdout : bool, default=False
        Whether to select those that are held out.
    """
    tables = scanned.tables
    if has_holdout:
        ranges = pairwise(starts_of(scanned.lengths).tolist())
        in_holdout = [client.submit(holdout_of_part, joined, *range_, pure=False) for range_ in ranges]
        tables = [
            client.submit(take_rows, table, mask, holdout, pure=False)
            for table, mask in zip(tables, in_holdout, strict=True)
        ]
    labels = _labels_by_partition(client, joined, summary, holdout)
    nonempty = np.flatnonzero(summary.lengths).tolist()
    empty_table = replace(scanned.empty_table, rows=int(summary.lengths.sum()))
    return LabelledPartitions(
        [tables[k] for k in nonempty], [labels[k] for k in nonempty], joined,
        replace(summary, lengths=summary.lengths[nonempty]), empty_table, scanned.from_sparse,
    )  # fmt: skip


@as_task
def holdout_of_part(joined: JoinedLabels, first: int, last: int) -> NDArray[np.bool_]:
    """Task: whether each row of a partition is held out."""
    assert joined.in_holdout is not None
    return joined.in_holdout[first:last].copy()


@as_task
def take_rows(part: PartTable, in_holdout: NDArray[np.bool_], holdout: bool) -> PartTable:
    """Task: the rows of a partition that are held out, or the others."""
    keep = in_holdout if holdout else ~in_holdout
    tables, first = [], 0
    for table in part.tables:
        tables.append(table.take(keep[first : first + table.rows]))
        first += table.rows
    return replace(part, tables=tables)


def _labels_by_partition(
    client: Client, joined: Future, summary: LabelSummary, holdout: bool
) -> list[Future]:
    """The `Labels` of each partition."""
    return [
        client.submit(labels_of_part, joined, holdout, first, last, pure=False)
        for first, last in pairwise(starts_of(summary.lengths).tolist())
    ]


@as_task
def labels_of_part(joined: JoinedLabels, holdout: bool, first: int, last: int) -> Labels:
    """Task: the labels of some rows."""
    labels = joined.holdout if holdout else joined.labels
    assert labels is not None
    return labels.between(first, last)


register_sizeof(JoinedLabels, Labels)
