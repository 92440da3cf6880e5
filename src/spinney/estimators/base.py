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
from sklearn.utils.validation import check_is_fitted

from spinney import objectives
from spinney.binning.arguments import DATA_PARAMS
from spinney.binning.dataset import Dataset
from spinney.data import Labels, match_columns, read_margin, read_queries, read_query_weight, read_table
from spinney.estimators.arguments import told
from spinney.estimators.checks import check_alone, fraction_of, rounds_of
from spinney.estimators.continuing import Start, start_of, with_nothing_added
from spinney.estimators.evaluation import (
    Evaluation,
    best_values,
    check_columns_of_target,
    names_of_sets,
    naming,
)
from spinney.estimators.files import save_estimator
from spinney.estimators.holdout import held_out
from spinney.estimators.objectives import own_function
from spinney.estimators.own_functions import TrainMetric, has_functions, own_metrics
from spinney.estimators.parameters import IMPORTANCE
from spinney.estimators.samples import Sample, warn_of_column_vector, with_columns_checked
from spinney.estimators.setting import Estimator
from spinney.estimators.staged import staged_scores
from spinney.model.model import Model
from spinney.params import Config, found_places, outputs_of, parse, table
from spinney.params.objectives import OWN
from spinney.params.validate import checked
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

    def _fit(
        self,
        given: Evaluation,
        watched: list[Evaluation],
        eval_names: object,
        callbacks: Iterable[Callback] | None,
        init_model: object,
        **told: object,
    ) -> Self:
        """Fit to what was given, within `fitting`; `told` are parameters of this fit alone."""
        start, rounds = start_of(self, init_model, rounds_of(self))
        self.__dict__.pop("model_", None)
        heard = checked_callbacks(callbacks)
        names = names_of_sets(eval_names, len(watched) or int(self.validation_fraction is not None))
        config, dataset, valid = self._datasets(given, watched, start, told)
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
            two classes, several targets or levels, a round has a tree for each of them, in their order.
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
        given: Evaluation,
        watched: list[Evaluation],
        start: Start | None,
        told: Mapping[str, object],
    ) -> tuple[Config, Dataset, dict[str, Dataset]]:
        """Read and bin the training and validation rows. What was read is let go when this returns."""
        columns = read_table(with_columns_checked(self, given.X, reset=True))
        self.n_features_in_ = columns.columns
        warn_of_column_vector(given.y)
        target, follows = self._learn_target(given.y, columns.rows, start)
        config = self._config({**follows, **told})
        schema = None if start is None else start.schema_for(columns, config)
        found_places(config, columns.names, columns.columns)  # a wrong name is told before columns are binned
        judges_of(config, self._own_metrics(config))  # and so is a metric that does not fit
        fraction = fraction_of(self, config, watched)
        sample = Sample(columns, self._labels_of(given, target, config))
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
            other = (weights, given.margin, found.weight, found.margin, found.class_weight)
            pairs = (
                (found.X, given.X),
                (found.y, given.y),
                (found.group, given.group),
                (found.qid, given.qid),
            )
            same = all(one is two for one, two in pairs) and all(value is None for value in other)
            valid[f"validation_{place}"] = dataset if same else self._validation(found, dataset, config)
        return config, dataset, valid

    def _validation(self, found: Evaluation, dataset: Dataset, config: Config) -> Dataset:
        with naming(found.where):
            columns = read_table(with_columns_checked(self, found.X, reset=False))
            schema = dataset.schema
            columns = match_columns(columns, schema.names, schema.columns, model=type(self).__name__)
            target = self._read_target(found.y, columns.rows)
            check_columns_of_target(target, dataset.labels().target)
            labels = self._labels_of(found, target, config, "eval_")
            labels = replace(labels, weight=self._eval_weights(found.class_weight, labels))
            self._check_metrics(config, labels)
            return Sample(columns, labels).binned(reference=dataset, n_jobs=config.n_jobs)

    def _labels_of(
        self, found: Evaluation, target: NDArray[np.float64], config: Config, before: str = ""
    ) -> Labels:
        """What is known of rows besides their columns; `before` stands before the names of arguments."""
        rows = len(target)
        queries = read_queries(found.group, found.qid, rows, before)
        weight = read_query_weight(found.weight, rows, queries, what=found.weight_name)
        margin = read_margin(found.margin, rows, outputs_of(config), what=f"{before}base_margin")
        return Labels(target, weight, margin, queries)

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
        labels = objectives.get(config).prepared(labels)
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
