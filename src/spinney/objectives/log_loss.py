"""Logistic loss, for two classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.errors import DataError
from spinney.jit import Bound
from spinney.jit.team import run_alone
from spinney.objectives.base import Objective, Round, weighted_mean
from spinney.objectives.kernels import log_all, log_loss_gradients, sigmoid_all


class LogLoss(Objective):
    """-y log p - (1-y) log(1-p) with p = 1/(1+e^-F): g = p - y, h = p(1-p)."""

    name = "log_loss"

    def check_target(self, target: NDArray[np.float64], num_class: int) -> None:
        """Accept probabilities, mostly the labels 0 and 1."""
        wrong = np.flatnonzero((target < 0) | (target > 1))
        if len(wrong):
            raise DataError(
                f"objective log_loss needs labels 0 and 1 (or probabilities), got y[{wrong[0]}] = {target[wrong[0]]:g}; "
                "GBMClassifier takes labels of any kind"
            )

    def base_score(
        self, target: NDArray[np.float64], weight: NDArray[np.float64] | None, num_class: int
    ) -> NDArray[np.float64]:
        """Log-odds of the mean."""
        p = weighted_mean(target, weight)
        if not 0 < p < 1:
            light = "" if weight is None else ", or weigh nothing beside those of it"
            raise DataError(
                f"objective log_loss needs rows of both classes with a weight above 0, all have class {round(p)}{light}"
            )
        logs = np.empty(2)
        log_all(2, np.array([p, 1 - p]), logs)
        return logs[:1] - logs[1:]

    def gradients(self, data: Round, threads: int) -> Bound:
        """Probability minus label, and the variance."""
        rows, (weighted, weight) = len(data.target), data.weights
        return log_loss_gradients.bind(
            rows, data.stats.shape[1], weighted, data.scores, data.target, weight, data.pairs, data.stats
        )

    def link(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probability of the second class."""
        raw = np.ascontiguousarray(raw)
        result = np.empty_like(raw)
        run_alone(sigmoid_all.bind(raw.size, raw, result))
        return result
