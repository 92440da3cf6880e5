"""Learning rates that change from round to round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from spinney.errors import ParameterError, ParameterTypeError
from spinney.messages import shown
from spinney.params import Config
from spinney.training.callbacks import Callback, RoundInfo
from spinney.user_functions import call_user_function

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
        """Do nothing: the rate is asked for before a round."""


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
    """What is said of a rate that floats cannot work with."""
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


def rate_of(config: Config, rates: LearningRateSchedule | None, done: int) -> float:
    """The learning rate of the round that follows on so many."""
    return config.learning_rate if rates is None else rates.rate(done)
