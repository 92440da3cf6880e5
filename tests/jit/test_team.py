"""The team: one failing thread frees the others, and nothing that interrupts it leaves a thread behind.

The same of Python functions on several threads.
"""

import signal
import threading

import numpy as np
import pytest

from spinney.errors import SpinneyError
from spinney.jit import barrier, library
from spinney.jit import team as team_module
from spinney.jit.library import runs_as_python
from spinney.jit.team import Team, parallel_map, run_alone
from spinney.objectives.kernels.links import sigmoid_all

several = pytest.mark.usefixtures("compiled")


@pytest.fixture
def compiled():
    if runs_as_python():
        pytest.skip("plain Python runs on one thread")


class Job:
    """Stands in for a bound kernel: calls a function with each thread's rank."""

    def __init__(self, function):
        self.function = function

    def machine_code(self, threads):
        return None

    def __call__(self, rank, size, sync):
        self.function(rank, size, sync)


def threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("spinney")]


def ranks(team):
    seen = []
    team.run(Job(lambda rank, size, sync: seen.append((rank, size))))
    return sorted(seen)


def wait_for_the_others(sync):
    """What a meeting does, in Python: wait until the team is told to give up."""
    while sync[barrier.ABORT] == 0:
        pass


@several
@pytest.mark.parametrize("size", [1, 2, 5])
def test_every_rank_runs_once(size):
    with Team(size) as team:
        assert team.size == size
        for _ in range(3):
            assert ranks(team) == [(rank, size) for rank in range(size)]
    assert threads() == []


@several
def test_the_threads_live_as_long_as_the_with_block():
    assert threads() == []
    with Team(4):
        assert len(threads()) == 3
        with Team(2):
            assert len(threads()) == 4
    assert threads() == []


def test_a_team_of_less_than_one_is_one():
    for size in (0, -3):
        with Team(size) as team:
            assert ranks(team) == [(0, 1)]


def test_plain_python_is_one_thread(monkeypatch):
    monkeypatch.setattr(library, "_runtime", library.Runtime("python"))
    with Team(8) as team:
        assert ranks(team) == [(0, 1)]


@several
@pytest.mark.parametrize("failing", [0, 1, 3])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failing_thread_frees_the_others_and_its_error_is_raised(failing, error):
    def work(rank, size, sync):
        if rank == failing:
            raise error("of one thread")
        wait_for_the_others(sync)

    with Team(4) as team:
        with pytest.raises(error, match="of one thread"):
            team.run(Job(work))
        assert ranks(team) == [(rank, 4) for rank in range(4)]
    assert threads() == []


@pytest.fixture
def interrupts():
    """Interrupts are raised, even where whoever started the tests ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@several
@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("size", [1, 3])
def test_a_run_apart_leaves_the_main_thread_free_for_an_interrupt(size):
    seen = []

    def work(rank, size, sync):
        seen.append((rank, threading.current_thread() is threading.main_thread()))
        if rank == 0:
            signal.raise_signal(signal.SIGINT)
        wait_for_the_others(sync)

    with Team(size) as team:
        with pytest.raises(KeyboardInterrupt):
            team.run_apart(Job(work))
        assert sorted(seen) == [(rank, False) for rank in range(size)]
        team.run_apart(Job(lambda rank, size, sync: seen.append(rank)))
        assert sorted(seen[size:]) == list(range(size))
    assert threads() == []


@pytest.mark.parametrize("size", [1, 3])
def test_what_fails_in_a_run_apart_is_raised(size):
    def fail(rank, size, sync):
        raise ValueError("apart")

    with Team(size) as team:
        with pytest.raises(ValueError, match="apart"):
            team.run_apart(Job(fail))
        assert len(ranks(team)) == team.size
    assert threads() == []


@several
def test_when_all_fail_one_error_is_raised_and_the_team_can_go_on():
    def fail(rank, size, sync):
        raise ValueError(f"of thread {rank}")

    with Team(3) as team:
        for _ in range(5):
            with pytest.raises(ValueError, match="of thread 0"):
                team.run(Job(fail))
        assert ranks(team) == [(0, 3), (1, 3), (2, 3)]


def test_an_error_on_one_thread_alone_is_raised():
    def fail(rank, size, sync):
        raise ValueError("alone")

    with Team(1) as team:
        with pytest.raises(ValueError, match="alone"):
            team.run(Job(fail))
        assert ranks(team) == [(0, 1)]
    with pytest.raises(ValueError, match="alone"):
        run_alone(Job(fail))


class Interrupted:
    """An inbox whose first job is followed, or preceded, by an interrupt."""

    def __init__(self, inbox, before):
        self.inbox, self.before, self.armed = inbox, before, True

    def get(self):
        return self.inbox.get()

    def put(self, order):
        if self.armed and self.before:
            self.armed = False
            raise KeyboardInterrupt
        self.inbox.put(order)
        if self.armed:
            self.armed = False
            raise KeyboardInterrupt


@several
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_an_interrupt_while_jobs_are_handed_out_leaves_nobody_waiting(before, which):
    with Team(4) as team:
        team._workers[which].inbox = Interrupted(team._workers[which].inbox, before)
        with pytest.raises(KeyboardInterrupt):
            team.run(Job(lambda rank, size, sync: wait_for_the_others(sync)))
        assert threads() == []
        assert ranks(team) == [(rank, 4) for rank in range(4)]
    assert threads() == []


@several
def test_what_an_interrupted_run_leaves_over_does_not_end_the_next_one():
    late = threading.Event()

    def work(rank, size, sync):
        if rank == 0:
            raise KeyboardInterrupt
        late.wait()

    with Team(2) as team:
        waiting = team._workers[0].thread
        threading.Thread(target=lambda: (wait_for_the_others(team.sync), late.set())).start()
        with pytest.raises(KeyboardInterrupt):
            team.run(Job(work))
        assert not waiting.is_alive()
        assert ranks(team) == [(0, 2), (1, 2)]


@several
def test_an_error_inside_the_with_block_ends_the_threads():
    with pytest.raises(RuntimeError, match="elsewhere"), Team(3):
        raise RuntimeError("elsewhere")
    assert threads() == []


@several
@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), MemoryError()])
def test_where_no_more_threads_are_to_be_had_the_team_is_smaller(monkeypatch, error):
    start = threading.Thread.start

    def grudging(thread):
        if thread.name == "spinney-3":
            raise error
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", grudging)
    with Team(8) as team:
        assert team.size == 3
        assert ranks(team) == [(0, 3), (1, 3), (2, 3)]
    assert threads() == []


@several
def test_a_thread_that_runs_though_its_start_failed_is_let_go(monkeypatch):
    start = threading.Thread.start

    def failing(thread):
        start(thread)
        if thread.name == "spinney-2":
            raise MemoryError

    monkeypatch.setattr(threading.Thread, "start", failing)
    with Team(4) as team:
        assert ranks(team) == [(0, 2), (1, 2)]
        for thread in threads():
            if thread.name == "spinney-2":
                thread.join()
    assert threads() == []


@several
def test_an_interrupt_while_the_threads_start_ends_those_that_run(monkeypatch):
    start = threading.Thread.start

    def interrupted(thread):
        start(thread)
        if thread.name == "spinney-2":
            raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Team(4).__enter__()
    assert threads() == []


def test_closing_twice_is_closing_once():
    team = Team(2)
    with team:
        pass
    team.close()
    assert threads() == []


@several
def test_a_job_keeps_its_arrays_alive():
    values, result = np.linspace(-3, 3, 1000), np.empty(1000)
    with Team(2) as team:
        job = sigmoid_all.bind(1000, values.copy(), result)
        team.run(job)
    np.testing.assert_allclose(result, 1 / (1 + np.exp(-values)), rtol=1e-15)


@pytest.fixture
def machine_code():
    """Kernels are called by their address."""
    if not library.has_machine_code():
        pytest.skip("kernels are not from a library")


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize("size", [2, 3, 9])
@pytest.mark.parametrize("looks", [0, 5, 100_000])
def test_threads_take_up_machine_code_whether_they_are_awake_or_asleep(monkeypatch, size, looks):
    monkeypatch.setattr(team_module, "LOOKS", looks)
    monkeypatch.setattr(team_module, "available_cores", lambda: size)
    values, result = np.linspace(-3, 3, 100 * size), np.zeros(100 * size)
    expected = 1 / (1 + np.exp(-values))
    with Team(size) as team:
        job = sigmoid_all.bind(len(values), values, result)
        for again in range(200):
            result[:] = 0
            team.run(job)
            np.testing.assert_allclose(result, expected, rtol=1e-15)
            if again % 50 == 0:  # by way of Python in between
                assert ranks(team) == [(rank, size) for rank in range(size)]
    assert threads() == []


@pytest.mark.usefixtures("machine_code")
def test_machine_code_that_fails_is_reported_and_the_team_can_go_on(monkeypatch):
    values, result = np.linspace(-3, 3, 1000), np.zeros(1000)
    with Team(2) as team:
        job = sigmoid_all.bind(1000, values, result)
        lead = team._lead

        def failing(rank, size, sync):
            lead(rank, size, sync)
            sync[barrier.FAILED] = 1

        team._lead = failing
        with pytest.raises(SpinneyError, match="kernel sigmoid_all failed"):
            team.run(job)
        team._lead = lead
        team.run(job)
    np.testing.assert_allclose(result, 1 / (1 + np.exp(-values)), rtol=1e-15)
    assert threads() == []


@pytest.mark.usefixtures("machine_code")
def test_an_interrupt_before_machine_code_is_announced_leaves_nobody_waiting():
    values, result = np.linspace(-3, 3, 1000), np.zeros(1000)

    def interrupted(rank, size, sync):
        raise KeyboardInterrupt

    with Team(3) as team:
        job = sigmoid_all.bind(1000, values, result)
        team.run(job)
        lead, team._lead = team._lead, interrupted
        with pytest.raises(KeyboardInterrupt):
            team.run(job)
        assert threads() == []
        team._lead, result[:] = lead, 0
        team.run(job)
    np.testing.assert_allclose(result, 1 / (1 + np.exp(-values)), rtol=1e-15)
    assert threads() == []


@pytest.mark.usefixtures("machine_code")
def test_code_that_is_not_yet_announced_is_not_taken_for_the_job_before(monkeypatch):
    """A thread that was called by way of Python looks for machine code while the next job is written and not yet announced."""
    monkeypatch.setattr(team_module, "LOOKS", 0)
    served, written = threading.Event(), threading.Event()
    with Team(2) as team:
        ranks(team)
        worker, lead = team._workers[0], team._lead
        while not worker.asleep:
            pass
        serve, noticed = worker._serve, []

        def late_serve(rank, size, sync):
            written.wait()
            before = int(sync[barrier.DONE])
            serve(rank, size, sync)
            if not served.is_set():
                noticed.append(int(sync[barrier.DONE]) - before)
            served.set()

        def late_lead(rank, size, sync):
            written.set()
            served.wait()
            lead(rank, size, sync)

        worker._serve, team._lead = late_serve, late_lead
        ranks(team)
        values, result = np.linspace(-3, 3, 1000), np.zeros(1000)
        team.run(sigmoid_all.bind(1000, values, result))
    assert noticed == [0]
    np.testing.assert_allclose(result, 1 / (1 + np.exp(-values)), rtol=1e-15)


def test_a_team_that_shrinks_to_one_thread_after_a_failure_runs_its_next_job(monkeypatch):
    seen = []

    def fail(rank, size, sync):
        raise ValueError("of one thread")

    with Team(2) as team:
        with pytest.raises(ValueError, match="of one thread"):
            team.run(Job(fail))
        monkeypatch.setattr(team_module, "start_all", lambda threads: 0)
        team.run(Job(lambda rank, size, sync: seen.append((rank, size, int(sync[barrier.ABORT])))))
    assert seen == [(0, 1, 0)]


def test_results_come_in_the_order_of_the_items():
    for threads in (0, 1, 2, 5, 100):
        assert parallel_map(lambda item: item * item, range(40), threads) == [
            item * item for item in range(40)
        ]
    assert parallel_map(str, [], 3) == []


def test_there_are_as_many_threads_as_asked_for_but_no_more_than_items():
    together = threading.Barrier(3)
    assert sorted(parallel_map(lambda _: together.wait(), range(3), 3)) == [0, 1, 2]
    assert parallel_map(lambda _: threading.active_count(), [0], 8) == [threading.active_count()]


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), MemoryError()])
@pytest.mark.parametrize("allowed", [0, 1])
def test_where_no_more_threads_are_to_be_had_there_are_fewer(monkeypatch, error, allowed):
    start, started = threading.Thread.start, []

    def grudging(thread):
        if len(started) == allowed:
            raise error
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", grudging)
    assert parallel_map(lambda item: -item, range(20), 5) == [-item for item in range(20)]
    assert len(started) == allowed


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_an_error_is_raised_after_the_others_were_stopped_and_nothing_else_is_begun(kind):
    before, begun, stopped = threading.active_count(), [], threading.Event()

    def work(item):
        begun.append(item)
        if item == 2:
            raise kind("of item 2")
        if item < 2:
            stopped.wait()

    with pytest.raises(kind, match="of item 2"):
        parallel_map(work, range(1000), 3, stopped.set)
    assert sorted(begun) == [0, 1, 2]
    assert threading.active_count() == before


def test_an_interrupt_while_threads_start_stops_those_that_run(monkeypatch):
    start, before, stopped = threading.Thread.start, threading.active_count(), threading.Event()

    def interrupted(thread):
        start(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        parallel_map(lambda item: stopped.wait(), range(4), 3, stopped.set)
    assert threading.active_count() == before
