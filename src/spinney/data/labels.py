"""Labels: what belongs to the rows of a table besides its columns, as a user gives it and once it is checked.

`RawLabels` has anything a user may give, `Labels` has arrays of one type, which losses, metrics, sampling and hold-outs read.
`read_labels` in `target.py` makes the second from the first for all rows at once, `LabelCollector` for rows that come in batches.
`LabelVector` is the form in which functions of users get labels, `Gradients` (of the kernels) what a loss makes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from spinney.data.kernels.records import GRADIENT_BLOCK, PAIR, Gradients, LabelArrays, LeafRows
from spinney.errors import DataError
from spinney.jit import Bound

T = TypeVar("T")
LABEL_NAMES = ("y", "weight", "base_margin", "group", "qid")


@dataclass(frozen=True, eq=False)
class RawLabels:
    """What a user gives with the rows of a table; nothing of it is checked yet.

    On a cluster every value is a list of futures, one for each partition.

    Attributes
    ----------
    y, weight, base_margin, group, qid : object
        Target, weights, scores to start from, and the sizes of queries or the query of each row; None: not given.
    where : str, default=""
        Name of the rows in messages, such as "eval_set[1]" or "partition 3"; "" for the rows to train on.
    weight_name : str, default="weight"
        Name of the argument that the weights were given as.

    Examples
    --------
    >>> RawLabels([0, 1], weight=[1.0, 2.0]).by_name
    {'y': [0, 1], 'weight': [1.0, 2.0], 'base_margin': None, 'group': None, 'qid': None}
    """

    y: Any = None
    weight: Any = None
    base_margin: Any = None
    group: Any = None
    qid: Any = None
    where: str = field(default="", kw_only=True)
    weight_name: str = field(default="weight", kw_only=True)

    @property
    def by_name(self) -> dict[str, Any]:
        """The values by the names in `LABEL_NAMES`."""
        return {name: getattr(self, name) for name in LABEL_NAMES}


@dataclass(frozen=True, eq=False)
class Labels:
    """Target, weights, margins and queries of rows, checked.

    Attributes
    ----------
    target : float64[rows] or float64[rows, targets]
        Numbers, or positions of labels among the classes. Several columns stand one after another in memory; a table without a
        target has one of no columns.
    weight : float64[rows], or float64[rows, targets] within a training, optional
        Weights of the rows: the same for every column of the target, or for each its own. None: every row has weight 1.
    margin : float64[rows, outputs], optional
        Scores that the rows start from.
    queries : int64[rows], optional
        Number of each row's query, from 0 in the order of their first rows, for losses that rank rows within a query. The rows
        of a query need not stand together. None: there are no queries.
    first : int, default=0
        Number of the first row in the whole table, where these are some rows of one: random draws depend on a row's number there.

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
        """Number of columns of the target."""
        return 1 if self.target.ndim == 1 else self.target.shape[1]

    @property
    def has_target(self) -> bool:
        """Whether the rows have a target."""
        return self.targets > 0

    def column(self, place: int) -> Labels:
        """The labels with one column of the target, without a margin; a target of one column has it at any place."""
        target = self.target if self.target.ndim == 1 else self.target[:, place]
        weight = self.weight if self.weight is None or self.weight.ndim == 1 else self.weight[:, place]
        return Labels(target, weight, queries=self.queries)

    @property
    def one_class_message(self) -> str:
        """The part of a message about rows of one class. It does not name the class: only estimators have its label."""
        light = "" if self.weight is None else ", or weigh nothing beside those of it"
        return f"all are of one class{light}"

    def weighted_rows(self) -> NDArray[np.int32]:
        """The rows of weight above 0, ascending."""
        if self.weight is None:
            return np.arange(self.rows, dtype=np.int32)
        weighs = self.weight != 0 if self.weight.ndim == 1 else self.weight.any(axis=1)
        return np.flatnonzero(weighs).astype(np.int32)

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.integer[Any]]) -> Labels:
        """Copy the labels of some rows, by a mask or their numbers; queries are numbered anew."""

        def some(values: Any) -> Any:
            return None if values is None else values[chosen]

        target = by_column(self.target[chosen])
        return Labels(target, some(self.weight), some(self.margin), renumbered(some(self.queries)))

    def between(self, first: int, last: int) -> Labels:
        """Copy the labels of rows first..last-1. Queries keep their numbers, so that such parts can be concatenated."""

        def some(values: Any) -> Any:
            return None if values is None else values[first:last].copy(order="K")

        return Labels(by_column(some(self.target)), some(self.weight), some(self.margin), some(self.queries))

    @staticmethod
    def concatenate(parts: Sequence[Labels]) -> Labels:
        """Labels of rows that follow each other. Queries keep their numbers.

        Examples
        --------
        >>> labels = Labels(np.array([0.5, 1.5, 2.5]))
        >>> Labels.concatenate([labels.between(2, 3), labels.between(0, 1)]).target.tolist()
        [2.5, 0.5]
        """

        def joined(name: str) -> Any:
            values = [getattr(part, name) for part in parts]
            return None if values[0] is None else np.concatenate(values)

        return Labels(by_column(joined("target")), joined("weight"), joined("margin"), joined("queries"))

    def arrays(self) -> LabelArrays:
        """Target and weights as kernels take them."""
        weight = np.empty(0) if self.weight is None else self.weight
        return LabelArrays(self.rows, self.targets, weight.size // self.rows, self.target.T, weight.T)

    def cached(self, make: Callable[[Labels], T]) -> T:
        """What a function makes of the labels: computed at its first use, then cached."""
        found: dict[Any, T] = self.__dict__.setdefault("_cache", {})
        if make not in found:
            found[make] = make(self)
        return found[make]

    def for_functions(self) -> LabelVector:
        """The labels for a user's function: a copy of the target, with the rest as attributes.

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


class LabelVector(np.ndarray[Any, np.dtype[np.float64]]):
    """The target, as an array. What is computed from it has no weights, margins or queries.

    Attributes
    ----------
    weight : float64[rows], optional
        Weights of the rows; None: every row has weight 1.
    margin : float64[rows, outputs], optional
        Scores that the rows start from.
    queries : int64[rows], optional
        Number of each row's query, from 0; None: there are no queries.
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
        """The target as a plain array, or as one that has `queries` where there are some."""
        return self.target if self.queries is None else self


@contextmanager
def named_column(labels: Labels, place: int) -> Iterator[None]:
    """Name the column of the target in the message of an error about data, where there are several columns."""
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


def allocate_gradients(scores: NDArray[np.float64], unit: float = 1.0) -> Gradients:
    """Memory for the gradients of scores, outputs × rows; penalties are divided by `unit`, as weights were.

    Examples
    --------
    >>> allocate_gradients(np.zeros((3, 20_000))).largest.shape
    (3, 3, 2)
    """
    outputs, rows = scores.shape
    blocks = max(1, -(-rows // GRADIENT_BLOCK))
    pairs = np.empty((outputs, rows, 2), np.float32)
    return Gradients(rows, outputs, blocks, unit, scores, pairs, np.empty((outputs, blocks, PAIR)))


LeafRefit = Callable[[LeafRows, Gradients, NDArray[np.float64]], Bound]
"""Makes a job that writes, for each leaf, the constant that lowers the loss of its rows most."""
