"""Parts of a data set → the binned data of one rank of a training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from spinney.binning.binned import BinnedData, MemoryBlocks
from spinney.binning.encode import ColumnCodes, with_rows
from spinney.binning.raw_table import NoTable
from spinney.dask.executor import EncodedPart, Form, join_codes
from spinney.dask.tasks import sound
from spinney.data import Labels
from spinney.data.labels import by_column, renumbered
from spinney.jit.team import Team

# Rows from which a part is a block of its own: every leaf that is summed costs something in each block.
BLOCK_ROWS = 2**18


def rank_data(form: Form, parts: Sequence[EncodedPart], first: int, total: int, team: Team) -> BinnedData:
    """The rows of one rank: a block for each part, or for small parts that follow each other; large ones are not copied.

    Parameters
    ----------
    form : Form
        What all parts of the data set have in common.
    parts : sequence of EncodedPart
        Those of the rank, in the order of their rows, perhaps none.
    first : int
        Number of their first row in the whole table.
    total : int
        Rows of the whole table.
    team : Team
        Threads that make the copy by rows.
    """
    form, parts = sound(form), [sound(part) for part in parts]
    plan = form.plan
    blocks = [with_rows(codes, plan, team) for codes in _joined([part.codes for part in parts])]
    codes = MemoryBlocks(blocks, plan.features, bool(plan.dtype == np.uint16), form.from_sparse)
    found = Labels.concatenate([form.no_labels, *(part.labels for part in parts)])
    labels = Labels(by_column(found.target), found.weight, found.margin, renumbered(found.queries))
    return BinnedData(
        form.schema, form.params, plan, codes, labels, NoTable("on a cluster"), first=first, total=total
    )


def _joined(parts: Sequence[ColumnCodes]) -> Iterator[ColumnCodes]:
    """Codes of so many parts together that a block is large enough."""
    held: list[ColumnCodes] = []
    rows = 0
    for part in parts:
        held.append(part)
        rows += part.groups.shape[1]
        if rows >= BLOCK_ROWS:
            yield join_codes(held)
            held, rows = [], 0
    if held:
        yield join_codes(held)
