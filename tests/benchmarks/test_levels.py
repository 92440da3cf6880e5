"""The comparison of CPU levels: its works, run small, and its verdict; nothing here is timed."""

import pytest

from benchmarks.bench import Bench
from benchmarks.cases import levels
from benchmarks.peers import OURS
from benchmarks.registry import CASES
from benchmarks.scripts.levels import prepare
from benchmarks.settings import Options
from benchmarks.verdict import earns_its_place
from spinney.jit import library


@pytest.mark.parametrize(
    ("ratios", "earned"),
    [
        ([1.05, 1.0, 0.96], True),
        ([1.5, 1.5], True),
        ([1.04, 1.04], False),
        ([1.0, 0.99], False),
        ([2.0, 0.94], False),
    ],
)
def test_a_level_must_be_faster_somewhere_and_slower_nowhere(ratios, earned):
    assert earns_its_place(ratios, 0.05) is earned


@pytest.mark.parametrize("work", levels.WORKS)
def test_a_work_gives_the_same_bytes_each_time(work):
    first, second = prepare(work, 300, 2), prepare(work, 300, 1)
    assert first() == first() == second()


@pytest.fixture(scope="module")
def measured():
    """Three levels, the top one slow at prediction, and every process that was started."""
    started = []

    def child(script, work, rows, threads, environment):
        level = environment["SPINNEY_KERNELS"]
        started.append((work, level, int(rows)))
        seconds = {"low": 3.0, "middle": 2.0, "top": 4.0 if "predict" in work else 2.0}[level]
        return {"seconds": seconds, "digest": f"{work} {level}" if work == "train, exact" else work}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library, "supported_levels", lambda: ("low", "middle", "top"))
        patch.setattr(levels, "run_child", child)
        rows = CASES["levels"].run(Bench(Options(repeats=2), OURS(), [], lambda text: None), "levels")
    return rows, started


@pytest.mark.slow
def test_a_level_is_compared_with_the_one_below_it(measured):
    rows, _ = measured
    assert len(rows) == 2 * (len(levels.WORKS) + 1)
    ratios = {row.measure: (row.peer, row.ratio) for row in rows}
    assert ratios["train, sparse: middle"] == ("spinney low", 1.5)
    assert ratios["predict, 31 leaves: top"] == ("spinney middle", 0.5)


@pytest.mark.slow
def test_the_verdict_says_which_levels_have_a_place_in_the_wheel(measured):
    rows, _ = measured
    verdicts = {row.measure: (row.reached, row.facts) for row in rows if row.target is not None}
    assert verdicts == {
        "middle has a place in the wheel": (True, {"best": 1.5, "worst": 1.5}),
        "top has a place in the wheel": (False, {"best": 1.0, "worst": 0.5}),
    }


def test_levels_that_give_other_bits_are_told(measured):
    rows, _ = measured
    told = {row.measure.partition(":")[0] for row in rows if row.facts.get("same bits") is False}
    assert told == {"train, exact"}


def test_levels_take_turns_after_a_small_run_of_each(measured):
    _, started = measured
    first = [(level, rows) for work, level, rows in started if work == "train, 31 leaves"]
    assert [level for level, _ in first] == ["low", "middle", "top"] * 2 + ["middle", "top", "low"]
    assert [rows for _, rows in first] == [levels.QUICK_ROWS] * 3 + [200_000] * 6


def test_a_cpu_of_one_level_has_nothing_to_compare(monkeypatch):
    said = []
    monkeypatch.setattr(library, "supported_levels", lambda: ("low",))
    assert levels.run(Bench(Options(), OURS(), [], said.append), "levels") == []
    assert "two levels" in said[0]
