"""What belongs to the rows of a partition, y or weights for one: read as arrays, and compared with that of other partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.array import plain_array
from spinney.data.frame import frame_names, frame_vectors, is_frame
from spinney.errors import DataError, DataTypeError

_LARGE = 2.0**53  # whole numbers beyond cannot all be told apart as floating-point ones


@dataclass(frozen=True)
class Side:
    """What the client learns of it.

    Attributes
    ----------
    shape : tuple of int
        That of a row.
    kind : str
        What values are, in words. NumPy would join numbers and text as text.
    dtype : dtype
        Their type.
    large : bool
        Whether they are whole numbers some of which floating-point numbers cannot tell apart.
    names : tuple of str, optional
        Of the columns, where a frame has several.
    """

    shape: tuple[int, ...]
    kind: str
    dtype: np.dtype[Any]
    large: bool = False
    names: tuple[str, ...] | None = None


def array_of(values: Any, what: str) -> NDArray[Any] | None:
    """Values of any type as an array, a column each where there are several."""
    if values is None:
        return None
    if is_frame(values):
        columns = frame_vectors(values, what)
        return columns[0] if len(columns) == 1 else np.column_stack(columns)
    found = plain_array(values, what) if getattr(values, "dtype", np.dtype("f8")).names is None else values
    if found.ndim == 0:
        raise DataTypeError(f"{what} is a single value, {found.item()!r:.40}; give one for each row")
    return found


def side_of(values: Any, what: str) -> Side | None:
    """What is known of values; None where there are none."""
    found = array_of(values, what)
    if found is None:
        return None
    names = frame_names(values) if is_frame(values) and found.ndim > 1 else None
    large = found.dtype.kind in "iu" and bool((np.abs(found.astype(np.float64)) > _LARGE).any())
    return Side(found.shape[1:], _kind_of(found), found.dtype, large, names)


def _kind_of(values: NDArray[Any]) -> str:
    """The kind of values in words, "" if there is none to go by. Text is text, however it is kept."""
    kind = values.dtype.kind
    if kind == "O":
        known = (one for one in values.flat if isinstance(one, str | bytes | Number) and one == one)
        first = next(known, None)
        return "" if first is None else "numbers" if isinstance(first, Number) else "text"
    return "numbers" if kind in "biufc" else "text" if kind in "US" else str(values.dtype)


def check_sides(name: str, sides: Sequence[Side | None], titles: Sequence[str]) -> None:
    """Refuse partitions of which some have none, or values that cannot be joined with those of the first. All have rows.

    Examples
    --------
    >>> check_sides("y", [side_of([1.5], "y"), None], ["partition 0", "partition 1"])
    Traceback (most recent call last):
    ...
    spinney.errors.DataError: partition 1 has no y, but partition 0 has; give it for all partitions or for none
    """
    first = sides[0] if sides else None
    for side, title in zip(sides, titles, strict=True):
        if side is None or first is None:
            if side is not first:
                none, one = (title, titles[0]) if side is None else (titles[0], title)
                raise DataError(
                    f"{none} has no {name}, but {one} has; give it for all partitions or for none"
                )
            continue
        if side.kind and first.kind and side.kind != first.kind:
            raise DataTypeError(
                f"{title}: {name} holds {side.kind}, but {first.kind} in {titles[0]}; give every partition the same dtype"
            )
        if side.shape != first.shape:
            raise DataError(
                f"{title}: {name} has {_columns(side)}, but {_columns(first)} in {titles[0]}; give every partition as many"
            )
        if side.names and first.names and side.names != first.names:
            raise DataError(
                f"{title}: {name} has the columns {', '.join(side.names)}, but {', '.join(first.names)} in {titles[0]}; give "
                "every partition the same"
            )
    _check_large(name, [side for side in sides if side is not None], titles)


def _check_large(name: str, sides: Sequence[Side], titles: Sequence[str]) -> None:
    """Refuse large whole numbers that would be joined with others as floating-point ones."""
    large = next((at for at, side in enumerate(sides) if side.large), None)
    numbers = [side.dtype for side in sides if side.dtype.kind in "biuf"]
    if large is None or np.result_type(*numbers).kind != "f":
        return
    own = sides[large].dtype
    other = next(at for at, side in enumerate(sides) if np.result_type(side.dtype, own).kind == "f")
    raise DataTypeError(
        f"{titles[other]}: {name} is {sides[other].dtype}, but {titles[large]} has {own} beyond 2**53, and together they would "
        "be rounded; give every partition the same dtype"
    )


def _columns(side: Side) -> str:
    return f"{side.shape[0]} columns" if side.shape else "one dimension"
