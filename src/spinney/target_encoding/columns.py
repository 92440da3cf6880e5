"""Encoded columns: their cuts, their codes, and binned data that have them after the columns of the table.

The value of a row follows from its fold and its category. So the sums by fold and category give the cuts of the encoded columns,
too, and codes are looked up in small tables. `add_encoded` copies codes once or, where they do not stay in memory, whenever a
block comes.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData, MatrixCodes
from spinney.binning.cuts import Cuts, cuts_from_masses
from spinney.binning.encode import ColumnCodes, with_rows
from spinney.binning.matrix import BYTE_CODES, BinnedMatrix, ColumnLayout, code_type, take_codes
from spinney.binning.plan import BinPlan
from spinney.data.target_encoding import TargetEncoding
from spinney.jit.team import Team
from spinney.target_encoding.sums import FoldEncoding, category_numbers, column_codes, source_columns

MOST_BINS = BYTE_CODES - 1  # of an encoded column, so that it never needs wider codes than the table


class EncodedCodes:
    """The codes of the encoded columns of some rows.

    Parameters
    ----------
    encoding : TargetEncoding or FoldEncoding
        For the rows that it was fitted on a FoldEncoding: each row gets values from the folds that it is not in.
    cuts : Cuts
        Those of the encoded columns.

    Attributes
    ----------
    columns : list of int
        The columns of categories that they are made from.
    """

    def __init__(self, encoding: TargetEncoding | FoldEncoding, cuts: Cuts) -> None:
        self._fold = None
        if isinstance(encoding, FoldEncoding):
            self._fold = encoding.fold
            values, encoding = encoding.by_fold, encoding.encoding
        else:
            values = [encoding.values_of(place) for place in range(encoding.encoded_count)]
        self._features = encoding.features
        self.columns = source_columns(self._features)
        kind = code_type(int(cuts.bins.max()) + 1)  # one more for missing values
        self._tables = [
            _bins(own, cuts.values[begin:end], kind)
            for own, begin, end in zip(values, cuts.starts[:-1], cuts.starts[1:], strict=True)
        ]

    def of_rows(self, numbers: Mapping[int, NDArray[np.int64]], begin: int, end: int) -> NDArray[Any]:
        """Codes of rows begin..end-1, encoded columns × rows; `numbers` are those of their categories, by column."""
        found = np.empty((len(self._tables), end - begin), self._tables[0].dtype)
        outputs = len(self._tables) // len(self._features)
        for at, feature in enumerate(self._features):
            number = feature.number(numbers)
            if self._fold is not None:
                number = self._fold[begin:end] * (feature.size + 1) + number
            for place in range(at * outputs, (at + 1) * outputs):
                np.take(self._tables[place], number, out=found[place])
        return found


def _bins(values: NDArray[np.float64], cuts: NDArray[np.float64], kind: np.dtype[Any]) -> NDArray[Any]:
    """Bins of values; one that equals a cut is below it."""
    return np.searchsorted(cuts, values, side="left").astype(kind)


class EncodedBlocks:
    """Codes that come some rows at a time, with encoded columns after the others.

    Blocks that fit into memory get their encoded columns once, and are kept in place of the store's own. The others get them at
    every scan.

    Parameters
    ----------
    data : BinnedData
        The rows, or some of those that come in blocks.
    plan : BinPlan
        All columns.
    codes : EncodedCodes
        Those of the encoded columns.
    """

    matrix = None

    def __init__(self, data: BinnedData, plan: BinPlan, codes: EncodedCodes) -> None:
        base = data.codes
        self._base, self._selected, self._plan, self._codes = base, data.selected, plan, codes
        firsts = base.begins if self._selected is None else np.searchsorted(self._selected, base.begins)
        some = np.flatnonzero(np.diff(firsts))
        self._store_blocks: list[int] = some.tolist()
        self.begins: NDArray[np.int64] = firsts[[*some, -1]].astype(np.int64)
        self.rows = data.rows
        self.features, self.columns, self.bins = plan.features, plan.features.columns, plan.features.bins
        self.wide, self.from_sparse = bool(plan.dtype == np.uint16), base.from_sparse
        encoded = self.columns - base.columns
        self.values = base.values * self.rows // max(base.rows, 1) + encoded * self.rows
        self.entries = base.entries * self.rows // max(base.rows, 1)
        self.nbytes = base.nbytes * self.rows // max(base.rows, 1) + 2 * encoded * self.rows
        self._kept: dict[int, BinnedMatrix] = {}

    @property
    def folders(self) -> Sequence[Path]:
        """Where the codes without encoded columns are on disk."""
        return self._base.folders

    def storage(self) -> dict[str, int]:
        """That of the codes without encoded columns."""
        return self._base.storage()

    def opener(self) -> None:
        """None: they are made for one training."""

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
            encoded = self._with_encoded(places[block], matrix, team or Team(1))
            if self._base.release(block):
                self._kept[places[block]] = encoded
            yield places[block], encoded

    def release(self, block: int) -> bool:
        """There is memory for those that are kept."""
        return block in self._kept

    def _with_encoded(self, place: int, matrix: BinnedMatrix, team: Team) -> BinnedMatrix:
        begin, end = int(self.begins[place]), int(self.begins[place + 1])
        if self._selected is not None and end - begin < matrix.rows:
            first = np.int32(self._base.begins[self._store_blocks[place]])
            matrix = take_codes(matrix, self._selected[begin:end] - first)
        codes = self._codes.of_rows(column_codes(matrix, self._codes.columns), begin, end)
        return append_columns(matrix, codes, self._plan, team)


def append_columns(matrix: BinnedMatrix, added: NDArray[Any], plan: BinPlan, team: Team) -> BinnedMatrix:
    """A copy of a matrix with the codes of more columns, columns × rows, after its own."""
    sparse = matrix.sparse
    codes = ColumnCodes(
        np.concatenate([matrix.by_column, added]),
        np.concatenate([sparse.starts, np.full(len(added), sparse.starts[-1])]),
        sparse.column_rows.copy(),
        sparse.column_codes.copy(),
        matrix.from_sparse,
    )
    return with_rows(codes, plan, team)


def add_encoded(
    data: BinnedData, encoding: TargetEncoding | FoldEncoding, team: Team, cuts: Cuts
) -> BinnedData:
    """The rows of binned data, with encoded columns after their own. Codes are copied; labels are shared.

    Parameters
    ----------
    data : BinnedData
        The rows.
    encoding : TargetEncoding or FoldEncoding
        For the rows that it was fitted on a FoldEncoding, see `EncodedCodes`.
    team : Team
        Threads; nothing depends on them.
    cuts : Cuts
        Of the encoded columns.
    """
    old = data.plan
    features = _append_features(old.features, cuts.bins)
    plan = BinPlan(_append_cuts(old.cuts, cuts), old.absent, features, old.conflicts)
    codes = EncodedCodes(encoding, cuts)
    if data.codes.matrix is None:
        return data.with_columns(plan, EncodedBlocks(data, plan, codes))
    ((_, _, numbers),) = category_numbers(data, codes.columns)
    added = codes.of_rows(numbers, 0, data.rows)
    return data.with_columns(plan, MatrixCodes(append_columns(data.matrix(), added, plan, team)))


def encoded_cuts(encoding: FoldEncoding, max_bin: int) -> Cuts:
    """Cuts of the encoded columns: quantiles of the values of the rows that the encoding was fitted on."""
    weighted = zip(map(np.ravel, encoding.by_fold), map(np.ravel, encoding.masses), strict=True)
    return cuts_from_masses(weighted, min(max_bin, MOST_BINS))


def _append_cuts(cuts: Cuts, added: Cuts) -> Cuts:
    """Cuts of the table's columns, then those of the encoded ones."""
    return Cuts(
        np.concatenate([cuts.values, added.values]),
        np.concatenate([cuts.starts, cuts.starts[-1] + added.starts[1:]]),
        cuts.max_bin,
        np.concatenate([cuts.categorical, added.categorical]),
    )


def _append_features(features: ColumnLayout, bins: NDArray[np.int64]) -> ColumnLayout:
    """Features with more columns after them, each a group of its own."""
    added = ColumnLayout.single_column(bins)
    return ColumnLayout(
        np.concatenate([features.group, added.group + len(features.group_codes)]),
        np.concatenate([features.low, added.low]),
        np.concatenate([features.codes, added.codes]),
        np.concatenate([features.bins, added.bins]),
        np.concatenate([features.default, added.default]),
    )
