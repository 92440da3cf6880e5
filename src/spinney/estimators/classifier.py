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

from spinney import objectives
from spinney.binning.dataset import Dataset
from spinney.data import Labels
from spinney.estimators.arguments import told
from spinney.estimators.continuing import Start
from spinney.estimators.documents import documented
from spinney.estimators.generated import GBMClassifierParameters
from spinney.estimators.labels import (
    certain_scores,
    check_class_weight,
    find_classes,
    learn_classes,
    only_class,
    weigh_classes,
    weigh_validation,
)
from spinney.estimators.objectives import classification_objective, is_binary
from spinney.estimators.row_by_row import RowByRow
from spinney.params.objectives import OWN


def _has_probabilities(estimator: Any) -> bool:
    model = getattr(estimator, "model_", None)
    if callable(estimator.objective) if model is None else model.objective == OWN:
        raise AttributeError(
            "predict_proba is not available where objective is a function: its scores have no known probabilities; use "
            "decision_function"
        )
    return True


@documented
class GBMClassifier(ClassifierMixin, GBMClassifierParameters, RowByRow):
    """Gradient boosting of trees for two classes or more; labels may be strings, whole numbers or booleans.

    Where all rows with a weight above 0 are of one class, as in a fold without a rare label, nothing is left to learn: the
    model has no trees (`n_iter_` is 0, `evals_result_` is empty) and predicts that class.

    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes_,)
        The labels, sorted.
    n_classes_ : int
        Number of classes.
    model_ : Model
        The fitted model; it knows the classes by their places in `classes_`.
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
    >>> classifier = sp.GBMClassifier(n_estimators=30).fit(X, y)
    >>> classifier.predict([[0.2], [0.8]]).tolist()
    ['ash', 'oak']
    >>> classifier.predict_proba([[0.2]]).round(1)
    array([[1., 0.]])
    """

    classes_: NDArray[Any]
    n_classes_: int
    class_weight: object

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not is_binary(self.objective)
        return tags

    @told
    def predict(
        self, X: object, *, base_margin: ArrayLike | None = None, rounds: int | None = None
    ) -> NDArray[Any]:
        """Predict the most probable class.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.
        base_margin : array of shape (rows,) or (rows, classes), optional
            Raw scores that the rows start from, in place of the base score.
        rounds : int, optional
            Use the first so many rounds, from 0 to `n_iter_`. Without it `n_estimators_`.

        Returns
        -------
        ndarray of shape (rows,)
            Labels.
        """
        return self._labels(self._raw_scores(X, base_margin, rounds))

    @available_if(_has_probabilities)
    @told
    def predict_proba(
        self, X: object, *, base_margin: ArrayLike | None = None, rounds: int | None = None
    ) -> NDArray[np.float64]:
        """Predict the probability of each class. The parameters are those of `predict`.

        Returns
        -------
        float64 array of shape (rows, classes)
            In the order of `classes_`. For a single class, a column of ones. Not there where `objective` is a function:
            nobody knows what probabilities its scores stand for.
        """
        return self._probabilities(self._raw_scores(X, base_margin, rounds))

    @told
    def decision_function(
        self, X: object, *, base_margin: ArrayLike | None = None, rounds: int | None = None
    ) -> NDArray[np.float64]:
        """Raw scores. The parameters are those of `predict`.

        Returns
        -------
        float64 array of shape (rows,) or (rows, classes)
            Log-odds of the second of two classes (-40 for a single class, which is certain); else one score a class, of
            which softmax makes probabilities, or with one_vs_rest the log-odds of each. With a function as `objective`, its
            scores.
        """
        return self._raw_scores(X, base_margin, rounds)

    @told
    def staged_predict(
        self, X: object, *, base_margin: ArrayLike | None = None, rounds: int | None = None
    ) -> Iterator[NDArray[Any]]:
        """Predict the class after each round, up to the rounds that `predict` uses.

        Yields
        ------
        ndarray of shape (rows,)
        """
        return map(self._labels, self._staged_scores(X, base_margin, rounds))

    @available_if(_has_probabilities)
    @told
    def staged_predict_proba(
        self, X: object, *, base_margin: ArrayLike | None = None, rounds: int | None = None
    ) -> Iterator[NDArray[np.float64]]:
        """Predict the probabilities after each round, up to the rounds that `predict_proba` uses.

        Yields
        ------
        float64 array of shape (rows, classes)
        """
        return map(self._probabilities, self._staged_scores(X, base_margin, rounds))

    @told
    def staged_decision_function(
        self, X: object, *, base_margin: ArrayLike | None = None, rounds: int | None = None
    ) -> Iterator[NDArray[np.float64]]:
        """Raw scores after each round, up to the rounds that `decision_function` uses.

        Yields
        ------
        float64 array of shape (rows,) or (rows, classes)
        """
        return self._staged_scores(X, base_margin, rounds)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_class_weight(self.class_weight)

    def _labels(self, raw: NDArray[np.float64]) -> NDArray[Any]:
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

    def _learn_target(
        self, y: object, rows: int, start: Start | None
    ) -> tuple[NDArray[np.float64], Mapping[str, object]]:
        if start is None or start.classes is None:
            self.classes_, codes = learn_classes(y, rows)
        else:
            self.classes_, codes = start.classes, find_classes(y, rows, start.classes)
        self.n_classes_ = len(self.classes_)
        return codes, self._objective_for(self.n_classes_)

    def _told(self) -> dict[str, object]:
        # The objective may have been set for another fit.
        return self._objective_for(min(self.n_classes_, 2) if is_binary(self.objective) else self.n_classes_)

    def _objective_for(self, classes: int) -> dict[str, object]:
        objective = classification_objective(self.objective, classes)
        return {"objective": objective} if classes <= 2 else {"objective": objective, "num_class": classes}

    def _read_target(self, y: object, rows: int) -> NDArray[np.float64]:
        return find_classes(y, rows, self.classes_)

    def _outputs(self) -> int:
        return 1 if self.n_classes_ <= 2 else self.n_classes_

    def _strata(self, target: NDArray[np.float64]) -> NDArray[np.int64]:
        return target.astype(np.int64)

    def _row_weights(self, labels: Labels) -> NDArray[np.float64] | None:
        return weigh_classes(self.class_weight, self.classes_, labels.target, labels.weight)

    def _eval_weights(self, class_weight: object, labels: Labels) -> NDArray[np.float64] | None:
        return weigh_validation(class_weight, self.classes_, labels.target, labels.weight)

    def _fixed_scores(self, dataset: Dataset, start: Start | None) -> NDArray[np.float64] | None:
        if start is not None and self.n_classes_ > 1:
            return None  # there are trees of all classes
        only = None if dataset.target is None else only_class(dataset.target, dataset.weight)
        return None if only is None else certain_scores(only, self.n_classes_)
