"""`PagedDataset`: a data set whose codes are on disk."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spinney.binning.plan import Plan
from spinney.binning.streamed import StreamedDataset
from spinney.data import read_target, read_weight
from spinney.data.labels import by_column
from spinney.data.target import read_base_margin
from spinney.errors import DataError, DatasetFormatError, SpinneyError
from spinney.pages.blocks import PagedBlocks
from spinney.pages.check import checked_cuts, checked_features
from spinney.pages.codec import PLAIN
from spinney.pages.folder import Folder, TemporaryFolder, check_size, folders_of, read_file
from spinney.pages.form import PageForm
from spinney.pages.header import ARRAYS, LABELS, FolderHeader, read_header
from spinney.pages.memory import memory_bytes
from spinney.pages.store import PageStore


class PagedDataset(StreamedDataset):
    """A data set whose codes are on disk; everything else of it is in memory.

    `Dataset.from_files` and `Dataset.from_batches` make one, `open_dataset` opens one that was made before. It trains with
    `tree_method` hist, to the same bytes as the same rows in memory.

    Attributes
    ----------
    blocks : PagedBlocks
        The codes.
    folders : list of Path
        Where it is.
    """

    blocks: PagedBlocks
    _place = "on disk"

    def __init__(self, folders: list[Path], memory: int | None, home: TemporaryFolder | None = None) -> None:
        self._views, self._memory, self.folders = {}, memory, folders
        self._home = home  # copies hold it too, so that it stays until the last of them goes
        header = read_header(folders)
        self.rows, self.schema, self.params = header.rows, header.schema, header.params
        arrays = {name: _array(folders[0], name, header) for name in header.arrays}
        try:
            self._take(header, arrays)
        except SpinneyError as error:
            raise DatasetFormatError(f"the data set in {str(folders[0])!r} is damaged: {error}") from error
        form = PageForm(self.plan.features, header.from_sparse)
        self._store = PageStore(folders, header.pages, form)
        _check_pages(self._store)
        self.blocks = PagedBlocks(self._store, memory)

    def _take(self, header: FolderHeader, arrays: dict[str, NDArray[Any]]) -> None:
        """Check the arrays, and keep them."""
        params, rows = header.params, header.rows
        self.cuts = checked_cuts(arrays["cut_values"], arrays["cut_starts"], header.schema, params.max_bin)
        features = checked_features(arrays, self.cuts)
        self.plan = Plan(self.cuts, params.absent_value, features, header.conflicts)
        target = arrays.get("target")
        self.target = None if target is None else by_column(_checked_target(target, rows))
        self.weight = read_weight(arrays.get("weight"), rows, what="weight")
        margin = arrays.get("margin")
        self.margin = None if margin is None else read_base_margin(_by_row(margin, rows, "margin"), rows)
        self.queries = _checked_queries(arrays.get("queries"), rows)

    def describe(self) -> dict[str, int]:
        """Tell how the table is kept: what `Dataset.describe` tells, pages, pages that stay in memory, and bytes on disk."""
        pages, features = self._store.pages, self.plan.features
        told = self._described(features, sum(pages.entries))
        return {
            **told,
            "pages": pages.count,
            "resident_pages": self.blocks.resident,
            "compressed_pages": sum(codec != PLAIN for codec in pages.codec),
            "disk_bytes": sum(pages.bytes),
        }

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        """Pickles open the folder again."""
        if self._home is not None:
            raise DataError(
                "this data set cannot be pickled: it is in a temporary folder, which is removed with it. Give from_files or "
                "from_batches a folder"
            )
        return open_dataset, ([str(folder) for folder in self.folders], self._memory)

    def __copy__(self) -> Self:
        """A copy over the same folders and pages."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __deepcopy__(self, memo: object) -> PagedDataset:
        """A copy that opens the same folders again: nobody writes to them."""
        return PagedDataset(self.folders, self._memory, self._home)

    def __repr__(self) -> str:
        return super().__repr__()[:-1] + f", pages={self._store.pages.count})"


def open_dataset(folder: Folder | Iterable[Folder], memory: str | int | None = None) -> PagedDataset:
    """Open a data set that `Dataset.from_files` or `Dataset.from_batches` has written.

    Parameters
    ----------
    folder : path or list of paths
        Its folder; where it was dealt over several, all of them in the same order. It may have been carried to another machine.
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
    return PagedDataset(folders_of(folder), memory_bytes(memory))


def _array(folder: Path, name: str, header: FolderHeader) -> NDArray[Any]:
    told, dtype = header.arrays[name], np.dtype("<" + (ARRAYS | LABELS)[name])
    size = told["items"] * dtype.itemsize
    path = folder / f"{name}.bin"
    check_size(path, size)
    data = np.empty(told["items"], dtype)
    read_file(path, size, told["checksum"], data.view(np.uint8))
    return data.astype(dtype.newbyteorder("="), copy=False)


def _check_pages(store: PageStore) -> None:
    """Look whether every page is there, of the size that it should have."""
    pages, form = store.pages, store.form
    for page in range(pages.count):
        path = store.path(page)
        raw = form.size(pages.rows[page], pages.entries[page])
        if pages.codec[page] == PLAIN and raw != pages.bytes[page]:
            raise DatasetFormatError(
                f"the header tells {pages.bytes[page]} bytes of {str(path)!r}, which would have {raw}"
            )
        check_size(path, pages.bytes[page])


def _by_row(values: NDArray[Any], rows: int, what: str) -> NDArray[Any]:
    """One value or several of each row."""
    if not len(values) or len(values) % rows:
        raise DatasetFormatError(f"{what} has {len(values)} values for {rows} rows")
    return values if len(values) == rows else values.reshape(rows, -1)


def _checked_target(values: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
    """The target; the columns of several stand one after another in the file."""
    if not len(values) or len(values) % rows:
        raise DatasetFormatError(f"target has {len(values)} values for {rows} rows")
    found = read_target(values if len(values) == rows else values.reshape(-1, rows).T, rows)
    assert found is not None
    return found


def _checked_queries(values: NDArray[np.int64] | None, rows: int) -> NDArray[np.int64] | None:
    """Numbers of queries, from 0 in the order of their first rows."""
    if values is None:
        return None
    fresh = np.diff(np.maximum.accumulate(values), prepend=-1)
    if len(values) != rows or values.min(initial=0) < 0 or (fresh > 1).any():
        raise DatasetFormatError("queries are not numbered from 0 in the order of their first rows")
    return values
