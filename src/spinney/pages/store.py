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
from spinney.pages.codec import PLAIN, unpack
from spinney.pages.folder import Stamp, home_of, page_name, read_file
from spinney.pages.form import PageForm
from spinney.pages.header import Pages


@dataclass(frozen=True, eq=False)
class Raw:
    """A page as it was read: its number, its bytes, and the stamp of its file."""

    page: int
    data: NDArray[np.uint8]
    stamp: Stamp


@dataclass(eq=False)
class PageRoom:
    """Memory for one page, which other pages may use after it; for codes by column only where they cannot stay where they are.

    Matrices that were made of it are kept: by where their codes by column are, and their rows.
    """

    by_column: NDArray[Any] | None
    by_row: NDArray[Any]
    matrices: dict[tuple[int, int], BinnedMatrix] = field(default_factory=dict)


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
    sound : dict
        Of those whose codes were looked at, too.
    """

    folders: list[Path]
    pages: Pages
    form: PageForm
    draft: bool = False
    stamps: dict[int, Stamp] = field(default_factory=dict)
    sound: dict[int, Stamp] = field(default_factory=dict)

    def path(self, page: int) -> Path:
        """File of a page."""
        return home_of(self.folders, page) / page_name(page, self.draft)

    def room(self) -> PageRoom:
        """Memory for any page, whose bytes stay as long as it is used."""
        return self._room(max(self.pages.rows), apart=not self._as_written)

    @property
    def _as_written(self) -> bool:
        """Whether codes by column can stay where they were read."""
        return self.form.in_bytes and set(self.pages.codec) == {PLAIN}

    @property
    def room_bytes(self) -> int:
        """Bytes of memory for any page, at most."""
        form, pages = self.form, self.pages
        most = max(form.memory(*facts) for facts in zip(pages.rows, pages.entries, strict=True))
        return most - (len(form.widths) * max(pages.rows) if self._as_written else 0)

    def own_room(self, page: int) -> PageRoom:
        """Memory for one page, with all that it needs."""
        return self._room(self.pages.rows[page], apart=True)

    def _room(self, rows: int, *, apart: bool) -> PageRoom:
        form = self.form
        by_row = aligned(rows, form.stride, form.dtype)
        return PageRoom(np.empty(len(form.widths) * rows, form.dtype) if apart else None, by_row)

    def raw_room(self) -> NDArray[np.uint8]:
        """Memory for the bytes of any page."""
        return np.empty(max(self.pages.bytes), np.uint8)

    def raw(self, page: int, room: NDArray[np.uint8]) -> Raw:
        """Bytes of a page as they are in its file, in memory that is given and may be larger."""
        pages = self.pages
        data, stamp = read_file(
            self.path(page), pages.bytes[page], pages.checksum[page], room, self.stamps.get(page)
        )
        self.stamps[page] = stamp
        return Raw(page, data, stamp)

    def columns(self, raw: Raw, into: NDArray[Any] | None, team: Team) -> ColumnCodes:
        """Codes by column of a page from its bytes, into flat memory that may be larger; see `PageForm.unpack`."""
        pages, form, page = self.pages, self.form, raw.page
        rows, entries = pages.rows[page], pages.entries[page]
        try:
            unpacked = unpack(pages.codec[page], raw.data, form.size(rows, entries))
            codes = form.unpack(unpacked, rows, entries, into, team, sound=self.sound.get(page) == raw.stamp)
            self.sound[page] = raw.stamp
            return codes
        except DatasetFormatError as error:
            raise DatasetFormatError(f"{str(self.path(page))!r} is damaged: {error}") from error

    def decoded(self, raw: Raw, room: PageRoom, team: Team) -> BinnedMatrix:
        """Codes of a page from its bytes. A matrix that was made of the same memory is given again."""
        codes, rows = self.columns(raw, room.by_column, team), self.pages.rows[raw.page]
        matrix = fill_rows(codes, self.form.features, room.by_row[:rows], team)
        if len(self.form.listed):
            return matrix
        return room.matrices.setdefault((codes.groups.ctypes.data, rows), matrix)
