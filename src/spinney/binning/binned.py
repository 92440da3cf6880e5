"""`BinnedData`: a table in bins, with the labels of its rows: what every training reads, in memory, from disk or on a rank.

Where its codes are, in memory at once or some rows at a time, is the business of a `CodeStore`. `ingest` makes binned data of a
table in memory, `disk/open.py` of a folder, `dask/rank_data.py` of the parts of a rank. A new store is a class with the members
of `CodeStore`, and what makes a `BinnedData` with it.

Some rows (`BinnedData.take`: a fold, a part of a split, a hold-out) share the codes of the whole; `selected` has their places
there. They have numbers of their own, from 0, on which random numbers depend, so a part trains to the bytes of a data set of its
rows.

A *shard* is consecutive rows of a table that one rank holds, with their codes in blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from spinney.binning.cuts import Cuts
from spinney.binning.matrix import BinnedMatrix, ColumnLayout, take_codes
from spinney.binning.plan import BinPlan
from spinney.binning.raw_table import HiddenTable, RawTable
from spinney.data import Labels, Schema
from spinney.data.table import starts_of
from spinney.errors import DataError
from spinney.jit.team import Team
from spinney.params import DataParams


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


MOST_ROWS = 2**31 - 1  # a row's number has 31 bits while a tree is grown


class CodeBlock(NamedTuple):
    """Codes of some rows of binned data.

    Attributes
    ----------
    begin, end : int
        Rows begin..end-1 of the data.
    matrix : BinnedMatrix
        Has their codes.
    rows : int32[end - begin], optional
        Which rows of the matrix they are; None: all.
    """

    begin: int
    end: int
    matrix: BinnedMatrix
    rows: NDArray[np.int32] | None

    def own_matrix(self) -> BinnedMatrix:
        """A matrix of these rows alone; a copy where the block has others too."""
        return self.matrix if self.rows is None else take_codes(self.matrix, self.rows)


@dataclass(frozen=True, eq=False)
class BinnedData:
    """A table in bins, or some rows of one.

    Attributes
    ----------
    schema : Schema
        Columns and categories of the table.
    params : DataParams
        How it was binned.
    plan : BinPlan
        Cuts, groups and codes of the columns.
    codes : CodeStore
        The codes.
    labels : Labels
        Target, weights, margins and queries of these rows; the target may be missing.
    raw : RawTable
        The values of these rows, as long as their table is in memory.
    selected : int32[rows], optional
        Rows of `codes` that these are, ascending. None: all.
    first : int, default=0
        Number of the first row in the whole table, where other ranks have the rows before it.
    total : int, optional
        Rows of the whole table, where ranks have some each. None: these are all.

    Examples
    --------
    >>> import spinney as sp
    >>> data = sp.Dataset(np.arange(12.0).reshape(6, 2), y=np.arange(6.0)).binned
    >>> part = data.take(np.array([1, 3, 4])).take(np.array([0, 2]))
    >>> part.selected.tolist(), part.labels.target.tolist(), part.codes is data.codes
    ([1, 4], [1.0, 4.0], True)
    """

    schema: Schema
    params: DataParams
    plan: BinPlan
    codes: CodeStore
    labels: Labels
    raw: RawTable
    selected: NDArray[np.int32] | None = None
    first: int = 0
    total: int | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.labels.rows

    @property
    def columns(self) -> int:
        """Number of columns of the table."""
        return self.schema.columns

    @property
    def cuts(self) -> Cuts:
        """Where columns are cut into bins."""
        return self.plan.cuts

    @property
    def table_rows(self) -> int:
        """Rows of the whole table, those of other ranks included."""
        return self.rows if self.total is None else self.total

    def checked_labels(self, what: str = "dataset") -> Labels:
        """The labels, for one training: what it computes of them and caches is dropped with it.

        Parameters
        ----------
        what : str, default="dataset"
            Names the data in the error where there is no target.
        """
        if not self.labels.has_target:
            raise DataError(f"{what} has no target: give y to Dataset")
        return replace(self.labels)

    def matrix(self) -> BinnedMatrix:
        """All codes of these rows as a matrix: a copy where they are some rows of one.

        Raises
        ------
        DataError
            If the codes come block by block.
        """
        whole = self.codes.matrix
        if whole is None:
            raise DataError("this needs all codes at once, and those of the data set come block by block")
        return whole if self.selected is None else take_codes(whole, self.selected)

    def scan(self, team: Team | None = None) -> Iterator[CodeBlock]:
        """The codes of these rows, block by block; a block is valid until the iterator goes on."""
        begins, selected = self.codes.begins, self.selected
        firsts = begins if selected is None else np.searchsorted(selected, begins)
        for block, matrix in self.codes.scan(team):
            begin, end = int(firsts[block]), int(firsts[block + 1])
            rows = None if selected is None else selected[begin:end]
            if rows is not None and begins[block]:
                rows = rows - np.int32(begins[block])
            if begin < end:
                yield CodeBlock(begin, end, matrix, rows)

    def take(self, rows: NDArray[Any], what: str | None = None) -> BinnedData:
        """Some rows: a fold, a hold-out, a part. Codes are shared, labels are copied. The rows are numbered anew, from 0.

        Parameters
        ----------
        rows : int array
            Which, ascending, each once.
        what : str, optional
            Names them in the error where all have weight 0; without it they may.
        """
        selected = (rows if self.selected is None else self.selected[rows]).astype(np.int32)
        labels = self.labels.take(rows)
        if what is not None and labels.weight is not None and not labels.weight.any():
            raise DataError(f"{what}: every row has weight 0; at least one must weigh more")
        return replace(
            self, labels=labels, selected=selected, raw=self.raw.take(selected), first=0, total=None
        )

    def take_from_table(self, chosen: NDArray[np.bool_]) -> BinnedData:
        """The chosen rows of the whole table, as far as they are here; they are numbered anew over all ranks."""
        own = self.take(np.flatnonzero(chosen[self.first : self.first + self.rows]))
        first, total = np.count_nonzero(chosen[: self.first]), np.count_nonzero(chosen)
        return replace(own, first=int(first), total=int(total))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles of data on disk open them again."""
        opener = self.codes.opener()
        if opener is not None:
            return _reopened, (opener, self.selected)
        return BinnedData, tuple(getattr(self, one.name) for one in fields(self))

    def __copy__(self) -> BinnedData:
        """The same, but what is made of the table is kept apart."""
        return replace(self, raw=copy(self.raw))

    def __deepcopy__(self, memo: dict[int, Any]) -> BinnedData:
        """A copy of everything but files."""
        return BinnedData(*(deepcopy(getattr(self, one.name), memo) for one in fields(self)))

    def with_columns(self, plan: BinPlan, codes: CodeStore) -> BinnedData:
        """The same rows with more columns behind those of the table; the raw table does not have them."""
        return replace(self, plan=plan, codes=codes, selected=None, raw=HiddenTable(self.raw))


def _reopened(open_again: Callable[[], BinnedData], selected: NDArray[np.int32] | None) -> BinnedData:
    """Data on disk, or some rows of them, from a pickle."""
    data = open_again()
    return data if selected is None else data.take(selected)
