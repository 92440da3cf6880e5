"""Losses of survival times, which may be censored: Cox's partial likelihood, and accelerated failure time.

`is_survival` and `read_times` are for estimators, which read such targets from arrays or records.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels, by_time, read_target, risk_sets
from spinney.data.kernels.records import Gradients
from spinney.data.labels import allocate_gradients, by_column
from spinney.data.survival import columns_of_records
from spinney.errors import DataError
from spinney.jit import Bound, allocate
from spinney.jit.team import run_alone
from spinney.objectives import starts
from spinney.objectives.base import DOMAINS, Objective
from spinney.objectives.kernels.links import log_all
from spinney.objectives.kernels.survival import CumulatedHazards, aft_gradients, cox_gradients
from spinney.params import Config, aft_values, kind_of, objective_info
from spinney.params.objectives import OWN

SURVIVAL_KINDS = ("hazards", "times")
# How far the first score may be beyond the known ends, in scales of the distribution. Tried in this order.
_BEYOND = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)


class SurvivalObjective(Objective):
    """A loss whose target is two columns: time and event, or the ends of an interval."""

    @property
    def targets(self) -> int:
        """Time and event, or the ends of an interval."""
        return 2

    def check_target(self, labels: Labels) -> None:
        """Raise `DataError` where the target does not fit the loss."""
        if labels.targets != self.targets:
            raise DataError(f"objective {self.info.name} needs y of two columns, got {labels.targets}")
        DOMAINS[self.info.domain](labels.target, self.config)


class Cox(SurvivalObjective):
    """The order of events: of the rows at risk, the one that has the event. Scores are logarithms of hazard ratios."""

    def prepared(self, labels: Labels) -> Labels:
        """Labels with the target (time, event); a target of one column is times, negative where the row is censored."""
        if labels.targets == 1:
            labels = replace(labels, target=_from_signs(labels.target))
        return super().prepared(labels)

    def base_score(self, labels: Labels) -> NDArray[np.float64]:
        """Zero: hazards are relative, so a constant changes nothing."""
        check_events(labels)
        return np.zeros(1)

    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """Sums over risk sets, then over events."""
        check_events(labels)
        sets = risk_sets(labels)
        sums = allocate(CumulatedHazards, last=labels.cached(by_time).last, sets=sets)
        job: Bound = cox_gradients.bind(sets, sums, gradients)
        return job


class Aft(SurvivalObjective):
    """Times in intervals. Scores are logarithms of times."""

    def check_target(self, labels: Labels) -> None:
        """Raise `DataError` where the target is not intervals."""
        if labels.targets == 1:
            raise DataError(
                "objective aft needs y of two columns, the least and the largest time of each row, got one; give a time that is "
                "known twice, and infinity where no largest time is known: np.column_stack([time, np.where(event, time, np.inf)])"
            )
        super().check_target(labels)

    def base_score(self, labels: Labels) -> NDArray[np.float64]:
        """The constant with the least loss."""
        counted = slice(None) if labels.weight is None else labels.weight > 0
        ends = log_ends(labels)[:, counted]
        for which, needed, short in ((0, "a least time above 0", "short"), (1, "a largest time", "long")):
            if not np.isfinite(ends[which]).any():
                raise DataError(
                    f"objective aft needs a row with {needed} and a weight above 0, but y has none: no prediction would be too "
                    f"{short}"
                )
        known = ends[np.isfinite(ends)]
        slope, scale = self._slope(labels), self.config.aft_loss_distribution_scale
        low, high = float(known.min()), float(known.max())
        lows, highs = (low - step * scale for step in _BEYOND), (high + step * scale for step in _BEYOND)
        low = next((at for at in lows if slope(at) < 0.0), low)
        high = next((at for at in highs if slope(at) > 0.0), high)
        return np.array([starts.root(Labels(np.array([low, high])), slope, self.info.name, False)])

    def gradients(self, labels: Labels, gradients: Gradients, threads: int) -> Bound:
        """The formula of the distribution for every row."""
        job: Bound = aft_gradients.bind(
            labels.arrays(), log_ends(labels), *aft_values(self.config), gradients
        )
        return job

    def _slope(self, labels: Labels) -> starts.Slope:
        """The sum of gradients as a function of a constant score."""
        memory = allocate_gradients(np.empty((1, labels.rows)))
        job = self.gradients(labels, memory, 1)

        def slope(score: float) -> float:
            memory.scores[:] = score
            run_alone(job)
            return starts.summed(memory.pairs)

        return slope


def log_ends(labels: Labels) -> NDArray[np.float64]:
    """Logarithms of the ends of intervals, 2 × rows."""
    ends = np.ascontiguousarray(labels.target.T)
    logs = np.empty_like(ends)
    log_all(ends.size, ends, logs)
    return logs


def check_events(labels: Labels) -> None:
    """Refuse labels without an event in a row of weight above 0: the loss would be constant."""
    event = labels.target[:, 1] > 0
    if not (event if labels.weight is None else event & (labels.weight > 0)).any():
        raise DataError(
            "objective cox needs a row with an event and a weight above 0, but every row is censored; events are 1 in the second "
            "column of y, or positive times"
        )


def _from_signs(signed: NDArray[np.float64]) -> NDArray[np.float64]:
    """(time, event) from times that are negative where the row is censored."""
    zero = np.flatnonzero(signed == 0)
    if len(zero):
        raise DataError(
            f"objective cox needs times other than 0 where negative ones are censored, got y[{zero[0]}] = 0; "
            "give y of two columns, time and event"
        )
    return by_column(np.column_stack([np.abs(signed), signed > 0]))


def is_survival(objective: str) -> bool:
    """Whether an objective is a loss of survival times.

    Examples
    --------
    >>> is_survival("cox"), is_survival("poisson")
    (True, False)
    """
    return objective != OWN and kind_of(objective) in SURVIVAL_KINDS


def read_times(y: object, rows: int, config: Config) -> NDArray[np.float64]:
    """The target of a survival loss, checked, in the form that losses and metrics read."""
    target = read_target(columns_of_records(y, config.objective), rows)
    if target is None:
        raise DataError("This estimator requires y to be passed, but the target y is None")
    info = objective_info(config.objective)
    objective = Cox(info, config) if info.form == "cox" else Aft(info, config)
    return objective.prepared(Labels(target)).target
