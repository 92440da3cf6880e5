"""Means of losses."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.jit.kernel import REGISTRY, Kernel
from spinney.jit.team import Team
from spinney.metrics.kernels.frames import BLOCK


def mean_loss(name: str, scores: NDArray[np.float64], labels: Labels, team: Team) -> float:
    """Weighted mean of the losses that a metric's formula gives."""
    outputs, rows = scores.shape
    sums = np.empty(-(-rows // BLOCK))
    if labels.weight is not None:
        # By a power of two, which changes no bit, to a largest weight of about 1: weight times loss stays finite.
        largest = int(np.frexp(labels.weight.max())[1])
        labels = replace(labels, weight=np.ldexp(labels.weight, -largest))
    team.run(_kernel(name).bind(labels.arrays(), outputs, len(sums), scores, sums))
    total = float(rows) if labels.weight is None else math.fsum(labels.weight)
    return math.fsum(sums) / total


def root_mean_loss(name: str, scores: NDArray[np.float64], labels: Labels, team: Team) -> float:
    """Root of the mean."""
    return math.sqrt(mean_loss(name, scores, labels, team))


def _kernel(name: str) -> Kernel:
    """The kernel of a metric; the package's stand in modules of their name."""
    if f"{name}_losses" not in REGISTRY:
        import_module(f"spinney.metrics.kernels.{name}")
    return REGISTRY[f"{name}_losses"]
