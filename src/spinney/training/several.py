"""What targets of several columns change of a training: its parameters, and the weights of its rows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.data import Labels
from spinney.data.labels import by_column
from spinney.errors import ParameterError
from spinney.params import Config, objective_info, takes_targets


def with_targets(config: Config, told: bool, data: BinnedData) -> Config:
    """The configuration with the number of the data set's targets, where the objective takes several and nobody was told it."""
    if told or config.num_target > 1 or not data.labels.has_target or not takes_targets(config.objective):
        return config
    return config.having(num_target=data.labels.targets)


def scaled_weights(labels: Labels, config: Config, divisor: float | None = None) -> tuple[Labels, float]:
    """Labels with weights divided so that gradients, which are float32, stay in range; and the divisor, which may be known.

    It is a power of two with which the largest weight is about 1, which changes no bit of gradients; or the mean weight, where
    only ratios of weights count. With `scale_pos_weight` every column of the target has weights of its own.
    """
    weight = labels.weight
    if config.scale_pos_weight != 1.0:
        with np.errstate(over="ignore", under="ignore"):
            positive = np.where(labels.target > 0.5, config.scale_pos_weight, 1.0)
            weight = by_column((positive.T * (1.0 if weight is None else weight)).T)
        if divisor is None and not 0.0 < weight.max() < math.inf:
            raise ParameterError(
                f"scale_pos_weight={config.scale_pos_weight:g} times the weights of the rows is 0 or infinite; bring both "
                "nearer to 1"
            )
    if weight is None:
        return labels, 1.0
    if divisor is None:
        divisor = float(np.ldexp(1.0, int(np.frexp(weight.max())[1]) - 1))
        if _only_ratios(config):
            divisor *= _mean(weight / divisor)
    return replace(labels, weight=weight / divisor), divisor


def unit_of(config: Config, divisor: float) -> float:
    """What penalties are divided by where weights were divided: by as much, or by nothing where only ratios of weights count."""
    return 1.0 if _only_ratios(config) else divisor


def _only_ratios(config: Config) -> bool:
    return objective_info(config.objective).weights == "ratios"


def _mean(weight: NDArray[np.float64]) -> float:
    """Mean of the weights above 0; rounding does not take it beyond the least and the largest.

    Examples
    --------
    >>> _mean(np.full(49, 0.1)) == 0.1
    True
    """
    counted = weight[weight > 0.0]
    return float(min(max(math.fsum(counted) / counted.size, counted.min()), counted.max()))


def eligible_rows(labels: Labels, subsample: float) -> NDArray[np.int32] | None:
    """Rows that trees may see, None for all: a row of weight 0 is as good as absent."""
    if labels.weight is not None and not labels.weight.all():
        return labels.weighted_rows()
    return np.arange(labels.rows, dtype=np.int32) if subsample < 1 else None
