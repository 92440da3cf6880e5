"""Losses of one score: a formula for one row, in the frame that all of them share.

With several outputs each is such a loss of its own: of another column of the target, or with other parameters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels, named_column
from spinney.jit import Bound, allocate
from spinney.jit.team import run_alone
from spinney.objectives import starts
from spinney.objectives.base import Objective, kernel_of
from spinney.objectives.gradients import gradients_room
from spinney.objectives.kernels.quantile_leaves import Buckets, Selection, renew_by_quantile
from spinney.objectives.kernels.records import Gradients, LeafRows
from spinney.params import outputs_of, values_by_output


class Pointwise(Objective):
    """A loss that is a sum over rows of a function of one score."""

    @property
    def outputs(self) -> int:
        """One for each column of the target, or for each level."""
        return outputs_of(self.config)

    @property
    def targets(self) -> int:
        """As many as the user says."""
        return self.config.num_target

    def base_score(self, labels: Labels) -> NDArray[np.float64]:
        """The constants with the least loss."""
        if self.row.start == "quantile" and labels.targets == 1:
            weighed = starts.by_size(labels) if self.row.name == "mape" else labels
            return np.array(starts.quantiles(weighed, self._levels))
        found = np.empty(self.outputs)
        for output in range(self.outputs):
            with named_column(labels, output):
                found[output] = self._start(labels.column(output), output)
        return found

    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """The formula for every row."""
        return self._gradients(labels, gradients, self.parameters())

    def _gradients(self, labels: Labels, gradients: Gradients, values: NDArray[np.float64]) -> Bound:
        return kernel_of(self.row.name, "gradients").bind(labels.arrays(), values.shape[1], values, gradients)

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
        selection, buckets = allocate(Selection, by_leaf=by_leaf), allocate(Buckets, threads=threads)
        levels = np.array(self._levels)
        job: Bound = renew_by_quantile.bind(
            by_leaf, gradients, labels.arrays(), levels, selection, buckets, steps
        )
        return job

    @property
    def _levels(self) -> list[float]:
        """Which quantile has the least loss, for each output."""
        if "quantile_alpha" not in self.row.parameters:
            return [0.5] * self.outputs
        return [level for (level,) in values_by_output(self.config, ["quantile_alpha"])]

    def _start(self, labels: Labels, output: int) -> float:
        """Where the scores of an output start; `labels` have its column of the target."""
        name = self.row.name
        if self.row.start == "quantile":
            return starts.quantile(starts.by_size(labels) if name == "mape" else labels, self._levels[output])
        if self.row.domain == "shares" and self.targets > 1:
            certain = starts.certain(labels)
            if certain is not None:
                return certain
        if self.row.start == "root":
            return starts.root(labels, self._slope(labels, output), name, self.row.link == "logistic")
        return starts.STARTS[self.row.start](labels, name)

    def _slope(self, labels: Labels, output: int) -> starts.Slope:
        """Sums of gradients of constant scores of an output."""
        room = gradients_room(np.empty((1, labels.rows)))
        job = self._gradients(labels, room, self.parameters()[output : output + 1])

        def slope(score: float) -> float:
            room.scores[:] = score
            run_alone(job)
            return starts.summed(room.pairs)

        return slope
