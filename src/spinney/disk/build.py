"""Making data sets on disk: tables become pages of drafts, and these become pages by the plan of all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.binning.cuts import Cuts
from spinney.binning.encode import (
    ColumnCodes,
    Counts,
    arranged,
    count_draft,
    encode_columns,
    final_defaults,
    final_plan,
    first_plan,
    survey_draft,
)
from spinney.binning.ingest import data_params, known_columns
from spinney.binning.kernels.bin import WORD
from spinney.binning.kernels.records import NO_DEFAULT
from spinney.binning.matrix import SparseEntries
from spinney.binning.plan import BinPlan, Bundling, TableBins
from spinney.data import Schema, Table
from spinney.data.sources import Batch, RowSource, first_infinite
from spinney.data.sparse import SparseValues
from spinney.disk.blocks import PageStore
from spinney.disk.folder import Folder, FolderWriter, TemporaryFolder, folders_of
from spinney.disk.header import FolderHeader, Pages
from spinney.disk.memory import memory_bytes
from spinney.disk.open import open_folders
from spinney.disk.page import Compressor, PageLayout
from spinney.disk.progress import StepProgress
from spinney.disk.survey import BatchSurvey, Categorical, ReadingRules
from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.jit.team import Team, threads_for
from spinney.messages import shown

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


class Drafting:
    """Takes rows, of any number at a time, and writes drafts of pages of the same number of rows."""

    def __init__(self, writer: PageWriter, page_rows: int, team: Team) -> None:
        self._writer, self._page_rows, self._team = writer, page_rows, team
        self._plan, self._sparse = writer.plan, writer.form.from_sparse
        self.counts = Counts.none(writer.plan.features.columns)
        self._held: list[Any] = []
        self._rows = 0

    def add(self, table: Table) -> None:
        """Take some rows, with categories as numbers."""
        if table.sparse is not None and table.sparse.format != "csr":
            table = Table(table.rows, table.columns, table.names, (), table.sparse.csr)
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
        self.counts.add(count_draft(codes, self._plan, self._team))
        self._writer.write(codes)

    def _lines(self) -> ColumnCodes:
        bins = np.ascontiguousarray(self._held[0][:, : self._rows])
        none = SparseEntries.none()
        return ColumnCodes(bins, np.zeros(len(bins) + 1, np.int64), none.rows, none.bins, False)

    def _stacked(self) -> ColumnCodes:
        from scipy import sparse

        whole = self._held[0] if len(self._held) == 1 else sparse.vstack(self._held, format="csr")
        table = Table(self._rows, whole.shape[1], None, (), SparseValues.of(whole))
        return encode_columns(table, self._plan, self._team)


class Rewriting:
    """Reads drafts, lists the entries of some of their columns, and writes pages by the plan that is made from these."""

    def __init__(self, store: PageStore, first: BinPlan, default: NDArray[np.int64], team: Team) -> None:
        self._store, self._first, self._default, self._team = store, first, default, team
        self._raw, self._buffer = store.raw_buffer(), store.buffer()

    def survey(self, page: int) -> TableBins:
        """Bins of a page, as a survey of its rows would give them."""
        codes = self._store.columns(self._store.raw(page, self._raw), self._buffer.by_column, self._team)
        return survey_draft(codes, self._first, self._default, self._team)

    def plan(self, counts: Counts, bundling: Bundling | None) -> BinPlan:
        """The plan of all rows."""
        begins, from_sparse = self._store.pages.begins.tolist(), self._store.form.from_sparse
        found = ((begin, self.survey(page).entries) for page, begin in enumerate(begins[:-1]))
        return final_plan(self._first, self._default, counts, begins[-1], from_sparse, found, bundling)

    def write(self, writer: PageWriter, done: Callable[[int], None]) -> None:
        """Write the pages; `done` is called with each draft that is not needed any more."""
        for page in range(self._store.pages.count):
            writer.write(arranged(self.survey(page), writer.plan, self._team))
            done(page)


@dataclass(frozen=True, eq=False)
class DiskOptions:
    """Where a data set is to be written, and how.

    Attributes
    ----------
    folder : path or list of paths, optional
        Empty or new folders; without them a temporary one.
    memory : str or int, optional
        How much of the codes may stay in memory while they are read.
    page_rows : int, optional
        Rows of a page.
    compression : {"auto", "none", "lz4", "zstd"}
        How pages are compressed.
    progress : bool
        Whether to show progress bars.
    n_jobs : int, optional
        Threads to bin with.
    """

    folder: Folder | Iterable[Folder] | None = None
    memory: str | int | None = None
    page_rows: int | None = None
    compression: str = "auto"
    progress: bool = False
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        rows = self.page_rows
        if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int | np.integer)):
            raise ParameterTypeError(f"page_rows={shown(rows)} must be a whole number")
        if rows is not None and rows < 1:
            raise ParameterError(f"page_rows={rows} must be 1 or more")
        if not isinstance(self.progress, bool):
            raise ParameterTypeError(f"progress={shown(self.progress)} must be True or False")


def from_source(
    source: RowSource,
    reference: BinnedData | None,
    schema: Schema | None,
    categorical: Categorical,
    given: Mapping[str, object],
    place: DiskOptions,
) -> BinnedData:
    """Make a data set of rows, with what a `Dataset` is given beside them; `given` are parameters of the data."""
    known = known_columns(reference, schema)
    rules = ReadingRules(data_params(given, reference), known, categorical, cut=reference is None)
    return build(source, rules, reference, place)


def build(
    source: RowSource, rules: ReadingRules, reference: BinnedData | None, place: DiskOptions
) -> BinnedData:
    """Read rows as often as it takes, and write a data set.

    Parameters
    ----------
    source : RowSource
        The rows.
    rules : ReadingRules
        How they are read.
    reference : BinnedData, optional
        The data whose cuts are taken.
    place : DiskOptions
        Where to write.
    """
    memory = memory_bytes(place.memory)
    Compressor(place.compression)  # refuse nonsense before anything is read
    threads = threads_for(place.n_jobs)
    home = None
    if place.folder is None:
        home = TemporaryFolder()
        folders = [home.path]
    else:
        folders = folders_of(place.folder)
    with ExitStack() as stack:
        writer = FolderWriter(folders, sync=home is None)
        stack.enter_context(_undone_on_failure(writer, home))
        steps = stack.enter_context(StepProgress(place.progress))
        team = stack.enter_context(Team(threads))
        _write(source, rules, reference, place, writer, team, steps)
    return open_folders(folders, memory, home)


def _write(
    source: RowSource,
    rules: ReadingRules,
    reference: BinnedData | None,
    place: DiskOptions,
    writer: FolderWriter,
    team: Team,
    steps: StepProgress,
) -> None:
    """Write everything; what was gathered in memory is let go of in the end."""
    survey = BatchSurvey(source, rules, steps.begin("reading", source.rows))
    if reference is None:
        cuts = survey.cuts(team, steps.begin("sampling", survey.rows))
    else:
        cuts = reference.cuts
    making = _Making(survey, rules, writer, place.compression, team, steps)
    pages, plan = making.pages(cuts, place.page_rows, bundles=reference is None and rules.params.bundle)
    header = _written(writer, survey, rules, plan, pages)
    writer.finish(header.to_text(), [header.mark(k) for k in range(1, len(writer.folders))])


@contextmanager
def _undone_on_failure(writer: FolderWriter, home: TemporaryFolder | None) -> Iterator[None]:
    try:
        yield
    except BaseException:
        writer.undo()
        if home is not None:
            home.remove()
        raise


class _Making:
    """Writes the pages of rows that were surveyed."""

    def __init__(
        self, survey: BatchSurvey, rules: ReadingRules, writer: FolderWriter, compression: str, team: Team, steps: StepProgress
    ) -> None:  # fmt: skip
        self._survey, self._rules, self._writer = survey, rules, writer
        self._compression, self._team, self._steps = compression, team, steps

    def pages(self, cuts: Cuts, page_rows: int | None, *, bundles: bool) -> tuple[Pages, BinPlan]:
        """Write all pages; gives them, and the plan that they are coded by."""
        survey, params, from_sparse = self._survey, self._rules.params, self._survey.from_sparse
        plan = first_plan(cuts, params.absent_value, from_sparse)
        drafts = self._page_writer(plan, draft=True)
        # A page takes no memory for more rows than there are.
        most = min(page_rows or rows_of_page(cuts, from_sparse), survey.rows)
        drafting = Drafting(drafts, most, self._team)
        for batch, table in survey.encoded(self._steps.begin("encoding", survey.rows)):
            _add(drafting, batch, table)
        drafting.flush()
        default = final_defaults(plan, drafting.counts, survey.rows, from_sparse, bundles)
        if not from_sparse and (default == NO_DEFAULT).all():
            self._writer.accept(drafts.pages.count)
            return drafts.pages, plan
        rewriting = Rewriting(drafts.store(), plan, default, self._team)
        bundling = Bundling(params.bundle_order, params.max_conflict_rate) if bundles else None
        final = self._page_writer(rewriting.plan(drafting.counts, bundling), draft=False)
        rewriting.write(final, self._writer.drop)
        return final.pages, final.plan

    def _page_writer(self, plan: BinPlan, *, draft: bool) -> PageWriter:
        compressor = Compressor(self._compression)
        return PageWriter(self._writer, plan, self._survey.from_sparse, compressor, self._team, draft=draft)


def _add(drafting: Drafting, batch: Batch, table: Table) -> None:
    """Draft the rows of a batch; an infinite value is an error that names its row."""
    try:
        if table.sparse is not None and np.isinf(table.sparse.values).any():
            raise DataError("it holds an infinite value")
        drafting.add(table)
    except DataError:
        found = first_infinite(table)
        if found is not None:
            raise batch.infinite(*found) from None
        raise  # of the folder, which is not the batch's fault


def _written(
    writer: FolderWriter, survey: BatchSurvey, rules: ReadingRules, plan: BinPlan, pages: Pages
) -> FolderHeader:
    """Write the arrays; gives the header."""
    labels, features = survey.labels.labels(), plan.features
    arrays = {
        "cut_values": plan.cuts.values, "cut_starts": plan.cuts.starts,
        "group": features.group, "low": features.low, "codes": features.codes, "default": features.default,
        "target": labels.target.T if labels.has_target else None, "weight": labels.weight,
        "margin": labels.margin, "queries": labels.queries,
    }  # fmt: skip
    fields = {name: writer.array(name, values) for name, values in arrays.items() if values is not None}
    return FolderHeader(
        survey.rows, rules.params, survey.schema, survey.from_sparse, plan.conflicts, fields, pages, len(writer.folders)
    )  # fmt: skip
