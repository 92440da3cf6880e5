"""Losses.

Enters: scores and `Labels`. Leaves: gradients and hessians in a `Gradients` record; the constant score with the least loss;
predictions from scores. Must not depend on trees, data sets, metrics.

The declaration of a loss, which is all but its formula, is in `params/objectives.py`. `base` has the base class, the links
and the checks of targets, `losses` and `survival` the forms of losses, whose formulas are in `kernels/`, and `custom` losses that
users wrote. `starts` finds the scores to start from.

Words: an *output* is a score of a row, with trees of its own: of a class, of a column of the target, or of a *level*, the share
of rows below a quantile.
"""

from __future__ import annotations

from spinney.objectives.base import Objective
from spinney.objectives.custom import Function
from spinney.objectives.losses import get

__all__ = ["Function", "Objective", "get"]
