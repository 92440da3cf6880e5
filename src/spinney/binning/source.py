"""The user's table, remembered or kept."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import suppress

from spinney.data import Table, read_table
from spinney.errors import DataError


class Source:
    """What a `Dataset` was made from.

    Parameters
    ----------
    X : table
        As the user gave it.
    names : sequence of str, optional
        Column names.
    keep : bool
        Whether to keep X alive for good, whatever `release` says.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.eye(2)
    >>> source = Source(X, None, keep=False)
    >>> source.release()
    >>> source.table("dataset").rows
    2
    """

    def __init__(self, X: object, names: list[str] | tuple[str, ...] | None, *, keep: bool) -> None:
        self._names, self.keep = names, keep
        self._find: Callable[[], object] = lambda: X

    def release(self) -> None:
        """Stop keeping the table alive. It can be read again while somebody else holds it. A list is kept in any case."""
        if not self.keep:
            with suppress(TypeError):
                self._find = weakref.ref(self._find())

    @property
    def gone(self) -> bool:
        """Whether nobody keeps the table any more."""
        return self._find() is None

    def table(self, what: str) -> Table:
        """Read the table; an error about `what`, which names the data set, if it is gone."""
        X = self._find()
        if X is None:
            raise DataError(
                f"tree_method exact and approx, and init_model, need the table of {what}, which is gone: keep its X until "
                "then, or give keep_table=True to Dataset"
            )
        return X if isinstance(X, Table) else read_table(X, names=self._names)

    def __getstate__(self) -> dict[str, object]:
        """Copies and pickles go without the table."""
        return {"_names": self._names}

    def __setstate__(self, state: dict[str, object]) -> None:
        self._names = state["_names"]  # type: ignore[assignment]
        self._find, self.keep = _nothing, False


def _nothing() -> None:
    """Find nothing."""
