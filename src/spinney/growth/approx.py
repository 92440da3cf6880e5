"""The approximate grower: bins chosen anew for every tree by hessian, then histograms over them.

The table is binned very finely once (`binning/views.py`). For every tree, hessians are summed by fine bin, neighbours are joined
into few bins of about equal sums, and codes are rewritten (`kernels/proposal.py`); the histogram grower does the rest. With
local proposals a tree is grown by the exact grower, which then tries only some of the cuts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.cuts import Cuts, Threshold
from spinney.binning.kernels.bin import by_rows
from spinney.binning.matrix import (
    SPARSE,
    BinnedMatrix,
    ColumnLayout,
    code_type,
    lines_record,
    row_stride,
    split8,
)
from spinney.data.kernels.records import Gradients, LeafRows
from spinney.growth.hist import HistGrower
from spinney.growth.kernels.proposal import JoinedBins, NewCodes, Proposal, move_codes, propose
from spinney.growth.kernels.records import PartialSums
from spinney.growth.leaf_values import NEWTON, LeafValues
from spinney.jit import Bound, allocate
from spinney.jit.team import Team
from spinney.params import Config
from spinney.sampling import Bag
from spinney.tree import Tree


class TreeCuts:
    """The latest tree's bins in terms of the fine ones, used in the place of `Cuts`."""

    def __init__(self, fine: Cuts, most: int) -> None:
        self.fine, self.categorical = fine, fine.categorical
        self.last = np.zeros((len(fine.bins), most), np.int32)

    def fine_bin(self, columns: NDArray[Any], bins: NDArray[Any]) -> NDArray[np.int32]:
        """Last fine bin of some bins."""
        found: NDArray[np.int32] = self.last[columns, bins]
        return found

    def thresholds(self) -> Threshold:
        """A function from splits "bin <= b" of some columns to their real thresholds."""
        fine = self.fine.thresholds()
        return lambda columns, bins: fine(columns, self.fine_bin(columns, bins))


class ApproxGrower:
    """Grows trees on bins that are quantiles of the hessian. A tree is pruned by gamma when it is finished.

    Parameters
    ----------
    matrix, cuts
        The training rows in very many fine bins; columns stand alone or are sparse.
    zero : int64[columns]
        Fine bin of 0 where absent entries are 0, else -1.
    most : int
        Bins of a column in one tree.
    config, gradients, bag, team, values, rows
        As for `HistGrower`.
    """

    def __init__(
        self,
        matrix: BinnedMatrix,
        cuts: Cuts,
        zero: NDArray[np.int64],
        most: int,
        config: Config,
        gradients: Gradients,
        bag: Bag,
        team: Team,
        values: LeafValues = NEWTON,
        rows: NDArray[np.int32] | None = None,
    ) -> None:
        self._team, self._fine = team, matrix
        # Categories are never merged.
        bins = np.where(cuts.categorical != 0, matrix.bins, np.minimum(matrix.bins, most))
        self._coarse = _coarse_matrix(matrix, bins)
        self._cuts = TreeCuts(cuts, int(max(most, bins.max())))
        self._grower = HistGrower(
            self._coarse, self._cuts, config, gradients, bag, team, values, prune=True, rows=rows
        )
        self._fine_cut = np.empty(self._grower.arrays.max_nodes, np.int32)
        self._propose = self._bind(zero, gradients)

    def grow(self, output: int, seed: int, rate: float) -> tuple[Tree, LeafRows | None]:
        """Grow one tree for an output; see `HistGrower.grow`."""
        self._grower.control["output"] = output
        for job in self._propose:
            self._team.run(job)
        tree, by_leaf = self._grower.grow(output, seed, rate)
        inner = tree.feature >= 0
        cut_bin = self._grower.arrays.cut_bin[: tree.nodes][inner]
        self._fine_cut[: tree.nodes][inner] = self._cuts.fine_bin(tree.feature[inner], cut_bin)
        return tree, by_leaf

    def add(self, by_leaf: LeafRows | None) -> None:
        """Add the latest tree to the scores of the training rows; see `HistGrower.add`."""
        self._grower.add(by_leaf)

    def walk(
        self, matrix: BinnedMatrix, scores: NDArray[np.float64], rows: NDArray[np.int32] | None = None
    ) -> Bound:
        """A job that adds the latest tree to the scores of other rows in the same fine bins; see `HistGrower.walk`."""
        return self._grower.walk(matrix, scores, rows, self._fine_cut)

    def _bind(self, zero: NDArray[np.int64], gradients: Gradients) -> list[Bound]:
        fine, coarse = self._fine, self._coarse
        data = fine.binned(self._cuts.categorical)
        width = int(fine.features.bins.max())
        proposal = allocate(
            Proposal,
            control=self._grower.control,
            partial_sums=allocate(PartialSums, threads=self._team.size),
            width=width,
            joined=allocate(JoinedBins, threads=self._team.size, width=width),
            most=self._cuts.last.shape[1],
            wide=int(coarse.wide),
            subset=self._grower.subset,
            masses=np.zeros(fine.rows, np.int64),
            zero=zero,
            bins=coarse.features.bins,
            low=coarse.features.low,
            last=self._cuts.last,
            default=coarse.features.default,
            data=data,
        )
        new_codes = NewCodes(*split8(coarse.by_column), coarse.sparse.column_codes)
        jobs = [
            propose.bind(data, gradients, proposal, new_codes),
            by_rows.bind(lines_record(coarse.by_column), coarse.stride, *split8(coarse.by_row)),
        ]
        entries, places = fine.sparse.entries, proposal.places
        if entries:
            row_codes = fine.sparse.row_codes, places, coarse.sparse.row_codes
            jobs.append(move_codes.bind(entries, len(places), *row_codes))
        return jobs


def _coarse_matrix(matrix: BinnedMatrix, bins: NDArray[np.int64]) -> BinnedMatrix:
    """A matrix of the same layout for fewer bins of a column; its codes are still to be written."""
    fine, sparse_codes = matrix.features, matrix.sparse
    codes = fine.codes - (fine.bins - bins)
    low, sparse = fine.low.copy(), np.flatnonzero(fine.group == SPARSE)
    order = sparse[np.argsort(fine.low[sparse], kind="stable")]
    low[order] = np.cumsum(codes[order]) - codes[order]
    features = ColumnLayout(fine.group, low, codes, bins, fine.default.copy())
    kind = code_type(int(features.group_codes.max(initial=0)))
    return BinnedMatrix(
        np.zeros((matrix.rows, row_stride(matrix.groups, kind)), kind),
        np.zeros((matrix.groups, matrix.rows), kind),
        features,
        replace(
            sparse_codes,
            axis=features.sparse_codes,
            row_codes=np.zeros_like(sparse_codes.row_codes),
            column_codes=np.zeros_like(sparse_codes.column_codes),
        ),
        from_sparse=matrix.from_sparse,
    )
