"""What forests and single trees share: fitting, the checks around it, and growing all trees or some more."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

import math
import os
import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin
from sklearn.utils.validation import check_is_fitted

from spinney.binning.binned import BinnedData
from spinney.data import ForestTarget, Schema, Table, read_table, read_weight
from spinney.dataset import Dataset
from spinney.errors import DataError
from spinney.estimators.base import (
    TreeEstimator,
    categories_of_text,
    check_same_parameters,
    progress_bar,
    refuse_unsaved,
    restore_on_failure,
    trees_at_once,
    with_columns_checked,
)
from spinney.estimators.files import save_estimator
from spinney.model.forest import ForestModel
from spinney.model.leaf_rows import TrainingRowsByLeaf
from spinney.params import ForestConfig, Parameter
from spinney.params.parameter import SeedLike
from spinney.training.forest import train_forest
from spinney.tree import CompactForest

LEAST_WEIGHT = 1e-280  # of all rows: below it parts of a weight leave float64
MOST_DIGITS = 300  # of sums of squares, before the point


@dataclass(frozen=True, eq=False)
class ForestInputs:
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
        Warnings for the user.
    """

    config: ForestConfig
    table: Table
    target: ForestTarget
    weight: NDArray[np.float64] | None
    kept: NDArray[np.bool_] | None
    notes: list[Warning]


class ForestBase(MultiOutputMixin, TreeEstimator):
    """A forest or a single tree; subclasses have the rules of their targets."""

    criterion: str
    random_state: SeedLike
    n_jobs: int | None
    categorical: str | Sequence[str | int] | NDArray[np.bool_]

    model_: ForestModel
    n_outputs_: int
    n_features_in_: int
    max_features_: int
    # Parameters of training that the constructor does not have.
    _FIXED: ClassVar[Mapping[str, object]] = {}
    _CRITERION: ClassVar[Parameter[str]]
    _CONFIG = ForestConfig

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
        refuse_unsaved(self)
        with restore_on_failure(self):
            self._check_parameters()
            notes = self._grow(X, y, sample_weight)
        for note in notes:
            warnings.warn(note, stacklevel=2)
        return self

    def _grow(self, X: object, y: object, sample_weight: ArrayLike | None) -> list[Warning]:
        """Grow the trees, and return the warnings for the user."""
        earlier = self._earlier()
        return self._grow_on(self._inputs(X, y, sample_weight, earlier), earlier)

    def _inputs(
        self, X: object, y: object, sample_weight: ArrayLike | None, earlier: EarlierForest | None
    ) -> ForestInputs:
        """Read rows to grow trees on, and check all that needs no bins."""
        table = read_table(with_columns_checked(self, X, reset=earlier is None))
        self.n_features_in_ = table.columns
        target = self._fit_target(y, table.rows, earlier is not None)
        config: ForestConfig = self._config(None if earlier is None else earlier.model)
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
        known = None if earlier is None else earlier.model.schema
        table, notes = categories_of_text(table, self.categorical, known)
        return ForestInputs(config, table, target, weight, kept, notes)

    def _grow_on(self, inputs: ForestInputs, earlier: EarlierForest | None) -> list[Warning]:
        config, table, target = inputs.config, inputs.table, inputs.target
        data = Dataset(
            table, weight=inputs.weight, schema=None if earlier is None else earlier.schema_for(table),
            max_bin=config.max_bin, bundle=False, absent=config.absent, unseen=config.unseen,
            categorical=self.categorical, spread=config.splitter == "random", n_jobs=config.n_jobs,
        ).binned  # fmt: skip
        config = config.resolve_columns(table.names, table.columns, data.schema.categorical)
        if earlier is not None:
            earlier.check(config, target)
        self.model_ = grow_forest(
            config, data, target, inputs.weight, self._trees(), earlier, self._shows_progress()
        )
        self.n_outputs_ = target.outputs
        return inputs.notes + self._score_out_of_bag(data, target, inputs.kept)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a model file in one step; `spinney.load_estimator` reads it, `spinney.load` its model.

        The file holds the model, the labels, the parameters and the scores out of bag, and no code. n_jobs and verbose, and
        the predictions of training rows out of bag (oob_decision_function_, oob_prediction_), are not in it. Parameters that JSON
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

    @abstractmethod
    def _fit_target(self, y: object, rows: int, known: bool) -> ForestTarget:
        """The target of the training rows; where classes are known already, no other ones are taken."""

    @abstractmethod
    def _find_target(self, y: object, rows: int) -> NDArray[Any]:
        """The target of other rows, (rows, outputs): places of known classes, or numbers."""

    @abstractmethod
    def _weigh(
        self, target: ForestTarget, weight: NDArray[np.float64] | None, config: ForestConfig
    ) -> tuple[NDArray[np.float64] | None, ForestConfig]:
        """Weights of the rows with the factors of their classes, and the parameters that show where these came from."""

    def _trees(self) -> int:
        """How many trees to grow."""
        return 1

    def _earlier(self) -> EarlierForest | None:
        """The forest that a fit adds trees to."""
        return None

    def _shows_progress(self) -> bool:
        return False

    def _score_out_of_bag(
        self, data: BinnedData, target: ForestTarget, kept: NDArray[np.bool_] | None
    ) -> list[Warning]:
        """Set the scores by the trees that did not see a row, if there are to be any, and return warnings."""
        return []

    def _training_parameters(self) -> dict[str, object]:
        given = super()._training_parameters()
        given.pop("class_weight", None)  # its factors become weights of rows
        return {**given, "criterion": self._CRITERION.check(self.criterion), **self._FIXED}

    def _predicted(self, X: object) -> Any:
        X = self._checked(X)
        return self.model_.predict(X, n_jobs=self.n_jobs)


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
    """Refuse numbers and weights with which no split has a gain, because sums of their squares leave float64."""
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


@dataclass(frozen=True, eq=False)
class EarlierForest:
    """A fitted forest that a fit adds trees to."""

    model: ForestModel

    def schema_for(self, table: Table) -> Schema:
        """The columns to bin the table by."""
        old = self.model.schema
        return old if old.names is not None else replace(old, names=table.names)

    def check(self, config: ForestConfig, target: ForestTarget) -> None:
        """Refuse rows and parameters with which a single fit would have made other trees."""
        if target.rows != self.model.rows or target.outputs != self.model.outputs:
            raise DataError(
                f"warm_start=True adds trees on the same rows: the fitted forest grew on {self.model.rows} rows and "
                f"{self.model.outputs} output(s), but these are {target.rows} and {target.outputs}"
            )
        check_same_parameters(self.model.config, config)


def grow_forest(
    config: ForestConfig,
    data: BinnedData,
    target: ForestTarget,
    weight: NDArray[np.float64] | None,
    trees: int,
    earlier: EarlierForest | None,
    progress: bool,
) -> ForestModel:
    """Grow a forest of so many trees, earlier ones included; it is the same in one step or in many."""
    parts = [] if earlier is None else [earlier.model]
    done = sum(part.forest.trees for part in parts)
    step = trees_at_once(trees - done, visible=progress)
    with progress_bar("growing", trees, visible=progress, start=done) as show:
        while done < trees:
            more = min(step, trees - done)
            parts.append(
                train_forest(config, data, target, more, first=done, weight=weight, n_jobs=config.n_jobs)
            )
            done += more
            show(done)
    return parts[0] if len(parts) == 1 else join_forests(parts)


def join_forests(parts: Sequence[ForestModel]) -> ForestModel:
    """The trees of several forests that were grown on the same rows, one after another."""
    last = parts[-1]
    rows: TrainingRowsByLeaf | None = parts[0].leaf_rows
    for part in parts[1:]:
        rows = None if rows is None or part.leaf_rows is None else rows.joined(part.leaf_rows)
    return ForestModel(
        CompactForest.concatenate([part.forest for part in parts]), last.config, last.schema, last.classes,
        last.outputs, last.rows, rows,
    )  # fmt: skip
