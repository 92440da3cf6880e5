"""`Schema`: the columns of a training table, which a model keeps; and how later tables are matched with it.

Also here: the columns that a user names as categorical (`named_categorical`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from reprlib import repr as short_repr
from typing import Self

import numpy as np
from numpy.typing import NDArray

from spinney.data.categories import NUMBERS, TEXT, Categories
from spinney.data.table import Table
from spinney.errors import DataError, ModelFormatError, ParameterError, ParameterTypeError
from spinney.messages import shown
from spinney.params.parameter import is_iterable

SHOWN_NAMES = 10
# A packed node has 30 bits for its column.
MOST_COLUMNS = 2**30 - 1


@dataclass(frozen=True)
class Schema:
    """The columns of a training table.

    Attributes
    ----------
    names : tuple of str, or None
        Column names; None: the table had none.
    columns : int
        Number of columns.
    categories : tuple of Categories or None, or None
        The categories of each categorical column. Those of a column without values are empty: it is not categorical, but may hold
        anything in a later table. None: there is no column of either kind.

    Examples
    --------
    >>> schema = Schema(("age", "height"), 2)
    >>> schema.to_json()
    {'names': ['age', 'height'], 'columns': 2}
    >>> Schema.from_json(schema.to_json()) == schema
    True
    """

    names: tuple[str, ...] | None
    columns: int
    categories: tuple[Categories | None, ...] | None = None

    @property
    def category_counts(self) -> NDArray[np.int64] | None:
        """Number of categories of each column, 0 for a column of numbers or without values; None: no column has any."""
        counts = np.array([0 if one is None else one.count for one in self.categories or ()], np.int64)
        return counts if counts.any() else None

    @property
    def categorical(self) -> tuple[int, ...]:
        """Positions of the categorical columns."""
        return tuple(at for at, one in enumerate(self.categories or ()) if one is not None and one.values)

    @property
    def empty(self) -> tuple[int, ...]:
        """Positions of the columns without values, which may hold anything in a later table."""
        return tuple(at for at, one in enumerate(self.categories or ()) if one is not None and not one.values)

    def filled(self, found: tuple[Categories | None, ...] | None) -> Self:
        """The same columns, with those without values as in `found`.

        Examples
        --------
        >>> Schema(None, 2, (None, Categories((), 0))).filled((None, Categories(("oak", "ash"), 2))).categorical
        (1,)
        """
        if not self.empty:
            return self
        later = found or (None,) * self.columns
        pairs = zip(self.categories or (), later, strict=True)
        categories = tuple(two if one is not None and not one.values else one for one, two in pairs)
        return replace(self, categories=None if all(one is None for one in categories) else categories)

    @property
    def file_format(self) -> int:
        """Number of the oldest format of model files that can hold these columns."""
        if self.categories is None:
            return 1
        plain = all(one is None or not one.values or one.kind == TEXT or one.whole for one in self.categories)
        return 2 if plain else 3

    def to_json(self) -> dict[str, object]:
        """The schema as values that JSON can hold; "categories" is there only where a column has some."""
        fields: dict[str, object] = {
            "names": None if self.names is None else list(self.names),
            "columns": self.columns,
        }
        if self.categories is not None:
            fields["categories"] = [None if one is None else one.to_json() for one in self.categories]
        return fields

    @classmethod
    def from_json(cls, value: object) -> Self:
        """The schema of values that `to_json` gave. Every value is checked.

        Parameters
        ----------
        value : object
            A decoded JSON value.

        Returns
        -------
        Schema
            The schema.

        Raises
        ------
        ModelFormatError
            The value is not one that `to_json` gives.
        """
        if not isinstance(value, dict) or set(value) - {"categories"} != {"names", "columns"}:
            raise ModelFormatError(
                'schema must be an object with the keys "names" and "columns", and perhaps "categories"'
            )
        names, columns = value["names"], value["columns"]
        if type(columns) is not int or not 1 <= columns <= MOST_COLUMNS:
            raise ModelFormatError(
                f"schema: columns must be a whole number from 1 to {MOST_COLUMNS}, got {_short(columns)}"
            )
        categories = _read_categories(value["categories"], columns) if "categories" in value else None
        if names is None:
            return cls(None, columns, categories)
        if not isinstance(names, list) or not all(type(name) is str for name in names):
            raise ModelFormatError(f"schema: names must be null or a list of strings, got {_short(names)}")
        if len(names) != columns:
            raise ModelFormatError(f"schema: names must hold {columns} names, one a column, got {len(names)}")
        if len(set(names)) != columns:
            raise ModelFormatError("schema: names must be distinct")
        return cls(tuple(names), columns, categories)


def _read_categories(value: object, columns: int) -> tuple[Categories | None, ...]:
    if not isinstance(value, list) or len(value) != columns:
        raise ModelFormatError(f"schema: categories must be a list of {columns} items, one a column")
    found = tuple(None if one is None else Categories.from_json(one) for one in value)
    if all(one is None for one in found):
        raise ModelFormatError("schema: categories must be left out where no column has any")
    return found


def check_schema(schema: Schema) -> None:
    """Refuse columns that no file could hold."""
    Schema.from_json(schema.to_json())
    texts = [("column name", name) for name in schema.names or ()]
    for categories in schema.categories or ():
        if categories is not None and categories.kind != NUMBERS:
            texts += [("category", str(value)) for value in categories.values]
    for kind, text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ModelFormatError(f"the {kind} {short_repr(text)} is no text that UTF-8 can hold") from error


def match_columns(
    table: Table, names: tuple[str, ...] | None, columns: int, *, model: str = "this model"
) -> Table:
    """Bring a table's columns into the order a model was trained with.

    Columns are matched by name where both sides have names, else by position.

    Parameters
    ----------
    table : Table
        The table to predict on.
    names : tuple of str, or None
        Column names at training.
    columns : int
        Number of columns at training.
    model : str, default="this model"
        Name of the model in messages.

    Returns
    -------
    Table
        The table itself where its order is right, else one with a panel for each column.

    Raises
    ------
    DataError
        There are missing or unknown columns.

    Examples
    --------
    >>> from spinney.data import as_matrix, read_table
    >>> table = read_table([[1.0, 2.0]], names=["height", "age"])
    >>> as_matrix(match_columns(table, ("age", "height"), 2)).tolist()
    [[2.0, 1.0]]
    """
    if names is None or table.names is None:
        if table.columns != columns:
            raise DataError(
                f"X has {table.columns} features, but {model} is expecting {columns} features as input; "
                "give the columns of training, in the same order"
            )
        return table
    if table.names == names:
        return table
    place = {name: column for column, name in enumerate(table.names)}
    known = set(names)
    missing = [name for name in names if name not in place]
    extra = [name for name in table.names if name not in known]
    if missing or extra:
        raise DataError(
            "The feature names should match those that were passed during fit.\n"
            + _listed("Feature names unseen at fit time", extra)
            + _listed("Feature names seen at fit time, yet now missing", missing)
        )
    if table.sparse is not None:
        order = np.array([place[name] for name in names])
        return Table(table.rows, table.columns, names, (), table.sparse.take_columns(order))
    singles = [
        replace(panel, values=panel.values[:, k : k + 1])
        for panel in table.panels
        for k in range(panel.columns)
    ]
    panels = tuple(replace(singles[place[name]], first=column) for column, name in enumerate(names))
    return Table(table.rows, table.columns, names, panels)


def named_categorical(
    categorical: str | Sequence[str | int] | NDArray[np.bool_], table: Table, known: Schema | None = None
) -> set[int]:
    """Positions of the columns that a user names as categorical.

    Parameters
    ----------
    categorical : "auto", sequence of str or int, or mask
        Names or positions of columns, or one truth value a column; "auto" names none.
    table : Table
        The table.
    known : Schema, optional
        The columns of a reference or a model, of which those of numbers cannot be named.
    """
    named = _named_columns(categorical, table)
    for column in named:
        if known is not None and (known.categories is None or known.categories[column] is None):
            raise ParameterError(
                f"categorical names column {column}, which is one of numbers in the reference; leave it out"
            )
    return named


def _named_columns(categorical: str | Sequence[str | int] | NDArray[np.bool_], table: Table) -> set[int]:
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


def _listed(title: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    lines = [f"{title}:", *(f"- {name}" for name in names[:SHOWN_NAMES])]
    if len(names) > SHOWN_NAMES:
        lines.append(f"and {len(names) - SHOWN_NAMES} more")
    return "\n".join(lines) + "\n"


def _short(value: object) -> str:
    return repr(value)[:60]
