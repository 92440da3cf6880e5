"""Exclusive feature bundling: which columns share a group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.binning.entries import Entries
from spinney.binning.kernels.bundle import OpenBundles, bundle_columns, count_neighbours
from spinney.data.table import starts_of
from spinney.jit import allocate

MARK_BYTES = 64 * 2**20  # for the marks of all open bundles
MOST_OPEN = 256  # bundles that a column is tried in
NARROW, WIDE = 256, 65_535  # codes of a bundle where bins are uint8, or uint16
# Beside so many lone columns, bundles are kept narrow: a wide one would double the bytes of every column.
MANY_LONE = 64
SAMPLE_ROWS = 10_000  # for the graph of conflicts
GRAPH_PAIRS = 20_000_000  # most pairs of entries in one row that are looked at, over all sampled rows
GRAPH_COLUMNS = 4_096  # more columns are ordered by their entries, unless asked otherwise
PIECE = 2**20  # entries looked at in one go
GRAPH_BLOCK = 16 * 2**20  # bytes of the part of the graph that is held at a time


@dataclass(frozen=True)
class Bundling:
    """How to bundle."""

    order: str  # "degree", "nonzero" or "auto"
    max_conflict_rate: float


@dataclass(frozen=True, eq=False)
class Bundles:
    """The bundle of each column that was looked at, -1 for none, and the conflicts in each bundle.

    A conflict is an entry that has no room, because an entry of another member is in the same row.
    """

    bundle: NDArray[np.int64]
    conflicts: NDArray[np.int64]


def find_bundles(
    entries: Entries, codes: NDArray[np.int64], rows: int, lone: int, rules: Bundling
) -> Bundles:
    """Put columns that are rarely away from their default bins together into bundles, greedily.

    Parameters
    ----------
    entries : Entries
        The columns that may be bundled.
    codes : int64
        Codes that each of them needs.
    rows : int
        Rows of the table.
    lone : int
        Columns that stand alone.
    rules : Bundling
        Order, and how many conflicts a bundle may have, as a share of the rows.

    Returns
    -------
    Bundles
        Of all columns; the same for any number of threads.
    """
    columns, words = len(entries.columns), (rows + 63) // 64
    most_open = max(1, min(columns, MOST_OPEN, MARK_BYTES // (8 * words)))
    open_bundles = allocate(OpenBundles, most=most_open, words=words)
    bundle = np.full(columns, -1, np.int64)
    bundle_columns(
        entries.record(), rows, int(rules.max_conflict_rate * rows), NARROW if lone > MANY_LONE else WIDE, codes,
        _order(entries, rows, rules.order), open_bundles, bundle,
    )  # fmt: skip
    return Bundles(bundle, open_bundles.conflicts)


def _order(entries: Entries, rows: int, order: str) -> NDArray[np.int64]:
    """Columns in the order in which they look for a bundle: the hardest to place first."""
    columns = len(entries.columns)
    if order == "nonzero" or (order == "auto" and columns > GRAPH_COLUMNS):
        return np.argsort(-entries.counts, kind="stable")
    return np.lexsort((np.arange(columns), -entries.counts, -_degrees(entries, rows)))


def _places_of_rows(entries: Entries, step: int) -> NDArray[np.int64]:
    """Places of the entries of every `step`-th row. They are found piece by piece, so that scratch memory stays small."""
    pieces = [
        first + np.flatnonzero(entries.rows[first : first + PIECE] % step == 0)
        for first in range(0, len(entries.rows), PIECE)
    ]
    return np.concatenate([np.zeros(0, np.int64), *pieces])


def _degrees(entries: Entries, rows: int) -> NDArray[np.int64]:
    """How many other columns share a row with each column, on a sample of the rows."""
    columns = len(entries.columns)
    step = max(1, rows // SAMPLE_ROWS)
    while True:
        chosen = _places_of_rows(entries, step)
        lengths = np.bincount(entries.rows[chosen] // step, minlength=(rows - 1) // step + 1)
        if (lengths.astype(np.float64) ** 2).sum() <= GRAPH_PAIRS or step >= rows:
            break
        step *= 2
    by_row = np.argsort(entries.rows[chosen], kind="stable")
    members = (np.searchsorted(entries.starts, chosen[by_row], side="right") - 1).astype(np.int32)
    degree = np.zeros(columns, np.int64)
    block = max(1, min(columns, GRAPH_BLOCK // columns))
    for first in range(0, columns, block):
        count_neighbours(
            columns, len(lengths), len(members), first, block, starts_of(lengths), members,
            np.zeros(block * columns, np.uint8), degree,
        )  # fmt: skip
    return degree
