"""What every finished model has: columns, a file, bytes, a view of its trees (`EnsembleView`).

It predicts rows that come in batches or stand in files (`PredictsBatches`), and writes predictions to a file.
"""

from __future__ import annotations

import inspect
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from spinney.data import Categories, Schema, Table, encode, match_columns, read_table
from spinney.data.files import FileSource, Paths
from spinney.data.sources import Batch, BatchSource, RowSource, errors_within
from spinney.errors import DataError, ModelFormatError, ParameterError, ParameterTypeError
from spinney.messages import shown
from spinney.model import file
from spinney.model.file import FileFormat
from spinney.safe_io import Hidden, check_path, hidden_beside
from spinney.tree import CompactForest, Forest, Tree, concatenate, dump

FORMATS = {".parquet": "parquet", ".pq": "parquet", ".arrow": "ipc", ".feather": "ipc", ".csv": "csv"}


class PredictionWriter:
    """Writes predictions as they come; the file appears, or takes the place of an old one, when all are written.

    Parameters
    ----------
    out : path
        Its ending shows what kind of file it is to be.
    read : iterable of path
        Files that are read meanwhile, none of which it may be.
    """

    def __init__(self, out: str | os.PathLike[str], read: Iterable[str]) -> None:
        if not isinstance(out, str | os.PathLike):
            raise ParameterTypeError(f"out={shown(out)} must be a path")
        check_path(out, f"out={os.fspath(out)!r:.60}")
        self._path = Path(out)
        kind = FORMATS.get(self._path.suffix.lower())
        if kind is None:
            raise DataError(f"out={str(out)!r} is of no known kind; give {', '.join(FORMATS)}")
        if not self._path.absolute().parent.is_dir():
            raise DataError(f"out={str(out)!r} is in a folder that does not exist")
        same = next((path for path in read if self._path.exists() and os.path.samefile(path, out)), None)
        if same is not None:
            raise DataError(
                f"out={str(out)!r} is the file {same!r}, whose rows are to be predicted; give another one, or they would be lost"
            )
        self._kind = kind
        self._hidden: Hidden | None = None
        self._open_until_end = ExitStack()
        self._writer: Any = None

    def __enter__(self) -> PredictionWriter:
        return self

    def write(self, predictions: Any) -> None:
        """Write those of some rows."""
        import pyarrow

        table = pyarrow.table(_columns(predictions))
        try:
            if self._writer is None:
                self._writer = self._opened(table.schema)
            self._writer.write_table(table)
        except (pyarrow.ArrowException, OSError) as error:
            raise DataError(f"out={str(self._path)!r} cannot be written: {error}") from error

    def _opened(self, schema: Any) -> Any:
        self._hidden = self._open_until_end.enter_context(hidden_beside(str(self._path)))
        path = self._hidden.path
        if self._kind == "parquet":
            from pyarrow import parquet

            return parquet.ParquetWriter(path, schema)
        if self._kind == "ipc":
            from pyarrow import ipc

            return ipc.new_file(path, schema)
        from pyarrow import csv

        return csv.CSVWriter(path, schema)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._writer is not None:
                self._writer.close()
                if kind is None and self._hidden is not None:
                    self._hidden.move_to(self._path)
        except OSError as error:
            raise DataError(f"out={str(self._path)!r} cannot be written: {error}") from error
        finally:
            self._open_until_end.close()
        if kind is None and self._writer is None:
            raise DataError("files have no rows; give at least one")


def _columns(predictions: Any) -> dict[str, NDArray[Any]]:
    """Predictions by the names of their columns."""
    if isinstance(predictions, list):
        named = [(f"_{k}", one) for k, part in enumerate(predictions) for one in _columns(part).items()]
        return {
            title.replace("prediction", f"prediction{place}", 1): values for place, (title, values) in named
        }
    if predictions.ndim == 1:
        return {"prediction": predictions}
    return {f"prediction_{k}": np.ascontiguousarray(predictions[:, k]) for k in range(predictions.shape[1])}


class PredictsBatches(ABC):
    """What a model with `predict` has for rows that come in batches."""

    predict: Callable[..., Any]

    schema: Schema

    def predict_batches(
        self, source: Callable[[], Iterable[Any]] | Iterable[Any], **options: Any
    ) -> Iterator[Any]:
        """Predict batch by batch.

        Parameters
        ----------
        source : callable or iterable
            Gives batches: tables, pairs (X, y) of which y is left alone, or dicts of X and perhaps base_margin.
        **options
            Further arguments of `predict`, such as `n_jobs`.

        Yields
        ------
        array
            What `predict` gives for each batch, which may have no rows.

        Examples
        --------
        >>> import numpy as np, spinney as sp
        >>> X = np.arange(20.0).reshape(10, 2)
        >>> model = sp.train({"min_child_weight": 0}, sp.Dataset(X, X[:, 0]), rounds=5)
        >>> parts = list(model.predict_batches(X[k : k + 4] for k in (0, 4, 8)))
        >>> np.array_equal(np.concatenate(parts), model.predict(X))
        True
        """
        return self._predicted(BatchSource(source, once=True), options)

    def predict_files(
        self,
        paths: Paths,
        out: str | os.PathLike[str] | None = None,
        *,
        base_margin: str | Sequence[str] | None = None,
        **options: Any,
    ) -> Any:
        """Predict the rows of files, a batch at a time, in the order of the files.

        Parameters
        ----------
        paths : path or iterable of paths
            Parquet, Arrow or CSV files, patterns or folders, as `Dataset.from_files` takes them. They must have the columns that
            the model was trained with, and may have others. A model without names of columns takes all, in their order.
        out : path, optional
            A Parquet (.parquet), Arrow (.arrow, .feather) or CSV (.csv) file to write predictions to, a row for each: the column
            "prediction" or, of several, "prediction_0" and so on. It appears when it is whole, and may be none of the files that
            are read. Without it predictions are returned.
        base_margin : str or sequence of str, optional
            Column, or columns, of the scores that rows start from, for models that have such scores.
        **options
            Further arguments of `predict`, such as `n_jobs`.

        Returns
        -------
        array, or None
            What `predict` would give for all rows at once; None where they are written.

        Examples
        --------
        >>> import numpy as np, pyarrow as pa, pyarrow.parquet as pq, spinney as sp, tempfile
        >>> table = pa.table({"a": np.arange(9.0), "y": np.arange(9.0)})
        >>> model = sp.train({}, sp.Dataset(table.select(["a"]), table["y"]), rounds=2)
        >>> with tempfile.TemporaryDirectory() as place:
        ...     pq.write_table(table, f"{place}/rows.parquet")
        ...     model.predict_files(f"{place}/rows.parquet", out=f"{place}/found.parquet")
        ...     pq.read_table(f"{place}/found.parquet").column_names
        ['prediction']
        """
        names = self.schema.names
        columns = None if names is None else list(names)
        source = FileSource(paths, base_margin=base_margin, columns=columns, may_share=True)
        predicted = self._predicted(source, options)
        if out is None:
            return _joined(list(predicted))
        with PredictionWriter(out, source.paths) as writer:
            for one in predicted:
                writer.write(one)
        return None

    def _predicted(self, source: RowSource, options: dict[str, Any]) -> Iterator[Any]:
        for batch in source.batches():
            with errors_within(batch):
                found = self.predict(batch.table, **self._with_margin(batch, options))
            yield found

    def _with_margin(self, batch: Batch, options: dict[str, Any]) -> dict[str, Any]:
        if batch.labels.base_margin is None:
            return options
        if "base_margin" in options:
            raise ParameterError("base_margin is given beside batches that have one; give one of them")
        if "base_margin" not in inspect.signature(self.predict).parameters:
            raise ParameterError(
                f"base_margin is given, but a {type(self).__name__} has no scores to start from; leave it out"
            )
        return {**options, "base_margin": batch.labels.base_margin}


def _joined(parts: list[Any]) -> Any:
    """Predictions of all rows; where each is a list of arrays, one of such arrays."""
    if not parts:
        raise DataError("files have no rows; give at least one")
    if isinstance(parts[0], list):
        return [np.concatenate([part[k] for part in parts]) for k in range(len(parts[0]))]
    return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class EnsembleView:
    """The trees of a model, of whichever kind, whose predictions are made of sums over them; `view_of` gives it.

    A row has `outputs` sums. They begin with `start`; tree t adds the `width` values of the row's leaf to sums
    `t * width % outputs` and on. `finish` makes of the sums what the model predicts.

    Attributes
    ----------
    forest : Forest or CompactForest
        The trees, as the model keeps them.
    tree : callable
        Makes nodes of a tree, given by its number: with `width` values each, as they are added.
    start : float64[outputs]
        Where the sums of a row begin.
    width : int
        Values of a node.
    total : float
        What sums are divided by: the number of the trees, or their weight; 1 where the sums are predicted as they are.

    Examples
    --------
    >>> import spinney as sp
    >>> X = np.linspace(0, 1, 50).reshape(-1, 1)
    >>> view = view_of(sp.train({}, sp.Dataset(X, X[:, 0]), rounds=3))
    >>> view.outputs, view.trees(0, 2).trees, view.nodes.tolist() == view.trees(0, 3).tree_nodes.tolist()
    (1, 2, True)
    """

    forest: Forest | CompactForest
    tree: Callable[[int], Tree]
    start: NDArray[np.float64]
    width: int = 1
    total: float = 1.0

    @property
    def outputs(self) -> int:
        """Number of sums of a row."""
        return len(self.start)

    @property
    def nodes(self) -> NDArray[np.int64]:
        """Number of nodes of each tree."""
        return self.forest.tree_nodes

    def split_columns(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Tree and column of every split."""
        return self.forest.split_columns()

    def trees(self, first: int, last: int) -> Forest:
        """Trees first..last-1, as nodes."""
        return concatenate([self.tree(t) for t in range(first, last)])

    def finish(self, sums: NDArray[np.float64]) -> None:
        """Make of sums over all trees what the model predicts, in place."""
        if self.total != 1.0:
            sums /= self.total


def view_of(model: SavedModel) -> EnsembleView:
    """The trees of a model.

    Raises
    ------
    ParameterTypeError
        Its predictions are no sums over trees: an AdaBoost model of numbers takes a median.
    """
    return model._view()


class SavedModel(PredictsBatches):
    """A finished model; it never changes.

    Two models are equal (`==`) when their files would hold the same bytes. A model is pickled as those bytes.
    """

    FILE: ClassVar[FileFormat]

    @property
    def n_features(self) -> int:
        """Number of columns of the training table."""
        return self.schema.columns

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, None when the training table had none."""
        return self.schema.names

    @property
    def absent(self) -> float:
        """What an entry that a sparse matrix does not store means: 0, or NaN for a missing value."""
        absent: float = self._config.absent_value
        return absent

    @property
    def _config(self) -> Any:
        """The parameters it was trained with."""
        return self.FILE.parameters_of(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a safetensors file in one step: on failure an old file is still there, whole."""
        file.save(self.to_bytes(), path)

    def to_bytes(self) -> bytes:
        """Bytes of the file that `save` would write; the same model gives the same bytes."""
        return self.FILE.dumps(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read the bytes of a model file; anything wrong with them raises `ModelFormatError`."""
        model, _ = file.loads(data)
        if not isinstance(model, cls):
            raise ModelFormatError(f"these are the bytes of another model than a {cls.__name__}")
        return model

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self is other or self.to_bytes() == other.to_bytes()

    def __reduce__(self) -> tuple[object, tuple[bytes]]:
        return type(self).from_bytes, (self.to_bytes(),)

    def read(self, X: object) -> Table:
        """Read a table to predict on: its columns in the order of training, categories as their numbers."""
        given = X if isinstance(X, Table) else read_table(X, allow_empty=True)
        table = match_columns(given, self.feature_names, self.n_features)
        if table.rows == 0:
            return table
        return encode(table, self.schema.categories, self._config.unseen)

    @abstractmethod
    def _view(self) -> EnsembleView:
        """What `view_of` gives."""

    def _titles(self) -> tuple[Sequence[str | int] | None, Sequence[Categories | None] | None]:
        """What columns are called in a dump, and their categories."""
        return self.schema.names, self.schema.categories

    def _json(self, facts: Mapping[str, object], trees: Iterable[Tree]) -> str:
        """What is known of the model, and its trees as nested nodes, one line a node."""
        # The trees themselves stand where a file has their number.
        others = {name: value for name, value in facts.items() if name != "trees"}
        head = json.dumps(others, indent=2, ensure_ascii=False)
        names, categories = self._titles()
        texts = (dump.to_json(tree, names, categories, indent=4) for tree in trees)
        return head.removesuffix("\n}") + ',\n  "trees": [\n' + ",\n".join(texts) + "\n  ]\n}"
