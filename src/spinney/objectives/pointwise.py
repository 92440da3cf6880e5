"""Losses of one score: a formula for one row, in the frame that all of them share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.jit import Bound, room
from spinney.jit.team import run_alone
from spinney.objectives import starts
from spinney.objectives.base import Objective, kernel_of
from spinney.objectives.gradients import gradients_room
from spinney.objectives.kernels.quantile_leaves import Selection, renew_by_quantile
from spinney.objectives.kernels.records import Gradients, LeafRows


class Pointwise(Objective):
    """A loss that is a sum over rows of a function of one score."""

    def base_score(self, labels: Labels) -> NDArray[np.float64]:
        """The constant with the least loss."""
        return np.array([self._start(labels)])

    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """The formula for every row."""
        values = self.parameters()
        return kernel_of(self.row.name, "gradients").bind(labels.arrays(), len(values), values, gradients)

    def renew(
        self,
        labels: Labels,
        threads: int,
        by_leaf: LeafRows,
        gradients: Gradients,
        steps: NDArray[np.float64],
    ) -> Bound:
        """A job that finds quantiles of what is left of the target, or searches."""
        if self.row.leaf_values != "quantile":
            return super().renew(labels, threads, by_leaf, gradients, steps)
        selection = room(Selection, threads=threads, by_leaf=by_leaf)
        job: Bound = renew_by_quantile.bind(by_leaf, gradients, labels.target, self._level, selection, steps)
        return job

    @property
    def _level(self) -> float:
        """Which quantile has the least loss."""
        return self.config.quantile_alpha if "quantile_alpha" in self.row.parameters else 0.5

    def _start(self, labels: Labels) -> float:
        name = self.row.name
        if self.row.start == "quantile":
            return starts.quantile(starts.by_size(labels) if name == "mape" else labels, self._level)
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
