"""What forests and single trees share: fitting, the checks around it, and walking trees."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

import math
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin
from sklearn.utils.validation import check_is_fitted

from spinney.binning.binned import BinnedData
from spinney.data import ForestTarget, Table, read_table, read_weight
from spinney.dataset import Dataset
from spinney.errors import DataError
from spinney.estimators.base import Estimator, refuse_left_out
from spinney.estimators.continuation import fitting
from spinney.estimators.files import save_estimator
from spinney.estimators.fit_inputs import categories_of_text, with_columns_checked
from spinney.estimators.forests.growing import EarlierForest, grown
from spinney.estimators.written import UnwritableError, write_columns
from spinney.model.forest import ForestModel
from spinney.params import ForestConfig, Parameter
from spinney.params.parameter import SeedLike, is_drawn

LEAST_WEIGHT = 1e-280  # of all rows: below it float64 has no room for parts of a weight
MOST_DIGITS = 300  # of sums of squares, before the point
_IN_TABLE = frozenset(parameter.name for parameter in ForestConfig.table()) - {"class_weight"}


@dataclass(frozen=True, eq=False)
class ForestSample:
    """Rows to grow trees on, checked, with the parameters that follow from them.

    Attributes
    ----------
    config : ForestConfig
        The parameters.
    table, target : Table, ForestTarget
        The rows of weight above 0.
    weight : float64[rows], optional
        Their weights; None where all are 1.
    kept : bool[rows of X], optional
        Which rows of the user's table they are; None where they are all.
    notes : list of Warning
        What the user is to be warned of.
    """

    config: ForestConfig
    table: Table
    target: ForestTarget
    weight: NDArray[np.float64] | None
    kept: NDArray[np.bool_] | None
    notes: list[Warning]


class ForestBase(MultiOutputMixin, Estimator, ABC):
    """A forest or a single tree; subclasses say what their target means."""

    criterion: str
    random_state: SeedLike
    n_jobs: int | None
    categorical: str | Sequence[str | int] | NDArray[np.bool_]

    model_: ForestModel
    n_outputs_: int
    n_features_in_: int
    max_features_: int
    # Parameters that the file lacks which it was loaded from: see `files.py`.
    # Parameters of training that the constructor does not have.
    _FIXED: ClassVar[Mapping[str, object]] = {}
    _CRITERION: ClassVar[Parameter[str]]

    def fit(self, X: object, y: object, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : table of shape (rows, columns)
            NumPy array, pandas, Polars or Arrow table, SciPy sparse matrix, or a list of rows. NaN and nulls are missing
            values; infinite values are an error. Arrays of float32 and float64 are not copied.
        y : array of shape (rows,) or (rows, outputs)
            Target: numbers for a regressor; strings, whole numbers or booleans for a classifier.
        sample_weight : array of shape (rows,), optional
            Weights of the rows, 0 or more. A row of weight 0 takes no part: the forest is the one without it.

        Returns
        -------
        estimator
            The estimator itself.
        """
        refuse_left_out(self)
        with fitting(self):
            self._check_parameters()
            notes = self._grow(X, y, sample_weight)
        for note in notes:
            warnings.warn(note, stacklevel=2)
        return self

    def _grow(self, X: object, y: object, sample_weight: ArrayLike | None) -> list[Warning]:
        """Grow the trees, and give what the user is to be warned of."""
        past = self._past()
        return self._grow_on(self._sample(X, y, sample_weight, past), past)

    def _sample(
        self, X: object, y: object, sample_weight: ArrayLike | None, past: EarlierForest | None
    ) -> ForestSample:
        """Read rows to grow trees on, and check all that needs no bins."""
        table = read_table(with_columns_checked(self, X, reset=past is None))
        self.n_features_in_ = table.columns
        target = self._learn_target(y, table.rows, past is not None)
        config = self._config(past)
        weight, config = self._weigh(target, read_weight(sample_weight, table.rows), config)
        kept = None
        if weight is not None and not weight.all():
            kept = weight > 0
            table, target, weight = table.take(kept), target.take(kept), weight[kept]
        if weight is not None and (weight == 1.0).all():
            weight = None
        _check_target(config, target)
        check_size(target, weight)
        self.max_features_ = config.columns_per_split(table.columns)
        config.rows_per_tree(table.rows)
        config.resolve_columns(table.names, table.columns)
        known = None if past is None else past.model.schema
        table, notes = categories_of_text(table, self.categorical, known)
        return ForestSample(config, table, target, weight, kept, notes)

    def _grow_on(self, sample: ForestSample, past: EarlierForest | None) -> list[Warning]:
        config, table, target = sample.config, sample.table, sample.target
        data = Dataset(
            table, weight=sample.weight, schema=None if past is None else past.schema_for(table),
            max_bin=config.max_bin, bundle=False, absent=config.absent, unseen=config.unseen,
            categorical=self.categorical, spread=config.splitter == "random", n_jobs=config.n_jobs,
        ).binned  # fmt: skip
        config = config.resolve_columns(table.names, table.columns, data.schema.categorical)
        if past is not None:
            past.check(config, target)
        self.model_ = grown(config, data, target, sample.weight, self._trees(), past, self._shows_progress())
        self.n_outputs_ = target.outputs
        return sample.notes + self._learn_out_of_bag(data, target, sample.kept)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a model file in one step; `spinney.load_estimator` reads it, `spinney.load` its model.

        The file holds the model, the labels, the parameters and the scores out of bag, and no code. n_jobs and verbose, and
        what each training row is told out of bag (oob_decision_function_, oob_prediction_), are not in it. Parameters that JSON
        cannot hold, such as functions, are left out with a warning; the loaded estimator must be given them before another fit.

        Parameters
        ----------
        path : str or path-like
            Where to write; its folder must exist. On failure an old file is still there, whole.
        """
        check_is_fitted(self, "model_")
        save_estimator(self, path)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each column in the decrease of impurity, the mean over trees; zeros where no tree has a split."""
        check_is_fitted(self, "model_")
        found: NDArray[np.float64] = self.model_.importance()
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def _learn_target(self, y: object, rows: int, known: bool) -> ForestTarget:
        """The target of the training rows; where classes are known already, no other ones are taken."""

    @abstractmethod
    def _find_target(self, y: object, rows: int) -> NDArray[Any]:
        """The target of other rows, (rows, outputs): places of known classes, or numbers."""

    @abstractmethod
    def _weigh(
        self, target: ForestTarget, weight: NDArray[np.float64] | None, config: ForestConfig
    ) -> tuple[NDArray[np.float64] | None, ForestConfig]:
        """Weights of the rows with the factors of their classes, and the parameters that say where these came from."""

    def _trees(self) -> int:
        """Trees that are asked for."""
        return 1

    def _past(self) -> EarlierForest | None:
        """What a fit goes on from."""
        return None

    def _shows_progress(self) -> bool:
        return False

    def _learn_out_of_bag(
        self, data: BinnedData, target: ForestTarget, kept: NDArray[np.bool_] | None
    ) -> list[Warning]:
        """Note what the trees say about rows that they did not see, where this is asked for."""
        return []

    def _check_parameters(self) -> None:
        """Check the parameters as `fit` does, as far as that needs no table."""
        with suppress(UnwritableError):
            write_columns(self.categorical)
        self._parsed(0 if is_drawn(self.random_state) else self.random_state)

    def _config(self, past: EarlierForest | None) -> ForestConfig:
        if past is not None and is_drawn(self.random_state):
            return self._parsed(past.model.config.random_state)
        return self._parsed(self.random_state)

    def _parsed(self, seed: SeedLike) -> ForestConfig:
        given = {name: value for name, value in vars(self).items() if name in _IN_TABLE}
        given["criterion"] = self._CRITERION.check(self.criterion)
        return ForestConfig.parse({**given, **self._FIXED, "random_state": seed})

    def _read(self, X: object) -> Table:
        """Rows to predict, as a table."""
        X = self._checked(X)
        table: Table = self.model_.read(X)
        return table

    def _predicted(self, X: object) -> Any:
        X = self._checked(X)
        return self.model_.predict(X, n_jobs=self.n_jobs)

    def _checked(self, X: object) -> object:
        """Rows for a fitted model, with their columns checked."""
        check_is_fitted(self, "model_")
        return with_columns_checked(self, X, reset=False)


def _check_target(config: ForestConfig, target: ForestTarget) -> None:
    """Refuse a target that the criterion or the directions of columns do not fit."""
    if config.criterion == "poisson":
        if (target.values < 0).any():
            raise DataError(
                "Some value(s) of y are negative which is not allowed for Poisson regression; use another criterion"
            )
        if (target.values.sum(axis=0) <= 0).any():
            raise DataError("Sum of y is not positive which is necessary for Poisson regression")
    if config.monotonic_cst is not None:
        if target.outputs > 1:
            raise DataError(
                "Monotonicity constraints are not supported with multiple outputs: leave monotonic_cst at None"
            )
        if target.classes and target.classes[0] > 2:
            raise DataError(
                "Monotonicity constraints are not supported with multiclass classification: leave monotonic_cst at None"
            )


def check_size(target: ForestTarget, weight: NDArray[np.float64] | None) -> None:
    """Refuse numbers and weights that splits could not be judged by, because sums of their squares leave float64."""
    total = float(target.rows if weight is None else weight.sum())
    if total < LEAST_WEIGHT:
        raise DataError(f"sample_weight adds up to {total:.3g}; multiply all weights by a large number")
    if target.classes:
        return
    largest = float(np.abs(target.values).max())
    # Weights that are small do not make a square smaller that is taken before it is weighed.
    if math.log10(max(total, 1.0)) + 2 * math.log10(max(largest, 1.0)) > MOST_DIGITS:
        raise DataError(
            f"y holds a number of the size {largest:.3g}, too large for sums of squares"
            f"{'' if weight is None else f' with weights that add up to {total:.3g}'}; divide y by a large number"
        )
