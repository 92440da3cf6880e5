"""What growing a tree joins over ranks, each of which holds some rows of the table; the same tree grows at every rank."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spinney.growth.kernels.records import Parts, Table
from spinney.growth.kernels.travel import Travel
from spinney.growth.packing import BLOCK
from spinney.growth.room import leaf_rows_room, nodes_of
from spinney.jit import allocate
from spinney.jit.records import of_thread
from spinney.jit.team import Team
from spinney.joining import Joining
from spinney.objectives.base import Renew
from spinney.objectives.gradients import gradients_room
from spinney.objectives.kernels.records import Gradients, LeafRows


def least_of(number: int, joining: Joining) -> int:
    """The smallest of the ranks' numbers.

    Examples
    --------
    >>> from spinney.joining import ALONE
    >>> least_of(3, ALONE)
    3
    """
    found = np.array([-number])
    joining.largest(found)
    return -int(found[0])


def join_parts(parts: Parts, count: int, threads: int, joining: Joining) -> int:
    """Replace the sums of each thread's rows by those of all ranks, in the place of the first; gives the sum of `count`."""
    by_thread = [of_thread(parts, rank).sums for rank in range(threads)]
    sums = np.append(np.sum(by_thread, axis=0), np.int64(count))
    joining.sum(sums)
    for rank, own in enumerate(by_thread):
        own[:] = sums[:2] if rank == 0 else 0
    return int(sums[2])


def travel_of(nodes: NDArray[np.int64], used: int, table: Table) -> Travel:
    """Room for the histograms of some nodes, each of so many codes, on their way to other ranks."""
    small = table.nodes["count"][nodes] <= BLOCK
    lengths = np.where(small, used, used + (used + 1) // 2)
    length = int(lengths.sum())
    return allocate(
        Travel, count=len(nodes), used=used, length=length, slots=table.nodes["slot"][nodes], small=small.astype(np.int64),
        begins=np.cumsum(lengths) - lengths, packing=table.packing, cells=np.empty(length, np.int64),
    )  # fmt: skip


class JoinedRenewal:
    """Leaf values that the loss itself finds: at rank 0, from the rows of all ranks, which it is sent.

    Four gathers, and what is spread. 16 bytes of each row of the tree travel, and where the loss looks at the scores of all
    outputs, 8 for each beyond the first.

    Parameters
    ----------
    renew : Renew
        What makes the job; rank 0 has the labels of all rows.
    every_output : bool
        Whether the loss of an output looks at the scores of the others.
    joining, first
        The other ranks, and the number of this one's first row in the whole table.
    by_leaf, gradients, steps
        Those of this rank's rows; steps are written at every rank.
    team : Team
        The threads to work with.
    """

    def __init__(
        self, renew: Renew, every_output: bool, joining: Joining, first: int, by_leaf: LeafRows, gradients: Gradients,
        steps: NDArray[np.float64], team: Team,
    ) -> None:  # fmt: skip
        self._joining, self._first, self._team = joining, first, team
        self._by_leaf, self._steps, self._every_output = by_leaf, steps, every_output
        outputs, rows = gradients.outputs, gradients.rows
        self._scores = gradients.scores.reshape(outputs, rows)
        self._hessians = gradients.pairs.reshape(outputs, rows, 2)[:, :, 1]
        total = np.array([rows])
        joining.sum(total)
        self._whole: LeafRows | None = None
        if joining.rank == 0:
            self._all_steps = np.zeros_like(steps)
            self._whole = leaf_rows_room(int(total[0]), by_leaf.max_nodes)
            self._gradients = gradients_room(np.zeros((outputs, int(total[0]))), gradients.unit)
            self._job = renew(self._whole, self._gradients, self._all_steps)

    def __call__(self) -> None:
        """Write the steps of the latest tree's leaves."""
        joining, by_leaf = self._joining, self._by_leaf
        nodes, output = nodes_of(by_leaf), int(by_leaf.grown["output"][0])
        counts = by_leaf.end[:nodes] - by_leaf.begin[:nodes]
        members = by_leaf.members[: counts.sum()]
        outputs = slice(None) if self._every_output else slice(output, output + 1)
        sent = (
            counts[None],
            members + np.int32(self._first),
            np.ascontiguousarray(self._scores[outputs, members].T),
            self._hessians[output, members],
        )
        counts, rows, scores, hessians = (joining.gather(values) or [] for values in sent)
        answer = None
        if self._whole is not None:
            self._list_rows(np.concatenate(counts), rows)
            self._whole.grown["output"], self._whole.grown["nodes"] = output, nodes
            every, gradients = np.concatenate(rows), self._gradients
            gradients.scores[outputs, every] = np.concatenate(scores).T
            gradients.pairs[output, every, 1] = np.concatenate(hessians)
            self._team.run(self._job)
            answer = self._all_steps[:nodes]
        self._steps[:nodes] = joining.spread(answer)

    def _list_rows(self, counts: NDArray[np.int64], rows: Sequence[NDArray[np.int32]]) -> None:
        """List the rows of all ranks by leaf; a rank's are listed by leaf already, `counts` tells how many each leaf has."""
        whole, nodes = self._whole, counts.shape[1]
        assert whole is not None
        whole.end[:nodes] = np.cumsum(counts.sum(axis=0))
        whole.begin[:nodes] = whole.end[:nodes] - counts.sum(axis=0)
        to = whole.begin[:nodes].copy()
        for count, own in zip(counts, rows, strict=True):
            shift = to - (np.cumsum(count) - count)
            whole.members[np.arange(len(own)) + np.repeat(shift, count)] = own
            to += count
