"""Areas under the ROC curve and under precision by recall."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.metrics.kernels.curves import AREAS, curve_areas, pair_areas
from spinney.metrics.outcome import Outcome, scaled, sorted_rows
from spinney.params import MetricRow

Floats = NDArray[np.float64]


def area(row: MetricRow, outcome: Outcome, labels: Labels, parameters: Floats) -> float:
    """An area of two classes by scores; of many, the mean of the areas that probabilities give. NaN where a class is absent."""
    labels = scaled(labels)
    if row.name == "auc_ovo":
        return _against_each_other(outcome, labels)
    which = 1 if row.name == "average_precision" else 0
    if outcome.outputs == 1:
        return float(_areas(outcome.order, labels, 1)[which])
    by_class = (
        _areas(sorted_rows(outcome.predictions[k], outcome.team), labels, k)[which]
        for k in range(outcome.outputs)
    )
    return float(np.mean(list(by_class)))


def _areas(order: tuple[NDArray[np.int64], NDArray[np.int32]], labels: Labels, label: int) -> Floats:
    """Areas of a class: under the ROC curve, and under precision by recall."""
    areas = np.empty(AREAS)
    curve_areas(labels.arrays(), float(label), *order, areas)
    roc, precision, own, other = areas
    if own <= 0.0 or other <= 0.0:
        return np.full(2, np.nan)
    return np.array([roc / (own * other), precision / own])


def _against_each_other(outcome: Outcome, labels: Labels) -> float:
    """Mean of the areas of every class against every other one."""
    classes = outcome.outputs
    areas, mass = np.empty((classes, classes)), np.empty(classes)
    for k in range(classes):
        keys, order = sorted_rows(outcome.predictions[k], outcome.team)
        pair_areas(labels.arrays(), k, classes, keys, order, mass, np.empty(classes), areas[k])
    if mass.min() <= 0.0:
        return float("nan")
    shares: Floats = areas / mass[:, None] / mass
    return float(shares[~np.eye(classes, dtype=bool)].mean())
