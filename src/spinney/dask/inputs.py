"""Dask collections, and lists of delayed tables, that a user gives: as lists of partitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import dask.array as da
import numpy as np
from dask import is_dask_collection
from dask._task_spec import convert_legacy_graph
from dask.delayed import Delayed
from dask.utils import ensure_dict
from distributed import Client, Future

from spinney.data import RawLabels
from spinney.errors import ClusterError, DataError, DataTypeError


@dataclass(frozen=True, eq=False)
class PartitionedInput:
    """A table in partitions, with the labels of its rows.

    Attributes
    ----------
    X : list of Future
        The partitions of the table.
    labels : RawLabels
        The partitions of the labels: a list of futures in place of each array.
    """

    X: list[Future]
    labels: RawLabels

    def title(self, partition: int) -> str:
        """Name of a partition in messages."""
        return partition_title(self.labels.where, partition)

    def check_computed(self) -> None:
        """Raise a `ClusterError` if a partition could not be computed; it has the error of the user's tasks."""
        check_computed({"X": self.X, **self.labels.by_name}, self.labels.where)


def partition_title(where: str, partition: int) -> str:
    """Name of a partition in messages; `where` is that of its rows."""
    return f"{where}: partition {partition}" if where else f"partition {partition}"


def check_computed(given: Mapping[str, list[Future] | None], where: str = "") -> None:
    """Raise a `ClusterError` if a partition of an argument could not be computed; it has the error of the user's tasks."""
    for name, futures in given.items():
        for partition, future in enumerate(futures or ()):
            if future.status == "error":
                error = future.exception()
                title = partition_title(where, partition)
                raise ClusterError(
                    f"{title}: {name} cannot be computed: {type(error).__name__}: {error}"
                ) from error


def compute(client: Client, X: Any, arguments: Mapping[str, Any], *, where: str = "") -> PartitionedInput:
    """Compute every partition once, and keep it on the workers.

    Parameters
    ----------
    client : Client
        The client, whose workers compute.
    X : dask array or data frame, or list of delayed tables
        The table.
    arguments : mapping
        y, weight, base_margin, group and qid, in this order, by the names of the user's arguments; None: not given.
    where : str
        Name of the rows in messages.
    """
    before = f"{where}: " if where else ""
    given = {"X": collections_of(X, f"{before}X")}
    for name, values in arguments.items():
        if values is not None:
            given[name] = collections_of(values, f"{before}{name}")
    counts = {name: sum(partitions_in(one) for one in values) for name, values in given.items()}
    for name, count in counts.items():
        if count != counts["X"]:
            raise DataError(
                f"{before}{name} has {count} partitions, but X has {counts['X']}; give both the same, as with repartition or "
                "rechunk"
            )
    flat = [part for values in given.values() for one in values for part in partitions_of(one)]
    futures = iter(_compute_parts(client, flat))
    parts = {name: [next(futures) for _ in range(count)] for name, count in counts.items()}
    _, weight_name, *_ = arguments
    labels = RawLabels(*(parts.get(name) for name in arguments), where=where, weight_name=weight_name)
    return PartitionedInput(parts["X"], labels)


def compute_collection(client: Client, values: Any, what: str) -> list[Future]:
    """Compute every partition of a collection once, and keep it on the workers; `what` is its name in messages."""
    return _compute_parts(
        client, [part for one in collections_of(values, what) for part in partitions_of(one)]
    )


def collections_of(values: Any, what: str) -> list[Any]:
    """The collections of an argument: itself, or the delayed tables or futures of a list. A partition has all columns.

    Raises
    ------
    DataTypeError
        It is not a collection of Dask's, nor a list of delayed tables.
    """
    if isinstance(values, da.Array):
        if values.ndim not in (1, 2):
            raise DataError(f"{what} has {values.ndim} dimensions; give one with rows and columns")
        several = values.ndim == 2 and len(values.chunks[1]) > 1
        return [values.rechunk({1: -1}) if several else values]
    if is_delayed_list(values):
        return list(values)
    if isinstance(values, Delayed) or (is_dask_collection(values) and hasattr(values, "_meta")):
        return [values]
    raise DataTypeError(
        f"{what} must be a dask array or data frame, or a list of delayed tables, got {_type_name(values)}; for rows of this "
        "process use spinney without dask, or make it a collection with dask.array.from_array or dask.dataframe.from_pandas"
    )


def is_delayed_list(values: object) -> bool:
    """Whether it is a list of delayed tables or of futures."""
    return (
        isinstance(values, list | tuple)
        and bool(values)
        and all(isinstance(one, Delayed | Future) for one in values)
    )


def partitions_in(values: Any) -> int:
    """How many partitions a collection has, one for a delayed table."""
    return 1 if isinstance(values, Delayed | Future) else int(values.npartitions)


def partitions_of(collection: Any) -> list[Any]:
    """The partitions of a collection, each a Delayed or a Future; there are `partitions_in(collection)`."""
    if isinstance(collection, Delayed | Future):
        return [collection]
    # Further optimization of a frame would read several files as one partition.
    plain = collection.simplify() if hasattr(collection, "simplify") else collection
    found: list[Any] = np.ravel(plain.to_delayed(optimize_graph=False)).tolist()
    return found


def _compute_parts(client: Client, parts: list[Any]) -> list[Future]:
    """Compute all partitions in one call, so that what they share is computed once."""
    delayed = [part for part in parts if isinstance(part, Delayed)]
    futures = iter(client.compute(_with_new_names(delayed), optimize_graph=False))
    return [next(futures) if isinstance(part, Delayed) else part for part in parts]


def _with_new_names(parts: list[Delayed]) -> list[Delayed]:
    """The same partitions, computed by tasks with new names.

    The scheduler keeps these tasks as long as the data set, since its parts can be computed again from them. It would confuse
    them with tasks of the same names that are optimized in another way, in other computations on the same collection:
    https://github.com/dask/dask/issues/9888. Futures keep their names.
    """
    found = [part.dask for part in parts]  # for some this is a new graph at each access
    graphs = {id(graph): graph for graph in found}
    tasks_by_key = {key: task for graph in graphs.values() for key, task in ensure_dict(graph).items()}
    futures = {key: task for key, task in tasks_by_key.items() if isinstance(task, Future)}
    tasks = convert_legacy_graph(
        {key: task for key, task in tasks_by_key.items() if key not in futures}, set(tasks_by_key)
    )
    suffix = uuid4().hex[:12]
    names = {
        key: (f"{key[0]}-{suffix}", *key[1:]) if isinstance(key, tuple) else f"{key}-{suffix}"
        for key in tasks
    }
    graph = {names[key]: task.substitute(names, key=names[key]) for key, task in tasks.items()}
    return [Delayed(names.get(part.key, part.key), {**graph, **futures}) for part in parts]


def _type_name(values: Any) -> str:
    kind = type(values)
    inside = f" of {type(values[0]).__name__}" if isinstance(values, list | tuple) and values else ""
    return f"{kind.__module__.partition('.')[0]}'s {kind.__name__}{inside}".removeprefix("builtins's ")


def meta_of(X: Any) -> Any:
    """A table of no rows with the columns of a collection; None where only its partitions have the names and types."""
    meta = getattr(X, "_meta", None)
    return (
        meta
        if meta is not None and len(getattr(meta, "shape", ())) == 2 and hasattr(meta, "columns")
        else None
    )
