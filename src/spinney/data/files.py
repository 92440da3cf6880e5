"""`FileSource`: rows of Parquet, Arrow and CSV files, read by PyArrow a batch at a time.

A new kind of file has its ending in `FORMATS`, and how PyArrow opens it.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from spinney.data.labels import RawLabels
from spinney.data.read import read_table
from spinney.data.sources import SAME_ROWS, Batch, errors_of
from spinney.errors import DataError, DataTypeError, ParameterError, ParameterTypeError
from spinney.messages import shown
from spinney.params.parameter import is_iterable

BATCH_ROWS = 65_536
FORMATS = {
    ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc",
    ".csv": "csv",
}  # fmt: skip
PACKED = (".gz", ".bz2", ".zst")  # PyArrow unpacks these while it reads CSV

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


class FileSource:
    """Rows of files, one file after another.

    Files must not change between the call and the end of the last reading.

    Parameters
    ----------
    paths : path or iterable of paths
        Files, patterns such as "data/*.parquet", or folders: of these all files of a known kind, in the order of their names.
    target : str or sequence of str, optional
        Column, or columns, of the target.
    weight, qid : str, optional
        Columns of the weights of rows, and of the query of each row.
    group : str, optional
        Another name of `qid`.
    base_margin : str or sequence of str, optional
        Column, or columns, of the scores that rows start from.
    columns : sequence of str, optional
        Columns of the table; without it all others.
    may_share : bool, default=False
        Whether `columns` may hold a column of the target or the like too, as the columns of a model may.

    Attributes
    ----------
    rows : int, optional
        Number of rows; None where a file does not hold it.
    paths : list of str
        The files.
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
        group: str | None = None,
        columns: Sequence[str] | None = None,
        may_share: bool = False,
    ) -> None:
        for name, value in (("weight", weight), ("qid", qid), ("group", group)):
            if value is not None and not isinstance(value, str):
                raise ParameterTypeError(f"{name}={shown(value)} must be the name of a column")
        if qid is not None and group is not None:
            raise ParameterError(
                f"qid={qid!r:.60} and group={group!r:.60} both name the column of queries; give one of them"
            )
        queries = group if qid is None else qid
        self.paths = _found(paths)
        self._files = [_File(path, queries) for path in self.paths]
        self._roles = {
            role: _names(given, role)
            for role, given in (
                ("target", target), ("weight", weight), ("base_margin", base_margin),
                ("qid" if group is None else "group", queries),
            )
        }  # fmt: skip
        self._special = [name for names in self._roles.values() for name in names]
        first = self._files[0]
        if columns is None:
            self.columns = [name for name in first.columns if name not in self._special]
        else:
            self.columns = _names(columns, "columns")
            both = next((name for name in self.columns if name in self._special), None)
            if both is not None and not may_share:
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
        for read in file.read(wanted):
            rows, qid = file.queries(read)
            with errors_of(file.title, first):
                table = read_table(rows.select(self.columns), allow_empty=True)
            y, weight, margin = (
                _part(rows, self._roles[role]) for role in ("target", "weight", "base_margin")
            )
            yield Batch(first, table, RawLabels(y, weight, margin, qid=qid, where=file.title))
            first += rows.num_rows


def _part(rows: Any, names: list[str]) -> Any:
    """Some columns of a PyArrow table; None where no names are given."""
    if not names:
        return None
    return rows.column(names[0]) if len(names) == 1 else rows.select(names)


class _File:
    """A file that PyArrow reads."""

    def __init__(self, path: str, qid: str | None = None) -> None:
        self.title, self._path, self._qid = f"file {path!r}", path, qid
        with self._readable():
            self._stamp = _stamp(path)
            self._data, self._numbered = _open(path, qid)
            # Only CSV must be read to be counted.
            self.rows: int | None = None if _format(path) == "csv" else int(self._data.count_rows())
        self.columns: list[str] = list(self._data.schema.names)
        twice = next((name for name in self.columns if self.columns.count(name) > 1), None)
        if twice is not None:
            raise DataError(f"{self.title} has more than one column named {twice!r}; names must be distinct")

    def check(self, roles: dict[str, list[str]]) -> None:
        """Refuse a file without one of the columns, or with text in it that is not UTF-8; messages have its role."""
        from pyarrow import types

        for role, names in roles.items():
            lacking = next((name for name in names if name not in self.columns), None)
            if lacking is not None:
                shown = ", ".join(map(repr, self.columns[:10])) + (", ..." if len(self.columns) > 10 else "")
                raise DataError(f"{self.title} has no column {lacking!r} ({role}); it has {shown}")
            wrong = next(
                (name for name in names if types.is_binary(self._data.schema.field(name).type)), None
            )
            if wrong is not None and _format(self._path) == "csv":
                raise DataError(
                    f"{self.title}: column {wrong!r} holds bytes that are no UTF-8 text; save the file as UTF-8, as in "
                    "pandas.read_csv(path, encoding='latin-1').to_csv(path, index=False)"
                )

    def read(self, columns: list[str]) -> Iterator[Any]:
        """Rows of the file as small PyArrow tables."""
        import pyarrow

        self._check_unchanged()
        with self._readable():
            batches = self._data.to_batches(
                columns=columns, batch_size=BATCH_ROWS, batch_readahead=2, fragment_readahead=1
            )
        while True:
            with self._readable():
                batch = next(batches, None)
                table = None if batch is None else pyarrow.Table.from_batches([batch])
            if table is None:
                break
            yield table
        self._check_unchanged()

    def queries(self, rows: Any) -> tuple[Any, Any]:
        """Rows that were read, and their column of queries, as numbers where the file has numbers."""
        if self._qid is None or not self._numbered:
            return rows, None if self._qid is None else rows.column(self._qid)
        found = whole_numbers(rows.column(self._qid))
        column = [found.astype(np.float64)] if isinstance(found, np.ndarray) else found
        return rows.set_column(rows.column_names.index(self._qid), self._qid, column), found

    def _check_unchanged(self) -> None:
        """Refuse a file that has been written to or replaced."""
        with self._readable():
            now = _stamp(self._path)
        if now != self._stamp:
            raise DataError(f"{self.title} has changed since it was first looked at; {SAME_ROWS}")

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Turn PyArrow's errors into `DataError`, which names the file."""
        import pyarrow

        try:
            yield
        except (pyarrow.ArrowException, OSError) as error:
            advice = ""
            if "conversion error" in str(error):
                advice = (
                    ". The types of a CSV file's columns are guessed from its first 8 MB; save it as Parquet, which holds them, "
                    "as in pandas.read_csv(path, low_memory=False).to_parquet(...)"
                )
            raise DataError(f"{self.title} cannot be read: {error}{advice}") from error


def _stamp(path: str) -> tuple[int, int]:
    """Size and time of a file, which change when it is written to."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


def _open(path: str, qid: str | None) -> tuple[Any, bool]:
    """The data set that reads a file, and whether queries that are numbers are read as text."""
    import pyarrow
    from pyarrow import dataset

    kind = _format(path)
    if kind != "csv":
        return dataset.dataset(path, format=kind), False
    from pyarrow import csv

    form = dataset.CsvFileFormat(
        read_options=csv.ReadOptions(block_size=8 * 2**20),
        convert_options=csv.ConvertOptions(strings_can_be_null=True),
    )
    found = dataset.dataset(path, format=form)
    # The types are guessed from the first rows. Fractions may follow whole numbers, and numbers may follow missing values, so
    # such columns are read as floats. Queries are read as text: as floats, some large numbers would be the same.
    types, fields, numbered = pyarrow.types, [], False
    for one in found.schema:
        whole = types.is_integer(one.type) or types.is_null(one.type)
        if one.name == qid and (whole or types.is_floating(one.type)):
            numbered = True
            fields.append(pyarrow.field(one.name, pyarrow.string()))
        else:
            fields.append(pyarrow.field(one.name, pyarrow.float64()) if whole else one)
    return dataset.dataset(path, format=form, schema=pyarrow.schema(fields)), numbered


def whole_numbers(column: Any) -> Any:
    """PyArrow's text as whole numbers, however large; unchanged where some of it is no number.

    Examples
    --------
    >>> import pyarrow
    >>> whole_numbers(pyarrow.chunked_array([["7", "18446744073709551615", None]])).to_pylist()
    [7, 18446744073709551615, None]
    """
    import pyarrow
    from pyarrow import compute

    for kind in (pyarrow.int64(), pyarrow.uint64()):
        try:
            return compute.cast(column, kind)
        except pyarrow.ArrowInvalid:
            continue
    coded = column.combine_chunks().dictionary_encode()
    try:
        numbers = [_number(text) for text in coded.dictionary.to_pylist()]
    except ValueError:
        return column
    return np.array([*numbers, None], object)[coded.indices.fill_null(len(numbers)).to_numpy()]


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        number = float(text)
        return int(number) if number.is_integer() else number


def _format(path: str) -> str | None:
    plain = Path(path)
    if plain.suffix.lower() in PACKED:
        plain = plain.with_suffix("")
        return "csv" if plain.suffix.lower() == ".csv" else None
    return FORMATS.get(plain.suffix.lower())


def _found(paths: Paths) -> list[str]:
    """The paths of all files that `paths` names."""
    if find_spec("pyarrow") is None:
        raise DataTypeError("reading files needs PyArrow: pip install 'spinney[files]'")
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    if not is_iterable(paths):
        raise DataTypeError(f"paths must be a path or a list of paths, got {type(paths).__name__}")
    files: list[str] = []
    for path in paths:
        if not isinstance(path, str | os.PathLike):
            raise DataTypeError(f"paths holds {shown(path)}, which is no path")
        files += _files_of(os.fspath(path))
    if not files:
        raise DataError("paths is empty; give at least one file")
    return files


def _files_of(path: str) -> list[str]:
    if os.path.isdir(path):
        inner = sorted(name for name in os.listdir(path) if _format(name) is not None)
        if not inner:
            raise DataError(f"paths names the folder {path!r}, which holds no Parquet, Arrow or CSV file")
        return [file for name in inner for file in _files_of(os.path.join(path, name))]
    if not os.path.exists(path):
        matches = sorted(glob.glob(path, recursive=True))
        broken = next((match for match in matches if not os.path.exists(match)), None)
        if broken is not None:
            raise DataError(f"paths names {broken!r}, a link that leads nowhere")
        if not matches:
            raise DataError(f"paths names {path!r}, but there is no such file")
        return [file for match in matches for file in _files_of(match)]
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise DataError(f"paths names {path!r}, which is no regular file and could not be read again")
    if _format(path) is None:
        raise DataError(f"file {path!r} is of no known kind; give {', '.join(FORMATS)}")
    return [path]


def _names(given: str | Sequence[str] | None, what: str) -> list[str]:
    if given is None:
        return []
    if not is_iterable(given) or isinstance(given, bytes):
        raise ParameterTypeError(f"{what}={shown(given)} must be the name of a column, or a list of names")
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if not isinstance(name, str):
            raise ParameterTypeError(f"{what} holds {shown(name)}; give names of columns")
    if len(set(names)) < len(names):
        raise DataError(f"{what} names a column twice; names must be distinct")
    return names
