"""The last steps of a tree: leaf values that do not follow from the gradients of the rows that it saw, and scores.

A leaf's value is minus the sum of its gradients over that of its hessians (and penalties), from the rows that grew the tree or,
with `leaf_values="all"`, from all rows where the tree saw a sample (`refit`). Where the second derivative is 0 (absolute error,
quantiles, Huber's tails), or with `leaf_estimation="line_search"`, the loss finds the values (`refit_by_loss`) between growing
and adding the tree to the scores: a weighted quantile of the residuals, or the step at which the derivative of the leaf's loss
is 0.

Each rank holds some rows of the table, but the same tree grows at every rank: what is summed over ranks while a tree grows stands
here too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.collective import ALONE, Communicator
from spinney.data.kernels.records import Gradients, LeafRows
from spinney.data.labels import LeafRefit, allocate_gradients
from spinney.growth.kernels.blockwise import Exchange
from spinney.growth.kernels.leaf_values import (
    SUMS,
    CountedRows,
    RefittedLeaves,
    SumsByLeaf,
    add_by_row,
    refit_leaves,
    size_all,
    sum_all,
    write_values,
)
from spinney.growth.kernels.leaves import add_leaves
from spinney.growth.kernels.packing import SUM_BLOCK
from spinney.growth.kernels.records import NodeTable, PartialSums, TreeArrays, TreeRules
from spinney.growth.workspace import Control, allocate_leaf_rows, nodes_of
from spinney.jit import Bound, allocate
from spinney.jit.records import of_thread
from spinney.jit.team import Team


@dataclass(frozen=True, eq=False)
class AllRows:
    """What leaf values are computed from where a tree sees only some of the rows.

    Attributes
    ----------
    counted : int32
        The rows that count, ascending: all but those of weight 0.
    gradients : Gradients
        Those of all rows, as they were before rows were drawn.
    """

    counted: NDArray[np.int32]
    gradients: Gradients


@dataclass(frozen=True, eq=False)
class LeafValues:
    """Where leaf values come from, if not from the gradients of the rows that a tree sees.

    Attributes
    ----------
    all_rows : AllRows, optional
        All rows, where a tree sees only some of them.
    refit_by_loss : LeafRefit, optional
        Makes the job that finds the values by the rule of the loss. At rank 0 it has the rows of all ranks.
    every_output : bool, default=True
        Whether that rule uses the scores of other outputs too.
    """

    all_rows: AllRows | None = None
    refit_by_loss: LeafRefit | None = None
    every_output: bool = True


NEWTON = LeafValues()  # from the gradients of the rows that a tree sees


class LeafFinisher:
    """Does the last steps of a tree: its values, where they are not those that growing gave, and the training scores.

    Parameters
    ----------
    values : LeafValues
        Where leaf values come from.
    control, rules, table, tree, by_leaf, gradients
        Memory of the grower.
    team : Team
        The threads to work with.
    communicator, first
        Other ranks with other rows, and the number of this one's first row in the whole table.

    Attributes
    ----------
    leaf_of_row : int32[rows]
        To be filled with the leaf of every row before `refit`; empty where `refits` is False.
    refits : bool
        Whether values are computed from all rows.
    """

    def __init__(
        self, values: LeafValues, control: Control, rules: TreeRules, table: NodeTable, tree: TreeArrays, by_leaf: LeafRows,
        gradients: Gradients, team: Team, communicator: Communicator = ALONE, first: int = 0,
    ) -> None:  # fmt: skip
        self._team, self._communicator, self._table = team, communicator, table
        self.refits = values.all_rows is not None
        self.leaf_of_row = np.empty(gradients.rows if self.refits else 0, np.int32)
        self._add: Bound = add_leaves.bind(by_leaf, tree, gradients)
        if values.all_rows is not None:
            gradients = values.all_rows.gradients
            counted_rows = _counted_rows(
                values.all_rows, control, table, by_leaf, self.leaf_of_row, team, communicator
            )
            self._counted = counted_rows
            self._size_all: Bound = size_all.bind(counted_rows, gradients, table)
            self._sum_all: Bound = sum_all.bind(counted_rows, gradients, rules, table)
            self._refit: Bound = refit_leaves.bind(counted_rows, gradients, rules, table, tree)
            self._add_all: Bound = add_by_row.bind(by_leaf, self.leaf_of_row, tree, gradients)
        self._find_steps: Callable[[], None] | None = None
        if values.refit_by_loss is not None:
            refitted = allocate(RefittedLeaves, tree=tree)
            arrays = by_leaf, gradients, refitted.steps
            self._find_steps = (
                partial(team.run, values.refit_by_loss(*arrays))
                if communicator.size == 1
                else RankLeafRefit(
                    values.refit_by_loss, values.every_output, communicator, first, *arrays, team
                )
            )
            self._write: Bound = write_values.bind(by_leaf, refitted, rules, control, tree)

    def refit(self) -> None:
        """Compute the values of the latest tree from all rows, whose leaves are in `leaf_of_row`."""
        communicator, counted = self._communicator, self._counted
        self._team.run(self._size_all)
        if communicator.size > 1:
            allreduce_parts(counted.partial_sums, 0, self._team.size, communicator)
        self._team.run(self._sum_all)
        if communicator.size > 1:
            communicator.allreduce_sum(counted.joined[: SUMS * int(self._table.state["used"][0])])
        self._team.run(self._refit)

    def refit_by_loss(self) -> None:
        """Compute the values of the latest tree by the rule of the loss, where it has one."""
        if self._find_steps is not None:
            self._find_steps()
            self._write()

    def add(self, by_leaf: LeafRows | None) -> None:
        """Add the values of the latest tree to the scores of all rows; without rows by leaf, by `leaf_of_row`."""
        self._team.run(self._add_all if by_leaf is None else self._add)


def _counted_rows(
    all_rows: AllRows,
    control: Control,
    table: NodeTable,
    by_leaf: LeafRows,
    leaf_of_row: NDArray[np.int32],
    team: Team,
    communicator: Communicator,
) -> Any:
    """Memory for sums over all rows, by leaf."""
    total = np.array([len(all_rows.counted)])
    communicator.allreduce_sum(total)
    return allocate(
        CountedRows,
        count=len(all_rows.counted),
        total=int(total[0]),
        counted=all_rows.counted,
        leaf_of_row=leaf_of_row,
        control=control,
        threads=team.size,
        partial_sums=allocate(PartialSums, threads=team.size),
        sums=allocate(SumsByLeaf, threads=team.size, table=table),
        by_leaf=by_leaf,
        table=table,
    )


class RankLeafRefit:
    """Finds leaf values by the rule of the loss at rank 0, which gets the rows of all ranks.

    It takes four gathers and a broadcast. 16 bytes of each row of the tree are sent, and where the loss uses the scores of all
    outputs, 8 for each beyond the first.

    Parameters
    ----------
    refit_by_loss : LeafRefit
        Makes the job; at rank 0 it has the labels of all rows.
    every_output : bool
        Whether the loss of an output uses the scores of the others.
    communicator, first
        The other ranks, and the number of this one's first row in the whole table.
    by_leaf, gradients, steps
        Those of this rank's rows; steps are written at every rank.
    team : Team
        The threads to work with.
    """

    def __init__(
        self, refit_by_loss: LeafRefit, every_output: bool, communicator: Communicator, first: int, by_leaf: LeafRows,
        gradients: Gradients, steps: NDArray[np.float64], team: Team,
    ) -> None:  # fmt: skip
        self._communicator, self._first, self._team = communicator, first, team
        self._by_leaf, self._steps, self._every_output = by_leaf, steps, every_output
        outputs, rows = gradients.outputs, gradients.rows
        self._scores = gradients.scores.reshape(outputs, rows)
        self._hessians = gradients.pairs.reshape(outputs, rows, 2)[:, :, 1]
        total = np.array([rows])
        communicator.allreduce_sum(total)
        self._all_by_leaf: LeafRows | None = None
        if communicator.rank == 0:
            self._all_steps = np.zeros_like(steps)
            self._all_by_leaf = allocate_leaf_rows(int(total[0]), by_leaf.max_nodes)
            self._gradients = allocate_gradients(np.zeros((outputs, int(total[0]))), gradients.unit)
            self._job = refit_by_loss(self._all_by_leaf, self._gradients, self._all_steps)

    def __call__(self) -> None:
        """Write the steps of the latest tree's leaves."""
        communicator, by_leaf = self._communicator, self._by_leaf
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
        counts, rows, scores, hessians = (communicator.gather(values) or [] for values in sent)
        steps = None
        if self._all_by_leaf is not None:
            self._list_rows(np.concatenate(counts), rows)
            self._all_by_leaf.grown["output"], self._all_by_leaf.grown["nodes"] = output, nodes
            all_rows, gradients = np.concatenate(rows), self._gradients
            gradients.scores[outputs, all_rows] = np.concatenate(scores).T
            gradients.pairs[output, all_rows, 1] = np.concatenate(hessians)
            self._team.run(self._job)
            steps = self._all_steps[:nodes]
        self._steps[:nodes] = communicator.broadcast(steps)

    def _list_rows(self, counts: NDArray[np.int64], rows: Sequence[NDArray[np.int32]]) -> None:
        """List the rows of all ranks by leaf. Those of each rank are in the order of leaves, `counts` of each leaf."""
        by_leaf, nodes = self._all_by_leaf, counts.shape[1]
        assert by_leaf is not None
        by_leaf.end[:nodes] = np.cumsum(counts.sum(axis=0))
        by_leaf.begin[:nodes] = by_leaf.end[:nodes] - counts.sum(axis=0)
        to = by_leaf.begin[:nodes].copy()
        for count, rank_rows in zip(counts, rows, strict=True):
            shift = to - (np.cumsum(count) - count)
            by_leaf.members[np.arange(len(rank_rows)) + np.repeat(shift, count)] = rank_rows
            to += count


def allreduce_min(number: int, communicator: Communicator) -> int:
    """The smallest of the ranks' numbers.

    Examples
    --------
    >>> from spinney.collective import ALONE
    >>> allreduce_min(3, ALONE)
    3
    """
    found = np.array([-number])
    communicator.allreduce_max(found)
    return -int(found[0])


def allreduce_parts(parts: PartialSums, count: int, threads: int, communicator: Communicator) -> int:
    """Replace the sums of the first thread by those over all ranks, and those of the others by 0; returns the sum of `count`."""
    by_thread = [of_thread(parts, thread).sums for thread in range(threads)]
    sums = np.append(np.sum(by_thread, axis=0), np.int64(count))
    communicator.allreduce_sum(sums)
    for thread, thread_sums in enumerate(by_thread):
        thread_sums[:] = sums[:2] if thread == 0 else 0
    return int(sums[2])


def allocate_exchange(nodes: NDArray[np.int64], used: int, table: NodeTable) -> Exchange:
    """Memory for the histograms of some nodes, each of `used` codes, which ranks exchange."""
    small = table.nodes["count"][nodes] <= SUM_BLOCK
    lengths = np.where(small, used, used + (used + 1) // 2)
    length = int(lengths.sum())
    return allocate(
        Exchange, count=len(nodes), used=used, length=length, slots=table.nodes["slot"][nodes], small=small.astype(np.int64),
        begins=np.cumsum(lengths) - lengths, packing=table.packing, cells=np.empty(length, np.int64),
    )  # fmt: skip
