"""Queries: rows that are ranked together, given by the query of each row (`qid`) or by the sizes of queries (`group`).

Here they are read, with weights of rows or of queries; the second half lists rows by query as kernels take them. The rows of a
query need not stand together in the table; queries are numbered from 0 in the order of their first rows.

Words of ranking: a *list* has the rows of a query in the order of their scores, a *place* is where a row stands in it, from 1.
*Relevance* is the target, a whole number, and *gain* what a row of it is worth.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence, Sized
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.data.arrays import content_of, refuse_dask
from spinney.data.kernels.queries import (
    RUN,
    Gains,
    LevelCounts,
    Lists,
    SortedList,
    best_gains,
    find_discounts,
)
from spinney.data.labels import Labels, renumbered
from spinney.data.target import check_finite, one_dimension, read_vector, read_weight
from spinney.errors import DataError, DataTypeError
from spinney.jit import allocate
from spinney.jit.team import Team
from spinney.messages import shown


def read_queries(group: Any, qid: Any, rows: int, what: str = "") -> NDArray[np.int64] | None:
    """Read which query each row belongs to.

    Parameters
    ----------
    group : array-like of int, optional
        Sizes of the queries, whose rows follow each other; they add up to the rows.
    qid : array-like, optional
        The query of each row, whole numbers or text, in any order. At most one of both is given.
    rows : int
        Number of rows of the table.
    what : str, default=""
        Prefix of the names of the arguments in messages, such as "eval_".

    Returns
    -------
    int64[rows], or None
        Numbers of the queries, from 0 in the order of their first rows.

    Examples
    --------
    >>> read_queries([2, 1], None, 3).tolist(), read_queries(None, ["b", "a", "b"], 3).tolist()
    ([0, 0, 1], [0, 1, 0])
    """
    if group is not None and qid is not None:
        raise DataError(f"{what}group and {what}qid are both given; give one of them")
    if qid is not None:
        return _from_names(qid, rows, f"{what}qid")
    if group is None:
        return None
    return _from_sizes(group, rows, f"{what}group")


def read_query_weight(
    values: Any, rows: int, queries: NDArray[np.int64] | None, *, what: str = "sample_weight"
) -> NDArray[np.float64] | None:
    """Read weights of rows or of queries, by their number; a query's weight is that of each of its rows.

    Weights of queries are in the order of the queries' first rows. If there are as many queries as rows, it is undecided which of
    both they are, and an error.

    Examples
    --------
    >>> read_query_weight([1.0, 3.0], 3, np.array([0, 0, 1])).tolist()
    [1.0, 1.0, 3.0]
    """
    refuse_dask(values, what)
    given = len(values) if isinstance(values, Sized) and getattr(values, "ndim", 1) > 0 else rows
    count = rows if queries is None else int(queries.max()) + 1
    if values is None or queries is None or (given == rows and given != count):
        return read_weight(values, rows, what=what)
    if given == rows and rows > 1 and isinstance(values, Sized):
        raise DataError(
            f"{what} has {given} values, and there are as many queries as rows: it is undecided whether it weighs rows or "
            "queries. A query of one row teaches nothing: leave the weights out, or give queries of several rows"
        )
    if given != count:
        raise DataError(
            f"{what} has {given} values; give one for each of the {rows} rows, or one for each of the {count} queries"
        )
    weight = read_weight(values, count, what=what)
    return None if weight is None else weight[queries]


def read_batch_weight(
    values: Any, rows: int, queries: NDArray[np.int64] | None, *, what: str = "weight"
) -> NDArray[np.float64] | None:
    """Read weights of the rows of a batch, which may all be 0, or of its queries."""
    if values is None:
        return None
    alone = isinstance(values, numbers.Real) or getattr(values, "ndim", 1) == 0
    found = read_vector(
        np.full(rows, values) if alone else values, None, what, allow_none=False, column=False
    )
    if len(found) == rows:
        return found if not found.any() else read_weight(found, rows, what=what)
    return read_query_weight(found, rows, queries, what=what)


def _from_names(qid: Any, rows: int, what: str) -> NDArray[np.int64]:
    names = one_dimension(qid, rows, what)
    if names.dtype.kind in "OTUS":
        return _from_objects(names.astype(object), what)
    if names.dtype.kind == "f":
        check_finite(names, what)
        wrong = np.flatnonzero(names != np.floor(names))
        if len(wrong):
            raise DataError(f"{what}[{wrong[0]}] = {names[wrong[0]]:g}; queries are whole numbers or text")
    elif names.dtype.kind not in "biu":
        raise DataTypeError(f"{what} has dtype {names.dtype}; queries are whole numbers or text")
    return renumbered(names)


def _from_objects(names: NDArray[Any], what: str) -> NDArray[np.int64]:
    contents = {kind: content_of(kind) for kind in set(map(type, names))}
    for row, name in enumerate(names):
        if contents[type(name)] == "missing" or _is_nan(name):
            raise DataError(
                f"{what} names no query in row {row} ({name}); drop such rows, or give them a query"
            )
        if contents[type(name)] not in ("text", "number"):
            raise DataTypeError(
                f"{what} holds a {type(name).__name__} in row {row}; queries are whole numbers or text"
            )
        if contents[type(name)] == "number" and not _is_whole(name):
            raise DataError(f"{what}[{row}] = {name}; queries are whole numbers or text")
    if len(set(contents.values())) > 1:
        raise DataTypeError(f"{what} holds both text and numbers; give queries as one of them")
    place: dict[object, int] = {}
    return np.array([place.setdefault(name, len(place)) for name in names], np.int64)


def _is_nan(number: Any) -> bool:
    try:
        return bool(number != number)
    except ArithmeticError:  # of a signaling NaN
        return True


def _is_whole(number: Any) -> bool:
    try:
        return bool(number == int(number))
    except OverflowError:
        return False


def _from_sizes(group: Any, rows: int, what: str) -> NDArray[np.int64]:
    if isinstance(group, numbers.Real):
        raise DataError(
            f"{what}={shown(group)} is one number; give the sizes of all queries, such as [{shown(group)}]"
        )
    other = what.replace("group", "qid")
    try:
        sizes = read_vector(group, None, what, allow_none=False)
    except DataTypeError as error:
        raise DataTypeError(
            f"{what} must hold the sizes of queries, whole numbers; the query of each row is given as {other}"
        ) from error
    advice = ""
    if len(sizes) == rows:
        advice = f"; if it is the query of each row, give it as {other}"
    wrong = np.flatnonzero((sizes < 1) | (sizes != np.floor(sizes)))
    if len(wrong):
        raise DataError(
            f"{what}[{wrong[0]}] = {sizes[wrong[0]]:g}; sizes of queries must be whole numbers of 1 or more{advice}"
        )
    total = float(sizes.sum())
    if total != rows:
        raise DataError(f"{what} adds up to {total:.0f} rows, but X has {rows}{advice}")
    return np.repeat(np.arange(len(sizes)), sizes.astype(np.int64))


class ByQuery(NamedTuple):
    """Rows by query.

    Attributes
    ----------
    order : int32[rows]
        Rows, those of a query together and in the order of the table.
    begins : int64[queries + 1]
        Where the rows of each query begin in `order`, and where those of the last one end.
    """

    order: NDArray[np.int32]
    begins: NDArray[np.int64]

    @property
    def queries(self) -> int:
        """Number of queries."""
        return len(self.begins) - 1


def by_query(labels: Labels) -> ByQuery:
    """List the rows by query; without queries all rows are one.

    Examples
    --------
    >>> found = by_query(Labels(np.zeros(4), queries=np.array([0, 1, 0, 1])))
    >>> found.order.tolist(), found.begins.tolist()
    ([0, 2, 1, 3], [0, 2, 4])
    """
    if labels.queries is None:
        return ByQuery(np.arange(labels.rows, dtype=np.int32), np.array([0, labels.rows]))
    sizes = np.bincount(labels.queries)
    # Numbers of 16 bits are sorted by radix, in a time that does not depend on their order.
    narrow = labels.queries.astype(np.uint16) if len(sizes) <= 2**16 else labels.queries
    order = np.argsort(narrow, kind="stable").astype(np.int32)
    return ByQuery(order, np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]))


def lists_of(labels: Labels, threads: int) -> Lists:
    """The rows by query, and memory for each thread to sort them.

    Examples
    --------
    >>> lists_of(Labels(np.zeros(3), queries=np.array([0, 1, 0])), 1).order.tolist()
    [0, 2, 1]
    """
    found = by_query(labels)
    longest = int(np.diff(found.begins).max())
    width = -(-longest // RUN) * RUN + RUN
    return allocate(
        Lists,
        rows=labels.rows,
        queries=found.queries,
        width=width,
        order=found.order,
        begins=found.begins,
        sorted=allocate(SortedList, threads=threads, width=width),
    )


def gains_for(lists: Lists, gains: Sequence[float], depth: int, threads: int) -> Gains:
    """Gains by relevance, discounts down to place `depth`, and memory for each thread to count the rows of a query."""
    discounts = np.empty(lists.width)
    find_discounts(len(discounts), discounts)
    return allocate(
        Gains,
        levels=len(gains),
        depth=depth,
        gains=np.array(gains, np.float64),
        discounts=discounts,
        counts=allocate(LevelCounts, threads=threads, levels=len(gains)),
    )


def best_of(labels: Labels, lists: Lists, gains: Gains, team: Team) -> NDArray[np.float64]:
    """The discounted gain of each query in the best order of its rows (ideal DCG).

    Examples
    --------
    >>> labels = Labels(np.array([0.0, 1.0, 0.0]), queries=np.array([0, 0, 1]))
    >>> lists = lists_of(labels, 1)
    >>> best_of(labels, lists, gains_for(lists, [0.0, 1.0], 10, 1), Team(1)).tolist()
    [1.0, 0.0]
    """
    best = np.empty(lists.queries)
    team.run(best_gains.bind(labels.arrays(), lists, gains, best))
    return best
