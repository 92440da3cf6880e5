"""What can be judged: models and fitted estimators, and what their values mean."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import read_table, target_columns
from spinney.data.classes import are_of_labels
from spinney.errors import DataError, ParameterTypeError
from spinney.jit.team import Team
from spinney.judging.replacing import Replaceable
from spinney.judging.scales import Scale
from spinney.judging.walks import ColumnReader, ShuffledScores
from spinney.messages import shown
from spinney.model.base import view_of
from spinney.model.boosted import Model
from spinney.model.forest import ForestModel
from spinney.model.isolation import IsolationModel
from spinney.sampling.orders import shuffled_orders

Floats = NDArray[np.float64]
Scores = Iterator[tuple[int, int, Floats]]


class Subject(ABC):
    """A model and the table that it is judged on.

    Attributes
    ----------
    scales : list of Scale
        What the values of each output mean.
    parts : list of slice
        Which values belong to each output.
    names : tuple of str, or None
        Names of the columns.
    columns, rows : int
        Size of the table.
    default : str, or None
        Name of the metric where none is given; None stands for the objective's own.
    """

    scales: list[Scale]
    parts: list[slice]
    names: tuple[str, ...] | None
    columns: int
    rows: int
    default: str | None = None

    @abstractmethod
    def values(self, n_jobs: int | None) -> Floats:
        """What it says of every row, (values, rows)."""

    @abstractmethod
    def shuffled(self, groups: Sequence[tuple[int, ...]], repeats: int, seed: int, team: Team) -> Scores:
        """Shuffle groups of columns; yields what `ShuffledScores.scores` does."""

    def targets(self, y: object) -> list[Floats]:
        """The target of each output."""
        if len(self.scales) == 1:
            return [self.scales[0].read_target(y, self.rows)]
        given = target_columns(y)
        if len(given) != len(self.scales):
            raise DataError(f"y has {len(given)} output(s); the model has {len(self.scales)}")
        return [scale.read_target(one, self.rows) for scale, one in zip(self.scales, given, strict=True)]


class BoostedSubject(Subject):
    """A boosted model."""

    def __init__(self, model: Model, X: object, classes: NDArray[Any] | None) -> None:
        self._model, self._table = model, model.read(X)
        targets = model.params.num_target
        known = list(classes) if are_of_labels(classes) else [classes] * targets
        # Every column of the target is judged alone; a metric is the mean over them.
        config = replace(model.params, num_target=1)
        self.scales = [Scale(config, raw=True, classes=one) for one in known]
        self.parts = [slice(k, k + 1) if targets > 1 else slice(None) for k in range(targets)]
        self.names, self.columns, self.rows = model.feature_names, model.n_features, self._table.rows

    def values(self, n_jobs: int | None) -> Floats:
        """Raw scores."""
        raw = self._model.raw_scores(self._table, n_jobs=n_jobs)
        return np.ascontiguousarray(raw.T)

    def shuffled(self, groups: Sequence[tuple[int, ...]], repeats: int, seed: int, team: Team) -> Scores:
        """Shuffle groups of columns."""
        rows = ColumnReader(self._table, self._model.absent)
        made, reordered = self._model.statistics, None
        if made is not None:
            groups = [made.with_encoded(group, share=True) for group in groups]
            reordered = partial(made.reordered, made.numbers(self._table))
        return ShuffledScores(view_of(self._model), rows, repeats, seed, team, reordered).scores(groups)


class ForestSubject(Subject):
    """A forest."""

    def __init__(self, model: ForestModel, X: object, labels: list[NDArray[Any]] | None) -> None:
        self._model, self._table = model, model.read(X)
        counts = model.classes or (1,) * model.outputs
        ends = np.cumsum(counts).tolist()
        self.parts = [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]
        if model.classes:
            known: list[NDArray[Any] | None] = [None] * len(counts) if labels is None else [*labels]
            self.scales = [Scale.of_classes(n, one) for n, one in zip(counts, known, strict=True)]
        else:
            self.scales = [Scale.of_numbers()] * model.outputs
        self.default = "accuracy" if model.classes else "r2"
        self.names, self.columns, self.rows = model.feature_names, model.n_features, self._table.rows

    def values(self, n_jobs: int | None) -> Floats:
        """Means over the trees."""
        return np.ascontiguousarray(self._model.values(self._table, n_jobs).T)

    def shuffled(self, groups: Sequence[tuple[int, ...]], repeats: int, seed: int, team: Team) -> Scores:
        """Shuffle groups of columns."""
        rows = ColumnReader(self._table, self._model.absent)
        return ShuffledScores(view_of(self._model), rows, repeats, seed, team).scores(groups)


class AnySubject(Subject):
    """An estimator of which nothing is known but how it predicts; or any object that predicts numbers or shares of classes."""

    _say: Callable[[Any, Any], Floats]

    def __init__(self, estimator: Any, X: object) -> None:
        table = read_table(X)
        self._estimator, self._X = estimator, X
        self.names, self.columns, self.rows = table.names, table.columns, table.rows
        self.parts = [slice(None)]
        if hasattr(estimator, "__sklearn_tags__"):
            self._learn_kind(estimator)
        elif isinstance(estimator, IsolationModel):
            self._find_outliers()
        else:
            self._say = _predicted
            values = self.values(None)
            count = len(values)
            self.scales = [Scale.of_classes(count, None) if count > 1 else Scale.of_numbers()]
            self.default = "accuracy" if count > 1 else "r2"

    def _find_outliers(self) -> None:
        """Read the scores of rows, which are below 0 where they are abnormal: -1."""
        self._say, self.default = _decided, "accuracy"
        self.scales = [Scale.of_classes(2, np.array([-1, 1]), raw=True)]

    def _learn_kind(self, estimator: Any) -> None:
        from sklearn.base import is_classifier, is_outlier_detector
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator)
        self.default = "accuracy"
        if is_outlier_detector(estimator):
            self._find_outliers()
        elif is_classifier(estimator):
            classes = np.asarray(estimator.classes_)
            if classes.ndim != 1:
                raise ParameterTypeError(
                    f"{type(estimator).__name__} predicts several outputs; give a model of one"
                )
            self._say = _shares if hasattr(estimator, "predict_proba") else _labels
            self.scales = [Scale.of_classes(len(classes), classes)]
        else:
            self._say, self.default = _numbers, "r2"
            self.scales = [Scale.of_numbers()]

    def values(self, n_jobs: int | None) -> Floats:
        """What the estimator predicts."""
        return self._say(self._estimator, self._X)

    def shuffled(self, groups: Sequence[tuple[int, ...]], repeats: int, seed: int, team: Team) -> Scores:
        """Predict the whole table again for each group and repeat."""
        table = Replaceable(self._X)
        for number, group in enumerate(groups):
            for repeat in range(repeats):
                order = shuffled_orders(seed, repeat, [min(group)], self.rows, team)[0]
                yield number, repeat, self._say(self._estimator, table.shuffled(group, order))


def _shares(estimator: Any, X: Any) -> Floats:
    return np.ascontiguousarray(np.asarray(estimator.predict_proba(X), np.float64).T)


def _labels(estimator: Any, X: Any) -> Floats:
    classes, said = np.asarray(estimator.classes_), np.asarray(estimator.predict(X))
    return np.array([said == one for one in classes], np.float64)


def _decided(estimator: Any, X: Any) -> Floats:
    return np.asarray(estimator.decision_function(X), np.float64).reshape(1, -1)


def _numbers(estimator: Any, X: Any) -> Floats:
    found = _predicted(estimator, X)
    if len(found) > 1:
        raise ParameterTypeError(f"{type(estimator).__name__} predicts several outputs; give a model of one")
    return found


def _predicted(model: Any, X: Any) -> Floats:
    found = np.asarray(model.predict(X), np.float64)
    return np.ascontiguousarray(found.reshape(len(found), -1).T)


def subject_of(model: Any, X: object) -> Subject:
    """A model or a fitted estimator, and a table.

    Raises
    ------
    ParameterTypeError
        If it cannot predict.
    DataError
        If the table has other columns than the model, or no rows.
    """
    known = getattr(model, "model_", model)
    if isinstance(known, Model):
        subject: Subject = BoostedSubject(known, X, getattr(model, "classes_", None))
    elif isinstance(known, ForestModel):
        labels = getattr(model, "classes_", None)
        labels = labels if labels is None or isinstance(labels, list) else [labels]
        subject = ForestSubject(known, X, labels)
    elif isinstance(model, type) or not hasattr(model, "predict"):
        raise ParameterTypeError(
            f"{shown(model)} is no model; give a Model, a ForestModel or a fitted estimator"
        )
    else:
        subject = AnySubject(model, X)
    if subject.rows == 0:
        raise DataError("X has no rows; give rows to judge the model by")
    return subject
