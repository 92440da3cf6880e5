"""Leaf values that do not follow from the gradients of the rows that a tree saw: from all rows, or renewed by the loss itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.growth.kernels.leaves import add_leaves
from spinney.growth.kernels.records import Parts, Table, TreeArrays
from spinney.growth.kernels.refit import (
    SUMS,
    CountedRows,
    SumsByLeaf,
    add_noted,
    refit_leaves,
    size_all,
    sum_all,
)
from spinney.growth.kernels.rules import Rules
from spinney.growth.kernels.values import Renewed, write_values
from spinney.growth.ranks import JoinedRenewal, join_parts
from spinney.growth.room import Control
from spinney.jit import Bound, allocate
from spinney.jit.team import Team
from spinney.joining import ALONE, Joining
from spinney.objectives.base import Renew
from spinney.objectives.kernels.records import Gradients, LeafRows


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
    renew : Renew, optional
        What the loss itself finds for the rows of a leaf. Rank 0 gives it the rows of all ranks.
    every_output : bool, default=True
        Whether that looks at the scores of other outputs too.
    """

    all_rows: AllRows | None = None
    renew: Renew | None = None
    every_output: bool = True


NEWTON = LeafValues()  # from the gradients of the rows that a tree sees


class Finish:
    """The last steps of a tree: its values, where they are not what growing it gave, and the scores of the training rows.

    Parameters
    ----------
    values : LeafValues
        Where leaf values come from.
    control, rules, table, tree, by_leaf, gradients
        Memory of the grower.
    team : Team
        The threads to work with.
    joining, first
        Other ranks with other rows, and the number of this one's first row in the whole table.

    Attributes
    ----------
    leaves : int32[rows]
        To be filled with the leaf of every row before `refit`; empty where `refits` is False.
    refits : bool
        Whether values are computed from all rows.
    """

    def __init__(
        self, values: LeafValues, control: Control, rules: Rules, table: Table, tree: TreeArrays, by_leaf: LeafRows,
        gradients: Gradients, team: Team, joining: Joining = ALONE, first: int = 0,
    ) -> None:  # fmt: skip
        self._team, self._joining, self._table = team, joining, table
        self.refits = values.all_rows is not None
        self.leaves = np.empty(gradients.rows if self.refits else 0, np.int32)
        self._add: Bound = add_leaves.bind(by_leaf, tree, gradients)
        if values.all_rows is not None:
            gradients = values.all_rows.gradients
            counted_rows = _counted_rows(values.all_rows, control, table, by_leaf, self.leaves, team, joining)
            self._counted = counted_rows
            self._size_all: Bound = size_all.bind(counted_rows, gradients, table)
            self._sum_all: Bound = sum_all.bind(counted_rows, gradients, rules, table)
            self._refit: Bound = refit_leaves.bind(counted_rows, gradients, rules, table, tree)
            self._add_noted: Bound = add_noted.bind(by_leaf, self.leaves, tree, gradients)
        self._renew: Callable[[], None] | None = None
        if values.renew is not None:
            renewed = allocate(Renewed, tree=tree)
            own = by_leaf, gradients, renewed.steps
            self._renew = (
                partial(team.run, values.renew(*own))
                if joining.size == 1
                else JoinedRenewal(values.renew, values.every_output, joining, first, *own, team)
            )
            self._write: Bound = write_values.bind(by_leaf, renewed, rules, control, tree)

    def refit(self) -> None:
        """Compute the values of the latest tree from all rows, whose leaves are in `leaves`."""
        joining, counted = self._joining, self._counted
        self._team.run(self._size_all)
        if joining.size > 1:
            join_parts(counted.parts, 0, self._team.size, joining)
        self._team.run(self._sum_all)
        if joining.size > 1:
            joining.sum(counted.joined[: SUMS * int(self._table.state["used"][0])])
        self._team.run(self._refit)

    def renew(self) -> None:
        """Let the loss find the values of the latest tree, where it has a rule of its own."""
        if self._renew is not None:
            self._renew()
            self._write()

    def add(self, by_leaf: LeafRows | None) -> None:
        """Move the scores of all rows by the values of the latest tree; without rows by leaf, by what is in `leaves`."""
        self._team.run(self._add_noted if by_leaf is None else self._add)


def _counted_rows(
    all_rows: AllRows,
    control: Control,
    table: Table,
    by_leaf: LeafRows,
    leaves: NDArray[np.int32],
    team: Team,
    joining: Joining,
) -> Any:
    total = np.array([len(all_rows.counted)])
    joining.sum(total)
    return allocate(
        CountedRows,
        count=len(all_rows.counted),
        total=int(total[0]),
        counted=all_rows.counted,
        leaves=leaves,
        control=control,
        threads=team.size,
        parts=allocate(Parts, threads=team.size),
        sums=allocate(SumsByLeaf, threads=team.size, table=table),
        by_leaf=by_leaf,
        table=table,
    )
