"""What a `Dataset` is given beside its table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spinney.data import Schema
from spinney.errors import DataTypeError, ParameterError
from spinney.params import Config

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
    params = Config.parse(told)
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
