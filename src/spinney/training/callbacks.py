"""What can be called when a training starts and after every round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney.errors import ParameterError, ParameterTypeError
from spinney.messages import shown
from spinney.params.parameter import is_iterable

if TYPE_CHECKING:
    from spinney.model.model import Model
    from spinney.training.search import AutoRounds


@dataclass(frozen=True)
class RoundInfo:
    """What a callback is told.

    Attributes
    ----------
    round : int
        Rounds of the model so far, from 1.
    rounds : int
        Rounds that the model will have, those of `init_model` included.
    evals : mapping
        evals[data set][metric]: the values of this round.
    start : int, default=0
        Rounds of `init_model`, which the training goes on from.
    make : callable, optional
        Makes the model of the rounds so far.
    before : mapping
        The values of `init_model`, as `evals` has them; empty without one.
    """

    round: int
    rounds: int
    evals: Mapping[str, Mapping[str, float]]
    start: int = 0
    make: Callable[[], Model] | None = field(default=None, repr=False, compare=False)
    before: Mapping[str, Mapping[str, float]] = field(default_factory=dict, repr=False)

    @property
    def first(self) -> bool:
        """Whether this is the first round of its training."""
        return self.round == self.start + 1

    @cached_property
    def model(self) -> Model:
        """The model of the rounds so far, made when it is first asked for; later rounds do not change it.

        It has no best round: its predictions use all of its rounds.
        """
        if self.make is None:
            raise ParameterError(
                "this RoundInfo knows no model: it was copied, or made outside of a training"
            )
        return self.make()

    def __getstate__(self) -> dict[str, object]:
        """Copies and pickles go without the model."""
        kept = ("round", "rounds", "evals", "start", "before")
        return {name: getattr(self, name) for name in kept} | {"make": None}


Callback = Callable[[RoundInfo], object]
"""Called with a `RoundInfo` after each round; returning True ends the training.

If it has a method `begin(rounds)`, that is called when a training starts, with the number of rounds that the model will have, 0
included. If it has a method `end_search(auto)`, that is called with an `AutoRounds` when "auto" has found the number of rounds.
"""


# Libraries whose callbacks are called with something else than a `RoundInfo`.
_OTHERS = ("lightgbm", "xgboost", "catboost")


def checked_callbacks(callbacks: object) -> list[Callback]:
    """Callbacks as a list, each once, however often it was given.

    Raises
    ------
    ParameterTypeError
        If they are not a list of callables.

    Examples
    --------
    >>> history = History()
    >>> checked_callbacks([history, history])
    [History(evals={})]
    """
    if callbacks is None:
        return []
    found = list(callbacks) if is_iterable(callbacks) else None
    for callback in found or ():
        library = str(getattr(callback, "__module__", "")).partition(".")[0]
        if library in _OTHERS:
            raise ParameterTypeError(
                f"callbacks holds {shown(callback)}, which is made for {library}; here early_stopping_rounds is a parameter, "
                "History keeps metrics and LearningRateSchedule sets learning rates"
            )
    if found is None or not all(callable(callback) for callback in found):
        raise ParameterTypeError(f"callbacks must be a list of callables, got {shown(callbacks)}")
    return list({id(callback): callback for callback in found}.values())


def begin(callbacks: Iterable[Callback], rounds: int) -> None:
    """Tell callbacks that a training starts."""
    for callback in callbacks:
        told = getattr(callback, "begin", None)
        if callable(told):
            told(rounds)


def told(callbacks: Iterable[Callback], info: RoundInfo) -> bool:
    """Tell callbacks of a round; whether one of them ends the training."""
    answers = [callback(info) for callback in callbacks]
    return any(isinstance(answer, bool | np.bool_) and bool(answer) for answer in answers)


@dataclass
class History:
    """A callback that keeps every metric of every round. It starts anew with each training, also with one of no rounds.

    Attributes
    ----------
    evals : dict
        evals[data set][metric]: list with one value per round, those that "auto" tried and did not choose included.
    auto : AutoRounds or None
        What "auto" did; None where the number of rounds was given.

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
    auto: AutoRounds | None = field(default=None, repr=False)

    def begin(self, rounds: int) -> None:
        """Forget an earlier training."""
        # A new mapping, because somebody may have kept the earlier one.
        self.evals, self.auto = {}, None

    def end_search(self, auto: AutoRounds) -> None:
        """Keep what "auto" did."""
        self.auto = auto

    def __call__(self, info: RoundInfo) -> None:
        """Keep the values of a round."""
        if info.first:
            self.begin(info.rounds)  # a callback that calls this one may have no `begin`
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
        self._moved = False
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

    def begin(self, rounds: int) -> None:
        """Show a bar for a training, below those of earlier ones; none for a training of no rounds."""
        if rounds:
            self._task = self._progress.add_task(self._description, total=rounds, metrics="")
            self._moved = False

    def __call__(self, info: RoundInfo) -> None:
        """Move the bar by a round."""
        if self._task is None or (info.first and self._moved):
            self.begin(info.rounds)  # a callback that calls this one may have no `begin`
        self._moved = True
        shown = "  ".join(
            f"{name} {metric} {value:.5g}"
            for name, values in info.evals.items()
            for metric, value in values.items()
        )
        self._progress.update(self._task, completed=info.round, metrics=shown, refresh=not self._draws_itself)
