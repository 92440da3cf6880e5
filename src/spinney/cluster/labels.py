"""Targets, weights, margins and queries of all rows: joined on one worker, 16 bytes a row and more, and dealt out again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray

from spinney.binning.arguments import read_start
from spinney.cluster.opening import Beside, Opened, PartTable, read_beside
from spinney.cluster.telling import result, telling
from spinney.cluster.travel import kept, weighed
from spinney.data import Table, read_queries, read_query_weight, read_target
from spinney.data.labels import by_column, renumbered
from spinney.data.lists import starts_of


@dataclass(frozen=True, eq=False)
class RowLabels:
    """What is known of some rows beside their columns; without a target they can only be looked at."""

    target: NDArray[np.float64] | None = None
    weight: NDArray[np.float64] | None = None
    margin: NDArray[np.float64] | None = None
    queries: NDArray[np.int64] | None = None

    def between(self, first: int, last: int) -> RowLabels:
        """Copies of those of rows first..last-1, so that the others can be let go of."""

        def some(values: Any) -> Any:
            return None if values is None else values[first:last].copy()

        target = some(self.target)
        return RowLabels(
            None if target is None else by_column(target), some(self.weight), some(self.margin), some(self.queries)
        )  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """Which labels rows have: columns of the target and of the margin, 0 for none; `flat` is a target that is a plain vector."""

    targets: int
    flat: bool
    weight: bool
    outputs: int
    queries: bool

    @classmethod
    def of(cls, labels: RowLabels) -> Shape:
        """That of some labels."""
        target, margin = labels.target, labels.margin
        return cls(
            0 if target is None else 1 if target.ndim == 1 else target.shape[1],
            target is None or target.ndim == 1,
            labels.weight is not None,
            0 if margin is None else margin.shape[1],
            labels.queries is not None,
        )


@dataclass(frozen=True, eq=False)
class Learnt:
    """What is made of all labels.

    Attributes
    ----------
    labels : RowLabels
        Of the rows to train on.
    told : object
        What the client is to know.
    held : RowLabels, optional
        Of the rows that are held out.
    chosen : bool[rows], optional
        Which rows are.
    """

    labels: RowLabels
    told: Any = None
    held: RowLabels | None = None
    chosen: NDArray[np.bool_] | None = None


# Makes labels of what belongs to all rows; the table has their columns, without values.
Learn = Callable[[Beside, Table], Learnt]


@dataclass(frozen=True, eq=False)
class SetFacts:
    """What the client knows of the labels of a set of rows.

    Attributes
    ----------
    lengths : int64
        Rows of each partition.
    shape : Shape
        Which labels they have.
    begins : int64
        Where parts are to begin that cut no query, and where the last one ends.
    """

    lengths: NDArray[np.int64]
    shape: Shape
    begins: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Partitions that are to be binned.

    Attributes
    ----------
    tables, labels : list of Future
        A `PartTable` and the `RowLabels` of each.
    joined : Future
        The labels of all rows, a `Learnt`.
    facts : SetFacts
        What the client knows of their labels.
    outline : Table
        The columns and the number of all rows, without values.
    from_sparse : bool
        Whether they are sparse.
    """

    tables: list[Future]
    labels: list[Future]
    joined: Future
    facts: SetFacts
    outline: Table
    from_sparse: bool


@dataclass(frozen=True, eq=False)
class LabelFacts:
    """What the client learns: of the rows to train on, of those held out, and what `Learn` told."""

    train: SetFacts
    held: SetFacts | None
    told: Any


def learn_plain(beside: Beside, table: Table) -> Learnt:
    """Labels as `Dataset` reads them."""
    queries = read_queries(beside.group, beside.qid, table.rows)
    return Learnt(
        RowLabels(
            read_target(beside.y, table.rows),
            read_query_weight(beside.weight, table.rows, queries, what="weight"),
            read_start(beside.margin, table.rows),
            queries,
        )
    )


def join(
    client: Client, opened: Opened, learn: Learn, groups: Future | None = None
) -> tuple[Future, LabelFacts]:
    """Bring all labels together; the client learns a few facts of them. `groups` are numbers, of all rows."""
    told = kept(client, (learn, opened.outline, opened.given, opened.weight_name))
    joined = client.submit(join_labels, told, groups, *opened.beside, pure=False)
    facts: LabelFacts = result(client, client.submit(facts_of, joined, opened.lengths, pure=False))
    return joined, facts


@telling
def join_labels(
    told: tuple[Learn, Table, list[int], str], groups: NDArray[np.int64] | None, *beside: list[Any] | None
) -> Learnt:
    """Task: what is made of the labels of all partitions."""
    learn, outline, lengths, weight_name = told
    parts = [
        read_beside(rows, weight_name, *(None if one is None else one[k] for one in beside))
        for k, rows in enumerate(lengths)
    ]

    def whole(name: str) -> Any:
        values = [getattr(part, name) for part in parts]
        return None if values[0] is None else np.concatenate(values)

    y, weight, margin, group, qid = map(whole, ("y", "weight", "margin", "group", "qid"))
    return learn(Beside(outline.rows, y, weight, margin, group, qid, groups), outline)


@telling
def facts_of(learnt: Learnt, lengths: NDArray[np.int64]) -> LabelFacts:
    """Task: what the client is told."""
    if learnt.chosen is None:
        return LabelFacts(_set_facts(learnt.labels, lengths), None, learnt.told)
    assert learnt.held is not None
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(learnt.chosen)])[starts_of(lengths)]
    held = np.diff(ends)
    return LabelFacts(_set_facts(learnt.labels, lengths - held), _set_facts(learnt.held, held), learnt.told)


def _set_facts(labels: RowLabels, lengths: NDArray[np.int64]) -> SetFacts:
    return SetFacts(lengths, Shape.of(labels), whole_queries(labels.queries, lengths))


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
    opened: Opened,
    joined: Future,
    facts: SetFacts,
    *,
    split: bool = False,
    held: bool = False,
) -> Rows:
    """The partitions of the rows to train on, or of those that are held out, as far as they have some.

    Parameters
    ----------
    client : Client
        Whose workers hold them.
    opened : Opened
        The partitions of all rows.
    joined : Future
        What was learnt from all labels, a `Learnt`.
    facts : SetFacts
        What is known of the rows that are wanted.
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
    labels = _dealt(client, joined, facts, held)
    some = np.flatnonzero(facts.lengths).tolist()
    outline = replace(opened.outline, rows=int(facts.lengths.sum()))
    return Rows(
        [tables[k] for k in some], [labels[k] for k in some], joined,
        replace(facts, lengths=facts.lengths[some]), outline, opened.from_sparse,
    )  # fmt: skip


@telling
def part_chosen(learnt: Learnt, first: int, last: int) -> NDArray[np.bool_]:
    """Task: which rows of a partition are held out."""
    assert learnt.chosen is not None
    return learnt.chosen[first:last].copy()


@telling
def take_rows(part: PartTable, chosen: NDArray[np.bool_], held: bool) -> PartTable:
    """Task: the rows of a partition that are held out, or the others."""
    keep = chosen if held else ~chosen
    tables, first = [], 0
    for table in part.tables:
        tables.append(table.take(keep[first : first + table.rows]))
        first += table.rows
    return replace(part, tables=tables)


def _dealt(client: Client, joined: Future, facts: SetFacts, held: bool) -> list[Future]:
    """The `RowLabels` of each partition."""
    return [
        client.submit(part_labels, joined, held, first, last, pure=False)
        for first, last in pairwise(starts_of(facts.lengths).tolist())
    ]


@telling
def part_labels(learnt: Learnt, held: bool, first: int, last: int) -> RowLabels:
    """Task: the labels of some rows."""
    labels = learnt.held if held else learnt.labels
    assert labels is not None
    return labels.between(first, last)


def concatenated(parts: list[RowLabels], shape: Shape) -> RowLabels:
    """Labels of rows that follow each other, perhaps none; queries are numbered from 0."""

    def whole(name: str, empty: NDArray[Any], given: bool) -> Any:
        return np.concatenate([empty, *(getattr(part, name) for part in parts)]) if given else None

    target = whole("target", np.empty(0 if shape.flat else (0, shape.targets)), shape.targets > 0)
    return RowLabels(
        None if target is None else by_column(target),
        whole("weight", np.empty(0), shape.weight),
        whole("margin", np.empty((0, shape.outputs)), shape.outputs > 0),
        renumbered(whole("queries", np.empty(0, np.int64), shape.queries)),
    )


weighed(Learnt, RowLabels)
