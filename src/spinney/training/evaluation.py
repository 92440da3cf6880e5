"""The metrics of a training, and the one that early stopping uses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from spinney.binning.binned import BinnedData
from spinney.data import Labels
from spinney.dataset import binned_of
from spinney.errors import DataError, DataTypeError, OwnFunctionError, ParameterError, ParameterTypeError
from spinney.messages import shown
from spinney.metrics import Metric, MetricValue, Predictions, metrics_of
from spinney.metrics import get as get_metric
from spinney.metrics.custom import CustomMetric
from spinney.objectives import Function, Objective
from spinney.objectives.custom import loss_metric
from spinney.params import Config
from spinney.params.objectives import OWN
from spinney.params.parameter import is_iterable
from spinney.user_functions import takes_estimator


def training_metrics(config: Config, more: object = None, function: Function | None = None) -> list[Metric]:
    """The metrics of a configuration, then others, names or functions, in their order.

    Parameters
    ----------
    config : Config
        Where it names none, that of the objective is the first.
    more : iterable, optional
        The others.
    function : Function, optional
        The objective, where it is custom; its attribute `loss` is a metric where no other is named.

    Raises
    ------
    ParameterError
        If a name is unknown, does not fit the objective or is named twice.
    ParameterTypeError
        If one is neither a name nor a function.

    Examples
    --------
    >>> def nothing(scores, labels):
    ...     return "nothing", 0.0, False
    >>> len(training_metrics(Config(eval_metric="mae"), [nothing, "r2"]))
    3
    """
    found: list[Metric] = list(metrics_of(config))
    loss = None if config.eval_metric or function is None else loss_metric(function)
    if loss is not None:
        found.append(CustomMetric(loss))
    if more is None:
        return found
    if isinstance(more, str) or not is_iterable(more):
        raise ParameterTypeError(f"metrics must be a list of functions or names, got {shown(more)}")
    named = [] if config.eval_metric == ("none",) else list(config.eval_metric)
    for metric in more:
        if isinstance(metric, str):
            # Checked with those before it, so that a metric cannot be named twice.
            names = replace(config, eval_metric=(*named, metric)).eval_metric
            found += [get_metric(name, config) for name in names[len(named) :]]
            named = list(names)
        elif callable(metric):
            if takes_estimator(metric):
                raise ParameterTypeError(
                    f"metrics holds {shown(metric)}, a scorer, which takes an estimator; a metric here is a name or a function "
                    "of (scores, labels) or (scores, labels, weight)"
                )
            found.append(CustomMetric(metric))
        else:
            raise ParameterTypeError(f"metrics must be functions or names, got {shown(metric)}")
    return found


def checked_valid(
    valid: object, data: BinnedData, loss: Objective, metrics: list[Metric]
) -> dict[str, BinnedData]:
    """The validation data of a training, none of which lacks what the loss and the metrics need."""
    if valid is None:
        return {}
    if not isinstance(valid, Mapping):
        raise DataTypeError(f"valid must map names to Datasets, got {type(valid).__name__}")
    found = {name: binned_of(one, f"valid[{name!r}]") for name, one in valid.items()}
    for name, one in found.items():
        if not one.cuts.same(data.cuts):
            raise DataError(f"valid[{name!r}] was binned apart: make it with Dataset(..., reference=dataset)")
        labels = one.checked_labels(f"valid[{name!r}]")
        try:
            labels = loss.prepared(labels)
            for metric in metrics:
                metric.check(labels)
        except DataError as error:
            raise DataError(f"valid[{name!r}]: {error}") from None
    return found


def evaluate(metrics: Iterable[Metric], predictions: Predictions, labels: Labels) -> list[MetricValue]:
    """The values of all metrics for some rows."""
    found: dict[str, MetricValue] = {}
    for metric in metrics:
        value = metric.compute(predictions, labels)
        if value.name in found:
            raise OwnFunctionError(
                f"two metrics are called {value.name!r}; a metric of your own must return a name of its own"
            )
        found[value.name] = value
    return list(found.values())


def values_of(evals: Mapping[str, Iterable[MetricValue]]) -> dict[str, dict[str, float]]:
    """The values of metrics by data set and name."""
    return {name: {one.name: one.value for one in found} for name, found in evals.items()}


def check_stopping(config: Config, metrics: list[Metric], has_valid: bool) -> None:
    """Refuse early stopping without validation data or without a metric."""
    if config.early_stopping_rounds is None:
        return
    if not has_valid:
        raise ParameterError("early_stopping_rounds needs validation data: give train a `valid` mapping")
    if not metrics:
        why = "an objective of your own has none" if config.objective == OWN else "eval_metric='none'"
        raise ParameterError(f"early_stopping_rounds needs a metric, but {why}; name one")


def mean_values(found: Sequence[Mapping[str, list[MetricValue]]]) -> dict[str, list[MetricValue]]:
    """Means of metrics over several trainings, by data set."""
    return {
        name: [
            MetricValue(one.name, mean_of([evals[name][at].value for evals in found]), one.higher_is_better)
            for at, one in enumerate(values)
        ]
        for name, values in found[0].items()
    }


def mean_of(values: list[float]) -> float:
    """Mean over folds, whatever their order.

    Examples
    --------
    >>> mean_of([1.0, 2.0, 4.5])
    2.5
    """
    return math.fsum(values) / len(values)


def stopping_value(config: Config, where: str, metric_values: list[MetricValue], done: int) -> MetricValue:
    """The value that early stopping uses: of the last metric or, with `first_metric_only`, the first; `where` is the data set."""
    found = metric_values[0 if config.first_metric_only else -1]
    if not math.isfinite(found.value):
        raise DataError(
            f"{found.name} of {where} is {found.value} after round {done}, which early stopping cannot use; "
            "choose another eval_metric, or give a number of rounds without early_stopping_rounds"
        )
    return found
