"""The isolation forest with scikit-learn's interface."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from spinney.data import Table, read_table, read_weight
from spinney.errors import DataError, ParameterError
from spinney.estimators.base import (
    NO_MORE,
    TreeEstimator,
    categories_of_text,
    check_flags,
    check_same_parameters,
    check_verbose,
    progress_bar,
    refuse_unsaved,
    restore_on_failure,
    trees_at_once,
    with_columns_checked,
)
from spinney.estimators.constructors import documented
from spinney.estimators.files import save_estimator
from spinney.estimators.generated import IsolationForestParameters
from spinney.model.isolation import IsolationModel
from spinney.params import IsolationConfig
from spinney.params.estimators import TREES
from spinney.training.isolation import encoded, refuse_infinite_values, rows_per_tree, train_isolation
from spinney.tree import Tree
from spinney.tree.isolation import concatenate_forests

AUTO_OFFSET = -0.5


@documented
class IsolationForest(IsolationForestParameters, OutlierMixin, TreeEstimator):
    """An isolation forest, which finds rows that are unlike the others: few random splits set them apart.

    Each tree parts a few rows at random: a column, and a cut between its least and its largest value. The fewer splits a row
    needs on average to stand alone, the more abnormal it is.

    {parameters}

    Attributes
    ----------
    model_ : IsolationModel
        The fitted model.
    offset_ : float
        A row whose score is below it is called abnormal: -0.5, or the share `contamination` of the training rows is below it.
    max_samples_ : int
        Rows that each tree saw.
    max_features_ : int
        Columns that were drawn for each tree.
    estimators_ : list of Tree
        The trees one by one, as arrays of nodes. A node's value is the length of a path that ends there.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the table had names.

    See Also
    --------
    average_path_length : The average number of splits that isolate one of n rows.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney as sp
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> forest = sp.IsolationForest().fit(X)
    >>> forest.predict([[0.0, 0.0], [0.0, 6.0]]).tolist()
    [1, -1]
    >>> forest.explain_path([[0.0, 6.0]]).argmax(axis=1).tolist()
    [1]
    """

    n_estimators: int
    contamination: float | str
    verbose: int
    warm_start: bool

    model_: IsolationModel
    offset_: float
    max_samples_: int
    max_features_: int
    n_features_in_: int
    _CONFIG = IsolationConfig

    def fit(self, X: object, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : table of shape (rows, columns)
            NumPy array, pandas, Polars or Arrow table, SciPy sparse matrix, or a list of rows. NaN and nulls are missing
            values; infinite values are an error. Arrays of float32 and float64 are not copied.
        y : ignored
            There is no target.
        sample_weight : array of shape (rows,), optional
            Weights of the rows, 0 or more: a tree draws its rows with chances in proportion to them, as in scikit-learn.

        Returns
        -------
        estimator
            The estimator itself.
        """
        refuse_unsaved(self)
        with restore_on_failure(self):
            self._check_parameters()
            notes = self._grow(X, sample_weight)
        for note in notes:
            warnings.warn(note, stacklevel=2)
        return self

    def _grow(self, X: object, sample_weight: ArrayLike | None) -> list[Warning]:
        """Grow the trees, and return the warnings for the user."""
        earlier = self.model_ if self.warm_start and "model_" in vars(self) else None
        table = read_table(with_columns_checked(self, X, reset=earlier is None))
        self.n_features_in_ = table.columns
        config: IsolationConfig = self._config(earlier)
        weight = read_weight(sample_weight, table.rows)
        if weight is not None and (weight == weight[0]).all():
            weight = None
        config.columns_per_tree(table.columns)
        drawn = rows_per_tree(config, table.rows, weight)
        table, notes = categories_of_text(
            table, self.categorical, None if earlier is None else earlier.schema
        )
        self._set_model(grow_trees(self, config, table, weight, earlier))
        if earlier is not None and earlier.trees == self.model_.trees:
            notes.append(UserWarning(NO_MORE))
        wanted = config.max_samples
        if isinstance(wanted, int) and wanted > drawn:
            few = f"max_samples={wanted} is more than the {drawn} rows that can be drawn; each tree sees {drawn}"
            notes.append(UserWarning(few))
        return notes

    def score_samples(self, X: object) -> NDArray[np.float64]:
        """Score each row; the lower, the more abnormal.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.

        Returns
        -------
        float64 array of shape (rows,)
            -2**(-mean path length / c(max_samples_)), between -1 and 0. A forest whose trees saw one row gives -0.5.
        """
        table = self._read(X)
        return self.model_.scores_of(table, self.n_jobs)

    def decision_function(self, X: object) -> NDArray[np.float64]:
        """Score each row, less `offset_`: below 0 it is called abnormal. X is that of `score_samples`."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: object) -> NDArray[np.int64]:
        """Call each row normal (1) or abnormal (-1). X is that of `score_samples`."""
        return np.where(self.decision_function(X) < 0.0, -1, 1)

    def explain_path(self, X: object) -> NDArray[np.float64]:
        """How many steps each column saved on the way to isolating a row. X is that of `score_samples`.

        A split of a node of n rows that leaves m of them with the row saves c(n) - 1 - c(m): the steps that were to go, on
        average, less the one taken and those that are still to go. The column of the split gets it; what the columns got is
        averaged over the trees.

        Returns
        -------
        float64 array of shape (rows, n_features_in_)
            A row's numbers sum up to c(max_samples_) less its mean path length, so its score is
            -2**(sum / c(max_samples_) - 1).
        """
        table = self._read(X)
        return self.model_.shares_of(table, self.n_jobs)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a model file in one step; `spinney.load_estimator` reads it, `spinney.load` its model.

        Parameters
        ----------
        path : str or path-like
            Where to write; its folder must exist. On failure an old file is still there, whole.
        """
        check_is_fitted(self, "model_")
        save_estimator(self, path)

    @property
    def estimators_(self) -> list[Tree]:
        """The trees one by one."""
        check_is_fitted(self, "model_")
        return [self.model_.tree(t) for t in range(self.model_.trees)]

    def _set_model(self, model: IsolationModel) -> None:
        self.model_ = model
        self.offset_ = model.offset
        self.max_samples_ = model.rows_per_tree
        self.max_features_ = model.config.columns_per_tree(model.n_features)

    def _check_parameters(self) -> None:
        TREES.check(self.n_estimators)
        check_verbose(self.verbose)
        check_flags(self, "warm_start")
        super()._check_parameters()


def grow_trees(
    estimator: Any,
    config: IsolationConfig,
    table: Table,
    weight: NDArray[np.float64] | None,
    earlier: IsolationModel | None,
) -> IsolationModel:
    """Grow the trees that an estimator lacks; the forest is the same in one step or in many."""
    trees = TREES.check(estimator.n_estimators)
    if earlier is not None:
        _check_earlier(earlier, config, table, trees)
    known = None if earlier is None else earlier.schema
    if known is not None and known.names is None:
        known = replace(known, names=table.names)
    rows, schema = encoded(table, estimator.categorical, weight, known, config.unseen)
    refuse_infinite_values(rows, config.n_jobs)
    parts = [] if earlier is None else [earlier]
    done = sum(part.trees for part in parts)
    visible = bool(estimator.verbose)
    step = trees_at_once(trees - done, visible=visible)
    with progress_bar("growing", trees, visible=visible, start=done) as show:
        while done < trees:
            more = min(step, trees - done)
            parts.append(
                train_isolation(config, rows, schema, more, first=done, weight=weight, n_jobs=config.n_jobs)
            )
            done += more
            show(done)
    drawn = parts[0].rows_per_tree
    if earlier is None and len(parts) == 1 and config.contamination == "auto":
        return parts[0]
    forest = concatenate_forests([part.forest for part in parts])
    model = IsolationModel(forest, config, schema, table.rows, drawn, AUTO_OFFSET)
    if config.contamination == "auto":
        return model
    scores = model.scores_of(rows, config.n_jobs)
    offset = float(np.percentile(scores, 100.0 * float(config.contamination)))
    return IsolationModel(forest, config, schema, table.rows, drawn, offset)


def _check_earlier(earlier: IsolationModel, config: IsolationConfig, table: Table, trees: int) -> None:
    """Refuse rows and parameters with which a single fit would have made other trees."""
    if trees < earlier.trees:
        raise ParameterError(
            f"n_estimators={trees} must be larger or equal to the {earlier.trees} trees that warm_start=True keeps"
        )
    if table.rows != earlier.rows:
        raise DataError(
            f"warm_start=True adds trees on the same rows: the fitted forest grew on {earlier.rows} rows, but these are "
            f"{table.rows}"
        )
    check_same_parameters(earlier.config, config, free=("contamination",))
