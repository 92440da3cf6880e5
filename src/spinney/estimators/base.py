"""What the boosting estimators share: fitting, and the checks around it."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from spinney.binning.dataset import DATA_PARAMS, Dataset
from spinney.data import Labels, match_columns, read_margin, read_table, read_weight
from spinney.errors import ParameterError
from spinney.estimators.arguments import told
from spinney.estimators.checks import check_alone, fraction_of, rounds_of
from spinney.estimators.continuing import Start, fitting, start_of, with_nothing_added
from spinney.estimators.evaluation import (
    Evaluation,
    best_values,
    evaluations,
    names_of_sets,
    naming,
    single_evaluation,
)
from spinney.estimators.files import refuse_left_out, save_estimator
from spinney.estimators.holdout import held_out
from spinney.estimators.objectives import own_function
from spinney.estimators.own_functions import TrainMetric, has_functions, own_metrics
from spinney.estimators.parameters import IMPORTANCE
from spinney.estimators.samples import Sample, warn_of_column_vector, with_columns_checked
from spinney.estimators.setting import Estimator
from spinney.estimators.staged import staged_scores
from spinney.model.model import Model
from spinney.params import Config, found_places, parse, table
from spinney.params.objectives import OWN
from spinney.params.validate import checked, shown
from spinney.training.boosting import train
from spinney.training.callbacks import Callback, History, checked_callbacks
from spinney.training.evaluation import judges_of

_IN_TABLE = frozenset(row.name for row in table())


class GBMBase(Estimator, ABC):
    """A boosting estimator; subclasses say what their target means."""

    n_estimators: int
    eval_metric: object
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    validation_fraction: float | None
    progress: bool
    importance_type: str
    warm_start: bool
    categorical: str | Sequence[str | int] | NDArray[np.bool_]
    objective: object

    model_: Model
    evals_result_: dict[str, dict[str, list[float]]]
    best_iteration_: int | None
    best_score_: dict[str, dict[str, float]]
    n_iter_: int
    n_estimators_: int
    n_features_in_: int
    # Parameters that the file lacks which it was loaded from: see `files.py`.

    @told
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
        init_model: object = None,
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
            one that has it is called when the training starts. A callback that is given twice is called once. A
            `LearningRateSchedule` among them gives rounds learning rates of their own.
        init_model : Model, fitted estimator of the same kind, or path, optional
            Go on from this model, or from that of a file: `n_estimators` more rounds are added to those that it predicts with.
            Columns must be the same. Rows may lack classes of an estimator, but not have others.

        Returns
        -------
        estimator
            The estimator itself.
        """
        refuse_left_out(self)
        with fitting(self):
            start, rounds = start_of(self, init_model, rounds_of(self))
            self.__dict__.pop("model_", None)
            heard = checked_callbacks(callbacks)
            watched = single_evaluation(X_val, y_val, sample_weight_val, eval_set)
            watched += evaluations(eval_set, eval_sample_weight, eval_base_margin, eval_class_weight)
            factors = [found.class_weight for found in watched if found.class_weight is not None]
            if factors and not is_classifier(self):
                raise ParameterError(
                    f"eval_class_weight={shown(factors[0])} is for classifiers: {type(self).__name__} has no classes; leave "
                    "it out"
                )
            names = names_of_sets(eval_names, len(watched) or int(self.validation_fraction is not None))
            config, dataset, valid = self._datasets(X, y, sample_weight, base_margin, watched, start)
            valid = dict(zip(names, valid.values(), strict=True))
            history = History()
            model = self._trained(config, dataset, rounds, valid, [history, *heard], start)
        evals = history.evals
        if start is not None and rounds == 0:
            model, evals = with_nothing_added(model, start.model, self.evals_result_)
        self.evals_result_ = evals
        self._take_model(model)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a model file in one step; `spinney.load_estimator` reads it, `spinney.load` its model.

        The file holds the model, the labels, the parameters and the metrics of the rounds, and no code. Parameters that JSON
        cannot hold, such as functions, are left out with a warning; the loaded estimator must be given them before another fit.

        Parameters
        ----------
        path : str or path-like
            Where to write; its folder must exist. On failure an old file is still there, whole.
        """
        check_is_fitted(self, "model_")
        save_estimator(self, path)

    def _take_model(self, model: Model) -> None:
        """Note a fitted model, and what follows from it."""
        self.model_ = model
        self.best_iteration_ = model.best_round
        self.n_iter_ = model.rounds
        self.n_estimators_ = model.rounds_to_use()
        # Metrics are known of the rounds that the latest fit added.
        self.best_score_ = best_values(self.evals_result_, self.n_iter_ - self.n_estimators_)

    def _check_parameters(self) -> None:
        """Check the parameters as `fit` does, as far as that needs no table."""
        check_alone(self)
        told = self._told() | ({"objective": OWN} if "objective" in self._left_out else {})
        if isinstance(self.random_state, np.random.RandomState):
            told["random_state"] = 0  # only a fit draws from it
        self._config(told)

    @told
    def apply(self, X: object, *, rounds: int | None = None) -> NDArray[np.int32]:
        """Return the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.
        rounds : int, optional
            Use the first so many rounds. Without it those that `predict` uses.

        Returns
        -------
        int32 array of shape (rows, trees)
            Node numbers, counted from the first node of each tree. The trees stand round by round; where there are more than
            two classes, a round has a tree for each of them, in the order of `classes_`.
        """
        check_is_fitted(self, "model_")
        X = with_columns_checked(self, X, reset=False)
        return self.model_.predict_leaf(X, rounds, self.n_jobs)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each column in what `importance_type` says, of all splits that `predict` uses."""
        check_is_fitted(self, "model_")
        kind: Any = checked(IMPORTANCE, self.importance_type)
        found = self.model_.importance(kind)
        total = found.sum()
        return found / total if total > 0 else found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def _learn_target(
        self, y: object, rows: int, start: Start | None
    ) -> tuple[NDArray[np.float64], Mapping[str, object]]:
        """The target of the training rows as numbers, and the parameters that follow from it."""

    @abstractmethod
    def _told(self) -> dict[str, object]:
        """The parameters of training that `objective` stands for."""

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
        return labels.weight

    def _fixed_scores(self, dataset: Dataset, start: Start | None) -> NDArray[np.float64] | None:
        """Raw scores that every row gets where the target leaves nothing to learn, else None."""
        return None

    def _trained(
        self,
        config: Config,
        dataset: Dataset,
        rounds: int,
        valid: Mapping[str, Dataset],
        callbacks: list[Callback],
        start: Start | None,
    ) -> Model:
        given: Any = {
            "objective": own_function(self.objective, hasattr(self, "classes_")),
            "valid": valid,
            "metrics": self._own_metrics(config),
            "callbacks": callbacks,
        }
        fixed = self._fixed_scores(dataset, start)
        if fixed is None:
            past = None if start is None else start.model
            return train(config, dataset, rounds, progress=bool(self.progress), init_model=past, **given)
        # A training of no rounds checks all that any training does; its base score is put in afterwards.
        score = 0.0 if config.base_score is None else config.base_score
        bare = train(replace(config, base_score=score), dataset, 0, **given)
        return Model(bare.forest, fixed, config.objective, config, dataset.schema)

    def _datasets(
        self,
        X: object,
        y: object,
        weight: object,
        margin: object,
        watched: list[Evaluation],
        start: Start | None,
    ) -> tuple[Config, Dataset, dict[str, Dataset]]:
        """Read and bin the training and validation rows. What was read is let go when this returns."""
        columns = read_table(with_columns_checked(self, X, reset=True))
        self.n_features_in_ = columns.columns
        warn_of_column_vector(y)
        target, told = self._learn_target(y, columns.rows, start)
        config = self._config(told)
        schema = None if start is None else start.schema_for(columns, config)
        found_places(config, columns.names, columns.columns)  # a wrong name is told before columns are binned
        judges_of(config, self._own_metrics(config))  # and so is a metric that does not fit
        fraction = fraction_of(self, config, watched)
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
        dataset = sample.binned(n_jobs=config.n_jobs, categorical=self.categorical, schema=schema, **rules)
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
        elif isinstance(seed, np.random.RandomState) and "random_state" not in told:
            given["random_state"] = int(seed.randint(2**31 - 1))
        if has_functions(self.eval_metric):
            given["eval_metric"] = (
                "none"  # a model's file holds no functions; `train` is given all metrics in their order
            )
        return parse({**given, **told})

    def _own_metrics(self, config: Config) -> list[str | TrainMetric] | None:
        return own_metrics(self.eval_metric, config, getattr(self, "classes_", None))

    def _check_metrics(self, config: Config, labels: Labels) -> None:
        """Refuse validation rows that have no such metric, before they are binned."""
        for judge in judges_of(config, self._own_metrics(config)):
            judge.check(labels)

    def _raw_scores(
        self, X: object, base_margin: ArrayLike | None, rounds: int | None
    ) -> NDArray[np.float64]:
        check_is_fitted(self, "model_")
        X = with_columns_checked(self, X, reset=False)
        return self.model_.predict_raw(X, rounds, self.n_jobs, base_margin)

    def _staged_scores(
        self, X: object, base_margin: ArrayLike | None, rounds: int | None
    ) -> Iterator[NDArray[np.float64]]:
        check_is_fitted(self, "model_")
        X = with_columns_checked(self, X, reset=False)
        return staged_scores(self.model_, X, self.n_jobs, base_margin, rounds)
