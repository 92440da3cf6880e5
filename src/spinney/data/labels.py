"""`Labels`: what is known of rows besides their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from spinney.data.kernels.records import LabelArrays
from spinney.errors import DataError

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Labels:
    """What losses, metrics, sampling and the hold-out know of rows.

    Attributes
    ----------
    target : float64[rows] or float64[rows, targets]
        Values, or places of labels among the classes. The columns of several stand one after another in memory.
    weight : float64[rows], or float64[rows, targets] within a training, optional
        Weights of the rows, for every column of the target or for each its own; None: every row weighs 1.
    margin : float64[rows, outputs], optional
        Scores that the rows start from.
    queries : int64[rows], optional
        Number of the query that a row belongs to, from 0 in the order of their first rows, for losses that rank rows within a
        query. The rows of a query need not stand together. None: no queries are known.
    first : int, default=0
        Number of the first row in the whole table, where these are some rows of one. What is drawn by row goes by it.

    Examples
    --------
    >>> labels = Labels(np.array([0.5, 1.5, 2.5]), weight=np.array([1.0, 2.0, 3.0]))
    >>> labels.take(np.array([True, False, True])).weight.tolist()
    [1.0, 3.0]
    """

    target: NDArray[np.float64]
    weight: NDArray[np.float64] | None = None
    margin: NDArray[np.float64] | None = None
    queries: NDArray[np.int64] | None = None
    first: int = 0

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.target)

    @property
    def targets(self) -> int:
        """Columns of the target."""
        return 1 if self.target.ndim == 1 else self.target.shape[1]

    def column(self, place: int) -> Labels:
        """The labels with one column of the target, without a margin; of a target of one column that one for any place."""
        target = self.target if self.target.ndim == 1 else self.target[:, place]
        weight = self.weight if self.weight is None or self.weight.ndim == 1 else self.weight[:, place]
        return Labels(target, weight, queries=self.queries)

    @property
    def said_of_one_class(self) -> str:
        """What a message says of rows of one class. It names none: only an estimator knows the user's labels."""
        light = "" if self.weight is None else ", or weigh nothing beside those of it"
        return f"all are of one class{light}"

    def weighing(self) -> NDArray[np.int32]:
        """The rows that weigh anything, ascending."""
        if self.weight is None:
            return np.arange(self.rows, dtype=np.int32)
        weighs = self.weight != 0 if self.weight.ndim == 1 else self.weight.any(axis=1)
        return np.flatnonzero(weighs).astype(np.int32)

    def take(self, chosen: NDArray[np.bool_]) -> Labels:
        """Copy those of some rows."""

        def some(values: Any) -> Any:
            return None if values is None else values[chosen]

        target = by_column(self.target[chosen])
        return Labels(target, some(self.weight), some(self.margin), renumbered(some(self.queries)))

    def arrays(self) -> LabelArrays:
        """Target and weights as kernels take them."""
        weight = np.empty(0) if self.weight is None else self.weight
        return LabelArrays(self.rows, self.targets, weight.size // self.rows, self.target.T, weight.T)

    def kept(self, make: Callable[[Labels], T]) -> T:
        """What a function makes of the labels, made at its first use."""
        found: dict[Any, T] = self.__dict__.setdefault("_kept", {})
        if make not in found:
            found[make] = make(self)
        return found[make]

    def for_functions(self) -> LabelVector:
        """What functions of users get: a copy of the target that also tells the rest.

        Examples
        --------
        >>> labels = Labels(np.array([1.0, 3.0]), weight=np.array([0.5, 2.0])).for_functions()
        >>> (labels * 2).tolist(), labels.weight.tolist(), labels.margin
        ([2.0, 6.0], [0.5, 2.0], None)
        """
        vector = self.target.copy().view(LabelVector)
        vector.weight = None if self.weight is None else self.weight.copy()
        vector.margin = None if self.margin is None else self.margin.copy()
        vector.queries = None if self.queries is None else self.queries.copy()
        return vector


@contextmanager
def named_column(labels: Labels, place: int) -> Iterator[None]:
    """Say in the message of an error about data which column of the target it was, where there are several."""
    try:
        yield
    except DataError as error:
        if labels.targets == 1:
            raise
        raise DataError(f"column {place} of y: {error}") from None


def by_column(target: NDArray[np.float64]) -> NDArray[np.float64]:
    """A target whose columns stand one after another in memory; copied only where they do not."""
    return np.ascontiguousarray(target.T).T


@overload
def renumbered(queries: None) -> None: ...
@overload
def renumbered(queries: NDArray[Any]) -> NDArray[np.int64]: ...
def renumbered(queries: NDArray[Any] | None) -> NDArray[np.int64] | None:
    """Queries of some rows, numbered from 0 in the order of their first rows.

    Examples
    --------
    >>> renumbered(np.array([7, 7, 3, 7])).tolist()
    [0, 0, 1, 0]
    """
    if queries is None:
        return None
    if (queries[1:] >= queries[:-1]).all():  # in order already
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(queries[1:] != queries[:-1])])[: len(queries)]
    _, first, place = np.unique(queries, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[place]


class LabelVector(np.ndarray[Any, np.dtype[np.float64]]):
    """The target, as an array. What is computed from it knows neither weights nor margins nor queries.

    Attributes
    ----------
    weight : float64[rows], optional
        Weights of the rows; None: every row weighs 1.
    margin : float64[rows, outputs], optional
        Scores that the rows start from.
    queries : int64[rows], optional
        Number of each row's query, from 0; None where no queries are known.
    """

    weight: NDArray[np.float64] | None = None
    margin: NDArray[np.float64] | None = None
    queries: NDArray[np.int64] | None = None

    @property
    def target(self) -> NDArray[np.float64]:
        """The target as a plain array."""
        return self.view(np.ndarray)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self)

    def with_queries(self) -> NDArray[np.float64]:
        """The target as a plain array, or as one that has `queries` where some are known."""
        return self.target if self.queries is None else self
