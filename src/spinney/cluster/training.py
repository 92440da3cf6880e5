"""`train_ranks`: a training on a data set of the cluster, on as many ranks as there are workers."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from distributed import Client, get_worker

from spinney import objectives
from spinney.cluster.dataset import Dataset
from spinney.cluster.encode import Form
from spinney.cluster.handing import OwnError, packed
from spinney.cluster.rank import Held
from spinney.cluster.run import run_ranks
from spinney.cluster.shards import rank_data
from spinney.cluster.shares import Parts
from spinney.collective import Communicator
from spinney.jit.team import Team, threads_for
from spinney.model.model import Model
from spinney.params import Config
from spinney.training.callbacks import Callback, CallbackError
from spinney.training.checkpoint import Checkpoint, RoundRecord
from spinney.training.driver import train_rank
from spinney.training.round_plan import Auto

Metrics = Iterable[str | Callable[..., object]] | None


def train_ranks(
    client: Client,
    config: Config,
    data: Dataset,
    rounds: int | Auto,
    *,
    objective: objectives.Function | None = None,
    valid: Mapping[str, Dataset] | None = None,
    metrics: Metrics = None,
    callbacks: list[Callback] | None = None,
    init_model: Model | None = None,
) -> tuple[Model, list[bytes]]:
    """Train on all workers. See `spinney.dask.train`, which checks the arguments. Groups of `Auto` are what `grouped` gives.

    Returns
    -------
    Model
        The one that `spinney.train` gives for all rows.
    list of bytes
        What the callbacks, which were copied to a worker, have in the end: for `give_back`.
    """
    work, tables = planned(config, data, rounds, objective, valid, metrics, callbacks, init_model)
    model, ended = run_ranks(client, tables, work).value
    return model, ended


def planned(
    config: Config,
    data: Dataset,
    rounds: int | Auto,
    objective: objectives.Function | None = None,
    valid: Mapping[str, Dataset] | None = None,
    metrics: Metrics = None,
    callbacks: list[Callback] | None = None,
    init_model: Model | None = None,
) -> tuple[Training, list[Parts]]:
    """The work of every rank of a training, and the partitions of its data sets, each data set once, then those of groups."""
    valid = {} if valid is None else valid
    sets = list({id(one): one for one in (data, *valid.values())}.values())
    places = {
        name: next(place for place, one in enumerate(sets) if one is held) for name, held in valid.items()
    }
    tables = [Parts(one.parts, [int(rows) for rows in one.lengths]) for one in sets]
    if isinstance(rounds, Auto) and rounds.groups is not None:
        tables.append(Parts([rounds.groups], [data.rows]))
        rounds = replace(rounds, groups=None)
    forms = [one.form for one in sets]
    work = Training(config, forms, places, rounds, objective, metrics, callbacks or [], init_model)
    return work, tables


@dataclass(frozen=True)
class Training:
    """What a rank does. It travels to every rank, at every run anew, so callbacks begin afresh.

    Attributes
    ----------
    forms : list of Form
        What the parts of each data set mean; the first is trained on.
    valid : dict
        Which data set a validation set is, by its name.
    rounds : int or Auto
        Behind those of data sets, `held` has the numbers of groups where `Auto` was given some.
    """

    config: Config
    forms: list[Form]
    valid: dict[str, int]
    rounds: int | Auto
    objective: objectives.Function | None
    metrics: Metrics
    callbacks: list[Callback]
    init_model: Model | None

    def __call__(
        self, held: list[Held], communicator: Communicator, start: list[bytes], say: Callable[[bytes], None]
    ) -> tuple[Model, list[bytes]]:
        """Train on what this rank holds; see `Work`."""
        config = self.config
        if config.n_jobs is None:
            config = replace(config, n_jobs=get_worker().state.nthreads)
        with Team(threads_for(config.n_jobs)) as team:
            shards = [
                rank_data(form, one.parts, one.first, one.total, team)
                for form, one in zip(self.forms, held, strict=False)
            ]
        rounds = self.rounds
        if isinstance(rounds, Auto) and len(held) > len(self.forms):
            rounds = replace(rounds, groups=np.concatenate([np.empty(0, np.int64), *held[-1].parts]))
        done: list[RoundRecord] = [pickle.loads(piece) for piece in start]
        try:
            model = train_rank(
                config,
                shards[0],
                rounds,
                communicator=communicator,
                objective=self.objective,
                valid={name: shards[place] for name, place in self.valid.items()},
                metrics=self.metrics,
                callbacks=self.callbacks,
                init_model=self.init_model,
                checkpoint=Checkpoint(tuple(done)),
                on_round=lambda one: say(pickle.dumps(one)),
            )
        except CallbackError as error:
            raise OwnError.of(error.__cause__ or error) from error
        return model, packed(self.callbacks) if communicator.rank == 0 else []
