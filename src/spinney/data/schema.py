"""What a model remembers about the columns it was trained on, and how later tables are matched with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from spinney.data.table import Panel, Table
from spinney.errors import DataError, ModelFormatError

SHOWN_NAMES = 10
# Trees store a column's index as int32.
MOST_COLUMNS = 2**31 - 1


@dataclass(frozen=True)
class Schema:
    """The columns of a training table.

    Attributes
    ----------
    names : tuple of str, or None
        Column names; None when the table had none.
    columns : int
        Number of columns.

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

    def to_json(self) -> dict[str, object]:
        """Give the schema as values that JSON can hold."""
        return {"names": None if self.names is None else list(self.names), "columns": self.columns}

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Read what `to_json` gave, trusting nothing.

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
            When the value is not what `to_json` gives.
        """
        if not isinstance(value, dict) or set(value) != {"names", "columns"}:
            raise ModelFormatError('schema must be an object with exactly the keys "names" and "columns"')
        names, columns = value["names"], value["columns"]
        if type(columns) is not int or not 1 <= columns <= MOST_COLUMNS:
            raise ModelFormatError(
                f"schema: columns must be a whole number from 1 to {MOST_COLUMNS}, got {_short(columns)}"
            )
        if names is None:
            return cls(None, columns)
        if not isinstance(names, list) or not all(type(name) is str for name in names):
            raise ModelFormatError(f"schema: names must be null or a list of strings, got {_short(names)}")
        if len(names) != columns:
            raise ModelFormatError(f"schema: names must hold {columns} names, one a column, got {len(names)}")
        if len(set(names)) != columns:
            raise ModelFormatError("schema: names must be distinct")
        return cls(tuple(names), columns)


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
        What to call the model in messages.

    Returns
    -------
    Table
        The table itself where its order is right, else one with a panel for each column.

    Raises
    ------
    DataError
        When columns are missing or too many.

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
    singles = [panel.values[:, k : k + 1] for panel in table.panels for k in range(panel.columns)]
    panels = tuple(Panel(column, singles[place[name]]) for column, name in enumerate(names))
    return Table(table.rows, table.columns, names, panels)


def _listed(title: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    lines = [f"{title}:", *(f"- {name}" for name in names[:SHOWN_NAMES])]
    if len(names) > SHOWN_NAMES:
        lines.append(f"and {len(names) - SHOWN_NAMES} more")
    return "\n".join(lines) + "\n"


def _short(value: object) -> str:
    return repr(value)[:60]
