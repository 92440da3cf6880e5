"""Opening a data set on disk.

The header and its arrays are read and checked here, and the sizes of all pages; their codes are checked when they are first used.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.binning.plan import BinPlan
from spinney.binning.raw_table import NoTable
from spinney.data import Labels, read_target, read_weight
from spinney.data.labels import by_column
from spinney.data.target import read_base_margin
from spinney.disk.blocks import PagedBlocks, PageStore
from spinney.disk.folder import TemporaryFolder, check_size, read_file
from spinney.disk.header import ARRAYS, LABELS, FolderHeader, checked_cuts, checked_features, read_header
from spinney.disk.page import PLAIN, PageLayout
from spinney.errors import DatasetFormatError, SpinneyError


def open_folders(folders: list[Path], memory: int | None, home: TemporaryFolder | None = None) -> BinnedData:
    """Open the data in some folders; everything but the codes is read into memory.

    Parameters
    ----------
    folders : list of Path
        Where they are, in the order in which they were written.
    memory : int, optional
        Bytes that codes may take in memory.
    home : TemporaryFolder, optional
        Removed when nothing holds the codes any more.
    """
    header = read_header(folders)
    arrays = {name: _array(folders[0], name, header) for name in header.arrays}
    try:
        plan, labels = _checked(header, arrays)
    except SpinneyError as error:
        raise DatasetFormatError(f"the data set in {str(folders[0])!r} is damaged: {error}") from error
    store = PageStore(folders, header.pages, PageLayout(plan.features, header.from_sparse))
    _check_pages(store)
    codes = PagedBlocks(store, memory, home, header.key)
    return BinnedData(header.schema, header.params, plan, codes, labels, NoTable("on disk"))


def _checked(header: FolderHeader, arrays: dict[str, NDArray[Any]]) -> tuple[BinPlan, Labels]:
    """Plan and labels of the arrays, checked."""
    params, rows = header.params, header.rows
    cuts = checked_cuts(arrays["cut_values"], arrays["cut_starts"], header.schema, params.max_bin)
    features = checked_features(arrays, cuts)
    plan = BinPlan(cuts, params.absent_value, features, header.conflicts)
    target, margin = arrays.get("target"), arrays.get("margin")
    return plan, Labels(
        np.empty((rows, 0)) if target is None else by_column(_checked_target(target, rows)),
        read_weight(arrays.get("weight"), rows, what="weight"),
        None if margin is None else read_base_margin(_by_row(margin, rows, "margin"), rows),
        _checked_queries(arrays.get("queries"), rows),
    )


def _array(folder: Path, name: str, header: FolderHeader) -> NDArray[Any]:
    fields, dtype = header.arrays[name], np.dtype("<" + (ARRAYS | LABELS)[name])
    size = fields["items"] * dtype.itemsize
    path = folder / f"{name}.bin"
    check_size(path, size)
    data = np.empty(fields["items"], dtype)
    read_file(path, size, fields["checksum"], data.view(np.uint8))
    return data.astype(dtype.newbyteorder("="), copy=False)


def _check_pages(store: PageStore) -> None:
    """Look whether every page is there, of the size that it should have."""
    pages, form = store.pages, store.form
    for page in range(pages.count):
        path = store.path(page)
        raw = form.size(pages.rows[page], pages.entries[page])
        if pages.codec[page] == PLAIN and raw != pages.bytes[page]:
            raise DatasetFormatError(
                f"the header has {pages.bytes[page]} bytes for {str(path)!r}, which would have {raw}"
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
