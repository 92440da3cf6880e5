"""Pages of codes: written as drafts first, with every column by itself, and written anew by the plan of all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.cuts import Cuts
from spinney.binning.encode import (
    ColumnCodes,
    Counts,
    arranged,
    bins_of_draft,
    count_draft,
    encode_columns,
    final_plan,
)
from spinney.binning.kernels.bin import WORD
from spinney.binning.matrix import SparseEntries
from spinney.binning.plan import BinPlan, Bundling, TableBins
from spinney.data import Table
from spinney.data.sparse import SparseValues
from spinney.disk.blocks import PageStore
from spinney.disk.folder import FolderWriter
from spinney.disk.header import Pages
from spinney.disk.page import Compressor, PageLayout
from spinney.jit.team import Team

PAGE_BYTES = 8 * 2**20  # of codes by column: 300 000 rows of 28 columns
# Every page adds its sums to the histograms of a batch of leaves, however few its rows are. So pages of many columns are
# larger, until they have rows enough for that, or take very much memory: that of a page is twice this.
ENOUGH_ROWS, MOST_BYTES = 2**16, 64 * 2**20
SPARSE_ROWS = 2**18
LEAST_ROWS, MOST_ROWS = 2**12, 2**20


def rows_of_page(cuts: Cuts, from_sparse: bool) -> int:
    """Rows of a page, unless the user gives them."""
    if from_sparse:
        return SPARSE_ROWS
    wide = int(cuts.bins.max(initial=0)) + 1 > 256
    row_bytes = len(cuts.bins) * (1 + wide)
    rows = max(PAGE_BYTES // row_bytes, min(ENOUGH_ROWS, MOST_BYTES // row_bytes))
    return int(np.clip(rows // WORD * WORD, LEAST_ROWS, MOST_ROWS))


class PageWriter:
    """Cuts rows into pages, and writes them.

    Parameters
    ----------
    folder : FolderWriter
        Where to write.
    plan : BinPlan
        What codes mean.
    from_sparse : bool
        Whether tables are sparse.
    compressor : Compressor
        What makes pages smaller.
    team : Team
        Threads to work with.
    draft : bool
        Whether pages are drafts.
    """

    def __init__(
        self, folder: FolderWriter, plan: BinPlan, from_sparse: bool, compressor: Compressor, team: Team, *, draft: bool
    ) -> None:  # fmt: skip
        self._folder, self._team, self._compressor, self._draft = folder, team, compressor, draft
        self.plan, self.form, self.pages = plan, PageLayout(plan.features, from_sparse), Pages.none()

    def write(self, codes: ColumnCodes) -> None:
        """Write the next page."""
        data = self.form.pack(codes, self._team)
        codec, packed = self._compressor.pack(data)
        size = memoryview(packed).nbytes
        checksum = self._folder.page(self.pages.count, packed, draft=self._draft)
        self.pages.add(codes.groups.shape[1], len(codes.codes), size, checksum, codec)

    def store(self) -> PageStore:
        """What reads the pages that were written."""
        return PageStore(self._folder.folders, self.pages, self.form, self._draft)


class DraftWriter:
    """Takes rows, of any number at a time, and writes drafts of pages of the same number of rows."""

    def __init__(self, writer: PageWriter, page_rows: int, team: Team) -> None:
        self._writer, self._page_rows, self._team = writer, page_rows, team
        self._plan, self._sparse = writer.plan, writer.form.from_sparse
        self.counts = Counts.none(writer.plan.features.columns)
        self._pieces: list[Any] = []
        self._rows = 0

    def add(self, table: Table) -> None:
        """Take some rows, with categories as numbers."""
        if table.sparse is not None and table.sparse.format != "csr":
            table = Table(table.rows, table.columns, table.names, (), table.sparse.csr)
        first = 0
        while first < table.rows:
            last = min(table.rows, first + self._page_rows - self._rows)
            piece = table if (first, last) == (0, table.rows) else table.between(first, last)
            self._append(piece)
            self._rows += last - first
            first = last
            if self._rows == self._page_rows:
                self.flush()

    def _append(self, piece: Table) -> None:
        if piece.sparse is not None:
            self._pieces.append(piece.sparse.matrix.copy())  # a source may use its memory again
            return
        bins = encode_columns(piece, self._plan, self._team).groups
        if piece.rows == self._page_rows:
            self._pieces = [bins]
            return
        if not self._pieces:
            self._pieces = [np.empty((len(bins), self._page_rows), bins.dtype)]
        self._pieces[0][:, self._rows : self._rows + piece.rows] = bins

    def flush(self) -> None:
        """Write the rows that were taken since the last page as one."""
        if not self._rows:
            return
        codes = self._sparse_codes() if self._sparse else self._dense()
        self._pieces, self._rows = [], 0
        self.counts.add(count_draft(codes, self._plan, self._team))
        self._writer.write(codes)

    def _dense(self) -> ColumnCodes:
        bins = np.ascontiguousarray(self._pieces[0][:, : self._rows])
        none = SparseEntries.none()
        return ColumnCodes(bins, np.zeros(len(bins) + 1, np.int64), none.rows, none.bins, False)

    def _sparse_codes(self) -> ColumnCodes:
        from scipy import sparse

        whole = self._pieces[0] if len(self._pieces) == 1 else sparse.vstack(self._pieces, format="csr")
        table = Table(self._rows, whole.shape[1], None, (), SparseValues.of(whole))
        return encode_columns(table, self._plan, self._team)


class DraftRecoder:
    """Reads drafts, lists the entries of some of their columns, and writes pages by the plan that is made from these."""

    def __init__(self, store: PageStore, first: BinPlan, default: NDArray[np.int64], team: Team) -> None:
        self._store, self._first, self._default, self._team = store, first, default, team
        self._raw, self._buffer = store.raw_buffer(), store.buffer()

    def bins(self, page: int) -> TableBins:
        """Bins of a page, as `bin_table` would give them."""
        codes = self._store.columns(self._store.raw(page, self._raw), self._buffer.by_column, self._team)
        return bins_of_draft(codes, self._first, self._default, self._team)

    def plan(self, counts: Counts, bundling: Bundling | None) -> BinPlan:
        """The plan of all rows."""
        begins, from_sparse = self._store.pages.begins.tolist(), self._store.form.from_sparse
        found = ((begin, self.bins(page).entries) for page, begin in enumerate(begins[:-1]))
        return final_plan(self._first, self._default, counts, begins[-1], from_sparse, found, bundling)

    def write(self, writer: PageWriter, done: Callable[[int], None]) -> None:
        """Write the pages; `done` is called with each draft that is not needed any more."""
        for page in range(self._store.pages.count):
            writer.write(arranged(self.bins(page), writer.plan, self._team))
            done(page)
