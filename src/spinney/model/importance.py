"""How much each column matters to the splits of a forest."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from spinney.errors import ParameterError
from spinney.tree import Forest

Kind = Literal["gain", "total_gain", "split", "cover", "total_cover"]


def importance(forest: Forest, columns: int, kind: Kind = "gain") -> NDArray[np.float64]:
    """Importance of each column.

    Parameters
    ----------
    forest : Forest
        The trees to look at.
    columns : int
        Number of columns of the training table.
    kind : {"gain", "total_gain", "split", "cover", "total_cover"}
        "split" counts the splits on a column, "total_gain" and "total_cover" add up their gain and cover,
        "gain" and "cover" are the means over those splits.

    Returns
    -------
    float64[columns]
        0 for a column that no split uses.

    Examples
    --------
    >>> from spinney.tree import concatenate
    >>> importance(concatenate([]), 2)
    array([0., 0.])
    """
    if kind not in get_args(Kind):
        raise ParameterError(f"kind must be one of {', '.join(get_args(Kind))}, not {kind!r}")
    inner = forest.feature >= 0
    column = forest.feature[inner]
    splits = np.bincount(column, minlength=columns).astype(np.float64)
    if kind == "split":
        return splits
    amount = forest.cover if kind.endswith("cover") else forest.gain
    total = np.bincount(column, weights=amount[inner], minlength=columns).astype(np.float64, copy=False)
    if kind.startswith("total"):
        return total
    return total / np.maximum(splits, 1.0)
