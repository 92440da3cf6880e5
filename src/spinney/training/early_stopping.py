"""Stopping when a metric no longer improves."""

from __future__ import annotations

import math

from spinney.metrics import Judgement
from spinney.params import Config


class EarlyStopping:
    """Watches one metric. In going on from a model, its metric is the first that `update` takes, and the one to beat.

    Parameters
    ----------
    patience : int
        Rounds without improvement after which to stop.
    min_delta : float, default=0.0
        An improvement must be larger than this.

    Examples
    --------
    >>> watch = EarlyStopping(2)
    >>> [watch.update(n + 1, Judgement("mae", value, False)) for n, value in enumerate([3.0, 2.0, 2.0, 2.5])]
    [False, False, False, True]
    >>> watch.best_round
    2
    """

    def __init__(self, patience: int, min_delta: float = 0.0) -> None:
        self._patience, self._min_delta = patience, min_delta
        self._best = math.inf
        self.best_round = 0

    @classmethod
    def of(cls, config: Config) -> EarlyStopping | None:
        """What watches a training, if its parameters ask for it."""
        patience = config.early_stopping_rounds
        return None if patience is None else cls(patience, config.min_delta)

    def update(self, done: int, judgement: Judgement) -> bool:
        """Take the metric after `done` rounds, a finite number; True when it is time to stop."""
        value = -judgement.value if judgement.higher_is_better else judgement.value
        if value < self._best - self._min_delta:
            self._best = value
            self.best_round = done
        return done - self.best_round >= self._patience
