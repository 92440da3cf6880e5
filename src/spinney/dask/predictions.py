"""Predictions of dask collections: lazy, a task for each partition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray

from spinney.dask.inputs import collections_of, is_delayed_list, meta_of, partitions_of
from spinney.dask.partitions import array_of, check_label_info, label_info
from spinney.dask.tasks import as_task
from spinney.errors import DataError
from spinney.estimators.boosting import predict_raw, score_raw


def is_collection(X: object) -> bool:
    """Whether a table is a collection of Dask's, or a list of delayed tables."""
    return is_delayed_list(X) or dask.is_dask_collection(X)


def lazy_results(estimator: Any, method: str, X: Any, given: Mapping[str, Any]) -> Any:
    """Lazy results of a method of a local estimator, one for every partition.

    Parameters
    ----------
    estimator : estimator
        A fitted local estimator.
    method : str
        Name of the method.
    X : dask array or data frame, or list of delayed tables
        The table to predict on.
    given : mapping
        Arguments of the method; a base margin is in the same partitions as X.

    Returns
    -------
    dask array
        With the chunks of X, of unknown sizes for a data frame; for a delayed table a delayed array, for a list of them a list.
    """
    given = dict(given)
    if not isinstance(X, list | tuple | Delayed) and getattr(X, "ndim", 2) != 2:
        raise DataError(f"X has {X.ndim} dimensions; give a table with rows and columns")
    parts = [part for one in collections_of(X, "X") for part in partitions_of(one)]
    margins = _margins(given.pop("base_margin", None), len(parts))
    shared = dask.delayed(estimator, traverse=False)
    task = dask.delayed(predict_part, pure=False)
    found = [task(shared, method, part, margin, given) for part, margin in zip(parts, margins, strict=True)]
    if isinstance(X, list | tuple):
        return found
    if isinstance(X, Delayed):
        return found[0]
    empty_result = _empty_result(estimator, method, X, given)
    sizes = X.chunks[0] if isinstance(X, da.Array) else [np.nan] * len(parts)
    arrays = [
        da.from_delayed(
            one, shape=(size, *empty_result.shape[1:]), dtype=empty_result.dtype, meta=empty_result
        )
        for one, size in zip(found, sizes, strict=True)
    ]
    return da.concatenate(arrays, axis=0, allow_unknown_chunksizes=True)


def predict_part(estimator: Any, method: str, X: Any, margin: Any, given: Mapping[str, Any]) -> NDArray[Any]:
    """Task: the result of a method for a partition."""
    margin_ = {} if margin is None else {"base_margin": margin}
    found: NDArray[Any] = getattr(estimator, method)(X, **margin_, **given)
    return found


def _margins(margin: Any, count: int) -> list[Any]:
    if margin is None:
        return [None] * count
    parts = [part for one in collections_of(margin, "base_margin") for part in partitions_of(one)]
    if len(parts) != count:
        raise DataError(
            f"base_margin has {len(parts)} partitions, but X has {count}; give both the same, as with repartition or rechunk"
        )
    return parts


def _empty_result(estimator: Any, method: str, X: Any, given: Mapping[str, Any]) -> NDArray[Any]:
    """The result of a method for no rows; wrong columns are an error now, and not when predictions are computed."""
    columns = meta_of(X)
    empty = columns if columns is not None else np.empty((0, X.shape[1]))
    found: NDArray[Any] = getattr(estimator, method)(empty, **given)
    return found


@as_task
def score_parts(
    estimator: Any, raws: list[NDArray[np.float64]], labels: Mapping[str, list[Any] | None]
) -> float:
    """Task: the score of an estimator, from raw scores of all partitions and the labels that its `score` takes."""
    rows = sum(len(one) for one in raws)
    if rows == 0:
        raise DataError("X has no rows; score needs at least one")
    given = {name: values for name, values in labels.items() if any(one is not None for one in values or ())}
    concatenated = {name: _concatenated(name, values or []) for name, values in given.items()}
    by_row = ("y",) if {"group", "qid"} & set(concatenated) else ("y", "sample_weight")
    for name, values in concatenated.items():
        if name in by_row and len(values) != rows:
            raise DataError(
                f"{name} has {len(values)} values, but X has {rows} rows; give one value for each row"
            )
    return score_raw(estimator, np.concatenate(raws), concatenated)


def _concatenated(name: str, values: list[Any]) -> NDArray[Any]:
    """Values of all partitions in one array; types and shapes of those that are not empty must agree."""
    arrays = [array_of(one, name) for one in values]
    nonempty = [k for k, one in enumerate(arrays) if one is None or len(one)]
    infos = [label_info(values[k], name) for k in nonempty]
    check_label_info(name, infos, [f"partition {k}" for k in nonempty])
    return np.concatenate([one for one in arrays if one is not None] or [np.empty(0)])


@as_task
def predict_raw_part(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Task: the raw scores of a partition."""
    return predict_raw(estimator, X)
