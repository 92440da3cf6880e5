"""`python -m benchmarks.pages.defaults_plots`: draw the plot of docs/defaults.md; needs the extra `docs`.

The losses stand in accuracy.csv beside this file, one line for each table, split, setting and library. The tables are not part of
the project.
"""

import csv
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.pages.forest_plots import OTHER, PALE, STRONG, draw_all

LOSSES = Path(__file__).with_name("accuracy.csv")
SETTINGS = {"defaults": "at the defaults", "stopped": 'early stopping; spinney: preset="best"'}


class Standing(NamedTuple):
    """How a library did: its ranks, one for each split of each table, and its loss over the best one's, as a share."""

    ranks: list[int]
    over: float

    @property
    def mean(self) -> float:
        """Return the mean rank."""
        return float(np.mean(self.ranks))


def stored(setting: str, path: Path = LOSSES) -> Sequence[Mapping[str, float]]:
    """Return the losses by library, a mapping for each split of each table; those alone where all libraries were measured."""
    found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    with path.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            if line["setting"] == setting:
                found[line["table"], line["split"]][line["library"]] = float(line["loss"])
    most = max(map(len, found.values()))
    return [losses for losses in found.values() if len(losses) == most]


def standings(losses: Sequence[Mapping[str, float]]) -> dict[str, Standing]:
    """Return how each library did, the best mean rank first. Equal losses share the better rank."""
    ranks: dict[str, list[int]] = defaultdict(list)
    over: dict[str, list[float]] = defaultdict(list)
    for found in losses:
        best = min(found.values())
        for library, loss in found.items():
            ranks[library].append(1 + sum(other < loss for other in found.values()))
            over[library].append(math.log(loss / best))
    all_found = {name: Standing(ranks[name], math.expm1(float(np.mean(over[name])))) for name in ranks}
    return dict(sorted(all_found.items(), key=lambda item: item[1].mean))


def draw_ranks(plots: Any) -> Any:
    """Draw how often each library had each rank, with its mean rank."""
    figure, axes = plots.subplots(1, len(SETTINGS), figsize=(9.0, 2.4), layout="constrained")
    for place, (setting, title) in zip(axes, SETTINGS.items(), strict=True):
        found = standings(stored(setting))
        colours = _shades(len(found))
        for line, (name, standing) in enumerate(found.items()):
            begin = 0.0
            for rank, colour in enumerate(colours, start=1):
                share = standing.ranks.count(rank) / len(standing.ranks)
                place.barh(line, share, left=begin, color=colour, edgecolor="white", linewidth=0.5)
                begin += share
            place.text(
                1.02, line, f"{standing.mean:.2f}", va="center", fontweight="bold" if not line else None
            )
            place.text(-0.02, line, name, va="center", ha="right")
        place.set(xlim=(0, 1), yticks=[], xlabel="share of the tables", title=title)
        place.invert_yaxis()
        place.spines[["top", "right", "left"]].set_visible(False)
    labels = [plots.Rectangle((0, 0), 1, 1, color=colour) for colour in colours]
    figure.legend(
        labels,
        [f"rank {rank}" for rank in range(1, len(colours) + 1)],
        loc="outside lower center",
        ncols=5,
        frameon=False,
    )
    return figure


def _shades(count: int) -> list[str]:
    """Return colours from the best rank to the last."""
    return [STRONG, PALE, "#dddddd", "#e8b89c", OTHER][:count]


DRAWN: dict[str, Callable[[Any], Any]] = {"defaults-ranks.svg": draw_ranks}


if __name__ == "__main__":
    draw_all(DRAWN)
