"""Runs of ranks on a cluster of processes: their results, and how they end when something goes wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from distributed import Client, Event, Status

from clusters import PATIENCE, another_client, cluster_of, parts_of
from rank_works import Endless, Fault, Rounds, expected, fail, kill, large_sum, lose, run_out
from spinney.dask import ranks, run
from spinney.dask.ranks import Run
from spinney.dask.run import PartitionedTable, assign_workers, run_ranks
from spinney.errors import ClusterError, DataError

WORKERS = 3
ROUNDS = 6
VALUES = np.random.default_rng(7).integers(0, 100, 60)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Client]:
    with cluster_of(WORKERS) as client:
        yield client


@pytest.fixture
def client(cluster: Client) -> Client:
    cluster.wait_for_workers(WORKERS, timeout=PATIENCE)
    return cluster


@pytest.fixture
def parts(client: Client) -> PartitionedTable:
    return parts_of(client, VALUES, [5, 20, 20, 45])


def test_all_workers_give_what_one_rank_gives(client: Client, parts: PartitionedTable) -> None:
    outcome = run_ranks(client, [parts], Rounds(ROUNDS))
    assert outcome.value == expected(VALUES, ROUNDS)
    assert outcome.runs == 1
    # Four collective calls a round; rank 0 sent the results of three of them to two others, and received the arrays of three.
    assert outcome.traffic.calls == 4 * ROUNDS
    assert outcome.traffic.sent > 2 * ROUNDS * VALUES.nbytes


def test_arrays_of_any_size_are_summed(client: Client, parts: PartitionedTable) -> None:
    assert run_ranks(client, [parts], large_sum).value


def test_there_are_no_more_ranks_than_partitions(client: Client) -> None:
    outcome = run_ranks(client, [parts_of(client, VALUES, [])], Rounds(ROUNDS))
    assert outcome.value == expected(VALUES, ROUNDS)
    assert outcome.traffic.sent == 0


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_a_killed_worker_costs_a_run_and_changes_nothing(
    client: Client, parts: PartitionedTable, rank: int, tmp_path: Path
) -> None:
    outcome = run_ranks(client, [parts], Rounds(ROUNDS, [Fault(rank, 3, kill, tmp_path / "mark")]))
    assert outcome.value == expected(VALUES, ROUNDS)
    assert outcome.runs == 2
    # The rounds that were finished are not done again.
    assert outcome.traffic.calls <= 4 * (ROUNDS - 2)


@pytest.mark.slow
def test_kills_in_one_run_after_the_other_change_nothing(
    client: Client, parts: PartitionedTable, tmp_path: Path
) -> None:
    faults = [Fault(rank, number, kill, tmp_path / str(number)) for number, rank in [(0, 1), (2, 0), (5, 0)]]
    outcome = run_ranks(client, [parts], Rounds(ROUNDS, faults))
    assert outcome.value == expected(VALUES, ROUNDS)
    assert outcome.runs == 4


def test_a_run_goes_on_when_all_workers_were_killed(
    client: Client, parts: PartitionedTable, tmp_path: Path
) -> None:
    faults = [Fault(rank, 2, kill, tmp_path / str(rank)) for rank in range(WORKERS)]
    outcome = run_ranks(client, [parts], Rounds(ROUNDS, faults))
    assert outcome.value == expected(VALUES, ROUNDS)


def test_a_rank_that_fails_ends_all_and_its_error_is_reported(
    client: Client, parts: PartitionedTable
) -> None:
    with pytest.raises(ClusterError, match=r"the rank at tcp://.* failed: MemoryError: no memory left"):
        run_ranks(client, [parts], Rounds(ROUNDS, [Fault(1, 2, run_out)]))


def test_an_error_of_ours_at_a_rank_is_raised_as_it_is(client: Client, parts: PartitionedTable) -> None:
    with pytest.raises(DataError, match="y holds nothing"):
        run_ranks(client, [parts], Rounds(ROUNDS, [Fault(2, 1, fail)]))


def test_a_partition_that_cannot_be_computed_is_named(client: Client, parts: PartitionedTable) -> None:
    broken = PartitionedTable([*parts.futures[:2], client.submit(_divide, 1, 0)], parts.rows[:3])
    with pytest.raises(ClusterError, match="partition 2 cannot be computed: ZeroDivisionError"):
        run_ranks(client, [broken], Rounds(ROUNDS))


def test_a_lost_partition_without_a_source_is_reported(client: Client, tmp_path: Path) -> None:
    worker = sorted(client.nthreads())[0]
    (scattered,) = client.scatter([VALUES], workers=[worker], hash=False)
    part = client.submit(_divide, scattered, 1, workers=[worker])
    del scattered
    with pytest.raises(ClusterError, match="partition 0 is lost and cannot be computed again"):
        run_ranks(
            client,
            [PartitionedTable([part], [len(VALUES)])],
            Rounds(ROUNDS, [Fault(0, 2, kill, tmp_path / "mark")]),
        )


def test_a_failure_that_comes_again_and_again_ends_the_training(
    client: Client, parts: PartitionedTable
) -> None:
    with pytest.raises(ClusterError, match="interrupted 3 times in a row without progress: nobody is there"):
        run_ranks(client, [parts], Rounds(ROUNDS, [Fault(1, 0, lose)]))


def test_a_result_that_cannot_travel_ends_the_training_at_once(
    client: Client, parts: PartitionedTable, tmp_path: Path
) -> None:
    with pytest.raises(ClusterError, match=r"what the rank at tcp://.* gave cannot travel to the client: "):
        run_ranks(client, [parts], partial(_open_file, tmp_path / "mark"))
    assert (tmp_path / "mark").read_text() == "x"


def test_another_version_of_spinney_takes_no_part(
    client: Client, parts: PartitionedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "__version__", "0.0.1")
    with pytest.raises(ClusterError, match="no worker that can train for 0 s; 3 have another version"):
        run_ranks(client, [parts], Rounds(ROUNDS), patience=0)


def test_a_worker_that_dask_has_paused_is_not_waited_for(
    client: Client, parts: PartitionedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def paused(*arguments: object) -> list[str]:
        workers = assign_workers(*arguments)
        if not paused_workers:
            paused_workers.append(workers[1])
            client.run(set_status, Status.paused, workers=paused_workers)
        return workers

    paused_workers: list[str] = []
    client.gather(parts.futures)
    monkeypatch.setattr(run, "assign_workers", paused)
    monkeypatch.setattr(ranks, "_PAUSED_RANK_TIMEOUT", 0.0)
    try:
        outcome = run_ranks(client, [parts], Rounds(ROUNDS))
    finally:
        client.run(set_status, Status.running, workers=paused_workers)
    assert outcome.value == expected(VALUES, ROUNDS)
    assert outcome.runs == 2


def test_partitions_that_a_paused_worker_holds_back_end_the_training(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    paused = min(client.nthreads())
    monkeypatch.setattr(ranks, "_PAUSED_RANK_TIMEOUT", 0.0)
    monkeypatch.setattr(ranks, "_PAUSED_CLUSTER_TIMEOUT", 0.0)
    client.run(set_status, Status.paused, workers=[paused])
    try:
        part = client.submit(_divide, VALUES, 1, workers=[paused])
        with pytest.raises(ClusterError, match=f"Dask has paused {paused} for want of memory"):
            run_ranks(client, [PartitionedTable([part], [len(VALUES)])], Rounds(ROUNDS))
    finally:
        client.run(set_status, Status.running, workers=[paused])


def test_an_interrupt_at_the_client_ends_the_ranks(
    client: Client, parts: PartitionedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(run: Run) -> None:
        assert all(Event(f"ctrl-c-began-{rank}", client).wait(PATIENCE) for rank in range(WORKERS))
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "check_workers", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_ranks(client, [parts], Endless("ctrl-c"))
    assert all(Event(f"ctrl-c-over-{rank}", client).wait(PATIENCE) for rank in range(WORKERS))


def test_ranks_end_when_their_client_is_gone(client: Client) -> None:
    with ThreadPoolExecutor(1) as pool:
        with another_client(client) as other:
            running = pool.submit(run_ranks, other, [parts_of(other, VALUES, [20, 40])], Endless("gone"))
            assert all(Event(f"gone-began-{rank}", client).wait(PATIENCE) for rank in range(WORKERS))
        assert all(Event(f"gone-over-{rank}", client).wait(PATIENCE) for rank in range(WORKERS))
        with pytest.raises(ClusterError, match=r"client is closed"):
            running.result(PATIENCE)


def test_two_trainings_at_once_do_not_disturb_each_other(
    client: Client, parts: PartitionedTable, tmp_path: Path
) -> None:
    other = parts_of(client, VALUES[::-1], [30, 50])
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(run_ranks, client, [parts], Rounds(ROUNDS, [Fault(1, 2, kill, tmp_path / "mark")]))
        two = pool.submit(run_ranks, client, [other], Rounds(ROUNDS))
        assert one.result(PATIENCE).value == expected(VALUES, ROUNDS)
        assert two.result(PATIENCE).value == expected(VALUES[::-1], ROUNDS)


def test_ranks_of_one_process_share_no_arrays() -> None:
    with cluster_of(2, processes=False) as client:
        outcome = run_ranks(client, [parts_of(client, VALUES, [20, 40])], Rounds(ROUNDS))
    assert outcome.value == expected(VALUES, ROUNDS)


def test_a_rank_of_one_process_that_fails_ends_all_and_the_workers_go_on() -> None:
    # In a process of its own, which ends in time even if the event loop does not.
    code = (
        "import numpy as np\n"
        "from clusters import cluster_of, parts_of\n"
        "from rank_works import Fault, Rounds, run_out\n"
        "from spinney.dask.run import run_ranks\n"
        "with cluster_of(2, processes=False) as client:\n"
        "    for rank in (0, 1):\n"
        "        try:\n"
        "            run_ranks(client, [parts_of(client, np.arange(60), [20, 40])], Rounds(6, [Fault(rank, 2, run_out)]))\n"
        "        except RuntimeError as error:\n"
        "            print(type(error).__name__, client.submit(abs, -1, pure=False).result(20))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.stdout.split() == ["ClusterError", "1"] * 2


def set_status(status, dask_worker):
    dask_worker.status = status


def _open_file(path, inputs, communicator, records, on_record):
    if communicator.rank == 0:
        file = path.open("a")
        file.write("x")
        file.flush()
        return file
    return None


def _divide(a, b):
    return a // b
