"""What the boosting estimators share: fitting, and the checks around it."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from spinney.binning.dataset import DATA_PARAMS, Dataset
from spinney.data import Labels, match_columns, read_margin, read_table, read_weight
from spinney.errors import ParameterError, ParameterTypeError
from spinney.estimators.evaluation import (
    Evaluation,
    best_values,
    evaluations,
    names_of_sets,
    naming,
    single_evaluation,
)
from spinney.estimators.holdout import held_out
from spinney.estimators.names import check_names
from spinney.estimators.objectives import own_function
from spinney.estimators.own_functions import OwnMetric, has_functions, own_metrics
from spinney.estimators.parameters import FRACTION, ROUNDS
from spinney.estimators.samples import Sample, warn_of_column_vector, with_columns_checked
from spinney.estimators.staged import staged_scores
from spinney.model.model import Model
from spinney.params import Config, found_places, parse, table
from spinney.params.validate import checked
from spinney.training.boosting import train
from spinney.training.callbacks import Callback, History, checked_callbacks
from spinney.training.evaluation import judges_of

_IN_TABLE = frozenset(row.name for row in table())


class GBMBase(BaseEstimator, ABC):
    """A boosting estimator; subclasses say what their target means."""

    n_estimators: int
    eval_metric: object
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    validation_fraction: float | None
    progress: bool
    categorical: str | Sequence[str | int] | NDArray[np.bool_]
    objective: object

    model_: Model
    evals_result_: dict[str, dict[str, list[float]]]
    best_iteration_: int | None
    best_score_: dict[str, dict[str, float]]
    n_iter_: int
    n_estimators_: int
    n_features_in_: int

    def fit(
        self,
        X: object,
        y: object,
        sample_weight: ArrayLike | None = None,
        *,
        eval_set: object = None,
        eval_sample_weight: object = None,
        eval_class_weight: object = None,
        eval_names: Sequence[str] | None = None,
        base_margin: ArrayLike | None = None,
        eval_base_margin: object = None,
        X_val: object = None,
        y_val: object = None,
        sample_weight_val: ArrayLike | None = None,
        callbacks: Iterable[Callback] | None = None,
    ) -> Self:
        """Fit the trees.

        Parameters
        ----------
        X : table of shape (rows, columns)
            NumPy array, pandas, Polars or Arrow table, SciPy sparse matrix, or a list of rows. NaN and nulls are missing
            values; infinite values are an error. Arrays of float32 and float64 are not copied.
        y : array of shape (rows,)
            Target: numbers for a regressor; strings, whole numbers or booleans for a classifier.
        sample_weight : array of shape (rows,), optional
            Weights of the rows, 0 or more. A row of weight 0 takes no part in the trees.
        eval_set : (X, y) or list of (X, y), optional
            Data to compute the metrics on after each round. With `early_stopping_rounds` the last pair decides.
        eval_sample_weight : array, or list of arrays or None, optional
            Weights of the rows of `eval_set`: an array for one pair, a list for a list of pairs.
        eval_class_weight : dict, 'balanced' or None, or list of them, optional
            Factors on the weights of the classes' rows in `eval_set`, for classifiers only: one for one pair, a list for a
            list of pairs.
        eval_names : list of str, optional
            Names of the validation data in the results, in place of "validation_0" and so on.
        base_margin : array of shape (rows,) or (rows, classes), optional
            Raw scores that the rows start from, in place of a common base score. Give them to `predict` as well.
        eval_base_margin : array, or list of arrays or None, optional
            The same for `eval_set`.
        X_val : table, optional
            Validation data under scikit-learn's names: `X_val` and `y_val` are the same as `eval_set=(X_val, y_val)`, and
            `early_stopping_rounds` goes by them. Give one form only.
        y_val : array, optional
            Target of the rows of `X_val`.
        sample_weight_val : array, optional
            Weights of the rows of `X_val`.
        callbacks : iterable of callables, optional
            Called after each round with a `RoundInfo`; one that returns True ends the training. The method `begin(rounds)` of
            one that has it is called when the training starts. A callback that is given twice is called once.

        Returns
        -------
        estimator
            The estimator itself.
        """
        # A fit that fails must not leave the trees of an earlier one beside columns or classes of its own.
        self.__dict__.pop("model_", None)
        rounds: Any = checked(ROUNDS, self.n_estimators)
        if not isinstance(self.progress, bool | np.bool_):
            raise ParameterTypeError(f"progress={self.progress!r} must be True or False")
        heard = checked_callbacks(callbacks)
        watched = single_evaluation(X_val, y_val, sample_weight_val, eval_set)
        watched += evaluations(eval_set, eval_sample_weight, eval_base_margin, eval_class_weight)
        names = names_of_sets(eval_names, len(watched) or int(self.validation_fraction is not None))
        config, dataset, valid = self._datasets(X, y, sample_weight, base_margin, watched)
        valid = dict(zip(names, valid.values(), strict=True))
        history = History()
        self.model_ = self._trained(config, dataset, rounds, valid, [history, *heard])
        self.evals_result_ = history.evals
        self.best_iteration_ = self.model_.best_round
        self.n_iter_ = self.model_.rounds
        self.n_estimators_ = self.n_iter_ if self.best_iteration_ is None else self.best_iteration_
        self.best_score_ = best_values(self.evals_result_, self.n_estimators_)
        return self

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of the constructor.

        Returns
        -------
        estimator
            The estimator itself.
        """
        check_names(self, params)
        super().set_params(**params)
        return self

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each column in the gain of all splits."""
        check_is_fitted(self, "model_")
        gain = self.model_.importance("total_gain")
        total = gain.sum()
        return gain / total if total > 0 else gain

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def _learn_target(self, y: object, rows: int) -> tuple[NDArray[np.float64], Mapping[str, object]]:
        """The target of the training rows as numbers, and the parameters that follow from it."""

    @abstractmethod
    def _read_target(self, y: object, rows: int) -> NDArray[np.float64]:
        """The target of validation rows as numbers."""

    @abstractmethod
    def _outputs(self) -> int:
        """Scores per row."""

    def _strata(self, target: NDArray[np.float64]) -> NDArray[np.int64]:
        """Groups of rows of which the same share is held out."""
        return np.zeros(len(target), np.int64)

    def _row_weights(self, labels: Labels) -> NDArray[np.float64] | None:
        """Weights to train with."""
        return labels.weight

    def _eval_weights(self, class_weight: object, labels: Labels) -> NDArray[np.float64] | None:
        """Weights of validation rows, once their classes' factors are applied."""
        if class_weight is not None:
            raise ParameterError(
                f"eval_class_weight={class_weight!r} is for classifiers: {type(self).__name__} has no classes; leave it out"
            )
        return labels.weight

    def _fixed_scores(self, dataset: Dataset) -> NDArray[np.float64] | None:
        """Raw scores that every row gets where the target leaves nothing to learn, else None."""
        return None

    def _trained(
        self,
        config: Config,
        dataset: Dataset,
        rounds: int,
        valid: Mapping[str, Dataset],
        callbacks: list[Callback],
    ) -> Model:
        progress, objective, own = (
            bool(self.progress),
            own_function(self.objective),
            self._own_metrics(config),
        )
        fixed = self._fixed_scores(dataset)
        if fixed is None:
            return train(
                config,
                dataset,
                rounds,
                objective=objective,
                valid=valid,
                metrics=own,
                callbacks=callbacks,
                progress=progress,
            )
        # A training of no rounds checks all that any training does; its base score is put in afterwards.
        start = 0.0 if config.base_score is None else config.base_score
        bare = train(
            replace(config, base_score=start),
            dataset,
            0,
            objective=objective,
            valid=valid,
            metrics=own,
            callbacks=callbacks,
        )
        return Model(bare.forest, fixed, config.objective, config, dataset.schema)

    def _datasets(
        self, X: object, y: object, weight: object, margin: object, watched: list[Evaluation]
    ) -> tuple[Config, Dataset, dict[str, Dataset]]:
        """Read and bin the training and validation rows. What was read is let go when this returns."""
        columns = read_table(with_columns_checked(self, X, reset=True))
        self.n_features_in_ = columns.columns
        warn_of_column_vector(y)
        target, told = self._learn_target(y, columns.rows)
        config = self._config(told)
        found_places(config, columns.names, columns.columns)  # a wrong name is told before columns are binned
        judges_of(config, self._own_metrics(config))  # and so is a metric that does not fit
        fraction = self._fraction(config, watched)
        margins = read_margin(margin, columns.rows, self._outputs())
        sample = Sample(columns, Labels(target, read_weight(weight, columns.rows), margins))
        held = None
        if fraction is not None:
            strata = self._strata(sample.labels.target)
            chosen = held_out(sample.labels, strata, fraction, config.random_state)
            sample, held = sample.take(~chosen), sample.take(chosen)
            with naming(f"the rows held out by validation_fraction={fraction}"):
                self._check_metrics(config, held.labels)
        weights = self._row_weights(sample.labels)
        sample = replace(sample, labels=replace(sample.labels, weight=weights))
        rules = {name: getattr(config, name) for name in DATA_PARAMS}
        dataset = sample.binned(n_jobs=config.n_jobs, categorical=self.categorical, **rules)
        if held is not None:
            return config, dataset, {"validation_0": held.binned(reference=dataset, n_jobs=config.n_jobs)}
        valid = {}
        for place, found in enumerate(watched):
            given = (weights, margin, found.weight, found.margin, found.class_weight)
            same = found.X is X and found.y is y and all(value is None for value in given)
            valid[f"validation_{place}"] = dataset if same else self._validation(found, dataset, config)
        return config, dataset, valid

    def _validation(self, found: Evaluation, dataset: Dataset, config: Config) -> Dataset:
        with naming(found.where):
            columns = read_table(with_columns_checked(self, found.X, reset=False))
            schema = dataset.schema
            columns = match_columns(columns, schema.names, schema.columns, model=type(self).__name__)
            target = self._read_target(found.y, columns.rows)
            weights = read_weight(found.weight, columns.rows, what=found.weight_name)
            margins = read_margin(found.margin, columns.rows, self._outputs(), what="eval_base_margin")
            weights = self._eval_weights(found.class_weight, Labels(target, weights))
            sample = Sample(columns, Labels(target, weights, margins))
            self._check_metrics(config, sample.labels)
            return sample.binned(reference=dataset, n_jobs=config.n_jobs)

    def _config(self, told: Mapping[str, object]) -> Config:
        given = {name: value for name, value in vars(self).items() if name in _IN_TABLE}
        seed = self.random_state
        if seed is None:
            given["random_state"] = 0
        elif isinstance(seed, np.random.RandomState):
            given["random_state"] = int(seed.randint(2**31 - 1))
        if has_functions(self.eval_metric):
            given["eval_metric"] = (
                "none"  # a model's file holds no functions; `train` is given all metrics in their order
            )
        return parse({**given, **told})

    def _own_metrics(self, config: Config) -> list[str | OwnMetric] | None:
        return own_metrics(self.eval_metric, config, getattr(self, "classes_", None))

    def _check_metrics(self, config: Config, labels: Labels) -> None:
        """Refuse validation rows that have no such metric, before they are binned."""
        for judge in judges_of(config, self._own_metrics(config)):
            judge.check(labels)

    def _fraction(self, config: Config, watched: list[Evaluation]) -> float | None:
        fraction: Any = checked(FRACTION, self.validation_fraction)
        if fraction is not None and watched:
            raise ParameterError(
                f"validation_fraction={fraction} contradicts eval_set, or X_val and y_val: there are validation data "
                "already, give only one"
            )
        if config.early_stopping_rounds is not None and fraction is None and not watched:
            raise ParameterError(
                f"early_stopping_rounds={config.early_stopping_rounds} needs validation data: give fit an eval_set, or "
                "X_val and y_val, or set validation_fraction"
            )
        return None if fraction is None else float(fraction)

    def _raw_scores(self, X: object, base_margin: ArrayLike | None) -> NDArray[np.float64]:
        check_is_fitted(self, "model_")
        X = with_columns_checked(self, X, reset=False)
        return self.model_.predict_raw(X, n_jobs=self.n_jobs, base_margin=base_margin)

    def _staged_scores(self, X: object, base_margin: ArrayLike | None) -> Iterator[NDArray[np.float64]]:
        check_is_fitted(self, "model_")
        X = with_columns_checked(self, X, reset=False)
        return staged_scores(self.model_, X, self.n_jobs, base_margin)
