"""The plan of a binned table: which columns stand alone, share a bundle, or are sparse, and what their codes are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.bundle import Bundling, find_bundles
from spinney.binning.cuts import Cuts
from spinney.binning.entries import Entries
from spinney.binning.features import SPARSE, Features, code_type
from spinney.binning.kernels.records import NO_DEFAULT
from spinney.binning.survey import TableBins

# Share of the rows from which a group is kept for all rows, instead of the rows with an entry only.
DENSE_SHARE = 0.25


@dataclass(frozen=True, eq=False)
class Plan:
    """How values become codes: made from a survey of a whole table, good for its rows in blocks of any size.

    Attributes
    ----------
    cuts : Cuts
        Where columns are cut into bins.
    absent : float
        What an entry that a sparse table does not store means: 0, or NaN.
    features : Features
        Groups, and the codes of each column.
    conflicts : int
        Entries that bundles have no room for.
    """

    cuts: Cuts
    absent: float
    features: Features
    conflicts: int = 0

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the codes of groups."""
        return code_type(int(self.features.group_codes.max(initial=0)))

    @property
    def listed(self) -> NDArray[np.bool_]:
        """Columns that have codes for their entries only: those of bundles, and sparse ones."""
        found: NDArray[np.bool_] = self.features.default != NO_DEFAULT
        return found


def make_plan(found: TableBins, cuts: Cuts, absent: float, bundling: Bundling | None) -> Plan:
    """Give each column of entries a place: in a bundle, alone, or among the sparse ones.

    Parameters
    ----------
    found : TableBins
        What was found in the table.
    cuts, absent
        What it was surveyed with.
    bundling : Bundling, optional
        How to bundle columns. Without it they stand alone or are sparse, which any rows can be coded by.

    Returns
    -------
    Plan
        The same for any number of threads.
    """
    entries, bins = found.entries, cuts.bins
    if not len(entries.columns):
        return Plan(cuts, absent, Features.lone(bins))
    own_bins = bins[entries.columns]
    # A missing value has a code only where there is one.
    has_missing = (entries.last_bins() == own_bins) | (entries.default == own_bins)
    codes = own_bins - ~has_missing
    bundle, conflicts = np.arange(len(codes)), np.zeros(len(codes), np.int64)
    if bundling is not None:
        bundles = find_bundles(entries, codes, found.rows, len(found.lines.columns), bundling)
        bundle, conflicts = bundles.bundle, bundles.conflicts
    shared, alone = _dense_bundles(bundle, entries.counts, found.rows)
    features = _place(found.lines.columns, entries, bins, codes, shared, alone)
    return Plan(cuts, absent, features, int(conflicts[np.unique(bundle[shared >= 0])].sum()))


def _dense_bundles(
    bundle: NDArray[np.int64], counts: NDArray[np.int64], rows: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Number the bundles that are worth being kept for all rows; tell which columns are so on their own."""
    alone = (counts >= DENSE_SHARE * rows) & (bundle < 0)
    shared = np.full(len(bundle), -1, np.int64)
    placed = bundle >= 0
    if placed.any():
        size = np.bincount(bundle[placed])
        filled = np.bincount(bundle[placed], weights=counts[placed])
        full = filled >= DENSE_SHARE * rows
        alone[placed] = (full & (size == 1))[bundle[placed]]
        number = np.cumsum(full & (size > 1)) - 1
        shared[placed] = np.where((full & (size > 1))[bundle[placed]], number[bundle[placed]], -1)
    return shared, alone


def _place(
    lines: NDArray[np.int64],
    entries: Entries,
    bins: NDArray[np.int64],
    codes: NDArray[np.int64],
    shared: NDArray[np.int64],
    alone: NDArray[np.bool_],
) -> Features:
    """Groups: first the columns that came as lines, then those that stand alone, then the bundles."""
    lone = Features.lone(bins)
    group, low, count, default = lone.group, lone.low, lone.codes, lone.default
    group[lines] = np.arange(len(lines))
    group[entries.columns[alone]] = len(lines) + np.arange(int(alone.sum()))
    first = len(lines) + int(alone.sum())
    group[entries.columns[shared >= 0]] = first + shared[shared >= 0]
    for chosen, start in ((shared >= 0, 1), (~alone & (shared < 0), 0)):
        columns = entries.columns[chosen]
        count[columns], default[columns] = codes[chosen], entries.default[chosen]
        if start == 0:
            group[columns] = SPARSE
        # Members of a bundle stand side by side, of those with one code the ones with most entries first: search soon leaves
        # the others alone. Sparse columns keep their order, in which rows list their entries.
        rank = np.where((count[columns] == 1) & (start == 1), -entries.counts[chosen], -np.inf)
        order = np.lexsort((columns, rank, group[columns]))
        ends = np.cumsum(count[columns][order])
        begins = ends - count[columns][order]
        new = np.diff(group[columns][order], prepend=-2) != 0
        low[columns[order]] = start + begins - np.maximum.accumulate(np.where(new, begins, 0))
    return Features(group, low, count, bins, default)
