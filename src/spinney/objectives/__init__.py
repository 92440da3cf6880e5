"""Losses.

Enters: scores and `Labels`. Leaves: gradients and hessians in a `Gradients` record; the constant with the least loss;
predictions from scores. Must not know: trees, data sets, metrics.

What is known of a loss without its formula is its row in `params/objectives.py`. Its formula stands in `kernels/<name>.py`. A
user's function takes the place of both in `own.py`.
"""

from __future__ import annotations

from spinney.objectives.base import Objective
from spinney.objectives.one_vs_rest import OneVsRest
from spinney.objectives.own import Function, Own
from spinney.objectives.pointwise import Pointwise
from spinney.objectives.ranking import Listwise, Pairwise
from spinney.objectives.softmax import Softmax
from spinney.objectives.survival import Aft, Cox
from spinney.params import Config, objective_row

_FORMS: dict[str, type[Objective]] = {
    "pointwise": Pointwise,
    "softmax": Softmax,
    "one_vs_rest": OneVsRest,
    "pairs": Pairwise,
    "listwise": Listwise,
    "cox": Cox,
    "aft": Aft,
}


def get(config: Config, function: Function | None = None) -> Objective:
    """The objective that a configuration asks for; one of the user's own is trained with its function.

    Examples
    --------
    >>> import numpy as np
    >>> get(Config(objective="log_loss")).link(np.array([0.0]))
    array([0.5])
    """
    row = objective_row(config.objective)
    return Own(row, config, function) if row.form == "own" else _FORMS[row.form](row, config)


__all__ = ["Function", "Objective", "get"]
