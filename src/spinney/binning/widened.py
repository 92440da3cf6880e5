"""`Widened`: a data set with columns that a training made beside those of the table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.binning.cuts import Cuts, cuts_from_masses
from spinney.binning.dataset import Dataset
from spinney.binning.features import BYTE_CODES, Features
from spinney.binning.made_codes import MadeCodes, WidenedBlocks, with_lines
from spinney.binning.plan import Plan
from spinney.binning.statistics import Made
from spinney.binning.tallies import category_numbers
from spinney.data.statistics import Statistics
from spinney.jit.team import Team

MOST_BINS = BYTE_CODES - 1  # of a made column, so that it never needs wider codes than the table


class Widened(Dataset):
    """The rows of a data set, with made columns behind its own. Codes are copied; labels are shared.

    Parameters
    ----------
    dataset : Dataset
        The rows.
    made : Statistics or Made
        What the rows are told: as any other rows, or each from folds without its own.
    team : Team
        Threads; nothing depends on them.
    cuts : Cuts
        Of the made columns.
    """

    def __init__(self, dataset: Dataset, made: Statistics | Made, team: Team, cuts: Cuts) -> None:
        self._base = dataset
        self._views = {}
        self.rows, self.schema, self.params = dataset.rows, dataset.schema, dataset.params
        self.target, self.weight = dataset.target, dataset.weight
        self.margin, self.queries = dataset.margin, dataset.queries
        self.cuts = _joined(dataset.cuts, cuts)
        self.plan = Plan(
            self.cuts,
            dataset.plan.absent,
            _with_lone(dataset.plan.features, cuts.bins),
            dataset.plan.conflicts,
        )
        codes = MadeCodes(made, cuts)
        if dataset.whole.blocks is not None:
            self.blocks = WidenedBlocks(dataset, self.plan, codes)
        else:
            ((_, _, numbers),) = category_numbers(dataset, codes.columns)
            self._matrix = with_lines(dataset.matrix, codes.lines(numbers, 0, self.rows), self.plan, team)

    @property
    def has_table(self) -> bool:
        """Never: rows are known by their codes."""
        return False

    def release(self) -> None:
        """Let go of the table that the rows are from."""
        self._base.release()


def made_cuts(made: Made, max_bin: int) -> Cuts:
    """Cuts of made columns: quantiles of what the rows are told."""
    told = zip(map(np.ravel, made.by_fold), map(np.ravel, made.masses), strict=True)
    return cuts_from_masses(told, min(max_bin, MOST_BINS))


def _joined(cuts: Cuts, own: Cuts) -> Cuts:
    """Cuts of the table's columns, then those of the made ones."""
    return Cuts(
        np.concatenate([cuts.values, own.values]),
        np.concatenate([cuts.starts, cuts.starts[-1] + own.starts[1:]]),
        cuts.max_bin,
        np.concatenate([cuts.categorical, own.categorical]),
    )


def _with_lone(features: Features, bins: NDArray[np.int64]) -> Features:
    """Features with more columns behind them, each a group of its own."""
    lone = Features.lone(bins)
    return Features(
        np.concatenate([features.group, lone.group + len(features.group_codes)]),
        np.concatenate([features.low, lone.low]),
        np.concatenate([features.codes, lone.codes]),
        np.concatenate([features.bins, lone.bins]),
        np.concatenate([features.default, lone.default]),
    )
