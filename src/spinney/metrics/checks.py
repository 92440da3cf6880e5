"""Checks of labels: what the target must be for a metric to have a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels, named_column
from spinney.errors import DataError
from spinney.metrics.predictions import scaled
from spinney.params import Config, MetricInfo, gains_of, is_by_output, kind_of
from spinney.params.objectives import OWN

_IN_RANGE: Mapping[str, Callable[[NDArray[np.float64]], NDArray[np.bool_]]] = {
    "above -1": lambda target: target > -1,
    "0 or more": lambda target: target >= 0,
    "above 0": lambda target: target > 0,
    "0 or 1": lambda target: (target == 0) | (target == 1),
}


def check_labels(info: MetricInfo, config: Config, labels: Labels) -> None:
    """Refuse labels that have no such metric, whatever the scores.

    Raises
    ------
    DataError
        Naming the metric and the first row that does not fit, or the class that is absent.
    """
    if not is_by_output(config):
        _check(info, config, labels)
        return
    for column in range(labels.targets):
        with named_column(labels, column):
            _check(info, config, labels.column(column))


def _check(info: MetricInfo, config: Config, labels: Labels) -> None:
    kind = kind_of(config.objective)
    # Targets of classes, which may be probabilities, have been checked by the objective.
    if info.target in _IN_RANGE and kind in ("numbers", "positive"):
        _check_range(info, labels)
    if info.looks_at == "class" and config.objective == OWN:
        _check_class_numbers(info, max(config.num_class, 2), labels)
    if info.form == "area":
        _check_classes(info, config, labels)
    if info.form == "by_query":
        _check_relevance(info, config, labels)


def _check_class_numbers(info: MetricInfo, classes: int, labels: Labels) -> None:
    """Refuse a target that is no class number; a custom objective has not checked it."""
    target = labels.target
    wrong = (target != np.floor(target)) | (target < 0) | (target >= classes)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise DataError(
            f"eval_metric={info.name!r} needs targets that are whole numbers from 0 to {classes - 1}, got "
            f"y[{at}] = {target[at]:g}; choose another metric"
        )


def _check_relevance(info: MetricInfo, config: Config, labels: Labels) -> None:
    """Refuse a target that is no relevance, or has no gain; only objectives of ranking have checked it."""
    target = labels.target
    last = len(gains_of(config.label_gain)) - 1 if "label_gain" in info.parameters else np.inf
    wrong = (target != np.floor(target)) | (target < 0) | (target > last)
    if wrong.any():
        at = int(np.argmax(wrong))
        most = f"from 0 to {last:g}, the last one in label_gain" if last < np.inf else "of 0 or more"
        raise DataError(
            f"eval_metric={info.name!r} needs relevances that are whole numbers {most}, got y[{at}] = {target[at]:g}"
        )


def _check_range(info: MetricInfo, labels: Labels) -> None:
    wrong = ~_IN_RANGE[info.target](labels.target)
    if labels.weight is not None:
        wrong &= labels.weight > 0
    if wrong.any():
        at = int(np.argmax(wrong))
        raise DataError(
            f"eval_metric={info.name!r} needs targets that are {info.target}, got y[{at}] = {labels.target[at]:g}; "
            "choose another metric"
        )


def _check_classes(info: MetricInfo, config: Config, labels: Labels) -> None:
    many = kind_of(config.objective) == "many"
    classes = config.num_class if many else 2
    codes = labels.target.astype(np.int64) if many else (labels.target > 0.5).astype(np.int64)
    weight = scaled(labels).weight
    present = np.bincount(codes if weight is None else codes[weight > 0], minlength=classes) > 0
    if present.all():
        return
    if not many:
        raise DataError(
            f"eval_metric={info.name!r} needs rows of both classes with a weight above 0, "
            f"{labels.one_class_message}; give rows of both, or another metric"
        )
    raise DataError(
        f"eval_metric={info.name!r} needs rows of all {classes} classes with a weight above 0, there are rows of "
        f"{int(present.sum())}; give rows of all, or another metric"
    )
