"""What a case is given, and how contenders are compared."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.peers import Peer
from benchmarks.quality import Judge
from benchmarks.rows import Pair, Row
from benchmarks.settings import Options
from benchmarks.timing import Sample, Samples, best
from benchmarks.verdict import Target


@dataclass(frozen=True)
class Contender:
    """A library in one of its modes."""

    peer: Peer
    mode: str

    @property
    def label(self) -> str:
        """Return the library's name, and its mode where it has several."""
        return f"{self.peer.name} {self.mode}".strip()


@dataclass(frozen=True)
class Bench:
    """The options of this run, the libraries that take part, and where to say what happens."""

    options: Options
    ours: Peer | None
    peers: Sequence[Peer]
    say: Callable[[str], None]

    def libraries(self) -> list[Peer]:
        """Return ours, where it can be imported, and the peers."""
        return [*([] if self.ours is None else [self.ours]), *self.peers]

    def contenders(self) -> list[Contender]:
        """Return every library in every mode."""
        return [Contender(peer, mode) for peer in self.libraries() for mode in peer.modes]


@dataclass(frozen=True)
class Comparison:
    """Measured times and qualities by contender's label, to be turned into rows."""

    bench: Bench
    case: str
    samples: Samples
    qualities: Mapping[str, Mapping[str, float]]
    judge: Judge | None = None

    def rows(
        self, measure: str, targets: Mapping[str, Target], *, unit: str = "s", name: str = ""
    ) -> list[Row]:
        """Return one row for every peer that has the measure."""
        return [
            self._row(peer, measure, targets.get(peer.name), unit, name or measure)
            for peer in self.bench.peers
            if self._fastest(peer, measure) is not None
        ]

    def _row(self, peer: Peer, measure: str, target: Target | None, unit: str, name: str) -> Row:
        ours = None if self.bench.ours is None else self._fastest(self.bench.ours, measure)
        theirs = self._fastest(peer, measure)
        quality = self._quality(ours, theirs)
        samples = {}
        for side, label in (("ours", ours), ("theirs", theirs)):
            if label is not None:
                samples[side] = [sample[measure] for sample in self.samples[label]]
        return Row(
            case=self.case,
            measure=name,
            peer=theirs or peer.name,
            ours=self._best(ours, measure),
            theirs=self._best(theirs, measure),
            unit=unit,
            target=target,
            holds=self._equal(quality),
            quality=quality,
            samples=samples,
            note=peer.note,
        )

    def _fastest(self, peer: Peer, measure: str) -> str | None:
        """Return the label of the peer's fastest mode, or None where it has no such measure."""
        labels = [Contender(peer, mode).label for mode in peer.modes]
        times = {label: best(self.samples.get(label, []), measure) for label in labels}
        measured = {label: value for label, value in times.items() if value is not None}
        return min(measured, key=lambda label: measured[label]) if measured else None

    def _best(self, label: str | None, measure: str) -> float | None:
        return None if label is None else best(self.samples[label], measure)

    def _quality(self, ours: str | None, theirs: str | None) -> dict[str, Pair]:
        mine = self.qualities.get(ours or "", {})
        other = self.qualities.get(theirs or "", {})
        return {name: (mine.get(name), other.get(name)) for name in {**mine, **other}}

    def _equal(self, quality: Mapping[str, Pair]) -> bool | None:
        """Say whether our quality is as good as theirs; None where nobody judges."""
        if self.judge is None or self.judge.name not in quality:
            return None
        mine, other = quality[self.judge.name]
        return None if mine is None or other is None else self.judge.accepts(mine, other)


Run = Callable[[Bench, str], list[Row]]
Action = Callable[[], Sample]
Model = Any
