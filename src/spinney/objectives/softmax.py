"""Losses of many classes, and the softmax loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.errors import DataError
from spinney.jit import Bound, allocate
from spinney.objectives.base import Objective
from spinney.objectives.kernels.links import log_all
from spinney.objectives.kernels.records import Gradients
from spinney.objectives.kernels.softmax import BlockShares, softmax_gradients
from spinney.objectives.sums import exact_sums


class Classes(Objective):
    """A loss with a score for each class."""

    @property
    def outputs(self) -> int:
        """One score for each class."""
        return self.config.num_class

    def masses(self, labels: Labels) -> NDArray[np.float64]:
        """Weights of the classes, each above 0."""
        mass = exact_sums(labels.target.astype(np.int64), labels.weight, self.outputs)
        empty = np.flatnonzero(mass <= 0)
        if len(empty):
            raise DataError(
                f"class {empty[0]} has no row with a weight above 0; give rows of every class, or a smaller num_class"
            )
        return mass


class Softmax(Classes):
    """A score for each class, of which softmax makes probabilities."""

    def base_score(self, labels: Labels) -> NDArray[np.float64]:
        """Logarithms of the classes' shares."""
        mass = self.masses(labels)
        result = np.empty(self.outputs)
        log_all(self.outputs, mass / mass.sum(), result)
        return result

    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """Probabilities minus labels, and their scaled variances."""
        scratch = allocate(BlockShares, threads=threads)
        job: Bound = softmax_gradients.bind(labels.arrays(), gradients, scratch)
        return job
