"""What belongs to the rows of a partition, y or weights for one: read as arrays, and compared with that of other partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.array import plain_array
from spinney.data.frame import frame_names, frame_vectors, is_frame
from spinney.errors import DataError, DataTypeError

_FAMILIES = {
    "b": "booleans",
    "i": "whole numbers",
    "u": "unsigned whole numbers",
    "f": "numbers",
    "U": "text",
    "S": "bytes",
}


@dataclass(frozen=True)
class Side:
    """What the client learns of it: the shape of a row, what kind of values, and names of columns where a frame has several.

    Kinds must be the same: NumPy would join numbers and text as text, and whole numbers of two signs as floating-point ones.
    """

    shape: tuple[int, ...]
    kind: str
    names: tuple[str, ...] | None


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


def side_of(values: Any, what: str, *, numbers: bool = False) -> Side | None:
    """What is known of values; None where there are none. Where they become `numbers` anyway, their kind does not matter."""
    found = array_of(values, what)
    if found is None:
        return None
    names = frame_names(values, what) if is_frame(values) and found.ndim > 1 else None
    return Side(found.shape[1:], "numbers" if numbers else _kind_of(found), names)


def _kind_of(values: NDArray[Any]) -> str:
    """The kind of values in words. Text is text, however it is kept."""
    if values.dtype.kind != "O":
        return _FAMILIES.get(values.dtype.kind, str(values.dtype))
    first = next((one for one in values.flat if one is not None and one == one), None)
    return "text" if isinstance(first, str) else _FAMILIES.get(np.asarray(first).dtype.kind, "objects")


def check_sides(name: str, sides: Sequence[Side | None], titles: Sequence[str]) -> None:
    """Refuse partitions of which some have none, or values of another kind or shape than the first. All of them have rows.

    Examples
    --------
    >>> check_sides("y", [Side((), "numbers", None), None], ["partition 0", "partition 1"])
    Traceback (most recent call last):
    ...
    spinney.errors.DataError: partition 1 has no y, but partition 0 has; give it for all partitions or for none
    """
    first = sides[0] if sides else None
    for side, title in zip(sides, titles, strict=True):
        if side == first:
            continue
        if side is None or first is None:
            none, one = (title, titles[0]) if side is None else (titles[0], title)
            raise DataError(f"{none} has no {name}, but {one} has; give it for all partitions or for none")
        if side.kind != first.kind:
            raise DataTypeError(
                f"{title}: {name} holds {side.kind}, but {first.kind} in {titles[0]}; give every partition the same dtype"
            )
        if side.shape != first.shape:
            raise DataError(
                f"{title}: {name} has {_columns(side)}, but {_columns(first)} in {titles[0]}; give every partition as many"
            )
        raise DataError(
            f"{title}: {name} has the columns {_names(side)}, but {_names(first)} in {titles[0]}; give every partition the same"
        )


def _columns(side: Side) -> str:
    return f"{side.shape[0]} columns" if side.shape else "one dimension"


def _names(side: Side) -> str:
    return "without names" if side.names is None else ", ".join(map(repr, side.names))
