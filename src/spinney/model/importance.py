"""How much each column matters to the splits of a forest."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from spinney.errors import ParameterError
from spinney.messages import shown
from spinney.tree import CompactForest, Forest

Kind = Literal["gain", "total_gain", "split", "cover", "total_cover"]


def importance(
    forest: Forest, columns: int, kind: Kind = "gain", sources: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
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
    sources : int64, optional
        The two columns of the table that a split on each column counts for, half for either; without it that column itself.

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
    if not isinstance(kind, str) or kind not in get_args(Kind):
        raise ParameterError(f"kind must be one of {', '.join(get_args(Kind))}, not {shown(kind)}")
    inner = forest.feature >= 0
    feature = forest.feature[inner]

    def by_column(amount: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of what each split counts."""
        halves = [feature, feature] if sources is None else sources[:, feature]
        found = np.zeros(columns)
        for half in halves:
            found += np.bincount(half, 0.5 * amount, columns)
        return found

    splits = by_column(np.ones(len(feature)))
    if kind == "split":
        return splits
    amount = forest.cover if kind.endswith("cover") else forest.gain
    total = by_column(amount[inner].astype(np.float64, copy=False))
    if kind.startswith("total"):
        return total
    return np.divide(total, splits, out=np.zeros(columns), where=splits > 0)


def shares_by_split(forest: CompactForest) -> NDArray[np.float64]:
    """Share of each split in the decrease of impurity of its tree, 0 where no split of the tree lowers it."""
    gain = forest.gain.astype(np.float64)
    splits = np.diff(forest.split_start)
    tree = np.repeat(np.arange(forest.trees), splits)
    total = np.bincount(tree, weights=gain, minlength=forest.trees)[tree]
    shares: NDArray[np.float64] = np.divide(gain, total, out=np.zeros_like(gain), where=total > 0)
    return shares


def forest_importance(forest: CompactForest) -> NDArray[np.float64]:
    """Share of each column in the decrease of impurity: the mean over the trees, made to sum up to 1."""
    total = np.bincount(forest.column, weights=shares_by_split(forest), minlength=forest.columns)
    return total / max(float(total.sum()), np.finfo(np.float64).tiny)


def tree_importances(forest: CompactForest) -> NDArray[np.float64]:
    """Share of each column in the decrease of impurity of each tree, (trees, columns)."""
    tree = np.repeat(np.arange(forest.trees), np.diff(forest.split_start))
    place = tree * forest.columns + forest.column
    size = forest.trees * forest.columns
    total = np.bincount(place, weights=shares_by_split(forest), minlength=size)
    return total.astype(np.float64, copy=False).reshape(forest.trees, forest.columns)
