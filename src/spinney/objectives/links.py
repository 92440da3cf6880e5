"""From scores to predictions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from spinney.errors import DataError
from spinney.jit.team import run_alone
from spinney.objectives.kernels.links import exp_all, one_vs_rest_all, sigmoid_all, softmax_all


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


def exponential(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores are logarithms of predictions. One that float64 cannot hold is an error."""
    raw = np.ascontiguousarray(raw)
    result = np.empty_like(raw)
    run_alone(exp_all.bind(raw.size, raw, result))
    if not np.isfinite(result).all():
        row = int(np.argmin(np.isfinite(result.reshape(len(raw), -1)).all(axis=1)))
        raise DataError(
            f"row {row} has the score {np.max(raw[row]):g}, whose exponential no float64 can hold; `predict_raw` gives scores "
            "themselves, and a base_margin must be a logarithm of predictions too"
        )
    return result


def softmax(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of all classes."""
    raw = np.ascontiguousarray(raw)
    result = np.empty_like(raw)
    run_alone(softmax_all.bind(raw.shape[0], raw.shape[1], raw, result))
    return result


def one_vs_rest(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of all classes, each against the rest, made to add up to 1."""
    raw = np.ascontiguousarray(raw)
    result = np.empty_like(raw)
    run_alone(one_vs_rest_all.bind(raw.shape[0], raw.shape[1], raw, result))
    return result


def ascending(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores of ascending levels, sorted where they would cross."""
    return np.sort(raw, axis=-1)


LINKS: Mapping[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "identity": same,
    "sorted": ascending,
    "exp": exponential,
    "logistic": logistic,
    "softmax": softmax,
    "one_vs_rest": one_vs_rest,
}
