"""Leaf values from all rows, for trees that a sample of them has grown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.growth.kernels.records import Parts, Table, TreeArrays
from spinney.growth.kernels.refit import Everyone, refit_leaves
from spinney.growth.kernels.rules import Rules
from spinney.growth.room import Control
from spinney.jit import Bound, room
from spinney.jit.team import Team
from spinney.objectives.kernels.records import Gradients


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


def refit(
    all_rows: AllRows,
    control: Control,
    rules: Rules,
    table: Table,
    tree: TreeArrays,
    leaves: NDArray[np.int32],
    team: Team,
) -> Bound:
    """A job that computes the latest tree's values again, from the leaves of all rows, and adds them to the scores."""
    everyone = room(
        Everyone,
        count=len(all_rows.counted),
        counted=all_rows.counted,
        leaves=leaves,
        control=control,
        threads=team.size,
        parts=room(Parts, threads=team.size),
        table=table,
    )
    job: Bound = refit_leaves.bind(everyone, all_rows.gradients, rules, table, tree)
    return job
