"""The arithmetic of ratios and verdicts; nothing here measures."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


def ratio(ours: float | None, theirs: float | None) -> float | None:
    """Return theirs / ours: how many times faster (or smaller) ours is; None where a side is missing."""
    if ours is None or theirs is None:
        return None
    if ours <= 0.0:
        raise ValueError(f"ours must be above 0 to form a ratio, found {ours}")
    return theirs / ours


def earns_its_place(ratios: Sequence[float], margin: float) -> bool:
    """Say whether something is faster by the margin at least once, and never slower by more than it."""
    return max(ratios) >= 1.0 + margin and min(ratios) >= 1.0 / (1.0 + margin)


@dataclass(frozen=True)
class AtLeast:
    """A ratio (theirs / ours) to reach, and one to dream of."""

    ratio: float
    stretch: float | None = None

    def __str__(self) -> str:
        text = f"≥ {self.ratio:g}x"
        return text if self.stretch is None else f"{text} (stretch {self.stretch:g}x)"

    def reached(self, ours: float | None, theirs: float | None) -> bool | None:
        """Say whether the ratio was reached; None where it could not be formed."""
        found = ratio(ours, theirs)
        return None if found is None else found >= self.ratio

    def stretched(self, ours: float | None, theirs: float | None) -> bool:
        """Say whether even the stretch goal was reached."""
        found = ratio(ours, theirs)
        return found is not None and self.stretch is not None and found >= self.stretch


@dataclass(frozen=True)
class AtMost:
    """A bound on ours alone, in the row's own unit."""

    bound: float
    unit: str = ""

    def __str__(self) -> str:
        return f"ours ≤ {self.bound:g} {self.unit}".rstrip()

    def reached(self, ours: float | None, theirs: float | None) -> bool | None:
        """Say whether ours keeps within the bound; None where it was not measured."""
        return None if ours is None else ours <= self.bound


@dataclass(frozen=True)
class AtMostTimes:
    """A bound on ours as a multiple of theirs."""

    factor: float

    def __str__(self) -> str:
        return f"ours ≤ {self.factor:g}x theirs"

    def reached(self, ours: float | None, theirs: float | None) -> bool | None:
        """Say whether ours is at most `factor` times theirs; None where a side is missing."""
        return None if ours is None or theirs is None else ours <= self.factor * theirs


@dataclass(frozen=True)
class Claim:
    """Something that holds or does not, without a bound on a number."""

    text: str

    def __str__(self) -> str:
        return self.text

    def reached(self, ours: float | None, theirs: float | None) -> bool | None:
        """Leave the answer to whether the claim holds."""
        return None


Target = AtLeast | AtMost | AtMostTimes | Claim


@dataclass(frozen=True)
class Paired:
    """Losses of two libraries on the same splits: ours minus theirs, so below zero is better."""

    mean: float
    deviation: float
    error: float

    @property
    def verdict(self) -> str:
        """Return `better`, `equal`, `within noise` or `worse`."""
        if self.mean <= 0.0:
            return "better" if self.mean < 0.0 else "equal"
        return "within noise" if self.mean <= 2.0 * self.error else "worse"

    @property
    def accepted(self) -> bool:
        """Say whether ours is no worse, or worse by no more than twice the standard error."""
        return self.verdict != "worse"


def paired(ours: Sequence[float], theirs: Sequence[float]) -> Paired:
    """Compare two libraries split by split."""
    if len(ours) != len(theirs) or not ours:
        raise ValueError(f"paired needs as many losses of each, found {len(ours)} and {len(theirs)}")
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    count = len(differences)
    mean = math.fsum(differences) / count
    if count == 1:
        return Paired(mean, 0.0, 0.0)
    variance = math.fsum((d - mean) ** 2 for d in differences) / (count - 1)
    return Paired(mean, math.sqrt(variance), math.sqrt(variance / count))
