"""Where the columns of a table are cut into bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.kernels import cut_columns, gather_keys
from spinney.data import Panel, Table
from spinney.data.spans import EMPTY64, kernel_blocks, spans
from spinney.jit.team import Team

SAMPLE = 200_000  # rows that cuts are found from; LightGBM takes as many
COLUMNS_AT_ONCE = 32  # columns sorted in one go: bounds the memory for keys at 51 MB
LARGEST_BINS = 65_535  # one of 65 536 numbers is for missing values


@dataclass(frozen=True, eq=False)
class Cuts:
    """Cuts of all columns: column j has values[starts[j]:starts[j + 1]], ascending; a value equal to a cut is below it."""

    values: NDArray[np.float64]
    starts: NDArray[np.int64]
    max_bin: int

    @property
    def bins(self) -> NDArray[np.int64]:
        """Bins of each column, without the one for missing values."""
        return np.diff(self.starts) + 1

    def same(self, other: Cuts) -> bool:
        """Whether both cut every column alike."""
        return self is other or (
            np.array_equal(self.starts, other.starts) and np.array_equal(self.values, other.values)
        )

    def threshold(self, columns: NDArray[Any], bins: NDArray[Any]) -> NDArray[np.float64]:
        """Real values behind splits "bin <= b" of some columns; the last bin has no cut, everything is below it."""
        at = self.starts[columns] + bins
        last = bins >= self.starts[columns + 1] - self.starts[columns]
        safe = np.minimum(at, max(len(self.values) - 1, 0))
        known = self.values[safe] if len(self.values) else np.zeros(len(safe))
        return np.where(last, np.finfo(np.float64).max, known)


def find_cuts(table: Table, weight: NDArray[np.float64] | None, max_bin: int, team: Team) -> Cuts:
    """Quantile cuts of every column, the same for any number of threads and for float32 and float64 input."""
    picks = sample_rows(table.rows)
    most = min(max_bin, LARGEST_BINS, len(picks) + 1)
    sampled_weight = EMPTY64 if weight is None else np.ascontiguousarray(weight[picks])
    scratch = _Scratch(len(picks), team.size, weight is not None)
    parts: list[NDArray[np.float64]] = []
    for panel in table.panels:
        for first in range(0, panel.columns, COLUMNS_AT_ONCE):
            some = Panel(panel.first + first, panel.values[:, first : first + COLUMNS_AT_ONCE])
            parts += _cut_some(some, picks, sampled_weight, most, scratch, team)
    starts = np.zeros(table.columns + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=starts[1:])
    return Cuts(np.concatenate(parts), starts, max_bin)


def sample_rows(rows: int) -> NDArray[np.int64]:
    """Rows that cuts are found from: all, or one from each of SAMPLE equal stretches."""
    if rows <= SAMPLE:
        return np.arange(rows, dtype=np.int64)
    stretch = np.arange(SAMPLE, dtype=np.int64)
    begin = stretch * rows // SAMPLE
    length = (stretch + 1) * rows // SAMPLE - begin
    # A multiplicative hash, and not the same offset everywhere, so that periodic data are not seen at one phase only.
    offset = (stretch * 2654435761 >> 8) % length
    return begin + offset


class _Scratch:
    """Memory for sorting, made once."""

    def __init__(self, total: int, threads: int, weighted: bool) -> None:
        self.spare = np.empty(threads * total, np.int64)
        self.order = np.empty(2 * threads * total * weighted, np.int32)
        self.mass = np.empty(threads * total, np.float64)
        self.heads = np.empty(threads * 6 * 2048, np.int32)


def _cut_some(
    panel: Panel,
    picks: NDArray[np.int64],
    weight: NDArray[np.float64],
    most: int,
    scratch: _Scratch,
    team: Team,
) -> list[NDArray[np.float64]]:
    columns, total = panel.columns, len(picks)
    keys = np.empty(columns * total, np.int64)
    for first, block in kernel_blocks(panel):
        low, high = np.searchsorted(picks, [first, first + len(block)])
        values32, values64, row_step, column_step = spans(block)
        here = picks[low:high] - first
        team.run(
            gather_keys.bind(
                columns, row_step, column_step, values32.size, values64.size, len(here), total, int(low),
                values32, values64, here, keys,
            )
        )  # fmt: skip
    cuts = np.empty(columns * most, np.float64)
    made = np.empty(columns, np.int64)
    weighted = int(weight.size > 0)
    team.run(
        cut_columns.bind(
            columns, total, team.size, weighted, most, keys, weight,
            scratch.spare, scratch.order, scratch.mass, scratch.heads, cuts, made,
        )
    )  # fmt: skip
    return [cuts[j * most : j * most + made[j]].copy() for j in range(columns)]
