"""What a table's values tell about cuts that are drawn: the ends of its columns, and the gaps around the cuts of its bins."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from spinney.binning.cuts import Cuts
from spinney.data import Table
from spinney.data.sparse import SparseValues
from spinney.growth.forest.kernels.records import PLACES

Ends = tuple[NDArray[np.float64], NDArray[np.float64]]
MOST_ROWS = (
    20_000  # of more rows, the values of neighbouring bins are so near that a place between them says nothing
)
MOST_CUTS = 2**18  # of all columns, whose places are kept while trees grow
NARROW = 0.125  # of the distance between two cuts: a gap that takes up less of it has one place


def column_ends(table: Table, absent: float) -> Ends:
    """The least and the largest value of each column, NaN where all are missing; `absent` is what a sparse table does not store.

    Examples
    --------
    >>> from spinney.data import read_table
    >>> [end.tolist() for end in column_ends(read_table(np.array([[3.0, np.nan], [1.0, 2.0]])), 0.0)]
    [[1.0, 2.0], [3.0, 2.0]]
    """
    if table.sparse is not None:
        return _stored_ends(table.sparse, table.rows, absent)
    low = [np.fmin.reduce(panel.values, axis=0).astype(np.float64) for panel in table.panels]
    high = [np.fmax.reduce(panel.values, axis=0).astype(np.float64) for panel in table.panels]
    return np.concatenate(low), np.concatenate(high)


def places_of(table: Table, cuts: Cuts, absent: float) -> NDArray[np.float64] | None:
    """Thresholds that part the table's values like each cut, at `PLACES` places of the gap around it; None: it has too many rows.

    Returns
    -------
    float64[cuts, PLACES]
        Ascending for each cut; all the same where the gap is narrow.

    Examples
    --------
    >>> from spinney.data import read_table
    >>> cuts = Cuts(np.array([3.0]), np.array([0, 1]), 255, np.zeros(1, np.uint8))
    >>> places_of(read_table(np.array([[1.0], [5.0]])), cuts, 0.0)[0, :3].tolist()
    [1.125, 1.375, 1.625]
    """
    if table.rows > MOST_ROWS or len(cuts.values) > MOST_CUTS:
        return None
    share = (np.arange(PLACES) + 0.5) / PLACES
    found = np.repeat(cuts.values[:, None], PLACES, axis=1)
    for column, values in enumerate(_columns(table, absent)):
        own = slice(int(cuts.starts[column]), int(cuts.starts[column + 1]))
        if cuts.categorical[column] or own.start == own.stop:
            continue
        known = np.sort(values[~np.isnan(values)])
        below = np.searchsorted(known, cuts.values[own], side="right")
        inside = (below > 0) & (below < len(known))
        low, high = known[np.maximum(below - 1, 0)], known[np.minimum(below, len(known) - 1)]
        edges = np.concatenate([known[:1], cuts.values[own], known[-1:]])
        near = np.minimum(edges[1:-1] * 0.5 - edges[:-2] * 0.5, edges[2:] * 0.5 - edges[1:-1] * 0.5)
        places = low[:, None] * (1.0 - share) + high[:, None] * share
        wide = inside & (high * 0.5 - low * 0.5 > NARROW * near)
        # Numbers that lie next to each other have no room for places.
        wide &= (np.diff(places, axis=1) > 0.0).all(axis=1) & (places[:, 0] >= low) & (places[:, -1] < high)
        found[own][wide] = places[wide]
    return found


def _columns(table: Table, absent: float) -> Iterator[NDArray[np.float64]]:
    """The values of each column, missing ones among them; what a sparse table does not store stands once."""
    if table.sparse is None:
        for panel in table.panels:
            yield from panel.values.T.astype(np.float64)
        return
    starts, _, values = table.sparse.by_column
    table.sparse.forget()
    for first, end in pairwise(starts.tolist()):
        stored = values[first:end].astype(np.float64)
        yield np.append(stored, absent) if end - first < table.rows else stored


def _stored_ends(sparse: SparseValues, rows: int, absent: float) -> Ends:
    """The ends of a sparse table's columns."""
    starts, _, values = sparse.by_column
    sparse.forget()
    counts = np.diff(starts)
    ends = []
    for least in (np.fmin, np.fmax):
        found = np.full(len(counts), np.nan)
        if len(values):
            found[counts > 0] = least.reduceat(values, starts[:-1][counts > 0])
        ends.append(np.where(counts < rows, least(found, absent), found))
    return ends[0], ends[1]
