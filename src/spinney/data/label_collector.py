"""`RawLabels` → `Labels` of rows that come in batches (`LabelCollector`); `read_labels` in `target.py` reads all rows at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.frame import frame_names, is_frame
from spinney.data.labels import Labels, RawLabels, by_column
from spinney.data.queries import read_batch_weight, read_queries
from spinney.data.sources import SAME_ROWS
from spinney.data.target import no_target, one_dimension, read_base_margin, read_target, read_weight
from spinney.errors import DataError, DataTypeError

Values = NDArray[Any]
COLLECTED = ("y", "weight", "base_margin", "qid")


class LabelCollector:
    """Collects the labels of batches, and refuses other ones when the same rows come again."""

    def __init__(self) -> None:
        self._parts: dict[str, list[Values]] = {name: [] for name in COLLECTED}
        self._given: dict[str, bool] | None = None
        self._numbers: dict[object, int] = {}  # number of each query that has a name
        self._query_argument: str | None = None  # "group" or "qid"
        self._name_kind: str | None = None  # of the names of queries: "text" or "numbers"
        self._target_names: tuple[str, ...] | None = None  # of the columns of a frame of targets
        self._queries = 0
        self._others = "rows before it"  # what a batch is compared with, in messages
        self.rows = 0

    def add(self, raw: RawLabels, rows: int) -> NDArray[np.float64] | None:
        """Read the labels of a batch; returns its weights."""
        found = self._read(raw, rows)
        for name, values in found.items():
            if values is not None:
                kept = self._parts[name]
                if kept and kept[0].shape[1:] != values.shape[1:]:
                    raise DataError(
                        f"{name} has the shape {values.shape}, but {kept[0].shape} in {self._others}; give as many columns"
                    )
                kept.append(values.copy(order="K"))
        self.rows += rows
        return found["weight"]

    def check(self, raw: RawLabels, first: int, rows: int) -> None:
        """Refuse a batch that begins at row `first` but has other labels than these rows had before."""
        if first == 0:
            self._queries, self._others = 0, "the rows that were read before"
        for name, values in self._read(raw, rows).items():
            before = self._all(name)
            if before is None or values is None:
                continue  # `_read` has refused what is there now and was not before
            was = before[first : first + len(values)]
            if was.shape != values.shape or not np.array_equal(was, values):
                given = "group" if name == "qid" and raw.qid is None else name
                raise DataError(f"{given} is not what it was when these rows were read before; {SAME_ROWS}")

    def labels(self) -> Labels:
        """The labels of all rows."""
        target = self._all("y")
        margin, queries = self._all("base_margin"), self._all("qid")
        return Labels(no_target(self.rows) if target is None else target, self.weight(), margin, queries)

    def weight(self) -> NDArray[np.float64] | None:
        """The weights of all rows, which may not all be 0."""
        return read_weight(self._all("weight"), self.rows, what="weight")

    def _all(self, name: str) -> Values | None:
        """All values of one of `COLLECTED`; None: not given."""
        parts = self._parts[name]
        if len(parts) > 1:
            parts[:] = [by_column(np.concatenate(parts)) if name == "y" else np.concatenate(parts)]
        return parts[0] if parts else None

    def _read(self, raw: RawLabels, rows: int) -> dict[str, Values | None]:
        """The labels of a batch by name."""
        self._check_given(raw)
        own = read_queries(raw.group, raw.qid, rows)
        return {
            "y": read_target(raw.y, rows),
            "weight": read_batch_weight(raw.weight, rows, own),
            "base_margin": read_base_margin(raw.base_margin, rows),
            "qid": None if own is None else self._numbered(raw.qid, own),
        }

    def _check_given(self, raw: RawLabels) -> None:
        """Refuse a batch that has a target, weights or the like where others do not."""
        queries = raw.qid is not None or raw.group is not None
        given = (raw.y is not None, raw.weight is not None, raw.base_margin is not None, queries)
        has = dict(zip(COLLECTED, given, strict=True))
        if self._given is None:
            self._given = has
        odd = next((name for name in COLLECTED if has[name] != self._given[name]), None)
        if odd is not None:
            brings, others = ("has", "have none") if has[odd] else ("has no", "have it")
            raise DataError(f"it {brings} {odd}, but {self._others} {others}")
        names = frame_names(raw.y) if is_frame(raw.y) else ()
        if len(names) > 1:
            self._target_names = self._target_names or names
            if names != self._target_names:
                raise DataError(
                    f"y has the columns {', '.join(names)}, but {self._others} have {', '.join(self._target_names)}; give them "
                    "in one order"
                )
        if queries:
            argument = "qid" if raw.group is None else "group"
            self._query_argument = self._query_argument or argument
            if argument != self._query_argument:
                raise DataError(
                    f"it has {argument}, but {self._others} have {self._query_argument}; give one of them"
                )

    def _numbered(self, qid: Any, own: NDArray[np.int64]) -> NDArray[np.int64]:
        """Numbers of queries over all batches, from those within a batch.

        Queries that have names, by `qid`, may have rows in several batches.
        """
        if qid is None:
            own = own + self._queries
            self._queries = int(own[-1]) + 1
            return own
        _, first = np.unique(own, return_index=True)
        known = [
            name.item() if isinstance(name, np.generic) else name
            for name in one_dimension(qid, len(own), "qid")[first]
        ]
        kind = "text" if isinstance(known[0], str | bytes) else "numbers"
        self._name_kind = self._name_kind or kind
        if kind != self._name_kind:
            raise DataTypeError(
                f"qid holds {kind}, but {self._name_kind} in {self._others}; give queries as one of them"
            )
        number = [self._numbers.setdefault(name, len(self._numbers)) for name in known]
        return np.array(number, np.int64)[own]
