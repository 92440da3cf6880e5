"""Confidence intervals of a metric by the bootstrap."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.data import Labels, read_queries, read_weight
from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.inspection.scoring import NamedMetric, array_of, metric_of, read_predictions, value_of_function
from spinney.jit.team import Team, most_for, threads_for
from spinney.messages import shown
from spinney.params import checked_seed
from spinney.params.common import checked_count
from spinney.params.parameter import SeedLike, as_float
from spinney.sampling.bags import bag_counts
from spinney.training.splitting import group_numbers
from spinney.user_functions import WithWeight, name_of, takes_estimator

Floats = NDArray[np.float64]
# A metric of resampled rows, given how often each row was drawn; None stands for once each.
Resampled = Callable[[NDArray[np.int32] | None], float]

SHARE_ROWS = 20_000  # from which one resample is shared among threads


@dataclass(frozen=True, eq=False, repr=False)
class BootstrapInterval:
    """A metric, and where it may lie.

    Attributes
    ----------
    metric : str
        Its name.
    estimate : float
        The metric of all rows.
    low, high : float
        The interval: quantiles of the metric over resamples.
    std : float
        Standard deviation over resamples, which estimates the standard error.
    level : float
        Share of resamples inside the interval.
    values : float64
        The metric of every resample that has one.
    undefined : int
        Resamples in which the metric has no value, as the AUC of rows of one class. They were left out.
    """

    metric: str
    estimate: float
    low: float
    high: float
    std: float
    level: float
    values: Floats
    undefined: int

    def __repr__(self) -> str:
        left = f", {self.undefined} more had no value" if self.undefined else ""
        return (
            f"BootstrapInterval({self.metric} {self.estimate:.6g}, {100 * self.level:g} % within [{self.low:.6g}, "
            f"{self.high:.6g}], std {self.std:.3g}; {len(self.values)} resamples{left})"
        )


def bootstrap_interval(
    metric: object,
    y: object,
    prediction: object,
    *,
    weight: ArrayLike | None = None,
    level: float = 0.95,
    repeats: int = 1000,
    seed: SeedLike = 0,
    group: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    params: Mapping[str, object] | None = None,
    n_jobs: int | None = None,
) -> BootstrapInterval:
    """Estimate how much a metric varies with the rows that it is computed on: a percentile interval by the bootstrap.

    Rows are drawn with replacement, as many as there are, and the metric is computed again. A metric by name never copies
    rows: a row that was drawn twice weighs twice. The interval is about rows alone; that another training would give another
    model is not in it.

    Parameters
    ----------
    metric : str or callable
        A metric by name, such as "auc"; or a function of (y, prediction) or (y, prediction, weight) that returns a number, or
        (name, value, higher_is_better). A function gets the arrays as they were given, at the rows drawn.
    y : array of shape (rows,)
        Targets: numbers, or labels.
    prediction : array of shape (rows,) or (rows, classes)
        Predictions of the same rows: numbers; probabilities of the second of two classes, or of all in the order of `classes`;
        for areas any score of the second class; for metrics of classes alone, such as the accuracy, also labels.
    weight : array of shape (rows,), optional
        Weights of the rows in the metric. Rows are drawn with equal chances.
    level : float, default=0.95
        Share of the resamples that lie in the interval, between 0 and 1.
    repeats : int, default=1000
        How many resamples.
    seed : int, RandomState, Generator or None, default=0
        Seed of the draws. Resample i depends on the seed and i alone.
    group : array of shape (rows,), optional
        Rows of one group, such as a patient's, are drawn together.
    qid : array of shape (rows,), optional
        The query of each row, for metrics of ranking such as "ndcg@10". Queries are drawn, with all of their rows.
    classes : array, optional
        Labels in the order of the columns of `prediction`. Without it those of y, sorted.
    params : mapping, optional
        Parameters of a metric by name, such as {"quantile_alpha": 0.9} of "pinball".
    n_jobs : int, optional
        Number of threads; the result does not depend on it.

    Returns
    -------
    BootstrapInterval
        With `estimate`, `low`, `high`, `std`. Resamples in which the metric has no value are left out and counted in `undefined`.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney as sp
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> found = sp.bootstrap_interval("auc", y, 0.3 * y + rng.uniform(size=300))
    >>> found.low < found.estimate < found.high
    True
    """
    repeats, seed, level = checked_count("repeats", repeats, 2), checked_seed(seed), _level(level)
    threads_for(n_jobs, 1)  # refuse nonsense before any work
    rows = len(array_of(y, "y"))
    queries = _queries(metric, group, qid, rows)
    units = _units(group if queries is None else queries, rows)
    if params is not None and not isinstance(params, Mapping):
        raise ParameterTypeError(f"params={shown(params)} must be a mapping of the metric's parameters")
    weights = read_weight(weight, rows, what="weight")
    with Team(threads_for(n_jobs, most_for(rows, SHARE_ROWS))) as team:
        if callable(metric):
            name, value_of = _of_function(metric, y, prediction, weights)
        else:
            labels = Labels(np.zeros(rows), weights, queries=queries)
            name, value_of = _of_name(metric, y, prediction, labels, classes, params, team)
        estimate = value_of(None)
        if not math.isfinite(estimate):
            raise DataError(
                f"{name} is {estimate} for these rows, so it has no interval; choose another metric"
            )
        found = np.empty(repeats)
        drawn = rows if units is None else int(units.max()) + 1
        for repeat in range(repeats):
            counts = bag_counts(seed, repeat, drawn, drawn, replace=True)
            found[repeat] = value_of(counts if units is None else counts[units])
    values = found[np.isfinite(found)]
    if len(values) < 2:
        raise DataError(
            f"{name} has a value in {len(values)} of {repeats} resamples, which gives no interval; give more rows"
        )
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return BootstrapInterval(
        name, estimate, low, high, float(values.std(ddof=1)), level, values, repeats - len(values)
    )


def _of_name(
    metric: object,
    y: object,
    prediction: object,
    given: Labels,
    classes: object,
    params: Mapping[str, object] | None,
    team: Team,
) -> tuple[str, Resampled]:
    """A metric of the package: rows drawn several times weigh more."""
    if not isinstance(metric, str):
        raise ParameterTypeError(f"metric={shown(metric)} must be a name or a function")
    kind, values, target = read_predictions(metric, y, prediction, classes)
    kind = kind.with_params(metric, params or {})
    if kind.name == "ranks" and given.queries is None:
        raise ParameterError(f"metric={metric!r} is computed by query; give the query of each row as qid")
    labels, weight = replace(given, target=target), given.weight
    found = metric_of(metric, kind)
    assert isinstance(found, NamedMetric)
    found.check(labels)
    predictions = kind.for_metrics(values, team)

    def value_of(counts: NDArray[np.int32] | None) -> float:
        weights = weight
        if counts is not None:
            weights = counts.astype(np.float64) if weight is None else counts * weight
            if not weights.any():
                return math.nan
        return found.metric.compute(predictions, replace(labels, weight=weights)).value

    return found.metric.name, value_of


def _of_function(
    metric: Callable[..., Any], y: object, prediction: object, weight: Floats | None
) -> tuple[str, Resampled]:
    """A function that the user wrote: it gets the rows that were drawn."""
    if takes_estimator(metric):
        raise ParameterTypeError(
            f"metric={shown(metric)} is a scorer, which takes an estimator; give a name, or a function of (y, prediction)"
        )
    target, predicted = array_of(y, "y"), array_of(prediction, "prediction")
    if len(predicted) != len(target):
        raise DataError(
            f"prediction has {len(predicted)} rows, but y has {len(target)}; give one prediction for each row"
        )
    call = WithWeight("the metric", metric)
    names = [name_of(metric)]

    def value_of(counts: NDArray[np.int32] | None) -> float:
        rows = np.arange(len(target)) if counts is None else np.repeat(np.arange(len(target)), counts)
        found = call(target[rows], predicted[rows], None if weight is None else weight[rows])
        if isinstance(found, numbers.Real) and math.isnan(found):
            return math.nan
        value = value_of_function(metric, found)
        names[0] = value.name
        return value.value

    value_of(None)
    return names[0], value_of


def _queries(metric: object, group: object, qid: object, rows: int) -> NDArray[np.int64] | None:
    """Number of the query of every row, where given."""
    if qid is not None and group is not None:
        raise ParameterError("group is given beside qid, whose queries are drawn whole; give one of them")
    if qid is not None and callable(metric):
        raise ParameterError(
            f"qid is given beside the function metric={shown(metric)}, which sees rows and no queries; name a metric such as "
            "'ndcg', or draw rows together by group"
        )
    return read_queries(None, qid, rows)


def _units(group: object, rows: int) -> NDArray[np.int64] | None:
    """Number of the group of every row; None where every row stands alone."""
    if group is None:
        if rows < 2:
            raise DataError(f"y has {rows} row(s); an interval needs 2 or more")
        return None
    units = group_numbers(group, rows, "group")
    if units is not None and not units.any():
        raise DataError("group has one group only; an interval needs 2 or more")
    return units


def _level(level: object) -> float:
    if not isinstance(level, numbers.Real) or isinstance(level, bool):
        raise ParameterTypeError(f"level={shown(level)} must be a number between 0 and 1")
    if not 0 < as_float(level) < 1:
        raise ParameterError(
            f"level={shown(level)} is out of range: it must be between 0 and 1, such as 0.95"
        )
    return float(level)
