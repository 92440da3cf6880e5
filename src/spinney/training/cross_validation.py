"""Cross-validation: a training for each fold, all on one binned data set.

The folds of `cv` are trained side by side by the driver's one loop (`boost` in `driver.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney import objectives
from spinney.binning.binned import BinnedData
from spinney.data import Labels
from spinney.dataset import Dataset, binned_of
from spinney.errors import DataError, OwnFunctionError, ParameterError
from spinney.jit.team import Team
from spinney.model.boosted import Model
from spinney.objectives import Objective
from spinney.params import Config, checked_rounds
from spinney.params.common import check_truth
from spinney.params.parameter import SeedLike
from spinney.target_encoding.duplicates import Duplicates
from spinney.target_encoding.fit import encoded_columns
from spinney.training.booster import Booster, check_members
from spinney.training.callbacks import (
    Callback,
    EarlyStopping,
    ProgressBar,
    checked_callbacks,
    schedule_of,
)
from spinney.training.checkpoint import Evals
from spinney.training.driver import Hooks, TrainingArguments, boost, check_arguments
from spinney.training.evaluation import mean_of
from spinney.training.global_steps import check_start
from spinney.training.growers import check_grower, threads_of
from spinney.training.splitting import Fold, folds_of, row_splitter


@dataclass(frozen=True, eq=False)
class FoldValues:
    """A metric round by round, of every fold.

    Attributes
    ----------
    folds : float64[folds, rounds]
        Its value in each fold after each round.

    Examples
    --------
    >>> FoldValues(np.array([[1.0, 2.0], [3.0, 2.0]]))
    FoldValues(2.0 ± 0.0 after 2 rounds of 2 folds)
    """

    folds: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean over the folds after each round."""
        return np.array([mean_of(values) for values in self.folds.T.tolist()])

    @property
    def std(self) -> NDArray[np.float64]:
        """Standard deviation over the folds after each round (divided by the number of folds, as in XGBoost)."""
        std: NDArray[np.float64] = self.folds.std(axis=0)
        return std

    def __repr__(self) -> str:
        folds, rounds = self.folds.shape
        last = f"{self.mean[-1]:.5} ± {self.std[-1]:.2} after " if rounds else ""
        return f"FoldValues({last}{rounds} rounds of {folds} folds)"


@dataclass(frozen=True, eq=False, repr=False)
class CVResult:
    """What `cv` gives.

    Attributes
    ----------
    models : list of Model
        The model of each fold, trained on its train rows alone.
    folds : list of Fold
        The row numbers, `train` and `test`, of each fold, ascending.
    oof : float64[rows] or float64[rows, classes]
        Predictions of each row by models that were not trained on it ("out of fold"), after `best_round` rounds: NaN for a row
        that no fold tests, the mean where several do.
    history : mapping
        history["test"]["logloss"]: a `FoldValues`, with `mean`, `std` and `folds` of a metric after every round; "train" beside
        "test", unless train_metrics=False.
    best_round : int, optional
        The round with the best mean over folds, where `early_stopping_rounds` was given; models predict with so many.
    """

    models: list[Model]
    folds: list[Fold]
    oof: NDArray[np.float64]
    history: Mapping[str, Mapping[str, FoldValues]]
    best_round: int | None = None

    @property
    def rounds(self) -> int:
        """Rounds that were trained."""
        return self.models[0].rounds

    def to_frame(self) -> Any:
        """The history as a pandas frame with XGBoost's columns: train-logloss-mean, train-logloss-std, test-logloss-mean, ...

        It has a row for every round that was trained, also for those after `best_round`.
        """
        try:
            import pandas
        except ImportError as error:
            raise ParameterError(
                "to_frame() makes a pandas frame, and pandas is not installed: install it, or use `history`"
            ) from error
        columns = {}
        for name, metrics in self.history.items():
            for metric, values in metrics.items():
                columns[f"{name}-{metric}-mean"] = values.mean
                columns[f"{name}-{metric}-std"] = values.std
        return pandas.DataFrame(columns)

    def __repr__(self) -> str:
        at = self.rounds if self.best_round is None else self.best_round
        best = "" if self.best_round is None else f", best_round={self.best_round}"
        found = ""
        if at:
            found = "".join(
                f", {name}={values.mean[at - 1]:.5} ± {values.std[at - 1]:.2}"
                for name, values in self.history["test"].items()
            )
        return f"CVResult(folds={len(self.models)}, rounds={self.rounds}{best}{found})"


def cv(
    params: Mapping[str, object] | Config,
    dataset: Dataset,
    folds: object = 5,
    rounds: int = 100,
    *,
    objective: objectives.Function | None = None,
    groups: object = None,
    stratified: bool = True,
    shuffle: bool = True,
    seed: SeedLike = None,
    metrics: Iterable[str | Callable[..., object]] | None = None,
    train_metrics: bool = True,
    callbacks: Iterable[Callback] | None = None,
    progress: bool = False,
) -> CVResult:
    """Cross-validate: train a model for each fold on its train rows, and evaluate it on its test rows.

    All folds share one binned data set; nothing is copied or binned again. So cuts were chosen from all rows, test rows
    included (their columns, never their targets). Everything else in a fold's model comes from its train rows: it is, byte
    for byte, the model that `train` gives for a `Dataset` of these rows with `reference=dataset`.

    Parameters
    ----------
    params : mapping
        Hyper-parameters by name, as for `train`. With `early_stopping_rounds`, the mean over folds of the last metric of the
        test rows decides, or that of the first with `first_metric_only`.
    dataset : Dataset
        All rows.
    folds : int, splitter or iterable of pairs, default=5
        A number of folds; a splitter of scikit-learn, which is called with the target and `groups`; or pairs
        (train, test) of row numbers or masks. Rows of a number of folds are shuffled, classes are stratified, and groups or
        queries stay whole.
    rounds : int, default=100
        Number of boosting rounds of each fold; a number with any preset, since folds do not look for it ("auto").
    objective : callable, optional
        A loss of your own, as for `train`.
    groups : array of shape (rows,), optional
        Group of each row. Rows of one group are tested together, so that no model is tested on a group that it was
        trained on. Without it the queries of the data set, where it has some.
    stratified : bool, default=True
        Whether a number of folds gets the same share of each class; for objectives of classes only, and not for several
        labels a row.
    shuffle : bool, default=True
        Whether rows are shared out to a number of folds at random. Else the first rows make the first fold.
    seed : int, RandomState or Generator, optional
        Seed of the shuffling, in place of `random_state`.
    metrics : iterable of callables or str, optional
        Metrics to compute after those of `eval_metric`, as for `train`.
    train_metrics : bool, default=True
        Whether to compute the metrics of train rows too.
    callbacks : iterable of callables, optional
        Called after each round of all folds, as in `train`. `info.evals["test"]` has means over folds.
    progress : bool, default=False
        Show a progress bar.

    Returns
    -------
    CVResult
        Models, predictions out of fold, history. The same for any number of threads.

    Notes
    -----
    With early stopping, callbacks or a progress bar the folds advance round by round together, so that no fold is trained longer
    than needed; every fold then holds memory for its gradients, about 60 bytes a row. Else they are trained one after the
    other, in the memory of one.

    Examples
    --------
    >>> import numpy as np, spinney as sp
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> y = (X[:, 0] > 0.5).astype(float)
    >>> found = sp.cv({"objective": "log_loss", "max_leaves": 4}, sp.Dataset(X, y), folds=4, rounds=20)
    >>> len(found.models), found.oof[[0, -1]].round(1).tolist()
    (4, [0.1, 0.9])
    """
    data = binned_of(dataset)
    rounds = checked_rounds(rounds)
    args = check_arguments(params, data, rounds, objective=objective, metrics=metrics)
    args.check_rounds(has_valid=True)
    config, loss = args.config, args.loss
    check_members(config, "cv", "which trains one model for each fold")
    check_grower(config, data, {})
    labels = loss.prepared(data.checked_labels())
    classes = _classes(loss, labels) if check_truth("stratified", stratified) else None
    splitter = row_splitter(
        labels.rows,
        classes,
        labels.queries if groups is None else groups,
        shuffle,
        config.random_state if seed is None else seed,
    )
    found = folds_of(folds, labels, groups, splitter)
    duplicates = Duplicates(data, encoded_columns(args.resolved, data))
    work = _Work(args, data, check_truth("train_metrics", train_metrics), duplicates, len(found))
    for k, fold in enumerate(found):
        work.check(k, fold)
    listeners = checked_callbacks(callbacks)
    with ExitStack() as stack:
        if check_truth("progress", progress):
            listeners.append(stack.enter_context(ProgressBar("cross-validation")))
        team = stack.enter_context(Team(threads_of(config, data)))
        return _run(work, found, rounds, listeners, team)


@dataclass(frozen=True)
class _Work:
    """What all folds have in common."""

    args: TrainingArguments
    data: BinnedData
    train_metrics: bool
    duplicates: Duplicates
    folds: int

    def check(self, k: int, fold: Fold) -> None:
        """Refuse a fold that cannot be trained or evaluated, before any is trained."""
        loss = self.args.loss
        for name, rows in fold._asdict().items():
            where = f"fold {k}, {name} rows"
            try:
                labels = loss.prepared(self.data.take(rows, where).checked_labels())
                if name == "train":
                    check_start(self.args.config, loss, labels)
                if name == "test" or self.train_metrics:
                    for metric in self.args.metrics:
                        metric.check(labels)
            except DataError as error:
                raise DataError(f"{where}: {error}") from None

    def booster(self, k: int, fold: Fold, team: Team) -> Booster:
        """The training of a fold."""
        train, test = (
            self.data.take(rows, f"fold {k}, {name} rows") for name, rows in fold._asdict().items()
        )
        valid = {"train": train, "test": test} if self.train_metrics else {"test": test}
        args = self.args
        return Booster(
            args.config,
            args.resolved,
            train,
            valid,
            args.loss,
            args.metrics,
            team,
            duplicates=self.duplicates,
        )


@dataclass
class _Results:
    """What has been found so far."""

    outputs: int
    rows: int
    # By set and metric, by fold.
    values: dict[tuple[str, str], dict[int, list[float]]] = field(default_factory=dict)
    models: list[Model] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._sums, self._times = np.zeros((self.rows, self.outputs)), np.zeros((self.rows, 1))

    def add_values(self, k: int, evals: Evals) -> None:
        """Keep the values of the metrics of a fold."""
        for name, metric_values in evals.items():
            for one in metric_values:
                self.values.setdefault((name, one.name), {}).setdefault(k, []).append(one.value)

    def add_predictions(self, rows: NDArray[np.int64], predictions: NDArray[np.float64]) -> None:
        """Keep predictions of test rows."""
        self._sums[rows] += predictions.reshape(len(rows), -1)
        self._times[rows] += 1

    def history(self, names: Iterable[str]) -> dict[str, dict[str, FoldValues]]:
        """The metrics of some sets, by set and name."""
        history: dict[str, dict[str, FoldValues]] = {name: {} for name in names}
        for (name, metric), by_fold in self.values.items():
            found = [len(values) for values in by_fold.values()]
            if found != [model.rounds for model in self.models]:
                raise OwnFunctionError(
                    f"a metric is called {metric!r} in some folds or rounds only; a metric of your own must return the same name "
                    "each time"
                )
            history[name][metric] = FoldValues(np.array(list(by_fold.values())))
        return history

    def out_of_fold(self) -> NDArray[np.float64]:
        """Mean predictions of each row, NaN where there are none."""
        with np.errstate(invalid="ignore"):
            mean: NDArray[np.float64] = self._sums / self._times
        return mean[:, 0] if self.outputs == 1 else mean


def _run(work: _Work, folds: list[Fold], rounds: int, callbacks: list[Callback], team: Team) -> CVResult:
    """Train all folds: side by side where callbacks or early stopping need each round of all, else one after another."""
    results = _Results(work.args.loss.outputs, work.data.rows)
    together = bool(callbacks) or work.args.config.early_stopping_rounds is not None
    best: int | None = None
    numbered = list(enumerate(folds))
    for some in [numbered] if together else [[one] for one in numbered]:
        best = _train_folds(work, some, rounds, callbacks, team, results)
    history = results.history(("train", "test") if work.train_metrics else ("test",))
    return CVResult(results.models, folds, results.out_of_fold(), history, best)


def _train_folds(
    work: _Work,
    folds: list[tuple[int, Fold]],
    rounds: int,
    callbacks: list[Callback],
    team: Team,
    results: _Results,
) -> int | None:
    """Train some folds side by side; gives the best round where early stopping looks for it."""
    boosters = [work.booster(k, fold, team) for k, fold in folds]
    if len(results.models) + len(folds) == work.folds:
        work.duplicates.forget()
    scores = [booster.scores("test") for booster in boosters]

    def keep_values(found: list[Evals]) -> None:
        for (k, _), evals in zip(folds, found, strict=True):
            results.add_values(k, evals)

    def keep_scores() -> None:
        scores[:] = [booster.scores("test").copy() for booster in boosters]

    hooks = Hooks(
        callbacks,
        schedule_of(callbacks),
        on_evals=keep_values,
        on_best=keep_scores,
        stopping_data="the mean over folds",
        makes_models=False,
    )
    best = boost(boosters, rounds, EarlyStopping.of(work.args.config), hooks)
    for booster, (_, fold), raw in zip(boosters, folds, scores, strict=True):
        results.models.append(booster.model(booster.done, best))
        results.add_predictions(
            fold.test, work.args.loss.link(raw[0] if len(raw) == 1 else np.ascontiguousarray(raw.T))
        )
    return best


def _classes(loss: Objective, labels: Labels) -> NDArray[Any] | None:
    """Classes to stratify by, if the objective has any and the target names them."""
    if labels.targets > 1 or loss.info.link not in ("logistic", "softmax", "one_vs_rest"):
        return None
    whole = labels.target == np.floor(labels.target)
    return labels.target if whole.all() else None
