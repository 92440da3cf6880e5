"""Accuracies and F1."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.metrics.kernels.classes import SUMS, class_sums
from spinney.metrics.kernels.frames import BLOCK
from spinney.metrics.outcome import Outcome, scaled
from spinney.params import MetricRow

Floats = NDArray[np.float64]


def by_class(row: MetricRow, outcome: Outcome, labels: Labels, parameters: Floats) -> float:
    """A metric that follows from the weights of the classes."""
    outputs, rows = outcome.raw.shape
    classes, blocks = max(outputs, 2), -(-rows // BLOCK)
    sums = np.empty((blocks, SUMS, classes))
    job = class_sums.bind(scaled(labels).arrays(), outputs, classes, blocks, outcome.raw, sums)
    outcome.team.run(job)
    found, own, taken = sums.sum(axis=0)
    return float(_FORMULAS[row.name](found, own, taken, outputs))


def _accuracy(found: Floats, own: Floats, taken: Floats, outputs: int) -> float:
    return float(found.sum() / own.sum())


def _balanced_accuracy(found: Floats, own: Floats, taken: Floats, outputs: int) -> float:
    present = own > 0
    return float(np.mean(found[present] / own[present]))


def _f1_macro(found: Floats, own: Floats, taken: Floats, outputs: int) -> float:
    """The mean over classes that have rows or were taken for one, as in scikit-learn."""
    present = own + taken > 0
    return float(np.mean(2 * found[present] / (own + taken)[present]))


def _f1(found: Floats, own: Floats, taken: Floats, outputs: int) -> float:
    if outputs > 1:
        return _f1_macro(found, own, taken, outputs)
    both = own[1] + taken[1]
    return float(2 * found[1] / both) if both > 0 else 0.0


_FORMULAS: Mapping[str, Callable[[Floats, Floats, Floats, int], float]] = {
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "f1": _f1,
    "f1_macro": _f1_macro,
}
