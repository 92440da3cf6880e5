"""One line of the report."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.verdict import AtLeast, Claim, Target, ratio

Pair = tuple[float | None, float | None]  # ours, theirs


@dataclass(frozen=True, kw_only=True)
class Row:
    """What was measured of ours and of one peer, and what was hoped for."""

    case: str
    measure: str
    peer: str
    ours: float | None = None
    theirs: float | None = None
    unit: str = "s"
    target: Target | None = None
    holds: bool | None = None  # what must be true beside the target's number, for example equal quality
    quality: Mapping[str, Pair] = field(default_factory=dict)
    facts: Mapping[str, float | str | bool] = field(default_factory=dict)
    samples: Mapping[str, Sequence[float]] = field(default_factory=dict)
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Return theirs / ours: bigger is better."""
        return ratio(self.ours, self.theirs)

    @property
    def reached(self) -> bool | None:
        """Say whether the target was reached; None where there is none or something was not measured."""
        if self.target is None:
            return None
        if isinstance(self.target, Claim):
            return self.holds
        found = self.target.reached(self.ours, self.theirs)
        return found if found is None or self.holds is None else found and self.holds

    @property
    def stretched(self) -> bool:
        """Say whether the stretch goal was reached too."""
        return (
            isinstance(self.target, AtLeast)
            and self.reached is True
            and self.target.stretched(self.ours, self.theirs)
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the row as plain values for JSON."""
        return {
            **asdict(self),
            "target": None if self.target is None else str(self.target),
            "quality": {name: {"ours": pair[0], "theirs": pair[1]} for name, pair in self.quality.items()},
            "ratio": self.ratio,
            "reached": self.reached,
            "stretched": self.stretched,
        }
