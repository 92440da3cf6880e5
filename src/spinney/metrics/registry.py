"""The interface of metrics, and the built-in metrics by name.

`metrics_of` makes the metrics of a configuration, `get` one of them. A metric of a model with several outputs, each of which is a
prediction of its own (of a column of the target, or of a level), is the mean over outputs.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.metrics.checks import check_labels
from spinney.metrics.forms import area, by_class, by_query, explained, mean, root_mean
from spinney.metrics.predictions import Predictions
from spinney.metrics.survival import SURVIVAL_FORMS, check_survival, survival_metric
from spinney.params import (
    Config,
    MetricInfo,
    gains_of,
    is_by_output,
    metric_info,
    objective_info,
    values_by_output,
)
from spinney.params.metrics import LAST_CUTOFF, at_cutoffs, name_and_cutoff

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
