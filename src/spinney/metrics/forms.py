"""Predictions of some rows, and the built-in metrics that are computed from them, by form.

`Predictions` are computed from raw scores during training and evaluation; `GivenPredictions` are for predictions whose raw
scores are unknown. Both compute each form when a metric first uses it.

A form of metrics (means of losses, metrics of classes, areas under curves, means over queries) computes one number from the
declaration of a metric, predictions, labels and parameters. Formulas are in `kernels/`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.data.kernels.queries import Lists
from spinney.data.queries import gains_for, lists_of
from spinney.jit import allocate
from spinney.jit.kernel import kernel_of
from spinney.jit.team import Team
from spinney.metrics.kernels.classes import SUMS, class_sums
from spinney.metrics.kernels.curves import (
    AREAS,
    DigitCounts,
    SortedScores,
    curve_areas,
    pair_areas,
    sort_scores,
)
from spinney.metrics.kernels.pointwise import LOSS_BLOCK, LossBuffer
from spinney.metrics.kernels.predictions import (
    class_probabilities_of,
    exponentials_of,
    log_probabilities_of,
    probabilities_of,
)
from spinney.metrics.kernels.rankings import rank_lists
from spinney.params import MetricInfo

Floats = NDArray[np.float64]
STEP = float(np.finfo(np.float64).eps)


class Predictions:
    """Raw scores of rows, and their predictions and order.

    Parameters
    ----------
    scores : float64[outputs, rows]
        Raw scores.
    link : str
        The function that makes predictions of them: `link_of` the configuration.
    team : Team
        Threads to compute with; no result depends on their number.

    Examples
    --------
    >>> Predictions(np.array([[0.0, 40.0]]), "logistic", Team(1)).values.tolist()
    [[0.5, 1.0]]
    """

    def __init__(self, scores: Floats, link: str, team: Team) -> None:
        self.raw, self.team = scores, team
        self._link = link
        self._ranked: tuple[Labels, Lists, NDArray[np.int32]] | None = None

    @property
    def outputs(self) -> int:
        """Scores per row."""
        return len(self.raw)

    @cached_property
    def scores(self) -> Floats:
        """Scores whose probabilities are their logistic function or, of many classes, their softmax."""
        if self._link != "one_vs_rest":
            return self.raw
        logs = np.empty_like(self.raw)
        self.team.run(log_probabilities_of.bind(logs.size, self.raw, logs))
        return logs

    @cached_property
    def values(self) -> Floats:
        """Predictions, outputs × rows: numbers, the probability of the second of two classes, or those of all."""
        outputs, rows = self.raw.shape
        if self._link == "identity":
            return self.raw
        if self._link == "sorted":
            return np.sort(self.raw, axis=0)
        result = np.empty_like(self.raw)
        if self._link in ("softmax", "one_vs_rest"):
            self.team.run(class_probabilities_of.bind(rows, outputs, self.scores, result))
        else:
            link = {"logistic": probabilities_of, "exp": exponentials_of}[self._link]
            self.team.run(link.bind(self.raw.size, self.raw, result))
        return result

    def output(self, number: int) -> Predictions:
        """One of several outputs, each of which is a prediction of its own."""
        if self._link == "sorted":
            return Predictions(self.values[number : number + 1], "identity", self.team)
        return Predictions(self.raw[number : number + 1], self._link, self.team)

    @cached_property
    def order(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Keys of the scores of the one output, ascending, and their rows."""
        return sorted_rows(self.raw[0], self.team)

    def ranked(self, labels: Labels) -> tuple[Lists, NDArray[np.int32]]:
        """Rows by query, and the same sorted by score within each query, the largest first."""
        if self._ranked is None or self._ranked[0] is not labels:
            lists = lists_of(labels, self.team.size)
            rows = np.empty(labels.rows, np.int32)
            self.team.run(rank_lists.bind(lists, self.raw[0], rows))
            self._ranked = (labels, lists, rows)
        return self._ranked[1:]


class GivenPredictions(Predictions):
    """Predictions whose raw scores are unknown.

    Parameters
    ----------
    predictions : float64[values, rows]
        Numbers, one value a row; or probabilities: of the second of two classes alone, or of all classes.
    kind : {"numbers", "positive", "two", "many"}
        The kind of these.
    team : Team
        Threads to compute with; no result depends on their number.

    Examples
    --------
    >>> given = GivenPredictions(np.array([[0.5, 0.0]]), "two", Team(1))
    >>> given.values.tolist(), given.scores.round(1).tolist()
    ([[0.5, 0.0]], [[0.0, -36.0]])
    """

    def __init__(self, predictions: Floats, kind: str, team: Team) -> None:
        self._kind = kind
        scores = predictions
        if kind == "two":
            # The sign of the raw score decides the class; of equal probabilities it is the first.
            second = predictions[-1:]
            first = predictions[:1] if len(predictions) == 2 else 1.0 - second
            predictions, scores = second, second - first
        super().__init__(scores, "identity", team)
        self._given = np.ascontiguousarray(predictions)

    @cached_property
    def scores(self) -> Floats:
        """Log-odds of two classes, or logarithms of probabilities; these are clipped to the precision of a float."""
        if self._kind not in ("two", "many"):
            return self.raw
        clipped = np.clip(self._given, STEP, 1.0 - STEP)
        return np.log(clipped) - np.log1p(-clipped) if self._kind == "two" else np.log(clipped)

    @cached_property
    def values(self) -> Floats:
        """The predictions, as they were given."""
        return self._given

    @cached_property
    def order(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Keys of the predictions, ascending, and their rows."""
        return sorted_rows(self._given[0], self.team)


def sorted_rows(scores: Floats, team: Team) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Integer keys of scores, of the same order and equality, ascending, and their rows."""
    rows = len(scores)
    data, digits = allocate(SortedScores, rows=rows), allocate(DigitCounts, threads=team.size)
    team.run(sort_scores.bind(np.ascontiguousarray(scores), data, digits))
    begin = int(data.start[0])
    return data.keys[begin : begin + rows], data.order[begin : begin + rows]


def scaled(labels: Labels) -> Labels:
    """Labels with weights divided by a power of two, which changes no bit, so that the largest is about 1.

    Weight times loss then stays finite, and so do products of two sums of weights.
    """
    if labels.weight is None:
        return labels
    largest = int(np.frexp(labels.weight.max())[1])
    return replace(labels, weight=np.ldexp(labels.weight, -largest))


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
