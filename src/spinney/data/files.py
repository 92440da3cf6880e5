"""Rows of Parquet, Arrow and CSV files, read by PyArrow a batch at a time."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from spinney.data.read import read_table
from spinney.data.sources import Batch, errors_of
from spinney.errors import DataError, DataTypeError, ParameterTypeError

BATCH_ROWS = 65_536
FORMATS = {
    ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc",
    ".csv": "csv",
}  # fmt: skip
PACKED = (".gz", ".bz2", ".zst")  # what PyArrow unpacks while it reads CSV

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


class FileSource:
    """Rows of files, one file after another.

    Parameters
    ----------
    paths : path or iterable of paths
        Files, patterns such as "data/*.parquet", or folders, of which all files of a known kind are taken in the order of their
        names.
    target : str or sequence of str, optional
        Column, or columns, of the target.
    weight, qid : str, optional
        Columns that hold the weights of rows, and the query that each belongs to.
    base_margin : str or sequence of str, optional
        Column, or columns, of the scores that rows start from.
    columns : sequence of str, optional
        Columns to learn from; without it all others.

    Attributes
    ----------
    rows : int, optional
        Number of rows, None where a file does not tell.
    """

    title = "files"

    def __init__(
        self,
        paths: Paths,
        *,
        target: str | Sequence[str] | None = None,
        weight: str | None = None,
        base_margin: str | Sequence[str] | None = None,
        qid: str | None = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        for name, value in (("weight", weight), ("qid", qid)):
            if value is not None and not isinstance(value, str):
                raise ParameterTypeError(f"{name}={value!r:.60} must be the name of a column")
        self._files = [_File(path, qid) for path in _found(paths)]
        self._roles = {
            role: _names(given, role)
            for role, given in (("target", target), ("weight", weight), ("base_margin", base_margin), ("qid", qid))
        }  # fmt: skip
        self._special = [name for names in self._roles.values() for name in names]
        first = self._files[0]
        if columns is None:
            self.columns = [name for name in first.columns if name not in self._special]
        else:
            self.columns = _names(columns, "columns")
            both = next((name for name in self.columns if name in self._special), None)
            if both is not None:
                raise DataError(
                    f"columns names {both!r}, which holds something else than values to learn from; leave it out"
                )
        if not self.columns:
            raise DataError(f"{first.title} has no column to learn from")
        for file in self._files:
            file.check({**self._roles, "columns": self.columns})
        counts = [file.rows for file in self._files]
        self.rows = None if None in counts else sum(count for count in counts if count is not None)

    def batches(self) -> Iterator[Batch]:
        """Every batch, in order, from the first one on."""
        for file in self._files:
            yield from self._batches(file)

    def _batches(self, file: _File) -> Iterator[Batch]:
        wanted = list(dict.fromkeys([*self.columns, *self._special]))
        first = 0
        for rows in file.read(wanted):
            with errors_of(file.title, first):
                table = read_table(rows.select(self.columns), allow_empty=True)
            y, weight, margin, qid = (_part(rows, names) for names in self._roles.values())
            yield Batch(file.title, first, table, y, weight, margin, qid=qid)
            first += rows.num_rows


def _part(rows: Any, names: list[str]) -> Any:
    """Some columns of a PyArrow table; None for none."""
    if not names:
        return None
    return rows.column(names[0]) if len(names) == 1 else rows.select(names)


class _File:
    """A file that PyArrow reads."""

    def __init__(self, path: str, qid: str | None = None) -> None:
        self.title = f"file {path!r}"
        with self._readable():
            self._data = _open(path, qid)
            # Only CSV must be read to be counted.
            self.rows: int | None = None if _format(path) == "csv" else int(self._data.count_rows())
        self.columns: list[str] = list(self._data.schema.names)
        twice = next((name for name in self.columns if self.columns.count(name) > 1), None)
        if twice is not None:
            raise DataError(f"{self.title} has more than one column named {twice!r}; names must be distinct")

    def check(self, roles: dict[str, list[str]]) -> None:
        """Refuse a file that lacks a column, which the message calls by the parameter that names it."""
        for role, names in roles.items():
            lacking = next((name for name in names if name not in self.columns), None)
            if lacking is not None:
                shown = ", ".join(map(repr, self.columns[:10])) + (", ..." if len(self.columns) > 10 else "")
                raise DataError(f"{self.title} has no column {lacking!r} ({role}); it has {shown}")

    def read(self, columns: list[str]) -> Iterator[Any]:
        """Rows of the file as small PyArrow tables."""
        import pyarrow

        with self._readable():
            batches = self._data.to_batches(
                columns=columns, batch_size=BATCH_ROWS, batch_readahead=2, fragment_readahead=1
            )
        while True:
            with self._readable():
                batch = next(batches, None)
                if batch is None:
                    return
                table = pyarrow.Table.from_batches([batch])
            yield table

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """What PyArrow says of a file becomes an error of ours that names it."""
        import pyarrow

        try:
            yield
        except (pyarrow.ArrowException, OSError) as error:
            raise DataError(f"{self.title} cannot be read: {error}") from error


def _open(path: str, qid: str | None) -> Any:
    import pyarrow
    from pyarrow import dataset

    kind = _format(path)
    if kind != "csv":
        return dataset.dataset(path, format=kind)
    from pyarrow import csv

    form = dataset.CsvFileFormat(
        read_options=csv.ReadOptions(block_size=8 * 2**20),
        convert_options=csv.ConvertOptions(strings_can_be_null=True),
    )
    found = dataset.dataset(path, format=form)
    # The types are guessed from the first rows. Whole numbers may go on with fractions, and no values at all with numbers. Those
    # of queries stay whole: large ones would be the same as floats.
    types = pyarrow.types
    fields = [
        pyarrow.field(one.name, pyarrow.float64())
        if (types.is_integer(one.type) or types.is_null(one.type)) and one.name != qid
        else one
        for one in found.schema
    ]
    return dataset.dataset(path, format=form, schema=pyarrow.schema(fields))


def _format(path: str) -> str | None:
    plain = Path(path)
    if plain.suffix.lower() in PACKED:
        plain = plain.with_suffix("")
        return "csv" if plain.suffix.lower() == ".csv" else None
    return FORMATS.get(plain.suffix.lower())


def _found(paths: Paths) -> list[str]:
    """The files that are meant, each as it is to be called in messages."""
    if find_spec("pyarrow") is None:
        raise DataTypeError("reading files needs PyArrow: pip install 'spinney[files]'")
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    if not isinstance(paths, Iterable):
        raise DataTypeError(f"paths must be a path or a list of paths, got {type(paths).__name__}")
    files: list[str] = []
    for path in paths:
        if not isinstance(path, str | os.PathLike):
            raise DataTypeError(f"paths holds {path!r:.60}, which is no path")
        files += _files_of(os.fspath(path))
    if not files:
        raise DataError("paths is empty; give at least one file")
    return files


def _files_of(path: str) -> list[str]:
    if os.path.isdir(path):
        inner = sorted(name for name in os.listdir(path) if _format(name) is not None)
        if not inner:
            raise DataError(f"paths names the folder {path!r}, which holds no Parquet, Arrow or CSV file")
        return [os.path.join(path, name) for name in inner]
    if not os.path.exists(path):
        matches = sorted(glob.glob(path, recursive=True))
        if not matches:
            raise DataError(f"paths names {path!r}, but there is no such file")
        return [file for match in matches for file in _files_of(match)]
    if _format(path) is None:
        raise DataError(f"file {path!r} is of no known kind; give {', '.join(FORMATS)}")
    return [path]


def _names(given: str | Sequence[str] | None, what: str) -> list[str]:
    if given is None:
        return []
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if not isinstance(name, str):
            raise ParameterTypeError(f"{what} holds {name!r:.60}; give names of columns")
    if len(set(names)) < len(names):
        raise DataError(f"{what} names a column twice; names must be distinct")
    return names
