"""The binned matrix: every value of a table as a small integer, by rows and by columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.cuts import Cuts
from spinney.binning.kernels import CHUNK, bin_values, by_rows
from spinney.data import Table, describe_column
from spinney.data.spans import kernel_blocks, spans
from spinney.errors import DataError
from spinney.jit.team import Team

LINE = 64  # bytes of a cache line


@dataclass(frozen=True, eq=False)
class BinnedMatrix:
    """Bins of a table, twice: by rows (padded, for histograms) and by columns (for partition).

    uint8 where every column has at most 255 bins, else uint16. A missing value has the bin number that follows the
    column's last one.
    """

    by_row: NDArray[Any]  # rows × stride
    by_column: NDArray[Any]  # columns × rows
    bins: NDArray[np.int64]  # bins of each column, without the missing one

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.by_row.shape[0])

    @property
    def columns(self) -> int:
        """Number of columns."""
        return int(self.by_column.shape[0])

    @property
    def stride(self) -> int:
        """Items from one row to the next."""
        return int(self.by_row.shape[1])

    @property
    def wide(self) -> bool:
        """Whether bins are uint16."""
        return bool(self.by_row.dtype == np.uint16)

    @property
    def nbytes(self) -> int:
        """Bytes of both copies."""
        return self.by_row.nbytes + self.by_column.nbytes

    def split8(self) -> tuple[NDArray[np.uint8], NDArray[np.uint16], NDArray[np.uint8], NDArray[np.uint16]]:
        """By-row and by-column bins as kernels take them: uint8 and uint16, the one not in use empty."""
        none8, none16 = np.empty(0, np.uint8), np.empty(0, np.uint16)
        if self.wide:
            return none8, self.by_row, none8, self.by_column
        return self.by_row, none16, self.by_column, none16


def bin_table(table: Table, cuts: Cuts, team: Team) -> BinnedMatrix:
    """Put every value of a table into its bin. An infinite value is an error that names the column."""
    bins = cuts.bins
    wide = bool(bins.max(initial=0) > 255)
    dtype = np.dtype(np.uint16 if wide else np.uint8)
    by_column = np.empty((table.columns, table.rows), dtype)
    infinite = np.zeros(table.columns, np.uint8)
    empty: dict[bool, NDArray[Any]] = {False: np.empty(0, np.uint8), True: np.empty(0, np.uint16)}
    line = np.empty(team.size * CHUNK, np.float64)
    for panel in table.panels:
        for first, block in kernel_blocks(panel):
            values32, values64, row_step, column_step = spans(block)
            team.run(
                bin_values.bind(
                    len(block), first, table.rows, panel.columns, panel.first, table.columns, row_step, column_step,
                    values32.size, values64.size, int(wide), len(cuts.values), team.size,
                    values32, values64, cuts.values, cuts.starts,
                    empty[False] if wide else by_column, by_column if wide else empty[True], infinite, line,
                )
            )  # fmt: skip
    if infinite.any():
        column = int(np.flatnonzero(infinite)[0])
        raise DataError(
            f"{describe_column(table, column)} holds an infinite value; only finite numbers and NaN (missing) can be used: "
            "Input X contains infinity or a value too large"
        )
    by_row = _aligned(table.rows, row_stride(table.columns, dtype), dtype)
    team.run(
        by_rows.bind(
            table.rows, table.columns, by_row.shape[1], int(wide),
            empty[False] if wide else by_column, by_column if wide else empty[True],
            empty[False] if wide else by_row, by_row if wide else empty[True],
        )
    )  # fmt: skip
    return BinnedMatrix(by_row, by_column, bins)


def row_stride(columns: int, dtype: np.dtype[Any]) -> int:
    """Items of a padded row: half a cache line, or whole ones, so that a row never straddles more lines than it must."""
    size = columns * dtype.itemsize
    unit = LINE // 2 if size <= LINE // 2 else LINE
    return -(-size // unit) * unit // dtype.itemsize


def _aligned(rows: int, stride: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Memory for rows × stride items that starts on a cache line."""
    memory = np.empty(rows * stride * dtype.itemsize + LINE, np.uint8)
    skip = -memory.ctypes.data % LINE
    return memory[skip : skip + rows * stride * dtype.itemsize].view(dtype).reshape(rows, stride)
