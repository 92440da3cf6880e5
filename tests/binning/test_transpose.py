"""Codes by column are transposed to codes by row, eight at a time, with the same result as one by one."""

import numpy as np
import pytest

from spinney.binning.kernels.bin import WORD, transpose_lines
from spinney.jit.team import Team


@pytest.mark.kernels
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("columns", "rows", "row_words"), [(1, 8, 2), (8, 16, 2), (16, 40, 2), (28, 1_048, 4), (33, 24, 8)]
)
def test_rows_hold_the_codes_of_columns_and_zeros_behind_them(columns, rows, row_words, threads):
    rng = np.random.default_rng(columns)
    lines = rng.integers(0, 256, (columns, rows), dtype=np.uint8)
    found = np.full((rows, WORD * row_words), 77, np.uint8)
    words = lines.reshape(-1).view(np.int64), found.reshape(-1).view(np.int64)
    with Team(threads) as team:
        team.run(transpose_lines.bind(rows // WORD, columns, row_words, *words))
    assert np.array_equal(found[:, :columns], lines.T)
    assert not found[:, columns:].any()
