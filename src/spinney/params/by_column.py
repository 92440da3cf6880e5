"""Parameters that say something about columns: one value a column, values by name or position, groups of columns.

A value is checked alone first (`signs`, `groups`, `weights`) and against a table's columns when training starts (`placed`).
`said` names the value in messages; it is written out only in an error.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeVar

from spinney.errors import ParameterError, ParameterTypeError
from spinney.params.short import shown

if TYPE_CHECKING:
    from spinney.params.config import Config

Key = str | int
Signs = tuple[int, ...] | tuple[tuple[Key, int], ...]
Groups = tuple[tuple[Key, ...], ...]
Weights = tuple[float, ...] | tuple[tuple[Key, float], ...]

N = TypeVar("N", int, float)

# int() also reads the digits of other scripts, and underscores between digits.
_WHOLE = re.compile("[+-]?[0-9]{1,9}")


def signs(value: object, said: object) -> Signs | None:
    """Check `monotone_constraints`; nothing in it is the same as None.

    Examples
    --------
    >>> signs("(1,0,-1)", "")
    (1, 0, -1)
    >>> signs({"age": 1, 3: -1}, "")
    (('age', 1), (3, -1))
    """
    if isinstance(value, str):
        words = value.strip()
        if words[:1] + words[-1:] in ("()", "[]"):
            words = words[1:-1]
        parts = [part.strip() for part in words.split(",")] if words.strip() else []
        if not all(map(_WHOLE.fullmatch, parts)):
            raise ParameterError(
                f"{said} must be written like '(1,0,-1)' or '1,0,-1', one whole number a column"
            )
        value = [int(part) for part in parts]
    return _values(value, said, _sign, "-1, 0 or 1") or None


def weights(value: object, said: object) -> Weights | None:
    """Check `feature_weights`.

    Examples
    --------
    >>> weights({"age": 2}, "")
    (('age', 2.0),)
    """
    found = _values(value, said, _weight, "a finite number of 0 or more")
    if found and not _pairs(found) and not any(found):
        raise ParameterError(f"{said} leaves no column to draw: give at least one of them a weight above 0")
    return found or None


def groups(value: object, said: object) -> Groups | None:
    """Check `interaction_constraints`; a column that is twice in a group counts once.

    Examples
    --------
    >>> groups([["age", "height"], [0, 3, 3]], "")
    (('age', 'height'), (0, 3))
    >>> groups("[[0, 1], [2, 3]]", "")
    ((0, 1), (2, 3))
    """
    like = "like [['age', 'height'], [0, 3]]: groups of column names or positions"
    if isinstance(value, str):
        value = _parsed(value)
        if value is None:
            raise ParameterError(f"{said} must be a list of groups, {like}")
    if not isinstance(value, Sequence | Set) or isinstance(value, bytes | bytearray):
        raise ParameterTypeError(
            f"{said} must be a list of groups, {like}; found an object of type {type(value).__name__}"
        )
    found = []
    for given in value:
        group = given.tolist() if hasattr(given, "tolist") else given
        if not isinstance(group, Sequence | Set) or isinstance(group, str | bytes | bytearray):
            raise ParameterTypeError(f"{said} must hold groups, {like}; found {shown(given)}")
        keys = [_key(key, said) for key in group]
        if isinstance(group, Set):
            # A set has no order of its own, and equal parameters must be written as equal bytes.
            keys.sort(key=lambda key: (isinstance(key, str), key))
        if not keys:
            raise ParameterError(f"{said} holds an empty group; leave it out")
        found.append(tuple(dict.fromkeys(keys)))
    return tuple(found) or None


def placed(
    config: Config, names: Sequence[str] | None, columns: int, categorical: Iterable[int] = ()
) -> Config:
    """Say all about columns by position, for a table that has these columns.

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
    >>> placed(Config(monotone_constraints={"b": 1}), ("a", "b"), 2).monotone_constraints
    (0, 1)
    """
    told: dict[str, Any] = found_places(config, names, columns, categorical)
    for name, otherwise in (("monotone_constraints", 0), ("feature_weights", 1.0)):
        if name in told:
            told[name] = tuple(told[name].get(column, otherwise) for column in range(columns))
    return replace(config, **told) if told else config


def found_places(
    config: Config, names: Sequence[str] | None, columns: int, categorical: Iterable[int] = ()
) -> dict[str, Any]:
    """Check what is said about columns, as `placed` does, without a value for every column of what may be a huge table.

    Returns
    -------
    dict
        Directions and weights by position, and groups of positions, of those parameters that were given.
    """
    where = _Columns(names, columns)
    told: dict[str, Any] = {}
    if config.monotone_constraints is not None:
        found = where.directions("monotone_constraints", config.monotone_constraints, categorical)
        told["monotone_constraints"] = found
    if config.feature_weights is not None:
        heavy = where.values("feature_weights", config.feature_weights)
        if len(heavy) == columns and not any(heavy.values()):
            raise ParameterError(
                "feature_weights leaves no column to draw: give one of them a weight above 0"
            )
        told["feature_weights"] = heavy
    if config.interaction_constraints is not None:
        told["interaction_constraints"] = tuple(
            tuple(sorted({where.place("interaction_constraints", key) for key in group}))
            for group in config.interaction_constraints
        )
    return told


def placed_directions(
    parameter: str,
    value: Signs,
    names: Sequence[str] | None,
    columns: int,
    categorical: Iterable[int] = (),
) -> tuple[int, ...]:
    """One direction a column, of a parameter that may give them by name; errors are those of `placed`.

    Examples
    --------
    >>> placed_directions("monotonic_cst", (("b", 1),), ("a", "b", "c"), 3)
    (0, 1, 0)
    """
    found = _Columns(names, columns).directions(parameter, value, categorical)
    return tuple(found.get(column, 0) for column in range(columns))


def placed_column(parameter: str, key: object, names: Sequence[str] | None, columns: int) -> int:
    """Position of a column that is given by name or position; errors are those of `placed`.

    Examples
    --------
    >>> placed_column("columns", "b", ("a", "b"), 2), placed_column("columns", 0, ("a", "b"), 2)
    (1, 0)
    """
    return _Columns(names, columns).place(parameter, _key(key, parameter))


class _Columns:
    """The columns of a table, by name and position."""

    def __init__(self, names: Sequence[str] | None, columns: int) -> None:
        self._names, self._columns = names, columns
        self._place = {name: at for at, name in enumerate(names or ())}

    def said(self, column: int) -> str:
        return f"column {column}" if self._names is None else f"column {self._names[column]!r}"

    def place(self, parameter: str, key: Key) -> int:
        """Position of a column."""
        if isinstance(key, int):
            if key < self._columns:
                return key
            raise ParameterError(
                f"{parameter} speaks of column {shown(key)}, but there are {self._columns} columns: give a position from 0 to "
                f"{self._columns - 1}"
            )
        if key in self._place:
            return self._place[key]
        hint = (
            "the table has no column names, so give positions"
            if self._names is None
            else f"the columns are {shown(list(self._names))}"
        )
        raise ParameterError(f"{parameter} speaks of the unknown column {shown(key)}; {hint}")

    def directions(self, parameter: str, value: Signs, categorical: Iterable[int]) -> dict[int, int]:
        """Directions by position."""
        found = self.values(parameter, value)
        for column in categorical:
            if found.get(column):
                raise ParameterError(
                    f"{parameter} gives the direction {found[column]} to {self.said(column)}, which is categorical; "
                    "categories have no order, so leave it at 0"
                )
        return found

    def values(self, parameter: str, value: Signs | Weights) -> dict[int, Any]:
        """Values by position."""
        if not _pairs(value) and len(value) != self._columns:
            raise ParameterError(
                f"{parameter} has {len(value)} values, but there are {self._columns} columns: give one a column, or a "
                "mapping of names or positions to values"
            )
        found: dict[int, Any] = {}
        for at, item in enumerate(value):
            if not isinstance(item, tuple):
                found[at] = item
                continue
            column = self.place(parameter, item[0])
            if column in found:
                raise ParameterError(f"{parameter} speaks of {self.said(column)} twice; give it one value")
            found[column] = item[1]
        return found


def _pairs(value: Sequence[object]) -> bool:
    return bool(value) and isinstance(value[0], tuple)


def _values(value: object, said: object, read: Callable[[object, object], N | None], right: str) -> Any:
    """One number a column, or pairs of a column and its number."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    items = [[key, of] for key, of in value.items()] if isinstance(value, Mapping) else value
    if not isinstance(items, Sequence) or isinstance(items, str | bytes | bytearray):
        raise ParameterTypeError(
            f"{said} must be a list of one number a column, or a mapping of column names or positions to numbers, not an "
            f"object of type {type(value).__name__}"
        )
    found: list[object] = []
    for item in items:
        pair = isinstance(item, list | tuple) and len(item) == 2
        number = read(item[1] if pair else item, said)
        if number is None:
            raise ParameterError(f"{said} holds {shown(item)}: a value must be {right}")
        found.append((_key(item[0], said), number) if pair else number)
    if len({type(item) for item in found}) > 1:
        raise ParameterError(f"{said} mixes values by position with values by name; give one kind only")
    return tuple(found)


def _number(value: object, said: object) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise ParameterTypeError(f"{said} must hold only numbers; found {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _sign(value: object, said: object) -> int | None:
    number = _number(value, said)
    return int(number) if number in (-1.0, 0.0, 1.0) else None


def _weight(value: object, said: object) -> float | None:
    number = _number(value, said)
    # Adding zero turns -0.0 into 0.0.
    return number + 0.0 if 0.0 <= number < math.inf else None


def _key(value: object, said: object) -> Key:
    if isinstance(value, str):
        return str.__str__(value)
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise ParameterTypeError(
            f"{said} names a column by {shown(value)}; give a column's name or its position"
        )
    if value < 0:
        raise ParameterError(f"{said} speaks of column {shown(int(value))}; positions count from 0")
    return int(value)


def _parsed(text: str) -> list[list[object]] | None:
    """Groups written as text: a list of lists, or lists with commas between them. None where it is neither."""
    for whole in (text, f"[{text}]"):
        try:
            found = json.loads(whole)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, list) and all(isinstance(group, list) for group in found):
            return found
    return None
