"""Peak memory of a long training, each library in its own process, the raw array included."""

from pathlib import Path
from typing import Any

from benchmarks.bench import Action, Bench, Comparison, Contender
from benchmarks.cases.child import run_child
from benchmarks.cases.training import PLANS
from benchmarks.rows import Row
from benchmarks.timing import Sample, interleave
from benchmarks.verdict import AtMostTimes


def run(bench: Bench, case: str) -> list[Row]:
    """Measure every library's high-water mark."""
    if not Path("/proc/self/status").exists():
        bench.say(f"{case} is skipped: it reads VmHWM from /proc, which this system does not have")
        return []
    plan = PLANS["train-long"].sized(bench.options)
    sizes = [str(n) for n in (plan.rows, plan.columns, plan.settings.rounds, plan.settings.threads)]

    def action(contender: Contender) -> Action:
        def once() -> Sample:
            found: dict[str, Any] = run_child("memory", contender.peer.name, contender.mode, *sizes)
            return {"peak": float(found["peak"])}

        return once

    actions = {contender.label: action(contender) for contender in bench.contenders()}
    # Memory hardly varies between runs: one is enough.
    samples = interleave(actions, bench.options.times(1), bench.say)
    comparison = Comparison(bench, case, samples, {})
    return comparison.rows("peak", {"lightgbm": AtMostTimes(1.1)}, unit="MB", name="peak memory")
