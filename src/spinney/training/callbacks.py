"""What can be called after every round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class RoundInfo:
    """What a callback is told.

    Attributes
    ----------
    round : int
        Rounds done so far, from 1.
    rounds : int
        Rounds asked for.
    evals : mapping
        evals[data set][metric]: the values of this round.
    """

    round: int
    rounds: int
    evals: Mapping[str, Mapping[str, float]]


Callback = Callable[[RoundInfo], object]
"""Called with a `RoundInfo` after each round; returning True ends the training."""


@dataclass
class History:
    """A callback that keeps every metric of every round. With the first round of another training it starts anew.

    Attributes
    ----------
    evals : dict
        evals[data set][metric]: list with one value per round.

    Examples
    --------
    >>> import numpy as np, spinney as sp
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> ds = sp.Dataset(X, X[:, 0])
    >>> history = sp.History()
    >>> model = sp.train({}, ds, rounds=3, valid={"train": ds}, callbacks=[history])
    >>> len(history.evals["train"]["rmse"])
    3
    """

    evals: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    def __call__(self, info: RoundInfo) -> None:
        """Keep the values of a round."""
        if info.round == 1:
            # A new mapping, because somebody may have kept the one of an earlier training.
            self.evals = {}
        for name, values in info.evals.items():
            for metric, value in values.items():
                self.evals.setdefault(name, {}).setdefault(metric, []).append(value)


class ProgressBar:
    """A callback that shows a progress bar with the latest metrics, in a terminal or a notebook.

    Use it in a `with` block, or let `train(..., progress=True)` make one.
    """

    def __init__(self, description: str = "training") -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.table import Column

        self._description = description
        # Cut off where the terminal ends: the usual dots are a character that some cannot show.
        cut = Column(no_wrap=True, overflow="crop")
        self._progress = Progress(
            TextColumn("{task.description}", table_column=cut),
            BarColumn(),
            MofNCompleteColumn(table_column=cut),
            TimeRemainingColumn(table_column=cut),
            TextColumn("{task.fields[metrics]}", table_column=cut),
        )
        self._task: Any = None
        self._draws_itself = True

    def __enter__(self) -> ProgressBar:
        try:
            self._progress.start()
        except (RuntimeError, MemoryError):
            self._draws_itself = False  # no thread is to be had that would draw the bar: each round does
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def __call__(self, info: RoundInfo) -> None:
        """Move the bar by a round; another training gets a bar of its own below."""
        if info.round == 1 or self._task is None:
            self._task = self._progress.add_task(self._description, total=info.rounds, metrics="")
        shown = "  ".join(
            f"{name} {metric} {value:.5g}"
            for name, values in info.evals.items()
            for metric, value in values.items()
        )
        self._progress.update(self._task, completed=info.round, metrics=shown, refresh=not self._draws_itself)
