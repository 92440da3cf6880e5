"""Squared error, for regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.jit import Bound
from spinney.objectives.base import Objective, Round, check_size, weighted_mean
from spinney.objectives.kernels import squared_error_gradients


class SquaredError(Objective):
    """½(y - F)²: g = F - y, h = 1."""

    name = "squared_error"

    def check_target(self, target: NDArray[np.float64], num_class: int) -> None:
        """Accept any finite target of reasonable size."""
        check_size(target)

    def base_score(
        self, target: NDArray[np.float64], weight: NDArray[np.float64] | None, num_class: int
    ) -> NDArray[np.float64]:
        """The mean."""
        return np.array([weighted_mean(target, weight)])

    def gradients(self, data: Round, threads: int) -> Bound:
        """Residuals and ones."""
        rows, (weighted, weight) = len(data.target), data.weights
        return squared_error_gradients.bind(
            rows, data.stats.shape[1], weighted, data.scores, data.target, weight, data.pairs, data.stats
        )

    def link(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores are predictions."""
        return raw
