"""Stopping when a metric no longer improves."""

from __future__ import annotations

import math


class EarlyStopping:
    """Watches one metric.

    Parameters
    ----------
    patience : int
        Rounds without improvement after which to stop.
    min_delta : float
        An improvement must be larger than this.
    higher_is_better : bool
        Which way the metric improves.

    Examples
    --------
    >>> watch = EarlyStopping(2, 0.0, higher_is_better=False)
    >>> [watch.update(n + 1, value) for n, value in enumerate([3.0, 2.0, 2.0, 2.5])]
    [False, False, False, True]
    >>> watch.best_round
    2
    """

    def __init__(self, patience: int, min_delta: float, higher_is_better: bool) -> None:
        self._patience, self._min_delta = patience, min_delta
        self._sign = -1.0 if higher_is_better else 1.0
        self._best = math.inf
        self.best_round = 0

    def update(self, done: int, value: float) -> bool:
        """Take the metric after `done` rounds, a finite number; True when it is time to stop."""
        if self._sign * value < self._best - self._min_delta:
            self._best = self._sign * value
            self.best_round = done
        return done - self.best_round >= self._patience
