"""Means of losses."""

from __future__ import annotations

import math
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.jit import allocate
from spinney.jit.kernel import REGISTRY, Kernel
from spinney.jit.team import Team
from spinney.metrics.kernels.frames import BLOCK, Losses
from spinney.metrics.outcome import Outcome, scaled
from spinney.params import MetricRow

Floats = NDArray[np.float64]


def mean(row: MetricRow, outcome: Outcome, labels: Labels, parameters: Floats) -> float:
    """Weighted mean of the losses that a metric's formula gives."""
    judged = {"prediction": "predictions", "class": "raw"}.get(row.judges, "scores")
    values: Floats = getattr(outcome, judged)
    return mean_loss(row.formula or row.name, values, labels, parameters, outcome.team)


def root_mean(row: MetricRow, outcome: Outcome, labels: Labels, parameters: Floats) -> float:
    """Root of the mean."""
    return math.sqrt(mean(row, outcome, labels, parameters))


def explained(row: MetricRow, outcome: Outcome, labels: Labels, parameters: Floats) -> float:
    """1 less the mean loss as a share of that of the target's mean; of a constant target 1 where there is no loss, else 0."""
    left = mean(row, outcome, labels, parameters)
    labels = scaled(labels)
    weight = np.ones(labels.rows) if labels.weight is None else labels.weight
    middle = math.fsum(labels.target * weight) / math.fsum(weight)
    whole = mean_loss(row.formula, np.full((1, labels.rows), middle), labels, parameters, outcome.team)
    if whole == 0.0:
        return 1.0 if left == 0.0 else 0.0
    return 1.0 - left / whole


def mean_loss(formula: str, values: Floats, labels: Labels, parameters: Floats, team: Team) -> float:
    """Weighted mean of a formula's losses; values are outputs × rows."""
    outputs, rows = values.shape
    sums, room = np.empty(-(-rows // BLOCK)), allocate(Losses, threads=team.size)
    labels = scaled(labels)
    job = kernel_of(formula, "losses").bind(
        labels.arrays(), outputs, len(parameters), parameters, len(sums), values, room, sums
    )
    team.run(job)
    total = float(rows) if labels.weight is None else math.fsum(labels.weight)
    return math.fsum(sums) / total


def kernel_of(formula: str, what: str) -> Kernel:
    """A kernel of a formula; the package's stand in modules of their name."""
    if f"{formula}_{what}" not in REGISTRY:
        import_module(f"spinney.metrics.kernels.{formula}")
    return REGISTRY[f"{formula}_{what}"]
