"""Stopping when a metric no longer improves."""

from __future__ import annotations

import math
from collections import deque

from spinney.metrics import MetricValue
from spinney.params import Config


class EarlyStopping:
    """Watches one metric. In going on from a model, its metric is the first that `update` takes, and the one to beat.

    Parameters
    ----------
    patience : int
        Rounds without improvement after which to stop.
    min_delta : float, default=0.0
        An improvement must be larger than this.
    flat : float, default=0.0
        Stop as well when each of the latest rounds, as many as `patience`, was an improvement, but all of them together gained
        less than this share of what was gained since the first round.

    Attributes
    ----------
    best_round : int
        The best one so far, from 1.
    best : MetricValue, optional
        The metric after it.
    ended : {"patience", "converged"}, optional
        Why it is time to stop: without improvement, or with `flat`.

    Examples
    --------
    >>> watch = EarlyStopping(2)
    >>> [watch.update(n + 1, MetricValue("mae", value, False)) for n, value in enumerate([3.0, 2.0, 2.0, 2.5])]
    [False, False, False, True]
    >>> watch.best_round, watch.best.value, watch.ended
    (2, 2.0, 'patience')
    """

    def __init__(self, patience: int, min_delta: float = 0.0, flat: float = 0.0) -> None:
        self._patience, self._min_delta, self._flat = patience, min_delta, flat
        self._first = self._best = math.inf
        self._recent: deque[float] = deque(
            maxlen=patience + 1
        )  # values of the latest rounds, each better than the one before
        self.best_round = 0
        self.best: MetricValue | None = None
        self.ended: str | None = None

    @classmethod
    def of(cls, config: Config) -> EarlyStopping | None:
        """What watches a training, if its parameters ask for it."""
        patience = config.early_stopping_rounds
        return None if patience is None else cls(patience, config.min_delta)

    def update(self, done: int, metric: MetricValue) -> bool:
        """Take the metric after `done` rounds, a finite number; True when it is time to stop."""
        value = -metric.value if metric.higher_is_better else metric.value
        if self.best is None:
            self._first = value
        if value < self._best - self._min_delta:
            self._best = value
            self.best_round, self.best = done, metric
            self._recent.append(value)
        else:
            self._recent.clear()
        if done - self.best_round >= self._patience:
            self.ended = "patience"
        elif self._gained() < self._flat * (self._first - self._best):
            self.ended = "converged"
        return self.ended is not None

    def _gained(self) -> float:
        """What the latest rounds gained, as many as the patience; infinite unless each was an improvement."""
        return self._recent[0] - self._best if len(self._recent) > self._patience else math.inf
