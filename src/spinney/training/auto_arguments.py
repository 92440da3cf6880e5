"""What a user may say of a search for the number of rounds, and what contradicts each other in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from spinney.errors import ParameterError
from spinney.messages import shown
from spinney.metrics import Metric
from spinney.params import Config
from spinney.params.common import AUTO, FRACTION, MAX_ROUNDS, RATE_BUDGET
from spinney.params.objectives import OWN
from spinney.params.parameter import INT32
from spinney.training.holdout import Rows, checked_rows


@dataclass(frozen=True)
class Auto:
    """What a training is told that finds its number of rounds.

    Attributes
    ----------
    max_rounds : int, optional
        Most rounds. None: `RATE_BUDGET` over the learning rate.
    validation_fraction : float, optional
        Share of the rows to hold out.
    groups : array of shape (rows,), optional
        Rows of a group are held out together, and are not told of each other's target.
    name : str
        What the rows held out are called in what callbacks hear.
    later : tuple of int
        Seeds of trainings that follow on this one: that they can hold out rows is checked with it, if that is wished for.
    called : str
        What the user calls the number of rounds, for messages.
    validation : {"last"} or array, optional
        Which rows to hold out, see `checked_rows`; None for some at random.
    """

    max_rounds: int | None = None
    validation_fraction: float | None = None
    groups: object = None
    name: str = "validation_0"
    later: tuple[int, ...] = ()
    called: str = "rounds"
    validation: Rows = None

    def of_rows(self, rows: int) -> Auto:
        """The same for a table of so many rows, which are held out by a mask."""
        return replace(self, validation=checked_rows(self.validation, rows))

    @property
    def asks(self) -> bool:
        """Whether the user says which rows to hold out, if any are."""
        return self.groups is not None or self.validation is not None

    def most(self, config: Config, listed: int | None) -> int:
        """Most rounds; `listed` are those that have a learning rate of their own in a list."""
        found = listed
        if self.max_rounds is not None:
            found = self.max_rounds
        if found is None:
            found = round(min(RATE_BUDGET / config.learning_rate, INT32))
        return min(max(found, 1), INT32)

    def limit(self, listed: int | None) -> str:
        """What says how many rounds there may be at most."""
        return "max_rounds" if self.max_rounds is not None or listed is None else "learning rates"


def auto_of(
    rounds: object,
    max_rounds: object,
    validation_fraction: object,
    groups: object,
    validation: object = None,
) -> Auto | None:
    """What the arguments of a training say about finding the number of rounds; None where they give a number.

    Examples
    --------
    >>> auto_of("auto", 500, None, None)
    Auto(max_rounds=500, validation_fraction=None, groups=None, name='validation_0', later=(), called='rounds', validation=None)
    """
    if isinstance(rounds, Auto):
        return rounds
    if isinstance(rounds, str):
        if rounds != AUTO:
            raise ParameterError(f"rounds={shown(rounds)} is unknown: it must be a number, or {AUTO!r}")
        most = MAX_ROUNDS.check(max_rounds)
        share = FRACTION.check(validation_fraction)
        found = checked_rows(validation)
        check_share(share, found)
        return Auto(most, share, groups, validation=found)
    given = {
        "max_rounds": max_rounds,
        "validation_fraction": validation_fraction,
        "groups": groups,
        "validation": validation,
    }
    for name, value in given.items():
        if value is not None:
            raise ParameterError(
                f"{name} is for rounds={AUTO!r}, but rounds={shown(rounds)}; leave it out (`split` parts a data set)"
            )
    return None


def check_share(share: float | None, validation: Rows) -> None:
    """Refuse a share of the rows where they are named."""
    if share is not None and isinstance(validation, np.ndarray):
        raise ParameterError(
            f"validation_fraction={share} contradicts validation, which names the rows to hold out; give only one"
        )


def check_auto(auto: Auto, config: Config, watched: bool, metrics: Sequence[Metric], continued: bool) -> bool:
    """Refuse what contradicts each other, whatever the rows; gives whether the user wishes for rows to be held out."""
    check_has_metric(auto.called, config, metrics)
    wished = auto.validation_fraction is not None or config.early_stopping_rounds is not None
    wished |= auto.validation is not None
    if watched and metrics:
        given = ("validation_fraction", "groups", "validation")
        name = next((one for one in given if getattr(auto, one) is not None), None)
        if name is not None:
            raise ParameterError(
                f"{name} contradicts valid: there are validation data already, give only one"
            )
    elif wished and continued:
        raise ParameterError(
            f"{auto.called}={AUTO!r} cannot hold out rows that init_model may have seen: give validation data, or a number of "
            "rounds"
        )
    elif wished and not metrics:
        raise ParameterError(
            f"{auto.called}={AUTO!r} needs a metric to stop by, but eval_metric='none'; name one"
        )
    return wished


def check_has_metric(called: str, config: Config, metrics: Sequence[Metric]) -> None:
    """Refuse a custom objective without a metric, unless that is wished for; `called` is the name of the rounds."""
    if config.objective == OWN and not metrics and not config.eval_metric:
        raise ParameterError(
            f"{called}={AUTO!r} needs a metric to stop by, but an objective of your own has none: name one in eval_metric, give "
            "the objective an attribute `loss` that is a function, of the same arguments, which returns one number, or give a "
            "number of rounds"
        )
