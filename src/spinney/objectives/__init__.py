"""Losses: one small class each.

Enters: scores, target, weights. Leaves: gradients and hessians; the constant with the least loss; predictions from scores.
Must not know: trees, data sets, metrics. A new loss is one new file and one line in `_ALL`.
"""

from __future__ import annotations

from spinney.errors import ParameterError
from spinney.objectives.base import Objective
from spinney.objectives.log_loss import LogLoss
from spinney.objectives.softmax import Softmax
from spinney.objectives.squared_error import SquaredError

_ALL: dict[str, Objective] = {entry.name: entry for entry in (SquaredError(), LogLoss(), Softmax())}


def get(name: str) -> Objective:
    """The objective of a canonical name.

    Examples
    --------
    >>> import numpy as np
    >>> get("log_loss").link(np.array([0.0]))
    array([0.5])
    """
    try:
        return _ALL[name]
    except KeyError:
        raise ParameterError(f"objective = {name!r} is unknown; there are {', '.join(_ALL)}") from None


__all__ = ["Objective", "get"]
