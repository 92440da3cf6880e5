"""The header of a folder: JSON with facts about every other file, and what its arrays must be like. Nothing in it is trusted."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import MOST_ROWS
from spinney.binning.cuts import LARGEST_BINS, Cuts
from spinney.binning.kernels.records import NO_DEFAULT
from spinney.binning.matrix import SPARSE, ColumnLayout
from spinney.data import Schema
from spinney.disk.folder import HEADER, MARK, open_regular
from spinney.disk.page import CODECS, PLAIN
from spinney.errors import DatasetFormatError, ModelFormatError, SpinneyError
from spinney.params import DataParams
from spinney.params.common import DATA_PARAMS
from spinney.safe_io import parse_json

FORMAT = 1
KIND = "spinney data set"
LARGEST_HEADER = 2**30
MOST_FOLDERS = 1000
# Arrays of every data set, and those that only some have, with their types.
ARRAYS: dict[str, str] = {
    "cut_values": "f8", "cut_starts": "i8", "group": "i8", "low": "i8", "codes": "i8", "default": "i8",
}  # fmt: skip
LABELS: dict[str, str] = {"target": "f8", "weight": "f8", "margin": "f8", "queries": "i8"}
PAGE_FACTS = ("rows", "entries", "bytes", "checksum", "codec")


@dataclass(frozen=True, eq=False)
class Pages:
    """What is known of each page."""

    rows: list[int]
    entries: list[int]
    bytes: list[int]
    checksum: list[int]
    codec: list[str]

    @classmethod
    def none(cls) -> Pages:
        """No pages yet."""
        return cls([], [], [], [], [])

    def add(self, rows: int, entries: int, size: int, checksum: int, codec: str) -> None:
        """Take note of a page."""
        for held, one in zip(self.facts().values(), (rows, entries, size, checksum, codec), strict=True):
            held.append(one)

    def facts(self) -> dict[str, list[Any]]:
        """The lists by name."""
        return {name: getattr(self, name) for name in PAGE_FACTS}

    @property
    def count(self) -> int:
        """Number of pages."""
        return len(self.rows)

    @property
    def begins(self) -> NDArray[np.int64]:
        """Row that each page begins with, and the number of rows."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.rows, dtype=np.int64)])


@dataclass(frozen=True, eq=False)
class FolderHeader:
    """The facts of the header.

    Attributes
    ----------
    rows : int
        Number of rows.
    params : DataParams
        The parameters of the data.
    schema : Schema
        The columns.
    from_sparse : bool
        Whether the table was sparse.
    conflicts : int
        Entries that bundles lose.
    arrays : dict
        Number of items and checksum of each array.
    pages : Pages
        The pages.
    folders : int
        How many folders share the pages.
    """

    rows: int
    params: DataParams
    schema: Schema
    from_sparse: bool
    conflicts: int
    arrays: Mapping[str, Mapping[str, int]]
    pages: Pages
    folders: int

    @property
    def key(self) -> str:
        """A checksum of all facts, which every folder of the data set has."""
        fields = json.dumps(self._facts(), sort_keys=True)
        return hashlib.sha256(fields.encode()).hexdigest()[:32]

    def to_text(self) -> str:
        """The header as JSON."""
        fields = {"kind": KIND, "format": FORMAT, "key": self.key, **self._facts()}
        return json.dumps(fields, ensure_ascii=False, indent=1)

    def _facts(self) -> dict[str, object]:
        return {
            "folders": self.folders, "rows": self.rows,
            "params": {name: getattr(self.params, name) for name in DATA_PARAMS},
            "schema": self.schema.to_json(), "from_sparse": self.from_sparse, "conflicts": self.conflicts,
            "arrays": self.arrays, "pages": self.pages.facts(),
        }  # fmt: skip

    def mark(self, place: int) -> str:
        """The text in the folder of that place, where it is not the first."""
        return json.dumps({"kind": KIND, "key": self.key, "place": place})


def read_header(folders: list[Path]) -> FolderHeader:
    """Read the header, and make sure that the folders are those of one data set, in order."""
    path = folders[0] / HEADER
    try:
        text = _text(path)
    except (FileNotFoundError, NotADirectoryError):
        if (folders[0] / MARK).is_file():
            raise DatasetFormatError(
                f"{str(folders[0])!r} is not the first folder of its data set, which has several; give all, in the "
                "order in which they were written"
            ) from None
        raise DatasetFormatError(
            f"{str(folders[0])!r} is no data set, or its writing was interrupted: it has no {HEADER}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetFormatError(f"{str(path)!r} cannot be read: {error}") from error
    try:
        header = _from_json(parse_json(text, "it"))
    except SpinneyError as error:
        raise DatasetFormatError(f"{str(path)!r}: {error}") from error
    if header.folders != len(folders):
        raise DatasetFormatError(
            f"the data set of {str(folders[0])!r} has {header.folders} folders, but {len(folders)} are given; "
            "give all, in the order in which they were written"
        )
    for place, folder in enumerate(folders[1:], 1):
        try:
            found = _text(folder / MARK)
        except (OSError, UnicodeDecodeError):
            found = ""
        if found != header.mark(place):
            raise DatasetFormatError(
                f"{str(folder)!r} is not folder {place} of the data set of {str(folders[0])!r}; give its folders in the order in "
                "which they were written"
            )
    return header


def _text(path: Path) -> str:
    descriptor, status = open_regular(path)
    with os.fdopen(descriptor, "rb") as file:
        if status.st_size > LARGEST_HEADER:
            raise DatasetFormatError(f"{str(path)!r} is too large for a header")
        return file.read().decode("utf-8")


def _from_json(fields: object) -> FolderHeader:
    keys = (
        "kind",
        "format",
        "key",
        "folders",
        "rows",
        "params",
        "schema",
        "from_sparse",
        "conflicts",
        "arrays",
        "pages",
    )
    if not isinstance(fields, dict) or fields.get("kind") != KIND:
        raise ModelFormatError("it is not the header of a data set")
    if fields.get("format") != FORMAT:
        raise ModelFormatError(f"it has format {fields.get('format')!r:.20}; this version reads {FORMAT}")
    if set(fields) != set(keys):
        raise ModelFormatError(f"it must have the keys {', '.join(keys)}")
    rows, params = _whole(fields["rows"], "rows", 1, MOST_ROWS), fields["params"]
    if not isinstance(params, dict) or set(params) != set(DATA_PARAMS):
        raise ModelFormatError(f"params must be {', '.join(DATA_PARAMS)}")
    if not isinstance(fields["from_sparse"], bool):
        raise ModelFormatError("from_sparse must be true or false")
    header = FolderHeader(
        rows, DataParams.parse(params), Schema.from_json(fields["schema"]), fields["from_sparse"],
        _whole(fields["conflicts"], "conflicts", 0, 2**62), _arrays(fields["arrays"]), _pages(fields["pages"], rows),
        _whole(fields["folders"], "folders", 1, MOST_FOLDERS),
    )  # fmt: skip
    if fields["key"] != header.key:
        raise ModelFormatError("its key does not fit its contents: it was changed")
    return header


def _whole(value: object, what: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise ModelFormatError(f"{what} must be a whole number from {low} to {high}, got {value!r:.40}")
    return value


def _arrays(fields: object) -> dict[str, dict[str, int]]:
    known = ARRAYS | LABELS
    if not isinstance(fields, dict) or not set(ARRAYS) <= set(fields) <= set(known):
        raise ModelFormatError(f"arrays must be {', '.join(ARRAYS)}, and perhaps {', '.join(LABELS)}")
    found = {}
    for name, facts in fields.items():
        if not isinstance(facts, dict) or set(facts) != {"items", "checksum"}:
            raise ModelFormatError(f"the array {name} must have items and checksum")
        items = _whole(facts["items"], f"items of {name}", 0, 2**40)
        found[name] = {
            "items": items,
            "checksum": _whole(facts["checksum"], f"checksum of {name}", 0, 2**32 - 1),
        }
    return found


def _pages(fields: object, rows: int) -> Pages:
    if not isinstance(fields, dict) or set(fields) != set(PAGE_FACTS):
        raise ModelFormatError(f"pages must have {', '.join(PAGE_FACTS)}")
    lists = list(fields.values())
    if not all(isinstance(one, list) and len(one) == len(lists[0]) and one for one in lists):
        raise ModelFormatError("pages must have lists of one length")
    for name, low, high in (
        ("rows", 1, MOST_ROWS),
        ("entries", 0, 2**40),
        ("bytes", 0, 2**40),
        ("checksum", 0, 2**32 - 1),
    ):
        for value in fields[name]:
            _whole(value, f"{name} of a page", low, high)
    if any(codec not in (PLAIN, *CODECS) for codec in fields["codec"]):
        raise ModelFormatError(f"the codec of a page must be one of {', '.join(CODECS)}, or none")
    if sum(fields["rows"]) != rows:
        raise ModelFormatError(f"its pages have {sum(fields['rows'])} rows together, not {rows}")
    return Pages(*(fields[name] for name in PAGE_FACTS))


LARGEST_CODES = 65_536


def checked_cuts(
    values: NDArray[np.float64], starts: NDArray[np.int64], schema: Schema, max_bin: int
) -> Cuts:
    """The cuts of the columns of a schema."""
    columns, counts = schema.columns, schema.category_counts
    if len(starts) != columns + 1 or starts[0] != 0 or starts[-1] != len(values):
        raise DatasetFormatError(f"its cuts are not those of {columns} columns")
    made = np.diff(starts)
    if (made < 0).any() or (made >= LARGEST_BINS).any():
        raise DatasetFormatError("a column has less than no cuts, or too many")
    rises = np.diff(values) > 0.0
    inner = starts[1:-1]
    rises[inner[(inner > 0) & (inner < len(values))] - 1] = True
    if not (np.isfinite(values).all() and rises.all()):
        raise DatasetFormatError("the cuts of a column do not ascend, or are not finite")
    categorical = np.zeros(columns, np.uint8)
    if counts is not None:
        categorical[:] = counts > 0
        wrong = (counts > 0) & (made != counts - 1)
        if wrong.any():
            raise DatasetFormatError("a column of categories has other bins than categories")
    return Cuts(values, starts, max_bin, categorical)


def checked_features(arrays: Mapping[str, NDArray[np.int64]], cuts: Cuts) -> ColumnLayout:
    """Where the codes of each column are, if every code has one place."""
    group, low, codes, default = (arrays[name] for name in ("group", "low", "codes", "default"))
    bins = cuts.bins
    if not len(group) == len(low) == len(codes) == len(default) == len(bins):
        raise DatasetFormatError("its groups are not those of its columns")
    single = default == NO_DEFAULT
    listed = (default >= 0) & (default <= bins) & ((codes == bins) | (codes == bins - 1)) & (codes >= 0)
    plain = single & (low == 0) & (codes == bins + 1) & (group >= 0)
    if not (plain | (~single & listed)).all() or (low < 0).any() or (group < SPARSE).any():
        raise DatasetFormatError("the codes of a column do not fit its bins")
    if (group >= len(bins)).any():
        raise DatasetFormatError("there are more groups than columns")
    groups = int(group.max()) + 1
    sizes = np.bincount(group[group >= 0], minlength=groups)
    if (sizes == 0).any() or (sizes[group[single]] != 1).any():
        raise DatasetFormatError("a group has no column, or a lone column shares its group")
    for begin, chosen in ((1, ~single & (group >= 0)), (0, group == SPARSE)):
        order = np.lexsort((codes[chosen], low[chosen], group[chosen]))  # columns without codes first
        owner, first, many = (values[chosen][order] for values in (group, low, codes))
        ends = first + many
        new = np.diff(owner, prepend=SPARSE - 1) != 0
        expected = np.where(new, begin, np.concatenate([np.zeros(1, np.int64), ends[:-1]]))
        if not np.array_equal(first, expected):
            raise DatasetFormatError("the codes of a bundle, or of sparse columns, overlap or leave a gap")
    features = ColumnLayout(group, low, codes, bins, default)
    if int(features.group_codes.max(initial=0)) > LARGEST_CODES:
        raise DatasetFormatError("a group has more codes than fit into its type")
    sparse = np.flatnonzero(group == SPARSE)
    if (np.diff(low[sparse]) < 0).any():
        raise DatasetFormatError("sparse columns are not in order")
    return features
