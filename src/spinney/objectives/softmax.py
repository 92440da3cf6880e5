"""Softmax loss, for many classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.errors import DataError
from spinney.jit import Bound
from spinney.jit.team import run_alone
from spinney.objectives.base import Objective, Round
from spinney.objectives.kernels import STAT_BLOCK, log_all, softmax_all, softmax_gradients


class Softmax(Objective):
    """-log p_y with p = softmax(F): g = p - 1[y], h = K/(K-1) p(1-p).

    One of the K scores of a row is free, because adding a constant to all changes nothing; the factor K/(K-1) makes up for
    it where the classes are alike, as in Friedman's multi-class boosting and in LightGBM.
    """

    name = "softmax"

    def outputs(self, num_class: int) -> int:
        """One score for each class."""
        return num_class

    def check_target(self, target: NDArray[np.float64], num_class: int) -> None:
        """Accept the numbers 0 .. num_class-1."""
        wrong = np.flatnonzero((target < 0) | (target >= num_class) | (target != np.floor(target)))
        if len(wrong):
            raise DataError(
                f"objective softmax with num_class = {num_class} needs labels 0 to {num_class - 1}, "
                f"got y[{wrong[0]}] = {target[wrong[0]]:g}"
            )

    def base_score(
        self, target: NDArray[np.float64], weight: NDArray[np.float64] | None, num_class: int
    ) -> NDArray[np.float64]:
        """Logarithms of the classes' shares."""
        mass = np.bincount(target.astype(np.int64), weight, num_class).astype(np.float64)
        empty = np.flatnonzero(mass <= 0)
        if len(empty):
            raise DataError(
                f"class {empty[0]} has no row with a weight above 0; give rows of every class, or a smaller num_class"
            )
        result = np.empty(num_class)
        log_all(num_class, mass / mass.sum(), result)
        return result

    def gradients(self, data: Round, threads: int) -> Bound:
        """Probabilities minus labels, and their scaled variances."""
        outputs, rows = data.scores.shape
        weighted, weight = data.weights
        scratch = np.empty(2 * STAT_BLOCK * threads)
        return softmax_gradients.bind(
            rows, data.stats.shape[1], weighted, outputs, threads, data.scores, data.target, weight, data.pairs,
            data.stats, scratch,
        )  # fmt: skip

    def link(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities of all classes."""
        raw = np.ascontiguousarray(raw)
        result = np.empty_like(raw)
        run_alone(softmax_all.bind(raw.shape[0], raw.shape[1], raw, result))
        return result
