"""Parts of a data set → what one rank of a training holds."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from spinney.binning.encode import ColumnCodes, with_rows
from spinney.binning.matrix import BinnedMatrix
from spinney.binning.plan import Plan
from spinney.binning.streamed import StreamedDataset
from spinney.cluster.encode import EncodedPart, Form, join_codes
from spinney.cluster.travel import sound
from spinney.data import Labels
from spinney.data.labels import renumbered
from spinney.data.table import starts_of
from spinney.jit.team import Team
from spinney.training.shard_course import Shard

# Rows from which a part is a block of its own: every leaf that is summed costs something in each block.
BLOCK_ROWS = 2**18


class PartBlocks:
    """The codes of some parts, each a block; small ones that follow each other are joined.

    Parameters
    ----------
    plan : Plan
        What codes mean.
    parts : sequence of ColumnCodes
        Codes by column, perhaps none. Those of large parts are not copied.
    from_sparse : bool
        Whether they come from sparse tables.
    team : Team
        Threads that make the copy by rows.
    """

    def __init__(self, plan: Plan, parts: Sequence[ColumnCodes], from_sparse: bool, team: Team) -> None:
        self._blocks = [with_rows(codes, plan, team) for codes in _joined(parts)]
        self.features, self.columns, self.bins = plan.features, plan.features.columns, plan.features.bins
        self.begins: NDArray[np.int64] = starts_of([block.rows for block in self._blocks])
        self.rows = int(self.begins[-1])
        self.wide, self.from_sparse = bool(plan.dtype == np.uint16), from_sparse
        self.values = sum(block.values for block in self._blocks)
        self.nbytes = sum(block.nbytes for block in self._blocks)
        self._backward = False

    @property
    def entries(self) -> int:
        """Entries of sparse columns."""
        return sum(int(block.sparse.entries) for block in self._blocks)

    def scan(self, team: Team | None = None, but: Container[int] = ()) -> Iterator[tuple[int, BinnedMatrix]]:
        """Every block once, but for some, forward and backward in turn."""
        order = range(len(self._blocks))
        found = [(block, self._blocks[block]) for block in (reversed(order) if self._backward else order)]
        self._backward = not self._backward
        return (one for one in found if one[0] not in but)

    def release(self, block: int) -> bool:
        """There is memory for all."""
        return True


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


class ShardDataset(StreamedDataset):
    """The rows of one rank.

    Parameters
    ----------
    form : Form
        What all parts of the data set have in common.
    parts : sequence of EncodedPart
        Those of the rank, perhaps none.
    team : Team
        Threads to work with.
    """

    blocks: PartBlocks
    _place = "on a cluster"

    def __init__(self, form: Form, parts: Sequence[EncodedPart], team: Team) -> None:
        self._views = {}
        form, parts = sound(form), [sound(part) for part in parts]
        self.schema, self.params, self.plan, self.cuts = form.schema, form.params, form.plan, form.plan.cuts
        self.blocks = PartBlocks(form.plan, [part.codes for part in parts], form.from_sparse, team)
        self.rows = self.blocks.rows
        labels = Labels.concatenate([form.no_labels, *(part.labels for part in parts)])
        self.target = labels.target if labels.has_target else None
        self.weight, self.margin, self.queries = labels.weight, labels.margin, renumbered(labels.queries)

    def describe(self) -> dict[str, int]:
        """Tell how the rows are kept: what `Dataset.describe` tells."""
        return self._described(self.plan.features, self.blocks.entries)


def shard_of(form: Form, parts: Sequence[EncodedPart], first: int, total: int, team: Team) -> Shard:
    """What a rank trains on.

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
        Threads to work with.
    """
    return Shard(ShardDataset(form, parts, team), first, total)
