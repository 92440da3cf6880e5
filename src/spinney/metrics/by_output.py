"""Metrics of several outputs, each a prediction of its own: of a column of the target, or of a level."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.metrics.mean import mean, root_mean
from spinney.metrics.outcome import Outcome
from spinney.params import MetricRow

Floats = NDArray[np.float64]
Form = Callable[[MetricRow, Outcome, Labels, Floats], float]


def by_output(form: Form, row: MetricRow, outcome: Outcome, labels: Labels, table: Floats) -> float:
    """The mean of a metric over outputs; of a root, the root of the mean of what is under it.

    Means of losses are so the mean over all cells: every output has the same rows and weights. `table` has the metric's
    parameters, a row for each output.
    """
    within = mean if form is root_mean else form
    found = float(
        np.mean([within(row, outcome.output(k), labels.column(k), values) for k, values in enumerate(table)])
    )
    return math.sqrt(found) if form is root_mean else found
