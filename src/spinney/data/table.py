"""`Table`: a table that has been read, as panels of numeric columns side by side or as stored entries.

A `Panel` often is the user's own memory. Kernels read its blocks as flat memory with steps to the next row and column
(`flat_view`). Names of columns are checked here, and messages name columns by `column_title`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney.errors import DataError, DataTypeError
from spinney.messages import shown
from spinney.params.parameter import is_iterable

if TYPE_CHECKING:
    from spinney.data.sparse import SparseValues

CONVERTED_ROWS = 65_536  # rows that are converted at a time, of tables that are neither float32 nor float64

EMPTY32 = np.empty(0, np.float32)
EMPTY64 = np.empty(0, np.float64)


@dataclass(frozen=True, eq=False)
class Panel:
    """Consecutive columns of a table as one numeric matrix.

    Attributes
    ----------
    first : int
        Index in the table of the panel's first column.
    values : ndarray
        Two-dimensional; booleans, integers or floats of any width, byte order and strides; NaN is missing. It
        often is the user's own memory: do not write to it.
    categories : tuple of str, or of int and float, or None
        The categories of a single column, whose values then are positions among them, -1 for missing.
    text_kind : str, or None
        What the text of categories stands for, such as "dates", where the user's table held no text.
    declared : bool
        Whether the type of the user's column is one of categories, as pandas has.
    refused : str
        Why the column cannot be used, unless it is to be categorical.
    as_numbers : str
        The call that makes numbers of a column of text, for messages.
    any_kind : bool
        Whether a column without values may hold anything in a later table, as those of frames and arrays of objects may.
    """

    first: int
    values: NDArray[Any]
    categories: tuple[str | int | float, ...] | None = None
    text_kind: str | None = None
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
        """Whether kernels can read `values` without a copy: native, aligned float32 or float64."""
        values = self.values
        return (
            values.dtype in (np.float32, np.float64)
            and values.flags.aligned
            and all(stride % values.itemsize == 0 for stride in values.strides)
        )

    def blocks(self, max_rows: int) -> Iterator[tuple[int, NDArray[np.floating[Any]]]]:
        """Iterate over the rows in float32 or float64 matrices that kernels can read.

        A direct panel is one block, uncopied. Any other is converted at most `max_rows` rows at a time, so that there is never
        a second table: float16 to float32, everything else to float64.

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
        Numbers of both. There is at least one column; a table to predict on may have no rows.
    names : tuple of str, or None
        Distinct column names; None: the input had none.
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

    @property
    def has_categories(self) -> bool:
        """Whether a column holds categories that are not numbers yet."""
        return any(panel.categories is not None for panel in self.panels)

    @property
    def has_numbers_only(self) -> bool:
        """Whether every column holds numbers, and none of them could be read as something else."""
        return not any(
            panel.categories is not None or panel.any_kind or panel.refused for panel in self.panels
        )

    def take(self, chosen: NDArray[np.bool_]) -> Table:
        """Copy some of the rows."""
        panels = tuple(replace(panel, values=panel.values[chosen]) for panel in self.panels)
        sparse = None if self.sparse is None else self.sparse.take_rows(chosen)
        return Table(int(chosen.sum()), self.columns, self.names, panels, sparse)

    def between(self, first: int, last: int) -> Table:
        """Rows first..last-1. A dense table is not copied."""
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
    """Refuse text that cannot be written to a file."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{where} {text!r:.60}, which is no text that UTF-8 can hold; rename it") from error


def column_title(names: tuple[str, ...] | None, column: int) -> str:
    """Title of a column for messages: by name where there are names, else by position."""
    return f"column {column}" if names is None else f'column "{names[column]}"'


def describe_column(table: Table, column: int) -> str:
    """Title of a column of a table for messages.

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


def kernel_blocks(panel: Panel) -> Iterator[tuple[int, NDArray[Any]]]:
    """Blocks of a panel's rows that kernels can read: float32 or float64, with steps forward only."""
    values = panel.values
    if panel.direct and any(stride < 0 for stride in values.strides):
        for first in range(0, len(values), CONVERTED_ROWS):
            yield first, np.ascontiguousarray(values[first : first + CONVERTED_ROWS])
    else:
        yield from panel.blocks(CONVERTED_ROWS)


def flat_view(block: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.float64], int, int]:
    """A strided matrix as kernels take it: the flat memory from its first to its last value, and the steps in it.

    There is an array for each of both types; the one of the other type is empty.
    """
    row_step, column_step = (stride // block.itemsize for stride in block.strides)
    length = 1 + (block.shape[0] - 1) * row_step + (block.shape[1] - 1) * column_step
    flat = np.lib.stride_tricks.as_strided(block, (length,), (block.itemsize,), writeable=False)
    if block.dtype == np.float32:
        return flat, EMPTY64, row_step, column_step
    return EMPTY32, flat, row_step, column_step


def whole_rows(table: Table) -> Iterator[tuple[int, NDArray[Any]]]:
    """Blocks of a table's rows, all columns in one matrix that kernels can read."""
    if len(table.panels) == 1:
        yield from kernel_blocks(table.panels[0])
        return
    for first in range(0, table.rows, CONVERTED_ROWS):
        panels = tuple(Panel(p.first, p.values[first : first + CONVERTED_ROWS]) for p in table.panels)
        yield first, as_matrix(Table(len(panels[0].values), table.columns, table.names, panels))


def starts_of(lengths: Sequence[int] | NDArray[np.integer]) -> NDArray[np.int64]:
    """Where lists of these lengths begin if they stand one after another, and where the last one ends.

    Examples
    --------
    >>> starts_of([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts
