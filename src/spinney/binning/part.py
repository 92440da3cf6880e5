"""`Part`: some rows of a data set, which share its codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.binning.dataset import Dataset
from spinney.binning.matrix import BinnedMatrix
from spinney.binning.sorted import SortedTable
from spinney.binning.take import take_codes, take_sorted
from spinney.data import Table
from spinney.data.labels import by_column, renumbered
from spinney.errors import DataError


class Part(Dataset):
    """Some rows of a data set, for trainings and validation as any other.

    Cuts and codes are those of the whole: nothing is binned again. Target, weights and margins of the rows are copied. Growers
    that cannot work on rows of another table, forests and those of `tree_method` exact, get a copy at first use.

    Parameters
    ----------
    dataset : Dataset
        The whole, or a part of one.
    rows : int array
        Its rows, ascending, each once.
    what : str, optional
        Names this part in messages. Without it, its rows may all weigh nothing.

    Examples
    --------
    >>> import numpy as np, spinney as sp
    >>> ds = sp.Dataset(np.arange(12.0).reshape(6, 2), y=np.arange(6.0))
    >>> part = Part(ds, np.array([1, 4]), "part")
    >>> part, part.target.tolist()
    (Dataset(rows=2, columns=2, bins=12), [1.0, 4.0])
    """

    def __init__(self, dataset: Dataset, rows: NDArray[Any], what: str | None = None) -> None:
        self._whole, self._views = dataset.whole, {}
        self.index: NDArray[np.int32] = (rows if dataset.index is None else dataset.index[rows]).astype(
            np.int32
        )
        self.rows = len(rows)
        self.schema, self.params = dataset.schema, dataset.params
        self.cuts, self.plan = dataset.cuts, dataset.plan
        self.weight, self.margin, queries = (
            None if values is None else values[rows]
            for values in (dataset.weight, dataset.margin, dataset.queries)
        )
        self.target = None if dataset.target is None else by_column(dataset.target[rows])
        self.queries = renumbered(queries)
        if what is not None and self.weight is not None and not self.weight.any():
            raise DataError(f"{what}: every row has weight 0; at least one must weigh more")

    @property
    def whole(self) -> Dataset:
        """The data set whose codes this one shares."""
        return self._whole

    @property
    def matrix(self) -> BinnedMatrix:
        """A copy of the codes of these rows, made at first use."""
        return self._view("matrix", lambda: take_codes(self._whole.matrix, self.index))

    @property
    def has_table(self) -> bool:
        """Whether `table` can give it."""
        return "table" in self._views or self._whole.has_table

    def sorted_columns(self, threads: int) -> SortedTable:
        """Every column's values, sorted once for the whole, and picked out."""
        return self._view("sorted", lambda: take_sorted(self._whole.sorted_columns(threads), self.index))

    def release(self) -> None:
        """Let go of the whole's table, unless it is to be kept, and of what was made for these rows."""
        self._whole.release()
        self._views.clear()

    def _read(self, what: str) -> Table:
        kept: Table | None = self._views.get("table")  # a copy
        if kept is not None:
            return kept
        chosen = np.zeros(self._whole.rows, np.bool_)
        chosen[self.index] = True
        return self._whole.table(what).take(chosen)
