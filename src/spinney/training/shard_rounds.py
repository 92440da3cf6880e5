"""The rounds of a training on shards: rank 0 asks callbacks and early stopping, and spreads what follows from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from spinney.collective import Communicator
from spinney.errors import ParameterError
from spinney.metrics import MetricValue
from spinney.model.model import Model
from spinney.params import Config
from spinney.training.boosting import Boosting
from spinney.training.callbacks import Callback, RoundInfo, begin, told
from spinney.training.continuing import so_far
from spinney.training.early_stopping import EarlyStopping
from spinney.training.evaluation import last_set, values_of
from spinney.training.learning_rates import LearningRateSchedule
from spinney.training.search import AutoRounds, end_search
from spinney.tree import Tree

Evals = dict[str, list[MetricValue]]


@dataclass(frozen=True, eq=False)
class RoundRecord:
    """A finished round: what another run needs to go on behind it.

    Attributes
    ----------
    number : int
        Rounds of the model so far, those of `init_model` included.
    trees : list of Tree
        One for each output.
    evals : dict
        What the metrics say of each validation set.
    again : bool
        Whether all rows were fitted again, with as many rounds as were best without some.
    before : dict
        What they say of the model that the training goes on from, where there is one.
    """

    number: int
    trees: list[Tree]
    evals: Evals
    again: bool = False
    before: Evals = field(default_factory=dict)


class CallbackError(Exception):
    """A callback failed; the cause is what it raised."""


@contextmanager
def _failures_of_callbacks() -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        # They may raise anything, and whoever started the ranks tells it from losses.
        raise CallbackError from error


@dataclass(frozen=True, eq=False)
class Listening:
    """Who is told of rounds, and who decides about them.

    Attributes
    ----------
    callbacks : list of callables
        At rank 0; elsewhere none.
    rates : LearningRateSchedule, optional
        At rank 0: gives rounds learning rates of their own.
    stopping : EarlyStopping, optional
        What ends the training.
    best : int, optional
        The best round, where it is known without `stopping`.
    say : callable, optional
        Called at every rank with each new `RoundRecord`.
    """

    callbacks: list[Callback]
    rates: LearningRateSchedule | None
    stopping: EarlyStopping | None
    best: int | None = None
    say: Callable[[RoundRecord], object] | None = None

    def end_search(self, found: AutoRounds) -> None:
        """Tell callbacks of a search that has ended."""
        with _failures_of_callbacks():
            end_search(self.callbacks, found)


class Rounds:
    """The rounds of one training.

    Parameters
    ----------
    communicator : Communicator
        The other ranks.
    config : Config
        The parameters.
    has_metrics : bool
        Whether there are metrics.
    start, rounds : int
        Rounds before this training, and in it.
    listening : Listening
        Who hears of them.
    """

    def __init__(
        self,
        communicator: Communicator,
        config: Config,
        has_metrics: bool,
        start: int,
        rounds: int,
        listening: Listening,
    ) -> None:
        self._communicator, self._config, self._has_metrics, self._listening = (
            communicator,
            config,
            has_metrics,
            listening,
        )
        self._start, self._rounds, self._last = start, rounds, start + rounds
        self._stop = False
        self._before: Evals = {}
        self._rate = config.learning_rate

    def finish(self, boosting: Boosting, past: Sequence[RoundRecord]) -> Model:
        """Do the rounds that are left."""
        listening = self._listening
        with _failures_of_callbacks():
            begin(listening.callbacks, self._last)
        if past:
            self._before = past[0].before
        elif self._start and self._rounds:
            self._before = boosting.evaluate()
        if self._communicator.rank == 0 and listening.stopping is not None and self._before:
            listening.stopping.update(self._start, last_set(self._config, self._before, self._start))
        for one in past:
            self._hear(one.number, one.evals, boosting)
        # Where nobody is to be asked, nothing is spread after a round.
        asks = bool(listening.callbacks or listening.rates or (boosting.watches and self._has_metrics))
        asking = self._spread_flag(asks)
        self._before = self._tell(boosting.done, self._before)
        while not self._stop and boosting.done < self._last:
            outputs = len(boosting.parts[1])
            evals = boosting.round(self._rate)
            done = boosting.done
            if self._communicator.rank == 0:
                self._hear(done, evals, boosting)
            if asking:
                evals = self._tell(done, evals)
            if listening.say is not None:
                trees = boosting.parts[0][-outputs:]
                listening.say(RoundRecord(done, trees, evals, listening.best is not None, self._before))
        return boosting.model(boosting.done, self._best)

    def _hear(self, done: int, said: Evals, boosting: Boosting) -> None:
        """Tell callbacks and early stopping of a round, at rank 0."""
        if self._communicator.rank != 0:
            return
        listening = self._listening
        make = partial(so_far, done, *boosting.parts)
        before = values_of(self._before)
        with _failures_of_callbacks():
            info = RoundInfo(done, self._last, values_of(said), self._start, make, before)
            self._stop |= told(listening.callbacks, info)
        if listening.stopping is not None:
            self._stop |= listening.stopping.update(done, last_set(self._config, said, done))

    def _tell(self, done: int, evals: Evals) -> Evals:
        """Spread whether to stop, the best round, the next round's learning rate, and what metrics said; gives the last."""
        communicator, message, listening = self._communicator, None, self._listening
        if communicator.rank == 0:
            if listening.rates is not None and not self._stop and done < self._last:
                with _failures_of_callbacks():
                    self._rate = listening.rates.rate(done)
            best = listening.best
            if listening.stopping is not None and self._rounds:
                best = listening.stopping.best_round
            plain = {
                name: [[one.name, float(one.value), bool(one.higher_is_better)] for one in found]
                for name, found in evals.items()
            }
            text = json.dumps({"stop": self._stop, "best": best, "rate": self._rate, "evals": plain})
            message = np.frombuffer(text.encode(), np.uint8)
        heard = json.loads(communicator.broadcast(message).tobytes())
        self._stop, self._best, self._rate = heard["stop"], heard["best"], heard["rate"]
        return {name: [MetricValue(*one) for one in found] for name, found in heard["evals"].items()}

    def _spread_flag(self, flag: bool) -> bool:
        own = np.array([int(flag)]) if self._communicator.rank == 0 else None
        return bool(self._communicator.broadcast(own)[0])


def check_past(past: Sequence[RoundRecord], start: int, rounds: int, outputs: int) -> None:
    """Refuse rounds that are not the first ones of a training."""
    numbers = [one.number for one in past]
    if len(past) > rounds or numbers != list(range(start + 1, start + 1 + len(past))):
        raise ParameterError(
            f"past holds rounds {numbers} of a training of {rounds}; it must hold the first of them, from {start + 1} on"
        )
    if any(len(one.trees) != outputs for one in past):
        raise ParameterError(f"every round of past must hold {outputs} trees, one for each output")
