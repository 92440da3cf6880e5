"""Tables as kernels take them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.kernels.records import Block, StoredValues
from spinney.data.sparse import SparseValues
from spinney.data.table import EMPTY32, EMPTY64, flat_view


def block_of(values: NDArray[Any]) -> Block:
    """Some rows of a dense panel, as `kernel_blocks` gives them."""
    values32, values64, row_step, column_step = flat_view(values)
    rows, columns = values.shape
    return Block(rows, columns, row_step, column_step, values32.size, values64.size, values32, values64)


def stored_of(values: SparseValues) -> StoredValues:
    """What a sparse table stores."""
    starts, rows, data = values.by_column
    single = data.dtype == np.float32
    values32, values64 = (data, EMPTY64) if single else (EMPTY32, data)
    return StoredValues(len(starts) - 1, len(rows), int(single), starts, rows, values32, values64)
