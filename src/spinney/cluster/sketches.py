"""Cuts from all rows: a quantile sketch of every column of a partition, merged in the order of the partitions."""

from __future__ import annotations

import numpy as np
from distributed import Client, Future
from numpy.typing import NDArray

from spinney.binning.cuts import Cuts, CutThinning, cuts_from_sketches
from spinney.binning.sketch import QuantileSketch
from spinney.cluster.opening import PartTable
from spinney.cluster.telling import result, telling
from spinney.data import Labels, Schema, Table
from spinney.params import DataParams

AT_ONCE = 8  # sketches of a column that are merged by one task
FINEST, COARSEST = 1e-5, 1e-3
OF_BIN = 4  # errors that make up a bin


def sketch_eps(max_bin: int) -> float:
    """Largest error of a sketch: a quarter of a bin, within bounds.

    Examples
    --------
    >>> sketch_eps(255), sketch_eps(2), sketch_eps(65_535)
    (0.000980392156862745, 0.001, 1e-05)
    """
    return min(COARSEST, max(FINEST, 1.0 / (OF_BIN * max_bin)))


def cuts_of_sketches(
    client: Client, tables: list[Future], labels: list[Future], schema: Schema, params: DataParams, thinning: CutThinning
) -> Cuts:  # fmt: skip
    """Cuts of all rows. They depend on the partitions, but not on which worker holds which."""
    found = [
        client.submit(sketch_part, table, own, schema.categorical, params, pure=False)
        for table, own in zip(tables, labels, strict=True)
    ]
    while len(found) > 1:
        found = [
            client.submit(merge_sketches, found[at : at + AT_ONCE], pure=False)
            for at in range(0, len(found), AT_ONCE)
        ]
    cuts: Cuts = result(
        client,
        client.submit(cut_sketches, found[0], schema.category_counts, params.max_bin, thinning, pure=False),
    )
    return cuts


@telling
def sketch_part(
    part: PartTable, labels: Labels, categorical: frozenset[int], params: DataParams
) -> list[bytes]:
    """Task: the bytes of a sketch of every column; those of categories have none of their values."""
    columns = part.tables[0].columns
    sketches = [QuantileSketch(sketch_eps(params.max_bin), n_jobs=1) for _ in range(columns)]
    for _, table, own in part.pieces():
        weight = None if labels.weight is None else labels.weight[own]
        if table.sparse is not None:
            _add_stored(sketches, table, weight, params.absent_value)
        for panel in table.panels:
            for k in range(panel.columns):
                if panel.first + k not in categorical and panel.categories is None:
                    sketches[panel.first + k].update(np.ascontiguousarray(panel.values[:, k]), weight)
    return [sketch.to_bytes() for sketch in sketches]


def _add_stored(
    sketches: list[QuantileSketch], table: Table, weight: NDArray[np.float64] | None, absent: float
) -> None:
    """Add what a sparse table stores, and the weight of the rows that each column does not list."""
    assert table.sparse is not None
    starts, rows, values = table.sparse.by_column
    total = float(table.rows if weight is None else weight.sum())
    for column, sketch in enumerate(sketches):
        own = slice(int(starts[column]), int(starts[column + 1]))
        stored = np.ones(own.stop - own.start) if weight is None else weight[rows[own]]
        sketch.update(values[own], stored)
        left = total - float(stored.sum())
        if left > 0.0 and not np.isnan(absent):
            sketch.update([absent], [left])
    table.sparse.forget()


@telling
def merge_sketches(parts: list[list[bytes]]) -> list[bytes]:
    """Task: the sketches of rows that follow each other as one."""
    merged = []
    for column in zip(*parts, strict=True):
        first, *others = (QuantileSketch.from_bytes(one, n_jobs=1) for one in column)
        for other in others:
            first.merge(other)
        merged.append(first.to_bytes())
    return merged


@telling
def cut_sketches(
    sketches: list[bytes], categories: NDArray[np.int64] | None, max_bin: int, thinning: CutThinning
) -> Cuts:
    """Task: the cuts of merged sketches."""
    found = [QuantileSketch.from_bytes(one, n_jobs=1) for one in sketches]
    return cuts_from_sketches(found, max_bin, categories, thinning)
