"""Views of a table that growers other than the histogram grower need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.binning.cuts import Cuts, find_cuts
from spinney.binning.encode import plan_and_encode
from spinney.binning.matrix import BinnedMatrix
from spinney.data import Table
from spinney.jit.team import Team

FINE_BINS = 65_536  # from which tree_method approx chooses


@dataclass(frozen=True, eq=False)
class Fine:
    """A table in very many fine bins; columns stand alone or are sparse.

    Attributes
    ----------
    cuts : Cuts
        Where its columns are cut.
    zero : int64[columns]
        The bin of 0 in columns that have the value, else -1.
    matrix : BinnedMatrix
        The codes.
    """

    cuts: Cuts
    zero: NDArray[np.int64]
    matrix: BinnedMatrix


def fine_view(
    table: Table,
    weight: NDArray[np.float64] | None,
    categories: NDArray[np.int64] | None,
    absent: float,
    team: Team,
) -> Fine:
    """Cut a table finely and bin it."""
    cuts = find_cuts(table, weight, FINE_BINS, team, absent, categories, thin=False)
    zero = np.where(columns_with_zero(table, absent), cuts.bins_of(0.0), -1)
    _, matrix = plan_and_encode(table, cuts, team, absent=absent)
    return Fine(cuts, zero, matrix)


def columns_with_zero(table: Table, absent: float) -> NDArray[np.bool_]:
    """Which columns of a table have the value 0, stored or not.

    Examples
    --------
    >>> from spinney.data import read_table
    >>> columns_with_zero(read_table(np.array([[0.0, 1.0], [2.0, 3.0]])), 0.0).tolist()
    [True, False]
    """
    if table.sparse is None:
        found = [(panel.values[:, j] == 0).any() for panel in table.panels for j in range(panel.columns)]
        return np.array(found, bool)
    starts, _, values = table.sparse.by_column
    table.sparse.forget()
    zeros = np.concatenate([np.zeros(1, np.int64), np.cumsum(values == 0)])
    has: NDArray[np.bool_] = zeros[starts[1:]] > zeros[starts[:-1]]
    return has if np.isnan(absent) else has | (np.diff(starts) < table.rows)
