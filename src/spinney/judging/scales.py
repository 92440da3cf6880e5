"""What the values of a model mean, and metrics of them."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spinney import metrics, objectives
from spinney.data import Labels, read_vector
from spinney.data.classes import class_codes
from spinney.errors import DataError, ParameterError, ParameterTypeError, SpinneyError
from spinney.jit.team import Team
from spinney.messages import shown
from spinney.metrics import GivenPredictions, MetricValue, Predictions
from spinney.metrics.custom import checked_value
from spinney.objectives.survival import is_survival, read_times
from spinney.params import Config, kind_of, levels_of, link_of, metrics_for, objective_info
from spinney.params.metrics import METRICS, is_spelled, name_and_cutoff
from spinney.params.objectives import OWN
from spinney.user_functions import WithWeight, checked_number, name_of, takes_estimator

Floats = NDArray[np.float64]
# What metrics that do not fit are told.
_SAID = {
    "numbers": "predictions of numbers",
    "positive": "predictions of numbers above 0",
    "two": "predictions of two classes",
    "many": "predictions of more than two classes",
    "ranks": "scores that rank the rows of a query",
    "hazards": "predictions of hazards",
    "times": "predictions of times",
}


@dataclass(frozen=True, eq=False)
class Scale:
    """What values, (values, rows), of one output mean.

    Attributes
    ----------
    config : Config
        Its objective says what is predicted, and its parameters are those of metrics.
    raw : bool
        Whether the values are raw scores of the objective, or predictions.
    classes : ndarray, or None
        Labels of the classes, where a target has such.
    alone : bool
        Whether the values are probabilities of the only class there is.
    """

    config: Config
    raw: bool
    classes: NDArray[Any] | None = None
    alone: bool = False

    @classmethod
    def of_numbers(cls) -> Scale:
        """Predicted numbers."""
        return cls(Config(), raw=False)

    @classmethod
    def of_classes(cls, count: int, classes: NDArray[Any] | None, *, raw: bool = False) -> Scale:
        """Probabilities of all of so many classes; or raw scores, of which one speaks for the second of two classes."""
        config = Config(objective="softmax", num_class=count) if count > 2 else Config(objective="log_loss")
        return cls(config, raw, classes, alone=count == 1)

    def with_params(self, metric: str, params: Mapping[str, object]) -> Scale:
        """The same with other parameters of a metric."""
        if not params:
            return self
        known = {
            "objective": self.config.objective,
            "num_class": self.config.num_class,
            "eval_metric": metric,
        }
        with called_metric():
            return replace(self, config=Config.parse({**known, **params}))

    @property
    def kind(self) -> str:
        """What is predicted: numbers, numbers above 0, one of two classes, or one of many."""
        return kind_of(self.config.objective)

    def for_metrics(self, values: Floats, team: Team) -> Predictions:
        """Values as metrics take them."""
        if self.raw:
            return Predictions(values, link_of(self.config), team)
        if self.alone:
            values = np.concatenate([values, 1.0 - values])
        return GivenPredictions(values, self.kind, team)

    def predictions(self, values: Floats) -> Floats:
        """What functions of users get: numbers, probabilities of the second of two classes, or of all, (rows, classes)."""
        if self.raw:
            found = values[0] if len(values) == 1 else np.ascontiguousarray(values.T)
            return objectives.get(self.config).link(found)
        if self.alone:
            values = 1.0 - values
        return values[-1].copy() if self.kind != "many" else np.ascontiguousarray(values.T)

    def read_target(self, y: object, rows: int) -> Floats:
        """Numbers, or places of labels among the classes."""
        if self.classes is not None:
            return class_codes(y, rows, self.classes)
        if is_survival(self.config.objective):
            return read_times(y, rows, self.config)
        target = read_vector(y, rows, "y", allow_none=False)
        if self.kind in ("two", "many"):
            objectives.get(self.config).check_target(Labels(target))
        return target


class ModelMetric(Protocol):
    """A metric of the values of a model."""

    def check(self, labels: Labels) -> None:
        """Refuse labels that have no such metric, whatever the values."""

    def compute(self, values: Floats, labels: Labels, team: Team) -> MetricValue:
        """The value of the metric for values, (values, rows)."""


@dataclass(frozen=True, eq=False)
class NamedMetric:
    """A metric of the package."""

    metric: metrics.BuiltInMetric
    scale: Scale

    def check(self, labels: Labels) -> None:
        """Refuse labels that have no such metric, whatever the values."""
        with called_metric():
            self.metric.check(labels)

    def compute(self, values: Floats, labels: Labels, team: Team) -> MetricValue:
        """The value of the metric for values, (values, rows)."""
        return self.metric.compute(self.scale.for_metrics(values, team), labels)


@dataclass(frozen=True, eq=False)
class FunctionMetric:
    """A metric that a user wrote: f(y, prediction), or f(y, prediction, weight).

    It gives a number that is better when lower, or name, value and higher_is_better.
    """

    function: Callable[..., Any]
    scale: Scale

    def check(self, labels: Labels) -> None:
        """Whatever target there is may have this metric."""

    def compute(self, values: Floats, labels: Labels, team: Team) -> MetricValue:
        """The value of the metric for values, (values, rows)."""
        classes = self.scale.kind in ("two", "many")
        truth = labels.target.astype(np.int64) if classes else labels.for_functions().with_queries()
        found = self._call(truth, self.scale.predictions(values), labels.weight)
        return value_of_function(self.function, found)

    @cached_property
    def _call(self) -> WithWeight:
        return WithWeight("the metric", self.function)


def value_of_function(function: Callable[..., Any], found: object) -> MetricValue:
    """What a custom metric returned; a number alone is better when lower."""
    name = name_of(function)
    if isinstance(found, numbers.Real | np.ndarray):
        return MetricValue(name, checked_number(name, found), False)
    return checked_value(name, found)


@dataclass(frozen=True, eq=False)
class ScorerMetric:
    """A scorer of scikit-learn, which sees the user's own labels and is better when higher."""

    scorer: Any
    scale: Scale

    def check(self, labels: Labels) -> None:
        """Whatever target there is may have this metric."""

    def compute(self, values: Floats, labels: Labels, team: Team) -> MetricValue:
        """The value of the metric for values, (values, rows)."""
        from spinney.estimators.custom import plain_name, scored

        predictions, classes = self.scale.for_metrics(values, team), self.scale.classes
        if self.scale.kind in ("two", "many"):
            classes = np.arange(max(2, predictions.outputs)) if classes is None else classes
            classes = np.repeat(classes, 2) if len(classes) == 1 else classes
        raw = predictions.raw[0] if predictions.outputs == 1 else predictions.raw.T
        shares = None if self.scale.config.objective == OWN else self.scale.predictions(values)
        name = plain_name(self.scorer)
        value = scored(self.scorer, name, raw, shares, labels.target, labels.weight, classes)
        return MetricValue(name, value, True)


def metric_of(metric: object, scale: Scale, default: str | None = None) -> ModelMetric:
    """The metric that a user means.

    Parameters
    ----------
    metric : str, callable or None
        A name, a function or a scorer of scikit-learn. None: the default.
    scale : Scale
        What the values mean.
    default : str, optional
        Name of the metric where none is given; without it the objective's own.

    Raises
    ------
    ParameterError
        If a name is unknown or does not fit.
    ParameterTypeError
        If it is neither a name nor a function.
    """
    if metric is None:
        metric = default or objective_info(scale.config.objective).metric
        if metric == "none":
            raise ParameterError("an objective of your own has no metric; name one by metric")
    if isinstance(metric, str):
        return NamedMetric(metrics.get(_fitting(metric, scale), scale.config), scale)
    if not callable(metric):
        raise ParameterTypeError(
            f"metric={shown(metric)} must be a name, a function or a scorer of scikit-learn"
        )
    if is_scorer(metric):
        return ScorerMetric(metric, scale)
    if takes_estimator(metric):
        raise ParameterTypeError(
            f"metric={shown(metric)} takes an estimator and its table, which a metric does not see; give a name, a function of "
            "(y, prediction) or (y, prediction, weight), or what scikit-learn's make_scorer or get_scorer gives"
        )
    return FunctionMetric(metric, scale)


def is_scorer(metric: object) -> bool:
    """Whether scikit-learn's `make_scorer` made it."""
    from spinney.estimators.custom import is_scorer

    return is_scorer(metric)


def _fitting(name: str, scale: Scale) -> str:
    """A name of a metric, if it fits what is predicted."""
    fitting = metrics_for(scale.config.objective, scale.config.num_class)
    with called_metric():
        plain, _ = name_and_cutoff(name)
    said = _SAID[scale.kind]
    if len(levels_of(scale.config)) > 1:
        fitting, said = ("pinball",), "predictions of several levels"
    for one in fitting:
        if is_spelled(plain, METRICS[one]):
            return name
    raise ParameterError(
        f"metric={name!r} does not fit {said}; the metrics that fit are {', '.join(fitting)}"
    )


@contextmanager
def called_metric() -> Iterator[None]:
    """Let messages speak of `metric`, where those of training say `eval_metric`."""
    try:
        yield
    except (ParameterError, ParameterTypeError, DataError) as error:
        kind: type[SpinneyError] = type(error)
        raise kind(str(error).replace("eval_metric", "metric")) from None
