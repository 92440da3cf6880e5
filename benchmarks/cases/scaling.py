"""How training time grows when the table doubles."""

from dataclasses import replace

from benchmarks.bench import Action, Bench, Contender
from benchmarks.cases.training import BIG
from benchmarks.generate import Floats, make_binary
from benchmarks.peers import Peer
from benchmarks.rows import Row
from benchmarks.timing import Sample, Samples, best, interleave, timed
from benchmarks.verdict import AtMost

ROWS, COLUMNS = 250_000, 28
GROWTH = AtMost(2.2, "x")


def run(bench: Bench, case: str) -> list[Row]:
    """Train on a table, on twice its rows and on twice its columns."""
    rows = bench.options.size(ROWS, 4_000)
    long = make_binary(2 * rows, COLUMNS)
    tables = {
        "base": (long[0][:rows], long[1][:rows]),
        "rows": long,
        "columns": make_binary(rows, 2 * COLUMNS),
    }
    actions = {
        f"{contender.label} {name}": _action(bench, contender, table)
        for name, table in tables.items()
        for contender in bench.contenders()
    }
    samples = interleave(actions, bench.options.times(5), bench.say)
    names = {"rows": f"rows {rows} → {2 * rows}", "columns": f"columns {COLUMNS} → {2 * COLUMNS}"}
    return [
        Row(
            case=case,
            measure=measure,
            peer=peer.name,
            ours=None if bench.ours is None else growth(samples, bench.ours, name),
            theirs=growth(samples, peer, name),
            unit="x",
            target=GROWTH,
        )
        for name, measure in names.items()
        for peer in bench.peers
    ]


def growth(samples: Samples, peer: Peer, name: str) -> float | None:
    """Return the best time on the doubled table over the best time on the base, over all modes."""
    times = []
    for table in (name, "base"):
        found = [best(samples.get(f"{Contender(peer, m).label} {table}", []), "train") for m in peer.modes]
        measured = [value for value in found if value is not None]
        if not measured:
            return None
        times.append(min(measured))
    return times[0] / times[1]


def _action(bench: Bench, contender: Contender, table: tuple[Floats, Floats]) -> Action:
    """Return what trains on the table; the library that bins while training has that in its time."""
    peer, mode = contender.peer, contender.mode
    settings = replace(BIG, rounds=bench.options.size(50, 3), threads=bench.options.threads)

    def action() -> Sample:
        dataset = peer.dataset(*table, settings, mode)
        return {"train": timed(lambda: peer.train(dataset, settings, mode))[1]}

    return action
