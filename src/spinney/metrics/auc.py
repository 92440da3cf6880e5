"""Area under the ROC curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.errors import DataError
from spinney.jit.team import Team


def auc(
    scores: NDArray[np.float64], target: NDArray[np.float64], weight: NDArray[np.float64] | None = None
) -> float:
    """Chance that a positive row scores above a negative one, ties counting half; NaN where one of them is absent.

    Examples
    --------
    >>> auc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0.0, 0.0, 1.0, 1.0]))
    0.75
    """
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    mass = np.ones(len(order)) if weight is None else _masses(weight)[order]
    is_positive = target[order] > 0.5
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    up_to = np.cumsum(np.where(is_positive, mass, 0.0))[ends]
    negatives = np.cumsum(np.where(is_positive, 0.0, mass))[ends]
    positives_here = np.diff(up_to, prepend=0.0)
    negatives_here = np.diff(negatives, prepend=0.0)
    pairs = up_to[-1] * negatives[-1]
    if pairs <= 0:
        return float("nan")
    below = negatives - negatives_here
    return float(np.sum(positives_here * (below + 0.5 * negatives_here)) / pairs)


def area(name: str, scores: NDArray[np.float64], labels: Labels, team: Team) -> float:
    """The same, as a metric."""
    return auc(scores[0], labels.target, labels.weight)


def check_classes(labels: Labels) -> None:
    """Refuse rows of one class, which have no area under the curve."""
    is_positive = labels.target > 0.5
    if labels.weight is not None:
        is_positive = is_positive[_masses(labels.weight) > 0]
    if is_positive.all() or not is_positive.any():
        raise DataError(
            "eval_metric='auc' needs rows of both classes with a weight above 0, "
            f"{labels.said_of_one_class}; give rows of both, or another metric"
        )


def _masses(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights with the largest made 1, so that products of sums stay finite; only ratios count."""
    return weight / (weight.max() or 1.0)
