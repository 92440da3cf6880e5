"""The metrics by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.metrics.areas import area
from spinney.metrics.by_class import by_class
from spinney.metrics.by_output import Form, by_output
from spinney.metrics.by_query import by_query
from spinney.metrics.checks import check
from spinney.metrics.mean import explained, mean, root_mean
from spinney.metrics.outcome import Outcome
from spinney.metrics.survival import OF_TIMES, check_times, of_times
from spinney.params import (
    Config,
    MetricRow,
    gains_of,
    is_by_output,
    metric_row,
    objective_row,
    values_by_output,
)
from spinney.params.metric_names import at_places, name_and_place
from spinney.params.ranking import DEEPEST

# By form: what computes a metric.
_FORMS: Mapping[str, Form] = {
    "mean": mean,
    "root_mean": root_mean,
    "explained": explained,
    "by_class": by_class,
    "area": area,
    "by_query": by_query,
}


class Judgement(NamedTuple):
    """What a metric says."""

    name: str
    value: float
    higher_is_better: bool


def _no_check(labels: Labels) -> None:
    """Whatever the objective takes has this metric."""


@dataclass(frozen=True)
class Metric:
    """A metric: call it with an outcome and labels.

    `check` refuses labels that have no such metric, whatever the scores.
    """

    name: str
    higher_is_better: bool
    function: Callable[[Outcome, Labels], float]
    check: Callable[[Labels], None] = _no_check

    def __call__(self, outcome: Outcome, labels: Labels) -> float:
        """Compute the metric."""
        return self.function(outcome, labels)

    def judge(self, outcome: Outcome, labels: Labels) -> Judgement:
        """Compute it, and say what it is."""
        return Judgement(self.name, self(outcome, labels), self.higher_is_better)


def get(name: str, config: Config) -> Metric:
    """The metric of a name of any spelling, for the objective and with the parameters of a configuration.

    Examples
    --------
    >>> get("auc", Config(objective="log_loss")).higher_is_better
    True
    """
    row = metric_row(name, config.objective, config.num_class)
    asked = replace(row, name=name)  # as messages call it
    if row.form in OF_TIMES:
        return Metric(
            name, row.higher_is_better, partial(of_times, row, config), partial(check_times, asked, config)
        )

    def compute(outcome: Outcome, labels: Labels) -> float:
        form, parameters = _FORMS[row.form], _parameters(name, row, config)
        if is_by_output(config):
            return by_output(form, row, outcome, labels, parameters)
        return form(row, outcome, labels, parameters[0])

    return Metric(name, row.higher_is_better, compute, partial(check, asked, config))


def _parameters(name: str, row: MetricRow, config: Config) -> NDArray[np.float64]:
    """What a metric's form takes, outputs × values.

    It is its parameters; of ranking the place down to which lists are judged, and the gains.
    """
    if row.form == "by_query":
        _, place = name_and_place(name)
        return np.array([[place or DEEPEST, *gains_of(config.label_gain)]])
    # A parameter that is None reaches the formula as NaN.
    return np.array(values_by_output(config, row.parameters), np.float64)


def metrics_of(config: Config) -> list[Metric]:
    """The metrics that a configuration asks for, else the objective's own.

    Examples
    --------
    >>> [metric.name for metric in metrics_of(Config(objective="log_loss"))]
    ['logloss']
    """
    names = config.eval_metric or at_places(objective_row(config.objective).metric, config.eval_at)
    return [get(name, config) for name in names if name != "none"]
