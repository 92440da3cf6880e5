"""Reading the pages of a data set, one at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.encode import ColumnCodes, fill_rows
from spinney.binning.matrix import BinnedMatrix, aligned
from spinney.errors import DatasetFormatError
from spinney.jit.team import Team
from spinney.pages.codec import unpack
from spinney.pages.folder import Stamp, home_of, page_name, read_file
from spinney.pages.form import PageForm
from spinney.pages.header import Pages


@dataclass(eq=False)
class PageRoom:
    """Memory for one page, which other pages may use after it."""

    by_column: NDArray[Any]
    by_row: NDArray[Any]
    matrix: BinnedMatrix | None = None


@dataclass(frozen=True, eq=False)
class PageStore:
    """Pages in folders.

    Attributes
    ----------
    folders : list of Path
        Where they are.
    pages : Pages
        What is known of each.
    form : PageForm
        How they are written.
    draft : bool
        Whether they are drafts.
    stamps : dict
        Of the files that were compared with their checksums.
    """

    folders: list[Path]
    pages: Pages
    form: PageForm
    draft: bool = False
    stamps: dict[int, Stamp] = field(default_factory=dict)

    def path(self, page: int) -> Path:
        """File of a page."""
        return home_of(self.folders, page) / page_name(page, self.draft)

    def room(self) -> PageRoom:
        """Memory for any page."""
        return self._room(max(self.pages.rows))

    def own_room(self, page: int) -> PageRoom:
        """Memory for one page."""
        return self._room(self.pages.rows[page])

    def _room(self, rows: int) -> PageRoom:
        form = self.form
        by_row = aligned(rows, form.stride, form.dtype)
        return PageRoom(np.empty(len(form.widths) * rows, form.dtype), by_row)

    def raw_room(self) -> NDArray[np.uint8]:
        """Memory for the bytes of any page."""
        return np.empty(max(self.pages.bytes), np.uint8)

    def raw(self, page: int, room: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Bytes of a page as they are in its file, in memory that is given and may be larger."""
        pages = self.pages
        data, self.stamps[page] = read_file(
            self.path(page), pages.bytes[page], pages.checksum[page], room, self.stamps.get(page)
        )
        return data

    def columns(self, page: int, data: NDArray[np.uint8], into: NDArray[Any], team: Team) -> ColumnCodes:
        """Codes by column of a page from its bytes, into flat memory that may be larger."""
        pages, form = self.pages, self.form
        rows, entries = pages.rows[page], pages.entries[page]
        groups = into[: len(form.widths) * rows].reshape(len(form.widths), rows)
        try:
            unpacked = unpack(pages.codec[page], data, form.size(rows, entries))
            return form.unpack(unpacked, groups, entries, team)
        except DatasetFormatError as error:
            raise DatasetFormatError(f"{str(self.path(page))!r} is damaged: {error}") from error

    def decoded(self, page: int, data: NDArray[np.uint8], room: PageRoom, team: Team) -> BinnedMatrix:
        """Codes of a page from its bytes. The matrix of the room's last page is given again where it fits."""
        codes = self.columns(page, data, room.by_column, team)
        last, rows = room.matrix, self.pages.rows[page]
        matrix = fill_rows(codes, self.form.features, room.by_row[:rows], team)
        if last is None or last.rows != rows or len(self.form.listed):
            room.matrix = matrix
        assert room.matrix is not None
        return room.matrix
