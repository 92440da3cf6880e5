"""Where the codes of a table are: in memory at once, or some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from spinney.binning.matrix import BinnedMatrix, ColumnLayout, take_codes
from spinney.data.table import starts_of
from spinney.errors import DataError
from spinney.jit.team import Team


class CodeStore(Protocol):
    """The codes of a table: one matrix, or blocks of some rows each, which are in memory, on disk or those of one rank.

    Every block is coded by the same plan: it has the features, the width of codes and the stride that the whole table would have,
    and `sparse.present` is 1 if the table has sparse columns, whether or not rows of the block have entries in them.
    """

    @property
    def matrix(self) -> BinnedMatrix | None:
        """All codes, where they are in memory at once; None where they come block by block."""

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
    def features(self) -> ColumnLayout:
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
    def entries(self) -> int:
        """Entries of sparse columns."""

    @property
    def nbytes(self) -> int:
        """Bytes of all blocks, as if they were in memory."""

    @property
    def folders(self) -> Sequence[Path]:
        """Where the codes are on disk; none where they are in memory."""

    def storage(self) -> dict[str, int]:
        """Numbers about the place where codes are kept, by name."""

    def opener(self) -> Callable[[], Any] | None:
        """What opens the whole data again, for pickles, the same for all parts; None where codes are in memory."""

    def scan(self, team: Team | None = None, but: Container[int] = ()) -> Iterator[tuple[int, BinnedMatrix]]:
        """Every block once, but for some, in the order that suits the store: its number and its codes, which the team unpacks.

        A matrix is valid until the iterator goes on. What a matrix object was bound to is kept for as long as the object lives: a
        store may write other codes to its memory, but not put other arrays into it.
        """

    def release(self, block: int) -> bool:
        """Whether a block that came is one of those there is memory for, so that a caller may keep a copy of its codes.

        The store need not keep it any longer, as long as it can be had again.
        """


class MatrixCodes:
    """All codes of a table in memory, which are one block.

    Parameters
    ----------
    matrix : BinnedMatrix
        The codes.
    """

    folders: Sequence[Path] = ()

    def __init__(self, matrix: BinnedMatrix) -> None:
        self.matrix = matrix
        self.rows, self.columns, self.bins = matrix.rows, matrix.columns, matrix.bins
        self.begins: NDArray[np.int64] = np.array([0, matrix.rows])
        self.features, self.wide, self.from_sparse = matrix.features, matrix.wide, matrix.from_sparse
        self.values, self.nbytes, self.entries = matrix.values, matrix.nbytes, int(matrix.sparse.entries)

    def storage(self) -> dict[str, int]:
        """Nothing: codes are in memory."""
        return {}

    def opener(self) -> None:
        """None: codes are in memory."""

    def scan(self, team: Team | None = None, but: Container[int] = ()) -> Iterator[tuple[int, BinnedMatrix]]:
        """The one block."""
        if 0 not in but:
            yield 0, self.matrix

    def release(self, block: int) -> bool:
        """There is memory for it."""
        return True


class MemoryBlocks:
    """Codes in memory, some rows in each block: those of a rank, or of a table that was cut.

    Parameters
    ----------
    blocks : sequence of BinnedMatrix
        The blocks, perhaps none.
    features : ColumnLayout
        The columns.
    wide : bool
        Whether codes are uint16.
    from_sparse : bool
        Whether the table was sparse.

    Examples
    --------
    >>> import numpy as np, spinney as sp
    >>> ds = sp.Dataset(np.arange(12.0).reshape(6, 2), y=np.arange(6.0))
    >>> blocks = MemoryBlocks.cut(ds.binned.matrix(), [0, 2, 6])
    >>> [(block, matrix.rows) for block, matrix in blocks.scan()]
    [(0, 2), (1, 4)]
    >>> [block for block, _ in blocks.scan()]
    [1, 0]
    """

    matrix = None
    folders: Sequence[Path] = ()

    def __init__(
        self, blocks: Sequence[BinnedMatrix], features: ColumnLayout, wide: bool, from_sparse: bool
    ) -> None:
        self._blocks = list(blocks)
        self.begins: NDArray[np.int64] = starts_of([block.rows for block in self._blocks])
        self.rows = int(self.begins[-1])
        self.features, self.columns, self.bins = features, features.columns, features.bins
        self.wide, self.from_sparse = wide, from_sparse
        self.values = sum(block.values for block in self._blocks)
        self.nbytes = sum(block.nbytes for block in self._blocks)
        self.entries = sum(int(block.sparse.entries) for block in self._blocks)
        self._backward = False

    @classmethod
    def cut(cls, matrix: BinnedMatrix, begins: Any) -> Self:
        """Copy a matrix into blocks; `begins` has where they begin, and the number of rows: from 0, ascending."""
        begins = np.asarray(begins, np.int64)
        ends = begins[[0, -1]].tolist() if begins.ndim == 1 and len(begins) > 1 else None
        if ends != [0, matrix.rows] or (np.diff(begins) < 1).any():
            raise DataError(f"begins must ascend from 0 to the number of rows, {matrix.rows}, got {begins}")
        ranges = zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True)
        blocks = [take_codes(matrix, np.arange(begin, end, dtype=np.int32)) for begin, end in ranges]
        return cls(blocks, matrix.features, matrix.wide, matrix.from_sparse)

    def storage(self) -> dict[str, int]:
        """Nothing: codes are in memory."""
        return {}

    def opener(self) -> None:
        """None: codes are in memory."""

    def scan(self, team: Team | None = None, but: Container[int] = ()) -> Iterator[tuple[int, BinnedMatrix]]:
        """Every block once, but for some, forward and backward in turn."""
        order = range(len(self._blocks))
        found = [(block, self._blocks[block]) for block in (reversed(order) if self._backward else order)]
        self._backward = not self._backward
        return (one for one in found if one[0] not in but)

    def release(self, block: int) -> bool:
        """There is memory for all."""
        return True
