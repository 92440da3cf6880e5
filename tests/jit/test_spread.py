"""Python functions on several threads: all results in order, the first error, and no thread left behind."""

import threading

import pytest

from spinney.jit.spread import spread


def test_results_come_in_the_order_of_the_items():
    for threads in (0, 1, 2, 5, 100):
        assert spread(lambda item: item * item, range(40), threads) == [item * item for item in range(40)]
    assert spread(str, [], 3) == []


def test_there_are_as_many_threads_as_asked_for_but_no_more_than_items():
    together = threading.Barrier(3)
    assert sorted(spread(lambda _: together.wait(), range(3), 3)) == [0, 1, 2]
    assert spread(lambda _: threading.active_count(), [0], 8) == [threading.active_count()]


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
    assert spread(lambda item: -item, range(20), 5) == [-item for item in range(20)]
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
        spread(work, range(1000), 3, stopped.set)
    assert sorted(begun) == [0, 1, 2]
    assert threading.active_count() == before


def test_an_interrupt_while_threads_start_stops_those_that_run(monkeypatch):
    start, before, stopped = threading.Thread.start, threading.active_count(), threading.Event()

    def interrupted(thread):
        start(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        spread(lambda item: stopped.wait(), range(4), 3, stopped.set)
    assert threading.active_count() == before
