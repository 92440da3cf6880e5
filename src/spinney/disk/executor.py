"""Rows that come in batches → folders of pages (`write_folders`): the steps of `ingest` on disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.binning.cuts import Cuts
from spinney.binning.encode import Counts
from spinney.binning.ingest import BatchScan, IngestArgs, Recoding, ingest
from spinney.binning.plan import BinPlan, Bundling
from spinney.data import Schema, Table
from spinney.data.sources import Batch, RowSource, first_infinite
from spinney.disk.batches import BatchReader
from spinney.disk.drafts import DraftRecoder, DraftWriter, PageWriter, rows_of_page
from spinney.disk.folder import Folder, FolderWriter, TemporaryFolder, folders_of
from spinney.disk.header import FolderHeader, Pages
from spinney.disk.memory import memory_bytes
from spinney.disk.open import open_folders
from spinney.disk.page import Compressor
from spinney.disk.progress import StepProgress
from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.jit.team import Team, threads_for
from spinney.messages import shown


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


def write_folders(source: RowSource, args: IngestArgs, options: DiskOptions) -> BinnedData:
    """Read rows as often as it takes, write their codes, and open them.

    Parameters
    ----------
    source : RowSource
        The rows.
    args : IngestArgs
        How they are read and binned.
    options : DiskOptions
        Where to write.
    """
    memory = memory_bytes(options.memory)
    Compressor(options.compression)  # refuse nonsense before anything is read
    threads_for(options.n_jobs)
    home = None
    if options.folder is None:
        home = TemporaryFolder()
        folders = [home.path]
    else:
        folders = folders_of(options.folder)
    try:
        ingest(source, args, DiskExecutor(options, folders, temporary=home is not None))
    except BaseException:
        if home is not None:
            home.remove()
        raise
    return open_folders(folders, memory, home)


@dataclass(frozen=True, eq=False)
class DiskExecutor:
    """Writes the codes of rows that come in batches into folders; if it fails, nothing is left of them.

    Attributes
    ----------
    options : DiskOptions
        How to write.
    folders : list of Path
        Where.
    temporary : bool
        Whether the folders go with this process, and so need not survive a loss of power.
    """

    options: DiskOptions
    folders: list[Path]
    temporary: bool

    @contextmanager
    def scan(self, source: RowSource, args: IngestArgs) -> Iterator[DiskScan]:
        """Read all rows for the first time."""
        with ExitStack() as stack:
            writer = stack.enter_context(
                _undone_on_failure(FolderWriter(self.folders, sync=not self.temporary))
            )
            steps = stack.enter_context(StepProgress(self.options.progress))
            team = stack.enter_context(Team(threads_for(self.options.n_jobs)))
            reader = BatchReader(source, args, steps.begin("reading", source.rows))
            yield DiskScan(reader, args, self.options, writer, team, steps)


@contextmanager
def _undone_on_failure(writer: FolderWriter) -> Iterator[FolderWriter]:
    try:
        yield writer
    except BaseException:
        writer.undo()
        raise


class DiskScan(BatchScan[FolderHeader]):
    """Rows that were read once. Drafts are pages, which are written anew where the plan of all rows is not the first one."""

    def __init__(
        self, reader: BatchReader, args: IngestArgs, options: DiskOptions, writer: FolderWriter, team: Team, steps: StepProgress
    ) -> None:  # fmt: skip
        self._reader, self._args, self._options = reader, args, options
        self._writer, self._team, self._steps = writer, team, steps
        self.rows, self.from_sparse, self.absent = reader.rows, reader.from_sparse, args.params.absent_value
        self._drafts: PageWriter

    def schema(self) -> Schema:
        """Columns, and the categories that were counted."""
        return self._reader.schema()

    def cuts(self, schema: Schema) -> Cuts:
        """Cuts of the rows that a table in memory would be cut by."""
        return self._reader.cuts(schema, self._team, self._steps.begin("sampling", self.rows))

    def draft(self, schema: Schema, first: BinPlan) -> Counts:
        """Read the rows again, and write their drafts."""
        self._drafts = self._page_writer(first, draft=True)
        # A page takes no memory for more rows than there are.
        page_rows = min(self._options.page_rows or rows_of_page(first.cuts, self.from_sparse), self.rows)
        drafts = DraftWriter(self._drafts, page_rows, self._team)
        for batch, table in self._reader.encoded(schema, self._steps.begin("encoding", self.rows)):
            _add(drafts, batch, table)
        drafts.flush()
        return drafts.counts

    def plan(
        self, first: BinPlan, default: NDArray[np.int64], counts: Counts, bundling: Bundling | None
    ) -> BinPlan:
        """The plan of all rows; drafts are read for their entries."""
        return DraftRecoder(self._drafts.store(), first, default, self._team).plan(counts, bundling)

    def store(self, schema: Schema, recoding: Recoding) -> FolderHeader:
        """Make the drafts pages of the plan, and write what belongs to them; the header comes last."""
        pages = self._pages(recoding)
        header = self._header(schema, recoding.plan, pages)
        self._writer.finish(header.to_text(), [header.mark(k) for k in range(1, len(self._writer.folders))])
        return header

    def _pages(self, recoding: Recoding) -> Pages:
        if not recoding.needed:
            self._writer.accept(self._drafts.pages.count)
            return self._drafts.pages
        recoder = DraftRecoder(self._drafts.store(), recoding.first, recoding.default, self._team)
        final = self._page_writer(recoding.plan, draft=False)
        recoder.write(final, self._writer.drop)
        return final.pages

    def _page_writer(self, plan: BinPlan, *, draft: bool) -> PageWriter:
        compressor = Compressor(self._options.compression)
        return PageWriter(self._writer, plan, self.from_sparse, compressor, self._team, draft=draft)

    def _header(self, schema: Schema, plan: BinPlan, pages: Pages) -> FolderHeader:
        """Write the arrays; gives the header."""
        labels, features = self._reader.labels.labels(), plan.features
        arrays = {
            "cut_values": plan.cuts.values, "cut_starts": plan.cuts.starts,
            "group": features.group, "low": features.low, "codes": features.codes, "default": features.default,
            "target": labels.target.T if labels.has_target else None, "weight": labels.weight,
            "margin": labels.margin, "queries": labels.queries,
        }  # fmt: skip
        fields = {
            name: self._writer.array(name, values) for name, values in arrays.items() if values is not None
        }
        return FolderHeader(
            self.rows, self._args.params, schema, self.from_sparse, plan.conflicts, fields, pages, len(self._writer.folders)
        )  # fmt: skip


def _add(drafts: DraftWriter, batch: Batch, table: Table) -> None:
    """Draft the rows of a batch; an infinite value is an error that names its row."""
    try:
        if table.sparse is not None and np.isinf(table.sparse.values).any():
            raise DataError("it holds an infinite value")
        drafts.add(table)
    except DataError:
        found = first_infinite(table)
        if found is not None:
            raise batch.infinite(*found) from None
        raise  # of the folder, which is not the batch's fault
