"""What the two estimators share: fitting, the checks around it, and what is known of the trees."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from spinney.data import ForestTarget, read_table, read_weight
from spinney.data.arrays import refuse_dask
from spinney.data.sparse import is_sparse
from spinney.dataset import Dataset
from spinney.errors import DataError, DataTypeError
from spinney.estimators.adaboost.committee import Committee
from spinney.estimators.adaboost.copies import Task, boosted, check_estimator
from spinney.estimators.base import Estimator, refuse_left_out
from spinney.estimators.continuation import fitting
from spinney.estimators.files import save_estimator
from spinney.estimators.fit_inputs import (
    COLUMN_VECTOR,
    categories_of_text,
    is_column_vector,
    with_columns_checked,
)
from spinney.estimators.forests.base import check_size
from spinney.estimators.forests.trees import TreeView
from spinney.estimators.written import UnwritableError, write_columns
from spinney.model.adaboost import AdaBoostModel
from spinney.params import AdaBoostConfig
from spinney.params.estimators import ADABOOST_ROUNDS, VERBOSE
from spinney.params.parameter import SeedLike, is_drawn
from spinney.training.adaboost import LARGEST_POWER, train_adaboost
from spinney.training.callbacks import ProgressBar, RoundInfo

_IN_TABLE = frozenset(parameter.name for parameter in AdaBoostConfig.table())
# The beginning is scikit-learn's, by which users may filter it.
INFINITE = (
    "Sample weights have reached infinite values: tree {done} multiplies those of its mistakes by e to the power of {last:.4g}. "
    "Boosting ends with it; try a lower learning_rate."
)


class AdaBoostBase(Estimator, ABC):
    """Boosting by weights; subclasses say what their target means."""

    estimator: Any
    n_estimators: int
    learning_rate: float
    random_state: SeedLike
    resample: bool
    categorical: str | Sequence[str | int] | NDArray[np.bool_]
    n_jobs: int | None
    verbose: int

    model_: AdaBoostModel
    committee_: Committee
    n_features_in_: int
    # Parameters that the file lacks which it was loaded from: see `files.py`.

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
        refuse_left_out(self)
        with fitting(self):
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
        """Boost trees, and give what the user is to be warned of."""
        table = read_table(with_columns_checked(self, X, reset=True))
        self.n_features_in_ = table.columns
        target = self._one_output(y, table.rows)
        weight = read_weight(sample_weight, table.rows)
        config = self._parsed(self.random_state)
        if weight is not None and not weight.all():
            kept = weight > 0
            table, target, weight = table.take(kept), target.take(kept), weight[kept]
        check_size(target, weight)
        table, notes = categories_of_text(table, self.categorical)
        data = Dataset(
            table, weight=weight, max_bin=config.max_bin, bundle=False, absent=config.absent, unseen=config.unseen,
            categorical=self.categorical, n_jobs=config.n_jobs,
        ).binned  # fmt: skip
        with self._progress() as told:
            self.model_ = train_adaboost(
                config, data, target, self._rounds(), weight=weight, n_jobs=config.n_jobs, on_tree=told
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
        task = Task(self.estimator, self._parsed(self.random_state), table, given, weight, labels)
        with self._progress() as told:
            self.committee_ = boosted(task, self._rounds(), told)

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
    def _ensemble(self) -> AdaBoostModel | Committee:
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
        for predicted in self.staged_predict(X):
            yield self._scored(y, predicted, sample_weight)

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
    def _learn_target(self, y: object, rows: int) -> ForestTarget:
        """The target of the training rows; a classifier notes its labels."""

    @abstractmethod
    def _scored(self, y: object, predicted: NDArray[Any], weight: ArrayLike | None) -> float:
        """Score of predictions."""

    def _view(self, tree: int) -> TreeView:
        return TreeView(self.model_, tree, self.n_jobs)

    def _one_output(self, y: object, rows: int) -> ForestTarget:
        target = self._learn_target(y, rows)
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
        with suppress(UnwritableError):
            write_columns(self.categorical)
        self._rounds()
        if not isinstance(self.verbose, bool | np.bool_):
            VERBOSE.check(self.verbose)
        config = self._parsed(0 if is_drawn(self.random_state) else self.random_state)
        if self.estimator is not None:
            check_estimator(self.estimator, config.resample, config.of_classes)

    def _parsed(self, seed: SeedLike) -> AdaBoostConfig:
        given = {name: value for name, value in vars(self).items() if name in _IN_TABLE}
        return AdaBoostConfig.parse({**given, "random_state": seed})

    def _checked(self, X: object) -> object:
        """Rows for a fitted ensemble, with their columns checked."""
        check_is_fitted(self)
        return with_columns_checked(self, X, reset=False)

    @contextmanager
    def _progress(self) -> Iterator[Callable[[int], None]]:
        if not self.verbose:
            yield lambda done: None
            return
        rounds = self._rounds()
        with ProgressBar("boosting") as bar:
            yield lambda done: bar(RoundInfo(done, rounds, {}))
