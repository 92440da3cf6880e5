"""Labels of all rows: joined on one worker, 16 bytes a row and more, and sent to the partitions again.

So are the groups of rows that are held out together: their numbers take 8 bytes a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray

from spinney.dask.inputs import check_computed, computed
from spinney.dask.partitions import (
    PartTable,
    ScannedPartitions,
    array_of,
    check_label_info,
    label_arrays,
    label_info,
)
from spinney.dask.tasks import as_task, kept, result, weighed
from spinney.data import Labels, RawLabels, Table, read_labels
from spinney.data.labels import LABEL_NAMES
from spinney.data.table import starts_of
from spinney.training.splitting import group_numbers


def grouped(client: Client, groups: Any, rows: int) -> Future:
    """The numbers of the groups that so many rows are of.

    Parameters
    ----------
    client : Client
        Who computes.
    groups : dask array or series, or list of delayed arrays
        A group for each row, in any partitions.
    rows : int
        How many rows there are.

    Raises
    ------
    DataError
        There are more or fewer groups, or one is missing.
    """
    parts = computed(client, groups, "groups")
    numbers = client.submit(numbers_of, parts, rows, pure=False)
    try:
        result(client, client.submit(count, numbers, pure=False))
    except Exception:
        check_computed({"groups": parts})
        raise
    return numbers


@as_task
def numbers_of(parts: list[Any], rows: int) -> NDArray[np.int64]:
    """Task: the number of each row's group."""
    arrays = [array_of(part, "groups") for part in parts]
    some = [k for k, array in enumerate(arrays) if array is None or len(array)]
    infos = [label_info(parts[k], "groups") for k in some]
    check_label_info("groups", infos, [f"partition {k}" for k in some])
    found = [array for array in arrays if array is not None]
    numbers = group_numbers(np.concatenate(found), rows)
    assert numbers is not None
    return numbers


@as_task
def count(numbers: NDArray[np.int64]) -> int:
    """Task: how many there are."""
    return len(numbers)


@dataclass(frozen=True, eq=False)
class Learnt:
    """What is made of all labels.

    Attributes
    ----------
    labels : Labels
        Of the rows to train on.
    told : object
        What the client is to know.
    held : Labels, optional
        Of the rows that are held out.
    chosen : bool[rows], optional
        Which rows are.
    """

    labels: Labels
    told: Any = None
    held: Labels | None = None
    chosen: NDArray[np.bool_] | None = None


# Makes labels of those that were given for all rows. The table has their columns, without values; the numbers are those of groups
# of rows that are held out together.
Learn = Callable[[RawLabels, Table, NDArray[np.int64] | None], Learnt]


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
        Where parts are to begin that cut no query, and where the last one ends.
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
        The labels of all rows, a `Learnt`.
    summary : LabelSummary
        Summary of their labels.
    outline : Table
        The columns and the number of all rows, without values.
    from_sparse : bool
        Whether they are sparse.
    """

    tables: list[Future]
    labels: list[Future]
    joined: Future
    summary: LabelSummary
    outline: Table
    from_sparse: bool


# The summary of rows to train on, that of rows held out, and what `Learn` told.
Summaries = tuple[LabelSummary, LabelSummary | None, Any]


def plain_labels(raw: RawLabels, table: Table, groups: NDArray[np.int64] | None) -> Learnt:
    """Labels as `Dataset` reads them."""
    return Learnt(read_labels(raw, table.rows))


def join(
    client: Client, opened: ScannedPartitions, learn: Learn, groups: Future | None = None
) -> tuple[Future, LabelSummary, LabelSummary | None, Any]:
    """Bring all labels together on one worker. `groups` are numbers, of all rows.

    Returns the `Learnt`, the summaries of the rows to train on and of those held out, and what `learn` told.
    """
    raw = opened.labels
    told = kept(client, (learn, opened.outline, opened.given, raw.where, raw.weight_name))
    joined = client.submit(join_labels, told, groups, *raw.by_name.values(), pure=False)
    summaries: Summaries = result(client, client.submit(summarize, joined, opened.lengths, pure=False))
    return joined, *summaries


@as_task
def join_labels(
    told: tuple[Learn, Table, list[int], str, str],
    groups: NDArray[np.int64] | None,
    *labels: list[Any] | None,
) -> Learnt:
    """Task: what is made of the labels of all partitions."""
    learn, outline, lengths, where, weight_name = told
    names: Any = {"where": where, "weight_name": weight_name}
    parts = [
        label_arrays(RawLabels(*(one and one[k] for one in labels), **names), rows)
        for k, rows in enumerate(lengths)
    ]

    def whole(name: str) -> Any:
        values = [getattr(part, name) for part in parts]
        return None if values[0] is None else np.concatenate(values)

    return learn(RawLabels(*map(whole, LABEL_NAMES), **names), outline, groups)


@as_task
def summarize(learnt: Learnt, lengths: NDArray[np.int64]) -> Summaries:
    """Task: what the client is told."""
    if learnt.chosen is None:
        return _summary(learnt.labels, lengths), None, learnt.told
    assert learnt.held is not None
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(learnt.chosen)])[starts_of(lengths)]
    held = np.diff(ends)
    return _summary(learnt.labels, lengths - held), _summary(learnt.held, held), learnt.told


def _summary(labels: Labels, lengths: NDArray[np.int64]) -> LabelSummary:
    return LabelSummary(lengths, labels.between(0, 0), whole_queries(labels.queries, lengths))


def whole_queries(queries: NDArray[np.int64] | None, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where parts are to begin, and where the last one ends, so that none cuts a query: as soon as can be in each partition.

    Examples
    --------
    >>> whole_queries(np.array([0, 0, 1, 2, 2, 3, 2]), np.array([1, 2, 2, 2])).tolist()
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
    # Queries that are open between the rows before and after a place.
    change = np.zeros(len(queries) + 2, np.int64)
    np.add.at(change, low + 1, 1)
    np.add.at(change, high + 1, -1)
    places = np.flatnonzero(np.cumsum(change[:-1]) == 0)
    return np.unique(places[np.searchsorted(places, begins)])


def chosen_rows(
    client: Client,
    opened: ScannedPartitions,
    joined: Future,
    summary: LabelSummary,
    *,
    split: bool = False,
    held: bool = False,
) -> LabelledPartitions:
    """The partitions of the rows to train on, or of those that are held out, as far as they have some.

    Parameters
    ----------
    client : Client
        Whose workers hold them.
    opened : ScannedPartitions
        The partitions of all rows.
    joined : Future
        What was learnt from all labels, a `Learnt`.
    summary : LabelSummary
        That of the rows that are wanted.
    split : bool, default=False
        Whether some rows are held out.
    held : bool, default=False
        Whether those are wanted.
    """
    tables = opened.tables
    if split:
        ranges = pairwise(starts_of(opened.lengths).tolist())
        chosen = [client.submit(part_chosen, joined, *some, pure=False) for some in ranges]
        tables = [
            client.submit(take_rows, table, own, held, pure=False)
            for table, own in zip(tables, chosen, strict=True)
        ]
    labels = _by_partition(client, joined, summary, held)
    some = np.flatnonzero(summary.lengths).tolist()
    outline = replace(opened.outline, rows=int(summary.lengths.sum()))
    return LabelledPartitions(
        [tables[k] for k in some], [labels[k] for k in some], joined,
        replace(summary, lengths=summary.lengths[some]), outline, opened.from_sparse,
    )  # fmt: skip


@as_task
def part_chosen(learnt: Learnt, first: int, last: int) -> NDArray[np.bool_]:
    """Task: which rows of a partition are held out."""
    assert learnt.chosen is not None
    return learnt.chosen[first:last].copy()


@as_task
def take_rows(part: PartTable, chosen: NDArray[np.bool_], held: bool) -> PartTable:
    """Task: the rows of a partition that are held out, or the others."""
    keep = chosen if held else ~chosen
    tables, first = [], 0
    for table in part.tables:
        tables.append(table.take(keep[first : first + table.rows]))
        first += table.rows
    return replace(part, tables=tables)


def _by_partition(client: Client, joined: Future, summary: LabelSummary, held: bool) -> list[Future]:
    """The `Labels` of each partition."""
    return [
        client.submit(part_labels, joined, held, first, last, pure=False)
        for first, last in pairwise(starts_of(summary.lengths).tolist())
    ]


@as_task
def part_labels(learnt: Learnt, held: bool, first: int, last: int) -> Labels:
    """Task: the labels of some rows."""
    labels = learnt.held if held else learnt.labels
    assert labels is not None
    return labels.between(first, last)


weighed(Learnt, Labels)
