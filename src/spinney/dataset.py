"""`Dataset`: a table binned once, with its target and weights, for any number of trainings; and the ways to make or open one.

It is the public face of a `BinnedData` (`binning/binned.py`), which it holds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.binning.binned import BinnedData
from spinney.binning.cuts import Cuts
from spinney.binning.ingest import Categorical, IngestArgs, MemoryExecutor, ingest
from spinney.data import Labels, RawLabels, Schema
from spinney.data.arrays import refuse_dask
from spinney.errors import DataTypeError
from spinney.messages import type_name
from spinney.params import DataParams

Folder = str | os.PathLike[str]


class Dataset:
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
        Target; what several columns mean depends on the objective. A data set without one can only serve as `reference`.
    weight : array of shape (rows,) or (queries,), optional
        Weights of the rows, or of the queries where there are some, in the order of their first rows: their number shows
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
        Whether cuts depend on the distance of values too, more of them where these lie far apart: for forests that draw cuts.
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
        categorical: Categorical = "auto",
        unseen: str | None = None,
        names: list[str] | tuple[str, ...] | None = None,
        spread: bool = False,
        keep_table: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        values = max_bin, bundle, bundle_order, max_conflict_rate, absent, unseen
        args = _ingest_args(values, reference, schema, categorical)
        executor = MemoryExecutor(names=names, spread=spread, keep_table=keep_table, n_jobs=n_jobs)
        self._binned = ingest((X, RawLabels(y, weight, base_margin, group, qid)), args, executor)

    def __copy__(self) -> Dataset:
        """A copy that shares everything but what is made of the table."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._binned = copy(self._binned)
        return made

    @property
    def binned(self) -> BinnedData:
        """The codes, the cuts, the labels: what trainings read."""
        return self._binned

    @staticmethod
    def from_files(
        paths: Folder | Iterable[Folder],
        *,
        target: str | Sequence[str] | None = None,
        weight: str | None = None,
        base_margin: str | Sequence[str] | None = None,
        qid: str | None = None,
        group: str | None = None,
        columns: Sequence[str] | None = None,
        categorical: Categorical = "auto",
        reference: Dataset | None = None,
        schema: Schema | None = None,
        max_bin: int | None = None,
        bundle: bool | None = None,
        bundle_order: str | None = None,
        max_conflict_rate: float | None = None,
        absent: str | None = None,
        unseen: str | None = None,
        folder: Folder | Iterable[Folder] | None = None,
        memory: str | int | None = None,
        page_rows: int | None = None,
        compression: str = "auto",
        progress: bool = False,
        n_jobs: int | None = None,
    ) -> Dataset:
        """Make a data set on disk from files that need not fit into memory.

        It has the cuts, groups and codes that a `Dataset` of all rows would have, and trains to the same bytes.

        Parameters
        ----------
        paths : path or iterable of paths
            Parquet, Arrow (Feather) or CSV files, patterns such as "data/*.parquet", or folders of such files, which are taken
            in the order of their names. Needs PyArrow.
        target : str or sequence of str, optional
            Column, or columns, of the target.
        weight : str, optional
            Column of the weights of rows.
        base_margin : str or sequence of str, optional
            Column, or columns, of the scores that rows start from.
        qid : str, optional
            Column of the query that each row belongs to: whole numbers or text.
        group : str, optional
            Another name of `qid`. Sizes of queries, which `group` of `Dataset` is, do not stand in a row each.
        columns : sequence of str, optional
            Columns to learn from, in this order; without it all others of the first file.
        categorical, reference, schema, max_bin, bundle, bundle_order, max_conflict_rate, absent, unseen
            See `Dataset`.
        folder : path or list of paths, optional
            Where to keep the data set: a new or an empty folder, or several, on several disks, which share the pages.
            `open_dataset` opens it again. Without it a temporary folder is removed with the data set.
        memory : str or int, optional
            How much of the codes may stay in memory while they are read, such as "2GB"; without it half of what is free when
            pages are first read.
        page_rows : int, optional
            Rows of a page; without it so many that a page has about 8 MB or, of many columns, up to 64 MB.
        compression : {"auto", "none", "lz4", "zstd"}, default="auto"
            How pages are compressed, beside being packed into as few bits as codes need. "auto" is lz4 as long as pages shrink
            by a fifth.
        progress : bool, default=False
            Show progress bars.
        n_jobs : int, optional
            Threads to bin with; the data set does not depend on it.

        Returns
        -------
        Dataset
            For `train` with `tree_method` hist, and as its validation data.

        Examples
        --------
        >>> import pyarrow as pa, pyarrow.parquet as pq, spinney as sp, tempfile
        >>> with tempfile.TemporaryDirectory() as place:
        ...     pq.write_table(pa.table({"a": [1.0, 2.0, 3.0], "y": [0.0, 1.0, 1.0]}), f"{place}/a.parquet")
        ...     sp.Dataset.from_files(f"{place}/*.parquet", target="y")
        Dataset(rows=3, columns=1, bins=3, pages=1)
        """
        from spinney.data.files import FileSource
        from spinney.disk.executor import DiskOptions, write_folders

        options = DiskOptions(folder, memory, page_rows, compression, progress, n_jobs)
        source = FileSource(
            paths,
            target=target,
            weight=weight,
            base_margin=base_margin,
            qid=qid,
            group=group,
            columns=columns,
        )
        values = max_bin, bundle, bundle_order, max_conflict_rate, absent, unseen
        args = _ingest_args(values, reference, schema, categorical)
        return as_dataset(write_folders(source, args, options))

    @staticmethod
    def from_batches(
        source: Callable[[], Iterable[Any]] | list[Any] | tuple[Any, ...],
        *,
        rows: int | None = None,
        categorical: Categorical = "auto",
        names: Sequence[str] | None = None,
        reference: Dataset | None = None,
        schema: Schema | None = None,
        max_bin: int | None = None,
        bundle: bool | None = None,
        bundle_order: str | None = None,
        max_conflict_rate: float | None = None,
        absent: str | None = None,
        unseen: str | None = None,
        folder: Folder | Iterable[Folder] | None = None,
        memory: str | int | None = None,
        page_rows: int | None = None,
        compression: str = "auto",
        progress: bool = False,
        n_jobs: int | None = None,
    ) -> Dataset:
        """Make a data set on disk from rows that come in batches.

        It has the cuts, groups and codes that a `Dataset` of all rows would have, and trains to the same bytes.

        Parameters
        ----------
        source : callable, or list
            A function that gives a fresh iterator of batches each time it is called, because rows are read several times:
            the same rows in the same order every time. A batch is a pair (X, y), or a dict of X, y, weight, base_margin, and
            group or qid; X is any table that `Dataset` takes. A list of batches will do.
        rows : int, optional
            How many rows there are. With it, or up to 200 000 rows, the source is read two times, else three times.
        names : sequence of str, optional
            Column names, for tables that have none.
        categorical, reference, schema, max_bin, bundle, bundle_order, max_conflict_rate, absent, unseen
            See `Dataset`.
        folder, memory, page_rows, compression, progress, n_jobs
            See `from_files`.

        Returns
        -------
        Dataset
            For `train` with `tree_method` hist, and as its validation data.

        Examples
        --------
        >>> import numpy as np, spinney as sp
        >>> def batches():
        ...     for seed in range(3):
        ...         X = np.random.default_rng(seed).random((100, 2))
        ...         yield X, X[:, 0]
        >>> sp.Dataset.from_batches(batches, max_bin=63)
        Dataset(rows=300, columns=2, bins=126, pages=1)
        """
        from spinney.data.sources import BatchSource
        from spinney.disk.executor import DiskOptions, write_folders

        options = DiskOptions(folder, memory, page_rows, compression, progress, n_jobs)
        values = max_bin, bundle, bundle_order, max_conflict_rate, absent, unseen
        args = _ingest_args(values, reference, schema, categorical)
        return as_dataset(write_folders(BatchSource(source, names, rows), args, options))

    @property
    def schema(self) -> Schema:
        """Columns and categories."""
        return self._binned.schema

    @property
    def params(self) -> DataParams:
        """How the table was binned."""
        return self._binned.params

    @property
    def cuts(self) -> Cuts:
        """Where columns are cut into bins."""
        return self._binned.cuts

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._binned.rows

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self._binned.columns

    @property
    def max_bin(self) -> int:
        """Most bins of a column of numbers."""
        return self.cuts.max_bin

    @property
    def target(self) -> NDArray[np.float64] | None:
        """The target, float64; several columns stand one after another in memory."""
        labels = self._binned.labels
        return labels.target if labels.has_target else None

    @property
    def weight(self) -> NDArray[np.float64] | None:
        """Weights of the rows."""
        return self._binned.labels.weight

    @property
    def margin(self) -> NDArray[np.float64] | None:
        """Scores that the rows start from, rows × outputs."""
        return self._binned.labels.margin

    @property
    def queries(self) -> NDArray[np.int64] | None:
        """Number of each row's query, from 0 in the order of their first rows."""
        return self._binned.labels.queries

    @property
    def index(self) -> NDArray[np.int32] | None:
        """Rows of the data set that `split` was given which this part has, ascending; None for all."""
        return self._binned.selected

    @property
    def nbytes(self) -> int:
        """Bytes of the codes, which parts of a data set share."""
        return self._binned.codes.nbytes

    @property
    def folders(self) -> list[Path] | None:
        """Folders of a data set on disk; None for one in memory."""
        return list(self._binned.codes.folders) or None

    @property
    def has_table(self) -> bool:
        """Whether the table can be read: after a training on bins only as long as somebody keeps X."""
        return self._binned.raw.available

    def release(self) -> None:
        """Let go of the table and of what was made of it beside the bins, unless it is to be kept."""
        self._binned.raw.release()

    def labels(self, what: str = "dataset") -> Labels:
        """Target, weights and margin.

        Parameters
        ----------
        what : str, default="dataset"
            Names this data set in the error where there is no target.
        """
        return self._binned.checked_labels(what)

    def describe(self) -> dict[str, int]:
        """Give facts about how the table is kept.

        Returns
        -------
        dict
            rows, columns and bins (missing values not counted); categorical columns, and rare categories, which share the
            last bin of their column; groups of columns that are kept for all rows, and of
            these bundles of several columns; bundled columns; sparse columns, of which only stored entries are kept;
            those entries; conflicts, entries that bundles lose; queries, 0 where none are known; bytes.

        Examples
        --------
        >>> import numpy as np, spinney as sp
        >>> facts = sp.Dataset(np.eye(4).repeat(5, axis=0), np.arange(20.0)).describe()
        >>> facts["columns"], facts["groups"], facts["bundles"]
        (4, 1, 1)
        """
        data = self._binned
        features, codes = data.plan.features, data.codes
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
            "stored_entries": codes.entries,
            "conflicts": data.plan.conflicts,
            "queries": 0 if self.queries is None else int(self.queries.max()) + 1,
            "bytes": self.nbytes,
            **codes.storage(),
        }

    def __repr__(self) -> str:
        pages = self._binned.codes.storage().get("pages")
        more = "" if pages is None else f", pages={pages}"
        return f"Dataset(rows={self.rows}, columns={self.columns}, bins={int(self.cuts.bins.sum())}{more})"


def as_dataset(binned: BinnedData) -> Dataset:
    """The data set of data that are binned already."""
    made = Dataset.__new__(Dataset)
    made._binned = binned
    return made


def binned_of(dataset: object, what: str = "dataset") -> BinnedData:
    """The binned data of a data set, or an error about the argument `what`."""
    if not isinstance(dataset, Dataset):
        refuse_dask(dataset, what)
        raise DataTypeError(f"{what} must be a spinney.Dataset, got {type_name(dataset)}")
    return dataset.binned


def open_dataset(folder: Folder | Iterable[Folder], memory: str | int | None = None) -> Dataset:
    """Open a data set that `Dataset.from_files` or `Dataset.from_batches` has written.

    Parameters
    ----------
    folder : path or list of paths
        Its folder; where several share it, all of them in the same order. It may have been carried to another machine.
    memory : str or int, optional
        How much of the codes may stay in memory, such as "2GB"; without it half of what is free when pages are first read.

    Returns
    -------
    Dataset
        The same as when it was written.

    Raises
    ------
    DatasetFormatError
        Something in the folder is damaged, gone, or not of a data set.

    Examples
    --------
    >>> import numpy as np, spinney as sp, tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     made = sp.Dataset.from_batches([(np.eye(4), np.arange(4.0))], folder=f"{place}/data")
    ...     sp.open_dataset(f"{place}/data")
    Dataset(rows=4, columns=4, bins=8, pages=1)
    """
    from spinney.disk.folder import folders_of
    from spinney.disk.memory import memory_bytes
    from spinney.disk.open import open_folders

    return as_dataset(open_folders(folders_of(folder), memory_bytes(memory)))


def _ingest_args(
    values: tuple[object, ...], reference: Dataset | None, schema: Schema | None, categorical: Categorical
) -> IngestArgs:
    """The checked arguments of a data set; `values` are the parameters of the data, in the order of `DATA_PARAMS`."""
    known = None if reference is None else binned_of(reference, "reference")
    return IngestArgs.of(values, known, schema, categorical)
