"""SciPy's sparse matrices as tables: `SparseValues`, the checked entries of one, and `SparseBlock`, those of some rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.arrays import check_size, complex_refusal
from spinney.data.table import Table
from spinney.errors import DataError, DataTypeError

FORMATS = ("csr", "csc", "coo")
EMPTY32 = np.empty(0, np.float32)
EMPTY64 = np.empty(0, np.float64)


def is_sparse(value: object) -> bool:
    """Whether a value is one of SciPy's sparse matrices or arrays.

    Examples
    --------
    >>> import scipy.sparse
    >>> is_sparse(scipy.sparse.eye_array(3)), is_sparse([[1.0]])
    (True, False)
    """
    return any(base.__module__.startswith("scipy.sparse") for base in type(value).__mro__)


@dataclass(frozen=True, eq=False)
class SparseValues:
    """The stored entries of a table: in range, sorted, one for each row and column.

    They may share memory with the user's matrix: do not write to them.

    Attributes
    ----------
    format : {"csr", "csc"}
        Whether entries are sorted by row or by column.
    shape : tuple of int
        Rows and columns.
    starts : array of integers
        Where the entries of each row, or column, start, and where those of the last one end.
    indices : array of integers
        Column, or row, of each entry.
    values : array of float32, float64 or whole numbers
        Their values.
    """

    format: str
    shape: tuple[int, int]
    starts: NDArray[Any]
    indices: NDArray[Any]
    values: NDArray[Any]

    @classmethod
    def of(cls, matrix: Any) -> SparseValues:
        """The entries of SciPy's matrix in CSR or CSC format, which must be valid and sorted."""
        return cls(matrix.format, matrix.shape, matrix.indptr, matrix.indices, matrix.data)

    @property
    def matrix(self) -> Any:
        """The entries as SciPy's array in the same format, over the same memory."""
        from scipy import sparse

        make = sparse.csr_array if self.format == "csr" else sparse.csc_array
        return make((self.values, self.indices, self.starts), shape=self.shape)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.shape[0]

    @property
    def stored(self) -> int:
        """Number of stored entries."""
        return len(self.values)

    @cached_property
    def by_column(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.floating[Any]]]:
        """Starts of the columns, and row and value of each entry, rows ascending; values are float32 or float64."""
        csc = self if self.format == "csc" else SparseValues.of(self.matrix.tocsc())
        starts = csc.starts.astype(np.int64, copy=False)
        return starts, csc.indices.astype(np.int32, copy=False), _as_floats(csc.values)

    def forget(self) -> None:
        """Free what `by_column` has cached."""
        self.__dict__.pop("by_column", None)

    def take_columns(self, order: NDArray[np.int64]) -> SparseValues:
        """The same table with its columns in another order."""
        return SparseValues.of(self.matrix.tocsc()[:, order])

    def take_rows(self, chosen: NDArray[np.bool_]) -> SparseValues:
        """Copy some of the rows."""
        return SparseValues.of(self.matrix.tocsr()[np.flatnonzero(chosen)])

    @property
    def csr(self) -> SparseValues:
        """The same entries sorted by row."""
        return self if self.format == "csr" else SparseValues.of(self.matrix.tocsr())

    def rows_between(self, first: int, last: int) -> SparseValues:
        """Copy rows first..last-1."""
        return SparseValues.of(self.csr.matrix[first:last])

    def row_blocks(self, most: int) -> Iterator[tuple[int, SparseBlock]]:
        """Iterate over the entries in blocks of at most so many rows.

        Yields
        ------
        tuple of int and SparseBlock
            Index of the first row, and the entries from there on.
        """
        yield from self.csr.stored_blocks(most)

    def stored_blocks(self, most: int) -> Iterator[tuple[int, SparseBlock]]:
        """The same in the order of `format`: blocks of columns in "csc", whose indices are rows."""
        for first in range(0, len(self.starts) - 1, most):
            starts = self.starts[first : first + most + 1].astype(np.int64)
            stored = slice(int(starts[0]), int(starts[-1]))
            starts -= starts[0]
            indices = self.indices[stored].astype(np.int32, copy=False)
            yield first, SparseBlock(starts, indices, _as_floats(self.values[stored]))

    def first_infinite(self) -> int:
        """The first column that holds an infinite value; there must be one."""
        starts, _, values = self.by_column
        self.forget()
        return int(np.searchsorted(starts, np.flatnonzero(np.isinf(values))[0], side="right")) - 1


@dataclass(frozen=True, eq=False)
class SparseBlock:
    """Entries of some rows as kernels take them.

    Attributes
    ----------
    starts : int64[rows + 1]
        Where the entries of each row start, and where those of the last one end.
    indices : int32[entries]
        Their columns.
    values : float32[entries] or float64[entries]
        Their values.
    """

    starts: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.floating[Any]]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.starts) - 1

    @property
    def typed(self) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """The values as float32 and as float64; the array of the other type is empty."""
        values: NDArray[Any] = self.values
        return (values, EMPTY64) if values.dtype == np.float32 else (EMPTY32, values)


def sparse_table(X: Any, what: str, *, allow_empty: bool = False) -> Table:
    """Read a sparse matrix as a table without names.

    Parameters
    ----------
    X : scipy.sparse matrix or array
        CSR, CSC or COO; other formats are converted. Entries of the same row and column are added up, as in SciPy.
    what : str
        Name of the argument, for messages.
    allow_empty : bool, default=False
        Whether a table may have no rows.

    Returns
    -------
    Table
        Without panels.

    Examples
    --------
    >>> import scipy.sparse
    >>> table = sparse_table(scipy.sparse.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 3)), "X")
    >>> table.rows, table.columns, table.sparse.matrix.data.tolist()
    (2, 3, [3.0])
    """
    if len(X.shape) != 2:
        raise DataError(f"{what} is a sparse array of {len(X.shape)} dimensions; it must have 2")
    check_size(X.shape, allow_empty=allow_empty)
    if X.format not in FORMATS:
        X = X.tocsr()
    if not isinstance(X.data, np.ndarray) or X.data.ndim != 1:
        raise DataError(f"{what} is a damaged sparse matrix: its values are no array of one dimension")
    _check_dtype(X.data.dtype, what)
    stored = _canonical(_checked(X, what))
    # Whole numbers may need little memory, so they become floats only where floats are needed.
    if stored.values.dtype.char in "eg":
        stored = replace(stored, values=_as_floats(stored.values))
    return Table(*stored.shape, None, (), stored)


def _as_floats(values: NDArray[Any]) -> NDArray[np.floating[Any]]:
    """Values as float32 or float64, uncopied where they are so already.

    Examples
    --------
    >>> _as_floats(np.array([1, 2], np.int8)).dtype
    dtype('float32')
    """
    if values.dtype.char in "fd":
        return values
    # A long double beyond float64 becomes infinite, which is an error with the column's name later.
    with np.errstate(over="ignore", under="ignore"):
        found: NDArray[np.floating[Any]] = values.astype(_float_for(values.dtype))
    return found


def _float_for(dtype: np.dtype[Any]) -> type[np.float32] | type[np.float64]:
    """The smaller of both floats that holds every value of a type, or the larger one."""
    exact = 4 if dtype.kind == "f" else 2
    return np.float32 if dtype.itemsize <= exact else np.float64


def _check_dtype(dtype: np.dtype[Any], what: str) -> None:
    if dtype.kind == "c":
        raise complex_refusal(what)
    if dtype.kind not in "biuf":
        raise DataTypeError(
            f"{what} is a sparse matrix of dtype {dtype}; only numbers and booleans can be read"
        )


def _checked(X: Any, what: str) -> SparseValues:
    """Entries by row or by column, over the same memory, once every index is checked."""
    if X.format == "coo":
        from scipy import sparse

        row, column = np.asarray(X.row), np.asarray(X.col)
        if not len(row) == len(column) == len(X.data):
            raise DataError(
                f"{what} is a damaged COO matrix: {len(row)} rows, {len(column)} columns and {len(X.data)} values"
            )
        _check_range(row, X.shape[0], "row", what)
        _check_range(column, X.shape[1], "column", what)
        return SparseValues.of(sparse.coo_array((X.data, (row, column)), shape=X.shape).tocsr())
    major, minor = X.shape if X.format == "csr" else X.shape[::-1]
    indptr, indices, data = np.asarray(X.indptr), np.asarray(X.indices), np.asarray(X.data)
    if (
        indptr.dtype.kind not in "iu"
        or indices.dtype.kind not in "iu"
        or indptr.ndim != 1
        or indices.ndim != 1
    ):
        raise DataError(
            f"{what} is a damaged sparse matrix: its indices are no whole numbers in one dimension"
        )
    # Compared, not subtracted: unsigned numbers never fall below 0.
    if len(indptr) != major + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise DataError(
            f"{what} is a damaged sparse matrix: indptr must be {major + 1} numbers that start at 0 and never fall"
        )
    if len(indices) != len(data) or indptr[-1] > len(data):
        raise DataError(
            f"{what} is a damaged sparse matrix: indptr counts {indptr[-1]} entries, there are {len(indices)} indices "
            f"and {len(data)} values"
        )
    stored = int(indptr[-1])
    _check_range(indices[:stored], minor, "column" if X.format == "csr" else "row", what)
    shape = int(X.shape[0]), int(X.shape[1])
    return SparseValues(X.format, shape, *map(_native, (indptr, indices[:stored], data[:stored])))


def _native(array: NDArray[Any]) -> NDArray[Any]:
    """An array that C code can read: contiguous, aligned, in the machine's byte order; copied only where it is not."""
    flags = array.flags
    if flags.c_contiguous and flags.aligned and array.dtype.isnative:
        return array
    return array.astype(array.dtype.newbyteorder("="), order="C")


def _check_range(indices: NDArray[Any], size: int, kind: str, what: str) -> None:
    if indices.dtype.kind not in "iu" or indices.ndim != 1:
        raise DataError(
            f"{what} is a damaged sparse matrix: its {kind} indices are no whole numbers in one dimension"
        )
    if not len(indices):
        return
    lowest, highest = int(indices.min()), int(indices.max())
    if lowest < 0 or highest >= size:
        found = lowest if lowest < 0 else highest
        raise DataError(
            f"{what} is a damaged sparse matrix: {kind} index {found} is out of range, there are {size} {kind}s"
        )


def _canonical(stored: SparseValues) -> SparseValues:
    """Sorted entries, with those of the same row and column added up. SciPy's flags of the user's matrix are not used."""
    rises = stored.indices[1:] > stored.indices[:-1]
    if stored.stored and len(stored.starts) > 2:
        inner = stored.starts[1:-1]
        rises[inner[(inner > 0) & (inner < stored.stored)] - 1] = True
    if rises.all():
        return stored
    matrix = stored.matrix.copy()
    matrix.sum_duplicates()
    return SparseValues.of(matrix)
