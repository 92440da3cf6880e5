"""Parameters, labels and metrics as values that JSON can hold, and back. What is read back is not trusted."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, fields
from itertools import pairwise
from reprlib import repr as short_repr
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.errors import DataError, ModelFormatError, ParameterTypeError
from spinney.messages import shown
from spinney.params.parameter import as_float
from spinney.training.callbacks import REASONS, AutoRounds

# A text dtype may be wider than its longest label, but a file must not make labels take far more memory than it has bytes.
WIDEST_SPARE = 64
_DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
           "float16", "float32", "float64", "object")  # fmt: skip
_ODD_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class NotJsonError(Exception):
    """A value that no file can hold."""


def write_value(value: object) -> object:
    """A parameter as JSON holds it.

    Raises
    ------
    NotJsonError
        It is, or holds, something else than numbers, text, truth values and None, or a mapping has other keys.

    Examples
    --------
    >>> write_value((1, None)), write_value({"oak": 2.0})
    ({'tuple': [1, None]}, {'pairs': [['oak', 2.0]]})
    """
    value = plain(value)
    if isinstance(value, tuple):
        return {"tuple": [write_value(one) for one in value]}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return [write_value(one) for one in value]
    if isinstance(value, Set):
        return [_write_one(one) for one in in_order(value)]
    if isinstance(value, Mapping):
        return {"pairs": [[_write_one(key), write_value(one)] for key, one in value.items()]}
    return _write_one(value)


def write_columns(categorical: object) -> object:
    """`categorical` as JSON holds it: "auto" or a list. Which columns there are is seen when a table is fitted.

    Raises
    ------
    ParameterTypeError
        It names no columns.
    NotJsonError
        It can be read once only.

    Examples
    --------
    >>> write_columns({"town": 1, "zip": 2}), write_columns(range(2)), write_columns("auto")
    (['town', 'zip'], [0, 1], 'auto')
    """
    found = plain(categorical)
    if isinstance(found, str) and found == "auto":
        return "auto"
    if isinstance(found, Iterator):
        raise NotJsonError
    named = found if isinstance(found, Collection) and not isinstance(found, str | bytes) else [None]
    columns = [plain(one) for one in (in_order(named) if isinstance(named, Set) else named)]
    if not all(isinstance(one, str | int) for one in columns):
        raise ParameterTypeError(f"categorical={shown(categorical)} must be 'auto' or a list of columns")
    return [_write_one(one) for one in columns]


def plain(value: object) -> object:
    """Python's own form of NumPy's numbers and arrays, and of columns of frames.

    Examples
    --------
    >>> plain(np.array([1, 2])), plain(range(2)), plain(None)
    ([1, 2], range(0, 2), None)
    """
    for name in ("tolist", "to_list", "to_pylist"):
        read = getattr(value, name, None)
        if callable(read):
            return read()
    return value


def in_order(values: Set[Any]) -> list[Any]:
    """A set as a list: it has no order of its own, and equal parameters must be written as equal bytes.

    Examples
    --------
    >>> in_order({"oak", 3, "ash", 1})
    [1, 3, 'ash', 'oak']
    """
    try:
        return sorted(values, key=lambda one: (isinstance(one, str), one))
    except TypeError as error:
        raise NotJsonError from error


def _write_one(value: object) -> object:
    value = plain(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and _is_text(value):
        return str(value)
    if isinstance(value, numbers.Integral) and -(2**63) <= int(value) < 2**64:
        return int(value)
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        number = as_float(value)
        if math.isfinite(number):
            return number
    raise NotJsonError


def read_value(found: object) -> object:
    """What `write_value` wrote.

    Examples
    --------
    >>> read_value({"pairs": [["oak", 2.0]]})
    {'oak': 2.0}
    """
    if isinstance(found, list):
        return [read_value(one) for one in found]
    if not isinstance(found, dict):
        return found
    if found.keys() == {"tuple"} and isinstance(found["tuple"], list):
        return tuple(read_value(one) for one in found["tuple"])
    pairs = found.get("pairs")
    if found.keys() != {"pairs"} or not isinstance(pairs, list):
        raise ModelFormatError(f"a parameter is an object that stands for nothing: {short_repr(found)}")
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise ModelFormatError(f"a mapping must be a list of pairs, not {short_repr(pairs)}")
    if any(isinstance(key, list | dict) for key, _ in pairs):
        raise ModelFormatError("a mapping has a key that is neither text nor a number")
    mapping = {key: read_value(value) for key, value in pairs}
    if len(mapping) < len(pairs):
        raise ModelFormatError("a mapping has a key twice")
    return mapping


def write_classes(classes: NDArray[Any]) -> dict[str, object]:
    """Labels with their dtype.

    Examples
    --------
    >>> write_classes(np.array([False, True]))
    {'dtype': 'bool', 'values': [False, True]}
    """
    values = classes.tolist()
    for label in values:
        if isinstance(label, str) and not _is_text(label):
            raise DataError(f"the label {label!r:.60} is no text that UTF-8 can hold; choose another one")
    if classes.dtype.kind != "U":
        return {
            "dtype": classes.dtype.name,
            "values": [str(one) if isinstance(one, str) else one for one in values],
        }
    width, longest = classes.dtype.itemsize // 4, max(map(len, values))
    return {"dtype": f"U{width if width <= WIDEST_SPARE else longest}", "values": values}


def read_classes(found: object) -> NDArray[Any]:
    """What `write_classes` wrote: labels that are distinct, ascending and of one type.

    Examples
    --------
    >>> read_classes({"dtype": "U3", "values": ["ash", "oak"]})
    array(['ash', 'oak'], dtype='<U3')
    """
    if not isinstance(found, dict) or found.keys() != {"dtype", "values"}:
        raise ModelFormatError(f"classes must have a dtype and values, not {short_repr(found)}")
    dtype, values = found["dtype"], found["values"]
    if not isinstance(values, list) or not values:
        raise ModelFormatError(f"the values of classes must be a list of labels, not {short_repr(values)}")
    kind = _dtype(dtype, values)
    wanted = {"b": bool, "i": int, "u": int, "f": float}.get(kind.kind, str)
    odd = next((one for one in values if type(one) is not wanted), None)
    if odd is not None or None in values:
        raise ModelFormatError(f"labels of dtype {kind} cannot hold {short_repr(odd)}")
    if any(not one < other for one, other in pairwise(values)):
        raise ModelFormatError("labels must be distinct, and stand in ascending order")
    try:
        with np.errstate(over="ignore"):
            classes = np.array(values, kind)
    except OverflowError as error:
        raise ModelFormatError(f"a label does not fit dtype {kind}") from error
    if classes.tolist() != values:
        raise ModelFormatError(f"a label does not fit dtype {kind}")
    return classes


def _dtype(name: object, values: list[Any]) -> np.dtype[Any]:
    if isinstance(name, str) and name in _DTYPES:
        return np.dtype(name)
    if (
        isinstance(name, str)
        and name[:1] == "U"
        and len(name) < 12
        and name[1:].isdecimal()
        and name.isascii()
    ):
        longest = max((len(one) for one in values if isinstance(one, str)), default=0)
        if max(longest, 1) <= int(name[1:]) <= max(longest, WIDEST_SPARE):
            return np.dtype(f"U{int(name[1:])}")
    raise ModelFormatError(f"classes cannot have the dtype {short_repr(name)}")


def write_evals(evals: Mapping[str, Mapping[str, list[float]]]) -> dict[str, object]:
    """Metrics of the rounds; numbers that are not finite are written as text."""
    return {
        name: {metric: [write_number(value) for value in values] for metric, values in metrics.items()}
        for name, metrics in evals.items()
    }


def read_evals(found: object, rounds: int, used: int) -> dict[str, dict[str, list[float]]]:
    """What `write_evals` wrote of a model of so many rounds, of which so many are used to predict.

    Values are those of the last rounds, and reach back to the last one that is used.
    """
    if not isinstance(found, dict) or not all(isinstance(metrics, dict) for metrics in found.values()):
        raise ModelFormatError(f"evals must map data sets to metrics, not {short_repr(found)}")
    for metrics in found.values():
        for values in metrics.values():
            if not isinstance(values, list) or not rounds - used < len(values) <= rounds:
                raise ModelFormatError(
                    f"the values of a metric must be a list of {rounds - used + 1} to {rounds} numbers, not {short_repr(values)}"
                )
    if len({len(values) for metrics in found.values() for values in metrics.values()}) > 1:
        raise ModelFormatError("metrics must have as many values as each other")
    return {
        name: {metric: [read_number(value) for value in values] for metric, values in metrics.items()}
        for name, metrics in found.items()
    }


def write_auto(auto: AutoRounds | None) -> dict[str, object] | None:
    """What a search for the number of rounds did."""
    if auto is None:
        return None
    return {**asdict(auto), "score": None if auto.score is None else write_number(auto.score)}


def read_auto(found: object) -> AutoRounds | None:
    """What `write_auto` wrote.

    Examples
    --------
    >>> read_auto(write_auto(AutoRounds(9, 7, 60, "rmse", 0.5, True, "patience"))).chosen
    7
    """
    if found is None:
        return None
    names = [one.name for one in fields(AutoRounds)]
    if not isinstance(found, dict) or found.keys() != set(names):
        raise ModelFormatError(f"auto must have {', '.join(names)}, not {short_repr(found)}")
    tried, chosen, rows = (found[name] for name in ("tried", "chosen", "holdout_rows"))
    counts = all(type(one) is int for one in (tried, chosen, rows))
    if not counts or not 0 <= chosen <= tried < 2**63 or not 0 <= rows < 2**63:
        raise ModelFormatError(
            f"auto must have chosen some of the rounds that it tried, not {short_repr((chosen, tried, rows))}"
        )
    metric, score = found["metric"], found["score"]
    if (metric is None) != (score is None) or not (metric is None or isinstance(metric, str)):
        raise ModelFormatError(f"auto must have a metric and its score, not {short_repr((metric, score))}")
    if type(found["refitted"]) is not bool or found["stopped_by"] not in sorted(REASONS):
        raise ModelFormatError(
            f"auto cannot have stopped by {short_repr(found['stopped_by'])}, refitted {short_repr(found['refitted'])}"
        )
    return AutoRounds(**{**found, "score": None if score is None else read_number(score)})


def write_number(value: float) -> float | str:
    """A number; one that is not finite is written as text."""
    number = float(value)
    return number if math.isfinite(number) else str(number)


def read_number(found: object) -> float:
    """What `write_number` wrote."""
    if type(found) is float or type(found) is int:
        return float(found)
    if isinstance(found, str) and found in _ODD_NUMBERS:
        return _ODD_NUMBERS[found]
    raise ModelFormatError(f"a metric's value must be a number, not {short_repr(found)}")


def _is_text(text: str) -> bool:
    """Whether UTF-8 can hold a text; half of a surrogate pair it cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
