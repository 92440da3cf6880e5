"""What the target must be for a metric to have a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels, named_column
from spinney.errors import DataError
from spinney.metrics.outcome import scaled
from spinney.params import Config, MetricRow, is_by_output, kind_of
from spinney.params.objectives import OWN
from spinney.params.ranking import gains_of

_IN_RANGE: Mapping[str, Callable[[NDArray[np.float64]], NDArray[np.bool_]]] = {
    "above -1": lambda target: target > -1,
    "0 or more": lambda target: target >= 0,
    "above 0": lambda target: target > 0,
    "0 or 1": lambda target: (target == 0) | (target == 1),
}


def check(row: MetricRow, config: Config, labels: Labels) -> None:
    """Refuse labels that have no such metric, whatever the scores.

    Raises
    ------
    DataError
        Naming the metric and the first row that does not fit, or the class that is absent.
    """
    if not is_by_output(config):
        _check(row, config, labels)
        return
    for place in range(labels.targets):
        with named_column(labels, place):
            _check(row, config, labels.column(place))


def _check(row: MetricRow, config: Config, labels: Labels) -> None:
    kind = kind_of(config.objective)
    # The objective itself sees to the labels of classes, and probabilities are as good as those.
    if row.target in _IN_RANGE and kind in ("numbers", "positive"):
        _check_range(row, labels)
    if row.judges == "class" and config.objective == OWN:
        _check_places(row, max(config.num_class, 2), labels)
    if row.form == "area":
        _check_classes(row, config, labels)
    if row.form == "by_query":
        _check_relevance(row, config, labels)


def _check_places(row: MetricRow, classes: int, labels: Labels) -> None:
    """Refuse a target that is no class; a function as objective has not seen to it."""
    target = labels.target
    wrong = (target != np.floor(target)) | (target < 0) | (target >= classes)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise DataError(
            f"eval_metric={row.name!r} needs targets that are whole numbers from 0 to {classes - 1}, got "
            f"y[{at}] = {target[at]:g}; choose another metric"
        )


def _check_relevance(row: MetricRow, config: Config, labels: Labels) -> None:
    """Refuse a target that is no relevance, or has no gain; other objectives than those of ranking have not seen to it."""
    target = labels.target
    last = len(gains_of(config.label_gain)) - 1 if "label_gain" in row.parameters else np.inf
    wrong = (target != np.floor(target)) | (target < 0) | (target > last)
    if wrong.any():
        at = int(np.argmax(wrong))
        most = f"from 0 to {last:g}, the last one that label_gain knows" if last < np.inf else "of 0 or more"
        raise DataError(
            f"eval_metric={row.name!r} needs relevances that are whole numbers {most}, got y[{at}] = {target[at]:g}"
        )


def _check_range(row: MetricRow, labels: Labels) -> None:
    wrong = ~_IN_RANGE[row.target](labels.target)
    if labels.weight is not None:
        wrong &= labels.weight > 0
    if wrong.any():
        at = int(np.argmax(wrong))
        raise DataError(
            f"eval_metric={row.name!r} needs targets that are {row.target}, got y[{at}] = {labels.target[at]:g}; "
            "choose another metric"
        )


def _check_classes(row: MetricRow, config: Config, labels: Labels) -> None:
    many = kind_of(config.objective) == "many"
    classes = config.num_class if many else 2
    codes = labels.target.astype(np.int64) if many else (labels.target > 0.5).astype(np.int64)
    weight = scaled(labels).weight
    present = np.bincount(codes if weight is None else codes[weight > 0], minlength=classes) > 0
    if present.all():
        return
    if not many:
        raise DataError(
            f"eval_metric={row.name!r} needs rows of both classes with a weight above 0, "
            f"{labels.said_of_one_class}; give rows of both, or another metric"
        )
    raise DataError(
        f"eval_metric={row.name!r} needs rows of all {classes} classes with a weight above 0, there are rows of "
        f"{int(present.sum())}; give rows of all, or another metric"
    )
