"""How AdaBoost weighs rows and trees."""

from dataclasses import dataclass

from spinney.params.choices import ADABOOST_LOSSES
from spinney.params.rows import INT32, param


@dataclass(frozen=True, kw_only=True)
class WeightFields:
    """How AdaBoost weighs rows and trees."""

    loss: str = param(
        "samme",
        group="objective",
        choices=ADABOOST_LOSSES,
        doc="What a mistake costs: samme counts wrong classes; for numbers the error over the largest one (linear), its square, "
        "or 1 - exp of minus it (exponential).",
    )
    learning_rate: float = param(
        1.0,
        group="objective",
        low=0,
        low_open=True,
        aliases=("eta", "shrinkage_rate"),
        doc="Factor on the weight of every tree, and so on the power with which its mistakes move the weights of rows.",
    )
    max_depth: int = param(
        1,
        group="growing a tree",
        low=0,
        high=INT32,
        also={-1: 0, None: 0},
        doc="Most splits on the way from the root to a leaf; 1 is a stump. 0 or None means no limit.",
    )
    resample: bool = param(
        False,
        group="sampling",
        doc="Whether each tree sees as many rows as there are, drawn with replacement by their weights. False shows it all "
        "rows, weighted.",
    )
