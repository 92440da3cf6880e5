"""Gradient boosting for classes."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any, allow-untyped-decorators

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from spinney import objectives
from spinney.data import Labels, read_weight, target_columns
from spinney.data.arrays import refuse_dask
from spinney.data.classes import (
    are_of_labels,
    certain_scores,
    check_class_weight,
    check_label_columns,
    check_label_weight,
    class_codes,
    classes_of_labels,
    fit_classes,
    only_class,
    read_label_columns,
    weigh_classes,
    weigh_labels,
    weigh_validation,
)
from spinney.estimators.base import suggest_arguments
from spinney.estimators.boosting import PointwiseGBM
from spinney.estimators.constructors import documented
from spinney.estimators.continuation import Continuation
from spinney.estimators.custom import classification_objective, is_binary, takes_labels
from spinney.estimators.generated import GBMClassifierParameters
from spinney.params.objectives import OWN


def has_probabilities(estimator: Any) -> bool:
    """Whether an estimator's scores have known probabilities; an error that scikit-learn requires where not."""
    model = getattr(estimator, "model_", None)
    if callable(estimator.objective) if model is None else model.objective == OWN:
        raise AttributeError(
            "predict_proba is not available where objective is a function: its scores have no known probabilities; use "
            "decision_function"
        )
    return True


@documented
class GBMClassifier(ClassifierMixin, GBMClassifierParameters, PointwiseGBM):
    """Gradient boosting of trees for two classes or more; labels may be strings, whole numbers or booleans.

    Where all rows with a weight above 0 are of one class, as in a fold without a rare label, nothing is left to learn: the
    model has no trees (`n_iter_` is 0, `evals_result_` is empty) and predicts that class.

    A `y` of several columns of 0 and 1 has several labels a row, each learned by trees of its own with log_loss or focal.
    Predictions, probabilities and raw scores are then (rows, labels), and `score` is the share of rows of which every label is
    right. A label that all rows have, or none, starts as certain: at a raw score of 40 or -40.

    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes_,), or (labels, 2)
        The labels, sorted; with several labels a row, 0 and 1 for each of them.
    n_classes_ : int, or list of int
        Number of classes; with several labels a row, 2 for each of them.
    model_ : Model
        The fitted model; its classes are places in `classes_`.
    {attributes}

    See Also
    --------
    GBMRegressor : The same for numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney as sp
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> y = np.where(X[:, 0] < 0.5, "ash", "oak")
    >>> classifier = sp.GBMClassifier(n_estimators=60).fit(X, y)
    >>> classifier.predict([[0.2], [0.8]]).tolist()
    ['ash', 'oak']
    >>> classifier.predict_proba([[0.2]]).round(1)
    array([[1., 0.]])
    """

    classes_: NDArray[Any]
    n_classes_: int | list[int]
    class_weight: object

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not is_binary(self.objective)
        tags.classifier_tags.multi_label = takes_labels(self.objective)
        return tags

    @suggest_arguments
    def predict(
        self, X: object, *, base_margin: ArrayLike | None = None, rounds: int | None = None
    ) -> NDArray[Any]:
        """Predict the most probable class.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.
        base_margin : array of shape (rows,), (rows, classes) or (rows, labels), optional
            Raw scores that the rows start from, in place of the base score.
        rounds : int, optional
            Use the first so many rounds, from 0 to `n_iter_`. Without it `n_estimators_`.

        Returns
        -------
        ndarray of shape (rows,), or int64 array of shape (rows, labels)
            Labels; where a row may have several, 1 for those that are more probable than not, else 0.
        """
        return self._labels(self._raw_scores(X, base_margin, rounds))

    @available_if(has_probabilities)
    @suggest_arguments
    def predict_proba(
        self, X: object, *, base_margin: ArrayLike | None = None, rounds: int | None = None
    ) -> NDArray[np.float64]:
        """Predict the probability of each class. The parameters are those of `predict`.

        Returns
        -------
        float64 array of shape (rows, classes) or (rows, labels)
            In the order of `classes_`; of several labels a row, the probability of each. For a single class, a column of ones.
            Not there where `objective` is a function, whose scores have no known probabilities.
        """
        return self._probabilities(self._raw_scores(X, base_margin, rounds))

    @suggest_arguments
    def decision_function(
        self, X: object, *, base_margin: ArrayLike | None = None, rounds: int | None = None
    ) -> NDArray[np.float64]:
        """Raw scores. The parameters are those of `predict`.

        Returns
        -------
        float64 array of shape (rows,) or (rows, classes)
            Log-odds of the second of two classes (-40 for a single class, which is certain); else one score a class, of
            which softmax makes probabilities, or with one_vs_rest, or several labels a row, the log-odds of each. With a
            function as `objective`, its scores.
        """
        return self._raw_scores(X, base_margin, rounds)

    @suggest_arguments
    def staged_predict(
        self, X: object, *, base_margin: ArrayLike | None = None, rounds: int | None = None
    ) -> Iterator[NDArray[Any]]:
        """Predict the class after each round, up to the rounds that `predict` uses.

        Yields
        ------
        ndarray of shape (rows,) or (rows, labels)
        """
        return map(self._labels, self._staged_scores(X, base_margin, rounds))

    @available_if(has_probabilities)
    @suggest_arguments
    def staged_predict_proba(
        self, X: object, *, base_margin: ArrayLike | None = None, rounds: int | None = None
    ) -> Iterator[NDArray[np.float64]]:
        """Predict the probabilities after each round, up to the rounds that `predict_proba` uses.

        Yields
        ------
        float64 array of shape (rows, classes) or (rows, labels)
        """
        return map(self._probabilities, self._staged_scores(X, base_margin, rounds))

    @suggest_arguments
    def staged_decision_function(
        self, X: object, *, base_margin: ArrayLike | None = None, rounds: int | None = None
    ) -> Iterator[NDArray[np.float64]]:
        """Raw scores after each round, up to the rounds that `decision_function` uses.

        Yields
        ------
        float64 array of shape (rows,) or (rows, classes)
        """
        return self._staged_scores(X, base_margin, rounds)

    @suggest_arguments
    def score(self, X: object, y: object, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy: the share of rows whose class is predicted or, of several labels a row, all of whose labels are.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.
        y : array of shape (rows,) or (rows, labels)
            The labels.
        sample_weight : array of shape (rows,), optional
            Weights of the rows.

        Returns
        -------
        float
        """
        check_is_fitted(self, "model_")
        refuse_dask(y, "y", type(self).__name__)
        refuse_dask(sample_weight, "sample_weight", type(self).__name__)
        if not are_of_labels(self.classes_):
            return float(super().score(X, y, sample_weight))
        found = self.predict(X)
        right = (found == self._read_target(y, len(found))).all(axis=1)
        return float(np.average(right, weights=read_weight(sample_weight, len(found))))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if are_of_labels(self.classes_):
            check_label_weight(self.class_weight)
        else:
            check_class_weight(self.class_weight)

    def _labels(self, raw: NDArray[np.float64]) -> NDArray[Any]:
        if are_of_labels(self.classes_):
            return (raw > 0).astype(np.int64)
        if self.n_classes_ == 1:
            return np.repeat(self.classes_, len(raw))
        codes = (raw > 0).astype(np.intp) if raw.ndim == 1 else raw.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def _probabilities(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.n_classes_ == 1:
            return np.ones((len(raw), 1))
        shares = objectives.get(self.model_.params).link(raw)
        return np.column_stack([1 - shares, shares]) if shares.ndim == 1 else shares

    def _fit_target(
        self, y: object, rows: int, start: Continuation | None
    ) -> tuple[NDArray[np.float64], Mapping[str, object]]:
        columns = target_columns(y)
        known = None if start is None else start.classes
        if are_of_labels(known):
            check_label_columns(len(columns), len(known))
        if len(columns) > 1:
            codes = read_label_columns(columns, rows)
            self._set_classes(classes_of_labels(len(columns)))
        elif known is not None:
            codes = class_codes(y, rows, known)
            self._set_classes(known)
        else:
            classes, codes = fit_classes(y, rows)
            self._set_classes(classes)
        return codes, self._params_of_classes(self.classes_)

    def _set_classes(self, classes: NDArray[Any]) -> None:
        """Set the classes: labels, or for each of several labels a row whether it is there."""
        self.classes_ = classes
        self.n_classes_ = [2] * len(classes) if are_of_labels(classes) else len(classes)

    def _objective_params(self) -> dict[str, object]:
        # The objective may have been set for another fit.
        single = not are_of_labels(self.classes_) and is_binary(self.objective)
        return self._params_of_classes(self.classes_[:2] if single else self.classes_)

    def _params_of_classes(self, classes: NDArray[Any]) -> dict[str, object]:
        if are_of_labels(classes):
            return {**self._objective_for(2), "num_target": len(classes)}
        return self._objective_for(len(classes))

    def _objective_for(self, classes: int) -> dict[str, object]:
        objective = classification_objective(self.objective, classes)
        return {"objective": objective} if classes <= 2 else {"objective": objective, "num_class": classes}

    def _read_target(self, y: object, rows: int) -> NDArray[np.float64]:
        if not are_of_labels(self.classes_):
            return class_codes(y, rows, self.classes_)
        columns = target_columns(y)
        check_label_columns(len(columns), len(self.classes_))
        return read_label_columns(columns, rows)

    def _check_target(self, y: object, rows: int) -> None:
        columns = target_columns(y)
        if len(columns) > 1:
            read_label_columns(columns, rows)
        else:
            fit_classes(y, rows)

    def _strata(self, target: NDArray[np.float64]) -> NDArray[np.int64]:
        return super()._strata(target) if target.ndim > 1 else target.astype(np.int64)

    def _row_weights(self, labels: Labels) -> NDArray[np.float64] | None:
        if are_of_labels(self.classes_):
            return weigh_labels(self.class_weight, labels.target, labels.weight, "class_weight")
        return weigh_classes(self.class_weight, self.classes_, labels.target, labels.weight)

    def _eval_weights(self, class_weight: object, labels: Labels) -> NDArray[np.float64] | None:
        if are_of_labels(self.classes_):
            return weigh_labels(class_weight, labels.target, labels.weight, "eval_class_weight")
        return weigh_validation(class_weight, self.classes_, labels.target, labels.weight)

    def _fixed_scores(self, labels: Labels, start: Continuation | None) -> NDArray[np.float64] | None:
        if are_of_labels(self.classes_) or (start is not None and len(self.classes_) > 1):
            return None  # labels have trees of their own; there are trees of all classes
        only = only_class(labels.target, labels.weight)
        return None if only is None else certain_scores(only, len(self.classes_))
