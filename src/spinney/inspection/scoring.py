"""Metrics of predictions: what predictions are of, how each kind of metric is computed, and predictions given without a model."""

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
from spinney.data import Labels, as_matrix, read_class_labels, read_table, read_vector
from spinney.data.arrays import plain_array
from spinney.data.classes import class_codes
from spinney.data.frame import frame_vector, is_frame
from spinney.errors import DataError, ParameterError, ParameterTypeError, SpinneyError
from spinney.jit.team import Team
from spinney.messages import shown
from spinney.metrics import GivenPredictions, MetricValue, Predictions
from spinney.metrics.custom import checked_value
from spinney.objectives.survival import is_survival, read_times
from spinney.params import (
    Config,
    MetricInfo,
    kind_of,
    levels_of,
    link_of,
    metrics_for,
    objective_info,
)
from spinney.params.metrics import METRICS, is_spelled, name_and_cutoff
from spinney.params.objectives import OWN
from spinney.user_functions import WithWeight, checked_number, name_of, takes_estimator

Floats = NDArray[np.float64]
# Kinds of predictions, in messages.
_DESCRIPTIONS = {
    "numbers": "predictions of numbers",
    "positive": "predictions of numbers above 0",
    "two": "predictions of two classes",
    "many": "predictions of more than two classes",
    "ranks": "scores that rank the rows of a query",
    "hazards": "predictions of hazards",
    "times": "predictions of times",
}


@dataclass(frozen=True, eq=False)
class PredictionKind:
    """What values, (values, rows), of one output are predictions of: numbers, classes, scores or times.

    Attributes
    ----------
    config : Config
        Its objective determines what is predicted, and its parameters are those of metrics.
    raw : bool
        Whether the values are raw scores of the objective, or predictions.
    classes : ndarray, or None
        Labels of the classes, where a target has such.
    one_class : bool
        Whether the values are probabilities of the only class there is.
    """

    config: Config
    raw: bool
    classes: NDArray[Any] | None = None
    one_class: bool = False

    @classmethod
    def of_numbers(cls) -> PredictionKind:
        """Predicted numbers."""
        return cls(Config(), raw=False)

    @classmethod
    def of_classes(cls, count: int, classes: NDArray[Any] | None, *, raw: bool = False) -> PredictionKind:
        """Probabilities of all of so many classes; or raw scores, of which there is one for two classes, that of the second."""
        config = Config(objective="softmax", num_class=count) if count > 2 else Config(objective="log_loss")
        return cls(config, raw, classes, one_class=count == 1)

    def with_params(self, metric: str, params: Mapping[str, object]) -> PredictionKind:
        """The same with other parameters of a metric."""
        if not params:
            return self
        known = {
            "objective": self.config.objective,
            "num_class": self.config.num_class,
            "eval_metric": metric,
        }
        with renamed_in_errors():
            return replace(self, config=Config.parse({**known, **params}))

    @property
    def name(self) -> str:
        """What is predicted: numbers, numbers above 0, one of two classes, or one of many."""
        return kind_of(self.config.objective)

    def for_metrics(self, values: Floats, team: Team) -> Predictions:
        """Values as metrics take them."""
        if self.raw:
            return Predictions(values, link_of(self.config), team)
        if self.one_class:
            values = np.concatenate([values, 1.0 - values])
        return GivenPredictions(values, self.name, team)

    def for_functions(self, values: Floats) -> Floats:
        """What functions of users get: numbers, probabilities of the second of two classes, or of all, (rows, classes)."""
        if self.raw:
            found = values[0] if len(values) == 1 else np.ascontiguousarray(values.T)
            return objectives.get(self.config).link(found)
        if self.one_class:
            values = 1.0 - values
        return values[-1].copy() if self.name != "many" else np.ascontiguousarray(values.T)

    def read_target(self, y: object, rows: int) -> Floats:
        """Numbers, or places of labels among the classes."""
        if self.classes is not None:
            return class_codes(y, rows, self.classes)
        if is_survival(self.config.objective):
            return read_times(y, rows, self.config)
        target = read_vector(y, rows, "y", allow_none=False)
        if self.name in ("two", "many"):
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
    kind: PredictionKind

    def check(self, labels: Labels) -> None:
        """Refuse labels that have no such metric, whatever the values."""
        with renamed_in_errors():
            self.metric.check(labels)

    def compute(self, values: Floats, labels: Labels, team: Team) -> MetricValue:
        """The value of the metric for values, (values, rows)."""
        return self.metric.compute(self.kind.for_metrics(values, team), labels)


@dataclass(frozen=True, eq=False)
class FunctionMetric:
    """A metric that a user wrote: f(y, prediction), or f(y, prediction, weight).

    It gives a number that is better when lower, or name, value and higher_is_better.
    """

    function: Callable[..., Any]
    kind: PredictionKind

    def check(self, labels: Labels) -> None:
        """Any target may have this metric."""

    def compute(self, values: Floats, labels: Labels, team: Team) -> MetricValue:
        """The value of the metric for values, (values, rows)."""
        classes = self.kind.name in ("two", "many")
        truth = labels.target.astype(np.int64) if classes else labels.for_functions().with_queries()
        found = self._call(truth, self.kind.for_functions(values), labels.weight)
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
    kind: PredictionKind

    def check(self, labels: Labels) -> None:
        """Any target may have this metric."""

    def compute(self, values: Floats, labels: Labels, team: Team) -> MetricValue:
        """The value of the metric for values, (values, rows)."""
        from spinney.inspection.scorers import call_scorer, scorer_name

        predictions, classes = self.kind.for_metrics(values, team), self.kind.classes
        if self.kind.name in ("two", "many"):
            classes = np.arange(max(2, predictions.outputs)) if classes is None else classes
            classes = np.repeat(classes, 2) if len(classes) == 1 else classes
        raw = predictions.raw[0] if predictions.outputs == 1 else predictions.raw.T
        shares = None if self.kind.config.objective == OWN else self.kind.for_functions(values)
        name = scorer_name(self.scorer)
        value = call_scorer(self.scorer, name, raw, shares, labels.target, labels.weight, classes)
        return MetricValue(name, value, True)


def metric_of(metric: object, kind: PredictionKind, default: str | None = None) -> ModelMetric:
    """The metric that a user names or gives.

    Parameters
    ----------
    metric : str, callable or None
        A name, a function or a scorer of scikit-learn. None: the default.
    kind : PredictionKind
        What the values are predictions of.
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
        metric = default or objective_info(kind.config.objective).metric
        if metric == "none":
            raise ParameterError("an objective of your own has no metric; name one by metric")
    if isinstance(metric, str):
        return NamedMetric(metrics.get(_fitting(metric, kind), kind.config), kind)
    if not callable(metric):
        raise ParameterTypeError(
            f"metric={shown(metric)} must be a name, a function or a scorer of scikit-learn"
        )
    from spinney.inspection.scorers import is_scorer

    if is_scorer(metric):
        return ScorerMetric(metric, kind)
    if takes_estimator(metric):
        raise ParameterTypeError(
            f"metric={shown(metric)} takes an estimator and its table, which a metric does not see; give a name, a function of "
            "(y, prediction) or (y, prediction, weight), or what scikit-learn's make_scorer or get_scorer gives"
        )
    return FunctionMetric(metric, kind)


def _fitting(name: str, kind: PredictionKind) -> str:
    """A name of a metric, if it fits what is predicted."""
    fitting = metrics_for(kind.config.objective, kind.config.num_class)
    with renamed_in_errors():
        plain, _ = name_and_cutoff(name)
    predicted = _DESCRIPTIONS[kind.name]
    if len(levels_of(kind.config)) > 1:
        fitting, predicted = ("pinball",), "predictions of several levels"
    for one in fitting:
        if is_spelled(plain, METRICS[one]):
            return name
    raise ParameterError(
        f"metric={name!r} does not fit {predicted}; the metrics that fit are {', '.join(fitting)}"
    )


@contextmanager
def renamed_in_errors() -> Iterator[None]:
    """Write `metric` in messages, where those of training have `eval_metric`."""
    try:
        yield
    except (ParameterError, ParameterTypeError, DataError) as error:
        error_type: type[SpinneyError] = type(error)
        raise error_type(str(error).replace("eval_metric", "metric")) from None


def array_of(values: Any, what: str) -> NDArray[Any]:
    """Values of rows as an array, from a frame, a list or any kind of array."""
    if is_frame(values):
        shape: tuple[int, ...] = getattr(values, "shape", ())
        if len(shape) == 2 and shape[1] != 1:
            return as_matrix(read_table(values, what=what))
        return frame_vector(values, what)
    array = plain_array(values, what)
    if array.ndim == 0:
        raise DataError(f"{what} must hold one value for each row, got {values!r:.60}")
    return array


def read_predictions(
    metric: str, y: object, prediction: object, classes: object = None
) -> tuple[PredictionKind, Floats, Floats]:
    """Read predictions and targets that users give without a model, as a metric takes them.

    Parameters
    ----------
    metric : str
        Name of the metric.
    y, prediction, classes : object
        As `bootstrap_interval` takes them.

    Returns
    -------
    kind : PredictionKind
        What the predictions are of.
    values : float64[values, rows]
        The predictions.
    target : float64[rows]
        Numbers, or places of labels among the classes.
    """
    with renamed_in_errors():
        plain, _ = name_and_cutoff(metric)
    infos = [info for info in METRICS.values() if is_spelled(plain, info)]
    if not infos:
        raise ParameterError(f"metric={metric!r} is unknown; there are {', '.join(METRICS)}")
    given, rows = array_of(prediction, "prediction"), len(array_of(y, "y"))
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim not in (1, 2):
        raise DataError(f"prediction has shape {given.shape}; it must be (rows,) or (rows, classes)")
    if len(given) != rows:
        raise DataError(
            f"prediction has {len(given)} rows, but y has {rows}; give one prediction for each row"
        )
    if given.ndim == 2:
        of_classes = any("many" in info.fits or "two" in info.fits for info in infos)
        if not of_classes or array_of(y, "y").shape[1:] not in ((), (1,)):
            raise DataError(
                f"prediction has {given.shape[1]} columns, but metric={metric!r} takes one number a row; give the columns of "
                "targets or levels one by one, or a function as metric"
            )
        shares = _finite(given)
        _check_probabilities(shares, metric)
        labels = _classes(y, rows, classes, given.shape[1])
        kind = PredictionKind.of_classes(len(labels), labels)
        return kind, np.ascontiguousarray(shares.T), kind.read_target(y, rows)
    info = next((one for one in infos if one.fits != ("many",)), infos[0])
    if info.fits == ("many",):
        raise DataError(
            f"metric={metric!r} needs the probability of every class; prediction must be (rows, classes)"
        )
    return _of_vector(info, y, given, rows, classes)


def _of_vector(
    info: MetricInfo, y: object, given: NDArray[Any], rows: int, classes: object
) -> tuple[PredictionKind, Floats, Floats]:
    """One value a row: a number, a score within a query, a score or probability of the second of two classes, or a label."""
    if info.form == "by_query":
        kind = PredictionKind(Config(objective="rank_ndcg"), raw=True)
        return kind, _finite(given).reshape(1, -1), kind.read_target(y, rows)
    if "numbers" in info.fits and info.looks_at != "order":
        kind = PredictionKind.of_numbers()
        return kind, _finite(given).reshape(1, -1), kind.read_target(y, rows)
    if "two" not in info.fits:
        kind = PredictionKind(Config(objective="poisson"), raw=False)
        values = _finite(given)
        if values.min() <= 0:
            at = int(np.argmax(values <= 0))
            raise DataError(
                f"metric={info.name!r} needs predictions above 0, got prediction[{at}] = {values[at]:g}"
            )
        return kind, values.reshape(1, -1), kind.read_target(y, rows)
    if info.looks_at == "class" and _are_labels(given, y, rows):
        return _of_labels(y, given, rows, classes)
    labels = _classes(y, rows, classes, 2)
    raw = info.looks_at == "order"
    values = _finite(given)
    if not raw:
        _check_probabilities(values, info.name)
    kind = PredictionKind.of_classes(2, labels, raw=raw)
    return kind, values.reshape(1, -1), kind.read_target(y, rows)


def _are_labels(given: NDArray[Any], y: object, rows: int) -> bool:
    """Whether predictions are labels, and not probabilities; 0 and 1 may be either, which comes to the same."""
    if given.dtype.kind not in "biuf":
        return True
    known = set(read_class_labels(y, rows)[0].tolist())
    found = set(np.unique(given).tolist())
    if known <= {0, 1}:
        return False
    # Whole numbers are labels; so are other numbers that y has, unless they may be probabilities as well.
    return given.dtype.kind in "iu" or (found <= known and not (found <= {0, 1} and len(known) == 2))


def _of_labels(
    y: object, given: NDArray[Any], rows: int, classes: object
) -> tuple[PredictionKind, Floats, Floats]:
    """Labels become certain probabilities."""
    if classes is None:
        present, guessed = read_class_labels(y, rows)[0].tolist(), read_class_labels(given, rows)[0].tolist()
        if isinstance(present[0], str) != isinstance(guessed[0], str):
            raise DataError(
                f"y has labels such as {present[0]!r}, prediction such as {guessed[0]!r}; they must be of one kind"
            )
        labels = np.array(sorted({*present, *guessed}), dtype=object if isinstance(present[0], str) else None)
    else:
        labels = _distinct_labels(classes)
    codes = class_codes(given, rows, labels).astype(np.int64)
    kind = PredictionKind.of_classes(len(labels), labels)
    values = np.zeros((len(labels), rows))
    values[codes, np.arange(rows)] = 1.0
    return kind, values, kind.read_target(y, rows)


def _classes(y: object, rows: int, classes: object, count: int) -> NDArray[Any]:
    """Labels of so many classes: those given, else those of y, which may be 0, 1 and so on."""
    found = read_class_labels(y, rows)[0] if classes is None else _distinct_labels(classes)
    if len(found) == count:
        return found
    if classes is None and set(found.tolist()) <= set(range(count)):
        return np.arange(count)
    raise DataError(
        f"prediction is of {count} classes, but {'y has' if classes is None else 'classes names'} {len(found)}; "
        "give the labels of the columns by classes"
    )


def _distinct_labels(classes: object) -> NDArray[Any]:
    labels = array_of(classes, "classes")
    if labels.ndim != 1 or len(set(labels.tolist())) < len(labels):
        raise DataError(f"classes={labels.tolist()!r:.60} must be a list of distinct labels")
    return labels


def _finite(given: NDArray[Any]) -> Floats:
    """Finite numbers."""
    flat = read_vector(given.reshape(-1), given.size, "prediction", allow_none=False)
    return flat.reshape(given.shape)


def _check_probabilities(values: Floats, metric: str) -> None:
    wrong = (values < 0) | (values > 1)
    if wrong.any():
        found = values[wrong][0]
        raise DataError(f"metric={metric!r} needs probabilities, from 0 to 1; prediction holds {found:g}")
