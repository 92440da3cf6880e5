"""What is called when a training starts, after every round and after a search: callbacks, early stopping, learning rates.

What a search for the number of rounds did is an `AutoRounds`. Callbacks get it at the end of the search, estimators keep it as
`auto_`, and the caller of `train` or `fit` is warned of a search that ended at its cap (`warn_of_cap`), on a cluster, too.
"""

from __future__ import annotations

import math
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from spinney.errors import ParameterError, ParameterTypeError
from spinney.messages import shown
from spinney.metrics import MetricValue
from spinney.params import Config
from spinney.params.parameter import is_iterable
from spinney.user_functions import call_user_function

if TYPE_CHECKING:
    from spinney.model.boosted import Model


@dataclass(frozen=True)
class RoundInfo:
    """A round, as callbacks get it.

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
        """The model of the rounds so far, made at its first use; later rounds do not change it.

        It has no best round: its predictions use all of its rounds.
        """
        if self.make is None:
            raise ParameterError("this RoundInfo has no model: it was copied, or made outside of a training")
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
    """Call the method `begin` of callbacks that have one."""
    for callback in callbacks:
        method = getattr(callback, "begin", None)
        if callable(method):
            method(rounds)


class CallbackError(Exception):
    """A callback failed; the cause is what it raised."""


@contextmanager
def callback_failures() -> Iterator[None]:
    """Raise a `CallbackError` for whatever a callback raises: the client of ranks does not take it for the loss of a rank."""
    try:
        yield
    except BaseException as error:
        raise CallbackError from error


def notify(callbacks: Iterable[Callback], info: RoundInfo) -> bool:
    """Call callbacks with a round; whether one of them ends the training."""
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


class EarlyStopping:
    """Watches one metric. In going on from a model, its metric is the first that `update` takes, and the one to beat.

    Parameters
    ----------
    patience : int
        Rounds without improvement after which to stop.
    min_delta : float, default=0.0
        An improvement must be larger than this.
    flat : float, default=0.0
        Stop as well when each of the latest rounds, as many as `patience`, was an improvement, but all of them together gained
        less than this share of what was gained since the first round.

    Attributes
    ----------
    best_round : int
        The best one so far, from 1.
    best : MetricValue, optional
        The metric after it.
    ended : {"patience", "converged"}, optional
        Why it is time to stop: without improvement, or with `flat`.

    Examples
    --------
    >>> watch = EarlyStopping(2)
    >>> [watch.update(n + 1, MetricValue("mae", value, False)) for n, value in enumerate([3.0, 2.0, 2.0, 2.5])]
    [False, False, False, True]
    >>> watch.best_round, watch.best.value, watch.ended
    (2, 2.0, 'patience')
    """

    def __init__(self, patience: int, min_delta: float = 0.0, flat: float = 0.0) -> None:
        self._patience, self._min_delta, self._flat = patience, min_delta, flat
        self._first = self._best = math.inf
        self._recent: deque[float] = deque(
            maxlen=patience + 1
        )  # values of the latest rounds, each better than the one before
        self.best_round = 0
        self.best: MetricValue | None = None
        self.ended: str | None = None

    @classmethod
    def of(cls, config: Config) -> EarlyStopping | None:
        """What watches a training, if its parameters have early stopping."""
        patience = config.early_stopping_rounds
        return None if patience is None else cls(patience, config.min_delta)

    def update(self, done: int, metric: MetricValue) -> bool:
        """Take the metric after `done` rounds, a finite number; True when it is time to stop."""
        value = -metric.value if metric.higher_is_better else metric.value
        if self.best is None:
            self._first = value
        if value < self._best - self._min_delta:
            self._best = value
            self.best_round, self.best = done, metric
            self._recent.append(value)
        else:
            self._recent.clear()
        if done - self.best_round >= self._patience:
            self.ended = "patience"
        elif self._gained() < self._flat * (self._first - self._best):
            self.ended = "converged"
        return self.ended is not None

    def _gained(self) -> float:
        """What the latest rounds gained, as many as the patience; infinite unless each was an improvement."""
        return self._recent[0] - self._best if len(self._recent) > self._patience else math.inf


# Of a learning rate: below it floats lose their digits, and 1 / rate may be infinite.
SMALLEST_RATE = float(np.finfo(np.float64).tiny)


class LearningRateSchedule:
    """A callback that gives every round a learning rate of its own, in place of the parameter `learning_rate`.

    Parameters
    ----------
    rates : sequence of float, or callable
        The rates of the rounds, at least as many as the model will have; or a function that is called before each round with
        the rounds of the model so far, 0 at first, and gives the next one's rate. Both count rounds of `init_model`, so a
        training that goes on gives the trees of one at once.

    Examples
    --------
    >>> import numpy as np, spinney as sp
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> halving = sp.LearningRateSchedule(lambda done: 0.5**done)
    >>> model = sp.train({"max_leaves": 2}, sp.Dataset(X, X[:, 0]), rounds=3, callbacks=[halving])
    >>> halving.rate(3)
    0.125
    """

    def __init__(self, rates: Sequence[float] | Callable[[int], float]) -> None:
        self._function: Callable[[int], object] | None = None
        self._rates: list[float] = []
        if callable(rates):
            self._function = rates
        elif (isinstance(rates, Sequence) and not isinstance(rates, str | bytes)) or np.ndim(rates) == 1:
            self._rates = [checked_rate(rate, place) for place, rate in enumerate(rates, start=1)]
        else:
            raise ParameterTypeError(
                f"LearningRateSchedule takes a list of rates or a function, not {shown(rates)}"
            )

    def begin(self, rounds: int) -> None:
        """Refuse a list that is too short for a model of so many rounds."""
        if self._function is None and len(self._rates) < rounds:
            raise ParameterError(
                f"LearningRateSchedule lists too few rates, {len(self._rates)}: the model will have {rounds} rounds; give one "
                "for each, those of init_model included"
            )

    @property
    def listed(self) -> int | None:
        """How many rounds have a rate, None for any number."""
        return len(self._rates) if self._function is None else None

    def rate(self, done: int) -> float:
        """The learning rate of the round that follows on so many."""
        if self._function is None:
            return self._rates[done]
        rate = call_user_function(
            f"LearningRateSchedule, round {done + 1}: the function", self._function, done
        )
        return checked_rate(rate, done + 1)

    def __repr__(self) -> str:
        return f"LearningRateSchedule({shown(self._rates if self._function is None else self._function)})"

    def __call__(self, info: RoundInfo) -> None:
        """Do nothing: `rate` is called before a round."""


def checked_rate(rate: object, place: int) -> float:
    """A rate of a schedule, as a float that trees can be multiplied by.

    Examples
    --------
    >>> checked_rate(1, 3)
    1.0
    """
    try:
        found = Config.parameter("learning_rate").check(rate)
    except (ParameterError, ParameterTypeError) as error:
        raise type(error)(f"LearningRateSchedule, round {place}: {error}") from None
    assert isinstance(found, float)
    if found < SMALLEST_RATE:
        raise ParameterError(f"LearningRateSchedule, round {place}: {too_small(found)}")
    return found


def too_small(rate: float) -> str:
    """The message about a rate that floats cannot work with."""
    return (
        f"learning_rate = {rate:g} is too small: what a tree adds to the score would be lost; "
        f"give {SMALLEST_RATE:.3g} or more, mostly .01 to .3"
    )


def schedule_of(callbacks: Iterable[Callback]) -> LearningRateSchedule | None:
    """The schedule among callbacks, if there is one."""
    found = [callback for callback in callbacks if isinstance(callback, LearningRateSchedule)]
    if len(found) > 1:
        raise ParameterError(f"callbacks hold {len(found)} LearningRateSchedules; a training takes one")
    return found[0] if found else None


CAP = "max_rounds"  # why a search ended that may not have found the best round
NOTHING = "no hold-out"
REASONS = frozenset({"patience", "converged", CAP, "learning rates", "callback", NOTHING})


@dataclass(frozen=True)
class AutoRounds:
    """What a search for the number of rounds, "auto", did.

    Attributes
    ----------
    tried : int
        Rounds of the search, those after the best one and those of `init_model` included.
    chosen : int
        Rounds that the model predicts with, up to the best one.
    holdout_rows : int
        Training rows that were held out; 0 where validation data were given, or nothing was held out.
    metric : str or None
        What the search used; None where there was no metric.
    score : float or None
        The metric on the validation rows after `chosen` rounds of the search.
    refitted : bool
        Whether the model was then fitted to all rows anew, with `chosen` rounds.
    stopped_by : str
        Why the search ended. "patience": the metric did not get better any more. "converged": every round gained, but next to
        nothing. "max_rounds": there were no more rounds to try, so more may be better. "learning rates": a
        list of them had no more. "callback": one ended it. "no hold-out": there was no search, because there were few rows, no
        metric, or `init_model` without validation data; a fixed number of rounds was done.

    Examples
    --------
    >>> AutoRounds(193, 168, 1000, "log_loss", 0.312, True, "patience")
    AutoRounds(tried=193, chosen=168, holdout_rows=1000, metric='log_loss', score=0.312, refitted=True, stopped_by='patience')
    """

    tried: int
    chosen: int
    holdout_rows: int
    metric: str | None
    score: float | None
    refitted: bool
    stopped_by: str

    def __str__(self) -> str:
        """What it did, in a line.

        Examples
        --------
        >>> print(AutoRounds(193, 168, 1000, "log_loss", 0.31216, True, "patience"))
        168 rounds chosen of 193 tried by log_loss 0.3122 of 1000 rows held out, then refitted on all rows
        """
        if self.metric is None or self.score is None:
            return f"{self.chosen} rounds, which no rows were held out to choose"
        rows = f"{self.holdout_rows} rows held out" if self.holdout_rows else "the validation data"
        ended = "" if self.stopped_by == "patience" else f", ended by {self.stopped_by}"
        again = ", then refitted on all rows" if self.refitted else ""
        return f"{self.chosen} rounds chosen of {self.tried} tried by {self.metric} {self.score:.4g} of {rows}{ended}{again}"


def record_of(
    model: Model, stopping: EarlyStopping | None, most: int, limit: str, holdout_rows: int, refitted: bool
) -> AutoRounds:
    """What a search did.

    Parameters
    ----------
    model : Model
        That of the search, all rounds that were tried included.
    stopping : EarlyStopping, optional
        What it used.
    most : int
        Rounds that the model could have had.
    limit : str
        What limits them.
    holdout_rows : int
        Rows that were held out.
    refitted : bool
        Whether all rows are fitted again.
    """
    best = None if stopping is None else stopping.best
    why = limit if best is not None else NOTHING
    if stopping is not None and stopping.ended is not None:
        why = stopping.ended
    elif model.rounds < most:
        why = "callback"
    return AutoRounds(
        model.rounds,
        model.rounds_to_use(),
        holdout_rows,
        None if best is None else best.name,
        None if best is None else float(best.value),
        refitted,
        why,
    )


class SearchLog:
    """A callback that keeps what the searches of a training did, where the hooks of the driver are in another process.

    Attributes
    ----------
    found : list of AutoRounds
        One for each model of a mean.
    """

    def __init__(self) -> None:
        self.found: list[AutoRounds] = []

    def __call__(self, info: RoundInfo) -> None:
        """Nothing happens after a round."""

    def end_search(self, found: AutoRounds) -> None:
        """Keep what one did."""
        self.found = [*self.found, found]


def end_search(callbacks: Iterable[Callback], found: AutoRounds) -> None:
    """Call the method `end_search` of callbacks that have one."""
    for callback in callbacks:
        method = getattr(callback, "end_search", None)
        if callable(method):
            method(found)


def warn_of_cap(found: Sequence[AutoRounds], called: str, kind: type[Warning], stacklevel: int) -> None:
    """Warn, once, of searches that ended before the best round was certain.

    `called` is the user's name of the number of rounds; `stacklevel` counts from the caller of this function.
    """
    capped = [one for one in found if one.stopped_by == CAP]
    if capped:
        most, best = capped[0].tried, capped[0].chosen
        last = best == most
        which = "the last one is the best" if last else f"round {best} is the best so far"
        without = f"; {called}={most} does so many without a search" if last else ""
        warnings.warn(
            f"{called}='auto' ended at {most} rounds, the most that it may try, and {which}: more may be better. Set max_rounds= "
            f"to more, or a larger learning_rate={without}",
            kind,
            stacklevel=stacklevel + 1,
        )
