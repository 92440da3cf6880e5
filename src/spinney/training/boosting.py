"""Gradient boosting: round after round, a tree for each output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from spinney import objectives
from spinney.binning.arguments import DATA_PARAMS
from spinney.binning.dataset import Dataset
from spinney.data import Labels
from spinney.errors import DataError, DataTypeError, ParameterError
from spinney.growth.leaf_values import LeafValues
from spinney.jit.team import Team
from spinney.metrics import Judgement, Outcome
from spinney.model.model import Model
from spinney.objectives import Objective
from spinney.objectives.gradients import gradients_room
from spinney.objectives.kernels.largest import find_largest
from spinney.objectives.targets import LARGEST_TARGET
from spinney.params import Config, checked_rounds, link_of, parse, placed, resolve
from spinney.sampling import Bag, GradientSampler, UniformSampler
from spinney.training import learners
from spinney.training.callbacks import Callback, ProgressBar, RoundInfo, begin, checked_callbacks, told
from spinney.training.continuing import Past, past_of, so_far
from spinney.training.early_stopping import EarlyStopping
from spinney.training.evaluation import Judge, check_stopping, deciding, judged, judges_of
from spinney.training.learners import AddTree, Setup
from spinney.training.learning_rates import SMALLEST_RATE, schedule_of, too_small
from spinney.training.own_objective import with_function
from spinney.training.several import eligible_rows, scaled_weights, with_targets
from spinney.training.sharing import threads_of
from spinney.tree import Tree


def train(
    params: Mapping[str, object] | Config,
    dataset: Dataset,
    rounds: int = 100,
    *,
    objective: objectives.Function | None = None,
    valid: Mapping[str, Dataset] | None = None,
    metrics: Iterable[str | Callable[..., object]] | None = None,
    callbacks: Iterable[Callback] | None = None,
    progress: bool = False,
    init_model: object = None,
) -> Model:
    """Train a gradient boosting model.

    Parameters
    ----------
    params : mapping
        Hyper-parameters by name; XGBoost's and LightGBM's spellings are known. See the page on parameters.
    dataset : Dataset
        What to learn from.
    rounds : int, default=100
        Number of boosting rounds.
    objective : callable, optional
        A loss of your own, `f(scores, labels) -> g, h`: derivatives of each row's loss by its score. It may also stand in
        `params`. `scores` are (rows,) or, with several targets or `num_class` of 2 or more in `params`, (rows, outputs), and
        cannot be written to; `labels` is the target, (rows,) or (rows, targets), an array with `weight` (None: all 1), `margin`
        and `queries` as attributes. Weights are for the function to apply. The model predicts raw scores.
    valid : mapping of str to Dataset, optional
        Data to compute the metrics on after each round, by name. Each must have been made with `reference=dataset`, or be
        `dataset` itself. With `early_stopping_rounds`, the last metric of the last one decides, or its first with
        `first_metric_only`.
    metrics : iterable of callables or str, optional
        Metrics to compute after those of `eval_metric`. A function of your own is called with raw scores, (rows,) or
        (rows, outputs), and labels, `f(scores, labels)`: the target as an array, which has the weights of the rows as `weight`
        (None: all 1). It returns (name, value, higher_is_better).
    callbacks : iterable of callables, optional
        Called after each round with a `RoundInfo`; one that returns True ends the training. The method `begin(rounds)` of one
        that has it is called when the training starts. A callback that is given twice is called once. A
        `LearningRateSchedule` among them gives rounds learning rates of their own.
    progress : bool, default=False
        Show a progress bar.
    init_model : Model, fitted estimator or path, optional
        Go on from this model, or from that of a file: `rounds` more are added to those that it predicts with, and its base
        score is kept. Objective and columns must be the same.

    Returns
    -------
    Model
        The same, byte for byte, for any number of threads.

    Examples
    --------
    >>> import numpy as np, spinney as sp
    >>> X = np.linspace(0, 1, 200).reshape(-1, 1)
    >>> y = (X[:, 0] > 0.5).astype(float)
    >>> model = sp.train({"objective": "log_loss", "max_leaves": 4}, sp.Dataset(X, y), rounds=20)
    >>> model.predict(np.array([[0.1], [0.9]])).round(1)
    array([0.1, 0.9])
    """
    params, function = with_function(params, objective)
    config = config_of(params, dataset)
    rounds = checked_rounds(rounds)
    by_place = by_place_of(config, dataset)
    past = past_of(init_model, config, dataset.schema)
    judges = judges_of(config, metrics)
    loss = objectives.get(config, function)
    loss.prepared(dataset.labels())
    watched = _check_valid(valid, dataset, loss, judges)
    learners.check_blocks(config, dataset, watched)
    check_stopping(config, judges, watched)
    listeners = checked_callbacks(callbacks)
    with ExitStack() as stack:
        if progress:
            listeners.append(stack.enter_context(ProgressBar()))
        team = stack.enter_context(Team(threads_of(config, dataset)))
        boosting = Boosting(config, by_place, dataset, watched, loss, judges, team, past)
        return _run(boosting, config, rounds, listeners)


def _run(boosting: Boosting, config: Config, rounds: int, callbacks: list[Callback]) -> Model:
    """Do the rounds."""
    stopping = EarlyStopping.of(config)
    past, last = boosting.done, boosting.done + rounds
    rates = schedule_of(callbacks)
    begin(callbacks, last)
    for done in range(past + 1, last + 1):
        said = boosting.round(config.learning_rate if rates is None else rates.rate(done - 1))
        evals = {name: {one.name: one.value for one in found} for name, found in said.items()}
        stop = told(callbacks, RoundInfo(done, last, evals, past, partial(so_far, done, *boosting.parts)))
        if stopping is not None:
            name, found = list(said.items())[-1]
            stop |= stopping.update(done, deciding(config, f"valid[{name!r}]", found, done))
        if stop:
            break
    return boosting.model(boosting.done, stopping.best_round if stopping is not None and rounds else None)


@dataclass
class _Watched:
    """A validation set with its scores."""

    labels: Labels
    scores: NDArray[np.float64]
    add: AddTree | None  # None: the training set itself, whose scores move as it is trained on


class Boosting:
    """One training, round after round.

    Attributes
    ----------
    done : int
        Rounds so far, those of the model that it goes on from included.
    parts : tuple
        What `so_far` makes models of, without the memory of the training.
    """

    def __init__(
        self,
        config: Config,
        by_place: Config,
        dataset: Dataset,
        valid: Mapping[str, Dataset],
        loss: Objective,
        judges: list[Judge],
        team: Team,
        past: Past | None,
    ) -> None:
        self._config, self._dataset, self._team, self._past = config, dataset, team, past
        self._objective = loss
        self._outputs = self._objective.outputs
        labels = loss.prepared(dataset.labels())
        _check_rows(loss, labels)
        labels, unit = scaled_weights(labels, config)
        self._base_score = _start(config, loss, labels) if past is None else past.base_score
        scores = self._starting_scores(labels, dataset, "dataset")
        self._gradients = gradients_room(scores, unit)
        self._kept = self._gradients
        if config.leaf_values == "all" and config.sampling_method != "uniform":
            self._kept = gradients_room(scores, unit)
        self._fill = self._objective.filler(labels, self._gradients, team)
        values = LeafValues(
            learners.all_rows(config, labels, self._kept), self._objective.renewal(labels, team.size)
        )
        self._bag = Bag.of_all(labels.rows)
        self._learner = learners.get(Setup(dataset, by_place, self._gradients, self._bag, values, team))
        self._eligible = eligible_rows(labels, config.subsample)
        self._watched = {name: self._watch(name, data) for name, data in valid.items()}
        self._judges = judges
        self.done = 0 if past is None else past.rounds
        trees: list[Tree] = [] if past is None else [*past.trees]
        self.parts = (trees, self._base_score, config, dataset.schema)

    def round(self, rate: float) -> dict[str, list[Judgement]]:
        """Do a round; gives what the metrics say of each validation set."""
        self.done += 1
        self.parts[0].extend(self._one_round(self.done, rate))
        link = link_of(self._config)
        return {
            name: judged(self._judges, Outcome(watched.scores, link, self._team), watched.labels)
            for name, watched in self._watched.items()
        }

    def model(self, rounds: int, best: int | None = None) -> Model:
        """The model of the first rounds."""
        return so_far(rounds, *self.parts, best)

    def scores(self, name: str) -> NDArray[np.float64]:
        """Raw scores of a validation set so far, outputs × rows, which the next round moves."""
        return self._watched[name].scores

    def _one_round(self, done: int, rate: float) -> list[Tree]:
        seed = self._config.random_state * 1_000_003 + done
        self._fill(_seed(seed, 0))
        if self._kept is not self._gradients:
            self._kept.pairs[:], self._kept.largest[:] = self._gradients.pairs, self._gradients.largest
        self._draw(done, _seed(seed, 0))
        trees = []
        for output in range(self._outputs):
            tree, by_leaf = self._learner.grow(output, _seed(seed, output + 1), rate)
            if not (np.isfinite(tree.gain).all() and np.isfinite(tree.cover).all()):
                raise DataError(
                    "weight times the target is beyond what can be trained on; divide the weights, or the target"
                )
            if not np.abs(tree.value).max() <= LARGEST_TARGET:
                raise ParameterError(
                    f"training diverged in round {done}: the scores have grown beyond ±{LARGEST_TARGET:g}; "
                    f"learning_rate = {rate:g} is too large for this target"
                )
            trees.append(tree)
            self._learner.add(tree, by_leaf, output)
            for watched in self._watched.values():
                if watched.add is not None:
                    watched.add(tree, output)
        return trees

    def _draw(self, done: int, seed: int) -> None:
        """Put the rows of a round into the bag."""
        config = self._config
        warming_up = config.goss_warm_up and done <= 1.0 / config.learning_rate
        if config.sampling_method == "uniform" or (config.sampling_method == "goss" and warming_up):
            if self._eligible is not None and (config.subsample < 1 or self._bag.count is None):
                self._bag.count = self._uniform.draw(config.subsample, seed)
            return
        sampler = self._sampler
        if config.sampling_method == "goss":
            self._bag.count = sampler.goss(config.top_rate, config.other_rate, seed)
        elif config.sampling_method == "weighted":
            self._bag.count = sampler.weighted(config.subsample, seed)
        else:
            self._bag.count = sampler.gradient_based(config.subsample, config.reg_lambda, seed)
        self._team.run(find_largest.bind(self._gradients))

    @cached_property
    def _uniform(self) -> UniformSampler:
        assert self._eligible is not None
        return UniformSampler(self._eligible, self._bag.rows, self._team)

    @cached_property
    def _sampler(self) -> GradientSampler:
        eligible = self._eligible
        if eligible is None:
            eligible = np.arange(self._dataset.rows, dtype=np.int32)
        return GradientSampler(eligible, self._gradients.pairs, self._bag.rows, self._team)

    def _starting_scores(self, labels: Labels, data: Dataset, what: str) -> NDArray[np.float64]:
        """Scores before the first tree of this training, outputs × rows."""
        scores = _starting_scores(labels, self._base_score, what)
        if self._past is not None:
            self._past.add_to(scores, data, what, self._team)
        return scores

    def _watch(self, name: str, data: Dataset) -> _Watched:
        what = f"valid[{name!r}]"
        labels = self._objective.prepared(data.labels(what))
        if data is self._dataset:
            return _Watched(labels, self._gradients.scores, None)
        scores = self._starting_scores(labels, data, what)
        return _Watched(labels, scores, self._learner.follow(data, scores, what))


def config_of(params: Mapping[str, object] | Config, dataset: Dataset) -> Config:
    """The parameters of a training on a data set, whose own they include."""
    if not isinstance(dataset, Dataset):
        raise DataTypeError(f"dataset must be a spinney.Dataset, got {type(dataset).__name__}")
    config = params if isinstance(params, Config) else parse(params)
    if config.learning_rate < SMALLEST_RATE:
        raise ParameterError(too_small(config.learning_rate))
    told = DATA_PARAMS if isinstance(params, Config) else resolve(params)
    own = {name: getattr(dataset.params, name) for name in DATA_PARAMS}
    for name in DATA_PARAMS:
        if name in told and getattr(config, name) != own[name]:
            raise ParameterError(
                f"{name} = {getattr(config, name)!r} differs from the Dataset's {own[name]!r}; give it to Dataset only"
            )
    return with_targets(replace(config, **own), "num_target" in told, dataset)


def by_place_of(config: Config, dataset: Dataset) -> Config:
    """The parameters with columns by position instead of by name."""
    schema = dataset.schema
    return placed(config, schema.names, schema.columns, schema.categorical)


def _check_valid(
    valid: Mapping[str, Dataset] | None, dataset: Dataset, loss: Objective, judges: list[Judge]
) -> dict[str, Dataset]:
    if valid is None:
        return {}
    if not isinstance(valid, Mapping):
        raise DataTypeError(f"valid must map names to Datasets, got {type(valid).__name__}")
    for name, data in valid.items():
        if not isinstance(data, Dataset):
            raise DataTypeError(f"valid[{name!r}] must be a spinney.Dataset, got {type(data).__name__}")
        if not data.cuts.same(dataset.cuts):
            raise DataError(f"valid[{name!r}] was binned apart: make it with Dataset(..., reference=dataset)")
        labels = data.labels(f"valid[{name!r}]")
        try:
            labels = loss.prepared(labels)
            for judge in judges:
                judge.check(labels)
        except DataError as error:
            raise DataError(f"valid[{name!r}]: {error}") from None
    return dict(valid)


def check_start(config: Config, loss: Objective, labels: Labels) -> None:
    """Refuse rows that no training can start from."""
    _check_rows(loss, labels)
    _start(config, loss, scaled_weights(labels, config)[0])


def _check_rows(loss: Objective, labels: Labels) -> None:
    if loss.config.num_class > labels.rows:
        raise DataError(f"num_class = {loss.outputs} is more than there are rows ({labels.rows})")


def _start(config: Config, loss: Objective, labels: Labels) -> NDArray[np.float64]:
    """Where scores start."""
    if config.base_score is not None:
        if abs(config.base_score) > LARGEST_TARGET:
            raise ParameterError(
                f"base_score = {config.base_score:g} is too large to train on; give one within ±{LARGEST_TARGET:g}"
            )
        return np.full(loss.outputs, config.base_score)
    if labels.margin is not None:
        return np.zeros(loss.outputs)
    return loss.base_score(labels)


def _starting_scores(labels: Labels, base_score: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Scores before the first tree, outputs × rows."""
    outputs, margin = len(base_score), labels.margin
    scores = np.empty((outputs, labels.rows))
    scores[:] = base_score[:, None]
    if margin is not None:
        if margin.shape[1] != outputs:
            raise DataError(
                f"base_margin of {name} has {margin.shape[1]} columns, but there are {outputs} outputs"
            )
        scores[:] = margin.T
    return scores


def _seed(seed: int, use: int) -> int:
    """A 63-bit seed for one use within a round."""
    return (seed * 6364136223846793005 + use * 1442695040888963407) % 2**63
