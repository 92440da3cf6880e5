"""`Dataset`: a table binned once, with its target and weights, for any number of trainings."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.binning.cuts import Cuts, find_cuts
from spinney.binning.matrix import BinnedMatrix, bin_table
from spinney.data import Schema, Table, match_columns, read_margin, read_table, read_vector, read_weight
from spinney.errors import DataError, DataTypeError, ParameterError
from spinney.jit.team import Team, threads_for
from spinney.params import parse

# Values from which binning is shared among threads. Time on one thread / on two: 2 000 × 10 .92, 5 000 × 10 1.11,
# 10 000 × 10 1.60, 1 000 × 50 .89, 2 000 × 50 1.42.
SHARE_VALUES = 50_000
MOST_ROWS = 2**31 - 1  # a row's number has 31 bits while a tree is grown


class Dataset:
    """A table of numbers, binned, with what training needs beside it. The table itself is not kept.

    Parameters
    ----------
    X : table
        NumPy array (any numeric type and layout), pandas, Polars or PyArrow table, or a list of rows. NaN and nulls are
        missing values; infinite values are an error.
    y : array of shape (rows,), optional
        Target. A data set without one can only serve as `reference`.
    weight : array of shape (rows,), optional
        Weights of the rows, 0 or more. A row of weight 0 takes no part in the trees.
    base_margin : array of shape (rows,) or (rows, outputs), optional
        Raw scores that the rows start from, in place of the base score.
    reference : Dataset, optional
        Take the columns and cuts of this data set; needed for validation data.
    max_bin : int, default=255
        Most bins of one column, 2 to 65 536. (65 536 counts the bin for missing values.)
    names : sequence of str, optional
        Column names, for tables that have none.
    n_jobs : int, optional
        Threads to bin with; the bins do not depend on it.

    Examples
    --------
    >>> import numpy as np, spinney as sp
    >>> ds = sp.Dataset(np.arange(12.0).reshape(6, 2), y=np.arange(6.0))
    >>> ds
    Dataset(rows=6, columns=2, bins=12)
    """

    def __init__(
        self,
        X: object,
        y: ArrayLike | None = None,
        *,
        weight: ArrayLike | None = None,
        base_margin: ArrayLike | None = None,
        reference: Dataset | None = None,
        max_bin: int | None = None,
        names: list[str] | tuple[str, ...] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        if reference is not None and not isinstance(reference, Dataset):
            raise DataTypeError(f"reference must be a spinney.Dataset, got {type(reference).__name__}")
        config = parse({"max_bin": 255 if max_bin is None else max_bin, "n_jobs": n_jobs})
        if reference is not None and max_bin is not None and config.max_bin != reference.max_bin:
            raise ParameterError(
                f"max_bin = {max_bin} differs from the reference's {reference.max_bin}; leave it out"
            )
        table = X if isinstance(X, Table) else read_table(X, names=names)
        if reference is not None:
            table = match_columns(
                table, reference.schema.names, reference.schema.columns, model="the reference"
            )
        if table.rows > MOST_ROWS:
            raise DataError(f"X has {table.rows} rows; a Dataset can hold {MOST_ROWS}")
        self.rows: int = table.rows
        self.target: NDArray[np.float64] | None = _own(read_vector(y, table.rows, "y"))
        self.weight: NDArray[np.float64] | None = _own(read_weight(weight, table.rows, what="weight"))
        self.margin: NDArray[np.float64] | None = _own(_read_margin(base_margin, table.rows))
        self._bin(table, reference, config.max_bin, config.n_jobs)

    def _bin(self, table: Table, reference: Dataset | None, max_bin: int, n_jobs: int | None) -> None:
        threads = 1 if table.rows * table.columns < SHARE_VALUES else threads_for(n_jobs)
        with Team(threads) as team:
            if reference is None:
                self.schema = Schema(table.names, table.columns)
                self.cuts: Cuts = find_cuts(table, self.weight, max_bin, team)
            else:
                self.schema = reference.schema
                self.cuts = reference.cuts
            self.matrix: BinnedMatrix = bin_table(table, self.cuts, team)

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.schema.columns

    @property
    def max_bin(self) -> int:
        """Most bins of one column."""
        return self.cuts.max_bin

    @property
    def nbytes(self) -> int:
        """Bytes of the binned matrix."""
        return self.matrix.nbytes

    def __repr__(self) -> str:
        return f"Dataset(rows={self.rows}, columns={self.columns}, bins={int(self.cuts.bins.sum())})"


def _own(values: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """A copy, so that later changes to the caller's array do not reach a checked data set."""
    return None if values is None else values.copy()


def _read_margin(values: ArrayLike | None, rows: int) -> NDArray[np.float64] | None:
    if values is None:
        return None
    shape = np.shape(values)
    margin = read_margin(values, rows, shape[1] if len(shape) == 2 else 1)
    if margin is not None and np.abs(margin).max() > 1e30:
        raise DataError("base_margin holds a value beyond ±1e30, which is too large to train on")
    return margin
