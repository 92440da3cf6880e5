"""The isolation forest with scikit-learn's interface."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from spinney.data import Table, read_table, read_weight
from spinney.errors import ParameterTypeError
from spinney.estimators.base import Estimator, refuse_left_out
from spinney.estimators.continuation import NO_MORE, fitting
from spinney.estimators.documents import documented
from spinney.estimators.files import save_estimator
from spinney.estimators.fit_inputs import categories_of_text, with_columns_checked
from spinney.estimators.generated import IsolationForestParameters
from spinney.estimators.isolation.growing import grown, past_of
from spinney.estimators.written import UnwritableError, write_columns
from spinney.messages import shown
from spinney.model.isolation import IsolationModel
from spinney.params import IsolationConfig
from spinney.params.estimators import TREES, VERBOSE
from spinney.params.parameter import SeedLike, is_drawn
from spinney.training.isolation import rows_per_tree
from spinney.tree import Tree

_IN_TABLE = frozenset(parameter.name for parameter in IsolationConfig.table())


@documented
class IsolationForest(IsolationForestParameters, OutlierMixin, Estimator):
    """An isolation forest, which finds rows that are unlike the others: few random splits set them apart.

    Each tree parts a few rows at random: a column, and a cut between its least and its largest value. The fewer splits a row
    needs on average to stand alone, the more abnormal it is.

    {parameters}

    Attributes
    ----------
    model_ : IsolationModel
        The fitted model.
    offset_ : float
        A row whose score is below it is called abnormal: -0.5, or what `contamination` asks for.
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
    random_state: SeedLike
    n_jobs: int | None
    verbose: int
    warm_start: bool
    categorical: str | Sequence[str | int] | NDArray[np.bool_]

    model_: IsolationModel
    offset_: float
    max_samples_: int
    max_features_: int
    n_features_in_: int
    # Parameters that the file lacks which it was loaded from: see `files.py`.

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
        refuse_left_out(self)
        with fitting(self):
            self._check_parameters()
            notes = self._grow(X, sample_weight)
        for note in notes:
            warnings.warn(note, stacklevel=2)
        return self

    def _grow(self, X: object, sample_weight: ArrayLike | None) -> list[Warning]:
        """Grow the trees, and give what the user is to be warned of."""
        past = past_of(self)
        table = read_table(with_columns_checked(self, X, reset=past is None))
        self.n_features_in_ = table.columns
        config = self._config(past)
        weight = read_weight(sample_weight, table.rows)
        if weight is not None and (weight == weight[0]).all():
            weight = None
        config.columns_per_tree(table.columns)
        drawn = rows_per_tree(config, table.rows, weight)
        table, notes = categories_of_text(table, self.categorical, None if past is None else past.schema)
        self._take_model(grown(self, config, table, weight, past))
        if past is not None and past.trees == self.model_.trees:
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
        """Tell how many steps each column saved on the way to isolating a row. X is that of `score_samples`.

        A split of a node of n rows that leaves m of them beside the row saves c(n) - 1 - c(m): the steps that were to go, on
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _take_model(self, model: IsolationModel) -> None:
        self.model_ = model
        self.offset_ = model.offset
        self.max_samples_ = model.rows_per_tree
        self.max_features_ = model.config.columns_per_tree(model.n_features)

    def _check_parameters(self) -> None:
        """Check the parameters as `fit` does, as far as that needs no table."""
        TREES.check(self.n_estimators)
        VERBOSE.check(self.verbose)
        if not isinstance(self.warm_start, bool | np.bool_):
            raise ParameterTypeError(f"warm_start={shown(self.warm_start)} must be True or False")
        with suppress(UnwritableError):
            write_columns(self.categorical)
        self._parsed(0 if is_drawn(self.random_state) else self.random_state)

    def _config(self, past: IsolationModel | None) -> IsolationConfig:
        if past is not None and is_drawn(self.random_state):
            return self._parsed(past.config.random_state)
        return self._parsed(self.random_state)

    def _parsed(self, seed: SeedLike) -> IsolationConfig:
        given = {name: value for name, value in vars(self).items() if name in _IN_TABLE}
        return IsolationConfig.parse({**given, "random_state": seed})

    def _read(self, X: object) -> Table:
        """Rows for a fitted model, with their columns checked."""
        check_is_fitted(self, "model_")
        table: Table = self.model_.read(with_columns_checked(self, X, reset=False))
        return table
