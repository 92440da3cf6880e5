"""Making data sets on disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np

from spinney.binning.binned import BinnedData
from spinney.binning.cuts import Cuts
from spinney.binning.encode import final_defaults, first_plan
from spinney.binning.ingest import data_params, known_columns
from spinney.binning.kernels.records import NO_DEFAULT
from spinney.binning.plan import BinPlan, Bundling
from spinney.data import Schema, Table
from spinney.data.sources import Batch, RowSource, first_infinite
from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.jit.team import Team, threads_for
from spinney.messages import shown
from spinney.pages.codec import Compressor
from spinney.pages.dataset import open_folders
from spinney.pages.drafts import Drafting, PageWriter, Rewriting, rows_of_page
from spinney.pages.folder import Folder, FolderWriter, TemporaryFolder, folders_of
from spinney.pages.header import FolderHeader, Pages
from spinney.pages.memory import memory_bytes
from spinney.pages.progress import Steps
from spinney.pages.survey import BatchSurvey, Categorical, ReadingRules


@dataclass(frozen=True, eq=False)
class Place:
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
    place: Place,
) -> BinnedData:
    """Make a data set of rows, with what a `Dataset` is given beside them; `given` are parameters of the data."""
    known = known_columns(reference, schema)
    rules = ReadingRules(data_params(given, reference), known, categorical, cut=reference is None)
    return build(source, rules, reference, place)


def build(source: RowSource, rules: ReadingRules, reference: BinnedData | None, place: Place) -> BinnedData:
    """Read rows as often as it takes, and write a data set.

    Parameters
    ----------
    source : RowSource
        The rows.
    rules : ReadingRules
        How they are read.
    reference : BinnedData, optional
        The data whose cuts are taken.
    place : Place
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
        steps = stack.enter_context(Steps(place.progress))
        team = stack.enter_context(Team(threads))
        _write(source, rules, reference, place, writer, team, steps)
    return open_folders(folders, memory, home)


def _write(
    source: RowSource,
    rules: ReadingRules,
    reference: BinnedData | None,
    place: Place,
    writer: FolderWriter,
    team: Team,
    steps: Steps,
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
        self, survey: BatchSurvey, rules: ReadingRules, writer: FolderWriter, compression: str, team: Team, steps: Steps
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
    told = {name: writer.array(name, values) for name, values in arrays.items() if values is not None}
    return FolderHeader(
        survey.rows, rules.params, survey.schema, survey.from_sparse, plan.conflicts, told, pages, len(writer.folders)
    )  # fmt: skip
