"""What a table is once it has been read: panels of numeric columns standing side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney.errors import DataError, DataTypeError
from spinney.params.validate import is_iterable, shown

if TYPE_CHECKING:
    from spinney.data.sparse import SparseValues


@dataclass(frozen=True, eq=False)
class Panel:
    """Consecutive columns of a table as one numeric matrix.

    Attributes
    ----------
    first : int
        Index in the table of the panel's first column.
    values : ndarray
        Two-dimensional; booleans, integers or floats of any width, byte order and strides; NaN is missing. It
        often is the user's own memory: nobody may write to it.
    categories : tuple of str, or of int and float, or None
        The categories behind a single column's values, which then are their positions, -1 for missing.
    spelt : str, or None
        What the text of categories stands for, where it was no text in the user's table.
    declared : bool
        Whether the column's own type says that it holds categories, as pandas' does.
    refused : str
        Why the column cannot be used, unless it is to be categorical.
    as_numbers : str
        How the user makes numbers of a column of text.
    any_kind : bool
        Whether a later table may bring anything in a column of numbers that holds none, as in frames and arrays of objects.
    """

    first: int
    values: NDArray[Any]
    categories: tuple[str | int | float, ...] | None = None
    spelt: str | None = None
    declared: bool = False
    refused: str = ""
    as_numbers: str = ""
    any_kind: bool = False

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    @property
    def direct(self) -> bool:
        """Whether kernels can read `values` as they stand: native, aligned float32 or float64."""
        values = self.values
        return (
            values.dtype in (np.float32, np.float64)
            and values.flags.aligned
            and all(stride % values.itemsize == 0 for stride in values.strides)
        )

    def blocks(self, max_rows: int) -> Iterator[tuple[int, NDArray[np.floating[Any]]]]:
        """Walk over the rows as float32 or float64 matrices that kernels can read.

        A direct panel comes whole and uncopied. Any other is converted at most `max_rows` rows at a time, so
        the conversion never needs a second table: float16 to float32, everything else to float64.

        Parameters
        ----------
        max_rows : int
            Most rows of a converted block, at least 1.

        Yields
        ------
        tuple of int and ndarray
            Index of the block's first row, and the block.

        Examples
        --------
        >>> import numpy as np
        >>> panel = Panel(0, np.arange(6).reshape(3, 2))
        >>> [(row, block.tolist()) for row, block in panel.blocks(2)]
        [(0, [[0.0, 1.0], [2.0, 3.0]]), (2, [[4.0, 5.0]])]
        """
        values = self.values
        if self.direct:
            yield 0, values
            return
        small = values.dtype.kind == "f" and values.itemsize <= 4
        target = np.dtype(np.float32 if small else np.float64)
        for row in range(0, len(values), max_rows):
            # A long double beyond float64 becomes infinite, which binning reports with the column's name.
            with np.errstate(over="ignore", under="ignore"):
                block: NDArray[np.floating[Any]] = values[row : row + max_rows].astype(target)
            yield row, block


@dataclass(frozen=True, eq=False)
class Table:
    """A table that has been read.

    Attributes
    ----------
    rows, columns : int
        At least one column; a table to predict on may have no rows.
    names : tuple of str, or None
        Distinct column names; None when the input had none.
    panels : tuple of Panel
        In the order of their columns; together they hold each column once. Empty where the table is sparse.
    sparse : SparseValues, or None
        The stored entries of a sparse table.
    """

    rows: int
    columns: int
    names: tuple[str, ...] | None
    panels: tuple[Panel, ...]
    sparse: SparseValues | None = None

    def take(self, chosen: NDArray[np.bool_]) -> Table:
        """Copy some of the rows."""
        panels = tuple(replace(panel, values=panel.values[chosen]) for panel in self.panels)
        sparse = None if self.sparse is None else self.sparse.take_rows(chosen)
        return Table(int(chosen.sum()), self.columns, self.names, panels, sparse)

    def between(self, first: int, last: int) -> Table:
        """Rows first..last-1; those of a dense table are not copied."""
        panels = tuple(replace(panel, values=panel.values[first:last]) for panel in self.panels)
        sparse = None if self.sparse is None else self.sparse.rows_between(first, last)
        return Table(last - first, self.columns, self.names, panels, sparse)


def check_names(names: Iterable[str], columns: int, what: str) -> tuple[str, ...]:
    """Refuse names that are no strings, not one a column, or not distinct.

    Examples
    --------
    >>> check_names(["age", "größe"], 2, "X")
    ('age', 'größe')
    """
    if isinstance(names, str) or not is_iterable(names):
        raise DataTypeError(f"names must be a list of strings, got {shown(names)}")
    names = list(names)
    for name in names:
        if not isinstance(name, str):
            raise DataTypeError(f"names must hold strings only, got {shown(name)}")
    if len(names) != columns:
        raise DataError(
            f"names holds {len(names)} names, but {what} has {columns} columns; give one a column"
        )
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(f'{what} has more than one column named "{name}"; column names must be distinct')
        check_text(name, f"{what} has a column named")
        seen.add(name)
    return tuple(str(name) for name in names)


def check_text(text: str, where: str) -> None:
    """Refuse text that no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{where} {text!r:.60}, which is no text that UTF-8 can hold; rename it") from error


def column_title(names: tuple[str, ...] | None, column: int) -> str:
    """Say which column is meant, by name where there is one."""
    return f"column {column}" if names is None else f'column "{names[column]}"'


def describe_column(table: Table, column: int) -> str:
    """Say which column of a table is meant, for a message.

    Parameters
    ----------
    table : Table
        The table.
    column : int
        Index of the column.

    Returns
    -------
    str
        The column's name where it has one, else its index.

    Examples
    --------
    >>> from spinney.data import read_table
    >>> describe_column(read_table([[1.0, 2.0]]), 1)
    'column 1'
    >>> describe_column(read_table([[1.0, 2.0]], names=["age", "height"]), 1)
    'column "height"'
    """
    return column_title(table.names, column)


def as_matrix(table: Table) -> NDArray[np.float64]:
    """Copy a table into one float64 matrix.

    Parameters
    ----------
    table : Table
        The table.

    Returns
    -------
    ndarray of shape (rows, columns)
        A new C-contiguous array; NaN is missing.

    Examples
    --------
    >>> from spinney.data import read_table
    >>> as_matrix(read_table([[1, None], [True, 2.5]])).tolist()
    [[1.0, nan], [1.0, 2.5]]
    """
    for panel in table.panels:
        if panel.refused:
            raise DataTypeError(panel.refused)
    if table.sparse is not None or any(panel.categories is not None for panel in table.panels):
        raise DataTypeError(
            "only a dense table of numbers can be read as a matrix; this one is sparse, or holds text"
        )
    matrix = np.empty((table.rows, table.columns))
    for panel in table.panels:
        for row, block in panel.blocks(65_536):
            matrix[row : row + len(block), panel.first : panel.first + panel.columns] = block
    return matrix
