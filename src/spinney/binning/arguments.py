"""What a `Dataset` is given beside its table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.data import Schema, read_margin
from spinney.data.array import as_array
from spinney.data.dask import refuse_dask
from spinney.errors import DataError, DataTypeError, ParameterError
from spinney.params import Config, parse

DATA_PARAMS = ("max_bin", "bundle", "bundle_order", "max_conflict_rate", "absent", "unseen")


class HasColumns(Protocol):
    """A data set whose columns and parameters another one takes."""

    schema: Schema
    params: Config


def known_columns(reference: HasColumns | None, schema: Schema | None) -> Schema | None:
    """The columns that are known before the table is read."""
    if schema is None:
        return None if reference is None else reference.schema
    if not isinstance(schema, Schema):
        raise DataTypeError(f"schema must be the schema of a model, got {type(schema).__name__}")
    if reference is not None:
        raise ParameterError("schema is given beside reference, which has columns of its own; leave it out")
    return schema


def data_params(given: Mapping[str, object], reference: HasColumns | None) -> Config:
    """The parameters of the data, checked; those of the reference where there is one."""
    told = {name: value for name, value in given.items() if value is not None}
    params = parse(told)
    if reference is None:
        return params
    for name in told:
        if getattr(params, name) != getattr(reference.params, name):
            raise ParameterError(
                f"{name} = {told[name]!r} differs from the reference's {getattr(reference.params, name)!r}; leave it out"
            )
    return reference.params


def own(values: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """A copy, so that later changes to the caller's array do not reach a checked data set."""
    return None if values is None else values.copy(order="K")


def read_start(values: ArrayLike | None, rows: int) -> NDArray[np.float64] | None:
    """Read the scores that rows start from, of any number of outputs."""
    if values is None:
        return None
    refuse_dask(values, "base_margin")
    shape = values.shape if hasattr(values, "shape") else as_array(values, "base_margin").shape
    margin = read_margin(values, rows, shape[1] if len(shape) == 2 else 1)
    if margin is not None and np.abs(margin).max() > 1e30:
        raise DataError("base_margin holds a value beyond ±1e30, which is too large to train on")
    return margin
