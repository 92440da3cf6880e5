"""Progress bars for the steps of making a data set."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any


def _nothing(rows: int) -> None:
    """Show nothing."""


class StepProgress:
    """A bar for each reading of the rows, in a terminal or a notebook.

    Parameters
    ----------
    show : bool
        Whether there are any.
    """

    def __init__(self, show: bool) -> None:
        self._bars: Any = None
        if show:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._bars = Progress(
                TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("rows"), TimeRemainingColumn()
            )  # fmt: skip

    def __enter__(self) -> StepProgress:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def begin(self, title: str, rows: int | None) -> Callable[[int], None]:
        """Show a bar; gives what moves it by some rows. It appears with the first rows."""
        if self._bars is None:
            return _nothing
        task: list[Any] = []

        def advance(more: int) -> None:
            if not task:
                task.append(self._bars.add_task(title, total=rows))
            self._bars.advance(task[0], more)

        return advance
