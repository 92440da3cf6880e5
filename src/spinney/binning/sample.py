"""The rows that cuts are found from, out of rows that come in batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning import cuts
from spinney.data import Categories, Panel, Table, encode
from spinney.data.sparse import SparseValues

_NARROW = frozenset("?bBhHef")  # types that float32 holds exactly


class Sample:
    """Collects sampled rows.

    Parameters
    ----------
    rows : int, optional
        Number of rows that will come. Without it all of them are held, as long as they are not too many.
    """

    def __init__(self, rows: int | None) -> None:
        self._picks = None if rows is None else cuts.sample_rows(rows)
        self._pieces: list[Table] | None = []

    @property
    def complete(self) -> bool:
        """Whether what was held is the sample of all rows that came."""
        return self._pieces is not None

    def add(self, table: Table, first: int) -> None:
        """Take what is sampled of some rows, the first of which is row `first`."""
        if self._picks is None and first + table.rows > cuts.SAMPLE:
            self._pieces = None
        if self._pieces is None:
            return
        piece = (
            table.take(np.ones(table.rows, np.bool_))
            if self._picks is None
            else sampled(table, first, self._picks)
        )
        if piece.rows:
            self._pieces.append(piece)

    def table(self, categories: tuple[Categories | None, ...] | None, unseen: str) -> Table:
        """The sampled rows, with categories as numbers. What was held is let go of."""
        assert self._pieces, "there are no rows"
        pieces, self._pieces = self._pieces, []
        return stacked(pieces, categories, unseen)


def sampled(table: Table, first: int, picks: NDArray[np.int64]) -> Table:
    """Copy what is sampled of some rows, the first of which is row `first`; `picks` are the sampled rows of the whole."""
    low, high = np.searchsorted(picks, [first, first + table.rows])
    chosen = np.zeros(table.rows, np.bool_)
    chosen[picks[low:high] - first] = True
    return table.take(chosen)


def stacked(pieces: list[Table], categories: tuple[Categories | None, ...] | None, unseen: str) -> Table:
    """Pieces of a table, one below another, with categories as numbers."""
    pieces = [encode(piece, categories, unseen) for piece in pieces]
    rows, first = sum(piece.rows for piece in pieces), pieces[0]
    if first.sparse is not None:
        return Table(rows, first.columns, first.names, (), _stacked(pieces))
    narrow = all(panel.values.dtype.char in _NARROW for piece in pieces for panel in piece.panels)
    # By column: a panel of few columns is gathered at a time.
    values: NDArray[Any] = np.empty((first.columns, rows), np.float32 if narrow else np.float64)
    at = 0
    for piece in pieces:
        for panel in piece.panels:
            for begin, block in panel.blocks(65_536):
                to = slice(at + begin, at + begin + len(block))
                values[panel.first : panel.first + panel.columns, to] = block.T
        at += piece.rows
    return Table(rows, first.columns, first.names, (Panel(0, values.T),))


def _stacked(pieces: list[Table]) -> SparseValues:
    from scipy import sparse

    stored = [piece.sparse.csr.matrix for piece in pieces if piece.sparse is not None]
    return SparseValues.of(sparse.vstack(stored, format="csr"))
