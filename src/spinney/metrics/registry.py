"""The metrics by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spinney.errors import ParameterError
from spinney.jit.team import Team
from spinney.metrics import kernels
from spinney.metrics.auc import auc, check_classes
from spinney.params import Config, metrics_for

Weight = NDArray[np.float64] | None
Function = Callable[[NDArray[np.float64], NDArray[np.float64], Weight, Team], float]
Check = Callable[[NDArray[np.float64], Weight], None]


def _no_check(target: NDArray[np.float64], weight: Weight) -> None:
    """Whatever the objective takes has this metric."""


@dataclass(frozen=True)
class Metric:
    """A metric: call it with raw scores (outputs × rows), target, weights and the team to compute with.

    `check` refuses target and weights that have no such metric, whatever the scores.
    """

    name: str
    higher_is_better: bool
    function: Function
    check: Check = _no_check

    def __call__(
        self, scores: NDArray[np.float64], target: NDArray[np.float64], weight: Weight, team: Team
    ) -> float:
        """Compute the metric."""
        return self.function(scores, target, weight, team)


def _mean_loss(
    kind: int, scores: NDArray[np.float64], target: NDArray[np.float64], weight: Weight, team: Team
) -> float:
    outputs, rows = scores.shape
    sums = np.empty(-(-rows // kernels.BLOCK))
    if weight is not None:
        # By a power of two, which changes no bit, to a largest weight of about 1: weight times loss stays finite.
        weight = np.ldexp(weight, -int(np.frexp(weight.max())[1]))
    given = np.empty(0) if weight is None else weight
    team.run(
        kernels.sum_losses.bind(
            kind, rows, outputs, len(sums), int(weight is not None), scores, target, given, sums
        )
    )
    total = float(rows) if weight is None else math.fsum(weight)
    return math.fsum(sums) / total


def _root_mean(scores: NDArray[np.float64], target: NDArray[np.float64], weight: Weight, team: Team) -> float:
    return math.sqrt(_mean_loss(kernels.RMSE, scores, target, weight, team))


def _area(scores: NDArray[np.float64], target: NDArray[np.float64], weight: Weight, team: Team) -> float:
    return auc(scores[0], target, weight)


_ALL = {
    metric.name: metric
    for metric in (
        Metric("rmse", False, _root_mean),
        Metric("mae", False, partial(_mean_loss, kernels.MAE)),
        Metric("logloss", False, partial(_mean_loss, kernels.LOGLOSS)),
        Metric("auc", True, _area, check_classes),
        Metric("error", False, partial(_mean_loss, kernels.ERROR)),
        Metric("mlogloss", False, partial(_mean_loss, kernels.MLOGLOSS)),
        Metric("merror", False, partial(_mean_loss, kernels.MERROR)),
    )
}


def get(name: str) -> Metric:
    """The metric of a canonical name.

    Examples
    --------
    >>> get("auc").higher_is_better
    True
    """
    try:
        return _ALL[name]
    except KeyError:
        raise ParameterError(f"eval_metric = {name!r} is unknown; there are {', '.join(_ALL)}") from None


def metrics_of(config: Config) -> list[Metric]:
    """The metrics that a configuration asks for, else the objective's own.

    Examples
    --------
    >>> [metric.name for metric in metrics_of(Config(objective="log_loss"))]
    ['logloss']
    """
    return [get(name) for name in config.eval_metric or metrics_for(config.objective)[:1]]
