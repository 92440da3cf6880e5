"""What can be inspected: models and fitted estimators with a table, and what their values are predictions of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import read_table, target_columns
from spinney.data.arrays import as_array
from spinney.data.classes import are_of_labels
from spinney.data.frame import is_frame
from spinney.data.sparse import is_sparse
from spinney.errors import DataError, ParameterTypeError
from spinney.inspection.forest_leaves import by_output
from spinney.inspection.scoring import PredictionKind
from spinney.inspection.shuffled_scores import ColumnReader, ShuffledScores
from spinney.jit.team import Team
from spinney.messages import shown
from spinney.model.base import view_of
from spinney.model.boosted import Model
from spinney.model.forest import ForestModel
from spinney.model.isolation import IsolationModel
from spinney.sampling.orders import shuffled_orders

Floats = NDArray[np.float64]
Scores = Iterator[tuple[int, int, Floats]]


class ScoredModel(ABC):
    """A model and the table on which it is evaluated.

    Attributes
    ----------
    kinds : list of PredictionKind
        What the values of each output are predictions of.
    parts : list of slice
        Which values belong to each output.
    names : tuple of str, or None
        Names of the columns.
    columns, rows : int
        Size of the table.
    default : str, or None
        Name of the metric where none is given; None stands for the objective's own.
    """

    kinds: list[PredictionKind]
    parts: list[slice]
    names: tuple[str, ...] | None
    columns: int
    rows: int
    default: str | None = None

    @abstractmethod
    def values(self, n_jobs: int | None) -> Floats:
        """Its values for every row, (values, rows)."""

    @abstractmethod
    def shuffled(self, groups: Sequence[tuple[int, ...]], repeats: int, seed: int, team: Team) -> Scores:
        """Shuffle groups of columns; yields what `ShuffledScores.scores` does."""

    def targets(self, y: object) -> list[Floats]:
        """The target of each output."""
        if len(self.kinds) == 1:
            return [self.kinds[0].read_target(y, self.rows)]
        given = target_columns(y)
        if len(given) != len(self.kinds):
            raise DataError(f"y has {len(given)} output(s); the model has {len(self.kinds)}")
        return [kind.read_target(one, self.rows) for kind, one in zip(self.kinds, given, strict=True)]


def scored_model(model: Any, X: object) -> ScoredModel:
    """A model or a fitted estimator, and a table.

    A fitted estimator of ours has its model as `model_` and the labels of classes as `classes_`, which are public. An estimator
    that predicts by methods of its own, around one of ours or derived from it, predicts the whole table instead.

    Raises
    ------
    ParameterTypeError
        If it cannot predict.
    DataError
        If the table has other columns than the model, or no rows.
    """
    inner, classes = model, None
    if _predicts_by_model(type(model)):
        inner, classes = getattr(model, "model_", model), getattr(model, "classes_", None)
    if isinstance(inner, Model):
        scored: ScoredModel = ScoredBoosting(inner, X, classes)
    elif isinstance(inner, ForestModel):
        scored = ScoredForest(
            inner, X, classes if classes is None or isinstance(classes, list) else [classes]
        )
    elif isinstance(model, type) or not hasattr(model, "predict"):
        raise ParameterTypeError(
            f"{shown(model)} is no model; give a Model, a ForestModel or a fitted estimator"
        )
    else:
        scored = ScoredEstimator(model, X)
    if scored.rows == 0:
        raise DataError("X has no rows; give rows to evaluate the model on")
    return scored


def _predicts_by_model(kind: type) -> bool:
    """Whether all that a class predicts with is ours, so that its `model_` predicts the same."""
    methods = [getattr(kind, name, None) for name in ("predict", "predict_proba", "decision_function")]
    found = [method for method in methods if method is not None]
    return bool(found) and all(
        getattr(method, "__module__", "").partition(".")[0] == "spinney" for method in found
    )


class ScoredBoosting(ScoredModel):
    """A boosted model."""

    def __init__(self, model: Model, X: object, classes: NDArray[Any] | None) -> None:
        self._model, self._table = model, model.read(X)
        targets = model.params.num_target
        of_target = list(classes) if are_of_labels(classes) else [classes] * targets
        # Every column of the target is evaluated alone; a metric is the mean over them.
        config = replace(model.params, num_target=1)
        self.kinds = [PredictionKind(config, raw=True, classes=one) for one in of_target]
        self.parts = [slice(k, k + 1) if targets > 1 else slice(None) for k in range(targets)]
        self.names, self.columns, self.rows = model.feature_names, model.n_features, self._table.rows

    def values(self, n_jobs: int | None) -> Floats:
        """Raw scores."""
        raw = self._model.raw_scores(self._table, n_jobs=n_jobs)
        return np.ascontiguousarray(raw.T)

    def shuffled(self, groups: Sequence[tuple[int, ...]], repeats: int, seed: int, team: Team) -> Scores:
        """Shuffle groups of columns."""
        rows = ColumnReader(self._table, self._model.absent)
        encoding, reordered = self._model.statistics, None
        if encoding is not None:
            groups = [encoding.with_encoded(group, share=True) for group in groups]
            reordered = partial(encoding.reordered, encoding.numbers(self._table))
        trees = view_of(self._model)
        return ShuffledScores(trees, rows, range(repeats), seed, team, reordered).scores(groups)


class ScoredForest(ScoredModel):
    """A forest."""

    def __init__(self, model: ForestModel, X: object, labels: list[NDArray[Any]] | None) -> None:
        self._model, self._table = model, model.read(X)
        self.parts = by_output(model)
        if model.classes:
            of_output: list[NDArray[Any] | None] = [None] * model.outputs if labels is None else [*labels]
            self.kinds = [
                PredictionKind.of_classes(n, one) for n, one in zip(model.classes, of_output, strict=True)
            ]
        else:
            self.kinds = [PredictionKind.of_numbers()] * model.outputs
        self.default = "accuracy" if model.classes else "r2"
        self.names, self.columns, self.rows = model.feature_names, model.n_features, self._table.rows

    def values(self, n_jobs: int | None) -> Floats:
        """Means over the trees."""
        return np.ascontiguousarray(self._model.values(self._table, n_jobs).T)

    def shuffled(self, groups: Sequence[tuple[int, ...]], repeats: int, seed: int, team: Team) -> Scores:
        """Shuffle groups of columns."""
        rows = ColumnReader(self._table, self._model.absent)
        return ShuffledScores(view_of(self._model), rows, range(repeats), seed, team).scores(groups)


class ScoredEstimator(ScoredModel):
    """An estimator that can only predict whole tables; or any object that predicts numbers or shares of classes."""

    _predict: Callable[[Any, Any], Floats]

    def __init__(self, estimator: Any, X: object) -> None:
        table = read_table(X)
        self._estimator, self._X = estimator, X
        self.names, self.columns, self.rows = table.names, table.columns, table.rows
        self.parts = [slice(None)]
        if hasattr(estimator, "__sklearn_tags__"):
            self._use_tags(estimator)
        elif isinstance(estimator, IsolationModel):
            self._use_outlier_scores()
        else:
            self._predict = _predictions
            count = len(self.values(None))
            self.kinds = [
                PredictionKind.of_classes(count, None) if count > 1 else PredictionKind.of_numbers()
            ]
            self.default = "accuracy" if count > 1 else "r2"

    def _use_tags(self, estimator: Any) -> None:
        """Choose how to predict by what kind of estimator scikit-learn takes it for."""
        from sklearn.base import is_classifier, is_outlier_detector
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator)
        if is_outlier_detector(estimator):
            self._use_outlier_scores()
        elif is_classifier(estimator):
            classes = np.asarray(estimator.classes_)
            if classes.ndim != 1:
                raise ParameterTypeError(
                    f"{type(estimator).__name__} predicts several outputs; give a model of one"
                )
            self._predict = _probabilities if hasattr(estimator, "predict_proba") else _certain_labels
            self.kinds, self.default = [PredictionKind.of_classes(len(classes), classes)], "accuracy"
        else:
            self._predict = _numbers
            self.kinds, self.default = [PredictionKind.of_numbers()], "r2"

    def _use_outlier_scores(self) -> None:
        """Take the scores of rows, which are below 0 where they are abnormal, as those of two classes, -1 and 1."""
        self._predict = _decisions
        self.kinds, self.default = [PredictionKind.of_classes(2, np.array([-1, 1]), raw=True)], "accuracy"

    def values(self, n_jobs: int | None) -> Floats:
        """What the estimator predicts."""
        return self._predict(self._estimator, self._X)

    def shuffled(self, groups: Sequence[tuple[int, ...]], repeats: int, seed: int, team: Team) -> Scores:
        """Predict the whole table again for each group and repeat."""
        table = ShuffledTable(self._X)
        for number, group in enumerate(groups):
            for repeat in range(repeats):
                order = shuffled_orders(seed, repeat, [min(group)], self.rows, team)[0]
                yield number, repeat, self._predict(self._estimator, table.shuffled(group, order))


def _probabilities(estimator: Any, X: Any) -> Floats:
    return np.ascontiguousarray(np.asarray(estimator.predict_proba(X), np.float64).T)


def _certain_labels(estimator: Any, X: Any) -> Floats:
    """Predicted labels as probabilities of 0 and 1."""
    classes, predicted = np.asarray(estimator.classes_), np.asarray(estimator.predict(X))
    return np.array([predicted == one for one in classes], np.float64)


def _decisions(estimator: Any, X: Any) -> Floats:
    return np.asarray(estimator.decision_function(X), np.float64).reshape(1, -1)


def _numbers(estimator: Any, X: Any) -> Floats:
    found = _predictions(estimator, X)
    if len(found) > 1:
        raise ParameterTypeError(f"{type(estimator).__name__} predicts several outputs; give a model of one")
    return found


def _predictions(model: Any, X: Any) -> Floats:
    found = np.asarray(model.predict(X), np.float64)
    return np.ascontiguousarray(found.reshape(len(found), -1).T)


class ShuffledTable:
    """A copy of a user's table, of any kind, with some columns in another order of the rows.

    Parameters
    ----------
    X : table
        A NumPy array, a list of rows, a pandas, Polars or Arrow frame, or a SciPy sparse matrix.

    Examples
    --------
    >>> ShuffledTable([[1, 2], [3, 4]]).shuffled((1,), np.array([1, 0])).tolist()
    [[1, 4], [3, 2]]
    """

    def __init__(self, X: Any) -> None:
        if is_sparse(X):
            X = X.tocsc()
            X.sort_indices()
        self._X: Any = X if is_sparse(X) or is_frame(X) else as_array(X, "X")
        self._copy: NDArray[Any] | None = None

    def shuffled(self, columns: tuple[int, ...], order: NDArray[np.int32]) -> Any:
        """The table with some columns in another order: row i has their values of row order[i].

        An array that this returns is written over by the next call.
        """
        if is_sparse(self._X):
            return self._shuffled_sparse(columns, order)
        if is_frame(self._X):
            return _shuffled_frame(self._X, columns, order)
        if self._copy is None:
            self._copy = self._X.copy()
            self._written: tuple[int, ...] = ()
        for column in self._written:
            self._copy[:, column] = self._X[:, column]
        for column in columns:
            self._copy[:, column] = self._X[order, column]
        self._written = columns
        return self._copy

    def _shuffled_sparse(self, columns: tuple[int, ...], order: NDArray[np.int32]) -> Any:
        matrix = self._X.copy()
        back = np.empty(len(order), matrix.indices.dtype)
        back[order] = np.arange(len(order))
        for column in columns:
            stored = slice(matrix.indptr[column], matrix.indptr[column + 1])
            matrix.indices[stored] = back[matrix.indices[stored]]
        matrix.has_sorted_indices = False
        matrix.sort_indices()
        return matrix


def take_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of a user's table, which may come more than once.

    Examples
    --------
    >>> take_rows([[1, 2], [3, 4]], np.array([1, 1])).tolist()
    [[3, 4], [3, 4]]
    """
    if is_sparse(X):
        return X.tocsr()[rows]
    if not is_frame(X):
        return as_array(X, "X")[rows]
    import narwhals as nw

    return nw.from_native(X, eager_only=True)[rows.tolist(), :].to_native()


def _shuffled_frame(X: Any, columns: tuple[int, ...], order: NDArray[np.int32]) -> Any:
    if hasattr(X, "iloc"):
        frame = X.copy(deep=False)
        for column in columns:
            frame.isetitem(column, X.iloc[:, column].array.take(order))
        return frame
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    names = [frame.columns[column] for column in columns]
    return frame.with_columns(*(frame[name][order.tolist()] for name in names)).to_native()
