"""Writing predictions to Parquet, Arrow and CSV files, through PyArrow."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.paths import check_path
from spinney.errors import DataError, ParameterTypeError
from spinney.messages import shown
from spinney.safe_io import Hidden, hidden_beside

FORMATS = {".parquet": "parquet", ".pq": "parquet", ".arrow": "ipc", ".feather": "ipc", ".csv": "csv"}


class PredictionWriter:
    """Writes predictions as they come; the file appears, or takes the place of an old one, when all are written.

    Parameters
    ----------
    out : path
        Its ending says what kind of file it is to be.
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
