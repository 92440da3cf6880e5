"""The README's table of speed, from one run of one version: `python -m benchmarks readme`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.pages.methods import table
from benchmarks.peers import BOOSTING
from benchmarks.registry import CASES, Case
from benchmarks.rows import Row
from benchmarks.settings import Options

BEGIN, END = (
    "<!-- speed: begin -->",
    "<!-- speed: end -->",
)  # what stands between them in the README is pasted
TITLES = {
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
    "catboost": "CatBoost",
    "sklearn": "scikit-learn",
    "chimeraboost": "ChimeraBoost",
}
PACKAGES = {"sklearn": "scikit-learn"}  # where a peer has another name in the environment
TRAIN, WHOLE = "train", "dataset + train"
INTRODUCTION = """{smoke}Measured by `python -m benchmarks readme` with spinney {version} on {cpu},
{threads} threads each, {runs}, equal settings; LightGBM is the faster of its row-wise and column-wise modes.
The other library's time over spinney's, so larger is better for spinney."""
MARKS = "¹²³⁴⁵⁶⁷⁸⁹"


@dataclass(frozen=True)
class Line:
    """A line of the table: its title, the case that measures it, and what is taken of that."""

    title: str
    case: str
    measures: tuple[str, ...] = (TRAIN,)


LINES = (
    Line("train, 500 000 × 28, 255 leaves, 255 bins, 100 rounds", "train-255"),
    Line("the same with 31 leaves", "train-31"),
    Line("train, 50 000 × 500, 255 leaves, 100 rounds", "train-wide"),
    Line("train, 5 000 000 × 28, 255 leaves, 20 rounds", "train-long"),
    Line("train, 100 000 × 50, 10 classes, 31 leaves, 100 rounds", "train-classes"),
    Line("make the data set, 500 000 × 28", "dataset", ("dataset",)),
    Line("whole fit through the estimator, 1 000 × 10, 100 rounds", "small-fit", ("fit",)),
    Line("predict 500 000 rows, 100 trees of 255 leaves", "predict", ("predict",)),
    Line("predict one row", "predict-one", ("one row",)),
    Line(
        "predict 200 000 sparse rows, 90 000 / 4 000 columns, 100 trees of 63 leaves, one thread",
        "predict-sparse",
        ("90 000 columns", "4 000 columns"),
    ),
    Line("predict one such row", "predict-sparse", ("one row, 90 000 columns", "one row, 4 000 columns")),
    Line("train, one-hot flights, 261 876 × 4 227 sparse, 255 leaves", "flights-peers", ("round",)),
    Line("make the data set of these flights", "flights-peers", ("dataset",)),
    Line("train, the same flights with categorical columns", "flights-categories", ("flights, round",)),
    Line("train, exact trees, 100 000 × 28, depth 6, 100 rounds", "exact"),
    Line("train, approximate trees, 500 000 × 28, depth 6, 20 rounds", "approx"),
    Line(
        "train, level by level, 500 000 × 28, depth 6 / depth 8, 100 rounds",
        "depthwise",
        ("train: depth 6", "train: depth 8"),
    ),
)


def cases(asked: Sequence[str] | None = None) -> list[Case]:
    """Return the cases behind the lines, each once, with those of its own peers that are asked for."""
    found = [CASES[name] for name in dict.fromkeys(line.case for line in LINES)]
    if asked is None:
        return found
    return [replace(case, peers=tuple(peer for peer in case.peers if peer in asked)) for case in found]


def render(rows: Mapping[str, Sequence[Row]], environment: Mapping[str, Any], options: Options) -> str:
    """Return the text between the README's two markers; peers and lines of which nothing was measured are left out."""
    found = Found({case: list(measured) for case, measured in rows.items()})
    peers = [peer for peer in BOOSTING if any(found.cell(line, peer) for line in LINES)]
    notes = found.notes(peers)
    versions = environment["versions"]
    heads = [
        heading(peer, versions, [MARKS[i] for i, (_, of) in enumerate(notes) if peer in of]) for peer in peers
    ]
    cells = {line.title: [found.cell(line, peer) for peer in peers] for line in LINES}
    text = [
        INTRODUCTION.format(
            smoke="A smoke test on tiny tables, not to be pasted. " if options.quick else "",
            version=versions["spinney"],
            cpu=environment["cpu"],
            threads=options.threads,
            runs="each measured once" if options.repeats == 1 else "best of several runs",
        ),
        table(["case", *heads], [[title, *line] for title, line in cells.items() if any(line)]),
        "\n".join(f"{mark} {note}" for mark, (note, _) in zip(MARKS, notes, strict=False)),
    ]
    return "\n\n".join(part for part in text if part)


def heading(peer: str, versions: Mapping[str, str | None], marks: Iterable[str]) -> str:
    """Return a peer's title with the first two numbers of its version and the marks of its notes."""
    version = ".".join((versions.get(PACKAGES.get(peer, peer)) or "").split(".")[:2])
    return " ".join(f"{TITLES[peer]} {version}".split()) + " ".join(marks)


def factor(ratio: float) -> str:
    """Return a ratio with the digits that matter."""
    digits = 2 if ratio < 10.0 else 1 if ratio < 100.0 else 0
    return f"{ratio:.{digits}f}x".removeprefix("0")


@dataclass(frozen=True)
class Found:
    """What was measured, by case."""

    rows: Mapping[str, Sequence[Row]]

    def row(self, case: str, measure: str, peer: str) -> Row | None:
        """Return the row of a peer in any of its modes, None where there is none with a ratio."""
        for row in self.rows.get(case, ()):
            if row.measure == measure and row.peer.split()[:1] == [peer] and row.ratio is not None:
                return row
        return None

    def cell(self, line: Line, peer: str) -> str:
        """Return the ratios of a line and a peer, nothing where none was measured."""
        found = [
            self.row(line.case, measure, peer) or self._whole(line.case, measure, peer)
            for measure in line.measures
        ]
        ratios = [row.ratio for row in found if row is not None and row.ratio is not None]
        return " / ".join(factor(ratio) for ratio in ratios) if len(ratios) == len(line.measures) else ""

    def _whole(self, case: str, measure: str, peer: str) -> Row | None:
        """Return, for a library that bins while it trains, the row of both together."""
        return self.row(case, WHOLE, peer) if measure == TRAIN else None

    def notes(self, peers: Sequence[str]) -> list[tuple[str, list[str]]]:
        """Return what a reader must know of some peers."""
        every = [(row.peer.split()[0], row) for rows in self.rows.values() for row in rows if row.peer]
        binning = {peer for peer, row in every if row.measure == WHOLE}
        binning -= {peer for peer, row in every if row.measure == TRAIN}
        notes = {
            "Bins while training, so training is compared with making the data set and training.": [
                peer for peer in peers if peer in binning
            ]
        }
        notes |= {f"Has {row.note}.": [peer] for peer, row in every if row.note and peer in peers}
        return [(note, of) for note, of in notes.items() if of]
