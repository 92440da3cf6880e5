"""Panels as kernels read them: flat memory and the steps to the next row and column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.table import Panel, Table, as_matrix

CONVERTED_ROWS = 65_536  # rows converted at a time where the table is neither float32 nor float64

EMPTY32 = np.empty(0, np.float32)
EMPTY64 = np.empty(0, np.float64)


def kernel_blocks(panel: Panel) -> Iterator[tuple[int, NDArray[Any]]]:
    """Blocks of a panel's rows that kernels can walk over: float32 or float64, no step backwards."""
    values = panel.values
    if panel.direct and any(stride < 0 for stride in values.strides):
        for first in range(0, len(values), CONVERTED_ROWS):
            yield first, np.ascontiguousarray(values[first : first + CONVERTED_ROWS])
    else:
        yield from panel.blocks(CONVERTED_ROWS)


def spans(block: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.float64], int, int]:
    """A strided matrix as kernels take it: the flat memory from its first to its last value, and the steps in it.

    One of the two arrays is empty: it says which type the values are.
    """
    row_step, column_step = (stride // block.itemsize for stride in block.strides)
    length = 1 + (block.shape[0] - 1) * row_step + (block.shape[1] - 1) * column_step
    flat = np.lib.stride_tricks.as_strided(block, (length,), (block.itemsize,), writeable=False)
    if block.dtype == np.float32:
        return flat, EMPTY64, row_step, column_step
    return EMPTY32, flat, row_step, column_step


def whole_rows(table: Table) -> Iterator[tuple[int, NDArray[Any]]]:
    """Blocks of a table's rows, all columns in one matrix that kernels can walk over."""
    if len(table.panels) == 1:
        yield from kernel_blocks(table.panels[0])
        return
    for first in range(0, table.rows, CONVERTED_ROWS):
        panels = tuple(Panel(p.first, p.values[first : first + CONVERTED_ROWS]) for p in table.panels)
        yield first, as_matrix(Table(len(panels[0].values), table.columns, table.names, panels))
