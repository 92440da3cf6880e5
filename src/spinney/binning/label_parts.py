"""Targets, weights, margins and queries of rows that come in batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.arguments import read_start
from spinney.data import read_queries, read_target, read_weight
from spinney.data.frame import frame_names, is_frame
from spinney.data.labels import by_column
from spinney.data.queries import read_part_weight
from spinney.data.sources import SAME, Batch
from spinney.data.target import one_dimension
from spinney.errors import DataError, DataTypeError

Values = NDArray[Any]
PARTS = ("y", "weight", "base_margin", "qid")


class LabelParts:
    """Collects what belongs to rows, batch by batch, and tells whether the same comes again."""

    def __init__(self) -> None:
        self._parts: dict[str, list[Values]] = {name: [] for name in PARTS}
        self._given: dict[str, bool] | None = None
        self._numbers: dict[object, int] = {}
        self._told_by: str | None = None  # how queries are told: "group" or "qid"
        self._as: str | None = None  # what names of queries are: "text" or "numbers"
        self._names: tuple[str, ...] | None = None  # of the columns of a frame of targets
        self._queries = 0
        self._others = "rows before it"  # what a batch is compared with, in messages
        self.rows = 0

    def add(self, batch: Batch) -> NDArray[np.float64] | None:
        """Read those of a batch; gives its weights."""
        found = self._read(batch)
        for name, values in found.items():
            if values is not None:
                kept = self._parts[name]
                if kept and kept[0].shape[1:] != values.shape[1:]:
                    raise DataError(
                        f"{name} has the shape {values.shape}, but {kept[0].shape} in {self._others}; give as many columns"
                    )
                kept.append(values.copy(order="K"))
        self.rows += batch.table.rows
        return found["weight"]

    def check(self, batch: Batch, first: int) -> None:
        """Refuse a batch that begins at row `first` but brings something else than before."""
        if first == 0:
            self._queries, self._others = 0, "the rows that were read before"
        for name, values in self._read(batch).items():
            before = self.all(name)
            if before is None or values is None:
                continue  # `_read` has refused what is there now and was not before
            was = before[first : first + len(values)]
            if was.shape != values.shape or not np.array_equal(was, values):
                given = "group" if name == "qid" and batch.qid is None else name
                raise DataError(f"{given} is not what it was when these rows were read before; {SAME}")

    def _read(self, batch: Batch) -> dict[str, Values | None]:
        """Those of a batch by name."""
        self._check_given(batch)
        rows = batch.table.rows
        own = read_queries(batch.group, batch.qid, rows)
        return {
            "y": read_target(batch.y, rows),
            "weight": read_part_weight(batch.weight, rows, own),
            "base_margin": read_start(batch.margin, rows),
            "qid": None if own is None else self._numbered(batch, own),
        }

    def all(self, name: str) -> Values | None:
        """All values of one of `PARTS`, None where there is none."""
        parts = self._parts[name]
        if len(parts) > 1:
            parts[:] = [by_column(np.concatenate(parts)) if name == "y" else np.concatenate(parts)]
        return parts[0] if parts else None

    def weight(self) -> NDArray[np.float64] | None:
        """The weights of all rows, which may not all be 0."""
        return read_weight(self.all("weight"), self.rows, what="weight")

    def _check_given(self, batch: Batch) -> None:
        """Refuse a batch that brings a target, weights or the like where others do not."""
        queries = batch.qid is not None or batch.group is not None
        given = (batch.y is not None, batch.weight is not None, batch.margin is not None, queries)
        has = dict(zip(PARTS, given, strict=True))
        if self._given is None:
            self._given = has
        odd = next((name for name in PARTS if has[name] != self._given[name]), None)
        if odd is not None:
            brings, others = ("has", "have none") if has[odd] else ("has no", "have it")
            raise DataError(f"it {brings} {odd}, but {self._others} {others}")
        names = frame_names(batch.y) if is_frame(batch.y) else ()
        if len(names) > 1:
            self._names = self._names or names
            if names != self._names:
                raise DataError(
                    f"y has the columns {', '.join(names)}, but {self._others} have {', '.join(self._names)}; give them in one "
                    "order"
                )
        if queries:
            told_by = "qid" if batch.group is None else "group"
            self._told_by = self._told_by or told_by
            if told_by != self._told_by:
                raise DataError(
                    f"it has {told_by}, but {self._others} have {self._told_by}; give one of them"
                )

    def _numbered(self, batch: Batch, own: NDArray[np.int64]) -> NDArray[np.int64]:
        """Numbers of queries counted on over batches, of which those of a batch have `own` numbers.

        Rows of a query that is known by its name may come in several batches.
        """
        if batch.qid is None:
            own = own + self._queries
            self._queries = int(own[-1]) + 1
            return own
        _, first = np.unique(own, return_index=True)
        known = [
            name.item() if isinstance(name, np.generic) else name
            for name in one_dimension(batch.qid, len(own), "qid")[first]
        ]
        kind = "text" if isinstance(known[0], str | bytes) else "numbers"
        self._as = self._as or kind
        if kind != self._as:
            raise DataTypeError(
                f"qid holds {kind}, but {self._as} in {self._others}; give queries as one of them"
            )
        number = [self._numbers.setdefault(name, len(self._numbers)) for name in known]
        return np.array(number, np.int64)[own]
