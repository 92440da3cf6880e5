"""Trainings on a cluster of processes, some of which are killed: the model and all else are those of one machine."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from distributed import Client

import spinney as sp
import spinney.dask as sd
from clusters import PATIENCE, cluster_of
from dask_data import array
from rank_works import Fault, WithFaults, kill
from spinney.dask.callbacks import restore_callbacks
from spinney.dask.run import run_ranks
from spinney.dask.training import training_work
from spinney.errors import ClusterError, OwnFunctionError
from spinney.model.boosted import mean_model
from spinney.params import Config

WORKERS, ROUNDS, ROWS = 3, 12, 600
CHUNKS = (40, 260, 0, 100, 200)
PARAMS = {
    "objective": "log_loss", "eval_metric": "auc", "max_leaves": 8, "subsample": 0.7, "early_stopping_rounds": 4, "seed": 3,
}  # fmt: skip


def table(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, 4))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=ROWS) > 0).astype(float)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Client]:
    with cluster_of(WORKERS) as client:
        yield client


def trained_alone(params: dict) -> tuple[sp.Model, dict]:
    train = sp.Dataset(*table(1))
    history = sp.History()
    model = sp.train(
        params, train, ROUNDS, valid={"held": sp.Dataset(*table(2), reference=train)}, callbacks=[history]
    )
    return model, history.evals


@pytest.fixture(scope="module")
def alone() -> tuple[sp.Model, dict]:
    return trained_alone(PARAMS)


@pytest.fixture
def client(cluster: Client) -> Client:
    cluster.wait_for_workers(WORKERS, timeout=PATIENCE)
    return cluster


@pytest.fixture(scope="module")
def sets(cluster: Client) -> tuple[sd.Dataset, sd.Dataset]:
    train, held = [[array(values, CHUNKS) for values in table(seed)] for seed in (1, 2)]
    data = sd.Dataset(cluster, *train)
    return data, sd.Dataset(cluster, *held, reference=data)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "models"), [(1, 1), (2, 1), (3, 2)])
def test_kills_at_random_calls_leave_every_byte(
    client: Client, sets, seed: int, models: int, tmp_path: Path
) -> None:
    rng = random.Random(seed)
    history, params = sp.History(), {**PARAMS, "models": models}
    work, tables = training_work(
        Config.parse(params), sets[0], ROUNDS, valid={"held": sets[1]}, callbacks=[history]
    )
    calls = sorted(rng.sample(range(60), 2))
    faults = [Fault(rng.randrange(2), call, kill, tmp_path / str(call)) for call in calls]
    outcome = run_ranks(client, tables, WithFaults(work, faults))
    found, ended = outcome.value
    restore_callbacks([history], ended)
    assert outcome.runs == 3
    expected, evals = trained_alone(params)
    assert (mean_model(found).to_bytes(), history.evals) == (expected.to_bytes(), evals)


@pytest.mark.slow
def test_callbacks_end_as_those_of_one_machine_after_a_kill(
    client: Client, sets, alone, tmp_path: Path
) -> None:
    history = sp.History()
    valid = {"held": sets[1]}
    killer = KillOnce(tmp_path / "mark")
    model = sd.train(client, PARAMS, sets[0], ROUNDS, valid=valid, callbacks=[history, killer])
    assert (tmp_path / "mark").exists()
    assert (model.to_bytes(), history.evals) == (alone[0].to_bytes(), alone[1])


def test_attributes_of_a_callback_that_cannot_be_pickled_stay_behind(
    client: Client, sets, alone, tmp_path: Path
) -> None:
    notes = Notes(tmp_path / "notes")
    model = sd.train(client, PARAMS, sets[0], ROUNDS, valid={"held": sets[1]}, callbacks=[notes])
    assert model.to_bytes() == alone[0].to_bytes()
    rounds = len(alone[1]["held"]["auc"])
    assert (notes.rounds, notes.file) == (rounds, None)
    # The training was done once.
    assert len(notes.path.read_text()) == rounds


def test_a_metric_of_the_users_that_fails_ends_the_training(client: Client, sets) -> None:
    with pytest.raises(OwnFunctionError, match="bad metric"):
        sd.train(client, PARAMS, sets[0], ROUNDS, valid={"held": sets[1]}, metrics=[bad_metric])


@pytest.mark.parametrize(
    "error", [ValueError("mine"), OSError("mine"), SystemExit("mine"), StopIteration("mine")]
)
def test_an_error_of_a_callback_is_raised_as_on_one_machine(
    client: Client, sets, error: BaseException
) -> None:
    with pytest.raises(type(error), match="mine"):
        sd.train(client, PARAMS, sets[0], ROUNDS, valid={"held": sets[1]}, callbacks=[Raises(error)])


def test_an_error_of_a_callback_that_cannot_be_pickled_is_reported(client: Client, sets) -> None:
    with pytest.raises(ClusterError, match="a callback failed with OddError: mine"):
        sd.train(client, PARAMS, sets[0], ROUNDS, valid={"held": sets[1]}, callbacks=[RaisesOdd()])


def bad_metric(y_true, y_pred):
    raise ValueError("bad metric")


class KillOnce:
    """A callback that kills the worker which calls it, in the third round of the first run."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __call__(self, info: sp.RoundInfo) -> None:
        Fault(0, 3, kill, self.mark).strike(0, info.round)


class Notes:
    """A callback that opens its file when it is first called."""

    def __init__(self, path: Path) -> None:
        self.path, self.rounds, self.file = path, 0, None

    def __call__(self, info: sp.RoundInfo) -> None:
        if self.file is None:
            self.file = self.path.open("a")
        self.file.write("x")
        self.file.flush()
        self.rounds += 1


class Raises:
    """A callback that fails in the third round."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __call__(self, info: sp.RoundInfo) -> None:
        if info.round == 3:
            raise self.error


class OddError(Exception):
    """An error that cannot be read from its pickle."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one)


class RaisesOdd:
    """A callback that fails by it."""

    def __call__(self, info: sp.RoundInfo) -> None:
        raise OddError("mine", "two")
