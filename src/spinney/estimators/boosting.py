"""What the boosting estimators share: fitting, the checks around it, and predictions after each round."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from spinney import objectives
from spinney.data import (
    Labels,
    RawLabels,
    Table,
    match_columns,
    read_margin,
    read_table,
)
from spinney.data.target import read_weight_and_queries
from spinney.dataset import Dataset
from spinney.errors import ParameterError
from spinney.estimators.base import Estimator, refuse_left_out, suggest_arguments
from spinney.estimators.continuation import (
    Continuation,
    check_alone,
    check_anew,
    fitting,
    holdout_of,
    rounds_of,
    said,
    start_of,
)
from spinney.estimators.custom import TrainMetric, has_functions, own_function, own_metrics
from spinney.estimators.fit_inputs import (
    FirstHistory,
    FitInputs,
    RawData,
    best_values,
    binned,
    categories_of_text,
    check_columns_of_target,
    evaluations,
    first_values,
    names_of_sets,
    naming,
    rounds_after_best,
    single_evaluation,
    warn_of_column_vector,
    with_columns_checked,
)
from spinney.messages import shown
from spinney.model.boosted import Model, mean_model
from spinney.model.predict import Predictor
from spinney.objectives.custom import loss_of
from spinney.params import Config, check_columns, kind_of, outputs_of
from spinney.params.common import AUTO, DATA_PARAMS
from spinney.params.estimators import IMPORTANCE
from spinney.params.objectives import OWN
from spinney.params.parameter import SeedLike, is_drawn
from spinney.training.callbacks import AutoRounds, Callback, checked_callbacks, warn_of_cap
from spinney.training.evaluation import training_metrics
from spinney.training.holdout import Rows, check_left, checked_rows, chosen_rows, named
from spinney.training.round_plan import SURVIVAL, Auto, check_has_metric
from spinney.training.splitting import group_numbers
from spinney.training.train import train_each
from spinney.tree import concatenate

_IN_TABLE = frozenset(parameter.name for parameter in Config.table())


class GBMBase(Estimator, ABC):
    """A boosting estimator; subclasses say what their target means."""

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
        watched: list[RawData],
        eval_names: object,
        callbacks: Iterable[Callback] | None,
        init_model: object,
        groups: object = None,
        validation: object = None,
        **told: object,
    ) -> Self:
        """Fit to what was given, within `fitting`; `told` are parameters of this fit alone."""
        start, rounds = start_of(self, init_model, rounds_of(self))
        if start is not None and init_model is None and is_drawn(self.random_state):
            # The seed of the first fit, so that the same rows are held out.
            told = {"random_state": start.model.params.random_state, **told}
        self.__dict__.pop("model_", None)
        heard = checked_callbacks(callbacks)
        auto = isinstance(rounds, Auto)
        rows = checked_rows(validation)
        held = auto or self.validation_fraction is not None or isinstance(rows, np.ndarray)
        names = names_of_sets(eval_names, len(watched) or int(held))
        config, dataset, valid = self._datasets(given, watched, start, groups, rows, told)
        if isinstance(rounds, Auto) and not watched:
            rounds = replace(rounds, groups=groups, name=names[0])
            if rows is not None:
                rounds = replace(rounds, validation=rows)
        valid = dict(zip(names, valid.values(), strict=bool(valid)))
        history = FirstHistory()
        models = self._trained(config, dataset, rounds, valid, [history, *heard], start)
        model = models[0] if len(models) == 1 else mean_model(models)
        self.auto_ = history.found[0] if history.found else None
        evals = history.evals
        if self.auto_ is None and len(models) > 1:
            evals = first_values(evals, models[0].rounds_to_use())
        if start is not None:
            model, evals = start.with_evals(model, history.before, evals)
        self.evals_result_ = evals
        self._take_model(model)
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
        from spinney.estimators.files import save_estimator  # which knows every kind of model

        check_is_fitted(self, "model_")
        save_estimator(self, path)

    def _take_model(self, model: Model) -> None:
        """Note a fitted model, and what follows from it."""
        self.model_ = model
        self.best_iteration_ = model.best_round
        self.n_iter_ = model.rounds
        self.n_estimators_ = model.rounds_to_use()
        # Metrics are known of the last rounds, back to those that are used at least, or of all that a search tried.
        self.best_score_ = best_values(self.evals_result_, rounds_after_best(model, self.auto_))

    def _check_parameters(self) -> None:
        """Check the parameters as `fit` does, as far as that needs no table."""
        check_alone(self)
        told = self._told() | ({"objective": OWN} if "objective" in self._left_out else {})
        if is_drawn(self.random_state):
            told["random_state"] = 0  # only a fit draws from it
        self._config(told)

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
        """Share of each column in what `importance_type` says, of all splits that `predict` uses."""
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def _learn_target(
        self, y: object, rows: int, start: Continuation | None
    ) -> tuple[NDArray[np.float64], Mapping[str, object]]:
        """The target of the training rows as numbers, and the parameters that follow from it."""

    @abstractmethod
    def _told(self) -> dict[str, object]:
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

    def _trained(
        self,
        config: Config,
        dataset: Dataset,
        rounds: int | Auto,
        valid: Mapping[str, Dataset],
        callbacks: list[Callback],
        start: Continuation | None,
    ) -> list[Model]:
        """The models whose mean the fit gives."""
        given: Any = {
            "objective": own_function(self.objective, hasattr(self, "classes_")),
            "valid": valid,
            "metrics": self._own_metrics(config),
            "callbacks": callbacks,
        }
        fixed = self._fixed(dataset, start)
        if fixed is None:
            past = None if start is None else start.model
            return self._train(
                config, dataset, rounds, progress=bool(self.progress), init_model=past, **given
            )
        # A training of no rounds checks all that any training does; its base score is put in afterwards.
        score = 0.0 if config.base_score is None else config.base_score
        patience = config.early_stopping_rounds if valid or not isinstance(rounds, Auto) else None
        bare = replace(config, base_score=score, early_stopping_rounds=patience, models=1)
        (found,) = self._train(bare, dataset, 0, **given)
        return [Model(found.forest, fixed, config.objective, config, dataset.schema)]

    def _fixed(self, dataset: Any, start: Continuation | None) -> NDArray[np.float64] | None:
        """What `_fixed_scores` says of a data set."""
        return self._fixed_scores(dataset.labels(), start)

    def _train(self, config: Config, dataset: Any, rounds: int | Auto, **given: Any) -> list[Model]:
        """Train where the data are; the arguments are those of `train_each`."""
        return train_each(config, dataset, rounds, **given)

    def _datasets(
        self,
        given: RawData,
        watched: list[RawData],
        start: Continuation | None,
        groups: object,
        validation: Rows,
        told: Mapping[str, object],
    ) -> tuple[Config, Dataset, dict[str, Dataset]]:
        """Read and bin the training and validation rows. What was read is let go when this returns."""
        columns = read_table(with_columns_checked(self, given.X, reset=True))
        self.n_features_in_ = columns.columns
        warn_of_column_vector(given.labels.y)
        found = self._fit_inputs(given.labels, columns, bool(watched), start, told, groups, validation)
        config, chosen = found.config, found.chosen
        columns, notes = categories_of_text(columns, self.categorical, found.schema)
        for note in notes:
            warnings.warn(note, stacklevel=5)
        rules = {name: getattr(config, name) for name in DATA_PARAMS}
        dataset = binned(
            columns if chosen is None else columns.take(~chosen), found.labels,
            n_jobs=config.n_jobs, categorical=self.categorical, schema=found.schema, **rules,
        )  # fmt: skip
        if chosen is not None and found.held is not None:
            held = binned(columns.take(chosen), found.held, reference=dataset, n_jobs=config.n_jobs)
            return config, dataset, {"validation_0": held}
        valid = {}
        for place, other in enumerate(watched):
            same = dataset.weight is None and other.is_same(given)
            valid[f"validation_{place}"] = dataset if same else self._validation(other, dataset, config)
        return config, dataset, valid

    def _fit_inputs(
        self,
        raw: RawLabels,
        columns: Table,
        watched: bool,
        start: Continuation | None,
        told: Mapping[str, object],
        groups: object = None,
        validation: Rows = None,
    ) -> FitInputs:
        """What target, weights and parameters say before columns are binned, of which only names are asked."""
        target, follows = self._learn_target(raw.y, columns.rows, start)
        config = self._config({**follows, **told})
        check_anew(self, config, start is not None)
        schema = None if start is None else start.schema_for(columns, config)
        if config.has_column_rules:  # a wrong name is an error before columns are binned
            check_columns(config, columns.names, columns.columns)
        chosen_metrics = training_metrics(
            config, self._own_metrics(config)
        )  # and so is a metric that does not fit
        if self.n_estimators == AUTO:
            check_has_metric("n_estimators", config, chosen_metrics)
        holdout = holdout_of(self, config, watched, groups, checked_rows(validation, columns.rows))
        labels = self._labels_of(raw, target, config)
        held = chosen = None
        if holdout is not None:
            rows, fraction = holdout
            seen, whole = labels, "queries"
            if groups is not None:
                seen, whole = replace(labels, queries=group_numbers(groups, columns.rows)), "groups"
            strata, what = self._strata(labels.target), named(rows, fraction)
            chosen = chosen_rows(rows, seen, strata, fraction, config.random_state, whole)
            if rows is not None:
                check_left(chosen, labels, strata, kind_of(config.objective) in SURVIVAL, what)
            labels, held = labels.take(~chosen), labels.take(chosen)
            with naming(f"the rows held out by {what}"):
                self._check_metrics(config, held)
        labels = replace(labels, weight=self._row_weights(labels))
        return FitInputs(config, schema, labels, held, chosen)

    def _validation(self, found: RawData, dataset: Dataset, config: Config) -> Dataset:
        with naming(found.labels.where):
            columns = read_table(with_columns_checked(self, found.X, reset=False))
            schema = dataset.schema
            columns = match_columns(columns, schema.names, schema.columns, model=type(self).__name__)
            targets = dataset.labels().targets
            labels = self._validation_labels(found.labels, found.class_weight, columns.rows, targets, config)
            return binned(columns, labels, reference=dataset, n_jobs=config.n_jobs)

    def _validation_labels(
        self, raw: RawLabels, class_weight: object, rows: int, targets: int, config: Config
    ) -> Labels:
        """The labels of validation rows; `targets` is the number of columns of the training rows' target."""
        target = self._read_target(raw.y, rows)
        check_columns_of_target(target, targets)
        labels = self._labels_of(raw, target, config, "eval_")
        labels = replace(labels, weight=self._eval_weights(class_weight, labels))
        self._check_metrics(config, labels)
        return labels

    def _labels_of(
        self, raw: RawLabels, target: NDArray[np.float64], config: Config, before: str = ""
    ) -> Labels:
        """The labels of rows whose target was read; `before` stands before the names of arguments in messages."""
        rows = len(target)
        weight, queries = read_weight_and_queries(raw, rows, before)
        margin = read_margin(raw.base_margin, rows, outputs_of(config), what=f"{before}base_margin")
        return Labels(target, weight, margin, queries)

    def _config(self, told: Mapping[str, object]) -> Config:
        given = said(self, {name: value for name, value in vars(self).items() if name in _IN_TABLE})
        if has_functions(self._metrics()):
            given["eval_metric"] = (
                "none"  # a model's file holds no functions; `train` is given all metrics in their order
            )
        return Config.parse({**given, **told})

    def _own_metrics(self, config: Config) -> list[str | TrainMetric] | None:
        return own_metrics(self._metrics(), config, getattr(self, "classes_", None))

    def _metrics(self) -> object:
        """What `eval_metric` says; where it says nothing, the loss of an objective of the user's own, if it has one."""
        given = self.eval_metric
        missing = given is None or (isinstance(given, Sequence) and not given)
        return loss_of(self.objective) if missing else given

    def _check_metrics(self, config: Config, labels: Labels) -> None:
        """Refuse validation rows that have no such metric, before they are binned."""
        labels = objectives.get(config).prepared(labels)
        for metric in training_metrics(config, self._own_metrics(config)):
            metric.check(labels)

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


@dataclass(frozen=True, eq=False)
class FitRules:
    """The rules of an estimator for targets, weights and hold-outs, for a fit whose rows are on workers.

    Attributes
    ----------
    estimator : GBMBase
        One with the parameters; `fit_inputs` gives it the attributes that follow from the target.
    """

    estimator: GBMBase

    def fit_inputs(
        self,
        raw: RawLabels,
        columns: Table,
        watched: bool,
        start: Continuation | None,
        told: Mapping[str, object],
        groups: object,
        validation: Rows,
    ) -> tuple[FitInputs, NDArray[np.float64] | None]:
        """What a fit has before columns are binned, and the raw scores of all rows where there is nothing to learn."""
        found = self.estimator._fit_inputs(raw, columns, watched, start, told, groups, validation)
        return found, self.estimator._fixed_scores(found.labels, start)

    def validation_labels(
        self, raw: RawLabels, class_weight: object, rows: int, targets: int, config: Config
    ) -> Labels:
        """The labels of validation rows."""
        return self.estimator._validation_labels(raw, class_weight, rows, targets, config)

    def check_target(self, y: object, rows: int) -> None:
        """Refuse a target of some of the rows that could not be read."""
        self.estimator._check_target(y, rows)


class RowByRow(GBMBase):
    """A boosting estimator of rows that belong to no queries."""

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
        refuse_left_out(self)
        with fitting(self):
            watched = single_evaluation(X_val, y_val, sample_weight_val, eval_set)
            watched += evaluations(eval_set, eval_sample_weight, eval_base_margin, eval_class_weight)
            factors = [found.class_weight for found in watched if found.class_weight is not None]
            if factors and not is_classifier(self):
                raise ParameterError(
                    f"eval_class_weight={shown(factors[0])} is for classifiers: {type(self).__name__} has no classes; leave "
                    "it out"
                )
            given = RawData(X, RawLabels(y, sample_weight, base_margin, weight_name="sample_weight"))
            return self._fit(given, watched, eval_names, callbacks, init_model, groups, validation)


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
