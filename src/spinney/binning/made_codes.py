"""Codes of made columns: what a row has follows from its fold and its category, so they are looked up in small tables."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.cuts import Cuts
from spinney.binning.dataset import Dataset
from spinney.binning.encode import ColumnCodes, with_rows
from spinney.binning.features import code_type
from spinney.binning.matrix import BinnedMatrix
from spinney.binning.plan import Plan
from spinney.binning.statistics import Made
from spinney.binning.take import take_codes
from spinney.binning.tallies import codes_of, columns_of
from spinney.data.statistics import Statistics
from spinney.jit.team import Team


class MadeCodes:
    """The codes of made columns of some rows.

    Parameters
    ----------
    made : Statistics or Made
        What the rows are told: as any other rows, or each from folds without its own.
    cuts : Cuts
        Those of the made columns.

    Attributes
    ----------
    columns : list of int
        The columns of categories that they are made from.
    """

    def __init__(self, made: Statistics | Made, cuts: Cuts) -> None:
        statistics = made.statistics if isinstance(made, Made) else made
        self._fold = made.fold if isinstance(made, Made) else None
        self._sources = statistics.sources
        self.columns = columns_of(self._sources)
        told = made.by_fold if isinstance(made, Made) else map(statistics.of, range(statistics.made))
        kind = code_type(int(cuts.bins.max()) + 1)  # one more for missing values
        self._tables = [
            _bins(values, cuts.values[begin:end], kind)
            for values, begin, end in zip(told, cuts.starts[:-1], cuts.starts[1:], strict=True)
        ]

    def lines(self, numbers: Mapping[int, NDArray[np.int64]], begin: int, end: int) -> NDArray[Any]:
        """Codes of rows begin..end-1, made columns × rows; `numbers` are those of their categories, by column."""
        found = np.empty((len(self._tables), end - begin), self._tables[0].dtype)
        outputs = len(self._tables) // len(self._sources)
        for at, source in enumerate(self._sources):
            number = source.number(numbers)
            if self._fold is not None:
                number = self._fold[begin:end] * (source.size + 1) + number
            for place in range(at * outputs, (at + 1) * outputs):
                np.take(self._tables[place], number, out=found[place])
        return found


def _bins(values: NDArray[np.float64], cuts: NDArray[np.float64], kind: np.dtype[Any]) -> NDArray[Any]:
    """Bins of values; one that equals a cut is below it."""
    return np.searchsorted(cuts, values, side="left").astype(kind)


class WidenedBlocks:
    """Codes that come some rows at a time, with made columns behind the others.

    Blocks that there is memory for are widened once, and kept in the place of the store's own. Made columns of the others are
    added at every scan.

    Parameters
    ----------
    dataset : Dataset
        The rows, or some of those that come in blocks.
    plan : Plan
        All columns.
    codes : MadeCodes
        The made ones.
    """

    def __init__(self, dataset: Dataset, plan: Plan, codes: MadeCodes) -> None:
        base = dataset.whole.blocks
        assert base is not None
        self._base, self._index, self._plan, self._codes = base, dataset.index, plan, codes
        firsts = base.begins if self._index is None else np.searchsorted(self._index, base.begins)
        some = np.flatnonzero(np.diff(firsts))
        self._store_blocks: list[int] = some.tolist()
        self.begins: NDArray[np.int64] = firsts[[*some, -1]].astype(np.int64)
        self.rows = dataset.rows
        self.features, self.columns, self.bins = plan.features, plan.features.columns, plan.features.bins
        self.wide, self.from_sparse = bool(plan.dtype == np.uint16), base.from_sparse
        made = self.columns - base.columns
        self.values = base.values * self.rows // max(base.rows, 1) + made * self.rows
        self.nbytes = base.nbytes * self.rows // max(base.rows, 1) + 2 * made * self.rows
        self._kept: dict[int, BinnedMatrix] = {}

    def scan(self, team: Team | None = None, but: Container[int] = ()) -> Iterator[tuple[int, BinnedMatrix]]:
        """Every block once, but for some."""
        places = {block: place for place, block in enumerate(self._store_blocks)}
        kept = dict(self._kept)
        yield from ((place, matrix) for place, matrix in kept.items() if place not in but)
        passed = {
            block for block in range(len(self._base.begins) - 1)
            if (place := places.get(block)) is None or place in kept or place in but
        }  # fmt: skip
        for block, matrix in self._base.scan(team, passed):
            widened = self._widened(places[block], matrix, team or Team(1))
            if self._base.hand_over(block):
                self._kept[places[block]] = widened
            yield places[block], widened

    def hand_over(self, block: int) -> bool:
        """There is memory for those that are kept."""
        return block in self._kept

    def _widened(self, place: int, matrix: BinnedMatrix, team: Team) -> BinnedMatrix:
        begin, end = int(self.begins[place]), int(self.begins[place + 1])
        if self._index is not None and end - begin < matrix.rows:
            first = np.int32(self._base.begins[self._store_blocks[place]])
            matrix = take_codes(matrix, self._index[begin:end] - first)
        lines = self._codes.lines(codes_of(matrix, self._codes.columns), begin, end)
        return with_lines(matrix, lines, self._plan, team)


def with_lines(matrix: BinnedMatrix, lines: NDArray[Any], plan: Plan, team: Team) -> BinnedMatrix:
    """A copy of codes with those of more columns behind them."""
    sparse = matrix.sparse
    codes = ColumnCodes(
        np.concatenate([matrix.by_column, lines]),
        np.concatenate([sparse.starts, np.full(len(lines), sparse.starts[-1])]),
        sparse.column_rows.copy(),
        sparse.column_codes.copy(),
        matrix.from_sparse,
    )
    return with_rows(codes, plan, team)
