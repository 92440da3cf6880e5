"""What the boosting estimators share: fitting, and predictions after each round.

A fit checks its arguments (`rounds_of`, `evaluations`), its target and parameters (`FitRules`), bins the rows, and calls
`train_each`. The methods `_datasets` and `_train` do so in memory; estimators whose rows are on a cluster replace them.
"""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from spinney.data import Labels, RawLabels, Table, match_columns, read_margin, read_table
from spinney.dataset import Dataset
from spinney.errors import ParameterError
from spinney.estimators.base import (
    Estimator,
    categories_of_text,
    refuse_unsaved,
    restore_on_failure,
    suggest_arguments,
    warn_of_column_vector,
    with_columns_checked,
)
from spinney.estimators.continuation import Continuation, start_of
from spinney.estimators.custom import TrainMetric, custom_metrics, custom_objective, has_functions
from spinney.estimators.evaluation import (
    FirstHistory,
    RawData,
    best_values,
    evaluations,
    first_values,
    names_of_sets,
    naming,
    rounds_after_best,
    single_evaluation,
)
from spinney.estimators.fit_inputs import FitRules, check_alone, explicit_parameters, rounds_of
from spinney.messages import shown
from spinney.model.boosted import Model, mean_model
from spinney.model.predict import Predictor
from spinney.objectives.custom import loss_of
from spinney.params import Config
from spinney.params.common import DATA_PARAMS
from spinney.params.estimators import IMPORTANCE
from spinney.params.objectives import OWN
from spinney.params.parameter import SeedLike, is_drawn
from spinney.training.callbacks import AutoRounds, Callback, checked_callbacks, warn_of_cap
from spinney.training.holdout import Rows, checked_rows
from spinney.training.round_plan import Auto
from spinney.training.train import train_each
from spinney.tree import concatenate

_IN_TABLE = frozenset(parameter.name for parameter in Config.table())


@dataclass(frozen=True, eq=False)
class FitData:
    """The binned rows of a fit.

    Attributes
    ----------
    config : Config
        The parameters of training.
    train : Dataset
        The rows to train on.
    valid : dict
        Validation data, in the order of the arguments.
    fixed_scores : float64[outputs], optional
        Raw scores of every row where the target leaves nothing to learn.
    """

    config: Config
    train: Any  # a data set in memory, or on a cluster
    valid: dict[str, Any]
    fixed_scores: NDArray[np.float64] | None


class GBMBase(Estimator, ABC):
    """A boosting estimator; subclasses have the rules of their targets."""

    n_estimators: int | str
    max_rounds: int | None
    eval_metric: object
    random_state: SeedLike
    n_jobs: int | None
    validation_fraction: float | None
    validation: str
    progress: bool
    importance_type: str
    warm_start: bool
    categorical: str | Sequence[str | int] | NDArray[np.bool_]
    objective: object

    model_: Model
    evals_result_: dict[str, dict[str, list[float]]]
    auto_: AutoRounds | None
    best_iteration_: int | None
    best_score_: dict[str, dict[str, float]]
    n_iter_: int
    n_estimators_: int
    n_features_in_: int

    def _fit(
        self,
        given: RawData,
        valid_sets: list[RawData],
        eval_names: object,
        callbacks: Iterable[Callback] | None,
        init_model: object,
        groups: object = None,
        validation: object = None,
        **overrides: object,
    ) -> Self:
        """Fit to what was given, within `restore_on_failure`; `overrides` are parameters of this fit alone."""
        start, rounds = None, rounds_of(self)
        if init_model is not None or self.warm_start:
            start, rounds = start_of(self, init_model, rounds)
        if start is not None and init_model is None and is_drawn(self.random_state):
            # The seed of the first fit, so that the same rows are held out.
            overrides = {"random_state": start.model.params.random_state, **overrides}
        self.__dict__.pop("model_", None)
        others = checked_callbacks(callbacks)
        rows = checked_rows(validation)
        holds_out = (
            isinstance(rounds, Auto) or self.validation_fraction is not None or isinstance(rows, np.ndarray)
        )
        names = names_of_sets(eval_names, len(valid_sets) or int(holds_out))
        data = self._datasets(given, valid_sets, start, groups, rows, overrides)
        if isinstance(rounds, Auto) and not valid_sets:
            rounds = replace(rounds, groups=groups, name=names[0])
            if rows is not None:
                rounds = replace(rounds, validation=rows)
        valid = dict(zip(names, data.valid.values(), strict=bool(data.valid)))
        history = FirstHistory()
        models = self._trained(data, rounds, valid, [history, *others], start)
        model = models[0] if len(models) == 1 else mean_model(models)
        self.auto_ = history.found[0] if history.found else None
        evals = history.evals
        if self.auto_ is None and len(models) > 1:
            evals = first_values(evals, models[0].rounds_to_use())
        if start is not None:
            model, evals = start.with_evals(model, history.before, evals)
        self.evals_result_ = evals
        self._set_model(model)
        warn_of_cap(history.found, "n_estimators", ConvergenceWarning, stacklevel=4)
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
        from spinney.estimators.files import save_estimator  # which imports this module

        check_is_fitted(self, "model_")
        save_estimator(self, path)

    def _set_model(self, model: Model) -> None:
        """Set the fitted model, and what follows from it."""
        self.model_ = model
        self.best_iteration_ = model.best_round
        self.n_iter_ = model.rounds
        self.n_estimators_ = model.rounds_to_use()
        # There are metrics of the last rounds, back to those that are used at least, or of all that a search tried.
        self.best_score_ = best_values(self.evals_result_, rounds_after_best(model, self.auto_))

    def _check_parameters(self) -> None:
        """Check the parameters as `fit` does, as far as that needs no table."""
        check_alone(self)
        overrides = self._objective_params() | ({"objective": OWN} if "objective" in self._unsaved else {})
        if is_drawn(self.random_state):
            overrides["random_state"] = 0  # only a fit draws from it
        self._config(overrides)

    @suggest_arguments
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
            two classes, several targets or levels, a round has a tree for each of them, in their order.
        """
        check_is_fitted(self, "model_")
        X = with_columns_checked(self, X, reset=False)
        return self.model_.predict_leaf(X, rounds, self.n_jobs)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each column in what `importance_type` names, of all splits that `predict` uses."""
        check_is_fitted(self, "model_")
        kind: Any = IMPORTANCE.check(self.importance_type)
        found = self.model_.importance(kind)
        total = found.sum()
        return found / total if total > 0 else found

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The parameters and, of a fitted estimator, what "auto" did."""
        # scikit-learn's printer breaks the lines of classes that have its own __repr__.
        kind = type(type(self).__name__, (type(self),), {"__repr__": BaseEstimator.__repr__})
        plain: Any = object.__new__(kind)
        plain.__dict__.update(vars(self))
        text: str = BaseEstimator.__repr__(plain, N_CHAR_MAX)
        found: AutoRounds | None = vars(self).get("auto_")
        if found is None:
            return text
        return f"{text}\n# {'' if found.chosen == self.n_estimators_ else 'first model: '}{found}"

    @abstractmethod
    def _fit_target(
        self, y: object, rows: int, start: Continuation | None
    ) -> tuple[NDArray[np.float64], Mapping[str, object]]:
        """The target of the training rows as numbers, and the parameters that follow from it."""

    @abstractmethod
    def _objective_params(self) -> dict[str, object]:
        """The parameters of training that `objective` stands for."""

    @abstractmethod
    def _read_target(self, y: object, rows: int) -> NDArray[np.float64]:
        """The target of validation rows as numbers."""

    def _check_target(self, y: object, rows: int) -> None:
        """Refuse a target of some of the rows that could not be read."""
        self._read_target(y, rows)

    def _strata(self, target: NDArray[np.float64]) -> NDArray[np.int64]:
        """Groups of rows of which the same share is held out."""
        return np.zeros(len(target), np.int64)

    def _row_weights(self, labels: Labels) -> NDArray[np.float64] | None:
        """Weights to train with."""
        return labels.weight

    def _eval_weights(self, class_weight: object, labels: Labels) -> NDArray[np.float64] | None:
        """Weights of validation rows, once their classes' factors are applied."""
        return labels.weight

    def _fixed_scores(self, labels: Labels, start: Continuation | None) -> NDArray[np.float64] | None:
        """Raw scores that every row gets where the target leaves nothing to learn, else None."""
        return None

    def _datasets(
        self,
        given: RawData,
        valid_sets: list[RawData],
        start: Continuation | None,
        groups: object,
        validation: Rows,
        overrides: Mapping[str, object],
    ) -> FitData:
        """Read and bin the training and validation rows. What was read is let go when this returns."""
        columns = read_table(with_columns_checked(self, given.X, reset=True))
        self.n_features_in_ = columns.columns
        warn_of_column_vector(given.labels.y)
        rules = FitRules(self)
        found = rules.fit_inputs(
            given.labels, columns, bool(valid_sets), start, overrides, groups, validation
        )
        config, rows = found.config, found.holdout_rows
        columns, notes = categories_of_text(columns, self.categorical, found.schema)
        for note in notes:
            warnings.warn(note, stacklevel=5)
        train = _binned(
            columns if rows is None else columns.take(~rows), found.labels, n_jobs=config.n_jobs,
            categorical=self.categorical, schema=found.schema, **{name: getattr(config, name) for name in DATA_PARAMS},
        )  # fmt: skip
        valid = {}
        if rows is not None and found.holdout is not None:
            valid["validation_0"] = _binned(
                columns.take(rows), found.holdout, reference=train, n_jobs=config.n_jobs
            )
        else:
            for place, other in enumerate(valid_sets):
                same = train.weight is None and other.is_same(given)
                valid[f"validation_{place}"] = (
                    train if same else self._validation(other, train, rules, config)
                )
        return FitData(config, train, valid, found.fixed_scores)

    def _validation(self, found: RawData, train: Dataset, rules: FitRules, config: Config) -> Dataset:
        with naming(found.labels.where):
            columns = read_table(with_columns_checked(self, found.X, reset=False))
            schema = train.schema
            columns = match_columns(columns, schema.names, schema.columns, model=type(self).__name__)
            targets = train.labels().targets
            labels = rules.validation_labels(found.labels, found.class_weight, columns.rows, targets, config)
            return _binned(columns, labels, reference=train, n_jobs=config.n_jobs)

    def _trained(
        self,
        data: FitData,
        rounds: int | Auto,
        valid: Mapping[str, Any],
        callbacks: list[Callback],
        start: Continuation | None,
    ) -> list[Model]:
        """The models whose mean the fit gives."""
        config = data.config
        given: Any = {
            "objective": custom_objective(self.objective, hasattr(self, "classes_")),
            "valid": valid,
            "metrics": self._custom_metrics(config),
            "callbacks": callbacks,
        }
        if data.fixed_scores is None:
            init = None if start is None else start.model
            return self._train(
                config, data.train, rounds, progress=bool(self.progress), init_model=init, **given
            )
        # A training of no rounds checks all that any training does; its base score is put in afterwards.
        score = 0.0 if config.base_score is None else config.base_score
        patience = config.early_stopping_rounds if valid or not isinstance(rounds, Auto) else None
        bare = replace(config, base_score=score, early_stopping_rounds=patience, models=1)
        (found,) = self._train(bare, data.train, 0, **given)
        return [Model(found.forest, data.fixed_scores, config.objective, config, data.train.schema)]

    def _train(self, config: Config, dataset: Any, rounds: int | Auto, **given: Any) -> list[Model]:
        """Train where the data are; the arguments are those of `train_each`."""
        return train_each(config, dataset, rounds, **given)

    def _config(self, overrides: Mapping[str, object]) -> Config:
        own = {name: value for name, value in vars(self).items() if name in _IN_TABLE}
        given = explicit_parameters(self, own)
        if has_functions(self._metrics()):
            # A model's file holds no functions; `train` is given all metrics in their order.
            given["eval_metric"] = "none"
        return Config.parse({**given, **overrides})

    def _custom_metrics(self, config: Config) -> list[str | TrainMetric] | None:
        return custom_metrics(self._metrics(), config, getattr(self, "classes_", None))

    def _metrics(self) -> object:
        """The metrics of `eval_metric`; without any, the loss of an objective that is a function, if it has one."""
        given = self.eval_metric
        if given is not None and not (isinstance(given, Sequence) and not given):
            return given
        return loss_of(self.objective) if callable(self.objective) else None

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


def _binned(table: Table, labels: Labels, **options: Any) -> Dataset:
    """The data set of a table with labels; the options are those of `Dataset`."""
    given: Any = {"weight": labels.weight, "base_margin": labels.margin, "qid": labels.queries}
    return Dataset(table, labels.target, **given, **options)


class PointwiseGBM(GBMBase):
    """A boosting estimator of rows that belong to no queries: a classifier or a regressor."""

    @suggest_arguments
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
        groups: ArrayLike | None = None,
        validation: ArrayLike | str | None = None,
    ) -> Self:
        """Fit the trees.

        Parameters
        ----------
        X : table of shape (rows, columns)
            NumPy array, pandas, Polars or Arrow table, SciPy sparse matrix, or a list of rows. NaN and nulls are missing
            values; infinite values are an error. Arrays of float32 and float64 are not copied.
        y : array of shape (rows,) or (rows, columns)
            Target: numbers for a regressor; strings, whole numbers or booleans for a classifier. A regressor takes several
            columns of numbers, a classifier several of 0 and 1, the labels that a row has.
        sample_weight : array of shape (rows,), optional
            Weights of the rows, 0 or more. A row of weight 0 takes no part in the trees.
        eval_set : (X, y) or list of (X, y), optional
            Data to compute the metrics on after each round. With `early_stopping_rounds` the last pair decides.
        eval_sample_weight : array, or list of arrays or None, optional
            Weights of the rows of `eval_set`: an array for one pair, a list for a list of pairs.
        eval_class_weight : as `class_weight`, or list of such, optional
            Factors on the weights of the classes' rows in `eval_set`, for classifiers only: one for one pair, a list for a
            list of pairs.
        eval_names : list of str, optional
            Names of the validation data in the results, in place of "validation_0" and so on.
        base_margin : array of shape (rows,) or (rows, outputs), optional
            Raw scores that the rows start from, in place of a common base score. Give them to `predict` as well.
        eval_base_margin : array, or list of arrays or None, optional
            The same for `eval_set`.
        X_val : table, optional
            Validation data under scikit-learn's names: `X_val` and `y_val` are the same as `eval_set=(X_val, y_val)`, and
            `early_stopping_rounds` uses them. Give one form only.
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
        groups : array of shape (rows,), optional
            Group of each row. Rows of a group are held out together, by `validation_fraction` or to find the rounds.
        validation : array or "last", optional
            Rows to hold out as validation data: their numbers, or a truth value for each row; "last" as the
            parameter of this name. Without it that parameter and `validation_fraction` choose them.

        Returns
        -------
        estimator
            The estimator itself.
        """
        refuse_unsaved(self)
        with restore_on_failure(self):
            valid_sets = single_evaluation(X_val, y_val, sample_weight_val, eval_set)
            valid_sets += evaluations(eval_set, eval_sample_weight, eval_base_margin, eval_class_weight)
            factors = [found.class_weight for found in valid_sets if found.class_weight is not None]
            if factors and not is_classifier(self):
                raise ParameterError(
                    f"eval_class_weight={shown(factors[0])} is for classifiers: {type(self).__name__} has no classes; leave "
                    "it out"
                )
            given = RawData(X, RawLabels(y, sample_weight, base_margin, weight_name="sample_weight"))
            return self._fit(given, valid_sets, eval_names, callbacks, init_model, groups, validation)


def predict_raw(estimator: GBMBase, X: object) -> NDArray[np.float64]:
    """The raw scores of rows, whatever an estimator predicts of them."""
    return estimator._raw_scores(X, None, None)


def score_raw(estimator: GBMBase, raw: NDArray[np.float64], labels: Mapping[str, Any]) -> float:
    """The score of an estimator for rows of these raw scores; `labels` are the other arguments of its `score`."""
    scored: Any = copy(estimator)  # others may use the same object
    scored._raw_scores = lambda scores, *_: scores
    score: float = scored.score(raw, **labels)
    return score


def staged_scores(
    model: Model, X: object, n_jobs: int | None, base_margin: object = None, rounds: int | None = None
) -> Iterator[NDArray[np.float64]]:
    """Raw scores after the first round, the second and so on, up to `rounds`, else to those that `Model.predict_raw` uses.

    Every round walks its own trees only, and needs no memory beyond the scores. What is given is checked at once.

    Returns
    -------
    iterator of float64 arrays
        A new one each round, shaped as `Model.predict_raw` gives it; the last one has its bits.
    """
    last = model.rounds_to_use(rounds)
    table = model.read(X)
    margin = read_margin(base_margin, table.rows, model.outputs)
    return _after_each(model, table, model.base_score if margin is None else margin, last, n_jobs)


def _after_each(
    model: Model, table: Table, scores: NDArray[np.float64], last: int, n_jobs: int | None
) -> Iterator[NDArray[np.float64]]:
    outputs = model.outputs
    for done in range(last):
        trees = [model.forest.tree(t) for t in range(done * outputs, (done + 1) * outputs)]
        scores = Predictor(concatenate(trees), model.absent).raw_scores(scores, table, outputs, n_jobs)
        yield scores[:, 0].copy() if outputs == 1 else scores.copy()
