"""The approximate learner: bins chosen anew for every tree by hessian, then histograms over them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.bin_kernels import by_rows
from spinney.binning.cuts import Cuts
from spinney.binning.entries import split8
from spinney.binning.features import SPARSE, Features
from spinney.binning.matrix import BinnedMatrix, StoredCodes, row_stride
from spinney.growth import layout
from spinney.growth.grower import HistGrower
from spinney.growth.proposal_kernels import move_codes, propose
from spinney.growth.refit import AllRows
from spinney.jit import Bound
from spinney.jit.team import Team
from spinney.params import Config
from spinney.tree import Tree


class TreeCuts:
    """The latest tree's bins in terms of the fine ones, in the place of `Cuts`."""

    def __init__(self, fine: Cuts, most: int) -> None:
        self.fine, self.categorical = fine, fine.categorical
        self.last = np.zeros((len(fine.bins), most), np.int32)

    def fine_bin(self, columns: NDArray[Any], bins: NDArray[Any]) -> NDArray[np.int32]:
        """Last fine bin of some bins."""
        found: NDArray[np.int32] = self.last[columns, bins]
        return found

    def threshold(self, columns: NDArray[Any], bins: NDArray[Any]) -> NDArray[np.float64]:
        """Real values behind splits "bin <= b" of some columns."""
        return self.fine.threshold(columns, self.fine_bin(columns, bins))


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
    config, weight_unit, scores, pairs, stats, team, everyone
        As for `HistGrower`.
    """

    def __init__(
        self,
        matrix: BinnedMatrix,
        cuts: Cuts,
        zero: NDArray[np.int64],
        most: int,
        config: Config,
        weight_unit: float,
        scores: NDArray[np.float64],
        pairs: NDArray[np.float32],
        stats: NDArray[np.float64],
        team: Team,
        everyone: AllRows | None = None,
    ) -> None:
        self._team, self._fine = team, matrix
        # Categories are never joined.
        bins = np.where(cuts.categorical != 0, matrix.bins, np.minimum(matrix.bins, most))
        self._coarse = _room(matrix, bins)
        self._cuts = TreeCuts(cuts, int(max(most, bins.max())))
        self._grower = HistGrower(
            self._coarse,
            self._cuts,
            config,
            weight_unit,
            scores,
            pairs,
            stats,
            team,
            prune=True,
            everyone=everyone,
        )
        self.bag = self._grower.bag
        self._fine_cut = np.empty(len(self._grower.tree["cut_bin"]), np.int32)
        self._propose = self._bind(zero, pairs, stats)

    def grow(self, output: int, seed: int, in_bag: int | None) -> Tree:
        """Grow one tree for an output and add it to the scores; see `HistGrower.grow`."""
        self._grower.control[layout.CLASS] = output
        for job in self._propose:
            self._team.run(job)
        tree = self._grower.grow(output, seed, in_bag)
        inner = tree.feature >= 0
        found = self._grower.tree["cut_bin"][: tree.nodes][inner]
        self._fine_cut[: tree.nodes][inner] = self._cuts.fine_bin(tree.feature[inner], found)
        return tree

    def walk(self, matrix: BinnedMatrix, scores: NDArray[np.float64]) -> Bound:
        """A job that adds the latest tree to the scores of other rows in the same fine bins."""
        return self._grower.walk(matrix, scores, self._fine_cut)

    def _bind(
        self, zero: NDArray[np.int64], pairs: NDArray[np.float32], stats: NDArray[np.float64]
    ) -> list[Bound]:
        fine, coarse, threads = self._fine, self._coarse, self._team.size
        features, stored, most = fine.features, fine.stored, self._cuts.last.shape[1]
        width = int(features.bins.max())
        places = np.zeros(features.sparse_codes, np.int32)
        jobs = [
            propose.bind(
                fine.rows, fine.columns, fine.groups, len(pairs), stats.shape[1], threads, int(fine.wide), int(coarse.wide),
                width, most, len(stored.rows), features.sparse_codes, *split8(fine.by_column),
                features.group, features.bins, features.default, features.low, features.codes, zero, coarse.features.bins,
                coarse.features.low, stored.starts, stored.rows, stored.codes, pairs, stats, self._grower.control,
                np.empty(fine.rows, np.int64), np.empty(threads * (width + 1), np.int64),
                np.zeros(threads * (width + 1), np.int32), self._cuts.last, coarse.features.default, places,
                *split8(coarse.by_column), coarse.stored.codes,
            ),
            by_rows.bind(
                coarse.rows, coarse.groups, coarse.stride, int(coarse.wide), *split8(coarse.by_column),
                *split8(coarse.by_row),
            ),
        ]  # fmt: skip
        if len(stored.rows):
            jobs.append(
                move_codes.bind(
                    len(stored.rows), len(places), stored.row_codes, places, coarse.stored.row_codes
                )
            )
        return jobs


def _room(matrix: BinnedMatrix, bins: NDArray[np.int64]) -> BinnedMatrix:
    """A matrix of the same layout for fewer bins of a column; its codes are still to be written."""
    fine, stored = matrix.features, matrix.stored
    codes = fine.codes - (fine.bins - bins)
    low, sparse = fine.low.copy(), np.flatnonzero(fine.group == SPARSE)
    order = sparse[np.argsort(fine.low[sparse], kind="stable")]
    low[order] = np.cumsum(codes[order]) - codes[order]
    features = Features(fine.group, low, codes, bins, fine.default.copy())
    kind: Any = np.dtype(np.uint16 if features.group_codes.max(initial=0) > 256 else np.uint8)
    return BinnedMatrix(
        np.zeros((matrix.rows, row_stride(matrix.groups, kind)), kind),
        np.zeros((matrix.groups, matrix.rows), kind),
        features,
        StoredCodes(
            stored.row_starts,
            np.zeros_like(stored.row_codes),
            stored.starts,
            stored.rows,
            np.zeros_like(stored.codes),
        ),
        from_sparse=matrix.from_sparse,
    )
