"""The metrics by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.jit.team import Team
from spinney.metrics.auc import area, check_classes
from spinney.metrics.mean import mean_loss, root_mean_loss
from spinney.params import Config, metric_row, metrics_for

Function = Callable[[NDArray[np.float64], Labels, Team], float]
Check = Callable[[Labels], None]


def _no_check(labels: Labels) -> None:
    """Whatever the objective takes has this metric."""


# By form: what computes a metric of some name, and what refuses labels.
_FORMS: Mapping[str, tuple[Callable[[str, NDArray[np.float64], Labels, Team], float], Check]] = {
    "mean": (mean_loss, _no_check),
    "root_mean": (root_mean_loss, _no_check),
    "area": (area, check_classes),
}


@dataclass(frozen=True)
class Metric:
    """A metric: call it with raw scores (outputs × rows), labels and the team to compute with.

    `check` refuses labels that have no such metric, whatever the scores.
    """

    name: str
    higher_is_better: bool
    function: Function
    check: Check = _no_check

    def __call__(self, scores: NDArray[np.float64], labels: Labels, team: Team) -> float:
        """Compute the metric."""
        return self.function(scores, labels, team)


def get(name: str) -> Metric:
    """The metric of a canonical name.

    Examples
    --------
    >>> get("auc").higher_is_better
    True
    """
    row = metric_row(name)
    function, check = _FORMS[row.form]
    return Metric(name, row.higher_is_better, partial(function, name), check)


def metrics_of(config: Config) -> list[Metric]:
    """The metrics that a configuration asks for, else the objective's own.

    Examples
    --------
    >>> [metric.name for metric in metrics_of(Config(objective="log_loss"))]
    ['logloss']
    """
    return [get(name) for name in config.eval_metric or metrics_for(config.objective)[:1]]
