"""How many threads: what the user asks for, else what the system lets this process have."""

import os
import sys

import pytest

import children
from spinney.errors import ParameterError
from spinney.jit import cores
from spinney.jit.cores import available_cores, most_for, threads_for


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine of 16 cores; returns a function that writes its control group files."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(cores, "MEMBERSHIP", tmp_path / "membership")
    monkeypatch.setattr(cores, "GROUPS", tmp_path / "groups")
    monkeypatch.setattr(cores, "THREADS_PER_CORE", 1)

    def write(membership="", **files):
        (tmp_path / "membership").write_text(membership)
        for name, text in files.items():
            file = tmp_path / "groups" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    return write


def test_without_limits_all_cores_are_available(machine):
    assert available_cores() == 16


def test_a_machine_that_knows_no_affinity_counts_its_cores(machine, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert available_cores() == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_cores() == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max 100000", 16),
        ("400000 100000", 4),
        ("350000 100000", 3),
        ("50000 100000", 1),
        ("6400000 100000", 16),
    ],
)
def test_the_quota_of_a_container_counts(machine, text, expected):
    machine("0::/\n", **{"cpu.max": text})
    assert available_cores() == expected


def test_the_smallest_quota_of_the_groups_around_counts(machine):
    machine(
        "0::/batch/job/step\n", **{"batch/job/cpu.max": "300000 100000", "batch/cpu.max": "500000 100000"}
    )
    assert available_cores() == 3


def test_a_group_that_the_container_cannot_see_falls_back_to_the_root(machine):
    machine("0::/docker/0123456789\n", **{"cpu.max": "200000 100000"})
    assert available_cores() == 2


@pytest.mark.parametrize("folder", ["cpu", "cpu,cpuacct"])
def test_the_older_control_groups_count_too(machine, folder):
    machine(
        "5:memory:/a\n3:cpu,cpuacct:/a/b\n0::/\n",
        **{f"{folder}/a/cpu.cfs_quota_us": "250000\n", f"{folder}/a/cpu.cfs_period_us": "50000\n"},
    )
    assert available_cores() == 5


def test_no_quota_is_minus_one_in_the_older_control_groups(machine):
    machine("3:cpu:/\n", **{"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"})
    assert available_cores() == 16


@pytest.mark.parametrize("text", ["", "nonsense", "1 0", "1 2 3", "a b"])
def test_files_that_make_no_sense_are_no_limit(machine, text):
    machine("0::/\n:::\nnonsense", **{"cpu.max": text})
    assert available_cores() == 16


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("3", 3), (" 4 ", 4), ("5,2", 5), ("64", 16), ("0", 16), ("-2", 16), ("many", 16), ("", 16)],
)
def test_omp_num_threads_is_a_cap(machine, monkeypatch, limit, expected):
    monkeypatch.setenv("OMP_NUM_THREADS", limit)
    assert available_cores() == expected


@pytest.mark.parametrize(
    ("n_jobs", "expected"), [(None, 16), (-1, 16), (-2, 15), (-16, 1), (-99, 1), (1, 1), (3, 3), (16, 16)]
)
def test_n_jobs_means_what_joblib_means_by_it(machine, n_jobs, expected):
    assert threads_for(n_jobs) == expected


def test_there_are_no_more_threads_than_cores(machine, monkeypatch):
    machine("0::/\n", **{"cpu.max": "400000 100000"})
    assert [threads_for(n_jobs) for n_jobs in (3, 4, 5, 20_000)] == [3, 4, 4, 4]


def test_a_number_of_threads_that_is_given_overrules_omp_num_threads(machine, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert [threads_for(n_jobs) for n_jobs in (None, 3, 20)] == [2, 3, 16]


@pytest.mark.parametrize(("most", "expected"), [(0, 1), (1, 1), (5, 5), (16, 16), (99, 16)])
def test_there_are_no_more_threads_than_have_something_to_do(machine, most, expected):
    assert {threads_for(n_jobs, most) for n_jobs in (None, -1, 16)} == {expected}


@pytest.mark.parametrize("n_jobs", [None, 1, 4, -1])
def test_the_system_is_not_asked_where_one_thread_has_everything_to_do(monkeypatch, n_jobs):
    for name in ("cpu_count", "sched_getaffinity"):
        monkeypatch.setattr(os, name, lambda *_: pytest.fail("the system was asked"), raising=False)
    assert threads_for(n_jobs, 1) == 1
    with pytest.raises(ParameterError, match="n_jobs = 0 has no meaning"):
        threads_for(0, 1)


def test_threads_grow_with_the_work_from_where_sharing_pays():
    assert [most_for(work, 80) for work in (0, 79, 80, 89, 90, 8_000)] == [1, 1, 8, 8, 9, 800]
    assert most_for(5, 0) == 5


@pytest.mark.parametrize(("left", "expected"), [(0, 1), (143, 1), (144, 2), (1_000, 7), (10_000, 16)])
def test_threads_take_half_of_a_limited_address_space(machine, monkeypatch, left, expected):
    monkeypatch.setattr(cores, "address_space", lambda: left * 2**20)
    assert threads_for(16) == expected


def test_the_address_space_that_is_left_is_the_limit_less_what_is_taken(monkeypatch, tmp_path):
    resource = pytest.importorskip("resource")
    (tmp_path / "statm").write_text("1000 40 30 2 0 20 0\n")
    monkeypatch.setattr(cores, "MEMORY", tmp_path / "statm")
    monkeypatch.setattr(resource, "getpagesize", lambda: 4096)
    found = []
    for limit in (resource.RLIM_INFINITY, 5_000_000, 4_000_000):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limit=limit: (limit, limit))
        found.append(cores.address_space())
    assert found == [sys.maxsize, 904_000, 0]
    monkeypatch.setattr(cores, "MEMORY", tmp_path / "nothing")
    assert cores.address_space() == sys.maxsize


def test_no_thread_at_all_is_an_error():
    with pytest.raises(ParameterError, match="n_jobs = 0"):
        threads_for(0)


TRAIN_BOUND = """
    import json, os, threading
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    import numpy as np
    import spinney as sp

    team = []
    X = np.random.default_rng(0).normal(size=(2_000, 50))
    dataset = sp.Dataset(X, X[:, 0])
    for n_jobs in (None, -1, 3):
        seen = lambda info: team.append(sum(t.name.startswith("spinney") for t in threading.enumerate()))
        sp.train({"n_jobs": n_jobs}, dataset, rounds=1, callbacks=[seen])
    print(json.dumps(team))
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no CPU affinity")
def test_a_process_bound_to_one_core_trains_on_one_thread():
    assert children.run(TRAIN_BOUND) == [0, 0, 0]
