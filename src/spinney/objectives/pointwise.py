"""Losses of one score: a formula for one row, in the frame that all of them share."""

from __future__ import annotations

from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.jit import Bound
from spinney.jit.kernel import REGISTRY, Kernel
from spinney.jit.team import run_alone
from spinney.objectives import starts
from spinney.objectives.base import Objective
from spinney.objectives.gradients import gradients_room
from spinney.objectives.kernels.records import Gradients


class Pointwise(Objective):
    """A loss that is a sum over rows of a function of one score."""

    def base_score(self, labels: Labels) -> NDArray[np.float64]:
        """The constant with the least loss."""
        return np.array([self._start(labels)])

    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """The formula for every row."""
        values = np.array([getattr(self.config, name) for name in self.row.parameters], np.float64)
        return _kernel(self.row.name).bind(labels.arrays(), len(values), values, gradients)

    def _start(self, labels: Labels) -> float:
        name = self.row.name
        if self.row.start == "quantile":
            level = self.config.quantile_alpha if name == "quantile" else 0.5
            return starts.quantile(starts.by_size(labels) if name == "mape" else labels, level)
        if self.row.start == "root":
            return starts.root(labels, self._slope(labels), name, self.row.link == "logistic")
        return starts.STARTS[self.row.start](labels, name)

    def _slope(self, labels: Labels) -> starts.Slope:
        """Sums of gradients of constant scores."""
        room = gradients_room(np.empty((1, labels.rows)))
        job = self.gradients(labels, room, 1)

        def slope(score: float) -> float:
            room.scores[:] = score
            run_alone(job)
            return starts.summed(room.pairs)

        return slope


def _kernel(name: str) -> Kernel:
    """The kernel of a loss; the package's stand in modules of their name."""
    if f"{name}_gradients" not in REGISTRY:
        import_module(f"spinney.objectives.kernels.{name}")
    return REGISTRY[f"{name}_gradients"]
