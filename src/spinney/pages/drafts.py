"""Tables → pages: first with every column by itself, then, where some share groups or are sparse, as the plan says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.bundle import Bundling
from spinney.binning.cuts import Cuts
from spinney.binning.encode import ColumnCodes, arranged, encode_columns, list_lines
from spinney.binning.entries import Entries, Lines
from spinney.binning.features import NO_DEFAULT, SPARSE, Features
from spinney.binning.plan import Plan, make_plan
from spinney.binning.survey import Survey, count_bins, mostly_absent, mostly_in, part_entries
from spinney.data import Table
from spinney.data.lists import starts_of
from spinney.data.sparse import SparseValues
from spinney.jit.team import Team
from spinney.pages.codec import Compressor
from spinney.pages.folder import FolderWriter
from spinney.pages.form import PageForm
from spinney.pages.header import Pages
from spinney.pages.store import PageStore

PAGE_BYTES = 8 * 2**20  # of codes by column: 300 000 rows of 28 columns
SPARSE_ROWS = 2**18
LEAST_ROWS, MOST_ROWS = 2**12, 2**20


def rows_of_page(cuts: Cuts, from_sparse: bool) -> int:
    """Rows of a page, unless the user says so."""
    if from_sparse:
        return SPARSE_ROWS
    wide = int(cuts.bins.max(initial=0)) + 1 > 256
    return int(np.clip(PAGE_BYTES // (len(cuts.bins) * (1 + wide)), LEAST_ROWS, MOST_ROWS))


def first_plan(cuts: Cuts, absent: float, from_sparse: bool) -> Plan:
    """A plan that fits any rows: columns stand alone or, of a sparse table, are all sparse."""
    if not from_sparse:
        return Plan(cuts, absent, Features.lone(cuts.bins))
    bins = cuts.bins
    group = np.full(len(bins), SPARSE, np.int64)
    return Plan(cuts, absent, Features(group, starts_of(bins)[:-1], bins.copy(), bins, cuts.bins_of(absent)))


@dataclass(eq=False)
class Counts:
    """What pages tell of each column: rows in the bins of zero and of missing values, and rows that are not absent."""

    zeros: NDArray[np.int64]
    missings: NDArray[np.int64]
    away: NDArray[np.int64]


class PageWriter:
    """Cuts rows into pages, and writes them.

    Parameters
    ----------
    folder : FolderWriter
        Where to write.
    plan : Plan
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
        self, folder: FolderWriter, plan: Plan, from_sparse: bool, compressor: Compressor, team: Team, *, draft: bool
    ) -> None:  # fmt: skip
        self._folder, self._team, self._compressor, self._draft = folder, team, compressor, draft
        self.plan, self.form, self.pages = plan, PageForm(plan.features, from_sparse), Pages.none()

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


class Drafting:
    """Takes rows, of any number at a time, and writes drafts of pages of the same number of rows."""

    def __init__(self, writer: PageWriter, page_rows: int, team: Team) -> None:
        self._writer, self._page_rows, self._team = writer, page_rows, team
        self._plan, self._sparse = writer.plan, writer.form.from_sparse
        columns = writer.plan.features.columns
        self.counts = Counts(*(np.zeros(columns, np.int64) for _ in range(3)))
        self._held: list[Any] = []
        self._rows = 0

    def add(self, table: Table) -> None:
        """Take some rows, with categories as numbers."""
        if table.sparse is not None and table.sparse.format != "csr":
            table = Table(table.rows, table.columns, table.names, (), table.sparse.lines)
        first = 0
        while first < table.rows:
            last = min(table.rows, first + self._page_rows - self._rows)
            piece = table if (first, last) == (0, table.rows) else table.between(first, last)
            self._hold(piece)
            self._rows += last - first
            first = last
            if self._rows == self._page_rows:
                self.flush()

    def _hold(self, piece: Table) -> None:
        if piece.sparse is not None:
            self._held.append(piece.sparse.matrix.copy())  # a source may use its memory again
            return
        bins = encode_columns(piece, self._plan, self._team).groups
        if piece.rows == self._page_rows:
            self._held = [bins]
            return
        if not self._held:
            self._held = [np.empty((len(bins), self._page_rows), bins.dtype)]
        self._held[0][:, self._rows : self._rows + piece.rows] = bins

    def flush(self) -> None:
        """Write what is held as a page."""
        if not self._rows:
            return
        codes = self._stacked() if self._sparse else self._lines()
        self._held, self._rows = [], 0
        self._count(codes)
        self._writer.write(codes)

    def _lines(self) -> ColumnCodes:
        bins = np.ascontiguousarray(self._held[0][:, : self._rows])
        none = Entries.none()
        return ColumnCodes(bins, np.zeros(len(bins) + 1, np.int64), none.rows, none.bins, False)

    def _stacked(self) -> ColumnCodes:
        from scipy import sparse

        whole = self._held[0] if len(self._held) == 1 else sparse.vstack(self._held, format="csr")
        table = Table(self._rows, whole.shape[1], None, (), SparseValues.of(whole))
        return encode_columns(table, self._plan, self._team)

    def _count(self, codes: ColumnCodes) -> None:
        cuts, counts = self._plan.cuts, self.counts
        zero, missing = cuts.bins_of(0.0), cuts.bins
        if not self._sparse:
            lines = Lines(np.arange(len(zero)), codes.groups)
            zeros, missings = count_bins(lines, zero, missing, self._team)
        else:
            rows, stored = codes.groups.shape[1], bins_of_codes(codes, self._plan)
            counts.away += stored.counts
            zeros, missings = (
                np.where(stored.default == wanted, rows - stored.counts, _count_of(stored, wanted))
                for wanted in (zero, missing)
            )
        counts.zeros += zeros
        counts.missings += missings


def _count_of(stored: Entries, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many entries of each column are in a bin."""
    hits = stored.bins == np.repeat(wanted, stored.counts)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(hits)])
    found: NDArray[np.int64] = before[stored.starts[1:]] - before[stored.starts[:-1]]
    return found


def bins_of_codes(codes: ColumnCodes, plan: Plan) -> Entries:
    """Bins of the entries of a table of which every column is sparse."""
    default = plan.features.default
    counts = np.diff(codes.starts)
    bins = codes.codes - np.uint16(1)
    bins += bins >= np.repeat(default, counts)
    return Entries(np.arange(len(default)), codes.starts, codes.rows, bins, default)


def final_defaults(
    plan: Plan, counts: Counts, rows: int, from_sparse: bool, bundles: bool
) -> NDArray[np.int64]:
    """The default bin of each column that is to be listed, NO_DEFAULT for others: what a survey of all rows would choose."""
    cuts = plan.cuts
    columns = np.arange(len(cuts.bins))
    default = np.full(len(columns), NO_DEFAULT, np.int64)
    if from_sparse:
        few = mostly_absent(counts.away, rows)
        default[few] = cuts.bins_of(plan.absent)[few]
    if bundles and len(columns) > 1:
        mostly = mostly_in(cuts, columns, counts.zeros, counts.missings, rows)
        default = np.where(default == NO_DEFAULT, mostly, default)
    return default


class Rewriting:
    """Reads drafts, lists the entries of some of their columns, and writes pages by the plan that is made from these."""

    def __init__(self, store: PageStore, first: Plan, default: NDArray[np.int64], team: Team) -> None:
        self._store, self._first, self._default, self._team = store, first, default, team
        self._raw, self._room = store.raw_room(), store.room()

    def survey(self, page: int) -> Survey:
        """Bins of a page, as a survey of its rows would give them."""
        codes = self._store.columns(page, self._raw, self._room.by_column, self._team)
        rows, cuts, from_sparse = codes.groups.shape[1], self._first.cuts, self._store.form.from_sparse
        if from_sparse:
            stored = bins_of_codes(codes, self._first)
            listed = self._default == stored.default
            lines, entries = part_entries(stored, stored.counts, listed, rows, cuts, self._team)
        else:
            lines, entries = Lines(np.arange(len(codes.groups)), codes.groups), Entries.none()
        return list_lines(Survey(rows, lines, entries, from_sparse), self._default, self._team)

    def plan(self, counts: Counts, bundling: Bundling | None) -> Plan:
        """The plan of all rows. Entries of the listed columns are held in memory: 6 bytes each."""
        pages, first, default = self._store.pages, self._first, self._default
        listed = np.flatnonzero(default != NO_DEFAULT)
        total = int(pages.begins[-1])
        in_default = np.where(default == first.cuts.bins, counts.missings, counts.zeros)
        starts = starts_of((total - in_default)[listed])
        rows, bins = np.empty(int(starts[-1]), np.int32), np.empty(int(starts[-1]), np.uint16)
        at = starts[:-1].copy()
        for page, begin in enumerate(pages.begins[:-1].tolist()):
            found = self.survey(page).entries
            to = np.repeat(at - found.starts[:-1], found.counts) + np.arange(len(found.rows))
            rows[to], bins[to] = found.rows + np.int32(begin), found.bins
            at += found.counts
        entries = Entries(listed, starts, rows, bins, default[listed])
        others = Lines(np.flatnonzero(default == NO_DEFAULT), np.empty((0, 0), np.uint8))
        whole = Survey(total, others, entries, self._store.form.from_sparse)
        return make_plan(whole, first.cuts, first.absent, bundling)

    def write(self, writer: PageWriter, done: Callable[[int], None]) -> None:
        """Write the pages; `done` is told each draft that is not needed any more."""
        for page in range(self._store.pages.count):
            writer.write(arranged(self.survey(page), writer.plan, self._team))
            done(page)
