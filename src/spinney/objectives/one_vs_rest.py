"""A logistic loss for each class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.jit import Bound
from spinney.objectives.kernels.links import log_all
from spinney.objectives.kernels.one_vs_rest import one_vs_rest_gradients
from spinney.objectives.kernels.records import Gradients
from spinney.objectives.softmax import Classes


class OneVsRest(Classes):
    """A score for each class: the log-odds of being of it."""

    def base_score(self, labels: Labels) -> NDArray[np.float64]:
        """Log-odds of the classes' shares."""
        mass = self.masses(labels)
        total, logs = mass.sum(), np.empty(2 * self.outputs)
        log_all(2 * self.outputs, np.concatenate([mass / total, (total - mass) / total]), logs)
        return logs[: self.outputs] - logs[self.outputs :]

    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """Probabilities minus labels, and their variances."""
        job: Bound = one_vs_rest_gradients.bind(labels.arrays(), gradients)
        return job
