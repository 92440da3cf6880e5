"""Growing the trees that an estimator asks for: all at once, in steps that a progress bar shows, or on top of older ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.data import ForestTarget, Schema, Table
from spinney.errors import DataError, ParameterError
from spinney.model.forest import ForestModel
from spinney.model.leaf_rows import TrainingRowsByLeaf
from spinney.params import ForestConfig
from spinney.training.callbacks import ProgressBar, RoundInfo
from spinney.training.forest import train_forest
from spinney.tree import CompactForest

STEPS = 20  # in which a progress bar moves; each lays the table out anew


@dataclass(frozen=True, eq=False)
class EarlierForest:
    """A fitted forest that a fit adds trees to."""

    model: ForestModel

    def schema_for(self, table: Table) -> Schema:
        """The columns to bin the table by."""
        old = self.model.schema
        return old if old.names is not None else replace(old, names=table.names)

    def check(self, config: ForestConfig, target: ForestTarget) -> None:
        """Refuse rows and parameters with which a single fit would have made other trees."""
        if target.rows != self.model.rows or target.outputs != self.model.outputs:
            raise DataError(
                f"warm_start=True adds trees on the same rows: the fitted forest grew on {self.model.rows} rows and "
                f"{self.model.outputs} output(s), but these are {target.rows} and {target.outputs}"
            )
        old, new = self.model.config.to_dict(model_only=True), config.to_dict(model_only=True)
        for name, value in new.items():
            if old[name] != value:
                raise ParameterError(
                    f"{name}={value!r} differs from {old[name]!r}, with which the trees that warm_start=True keeps were grown; "
                    "leave it, or set warm_start=False"
                )


def grown(
    config: ForestConfig,
    data: BinnedData,
    target: ForestTarget,
    weight: NDArray[np.float64] | None,
    trees: int,
    past: EarlierForest | None,
    progress: bool,
) -> ForestModel:
    """Grow a forest of so many trees, those of the past included; it is the same in one step or in many."""
    parts = [] if past is None else [past.model]
    done = sum(part.forest.trees for part in parts)
    step = max(1, -(-(trees - done) // STEPS)) if progress else trees - done
    with progress_bar(progress, done, trees) as moved:
        while done < trees:
            more = min(step, trees - done)
            parts.append(
                train_forest(config, data, target, more, first=done, weight=weight, n_jobs=config.n_jobs)
            )
            done += more
            moved(done)
    return parts[0] if len(parts) == 1 else joined(parts)


def joined(parts: Sequence[ForestModel]) -> ForestModel:
    """The trees of several forests that were grown on the same rows, one after another."""
    last = parts[-1]
    rows: TrainingRowsByLeaf | None = parts[0].leaf_rows
    for part in parts[1:]:
        rows = None if rows is None or part.leaf_rows is None else rows.joined(part.leaf_rows)
    return ForestModel(
        CompactForest.concatenate([part.forest for part in parts]), last.config, last.schema, last.classes,
        last.outputs, last.rows, rows,
    )  # fmt: skip


@contextmanager
def progress_bar(progress: bool, start: int, trees: int) -> Iterator[Callable[[int], None]]:
    """Something that is told how many trees are done, and shows a bar where one is wanted."""
    if not progress:
        yield lambda done: None
        return
    with ProgressBar("growing") as bar:
        yield lambda done: bar(RoundInfo(done, trees, {}, start))
