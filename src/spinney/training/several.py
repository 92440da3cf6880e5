"""What targets of several columns change of a training: its parameters, and the weights of its rows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spinney.binning.dataset import Dataset
from spinney.data import Labels
from spinney.data.labels import by_column
from spinney.errors import ParameterError
from spinney.params import Config, takes_targets


def with_targets(config: Config, told: bool, dataset: Dataset) -> Config:
    """The configuration with the number of the data set's targets, where the objective takes several and nobody was told it."""
    if told or config.num_target > 1 or dataset.target is None or not takes_targets(config.objective):
        return config
    return replace(config, num_target=dataset.labels().targets)


def scaled_weights(labels: Labels, config: Config, unit: float | None = None) -> tuple[Labels, float]:
    """Labels with weights divided by a power of two so that the largest is about 1, and that power; or by a power that is known.

    With `scale_pos_weight` every column of the target has weights of its own. Gradients are kept as float32; dividing changes no
    bit of them but keeps huge and tiny weights in range.
    """
    weight = labels.weight
    if config.scale_pos_weight != 1.0:
        with np.errstate(over="ignore", under="ignore"):
            positive = np.where(labels.target > 0.5, config.scale_pos_weight, 1.0)
            weight = by_column((positive.T * (1.0 if weight is None else weight)).T)
        if unit is None and not 0.0 < weight.max() < math.inf:
            raise ParameterError(
                f"scale_pos_weight={config.scale_pos_weight:g} times the weights of the rows is 0 or infinite; bring both "
                "nearer to 1"
            )
    if weight is None:
        return labels, 1.0
    if unit is None:
        unit = float(np.ldexp(1.0, int(np.frexp(weight.max())[1]) - 1))
    return replace(labels, weight=weight / unit), unit


def eligible_rows(labels: Labels, subsample: float) -> NDArray[np.int32] | None:
    """Rows that trees may see, None for all: a row of weight 0 is as good as absent."""
    if labels.weight is not None and not labels.weight.all():
        return labels.weighing()
    return np.arange(labels.rows, dtype=np.int32) if subsample < 1 else None
