"""From scores to predictions, and from the mean of a target to the score that is predicted as it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels
from spinney.errors import DataError
from spinney.jit.team import run_alone
from spinney.objectives.kernels.links import log_all, sigmoid_all, softmax_all
from spinney.objectives.sums import weighted_mean


def same(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores are predictions."""
    return raw


class _OneScore(threading.local):
    """Memory for one score, bound once in each thread: checking a kernel's arguments takes longer than the kernel."""

    def __init__(self) -> None:
        self.given, self.result = np.zeros(1), np.zeros(1)
        self.job = sigmoid_all.bind(1, self.given, self.result)


_ONE = _OneScore()


def logistic(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability of the second class."""
    if raw.size == 1:
        _ONE.given[:] = raw.reshape(1)
        run_alone(_ONE.job)
        return _ONE.result.reshape(raw.shape).copy()
    raw = np.ascontiguousarray(raw)
    result = np.empty_like(raw)
    run_alone(sigmoid_all.bind(raw.size, raw, result))
    return result


def softmax(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of all classes."""
    raw = np.ascontiguousarray(raw)
    result = np.empty_like(raw)
    run_alone(softmax_all.bind(raw.shape[0], raw.shape[1], raw, result))
    return result


def mean(labels: Labels, objective: str) -> float:
    """The mean itself."""
    return weighted_mean(labels)


def log_odds(labels: Labels, objective: str) -> float:
    """Log-odds of the mean."""
    p = weighted_mean(labels)
    if not 0 < p < 1:
        raise DataError(
            f"objective {objective} needs rows of both classes with a weight above 0, {labels.said_of_one_class}"
        )
    logs = np.empty(2)
    log_all(2, np.array([p, 1 - p]), logs)
    return float(logs[0] - logs[1])


LINKS: Mapping[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "identity": same,
    "logistic": logistic,
    "softmax": softmax,
}
# Where losses of one score start.
STARTS: Mapping[str, Callable[[Labels, str], float]] = {"identity": mean, "logistic": log_odds}
