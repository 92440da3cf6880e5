"""Targets of survival as estimators read them, and what their predictions are worth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney import metrics, objectives
from spinney.data import Labels, read_target, read_weight
from spinney.errors import DataError
from spinney.jit.team import Team
from spinney.metrics import Outcome
from spinney.model.model import Model
from spinney.params import Config, kind_of, objective_row
from spinney.params.objectives import OWN

OF_TIMES = ("hazards", "times")


def is_survival(objective: str) -> bool:
    """Whether an objective is one of times that are not all known.

    Examples
    --------
    >>> is_survival("cox"), is_survival("poisson")
    (True, False)
    """
    return objective != OWN and kind_of(objective) in OF_TIMES


def columns_of_records(y: object, objective: str) -> object:
    """A target of two columns from records of an event and a time, as scikit-survival has them; any other is given back.

    Examples
    --------
    >>> y = np.array([(True, 2.0), (False, 5.0)], dtype=[("event", "?"), ("time", "f8")])
    >>> columns_of_records(y, "cox").tolist(), columns_of_records(y, "aft").tolist()
    ([[2.0, 1.0], [5.0, 0.0]], [[2.0, 2.0], [5.0, inf]])
    """
    names = getattr(getattr(y, "dtype", None), "names", None)
    if not names or not isinstance(y, np.ndarray):
        return y
    events = [name for name in names if y.dtype[name].kind == "b"]
    times = [name for name in names if y.dtype[name].kind in "iuf"]
    if len(names) != 2 or len(events) != 1 or len(times) != 1:
        raise DataError(
            f"y holds records of {', '.join(names)}; for objective {objective} they must be of an event (bool) and a time"
        )
    event, time = y[events[0]], y[times[0]].astype(np.float64)
    second = event if objective == "cox" else np.where(event, time, np.inf)
    return np.column_stack([time, second])


def read_times(y: object, rows: int, config: Config) -> NDArray[np.float64]:
    """The target of an objective of times, checked, in the form that losses and metrics read."""
    target = read_target(columns_of_records(y, config.objective), rows)
    if target is None:
        raise DataError("This estimator requires y to be passed, but the target y is None")
    return objectives.get(config).prepared(Labels(target)).target


def concordance(model: Model, raw: NDArray[np.float64], y: object, weight: object) -> float:
    """Share of pairs of rows whose order in time is known that the model's raw scores put in it."""
    if not len(raw):
        raise DataError("X has no rows; score needs at least two")
    target = read_times(y, len(raw), model.params)
    labels = Labels(target, read_weight(weight, len(target)))
    metric = metrics.get("concordance", model.params)
    metric.check(labels)
    link = objective_row(model.objective).link
    return metric(Outcome(raw.reshape(1, -1), link, Team(1)), labels)
