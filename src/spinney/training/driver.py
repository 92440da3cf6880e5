"""The driver of gradient boosting, in memory, from disk and on ranks.

`prepare` checks the arguments, plans the rounds and trains nothing. `run` trains the members of a job. `boost` is the only loop
over rounds: of one training, of the folds of a cross-validation side by side, of a search for the number of rounds and of the
refit that follows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from spinney import objectives
from spinney.binning.binned import BinnedData
from spinney.collective import ALONE, Communicator
from spinney.errors import ParameterError
from spinney.jit.team import Team
from spinney.metrics import Metric, MetricValue
from spinney.model.boosted import Model
from spinney.objectives import Objective
from spinney.params import Config, checked_rounds
from spinney.params.boosting import with_function
from spinney.params.common import AUTO, BEST
from spinney.target_encoding.duplicates import Duplicates
from spinney.target_encoding.fit import encoded_columns
from spinney.training import growers
from spinney.training.booster import (
    Booster,
    build_model,
    check_members,
    config_of,
    members_of,
    resolved_config,
)
from spinney.training.callbacks import (
    AutoRounds,
    Callback,
    EarlyStopping,
    LearningRateSchedule,
    ProgressBar,
    RoundInfo,
    begin,
    callback_failures,
    checked_callbacks,
    end_search,
    notify,
    record_of,
    schedule_of,
)
from spinney.training.checkpoint import NOTHING_DONE, Checkpoint, Evals, RoundRecord
from spinney.training.continuation import InitialModel, load_init_model
from spinney.training.evaluation import (
    check_stopping,
    checked_valid,
    mean_values,
    stopping_value,
    training_metrics,
    values_of,
)
from spinney.training.global_steps import check_base_score, check_margin, check_rows, gather_labels
from spinney.training.holdout import find_row_groups
from spinney.training.rank_checks import check_rank_data, check_ranks, checked_rank_valid
from spinney.training.round_plan import USUAL, Auto, RoundPlan, auto_of, check_auto, may_draw, plan_rounds
from spinney.training.splitting import Numbers


@dataclass(frozen=True, eq=False)
class Hooks:
    """What is called between rounds.

    Attributes
    ----------
    callbacks : list of callables
        At rank 0; elsewhere none.
    rates : LearningRateSchedule, optional
        At rank 0: gives rounds learning rates of their own.
    guard : callable
        Makes the context manager in which functions of users are called.
    on_round : callable, optional
        Called at every rank with the `RoundRecord` of each new round.
    on_evals : callable, optional
        Called with the values of each booster after a round.
    on_best : callable, optional
        Called after a round that is the best so far.
    searches : list of AutoRounds
        What the searches for a number of rounds did.
    stopping_data : str
        Name of the data that early stopping uses, for messages; "" for the last validation set.
    makes_models : bool
        Whether `RoundInfo.model` is the model of the rounds so far; a cross-validation has one for each fold.
    """

    callbacks: list[Callback]
    rates: LearningRateSchedule | None
    guard: Callable[[], AbstractContextManager[None]] = nullcontext
    on_round: Callable[[RoundRecord], object] | None = None
    on_evals: Callable[[list[Evals]], object] | None = None
    on_best: Callable[[], object] | None = None
    searches: list[AutoRounds] = field(default_factory=list)
    stopping_data: str = ""
    makes_models: bool = True

    def silent(self) -> Hooks:
        """The same without callbacks: for a refit."""
        return replace(self, callbacks=[])

    def begin(self, rounds: int) -> None:
        """Call the callbacks that have a method `begin`."""
        with self.guard():
            begin(self.callbacks, rounds)

    def end_search(self, found: AutoRounds) -> None:
        """Note what a search did, and call the callbacks that have a method `end_search`."""
        self.searches.append(found)
        with self.guard():
            end_search(self.callbacks, found)

    def notify(self, info: RoundInfo) -> bool:
        """Call the callbacks with a round; whether one of them ends the training."""
        with self.guard():
            return notify(self.callbacks, info)

    def rate(self, done: int) -> float | None:
        """The learning rate of the round that follows so many, if there is a schedule."""
        if self.rates is None:
            return None
        with self.guard():
            return self.rates.rate(done)

    def stopping_value(self, config: Config, evals: Evals, done: int) -> MetricValue:
        """The value that early stopping uses: that of the last validation set."""
        name, values = list(evals.items())[-1]
        return stopping_value(config, self.stopping_data or f"valid[{name!r}]", values, done)


@dataclass(frozen=True, eq=False)
class TrainingJob:
    """A training that was checked.

    Attributes
    ----------
    members : list of Config
        The parameters of each model of a mean; they differ by the seed.
    plans : list of RoundPlan
        The rounds of each.
    data : BinnedData
        All local rows.
    resolved : Config
        The parameters with columns by position.
    loss : Objective
        The loss.
    metrics : list of Metric
        What is computed after each round.
    init : InitialModel, optional
        The model that the training goes on from.
    hooks : Hooks
        What is called between rounds.
    duplicates : Duplicates, optional
        Finds duplicates among the local rows, where they may be looked for.
    communicator : Communicator
        The ranks.
    """

    members: list[Config]
    plans: list[RoundPlan]
    data: BinnedData
    resolved: Config
    loss: Objective
    metrics: list[Metric]
    init: InitialModel | None
    hooks: Hooks
    duplicates: Duplicates | None
    communicator: Communicator = ALONE

    @property
    def start(self) -> int:
        """Rounds of the model that the training goes on from."""
        return 0 if self.init is None else self.init.rounds


@dataclass(frozen=True, eq=False)
class TrainingArguments:
    """The arguments of a training, checked as far as that needs no rows.

    Attributes
    ----------
    config : Config
        The parameters.
    resolved : Config
        The same with columns by position.
    rounds : int or Auto
        How many, or how to find how many.
    function : Function, optional
        The objective, where it is custom.
    loss : Objective
        The loss.
    metrics : list of Metric
        What is computed after each round.
    init : InitialModel, optional
        The model that the training goes on from.
    """

    config: Config
    resolved: Config
    rounds: int | Auto
    function: objectives.Function | None
    loss: Objective
    metrics: list[Metric]
    init: InitialModel | None

    def check_rounds(self, has_valid: bool) -> None:
        """Refuse a search for the number of rounds, or early stopping, that lacks what it needs."""
        if isinstance(self.rounds, Auto):
            check_auto(self.rounds, self.config, has_valid, self.metrics, self.init is not None)
        else:
            check_stopping(self.config, self.metrics, has_valid)


def check_arguments(
    params: Mapping[str, object] | Config,
    data: BinnedData,
    rounds: int | str | Auto | None = None,
    *,
    objective: objectives.Function | None = None,
    metrics: Iterable[str | Callable[..., object]] | None = None,
    init_model: object = None,
    max_rounds: int | None = None,
    validation_fraction: float | None = None,
    groups: object = None,
    validation: object = None,
) -> TrainingArguments:
    """Check the arguments of a training that do not belong to rows; `data` may be without local rows.

    The other parameters are those of `spinney.train`.
    """
    params, function = with_function(params, objective)
    config = config_of(params, data)
    if rounds is None:
        rounds = AUTO if config.preset == BEST else USUAL
    auto = auto_of(rounds, max_rounds, validation_fraction, groups, validation)
    number = checked_rounds(rounds) if auto is None else auto.of_rows(data.table_rows)
    resolved = resolved_config(config, data)
    init = None if init_model is None else load_init_model(init_model, config, data.schema)
    if init is not None:
        check_members(config, "init_model", "from which one training goes on")
    chosen_metrics = training_metrics(config, metrics, function)
    loss = objectives.get(config, function)
    check_base_score(config)
    return TrainingArguments(config, resolved, number, function, loss, chosen_metrics, init)


def prepare(
    params: Mapping[str, object] | Config,
    data: BinnedData,
    rounds: int | str | Auto | None = None,
    *,
    valid: object = None,
    callbacks: Iterable[Callback] | None = None,
    communicator: Communicator | None = None,
    guard: Callable[[], AbstractContextManager[None]] = nullcontext,
    on_round: Callable[[RoundRecord], object] | None = None,
    **given: Any,
) -> TrainingJob:
    """Check the arguments of a training, and plan its rounds; nothing is trained.

    The other parameters are those of `spinney.train`.

    Parameters
    ----------
    data : BinnedData
        The rows to learn from.
    communicator : Communicator, optional
        Given where the data are the rows of a rank.
    guard, on_round
        As for `Hooks`.
    **given
        What `check_arguments` takes.
    """
    ranks = ALONE if communicator is None else communicator
    listeners = checked_callbacks(callbacks) if ranks.rank == 0 else []
    if communicator is not None:
        check_rank_data(data, "shard")
    args = check_arguments(params, data, rounds, **given)
    config, loss = args.config, args.loss
    if communicator is None:
        labels = loss.prepared(data.checked_labels())
        watched = checked_valid(valid, data, loss, args.metrics)
        growers.check_grower(config, data, watched)
        check_rows(loss, labels)
    else:
        watched = checked_rank_valid(valid)
        check_ranks(config, args.rounds, data, watched, ranks)
    check_margin(data.labels, loss.outputs, "dataset")
    for name, one in watched.items():
        check_margin(one.labels, loss.outputs, f"valid[{name!r}]")
    if ranks.rank == 0:
        args.check_rounds(bool(watched))
    hooks = Hooks(listeners, schedule_of(listeners), guard, on_round)
    members = members_of(config)
    duplicates = None
    if isinstance(args.rounds, Auto) or data.schema.category_counts is not None:
        duplicates = Duplicates(data, encoded_columns(args.resolved, data), ranks)
    if isinstance(args.rounds, Auto):
        plans = plan_members(members, args, data, watched, hooks, duplicates, ranks)
    else:
        plans = [RoundPlan(args.rounds, data, watched, EarlyStopping.of(config)) for _ in members]
        if hooks.rates is not None:
            hooks.rates.begin(args.rounds + (0 if args.init is None else args.init.rounds))
    return TrainingJob(
        members, plans, data, args.resolved, loss, args.metrics, args.init, hooks, duplicates, ranks
    )


def plan_members(
    members: list[Config],
    args: TrainingArguments,
    data: BinnedData,
    valid: Mapping[str, BinnedData],
    hooks: Hooks,
    duplicates: Duplicates | None,
    ranks: Communicator,
) -> list[RoundPlan]:
    """The plans of members whose number of rounds is to be found: each holds out rows of its own."""
    auto, continued = args.rounds, args.init is not None
    assert isinstance(auto, Auto)
    draws = may_draw(auto, valid, args.metrics, continued)
    row_groups = find_row_groups(auto.groups, data, duplicates if draws else None, ranks)
    listed = None if hooks.rates is None else hooks.rates.listed
    labels = gather_labels(data.checked_labels(), ranks)
    if labels is not None and ranks is not ALONE:  # alone they were checked before
        args.loss.prepared(labels)
    return [
        plan_rounds(
            auto, one, data, labels, valid, args.metrics, args.loss, continued, listed, row_groups, ranks
        )
        for one in members
    ]


def run(job: TrainingJob, checkpoint: Checkpoint = NOTHING_DONE, *, progress: bool = False) -> list[Model]:
    """Train the models of a job, one for each member.

    Parameters
    ----------
    job : TrainingJob
        What `prepare` made.
    checkpoint : Checkpoint
        Rounds that an interrupted run has done.
    progress : bool, default=False
        Whether to show a progress bar.
    """
    job.hooks.searches.clear()
    with ExitStack() as stack:
        if progress:
            callbacks: list[Callback] = [*job.hooks.callbacks, stack.enter_context(ProgressBar())]
            job = replace(job, hooks=replace(job.hooks, callbacks=callbacks))
        team = stack.enter_context(Team(growers.threads_of(job.members[0], job.data) if job.data.rows else 1))
        return [run_member(job, number, team, checkpoint) for number in range(len(job.members))]


def train_rank(
    params: Mapping[str, object] | Config,
    data: BinnedData,
    rounds: int | Auto = 100,
    *,
    communicator: Communicator,
    checkpoint: Checkpoint = NOTHING_DONE,
    objective: objectives.Function | None = None,
    valid: Mapping[str, BinnedData] | None = None,
    metrics: Iterable[str | Callable[..., object]] | None = None,
    callbacks: Iterable[Callback] | None = None,
    init_model: object = None,
    on_round: Callable[[RoundRecord], object] | None = None,
) -> list[Model]:
    """Train on one rank's rows, together with the other ranks; each gives the models of `train` on all rows, byte for byte.

    All ranks call it with the same arguments, but for their data and `n_jobs`. Functions of the user's (objective, metrics,
    callbacks) are called at rank 0, the others may go without them; what they decide is broadcast. An error is raised at the
    rank that found it; the others get `RankLostError`.

    A tree takes three or four collective calls more than it is deep (see `BlockGrower`). A round takes one more, for the
    largest gradients, and with callbacks or validation sets another one, and a gather of the scores of each validation set.
    `RankSampler` has what sampling adds.

    Parameters
    ----------
    params, rounds, objective, metrics, callbacks, init_model
        As for `train`; `tree_method` must be hist. Where the number of rounds is to be found, groups are whole numbers, of the
        local rows.
    data : BinnedData
        This rank's rows to learn from, whose codes come in blocks, by the plan of the whole table. They may be none. The rows
        of a query are all at one rank; queries are numbered within it.
    communicator : Communicator
        The ranks.
    checkpoint : Checkpoint
        Rounds of the same training that was interrupted, maybe on other ranks.
    valid : mapping of str to BinnedData, optional
        Data to compute the metrics on after each round, by name.
    on_round : callable, optional
        Called at every rank with each new `RoundRecord`.

    Returns
    -------
    list of Model
        One for each member of a mean; the same at every rank.
    """
    if not isinstance(rounds, Auto):
        rounds = checked_rounds(rounds)
    job = prepare(
        params, data, rounds, objective=objective, valid=valid, metrics=metrics, callbacks=callbacks,
        init_model=init_model, communicator=communicator, guard=callback_failures, on_round=on_round,
    )  # fmt: skip
    return run(job, checkpoint)


def run_member(job: TrainingJob, number: int, team: Team, checkpoint: Checkpoint) -> Model:
    """Train the model of a member, and fit all rows again where its plan has a refit."""
    member, plan, stopping = job.members[number], job.plans[number], deepcopy(job.plans[number].stopping)
    last = number == len(job.members) - 1
    ranks, resolved = job.communicator, job.resolved.having(random_state=member.random_state)

    def done_before(refit: bool, most: int) -> list[RoundRecord]:
        if not checkpoint.rounds:
            return []
        return checkpoint.of(number, refit=refit, start=job.start, most=most, outputs=job.loss.outputs)

    def booster_of(
        data: BinnedData, valid: Mapping[str, BinnedData], groups: Numbers | None, done: Sequence[RoundRecord]
    ) -> Booster:
        return Booster(
            member,
            resolved,
            data,
            valid,
            job.loss,
            job.metrics,
            team,
            job.init,
            groups,
            ranks,
            replay=[tree for one in done for tree in one.trees],
            duplicates=job.duplicates,
        )

    done = done_before(False, plan.rounds)
    booster = booster_of(plan.train, plan.valid, plan.groups, done)
    if last and not plan.refit and job.duplicates is not None:
        job.duplicates.forget()
    best = boost([booster], plan.rounds, stopping, job.hooks, ranks, done, member=number)
    model = booster.model(booster.done, best)
    del booster  # its memory, before another one takes as much
    if plan.limit is not None and ranks.rank == 0:
        most = plan.rounds + job.start
        job.hooks.end_search(record_of(model, stopping, most, plan.limit, plan.holdout_rows, plan.refit))
    if not plan.refit:
        return model
    best = model.rounds_to_use()
    done = done_before(True, best)
    booster = booster_of(job.data, {}, plan.all_groups, done)
    if last and job.duplicates is not None:
        job.duplicates.forget()
    boost([booster], best, None, job.hooks.silent(), ranks, done, member=number, refit=True)
    return booster.model(booster.done, best)


@dataclass
class _State:
    """Whether to stop, the best round so far, and the learning rate of the next round."""

    stop: bool = False
    best: int | None = None
    rate: float = 0.0


def boost(
    boosters: Sequence[Booster],
    rounds: int,
    stopping: EarlyStopping | None,
    hooks: Hooks,
    ranks: Communicator = ALONE,
    done: Sequence[RoundRecord] = (),
    *,
    member: int = 0,
    refit: bool = False,
) -> int | None:
    """Do the rounds of a training, or of the folds of a cross-validation side by side.

    After a round, callbacks, early stopping and the schedule of learning rates are called at rank 0, and what they decide is
    broadcast. Where there is nothing to call, nothing is sent.

    Parameters
    ----------
    boosters : sequence of Booster
        One, or those of all folds: the means of their metrics decide.
    rounds : int
        How many, at most.
    stopping : EarlyStopping, optional
        Ends the training.
    hooks : Hooks
        What is called.
    ranks : Communicator
        The ranks.
    done : sequence of RoundRecord
        Rounds that an interrupted run has done, which the boosters replay.
    member : int
        Number of the model in a mean of several.
    refit : bool
        Whether the number of rounds was found before: the last one is the best.

    Returns
    -------
    int or None
        The best round; None where nothing looks for it.
    """
    booster = boosters[0]
    start = booster.done - len(done)
    last, before = start + rounds, done[0].before if done else {}
    state = _State(best=last if refit else None, rate=booster.config.learning_rate)

    def decide(number: int, evals: Evals) -> None:
        """What callbacks and early stopping decide after a round."""
        make = partial(build_model, number, *booster.parts) if hooks.makes_models else _no_model
        info = RoundInfo(number, last, values_of(evals), start, make, values_before)
        state.stop |= hooks.notify(info)
        if stopping is not None:
            state.stop |= stopping.update(number, hooks.stopping_value(booster.config, evals, number))
            if hooks.on_best is not None and stopping.best_round == number:
                hooks.on_best()

    def share(number: int, evals: Evals) -> Evals:
        """Broadcast what was decided, with the learning rate of the next round; gives the values of the metrics."""
        if ranks.rank == 0:
            if not state.stop and number < last:
                rate = hooks.rate(number)
                state.rate = state.rate if rate is None else rate
            if stopping is not None and rounds:
                state.best = stopping.best_round
        return evals if ranks.size == 1 else _broadcast(state, evals, ranks)

    hooks.begin(last)
    if not done and start and rounds:
        before = _means([one.evaluate() for one in boosters])
    values_before = values_of(before)
    if ranks.rank == 0:
        if stopping is not None and before:
            stopping.update(start, hooks.stopping_value(booster.config, before, start))
        for record in done:
            decide(record.number, record.evals)
    calls = bool(hooks.callbacks or hooks.rates or stopping is not None)
    if ranks.size > 1:  # the records of rounds have the values of metrics, which rank 0 alone computes
        calls = ranks.broadcast_object(calls or booster.has_metrics)
    before = share(booster.done, before)
    while not state.stop and booster.done < last:
        found = [one.round(state.rate) for one in boosters]
        evals, number = _means(found), booster.done
        if hooks.on_evals is not None:
            hooks.on_evals(found)
        if calls:
            if ranks.rank == 0:
                decide(number, evals)
            evals = share(number, evals)
        if hooks.on_round is not None:
            trees = booster.parts[0][-booster.outputs :]
            hooks.on_round(RoundRecord(number, trees, evals, refit, before, member))
    return state.best


def _means(found: list[Evals]) -> Evals:
    """The values of one booster, or means over the boosters of several folds."""
    return found[0] if len(found) == 1 else mean_values(found)


def _broadcast(state: _State, evals: Evals, ranks: Communicator) -> Evals:
    """Send the state of rank 0, and the values of its metrics, to the other ranks."""
    plain = {
        name: [[one.name, float(one.value), bool(one.higher_is_better)] for one in found]
        for name, found in evals.items()
    }
    state.stop, state.best, state.rate, plain = ranks.broadcast_object(
        [state.stop, state.best, state.rate, plain]
    )
    return {name: [MetricValue(*one) for one in found] for name, found in plain.items()}


def _no_model() -> Model:
    raise ParameterError("a cross-validation has a model for each fold: see `models` of what cv returns")
