"""Parts of a data set → the binned data of one rank of a training.

Consecutive small parts are merged into blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from spinney.binning.binned import BinnedData, MemoryBlocks
from spinney.binning.encode import ColumnCodes, with_rows
from spinney.binning.raw_table import NoTable
from spinney.dask.executor import DatasetMeta, EncodedPart, concatenate_codes
from spinney.dask.tasks import aligned
from spinney.data import Labels
from spinney.data.labels import by_column, renumbered
from spinney.jit.team import Team

# A part of so many rows is a block of its own. Smaller ones are merged: the sums of every leaf take some time in each block.
BLOCK_ROWS = 2**18


def rank_data(
    meta: DatasetMeta, parts: Sequence[EncodedPart], first: int, total: int, team: Team
) -> BinnedData:
    """The rows of one rank: a block for each part, or for consecutive small parts; large ones are not copied.

    Parameters
    ----------
    meta : DatasetMeta
        Cuts, columns and parameters of the data set.
    parts : sequence of EncodedPart
        The parts of the rank, in the order of their rows; maybe none.
    first : int
        Number of their first row in the whole table.
    total : int
        Rows of the whole table.
    team : Team
        Threads that make the copy by rows.
    """
    meta, parts = aligned(meta), [aligned(part) for part in parts]
    plan = meta.plan
    blocks = [with_rows(codes, plan, team) for codes in _merged_codes([part.codes for part in parts])]
    codes = MemoryBlocks(blocks, plan.features, bool(plan.dtype == np.uint16), meta.from_sparse)
    found = Labels.concatenate([meta.no_labels, *(part.labels for part in parts)])
    labels = Labels(by_column(found.target), found.weight, found.margin, renumbered(found.queries))
    return BinnedData(
        meta.schema, meta.params, plan, codes, labels, NoTable("on a cluster"), first=first, total=total
    )


def _merged_codes(parts: Sequence[ColumnCodes]) -> Iterator[ColumnCodes]:
    """Codes by block: those of consecutive parts until a block has `BLOCK_ROWS` rows."""
    pending: list[ColumnCodes] = []
    rows = 0
    for part in parts:
        pending.append(part)
        rows += part.groups.shape[1]
        if rows >= BLOCK_ROWS:
            yield concatenate_codes(pending)
            pending, rows = [], 0
    if pending:
        yield concatenate_codes(pending)
