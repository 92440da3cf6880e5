"""The two ways to a data set on disk. The room that makes it, `pages`, is above this one, and imported when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.arguments import DATA_PARAMS

if TYPE_CHECKING:
    from spinney.binning.dataset import Dataset
    from spinney.data import Schema

Folder = str | os.PathLike[str]
Categorical = str | Sequence[str | int] | NDArray[np.bool_]


class FromDisk:
    """Constructors of data sets whose codes are on disk."""

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
            Where to keep the data set: a new or an empty folder, or several, on several disks, over which pages are dealt.
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
        from spinney.pages.build import Place, from_source

        place = Place(folder, memory, page_rows, compression, progress, n_jobs)
        source = FileSource(
            paths,
            target=target,
            weight=weight,
            base_margin=base_margin,
            qid=qid,
            group=group,
            columns=columns,
        )
        given = _params(max_bin, bundle, bundle_order, max_conflict_rate, absent, unseen)
        return from_source(source, reference, schema, categorical, given, place)

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
        from spinney.pages.build import Place, from_source

        place = Place(folder, memory, page_rows, compression, progress, n_jobs)
        given = _params(max_bin, bundle, bundle_order, max_conflict_rate, absent, unseen)
        return from_source(BatchSource(source, names, rows), reference, schema, categorical, given, place)


def _params(*values: object) -> dict[str, object]:
    """The parameters of the data by name."""
    return dict(zip(DATA_PARAMS, values, strict=True))
