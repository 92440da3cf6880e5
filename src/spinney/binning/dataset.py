"""`Dataset`: a table binned once, with its target and weights, for any number of trainings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.binning.arguments import DATA_PARAMS, data_params, known_columns, own
from spinney.binning.blocks import Blocks
from spinney.binning.bundle import Bundling
from spinney.binning.checksum import Checksum
from spinney.binning.cuts import Cuts, find_cuts
from spinney.binning.encode import plan_and_encode
from spinney.binning.features import Features
from spinney.binning.from_disk import FromDisk
from spinney.binning.matrix import BinnedMatrix
from spinney.binning.plan import Plan
from spinney.binning.sorted import SortedTable, sort_columns
from spinney.binning.source import Source
from spinney.binning.views import Fine, fine_view
from spinney.data import (
    Labels,
    RawLabels,
    Schema,
    Table,
    encode,
    find_schema,
    match_columns,
    read_labels,
    read_table,
)
from spinney.data.schema import MOST_COLUMNS, named_categorical
from spinney.errors import DataError, DataTypeError, ParameterTypeError
from spinney.jit.team import Team, most_for, threads_for
from spinney.messages import shown, type_name
from spinney.params import checked_jobs

# Values from which binning is shared among threads. Time on one thread / on two: 2 000 × 10 .92, 5 000 × 10 1.11,
# 10 000 × 10 1.60, 1 000 × 50 .89, 2 000 × 50 1.42.
SHARE_VALUES = 50_000
View = TypeVar("View")
CHANGED = "make the Dataset again, or give it a copy of X to begin with"
MOST_ROWS = 2**31 - 1  # a row's number has 31 bits while a tree is grown


class Dataset(FromDisk):
    """A table, binned, with what training needs beside it.

    The table itself is let go of when a training on bins begins. `tree_method` exact and approx, and `init_model`, read it again.
    So X must not have been changed by then, which is an error, and after a training on bins you must still hold it, unless
    `keep_table` is True. What they make of it, sorted columns or fine bins, is kept for the next training, and let go of with the
    table. A training on bins may follow any change of X.

    Parameters
    ----------
    X : table
        NumPy array (any numeric type and layout), pandas, Polars or PyArrow table, SciPy sparse matrix, or a list of rows.
        NaN and nulls are missing values; infinite values are an error. A sparse matrix is never made dense.
    y : array of shape (rows,) or (rows, targets), optional
        Target; the objective says what several columns mean. A data set without one can only serve as `reference`.
    weight : array of shape (rows,) or (queries,), optional
        Weights of the rows, or of the queries where there are some, in the order of their first rows: how many there are tells
        which. 0 or more. A row of weight 0 takes no part in the trees.
    group : array of int, optional
        Sizes of the queries of a ranking, whose rows follow each other.
    qid : array of shape (rows,), optional
        The query of each row instead: whole numbers or text. The rows of a query need not stand together.
    base_margin : array of shape (rows,) or (rows, outputs), optional
        Raw scores that the rows start from, in place of the base score.
    reference : Dataset, optional
        Take the columns and cuts of this data set; needed for validation data.
    schema : Schema, optional
        Take the order of columns and the categories of a model, its `schema`; needed to go on from it (`init_model`) with other
        rows.
    max_bin : int, default=255
        Most bins of a column of numbers, 2 to 65 536. (65 536 counts the bin for missing values.) A column of up to max_bin
        categories has a bin for each. Of more, the most frequent that together make up 99 % of the rows with a value have
        one, at least max_bin and at most 65 000 of them; the others share a bin.
    bundle : bool, default=True
        Whether columns that are hardly ever away from zero together share a group. It makes training on one-hot columns
        faster; splits, importances and predictions are of the columns that were given.
    bundle_order : {"auto", "degree", "nonzero"}, default="auto"
        Which columns look for a bundle first: those with the most conflicting columns, or with the most entries.
    max_conflict_rate : float, default=0.0
        Conflicts that a bundle may have, as a share of the rows: entries of one column in rows where another one is away
        from zero too. They are lost. At 0 bundling does not change the model.
    absent : {"zero", "missing"}, default="zero"
        What an entry that a sparse matrix does not store means.
    categorical : "auto" or sequence of str, int or bool, default="auto"
        Columns whose whole numbers, dates, times or intervals are categories: by name as text, by position as a whole number, or
        as a mask of one truth value a column.
        Columns of text and of a frame's categories always are categorical, but text that all reads as numbers must be named.
        Booleans are 0 and 1 unless they are named.
    unseen : {"missing", "error", "rarest"}, default="missing"
        What a category of a later table means if this one does not have it: a missing value, an error, or the same as the
        rarest category.
    names : sequence of str, optional
        Column names, for tables that have none.
    spread : bool, default=False
        Whether cuts go by the distance of values too, more of them where these lie far apart: for forests that draw their cuts.
    keep_table : bool, default=False
        Whether to keep X, and what exact and approx made of it, after a training on bins too.
    n_jobs : int, optional
        Threads to bin with, fewer where there is less to do; the bins do not depend on it.

    Examples
    --------
    >>> import numpy as np, spinney as sp
    >>> ds = sp.Dataset(np.arange(12.0).reshape(6, 2), y=np.arange(6.0))
    >>> ds
    Dataset(rows=6, columns=2, bins=12)
    """

    schema: Schema
    index: NDArray[np.int32] | None = None
    """Rows of `whole` that this data set has, ascending; None for all."""
    blocks: Blocks | None = None
    """The codes, if they come block by block; None where they are in `matrix`."""

    def __init__(
        self,
        X: object,
        y: ArrayLike | None = None,
        *,
        weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        base_margin: ArrayLike | None = None,
        reference: Dataset | None = None,
        schema: Schema | None = None,
        max_bin: int | None = None,
        bundle: bool | None = None,
        bundle_order: str | None = None,
        max_conflict_rate: float | None = None,
        absent: str | None = None,
        categorical: str | Sequence[str | int] | NDArray[np.bool_] = "auto",
        unseen: str | None = None,
        names: list[str] | tuple[str, ...] | None = None,
        spread: bool = False,
        keep_table: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        if reference is not None and not isinstance(reference, Dataset):
            raise DataTypeError(f"reference must be a spinney.Dataset, got {type_name(reference)}")
        known = known_columns(reference, schema)
        given = dict(
            zip(DATA_PARAMS, (max_bin, bundle, bundle_order, max_conflict_rate, absent, unseen), strict=True)
        )
        self.params = data_params(given, reference)
        n_jobs = checked_jobs(n_jobs)
        for flag, value in (("spread", spread), ("keep_table", keep_table)):
            if not isinstance(value, bool | np.bool_):
                raise ParameterTypeError(f"{flag}={shown(value)} must be True or False")
        table = X if isinstance(X, Table) else read_table(X, names=names)
        self._source = Source(X, names, keep=bool(keep_table))
        self._views: dict[str, Any] = {}
        if known is not None:
            table = match_columns(table, known.names, known.columns, model="the reference")
        self._matched = known is not None
        if table.rows > MOST_ROWS:
            raise DataError(f"X has {table.rows} rows; a Dataset can hold {MOST_ROWS}")
        if table.columns > MOST_COLUMNS:
            raise DataError(f"X has {table.columns} columns; a Dataset can hold {MOST_COLUMNS}")
        self.rows: int = table.rows
        labels = read_labels(RawLabels(y, weight, base_margin, group, qid), table.rows)
        self.target: NDArray[np.float64] | None = own(labels.target) if labels.has_target else None
        self.queries: NDArray[np.int64] | None = labels.queries
        self.weight: NDArray[np.float64] | None = own(labels.weight)
        self.margin: NDArray[np.float64] | None = own(labels.margin)
        named = named_categorical(categorical, table, known)
        self._bin(self._encoded(table, known, named, reference), reference, bool(spread), n_jobs)

    def table(self, what: str = "dataset") -> Table:
        """The table that was given, with its columns in order and categories as numbers; read once.

        Parameters
        ----------
        what : str, default="dataset"
            Names this data set in the error for a table that is gone.
        """
        table = self._views["table"] = self._read(what)
        return table

    @property
    def has_table(self) -> bool:
        """Whether `table` can give it: after a training on bins only as long as somebody keeps X."""
        return "table" in self._views or not self._source.gone

    def sorted_columns(self, threads: int) -> SortedTable:
        """Every column's values, sorted once; they do not depend on the threads."""
        return self._view("sorted", lambda: sort_columns(self.table(), threads, self.params.absent_value))

    def fine(self, team: Team) -> Fine:
        """The table in very many fine bins, cut once."""
        absent, categories = self.params.absent_value, self.schema.category_counts
        return self._view(
            "fine", lambda: fine_view(self._read("dataset"), self.weight, categories, absent, team)
        )

    def fine_like(self, other: Fine, team: Team, what: str) -> Fine:
        """The table in the fine bins of the training data, for a validation set named `what`; binned once."""
        own: Fine | None = self._views.get("fine")
        if own is not None and own.cuts is other.cuts:
            return own
        kept: Fine | None = self._views.get("like")
        if kept is None or kept.cuts is not other.cuts:
            absent = self.params.absent_value
            _, matrix = plan_and_encode(self._read(what), other.cuts, team, absent=absent)
            kept = self._views["like"] = Fine(other.cuts, other.zero, matrix)
        return kept

    def release(self) -> None:
        """Let go of the table and of what was made of it beside the bins, unless it is to be kept."""
        if not self._source.keep:
            self._source.release()
            self._views.clear()

    def _view(self, name: str, make: Callable[[], View]) -> View:
        """What is made of the table: at its first use, and then kept."""
        if name not in self._views:
            self._views[name] = make()
        found: View = self._views[name]
        return found

    def _read(self, what: str) -> Table:
        """Read the table again, unless it is kept as it was read, and see that it is the one that was binned.

        What is kept may be the user's own memory, so it is looked at whenever it is asked for.
        """
        table: Table | None = self._views.get("table")
        if table is None:
            table = self._source.table(what)
            if self._matched:
                table = match_columns(table, self.schema.names, self.schema.columns, model="the reference")
            if (table.rows, table.columns) != (self.rows, self.columns):
                raise DataError(f"X of {what} has changed its shape since the Dataset was made; {CHANGED}")
            table = encode(table, self.schema.categories, self._unseen)
        if self._sum_of(table) != self._checksum:
            raise DataError(f"X of {what} has changed its values since the Dataset was made; {CHANGED}")
        return table

    def _sum_of(self, table: Table, threads: int = 1) -> int:
        """A checksum of what is read of a table: numbers, and numbers of categories."""
        checksum = Checksum(self.params.absent_value)
        checksum.add(table, threads)
        return checksum.value

    def labels(self, what: str = "dataset") -> Labels:
        """Target, weights and margin.

        Parameters
        ----------
        what : str, default="dataset"
            Names this data set in the error where there is no target.
        """
        if self.target is None:
            raise DataError(f"{what} has no target: give y to Dataset")
        return Labels(self.target, self.weight, self.margin, self.queries)

    def __getstate__(self) -> dict[str, object]:
        """Copies and pickles go without the table and what was made of it beside the bins."""
        return {**self.__dict__, "_views": {}}

    def _encoded(
        self, table: Table, known: Schema | None, named: set[int], reference: Dataset | None
    ) -> Table:
        """Find the schema, and turn categories into numbers."""
        if reference is not None:
            self.schema = reference.schema
        else:
            self.schema = find_schema(table, named, self.weight, self.params.max_bin, known)
        return encode(table, self.schema.categories, self._unseen)

    @property
    def _unseen(self) -> str:
        """What an unknown category means; where categories were learnt, only rows of weight 0 can hold one."""
        return self.params.unseen if self._matched else "missing"

    def _bin(self, table: Table, reference: Dataset | None, spread: bool, n_jobs: int | None) -> None:
        params, absent, categories = self.params, self.params.absent_value, self.schema.category_counts
        bundling = Bundling(params.bundle_order, params.max_conflict_rate) if params.bundle else None
        values = table.rows * table.columns if table.sparse is None else table.sparse.stored
        with Team(threads_for(n_jobs, most_for(values, SHARE_VALUES))) as team:
            self._checksum = self._sum_of(table, team.size)
            if reference is None:
                self.cuts: Cuts = find_cuts(
                    table, self.weight, params.max_bin, team, absent, categories, spread=spread
                )
            else:
                self.cuts = reference.cuts
                bundling = None  # rows that were not looked at may conflict
            self.plan: Plan
            self._matrix: BinnedMatrix
            self.plan, self._matrix = plan_and_encode(table, self.cuts, team, bundling, absent)

    @property
    def whole(self) -> Dataset:
        """The data set whose codes this one shares: itself, unless it is a part of another."""
        return self

    @property
    def matrix(self) -> BinnedMatrix:
        """The codes of the rows."""
        return self._matrix

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.schema.columns

    @property
    def max_bin(self) -> int:
        """Most bins of a column of numbers."""
        return self.cuts.max_bin

    @property
    def nbytes(self) -> int:
        """Bytes of the binned matrix, which parts of a data set share."""
        return self.whole.matrix.nbytes

    def describe(self) -> dict[str, int]:
        """Tell how the table is kept.

        Returns
        -------
        dict
            rows, columns and bins (missing values not counted); categorical columns, and rare categories, which share the
            last bin of their column; groups of columns that are kept for all rows, and of
            these bundles of several columns; bundled columns; sparse columns, of which only stored entries are kept;
            those entries; conflicts, entries that bundles have no room for; queries, 0 where none are known; bytes.

        Examples
        --------
        >>> import numpy as np, spinney as sp
        >>> facts = sp.Dataset(np.eye(4).repeat(5, axis=0), np.arange(20.0)).describe()
        >>> facts["columns"], facts["groups"], facts["bundles"]
        (4, 1, 1)
        """
        matrix = self.whole.matrix
        return self._described(matrix.features, matrix.sparse.entries)

    def _described(self, features: Features, entries: int) -> dict[str, int]:
        groups = len(features.group_codes)
        sizes = np.bincount(features.group[features.group >= 0], minlength=groups)
        return {
            "rows": self.rows,
            "columns": self.columns,
            "bins": int(self.cuts.bins.sum()),
            "categorical_columns": len(self.schema.categorical),
            "rare_categories": sum(one.rare for one in self.schema.categories or () if one is not None),
            "groups": groups,
            "bundles": int((sizes > 1).sum()),
            "bundled_columns": int(sizes[sizes > 1].sum()),
            "sparse_columns": int((features.group < 0).sum()),
            "stored_entries": entries,
            "conflicts": self.plan.conflicts,
            "queries": 0 if self.queries is None else int(self.queries.max()) + 1,
            "bytes": self.nbytes,
        }

    def __repr__(self) -> str:
        return f"Dataset(rows={self.rows}, columns={self.columns}, bins={int(self.cuts.bins.sum())})"
