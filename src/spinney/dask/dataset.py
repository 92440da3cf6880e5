"""`Dataset`: a table on the workers of a cluster, binned once, for any number of trainings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from distributed import Client, Future

from spinney import dataset as local
from spinney.binning.cuts import Cuts
from spinney.binning.ingest import Categorical, IngestArgs, ingest
from spinney.dask.client import checked_client
from spinney.dask.executor import DaskExecutor, DatasetMeta
from spinney.dask.inputs import compute
from spinney.dask.labels import LabelledPartitions, gather_labels, plain_labels, select_rows
from spinney.dask.partitions import scan_partitions
from spinney.data import Schema, read_target
from spinney.errors import DataError, DataTypeError, ParameterError
from spinney.params import DataParams

CUTS = ("sample", "sketch")


class Dataset:
    """A table on the workers of a Dask cluster, binned, with the labels of its rows.

    It has the columns, cuts, groups and codes that a `spinney.Dataset` of all rows would have. The input is computed once; only
    codes, 1 byte a value as a rule, and labels stay on the workers. The table never comes to the client.

    Parameters
    ----------
    client : dask.distributed.Client
        The client, whose workers compute; None for Dask's default client.
    X : dask array or data frame, or list of delayed tables
        The table. Blocks of an array may be NumPy arrays or SciPy sparse matrices. A partition of a list is any table that
        `spinney.Dataset` takes. Every partition must have the same columns and dtypes; partitions may be empty.
    y : dask array, series or data frame, or list, optional
        Target, in the same partitions. A data set without one can only serve as `reference`.
    weight : dask array or series, or list, optional
        Weights of the rows, or of the queries of each partition.
    group : dask array or series, or list, optional
        Sizes of the queries of each partition, whose rows follow each other.
    qid : dask array or series, or list, optional
        The query of each row instead. A query may span several partitions: its rows are then moved to one worker.
    base_margin : dask array, series or data frame, or list, optional
        Raw scores that the rows start from.
    reference : Dataset, optional
        Take the columns and cuts of this data set, of the cluster or not; needed for validation data.
    schema : Schema, optional
        Take the order of columns and the categories of a model: its `schema`.
    cuts : {"sample", "sketch"}, default="sample"
        Whether cuts come from the same 200 000 rows as on one machine, or from all rows, by quantile sketches. The latter have an
        error of at most a quarter of a bin, and depend on the partitions, but not on the workers.
    max_bin, bundle, bundle_order, max_conflict_rate, absent, categorical, unseen, names
        See `spinney.Dataset`.

    Attributes
    ----------
    rows, columns : int
        Their numbers.
    schema : Schema
        Columns and categories.
    parts : list of Future
        The codes on the workers.

    Examples
    --------
    >>> import dask.array as da, spinney.dask as sd
    >>> from distributed import LocalCluster
    >>> X = da.random.default_rng(0).random((1000, 2), chunks=(250, 2))
    >>> with LocalCluster(n_workers=2, processes=False, dashboard_address=":0") as cluster, Client(cluster) as client:
    ...     sd.Dataset(client, X, X[:, 0] * 2, max_bin=63)
    Dataset(rows=1000, columns=2, bins=126, parts=4)
    """

    def __init__(
        self,
        client: Client | None,
        X: Any,
        y: Any = None,
        *,
        weight: Any = None,
        group: Any = None,
        qid: Any = None,
        base_margin: Any = None,
        reference: Dataset | local.Dataset | None = None,
        schema: Schema | None = None,
        cuts: str = "sample",
        max_bin: int | None = None,
        bundle: bool | None = None,
        bundle_order: str | None = None,
        max_conflict_rate: float | None = None,
        absent: str | None = None,
        categorical: Categorical = "auto",
        unseen: str | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        if reference is not None and not isinstance(reference, Dataset | local.Dataset):
            raise DataTypeError(
                f"reference must be a spinney.dask.Dataset or a spinney.Dataset, got {type(reference).__name__}"
            )
        values = max_bin, bundle, bundle_order, max_conflict_rate, absent, unseen
        args = IngestArgs.of(values, reference, schema, categorical)
        if not isinstance(cuts, str) or cuts not in CUTS:
            raise ParameterError(f"cuts={cuts!r:.60} must be 'sample' or 'sketch'")
        if group is not None and qid is not None:
            raise DataError("group and qid are both given; give one of them")
        client = checked_client(client)
        given = {"y": y, "weight": weight, "base_margin": base_margin, "group": group, "qid": qid}
        scanned = scan_partitions(client, compute(client, X, given), names, args.known, read_target)
        joined, summary, _, _ = gather_labels(client, scanned, plain_labels)
        rows = select_rows(client, scanned, joined, summary)
        self._bin(client, rows, args, sketch=cuts == "sketch")

    @classmethod
    def of_rows(cls, client: Client, rows: LabelledPartitions, args: IngestArgs) -> Dataset:
        """A data set of partitions whose labels were read already."""
        dataset = cls.__new__(cls)
        dataset._bin(client, rows, args)
        return dataset

    def _bin(
        self, client: Client, rows: LabelledPartitions, args: IngestArgs, *, sketch: bool = False
    ) -> None:
        self.client = client
        self.groups: list[Future] | None = None  # group numbers of all rows, where an estimator got groups
        binned = ingest(rows, args, DaskExecutor(client, sketch))
        self.meta: DatasetMeta = binned.meta
        self.parts: list[Future] = binned.parts
        self.lengths, self.numbers_as_text = binned.lengths, binned.numbers_as_text
        self.rows = int(self.lengths.sum())
        self.schema: Schema = self.meta.schema
        self.params: DataParams = self.meta.params
        self.cuts: Cuts = self.meta.plan.cuts

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.schema.columns

    @property
    def has_target(self) -> bool:
        """Whether a target was given."""
        return self.meta.no_labels.has_target

    def __repr__(self) -> str:
        bins = int(self.cuts.bins.sum())
        return f"Dataset(rows={self.rows}, columns={self.columns}, bins={bins}, parts={len(self.parts)})"

    def __getstate__(self) -> Mapping[str, object]:
        raise DataTypeError(
            "a spinney.dask.Dataset lives on the workers of its client, and cannot be pickled or copied; make it anew"
        )
