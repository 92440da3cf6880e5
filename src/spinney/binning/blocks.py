"""Codes of a table that come some rows at a time."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spinney.binning.features import Features
from spinney.binning.matrix import BinnedMatrix
from spinney.binning.take import take_codes
from spinney.errors import DataError
from spinney.jit.team import Team


class Blocks(Protocol):
    """The codes of a table, some rows at a time.

    Every block is coded by the same plan: it has the features, the width of codes and the stride that the whole table would have,
    and it says that there are sparse columns (`sparse.present`) if the table has some, whether or not its own rows list any.
    """

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def begins(self) -> NDArray[np.int64]:
        """Where blocks begin: block k has the rows begins[k] .. begins[k + 1] - 1, one at least."""

    @property
    def columns(self) -> int:
        """Number of columns of the table."""

    @property
    def bins(self) -> NDArray[np.int64]:
        """Bins of each column, without the one for missing values."""

    @property
    def features(self) -> Features:
        """The columns."""

    @property
    def wide(self) -> bool:
        """Whether codes are uint16."""

    @property
    def from_sparse(self) -> bool:
        """Whether the table was sparse."""

    @property
    def values(self) -> int:
        """Codes of all blocks, each counted once."""

    @property
    def nbytes(self) -> int:
        """Bytes of all blocks, as if they were in memory."""

    def scan(self, team: Team | None = None, but: Container[int] = ()) -> Iterator[tuple[int, BinnedMatrix]]:
        """Every block once, but for some, in the order that suits the store: its number and its codes, which the team unpacks.

        A matrix is valid until the iterator goes on. What a matrix object was bound to is kept for as long as the object lives: a
        store may write other codes to its memory, but not put other arrays into it.
        """

    def release(self, block: int) -> bool:
        """Whether a block that came is one of those there is memory for, so that a caller may keep a copy of its codes.

        The store need not keep it any longer, as long as it can be had again.
        """


class MemoryBlocks:
    """The codes of a table in memory, cut into blocks.

    Parameters
    ----------
    matrix : BinnedMatrix
        The whole table.
    begins : int array
        Where blocks begin, and how many rows there are: from 0, ascending.

    Examples
    --------
    >>> import numpy as np, spinney as sp
    >>> ds = sp.Dataset(np.arange(12.0).reshape(6, 2), y=np.arange(6.0))
    >>> blocks = MemoryBlocks(ds.matrix, [0, 2, 6])
    >>> [(block, matrix.rows) for block, matrix in blocks.scan()]
    [(0, 2), (1, 4)]
    >>> [block for block, _ in blocks.scan()]
    [1, 0]
    """

    def __init__(self, matrix: BinnedMatrix, begins: Any) -> None:
        self.begins: NDArray[np.int64] = np.asarray(begins, np.int64)
        ends = self.begins[[0, -1]].tolist() if self.begins.ndim == 1 and len(self.begins) > 1 else None
        if ends != [0, matrix.rows] or (np.diff(self.begins) < 1).any():
            raise DataError(f"begins must ascend from 0 to the number of rows, {matrix.rows}, got {begins}")
        self.rows, self.columns, self.bins = matrix.rows, matrix.columns, matrix.bins
        self.features, self.wide, self.from_sparse = matrix.features, matrix.wide, matrix.from_sparse
        self.values, self.nbytes = matrix.values, matrix.nbytes
        ranges = zip(self.begins[:-1].tolist(), self.begins[1:].tolist(), strict=True)
        self._blocks = [take_codes(matrix, np.arange(begin, end, dtype=np.int32)) for begin, end in ranges]
        self._backward = False

    def scan(self, team: Team | None = None, but: Container[int] = ()) -> Iterator[tuple[int, BinnedMatrix]]:
        """Every block once, but for some, forward and backward in turn."""
        order = range(len(self._blocks))
        found = [(block, self._blocks[block]) for block in (reversed(order) if self._backward else order)]
        self._backward = not self._backward
        return (one for one in found if one[0] not in but)

    def release(self, block: int) -> bool:
        """There is memory for all."""
        return True
