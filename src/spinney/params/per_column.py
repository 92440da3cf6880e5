"""Parameters about columns: one value a column, values by name or position, groups of columns.

A value is checked alone first, by its declaration, and against a table's columns when training starts: `check_columns`,
`resolve_columns`. `shown_value` names the value in messages; its text is made only in an error.
"""

from __future__ import annotations

import json
import math
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from spinney.errors import ParameterError, ParameterTypeError
from spinney.messages import shown
from spinney.params.parameter import Parameter, ShownValue, T, as_float, declares

if TYPE_CHECKING:
    from spinney.params.boosting import Config

Key = str | int
# One value a column, or pairs of a column and its value.
Directions = tuple[int, ...] | tuple[tuple[Key, int], ...]
Weights = tuple[float, ...] | tuple[tuple[Key, float], ...]
Groups = tuple[tuple[Key, ...], ...]

# int() also reads the digits of other scripts, and underscores between digits.
_INTEGER = re.compile("[+-]?[0-9]{1,9}")
_GROUPS = "like [['age', 'height'], [0, 3]]: groups of column names or positions"


class PerColumnParameter(Parameter[T]):
    """One number a column, or a mapping of column names or positions to numbers; None and nothing at all are the same."""

    def convert(self, value: object, shown_value: ShownValue) -> Any:
        """Give the numbers, or pairs of a column and its number."""
        return _values(value, shown_value, self._number, self._meaning) or None

    @property
    @abstractmethod
    def _meaning(self) -> str:
        """What a number may be, in words."""

    @abstractmethod
    def _number(self, value: object, shown_value: ShownValue) -> float | None:
        """The number of a column, None where it is out of range."""


class ColumnDirectionsParameter(PerColumnParameter[Directions | None]):
    """A direction for each column, -1, 0 or 1.

    Examples
    --------
    >>> directions = ColumnDirectionsParameter(None, group="growing a tree", doc="")
    >>> directions.check("(1,0,-1)"), directions.check({"age": 1, 3: -1})
    ((1, 0, -1), (('age', 1), (3, -1)))
    """

    kind = "sequence of int, mapping or None"
    annotation = "Sequence[int] | Mapping[str | int, int] | str | None"
    range = ">= -1 and <= 1"
    _meaning = "-1, 0 or 1"

    def convert(self, value: object, shown_value: ShownValue) -> Any:
        """Read text too, as XGBoost and LightGBM have it."""
        if isinstance(value, str):
            text = value.strip()
            if text[:1] + text[-1:] in ("()", "[]"):
                text = text[1:-1]
            parts = [part.strip() for part in text.split(",")] if text.strip() else []
            if not all(map(_INTEGER.fullmatch, parts)):
                raise ParameterError(
                    f"{shown_value} must be written like '(1,0,-1)' or '1,0,-1', one whole number a column"
                )
            value = [int(part) for part in parts]
        return super().convert(value, shown_value)

    def _number(self, value: object, shown_value: ShownValue) -> int | None:
        number = _float(value, shown_value)
        return int(number) if number in (-1.0, 0.0, 1.0) else None


class ColumnWeightsParameter(PerColumnParameter[Weights | None]):
    """A weight for each column.

    Examples
    --------
    >>> ColumnWeightsParameter(None, group="sampling", doc="").check({"age": 2})
    (('age', 2.0),)
    """

    kind = "sequence of float, mapping or None"
    annotation = "ArrayLike | Mapping[str | int, float] | None"
    range = ">= 0"
    _meaning = "a finite number of 0 or more"

    def convert(self, value: object, shown_value: ShownValue) -> Any:
        """Refuse weights of 0 for all columns."""
        found = super().convert(value, shown_value)
        if found and not _has_pairs(found) and not any(found):
            raise ParameterError(
                f"{shown_value} leaves no column to draw: give at least one of them a weight above 0"
            )
        return found

    def _number(self, value: object, shown_value: ShownValue) -> float | None:
        number = _float(value, shown_value)
        # Adding zero turns -0.0 into 0.0.
        return number + 0.0 if 0.0 <= number < math.inf else None


class ColumnGroupsParameter(Parameter[Groups | None]):
    """Groups of columns; a column that is twice in a group counts once.

    Examples
    --------
    >>> groups = ColumnGroupsParameter(None, group="growing a tree", doc="")
    >>> groups.check([["age", "height"], [0, 3, 3]]), groups.check("[[0, 1], [2, 3]]")
    ((('age', 'height'), (0, 3)), ((0, 1), (2, 3)))
    """

    kind = "sequence of sequences or None"
    annotation = "Sequence[Sequence[str | int]] | str | None"
    range = "names or positions of columns"

    def convert(self, value: object, shown_value: ShownValue) -> Groups | None:
        """Read text too, as XGBoost and LightGBM have it."""
        if isinstance(value, str):
            value = _parsed(value)
            if value is None:
                raise ParameterError(f"{shown_value} must be a list of groups, {_GROUPS}")
        if not isinstance(value, Sequence | Set) or isinstance(value, bytes | bytearray):
            raise ParameterTypeError(
                f"{shown_value} must be a list of groups, {_GROUPS}; found an object of type {type(value).__name__}"
            )
        return tuple(_group(given, shown_value) for given in value) or None


ColumnDirections = declares(ColumnDirectionsParameter)
ColumnWeights = declares(ColumnWeightsParameter)
ColumnGroups = declares(ColumnGroupsParameter)


def resolve_columns(
    config: Config, names: Sequence[str] | None, columns: int, categorical: Iterable[int] = ()
) -> Config:
    """Give everything about columns by position, for a table that has these columns.

    Parameters
    ----------
    config : Config
        Parameters.
    names : sequence of str, or None
        Names of the columns, if they have any.
    columns : int
        Number of columns.
    categorical : iterable of int
        Positions of the columns that are not numbers.

    Returns
    -------
    Config
        The same with one direction and one weight a column, and groups of positions, ascending.

    Raises
    ------
    ParameterError
        If a column is unknown or named twice, there are too few or too many values, or a categorical column has a direction.

    Examples
    --------
    >>> from spinney.params import Config
    >>> resolve_columns(Config(monotone_constraints={"b": 1}), ("a", "b"), 2).monotone_constraints
    (0, 1)
    """
    resolved = check_columns(config, names, columns, categorical)
    for name, otherwise in (("monotone_constraints", 0), ("feature_weights", 1.0)):
        if name in resolved:
            by_position = resolved[name]
            resolved[name] = tuple(by_position.get(column, otherwise) for column in range(columns))
    return replace(config, **resolved) if resolved else config


def check_columns(
    config: Config, names: Sequence[str] | None, columns: int, categorical: Iterable[int] = ()
) -> dict[str, Any]:
    """Check what is given about columns, as `resolve_columns` does, without a value for every column of what may be a huge table.

    Returns
    -------
    dict
        Directions and weights by position, and groups of positions, of those parameters that were given.
    """
    table = _Columns(names, columns)
    resolved: dict[str, Any] = {}
    if config.monotone_constraints is not None:
        found = table.directions("monotone_constraints", config.monotone_constraints, categorical)
        resolved["monotone_constraints"] = found
    if config.feature_weights is not None:
        weights = table.values("feature_weights", config.feature_weights)
        if len(weights) == columns and not any(weights.values()):
            raise ParameterError(
                "feature_weights leaves no column to draw: give one of them a weight above 0"
            )
        resolved["feature_weights"] = weights
    if config.interaction_constraints is not None:
        resolved["interaction_constraints"] = tuple(
            tuple(sorted({table.position("interaction_constraints", key) for key in group}))
            for group in config.interaction_constraints
        )
    return resolved


def resolve_directions(
    parameter: str,
    value: Directions,
    names: Sequence[str] | None,
    columns: int,
    categorical: Iterable[int] = (),
) -> tuple[int, ...]:
    """One direction a column, of a parameter that may give them by name; errors are those of `resolve_columns`.

    Examples
    --------
    >>> resolve_directions("monotonic_cst", (("b", 1),), ("a", "b", "c"), 3)
    (0, 1, 0)
    """
    found = _Columns(names, columns).directions(parameter, value, categorical)
    return tuple(found.get(column, 0) for column in range(columns))


def resolve_column(parameter: str, key: object, names: Sequence[str] | None, columns: int) -> int:
    """Position of a column that is given by name or position; errors are those of `resolve_columns`.

    Examples
    --------
    >>> resolve_column("columns", "b", ("a", "b"), 2), resolve_column("columns", 0, ("a", "b"), 2)
    (1, 0)
    """
    return _Columns(names, columns).position(parameter, _key(key, parameter))


class _Columns:
    """The columns of a table, by name and position."""

    def __init__(self, names: Sequence[str] | None, columns: int) -> None:
        self._names, self._columns = names, columns
        self._positions = {name: position for position, name in enumerate(names or ())}

    def shown(self, column: int) -> str:
        """A column as messages show it."""
        return f"column {column}" if self._names is None else f"column {self._names[column]!r}"

    def position(self, parameter: str, key: Key) -> int:
        """Position of a column."""
        if isinstance(key, int):
            if key < self._columns:
                return key
            raise ParameterError(
                f"{parameter} names column {shown(key)}, but there are {self._columns} columns: give a position from 0 to "
                f"{self._columns - 1}"
            )
        if key in self._positions:
            return self._positions[key]
        hint = (
            "the table has no column names, so give positions"
            if self._names is None
            else f"the columns are {shown(list(self._names))}"
        )
        raise ParameterError(f"{parameter} names the unknown column {shown(key)}; {hint}")

    def directions(self, parameter: str, value: Directions, categorical: Iterable[int]) -> dict[int, int]:
        """Directions by position."""
        found = self.values(parameter, value)
        for column in categorical:
            if found.get(column):
                raise ParameterError(
                    f"{parameter} gives the direction {found[column]} to {self.shown(column)}, which is categorical; "
                    "categories have no order, so leave it at 0"
                )
        return found

    def values(self, parameter: str, value: Directions | Weights) -> dict[int, Any]:
        """Values by position."""
        if not _has_pairs(value) and len(value) != self._columns:
            raise ParameterError(
                f"{parameter} has {len(value)} values, but there are {self._columns} columns: give one a column, or a "
                "mapping of names or positions to values"
            )
        found: dict[int, Any] = {}
        for position, item in enumerate(value):
            if not isinstance(item, tuple):
                found[position] = item
                continue
            column = self.position(parameter, item[0])
            if column in found:
                raise ParameterError(f"{parameter} names {self.shown(column)} twice; give it one value")
            found[column] = item[1]
        return found


def _has_pairs(value: Sequence[object]) -> bool:
    return bool(value) and isinstance(value[0], tuple)


def _group(given: Any, shown_value: ShownValue) -> tuple[Key, ...]:
    group = given.tolist() if hasattr(given, "tolist") else given
    if not isinstance(group, Sequence | Set) or isinstance(group, str | bytes | bytearray):
        raise ParameterTypeError(f"{shown_value} must hold groups, {_GROUPS}; found {shown(given)}")
    keys = [_key(key, shown_value) for key in group]
    if isinstance(group, Set):
        # A set has no order of its own, and equal parameters must be written as equal bytes.
        keys.sort(key=lambda key: (isinstance(key, str), key))
    if not keys:
        raise ParameterError(f"{shown_value} holds an empty group; leave it out")
    return tuple(dict.fromkeys(keys))


def _values(
    value: object,
    shown_value: ShownValue,
    read: Callable[[object, ShownValue], float | None],
    meaning: str,
) -> tuple[Any, ...]:
    """One number a column, or pairs of a column and its number."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    items = [[key, of] for key, of in value.items()] if isinstance(value, Mapping) else value
    if not isinstance(items, Sequence) or isinstance(items, str | bytes | bytearray):
        raise ParameterTypeError(
            f"{shown_value} must be a list of one number a column, or a mapping of column names or positions to numbers, not "
            f"an object of type {type(value).__name__}"
        )
    found: list[object] = []
    for item in items:
        pair = isinstance(item, list | tuple) and len(item) == 2
        number = read(item[1] if pair else item, shown_value)
        if number is None:
            raise ParameterError(f"{shown_value} holds {shown(item)}: a value must be {meaning}")
        found.append((_key(item[0], shown_value), number) if pair else number)
    if len({type(item) for item in found}) > 1:
        raise ParameterError(
            f"{shown_value} mixes values by position with values by name; give one kind only"
        )
    return tuple(found)


def _float(value: object, shown_value: ShownValue) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise ParameterTypeError(f"{shown_value} must hold only numbers; found {shown(value)}")
    return as_float(value)


def _key(value: object, parameter: object) -> Key:
    """The name or position of a column; `parameter` stands for it in messages."""
    if isinstance(value, str):
        return str.__str__(value)
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise ParameterTypeError(
            f"{parameter} names a column by {shown(value)}; give a column's name or its position"
        )
    if value < 0:
        raise ParameterError(f"{parameter} names column {shown(int(value))}; positions count from 0")
    return int(value)


def _parsed(text: str) -> list[list[object]] | None:
    """Groups written as text: a list of lists, or lists with commas between them. None where it is neither."""
    for candidate in (text, f"[{text}]"):
        try:
            found = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, list) and all(isinstance(group, list) for group in found):
            return found
    return None
