"""Training where every rank holds some rows of the table: the model of one machine, byte for byte."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spinney import objectives
from spinney.binning.binned import MOST_ROWS, BinnedData
from spinney.collective import Communicator
from spinney.data import Labels
from spinney.errors import DataError, DataTypeError, ParameterError
from spinney.jit.team import Team
from spinney.metrics import Metric
from spinney.model.model import Model
from spinney.objectives import Objective
from spinney.objectives.custom import with_function
from spinney.params import Config, checked_rounds
from spinney.training.auto_arguments import Auto
from spinney.training.boosting import Boosting, config_of, resolved_config
from spinney.training.callbacks import Callback, checked_callbacks
from spinney.training.continuing import InitialModel, load_init_model
from spinney.training.early_stopping import EarlyStopping
from spinney.training.evaluation import check_stopping, training_metrics
from spinney.training.learning_rates import schedule_of
from spinney.training.search import record_of
from spinney.training.shard_course import ShardCourse, joined_course
from spinney.training.shard_rounds import Listening, RoundRecord, Rounds, check_past
from spinney.training.shard_rows import ShardRows
from spinney.training.sharing import threads_of


def train_shard(
    params: Mapping[str, object] | Config,
    data: BinnedData,
    rounds: int | Auto = 100,
    *,
    communicator: Communicator,
    objective: objectives.Function | None = None,
    valid: Mapping[str, BinnedData] | None = None,
    metrics: Iterable[str | Callable[..., object]] | None = None,
    callbacks: Iterable[Callback] | None = None,
    init_model: object = None,
    past: Sequence[RoundRecord] = (),
    say: Callable[[RoundRecord], object] | None = None,
) -> Model:
    """Train on one rank's rows, together with the other ranks; each gives the model of `train` on all rows, byte for byte.

    All ranks call it with the same arguments, but for their data and `n_jobs`. Functions of the user's (objective, metrics,
    callbacks) are called at rank 0, the others may go without them; what they decide is spread. An error is raised at the rank
    that found it; the others get `RankLostError`.

    A tree takes three or four joins more than it is deep (`BlockGrower` says which). A round takes one more, for the largest
    gradients, and with callbacks or validation sets another one, and a gather of the scores of each validation set.
    What sampling adds says `RankSampler`.

    Parameters
    ----------
    params, rounds, objective, metrics, callbacks, init_model
        As for `train`; `tree_method` must be hist. Where the number of rounds is to be found, groups are as `joined_course` has
        them.
    data : BinnedData
        This rank's rows to learn from, whose codes come in blocks, by the plan of the whole table. They may be none. The rows
        of a query are all at one rank; queries are numbered within it.
    communicator : Communicator
        The other ranks.
    valid : mapping of str to BinnedData, optional
        Data to compute the metrics on after each round, by name.
    past : sequence of RoundRecord, optional
        Rounds of the same training that was broken off, all from the first one on, maybe on other shards of the same rows. Their
        trees are added to the scores again, callbacks are told of them again, and so is early stopping. So the model, and what
        callbacks know in the end, are those of a training that was never broken off. Rounds that fit all rows again come last.
    say : callable, optional
        Called at every rank with each new `RoundRecord`.

    Returns
    -------
    Model
        The same at every rank.
    """
    params, function = with_function(params, objective)
    config = config_of(params, _checked(data, "shard"))
    auto = rounds.of_rows(data.table_rows) if isinstance(rounds, Auto) else None
    number = 0 if isinstance(rounds, Auto) else checked_rounds(rounds)
    if config.tree_method != "hist":
        raise ParameterError(
            f"tree_method={config.tree_method!r} needs the whole table in one place; on shards use tree_method='hist'"
        )
    resolved = resolved_config(config, data)
    before = load_init_model(init_model, config, data.schema)
    loss = objectives.get(config, function)
    chosen_metrics = training_metrics(config, metrics, function)
    if valid is not None and not isinstance(valid, Mapping):
        raise DataTypeError(f"valid must map names to BinnedData, got {type(valid).__name__}")
    watched = {name: _checked(one, f"valid[{name!r}]") for name, one in (valid or {}).items()}
    _check_ranks(
        config,
        repr(number if auto is None else replace(auto, groups=None, validation=None)),
        data,
        watched,
        communicator,
    )
    heard = checked_callbacks(callbacks) if communicator.rank == 0 else []
    rates = schedule_of(heard)
    if auto is None:
        if communicator.rank == 0:
            check_stopping(config, chosen_metrics, watched)
        course = ShardCourse(number, data, watched, EarlyStopping.of(config))
    else:
        listed = None if rates is None else rates.listed
        course = joined_course(
            auto, config, data, watched, chosen_metrics, loss, before is not None, listed, communicator
        )
    job = _Job(config, resolved, loss, chosen_metrics, before, communicator)
    with Team(threads_of(config, data) if data.rows else 1) as team:
        first, last = ([one for one in past if one.again is again] for again in (False, True))
        listening = Listening(heard, rates, course.stopping, say=say)
        model = job.finished(course.data, course.valid, course.rounds, listening, first, team, course.kin)
        if course.limit is not None and communicator.rank == 0:
            most = course.rounds + (0 if before is None else before.rounds)
            listening.end_search(
                record_of(model, course.stopping, most, course.limit, course.holdout_rows, course.again)
            )
        if not course.again:
            return model
        best = model.rounds_to_use()
        again = Listening([], rates, None, best, say)
        return job.finished(data, {}, best, again, last, team, course.whole_kin)


@dataclass(frozen=True, eq=False)
class _Job:
    """What the trainings of a course have in common."""

    config: Config
    resolved: Config
    loss: Objective
    metrics: list[Metric]
    before: InitialModel | None
    communicator: Communicator

    def finished(
        self,
        data: BinnedData,
        valid: Mapping[str, BinnedData],
        rounds: int,
        listening: Listening,
        past: Sequence[RoundRecord],
        team: Team,
        kin: NDArray[np.int64] | None,
    ) -> Model:
        """Train for some rounds, of which the first may have been done already."""
        config, metrics, communicator = self.config, self.metrics, self.communicator
        start = 0 if self.before is None else self.before.rounds
        check_past(past, start, rounds, self.loss.outputs)
        rows = ShardRows(communicator, data.first, [tree for one in past for tree in one.trees])
        _watch(rows, valid, self.loss, metrics)
        boosting = Boosting(
            config, self.resolved, data, valid, self.loss, metrics, team, self.before, rows, kin
        )
        return Rounds(communicator, config, bool(metrics), start, rounds, listening).finish(boosting, past)


def _checked(data: object, what: str) -> BinnedData:
    if not isinstance(data, BinnedData):
        raise DataTypeError(f"{what} must be BinnedData, got {type(data).__name__}")
    if data.codes.matrix is not None:
        raise DataError(f"the codes of {what} must come in blocks")
    if not 0 < data.table_rows <= MOST_ROWS:
        raise DataError(f"{what} is of a table of {data.table_rows} rows; there must be 1 to {MOST_ROWS}")
    return data


def _watch(
    rows: ShardRows, watched: Mapping[str, BinnedData], loss: Objective, metrics: list[Metric]
) -> None:
    """Send the labels of validation sets to rank 0, which checks them."""
    for name, one in watched.items():
        what = f"valid[{name!r}]"
        try:
            whole = rows.watch(name, one.checked_labels(what), loss)
            if whole is not None:
                for metric in metrics:
                    metric.check(whole)
        except DataError as error:
            raise DataError(f"{what}: {error}") from None


def _check_ranks(
    config: Config,
    rounds: str,
    data: BinnedData,
    watched: Mapping[str, BinnedData],
    communicator: Communicator,
) -> None:
    """Refuse ranks that do not belong together, at rank 0."""
    for what, one in {"shard": data, **{f"valid[{name!r}]": one for name, one in watched.items()}}.items():
        if not one.cuts.same(data.cuts):
            raise DataError(f"{what} was binned apart: it must have the cuts of the training data")
    sent = [_facts(config, rounds, one, list(watched)) for one in (data, *watched.values())]
    found = communicator.gather(np.array(sent)[None])
    if found is None:
        return
    every = np.concatenate(found)
    for place, what in enumerate(["the training data", *(f"valid[{name!r}]" for name in watched)]):
        facts = every[:, place]
        for column, named in enumerate(_FACTS):
            if len(set(facts[:, column].tolist())) > 1:
                raise DataError(f"{what}: ranks differ in {named}: {facts[:, column].tolist()}")
        first, rows = facts[:, -2], facts[:, -1]
        total = int(facts[0, 0])
        if (first != np.cumsum([0, *rows[:-1]])).any() or rows.sum() != total:
            raise DataError(
                f"{what}: shards must follow each other and have all {total} rows; they begin at {first.tolist()} and have "
                f"{rows.tolist()}"
            )


# What all ranks have in common; a rank's first row and its number of rows follow.
_FACTS = (
    "the rows of the whole table",
    "whether rows have weights",
    "columns of base_margin",
    "whether rows have queries",
    "columns of the target",
    "parameters, rounds or cuts",
)


def _facts(config: Config, rounds: str, data: BinnedData, names: list[str]) -> list[int]:
    labels: Labels = data.checked_labels()
    cuts, features = data.cuts, data.plan.features
    told = json.dumps([config.to_dict(model_only=True), rounds, names], default=str).encode()
    for array in (cuts.values, cuts.starts, cuts.categorical, features.group, features.low):
        told += np.ascontiguousarray(array).tobytes()
    margin = -1 if labels.margin is None else labels.margin.shape[1]
    common = (labels.weight is not None, margin, labels.queries is not None, labels.targets, zlib.crc32(told))
    return [data.table_rows, *map(int, common), data.first, labels.rows]
