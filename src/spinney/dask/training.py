"""`train` on a cluster: every worker is a rank."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from distributed import Client, get_worker

from spinney import dataset as local
from spinney import objectives
from spinney.binning.binned import BinnedData
from spinney.collective import Communicator
from spinney.dask.callbacks import RemoteCallbackError, callback_state, restore_callbacks
from spinney.dask.client import checked_client
from spinney.dask.dataset import Dataset
from spinney.dask.executor import DatasetMeta
from spinney.dask.labels import number_groups
from spinney.dask.rank_data import rank_data
from spinney.dask.ranks import RankInput
from spinney.dask.run import PartitionedTable, run_ranks
from spinney.dask.tasks import pickled
from spinney.errors import DataError, DataTypeError, ParameterError
from spinney.jit.team import Team, threads_for
from spinney.messages import shown
from spinney.model.boosted import Model, mean_model
from spinney.params import Config
from spinney.params.parameter import is_iterable
from spinney.training import growers
from spinney.training.callbacks import Callback, CallbackError, SearchLog, checked_callbacks, warn_of_cap
from spinney.training.checkpoint import Checkpoint, RoundRecord
from spinney.training.continuation import model_of
from spinney.training.driver import check_arguments, train_rank
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
) -> tuple[list[Model], list[bytes]]:
    """Train on all workers. See `spinney.dask.train`, which checks the arguments. `Auto.groups` are those of `number_groups`.

    Returns
    -------
    list of Model
        The models whose mean `spinney.train` returns for all rows.
    list of bytes
        The `callback_state` of the callbacks' copies on a worker, for `restore_callbacks`.
    """
    work, tables = training_work(config, data, rounds, objective, valid, metrics, callbacks, init_model)
    models, state = run_ranks(client, tables, work).value
    return models, state


def training_work(
    config: Config,
    data: Dataset,
    rounds: int | Auto,
    objective: objectives.Function | None = None,
    valid: Mapping[str, Dataset] | None = None,
    metrics: Metrics = None,
    callbacks: list[Callback] | None = None,
    init_model: Model | None = None,
) -> tuple[Training, list[PartitionedTable]]:
    """The work of the ranks of a training, and its tables: the partitions of each data set once, then those of groups."""
    valid = {} if valid is None else valid
    sets = list({id(one): one for one in (data, *valid.values())}.values())
    set_numbers = {
        name: next(number for number, one in enumerate(sets) if one is valid_set)
        for name, valid_set in valid.items()
    }
    tables = [PartitionedTable(one.parts, [int(rows) for rows in one.lengths]) for one in sets]
    if isinstance(rounds, Auto) and rounds.groups is not None:
        tables.append(PartitionedTable([rounds.groups], [data.rows]))
        rounds = replace(rounds, groups=None)
    metas = [one.meta for one in sets]
    work = Training(config, metas, set_numbers, rounds, objective, metrics, callbacks or [], init_model)
    return work, tables


@dataclass(frozen=True)
class Training:
    """The work of a rank. It is sent to every rank of every run, so callbacks start as fresh copies.

    Attributes
    ----------
    metas : list of DatasetMeta
        Cuts, columns and parameters of each data set; the first is trained on.
    valid : dict
        The number of the data set of each validation set, by its name.
    rounds : int or Auto
        If `Auto` had groups, their numbers are the last of a rank's inputs, behind those of data sets.
    """

    config: Config
    metas: list[DatasetMeta]
    valid: dict[str, int]
    rounds: int | Auto
    objective: objectives.Function | None
    metrics: Metrics
    callbacks: list[Callback]
    init_model: Model | None

    def __call__(
        self,
        inputs: list[RankInput],
        communicator: Communicator,
        records: list[bytes],
        on_record: Callable[[bytes], None],
    ) -> tuple[list[Model], list[bytes]]:
        """Train on the rows of this rank; see `Work`."""
        config = self.config
        if config.n_jobs is None:
            config = replace(config, n_jobs=get_worker().state.nthreads)
        with Team(threads_for(config.n_jobs)) as team:
            data = [
                rank_data(meta, one.parts, one.first, one.total, team)
                for meta, one in zip(self.metas, inputs, strict=False)
            ]
        rounds = self.rounds
        if isinstance(rounds, Auto) and len(inputs) > len(self.metas):
            rounds = replace(rounds, groups=np.concatenate([np.empty(0, np.int64), *inputs[-1].parts]))
        rounds_done: list[RoundRecord] = [pickle.loads(record) for record in records]
        try:
            models = train_rank(
                config,
                data[0],
                rounds,
                communicator=communicator,
                objective=self.objective,
                valid={name: data[number] for name, number in self.valid.items()},
                metrics=self.metrics,
                callbacks=self.callbacks,
                init_model=self.init_model,
                checkpoint=Checkpoint(tuple(rounds_done)),
                on_round=lambda one: on_record(pickle.dumps(one)),
            )
        except CallbackError as error:
            raise RemoteCallbackError.of(error.__cause__ or error) from error
        return models, callback_state(self.callbacks) if communicator.rank == 0 else []


def train(
    client: Client | None,
    params: Mapping[str, object] | Config,
    data: Dataset,
    rounds: int | str | Auto | None = None,
    *,
    objective: objectives.Function | None = None,
    valid: Mapping[str, Dataset] | None = None,
    metrics: Iterable[str | Callable[..., object]] | None = None,
    callbacks: Iterable[Callback] | None = None,
    init_model: object = None,
    max_rounds: int | None = None,
    validation_fraction: float | None = None,
    groups: object = None,
    validation: object = None,
) -> Model:
    """Train a gradient boosting model on the workers of a cluster.

    Parameters
    ----------
    client : dask.distributed.Client
        The client of `data`; None for Dask's default client.
    params : mapping
        Hyper-parameters by name, as for `spinney.train`. `n_jobs` are threads of each worker, by default as many as
        Dask gives it; `tree_method` is hist.
    data : Dataset
        What to learn from, a `spinney.dask.Dataset`.
    rounds : int or "auto", optional
        Number of boosting rounds, as for `spinney.train`: without it 100, or "auto" with the preset "best". "auto" holds out
        the rows that it would on one machine.
    objective : callable, optional
        A loss of your own, as for `spinney.train`. It is called on one worker.
    valid : mapping of str to Dataset, optional
        Data to compute the metrics on after each round, by name. Each must have been made with `reference=data`, or be `data`
        itself.
    metrics : iterable of callables or str, optional
        Metrics to compute after those of `eval_metric`; a function of your own is called on one worker.
    callbacks : iterable of callables, optional
        Called after each round with a `RoundInfo`; one that returns True ends the training. A worker calls copies of them. In the
        end yours get the attributes of the copies, except those that cannot be pickled.
    init_model : Model, fitted estimator or path, optional
        Go on from this model, which must have been grown on the same cuts.
    max_rounds : int, optional
        Most rounds that "auto" may try, as for `spinney.train`.
    validation_fraction : float, optional
        Share of the rows that "auto" holds out, .1 without it.
    groups : dask array or series, or list of delayed arrays, optional
        Group of each row, for "auto", in the order of the rows: rows of a group are held out together.
    validation : "last" or array, optional
        Which rows "auto" holds out, as for `spinney.train`: the last ones of all partitions, or those of an array of numbers or
        truth values, by the order of all rows. A Dask array of these is brought to this process.

    Returns
    -------
    Model
        The one that `spinney.train` gives for the same rows on one machine, byte for byte.

    Examples
    --------
    >>> import dask.array as da, spinney.dask as sd
    >>> from distributed import LocalCluster
    >>> X = da.random.default_rng(0).random((1000, 2), chunks=(250, 2))
    >>> with LocalCluster(n_workers=2, processes=False, dashboard_address=":0") as cluster, Client(cluster) as client:
    ...     data = sd.Dataset(client, X, X[:, 0] * 2)
    ...     sd.train(client, {"max_leaves": 8}, data, rounds=5)
    Model(objective='squared_error', rounds=5, outputs=1, n_features=2)
    """
    log = SearchLog()
    all_callbacks = checked_callbacks(callbacks)
    if isinstance(rounds, str) or rounds is None:
        all_callbacks.append(log)
    models = train_each(
        client, params, data, rounds,
        objective=objective, valid=valid, metrics=metrics, callbacks=all_callbacks, init_model=init_model,
        max_rounds=max_rounds, validation_fraction=validation_fraction, groups=groups, validation=validation,
    )  # fmt: skip
    warn_of_cap(log.found, "rounds", UserWarning, stacklevel=2)
    return mean_model(models)


def train_each(
    client: Client | None,
    params: Mapping[str, object] | Config,
    data: Dataset,
    rounds: int | str | Auto | None = None,
    *,
    objective: objectives.Function | None = None,
    valid: Mapping[str, Dataset] | None = None,
    metrics: Iterable[str | Callable[..., object]] | None = None,
    callbacks: Iterable[Callback] | None = None,
    init_model: object = None,
    max_rounds: int | None = None,
    validation_fraction: float | None = None,
    groups: object = None,
    validation: object = None,
) -> list[Model]:
    """The models whose mean `train` gives, one for each seed. The parameters are those of `train`."""
    client = checked_client(client)
    _check_data_set(data, "data", client)
    empty = empty_data(data)
    metrics = list(metrics) if is_iterable(metrics) and not isinstance(metrics, str) else metrics
    args = check_arguments(
        params, empty, rounds, objective=objective, metrics=metrics, init_model=init_model, max_rounds=max_rounds,
        validation_fraction=validation_fraction, groups=groups, validation=validation,
    )  # fmt: skip
    valid_sets = _checked_valid(valid, data, client)
    growers.check_grower(args.config, empty, {})
    args.check_rounds(bool(valid_sets))
    all_callbacks = checked_callbacks(callbacks)
    pickled(args.function, "objective")
    for what, given in (("callbacks", all_callbacks), ("metrics", metrics or [])):
        for one in given:
            pickled(one, f"{what}: {shown(one)}")
    plan = args.rounds
    if isinstance(plan, Auto) and plan.groups is not None:
        plan = replace(plan, groups=number_groups(client, plan.groups, data.rows))
    models, state = train_ranks(
        client, args.config, data, plan,
        objective=args.function, valid=valid_sets, metrics=metrics, callbacks=all_callbacks, init_model=model_of(init_model),
    )  # fmt: skip
    restore_callbacks(all_callbacks, state)
    return models


def empty_data(data: Dataset) -> BinnedData:
    """Binned data of the same table without its rows, which is enough for checks of parameters."""
    with Team(1) as team:
        return rank_data(data.meta, [], 0, data.rows, team)


def _check_data_set(data: object, what: str, client: Client) -> None:
    if not isinstance(data, Dataset):
        kind = (
            type(data).__name__
            if not isinstance(data, local.Dataset)
            else "a spinney.Dataset of this process"
        )
        raise DataTypeError(f"{what} must be a spinney.dask.Dataset, got {kind}")
    if data.client is not client:
        raise ParameterError(f"{what} was made with another client; make both with the same")
    if not data.has_target:
        raise DataError(f"{what} has no target: give y to Dataset")


def _checked_valid(valid: object, data: Dataset, client: Client) -> dict[str, Dataset]:
    if valid is None:
        return {}
    if not isinstance(valid, Mapping):
        raise DataTypeError(f"valid must map names to Datasets, got {type(valid).__name__}")
    for name, one in valid.items():
        _check_data_set(one, f"valid[{name!r}]", client)
        if not one.cuts.same(data.cuts):
            raise DataError(f"valid[{name!r}] was binned apart: make it with Dataset(..., reference=data)")
    return dict(valid)
