"""Results that cases have written."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Found = Mapping[str, Any]


class ResultsMissingError(Exception):
    """Cases that have to be run before a page can be written."""

    def __init__(self, cases: Sequence[str]) -> None:
        super().__init__(f"run `python -m benchmarks {' '.join(cases)}` first")


@dataclass(frozen=True)
class Results:
    """A folder of results, one file for each case."""

    folder: Path

    def need(self, *cases: str) -> None:
        """Raise ResultsMissingError unless every case was measured in full."""
        missing = [case for case in cases if not self.rows(case)]
        if missing:
            raise ResultsMissingError(missing)

    def rows(self, case: str) -> Sequence[Found]:
        """Return the rows of a case; none where it was not measured, or only as a smoke test."""
        if not (self.folder / f"{case}.json").exists():
            return []
        found = self._read(case)
        rows: Sequence[Found] = [] if found["options"]["quick"] else found["rows"]
        return rows

    def row(self, case: str, measure: str, peer: str = "") -> Found:
        """Return the row of a measure; `peer` is how the peer's name begins."""
        for row in self.rows(case):
            if row["measure"] == measure and row["peer"].startswith(peer):
                return row
        raise ResultsMissingError([case])

    def environment(self, case: str) -> Found:
        """Return the machine and the versions that a case was measured with."""
        found: Found = self._read(case)["environment"]
        return found

    def threads(self, case: str) -> int:
        """Return how many threads a case was measured with."""
        return int(self._read(case)["options"]["threads"])

    def _read(self, case: str) -> Found:
        found: Found = json.loads((self.folder / f"{case}.json").read_text(encoding="utf-8"))
        return found
