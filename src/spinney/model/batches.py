"""Predicting rows that come in batches or stand in files, without holding them all."""

from __future__ import annotations

import inspect
import os
from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from spinney.data import Schema
from spinney.data.files import FileSource, Paths
from spinney.data.sources import Batch, BatchSource, RowSource, errors_within
from spinney.errors import DataError, ParameterError
from spinney.model.prediction_files import PredictionWriter


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
