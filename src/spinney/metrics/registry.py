"""The interface of metrics, the built-in metrics by name, and the checks of the labels that each needs.

`metrics_of` makes the metrics of a configuration, `get` one of them. A metric of a model with several outputs, each of which is a
prediction of its own (of a column of the target, or of a level), is the mean over outputs.

A metric of a new form is a function that `_FORMS` lists.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels, named_column
from spinney.errors import DataError
from spinney.metrics.forms import Predictions, area, by_class, by_query, explained, mean, root_mean, scaled
from spinney.metrics.survival import SURVIVAL_FORMS, check_survival, survival_metric
from spinney.params import (
    Config,
    MetricInfo,
    gains_of,
    is_by_output,
    kind_of,
    metric_info,
    objective_info,
    values_by_output,
)
from spinney.params.metrics import LAST_CUTOFF, at_cutoffs, name_and_cutoff
from spinney.params.objectives import OWN

Floats = NDArray[np.float64]
Form = Callable[[MetricInfo, Predictions, Labels, Floats], float]

# What computes the metrics of each form, but for those of survival times.
_FORMS: Mapping[str, Form] = {
    "mean": mean,
    "root_mean": root_mean,
    "explained": explained,
    "by_class": by_class,
    "area": area,
    "by_query": by_query,
}


class MetricValue(NamedTuple):
    """The value of a metric."""

    name: str
    value: float
    higher_is_better: bool


class Metric(ABC):
    """A metric, built-in or custom."""

    @abstractmethod
    def check(self, labels: Labels) -> None:
        """Raise `DataError` where labels have no such metric, whatever the predictions."""

    @abstractmethod
    def compute(self, predictions: Predictions, labels: Labels) -> MetricValue:
        """The value for some rows."""


@dataclass(frozen=True)
class BuiltInMetric(Metric):
    """A metric of the package.

    Attributes
    ----------
    name : str
        As the user spelled it, with a cutoff where it has one.
    info : MetricInfo
        Its declaration.
    config : Config
        The objective, and the parameters of the formula.
    """

    name: str
    info: MetricInfo
    config: Config

    @property
    def higher_is_better(self) -> bool:
        """Whether higher values are better."""
        return self.info.higher_is_better

    def check(self, labels: Labels) -> None:
        """Raise `DataError` where labels have no such metric, whatever the predictions."""
        named = replace(self.info, name=self.name)  # as messages show it
        check = check_survival if self.info.form in SURVIVAL_FORMS else check_labels
        check(named, self.config, labels)

    def compute(self, predictions: Predictions, labels: Labels) -> MetricValue:
        """The value for some rows."""
        return MetricValue(self.name, self._value(predictions, labels), self.higher_is_better)

    def _value(self, predictions: Predictions, labels: Labels) -> float:
        info, config = self.info, self.config
        if info.form in SURVIVAL_FORMS:
            return survival_metric(info, config, predictions, labels)
        form, parameters = _FORMS[info.form], self._parameters()
        if is_by_output(config):
            return mean_over_outputs(form, info, predictions, labels, parameters)
        return form(info, predictions, labels, parameters[0])

    def _parameters(self) -> Floats:
        """Parameters of the form, outputs × values; of ranking the cutoff, then the gains."""
        if self.info.form == "by_query":
            _, cutoff = name_and_cutoff(self.name)
            return np.array([[cutoff or LAST_CUTOFF, *gains_of(self.config.label_gain)]])
        # A parameter that is None is NaN in the formula.
        return np.array(values_by_output(self.config, self.info.parameters), np.float64)


def mean_over_outputs(
    form: Form, info: MetricInfo, predictions: Predictions, labels: Labels, parameters: Floats
) -> float:
    """The mean of a metric over outputs; of a root, the root of the mean of the squares.

    So a mean of losses is the mean over rows and outputs, as every output has the same rows and weights. `parameters` has a row
    for each output.
    """
    within = mean if form is root_mean else form
    found = float(
        np.mean(
            [
                within(info, predictions.output(k), labels.column(k), values)
                for k, values in enumerate(parameters)
            ]
        )
    )
    return math.sqrt(found) if form is root_mean else found


def get(name: str, config: Config) -> BuiltInMetric:
    """The metric of a name in any spelling, for the objective and with the parameters of a configuration.

    Examples
    --------
    >>> get("auc", Config(objective="log_loss")).higher_is_better
    True
    """
    return BuiltInMetric(name, metric_info(name, config.objective, config.num_class), config)


def metrics_of(config: Config) -> list[BuiltInMetric]:
    """The metrics that a configuration names, else that of the objective.

    Examples
    --------
    >>> [metric.name for metric in metrics_of(Config(objective="log_loss"))]
    ['logloss']
    """
    names = config.eval_metric or at_cutoffs(objective_info(config.objective).metric, config.eval_at)
    return [get(name, config) for name in names if name != "none"]


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
