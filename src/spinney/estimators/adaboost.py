"""AdaBoost with scikit-learn's interface: fitting, the checks around it, and predictions.

Our own trees are boosted in `training`, copies of an estimator that is given in `adaboost_copies`.
"""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

import os
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from spinney.data import ForestTarget, read_class_target, read_number_target, read_table, read_weight
from spinney.data.arrays import refuse_dask
from spinney.data.sparse import is_sparse
from spinney.dataset import Dataset
from spinney.errors import DataError, DataTypeError
from spinney.estimators.adaboost_copies import ClonedEnsemble, Task, boost_copies, check_estimator
from spinney.estimators.base import (
    COLUMN_VECTOR,
    Scored,
    TreeEstimator,
    categories_of_text,
    check_verbose,
    is_column_vector,
    progress_bar,
    refuse_unsaved,
    restore_on_failure,
    with_columns_checked,
)
from spinney.estimators.constructors import documented
from spinney.estimators.files import save_estimator
from spinney.estimators.forest_base import check_size
from spinney.estimators.forest_trees import ClassTreeView, TreeView
from spinney.estimators.generated import AdaBoostClassifierParameters, AdaBoostRegressorParameters
from spinney.model.adaboost import AdaBoostModel
from spinney.params import AdaBoostConfig
from spinney.params.estimators import ADABOOST_LOSS, ADABOOST_ROUNDS
from spinney.params.parameter import is_drawn
from spinney.training.adaboost import LARGEST_POWER, train_adaboost

# The beginning is scikit-learn's, by which users may filter it.
INFINITE = (
    "Sample weights have reached infinite values: tree {done} multiplies those of its mistakes by e to the power of {last:.4g}. "
    "Boosting ends with it; try a lower learning_rate."
)


class AdaBoostBase(TreeEstimator):
    """Boosting by weights; subclasses have the rules of their targets."""

    estimator: Any
    n_estimators: int
    learning_rate: float
    resample: bool
    verbose: int

    model_: AdaBoostModel
    committee_: ClonedEnsemble
    n_features_in_: int
    _CONFIG = AdaBoostConfig

    def fit(self, X: object, y: object, sample_weight: ArrayLike | None = None) -> Self:
        """Boost.

        Parameters
        ----------
        X : table of shape (rows, columns)
            NumPy array, pandas, Polars or Arrow table, SciPy sparse matrix, or a list of rows. NaN and nulls are missing
            values; infinite values are an error. With `estimator` it is what that takes.
        y : array of shape (rows,)
            Target: numbers for a regressor; strings, whole numbers or booleans for a classifier.
        sample_weight : array of shape (rows,), optional
            Weights of the rows to start from, 0 or more; None starts from equal ones. A row of weight 0 takes no part.

        Returns
        -------
        estimator
            The estimator itself.
        """
        refuse_unsaved(self)
        with restore_on_failure(self):
            self._check_parameters()
            for name in ("model_", "committee_"):
                self.__dict__.pop(name, None)
            notes: list[Warning] = [DataConversionWarning(COLUMN_VECTOR)] if is_column_vector(y) else []
            if self.estimator is None:
                notes += self._boost_trees(X, y, sample_weight)
            else:
                self._boost_copies(X, y, sample_weight)
        done, last = len(self.estimator_weights_), float(self.estimator_weights_[-1])
        if last > LARGEST_POWER and done < self._rounds() and hasattr(self, "classes_"):
            notes.append(UserWarning(INFINITE.format(done=done, last=last)))
        for note in notes:
            warnings.warn(note, stacklevel=2)
        return self

    def _boost_trees(self, X: object, y: object, sample_weight: ArrayLike | None) -> list[Warning]:
        """Boost trees, and return the warnings for the user."""
        table = read_table(with_columns_checked(self, X, reset=True))
        self.n_features_in_ = table.columns
        target = self._one_output(y, table.rows)
        weight = read_weight(sample_weight, table.rows)
        config: AdaBoostConfig = self._config()
        if weight is not None and not weight.all():
            kept = weight > 0
            table, target, weight = table.take(kept), target.take(kept), weight[kept]
        check_size(target, weight)
        table, notes = categories_of_text(table, self.categorical)
        data = Dataset(
            table, weight=weight, max_bin=config.max_bin, bundle=False, absent=config.absent, unseen=config.unseen,
            categorical=self.categorical, n_jobs=config.n_jobs,
        ).binned  # fmt: skip
        rounds = self._rounds()
        with progress_bar("boosting", rounds, visible=bool(self.verbose)) as show:
            self.model_ = train_adaboost(
                config, data, target, rounds, weight=weight, n_jobs=config.n_jobs, on_tree=show
            )
        return notes

    def _boost_copies(self, X: object, y: object, sample_weight: ArrayLike | None) -> None:
        table: Any = with_columns_checked(self, X, reset=True)
        rows = read_table(table).rows
        table = table.tocsr() if is_sparse(table) else table  # a form of which rows can be taken
        target = self._one_output(y, rows)
        labels = getattr(self, "classes_", None)
        given = target.values[:, 0] if labels is None else labels[target.values[:, 0]]
        weight = read_weight(sample_weight, rows)
        task = Task(self.estimator, self._config(), table, given, weight, labels)
        rounds = self._rounds()
        with progress_bar("boosting", rounds, visible=bool(self.verbose)) as show:
            self.committee_ = boost_copies(task, rounds, show)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a model file in one step; `spinney.load_estimator` reads it, `spinney.load` its model.

        The file holds the model, the labels and the parameters, and no code. So an estimator that boosted another one, which
        was given as `estimator`, cannot be saved.

        Parameters
        ----------
        path : str or path-like
            Where to write; its folder must exist. On failure an old file is still there, whole.
        """
        check_is_fitted(self)
        if "model_" not in vars(self):
            member = type(self.committee_.members[0]).__name__
            raise DataTypeError(
                f"this {type(self).__name__} has boosted {member}, which no model file can hold: a file holds trees and never "
                "code. Boost our own trees (estimator=None) to save them"
            )
        save_estimator(self, path)

    @property
    def estimators_(self) -> list[Any]:
        """The trees one by one, as views; or the fitted copies of the estimator that was given."""
        check_is_fitted(self)
        if "model_" not in vars(self):
            return self.committee_.members
        return [self._view(tree) for tree in range(self.model_.trees)]

    @property
    def estimator_weights_(self) -> NDArray[np.float64]:
        """Weight of each tree, as scikit-learn counts it: twice the alpha of `spinney.adaboost_step`, or ln(1 / beta), times the
        learning rate; 1 for a tree without mistakes. There are as many as trees.
        """
        check_is_fitted(self)
        return self._ensemble.tree_weights

    @property
    def estimator_errors_(self) -> NDArray[np.float64]:
        """Error of each tree by the weights of its round: share of the weight that it gets wrong, or the mean loss."""
        check_is_fitted(self)
        return self._ensemble.tree_errors

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each column in the decrease of impurity, the mean over trees by their weights."""
        check_is_fitted(self)
        return self._ensemble.importance()

    @property
    def _ensemble(self) -> AdaBoostModel | ClonedEnsemble:
        """What predicts."""
        return self.model_ if "model_" in vars(self) else self.committee_

    def staged_score(self, X: object, y: object, sample_weight: ArrayLike | None = None) -> Iterator[float]:
        """What `score` gives after one tree, two trees, and so on, in turn.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.
        y : array of shape (rows,)
            Their targets.
        sample_weight : array of shape (rows,), optional
            Weights of the rows.

        Yields
        ------
        float
            Accuracy of a classifier, R2 of a regressor.
        """
        refuse_dask(y, "y", type(self).__name__)
        refuse_dask(sample_weight, "sample_weight", type(self).__name__)
        return (self._scored(y, predicted, sample_weight) for predicted in self.staged_predict(X))

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, tree: int) -> Any:
        return self.estimators_[tree]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self) or "committee_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        known = hasattr(self.estimator, "__sklearn_tags__")
        given = get_tags(self.estimator).input_tags if known else None
        tags.input_tags.allow_nan = given is None or given.allow_nan
        tags.input_tags.sparse = given is None or given.sparse
        return tags

    @abstractmethod
    def staged_predict(self, X: object) -> Iterator[NDArray[Any]]:
        """What `predict` gives after one tree, two trees, and so on, in turn."""

    @abstractmethod
    def _fit_target(self, y: object, rows: int) -> ForestTarget:
        """The target of the training rows; a classifier sets its labels."""

    @abstractmethod
    def _scored(self, y: object, predicted: NDArray[Any], weight: ArrayLike | None) -> float:
        """Score of predictions."""

    def _view(self, tree: int) -> TreeView:
        return TreeView(self.model_, tree, self.n_jobs)

    def _one_output(self, y: object, rows: int) -> ForestTarget:
        target = self._fit_target(y, rows)
        if target.outputs > 1:
            raise DataError(
                f"y has {target.outputs} outputs; {type(self).__name__} boosts one: give an array of shape (rows,), or fit one "
                "estimator for each"
            )
        return target

    def _rounds(self) -> int:
        rounds = ADABOOST_ROUNDS.check(self.n_estimators)
        return int(rounds)

    def _check_parameters(self) -> None:
        """Check the parameters as `fit` does, as far as that needs no table."""
        self._rounds()
        check_verbose(self.verbose)
        super()._check_parameters()
        config: AdaBoostConfig = self._parsed(0 if is_drawn(self.random_state) else self.random_state)
        if self.estimator is not None:
            check_estimator(self.estimator, config.resample, config.of_classes)


class BoostedClasses(Scored, ClassifierMixin, AdaBoostBase):
    """What predicts labels."""

    classes_: NDArray[Any]
    n_classes_: int

    def predict(self, X: object) -> NDArray[Any]:
        """Predict the class with the most votes, of equal ones the first.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.

        Returns
        -------
        ndarray of shape (rows,)
            Labels.
        """
        return self._named(self.decision_function(X))

    def decision_function(self, X: object) -> NDArray[np.float64]:
        """Votes of the trees over their weights together. X is as `predict` takes it.

        Returns
        -------
        float64 array of shape (rows,) for two classes, else (rows, classes)
            As scikit-learn scales it. Of two classes: from -2, all trees vote for the first, to 2, all for the second. Of more: 1
            where all trees vote for the class, -1 / (classes - 1) where none does.
        """
        X = self._checked(X)
        return self._ensemble.decision(X, n_jobs=self.n_jobs)

    def predict_proba(self, X: object) -> NDArray[np.float64]:
        """Probability of each class: the softmax of its votes over classes - 1. X is as `predict` takes it.

        Returns
        -------
        float64 array of shape (rows, classes)
            In the order of `classes_`. They are timid: between .12 and .88 for two classes.
        """
        decision = self.decision_function(X)
        return self._ensemble.probabilities(decision)

    def predict_log_proba(self, X: object) -> NDArray[np.float64]:
        """Logarithm of `predict_proba`, in the same shape."""
        found: NDArray[np.float64] = np.log(self.predict_proba(X))
        return found

    def staged_decision_function(self, X: object) -> Iterator[NDArray[np.float64]]:
        """What `decision_function` gives after one tree, two trees, and so on, in turn. X is as `predict` takes it."""
        X = self._checked(X)
        return iter(self._ensemble.staged(X, n_jobs=self.n_jobs))

    def staged_predict(self, X: object) -> Iterator[NDArray[Any]]:
        """What `predict` gives after one tree, two trees, and so on, in turn. X is as `predict` takes it."""
        return (self._named(decision) for decision in self.staged_decision_function(X))

    def staged_predict_proba(self, X: object) -> Iterator[NDArray[np.float64]]:
        """What `predict_proba` gives after one tree, two trees, and so on, in turn. X is as `predict` takes it."""
        return (self._ensemble.probabilities(decision) for decision in self.staged_decision_function(X))

    def _named(self, decision: NDArray[np.float64]) -> NDArray[Any]:
        """Labels that votes come to."""
        place = decision > 0 if decision.ndim == 1 else decision.argmax(axis=1)
        found: NDArray[Any] = self.classes_.take(place.astype(np.int64))
        return found

    def _fit_target(self, y: object, rows: int) -> ForestTarget:
        labels, target = read_class_target(y, rows)
        self.classes_, self.n_classes_ = labels[0], len(labels[0])
        return target

    def _scored(self, y: object, predicted: NDArray[Any], weight: ArrayLike | None) -> float:
        return float(accuracy_score(y, predicted, sample_weight=weight))

    def _view(self, tree: int) -> ClassTreeView:
        return ClassTreeView(self.model_, tree, self.n_jobs, [self.classes_])


class BoostedNumbers(Scored, RegressorMixin, AdaBoostBase):
    """What predicts numbers."""

    loss: str

    def predict(self, X: object) -> NDArray[np.float64]:
        """Predict the median of the trees' numbers, by their weights.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.

        Returns
        -------
        float64 array of shape (rows,)
            The least of the trees' numbers up to which they have half of the weight or more.
        """
        X = self._checked(X)
        return self._ensemble.predict(X, n_jobs=self.n_jobs)

    def staged_predict(self, X: object) -> Iterator[NDArray[np.float64]]:
        """What `predict` gives after one tree, two trees, and so on, in turn. X is as `predict` takes it.

        The number of every row's leaf in every tree is held, 4 bytes each.
        """
        X = self._checked(X)
        return iter(self._ensemble.staged(X, n_jobs=self.n_jobs))

    def _fit_target(self, y: object, rows: int) -> ForestTarget:
        return read_number_target(y, rows)

    def _scored(self, y: object, predicted: NDArray[Any], weight: ArrayLike | None) -> float:
        return float(r2_score(y, predicted, sample_weight=weight))

    def _check_parameters(self) -> None:
        ADABOOST_LOSS.check(self.loss)
        super()._check_parameters()


@documented
class AdaBoostClassifier(AdaBoostClassifierParameters, BoostedClasses):
    """AdaBoost for classes (SAMME): trees one after another, each on rows that become heavier where earlier trees were wrong.

    Labels may be strings, whole numbers or booleans. Where the first tree is no better than guessing, `fit` raises an error;
    where a later one is, it is dropped and boosting ends. With `resample` boosting goes on: the tree has a weight of 0, and the
    next one sees other rows.

    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes_,)
        The labels, sorted.
    n_classes_ : int
        Number of classes.
    {adaboost_attributes}

    See Also
    --------
    AdaBoostRegressor : The same for numbers.
    GBMClassifier : Boosting by gradients.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney as sp
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> y = np.where(np.abs(X[:, 0] - 0.5) < 0.2, "oak", "ash")
    >>> boosted = sp.AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> boosted.predict([[0.2], [0.5], [0.8]]).tolist()
    ['ash', 'oak', 'ash']
    """


@documented
class AdaBoostRegressor(AdaBoostRegressorParameters, BoostedNumbers):
    """AdaBoost for numbers (AdaBoost.R2): trees one after another, each on rows drawn by weights, which fall where earlier trees
    were right; the median by the trees' weights predicts.

    Boosting ends where the mean loss of a tree is ½ or more. That tree is dropped, unless it is the first.

    {parameters}

    Attributes
    ----------
    {adaboost_attributes}

    See Also
    --------
    AdaBoostClassifier : The same for classes.
    GBMRegressor : Boosting by gradients.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney as sp
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> boosted = sp.AdaBoostRegressor(n_estimators=20).fit(X, X[:, 0] ** 2)
    >>> boosted.predict([[0.2], [0.8]]).round(1)
    array([0. , 0.6])
    """
