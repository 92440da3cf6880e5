"""Losses.

Enters: scores and `Labels`. Leaves: gradients and hessians in a `Gradients` record; the constant score with the least loss;
predictions from scores. Must not depend on trees, data sets, metrics.

The declaration of a loss, which is all but its formula, is in `params/objectives.py`. `base` has the base class and the links,
`losses` and `survival` the forms of losses, whose formulas are in `kernels/`, and `custom` losses that users wrote. `targets`
checks targets, `starts` finds the scores to start from.
"""

from __future__ import annotations

from spinney.objectives.base import Objective
from spinney.objectives.custom import CustomObjective, Function
from spinney.objectives.losses import Listwise, OneVsRest, Pairwise, Pointwise, Softmax
from spinney.objectives.survival import Aft, Cox
from spinney.params import Config, objective_info

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
    """The objective of a configuration; a custom one is trained with the user's function.

    Examples
    --------
    >>> import numpy as np
    >>> get(Config(objective="log_loss")).link(np.array([0.0]))
    array([0.5])
    """
    info = objective_info(config.objective)
    if info.form == "own":
        return CustomObjective(info, config, function)
    return _FORMS[info.form](info, config)


__all__ = ["Function", "Objective", "get"]
