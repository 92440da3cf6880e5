"""What a search for the number of rounds did, in the end."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spinney.model.model import Model
from spinney.training.callbacks import Callback, EarlyStopping, RoundInfo

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
        What the search went by; None where there was nothing to go by.
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
        What it went by.
    most : int
        Rounds that the model could have had.
    limit : str
        What says so.
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
    """A callback that keeps what the searches of a training did.

    Attributes
    ----------
    found : list of AutoRounds
        One for each model of a mean.
    """

    def __init__(self) -> None:
        self.found: list[AutoRounds] = []

    def __call__(self, info: RoundInfo) -> None:
        """Rounds say nothing of it."""

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
    """Warn, once, of searches that ended before they could say which round is best.

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
