"""Columns that a user names as categorical."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spinney.data import Schema, Table
from spinney.errors import ParameterError, ParameterTypeError
from spinney.params.validate import is_iterable, shown


def named_columns(categorical: str | Sequence[str | int] | NDArray[np.bool_], table: Table) -> set[int]:
    """Positions of the columns that are named categorical."""
    if isinstance(categorical, str) and categorical == "auto":
        return set()
    if isinstance(categorical, str | bytes) or not is_iterable(categorical):
        raise ParameterTypeError(
            f'categorical={shown(categorical)} must be "auto", a list of names or positions of columns, or a mask'
        )
    given = list(categorical)
    if given and all(isinstance(one, bool | np.bool_) for one in given):
        if len(given) != table.columns:
            raise ParameterError(
                f"categorical is a mask of {len(given)} truth values, but X has {table.columns} columns; give one a column"
            )
        return {column for column, one in enumerate(given) if one}
    found = set()
    for one in given:
        if isinstance(one, str):
            if one not in (table.names or ()):
                raise ParameterError(f"categorical names the column {one!r}, which X does not have")
            found.add((table.names or ()).index(one))
        elif isinstance(one, int | np.integer) and not isinstance(one, bool):
            if not 0 <= one < table.columns:
                raise ParameterError(
                    f"categorical names column {shown(one)}, but X has columns 0 to {table.columns - 1}"
                )
            if table.names and str(one) in table.names and table.names[one] != str(one):
                raise ParameterError(
                    f"categorical holds {one}, which is the position of column {table.names[one]!r}, but X has a column of that "
                    f"label too; give the label as text, {table.names[one]!r} or {str(one)!r}, or a mask"
                )
            found.add(int(one))
        else:
            raise ParameterTypeError(
                f"categorical holds {shown(one)}; give names or positions of columns, or a mask"
            )
    return found


def named_beside(
    categorical: str | Sequence[str | int] | NDArray[np.bool_], table: Table, known: Schema | None
) -> set[int]:
    """The same for a table whose columns may be known already: those of numbers cannot be named."""
    named = named_columns(categorical, table)
    for column in named:
        if known is not None and (known.categories is None or known.categories[column] is None):
            raise ParameterError(
                f"categorical names column {column}, which is one of numbers in the reference; leave it out"
            )
    return named
