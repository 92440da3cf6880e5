"""Built-in metrics by form: means of losses, metrics of classes, areas under curves, means over queries.

A form computes one number from the declaration of a metric, predictions, labels and parameters. Formulas are in `kernels/`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.data.queries import gains_for
from spinney.jit import allocate
from spinney.jit.kernel import kernel_of
from spinney.jit.team import Team
from spinney.metrics.kernels.classes import SUMS, class_sums
from spinney.metrics.kernels.curves import AREAS, curve_areas, pair_areas
from spinney.metrics.kernels.pointwise import LOSS_BLOCK, LossBuffer
from spinney.metrics.predictions import Predictions, scaled, sorted_rows
from spinney.params import MetricInfo

Floats = NDArray[np.float64]


def mean(info: MetricInfo, predictions: Predictions, labels: Labels, parameters: Floats) -> float:
    """Weighted mean of the losses of rows."""
    values = {"prediction": "values", "class": "raw"}.get(info.looks_at, "scores")
    return mean_loss(
        info.formula or info.name, getattr(predictions, values), labels, parameters, predictions.team
    )


def root_mean(info: MetricInfo, predictions: Predictions, labels: Labels, parameters: Floats) -> float:
    """Root of that mean."""
    return math.sqrt(mean(info, predictions, labels, parameters))


def explained(info: MetricInfo, predictions: Predictions, labels: Labels, parameters: Floats) -> float:
    """1 - mean loss / mean loss of the target's mean; of a constant target 1 where there is no loss, else 0."""
    loss = mean(info, predictions, labels, parameters)
    labels = scaled(labels)
    weight = np.ones(labels.rows) if labels.weight is None else labels.weight
    average = math.fsum(labels.target * weight) / math.fsum(weight)
    variance = mean_loss(
        info.formula, np.full((1, labels.rows), average), labels, parameters, predictions.team
    )
    if variance == 0.0:
        return 1.0 if loss == 0.0 else 0.0
    return 1.0 - loss / variance


def mean_loss(formula: str, values: Floats, labels: Labels, parameters: Floats, team: Team) -> float:
    """Weighted mean of the losses of a formula; values are outputs × rows."""
    outputs, rows = values.shape
    sums, buffer = np.empty(-(-rows // LOSS_BLOCK)), allocate(LossBuffer, threads=team.size)
    labels = scaled(labels)
    job = kernel_of(formula, "losses").bind(
        labels.arrays(), outputs, len(parameters), parameters, len(sums), values, buffer, sums
    )
    team.run(job)
    total = float(rows) if labels.weight is None else math.fsum(labels.weight)
    return math.fsum(sums) / total


def by_class(info: MetricInfo, predictions: Predictions, labels: Labels, parameters: Floats) -> float:
    """A metric that is computed from sums of weights by class."""
    outputs, rows = predictions.raw.shape
    classes, blocks = max(outputs, 2), -(-rows // LOSS_BLOCK)
    sums = np.empty((blocks, SUMS, classes))
    job = class_sums.bind(scaled(labels).arrays(), outputs, classes, blocks, predictions.raw, sums)
    predictions.team.run(job)
    correct, actual, predicted = sums.sum(axis=0)
    return float(_FORMULAS[info.name](correct, actual, predicted, outputs))


def _accuracy(correct: Floats, actual: Floats, predicted: Floats, outputs: int) -> float:
    return float(correct.sum() / actual.sum())


def _balanced_accuracy(correct: Floats, actual: Floats, predicted: Floats, outputs: int) -> float:
    present = actual > 0
    return float(np.mean(correct[present] / actual[present]))


def _f1_macro(correct: Floats, actual: Floats, predicted: Floats, outputs: int) -> float:
    """The mean over classes that have rows or were predicted for one, as in scikit-learn."""
    present = actual + predicted > 0
    return float(np.mean(2 * correct[present] / (actual + predicted)[present]))


def _f1(correct: Floats, actual: Floats, predicted: Floats, outputs: int) -> float:
    if outputs > 1:
        return _f1_macro(correct, actual, predicted, outputs)
    both = actual[1] + predicted[1]
    return float(2 * correct[1] / both) if both > 0 else 0.0


_FORMULAS: Mapping[str, Callable[[Floats, Floats, Floats, int], float]] = {
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "f1": _f1,
    "f1_macro": _f1_macro,
}


def area(info: MetricInfo, predictions: Predictions, labels: Labels, parameters: Floats) -> float:
    """Area under a curve of scores, of two classes; of many, the mean of areas by probabilities. NaN where a class is absent."""
    labels = scaled(labels)
    if info.name == "auc_ovo":
        return _one_vs_one(predictions, labels)
    which = 1 if info.name == "average_precision" else 0
    if predictions.outputs == 1:
        return float(_areas(predictions.order, labels, 1)[which])
    by_class = (
        _areas(sorted_rows(predictions.values[k], predictions.team), labels, k)[which]
        for k in range(predictions.outputs)
    )
    return float(np.mean(list(by_class)))


def _areas(order: tuple[NDArray[np.int64], NDArray[np.int32]], labels: Labels, label: int) -> Floats:
    """Areas of a class: under the ROC curve, and under precision by recall."""
    areas = np.empty(AREAS)
    curve_areas(labels.arrays(), float(label), *order, areas)
    roc, precision, positives, negatives = areas
    if positives <= 0.0 or negatives <= 0.0:
        return np.full(2, np.nan)
    return np.array([roc / (positives * negatives), precision / positives])


def _one_vs_one(predictions: Predictions, labels: Labels) -> float:
    """Mean of the areas of every class against every other one."""
    classes = predictions.outputs
    areas, weights = np.empty((classes, classes)), np.empty(classes)
    for k in range(classes):
        keys, order = sorted_rows(predictions.values[k], predictions.team)
        pair_areas(labels.arrays(), k, classes, keys, order, weights, np.empty(classes), areas[k])
    if weights.min() <= 0.0:
        return float("nan")
    scaled_areas: Floats = areas / weights[:, None] / weights
    return float(scaled_areas[~np.eye(classes, dtype=bool)].mean())


def by_query(info: MetricInfo, predictions: Predictions, labels: Labels, parameters: Floats) -> float:
    """Mean over queries; the weight of a query is the mean weight of its rows.

    `parameters` are the last position that counts, then the gains by relevance.
    """
    lists, ranked = predictions.ranked(labels)
    depth, *gains = parameters.tolist()
    values = np.empty(lists.queries)
    table = gains_for(lists, gains, int(depth), predictions.team.size)
    predictions.team.run(kernel_of(info.name, "values").bind(labels.arrays(), lists, ranked, table, values))
    weight = _query_weights(scaled(labels), values)
    return math.fsum(values * weight) / math.fsum(weight)


def _query_weights(labels: Labels, values: Floats) -> Floats:
    """Mean weight of each query's rows."""
    if labels.weight is None:
        return np.ones(len(values))
    queries = np.zeros(labels.rows, np.int64) if labels.queries is None else labels.queries
    return np.bincount(queries, labels.weight) / np.bincount(queries)
