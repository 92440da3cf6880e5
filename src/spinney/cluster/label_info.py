"""Labels of partitions, such as y or weights, as arrays; and their types and shapes, which must fit those of other partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.arrays import plain_array
from spinney.data.frame import frame_names, frame_vectors, is_frame
from spinney.errors import DataError, DataTypeError

_LARGE = 2.0**53  # whole numbers beyond are not all floating-point numbers


@dataclass(frozen=True)
class LabelInfo:
    """Type and shape of one kind of labels in a partition.

    Attributes
    ----------
    shape : tuple of int
        Shape of a row.
    kind : str
        Kind of the values, in words. NumPy would join numbers and text as text.
    dtype : dtype
        Type of the values.
    large : bool
        Whether they are whole numbers beyond those that floating-point numbers hold exactly.
    names : tuple of str, optional
        Names of the columns, where a frame has several.
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


def label_info(values: Any, what: str) -> LabelInfo | None:
    """Type and shape of values; None where there are none."""
    found = array_of(values, what)
    if found is None:
        return None
    names = frame_names(values) if is_frame(values) and found.ndim > 1 else None
    large = found.dtype.kind in "iu" and bool((np.abs(found.astype(np.float64)) > _LARGE).any())
    return LabelInfo(found.shape[1:], _kind_of(found), found.dtype, large, names)


def _kind_of(values: NDArray[Any]) -> str:
    """The kind of values in words, "" if all are missing. Text is text, however it is kept."""
    kind = values.dtype.kind
    if kind == "O":
        known = (one for one in values.flat if isinstance(one, str | bytes | Number) and one == one)
        first = next(known, None)
        return "" if first is None else "numbers" if isinstance(first, Number) else "text"
    return "numbers" if kind in "biufc" else "text" if kind in "US" else str(values.dtype)


def check_label_info(name: str, infos: Sequence[LabelInfo | None], titles: Sequence[str]) -> None:
    """Refuse partitions of which some have none, or values that cannot be joined with those of the first. All have rows.

    Examples
    --------
    >>> check_label_info("y", [label_info([1.5], "y"), None], ["partition 0", "partition 1"])
    Traceback (most recent call last):
    ...
    spinney.errors.DataError: partition 1 has no y, but partition 0 has; give it for all partitions or for none
    """
    first = infos[0] if infos else None
    for info, title in zip(infos, titles, strict=True):
        if info is None or first is None:
            if info is not first:
                none, one = (title, titles[0]) if info is None else (titles[0], title)
                raise DataError(
                    f"{none} has no {name}, but {one} has; give it for all partitions or for none"
                )
            continue
        if info.kind and first.kind and info.kind != first.kind:
            raise DataTypeError(
                f"{title}: {name} holds {info.kind}, but {first.kind} in {titles[0]}; give every partition the same dtype"
            )
        if info.shape != first.shape:
            raise DataError(
                f"{title}: {name} has {_columns(info)}, but {_columns(first)} in {titles[0]}; give every partition as many"
            )
        if info.names and first.names and info.names != first.names:
            raise DataError(
                f"{title}: {name} has the columns {', '.join(info.names)}, but {', '.join(first.names)} in {titles[0]}; give "
                "every partition the same"
            )
    _check_large(name, [info for info in infos if info is not None], titles)


def _check_large(name: str, infos: Sequence[LabelInfo], titles: Sequence[str]) -> None:
    """Refuse large whole numbers that would be joined with others as floating-point ones."""
    large = next((at for at, info in enumerate(infos) if info.large), None)
    numbers = [info.dtype for info in infos if info.dtype.kind in "biuf"]
    if large is None or np.result_type(*numbers).kind != "f":
        return
    own = infos[large].dtype
    other = next(at for at, info in enumerate(infos) if np.result_type(info.dtype, own).kind == "f")
    raise DataTypeError(
        f"{titles[other]}: {name} is {infos[other].dtype}, but {titles[large]} has {own} beyond 2**53, and together they would "
        "be rounded; give every partition the same dtype"
    )


def _columns(info: LabelInfo) -> str:
    return f"{info.shape[0]} columns" if info.shape else "one dimension"
