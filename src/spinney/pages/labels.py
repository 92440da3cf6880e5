"""Targets, weights, margins and queries of rows that come in batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.arguments import read_start
from spinney.data import read_labels, read_queries, read_query_weight, read_target, read_vector, read_weight
from spinney.data.labels import by_column
from spinney.data.sources import Batch
from spinney.errors import DataError

Values = NDArray[Any]
PARTS = ("y", "weight", "base_margin", "qid")


class LabelParts:
    """Collects what belongs to rows, batch by batch, and tells whether the same comes again."""

    def __init__(self) -> None:
        self._parts: dict[str, list[Values]] = {name: [] for name in PARTS}
        self._given: dict[str, bool] | None = None
        self._numbers: dict[object, int] = {}
        self._sizes_given = False
        self._queries = 0
        self.rows = 0

    def add(self, batch: Batch) -> NDArray[np.float64] | None:
        """Read those of a batch; gives its weights."""
        self._check_given(batch)
        rows = batch.table.rows
        own = read_queries(batch.group, batch.qid, rows)
        weight = _read_weight(batch.weight, rows, own)
        found: dict[str, Values | None] = {
            "y": read_target(batch.y, rows),
            "weight": weight,
            "base_margin": read_start(batch.margin, rows),
            "qid": None if own is None else self._numbered(batch, own),
        }
        for name, values in found.items():
            if values is not None:
                kept = self._parts[name]
                if kept and kept[0].shape[1:] != values.shape[1:]:
                    raise DataError(
                        f"{name} has the shape {values.shape}, but {kept[0].shape} in rows before it; give as many columns"
                    )
                kept.append(values.copy())
        self.rows += rows
        return weight

    def check(self, batch: Batch, first: int) -> None:
        """Refuse a batch that begins at row `first` but brings another target than before."""
        self._check_given(batch)
        before = self.all("y")
        if before is None:
            return
        target = read_target(batch.y, batch.table.rows)
        was = before[first : first + batch.table.rows]
        if target is None or target.shape != was.shape or not np.array_equal(was, target):
            raise DataError(
                "y is not what it was when these rows were read before; the same rows must come in the same order every time"
            )

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
            raise DataError(f"it {brings} {odd}, but rows before it {others}")

    def _numbered(self, batch: Batch, own: NDArray[np.int64]) -> NDArray[np.int64]:
        """Numbers of queries counted on over batches, of which those of a batch have `own` numbers.

        Rows of a query that is known by its name may come in several batches.
        """
        if batch.qid is None:
            self._sizes_given = True
            own = own + self._queries
            self._queries = int(own[-1]) + 1
            return own
        if self._sizes_given:
            raise DataError("it has qid, but rows before it have group; give one of them")
        names, codes = read_labels(batch.qid, len(own))
        _, first = np.unique(own, return_index=True)
        known = [name.item() if isinstance(name, np.generic) else name for name in names[codes[first]]]
        number = [self._numbers.setdefault(name, len(self._numbers)) for name in known]
        return np.array(number, np.int64)[own]


def _read_weight(given: Any, rows: int, queries: NDArray[np.int64] | None) -> NDArray[np.float64] | None:
    """Weights of some rows, which may all be 0, or of their queries."""
    if given is None:
        return None
    values = read_vector(
        np.full(rows, given) if np.ndim(given) == 0 else given, None, "weight", allow_none=False
    )
    if len(values) == rows:
        return values if not values.any() else read_weight(values, rows, what="weight")
    return read_query_weight(values, rows, queries, what="weight")
