"""`python -m benchmarks [case ...]`: measure, show the table, write JSON. Never fails on a time.

`python -m benchmarks readme` runs the cases behind the README's table of speed and prints it as Markdown.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from benchmarks import readme, report
from benchmarks.bench import Bench
from benchmarks.peers import OURS, PEERS, Peer, load, load_all
from benchmarks.registry import CASES, Case
from benchmarks.rows import Row
from benchmarks.settings import Options

README = "readme"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen cases."""
    parser = make_parser()
    given = parser.parse_args(arguments)
    console = Console()
    if given.list:
        for case in CASES.values():
            console.print(f"[bold]{case.name}[/] {case.what}", highlight=False)
        return 0
    for_readme = README in given.cases
    if for_readme and len(given.cases) > 1:
        parser.error(f"{README!r} stands alone: it names its cases itself")
    options = Options(
        quick=given.quick,
        repeats=given.repeats,
        threads=given.threads,
        peers=None if for_readme else given.peers,
    )
    if for_readme:
        # What is to be pasted is alone on the standard output.
        rows = measure(readme.cases(given.peers), options, given.json, _teller(Console(stderr=True)))
        sys.stdout.write(readme.render(rows, report.environment(), options) + "\n")
        return 0
    chosen = [CASES[name] for name in given.cases or CASES]
    rows = measure(chosen, options, given.json, _teller(console))
    report.show(console, [row for case in rows.values() for row in case])
    return 0


def _teller(console: Console) -> Callable[[str], None]:
    return lambda text: console.print(text, style="dim", markup=False)


def measure(
    chosen: Sequence[Case], options: Options, path: Path | None, say: Callable[[str], None]
) -> dict[str, list[Row]]:
    """Run the cases one after another; what is measured is written at once, so a long run can be stopped."""
    wanted = {name for case in chosen for name in selected(case, options)}
    ours = load(OURS, say)
    peers = {peer.name: peer for peer in load_all([name for name in PEERS if name in wanted], say)}
    rows: dict[str, list[Row]] = {}
    for case in chosen:
        say(f"{case.name}: {case.what}")
        taking_part: list[Peer] = [peers[name] for name in selected(case, options) if name in peers]
        bench = Bench(options, ours, taking_part, lambda text: say(f"  {text}"))
        rows[case.name] = case.run(bench, case.name)
        finished = rows if path is not None else {case.name: rows[case.name]}
        report.write(finished, options, path)
    return rows


def selected(case: Case, options: Options) -> tuple[str, ...]:
    """Return the peers of a case: those asked for, else the case's own; a case without peers stays so."""
    return case.peers if options.peers is None or not case.peers else options.peers


def make_parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "cases",
        nargs="*",
        type=_case,
        metavar="case",
        help=f"which cases; all by default; {README!r}: those of the README's table, as Markdown",
    )
    parser.add_argument("--list", action="store_true", help="list the cases")
    parser.add_argument("--quick", action="store_true", help="a smoke test: small sizes, one repeat")
    parser.add_argument("--repeats", type=_positive, help="measurements of each; the best counts")
    parser.add_argument("--threads", type=_positive, default=2, help="threads of every library (2)")
    parser.add_argument("--peers", type=_peers, help=f"some of {','.join(PEERS)}")
    parser.add_argument("--json", type=Path, help="one file for all cases, instead of results/<case>.json")
    return parser


def _case(name: str) -> str:
    if name not in CASES and name != README:
        raise argparse.ArgumentTypeError(f"{name!r} is no case; the cases are {', '.join(CASES)}")
    return name


def _peers(text: str) -> tuple[str, ...]:
    names = tuple(name for name in text.split(",") if name)
    for name in names:
        if name not in PEERS:
            raise argparse.ArgumentTypeError(f"{name!r} is no peer; the peers are {', '.join(PEERS)}")
    return names


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, found {text!r}")
    return number


if __name__ == "__main__":
    sys.exit(main())
