"""The parameters of AdaBoost, which boosts by the weights of rows: `AdaBoostConfig`."""

from __future__ import annotations

from dataclasses import dataclass

from spinney.params.common import BinParameters, RunningParameters, TableParameters
from spinney.params.forest import ForestConfig
from spinney.params.parameter import INT32, Bool, Choice, Float, Int
from spinney.params.parameter_set import ParameterSet

SAMME = "samme"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WeightParameters(ParameterSet):
    """How AdaBoost weighs rows and trees."""

    loss: str = Choice(
        "samme",
        group="objective",
        choices={
            "samme": (),
            "linear": (),
            "square": (),
            "exponential": (),
        },
        doc="What a mistake costs: samme counts wrong classes; for numbers the error over the largest one (linear), its square, "
        "or 1 - exp of minus it (exponential).",
    )
    learning_rate: float = Float(
        1.0,
        group="objective",
        low=0,
        low_open=True,
        aliases=("eta", "shrinkage_rate"),
        doc="Factor on the weight of every tree, and so on the power with which its mistakes move the weights of rows.",
    )
    max_depth: int = Int(
        1,
        group="growing a tree",
        low=0,
        high=INT32,
        also={-1: 0, None: 0},
        doc="Most splits on the way from the root to a leaf; 1 is a stump. 0 or None means no limit.",
    )
    resample: bool = Bool(
        False,
        group="sampling",
        doc="Whether each tree sees as many rows as there are, drawn with replacement by their weights. False shows it all "
        "rows, weighted.",
    )


@dataclass(frozen=True, kw_only=True)
class AdaBoostConfig(
    # Fields of bases stand in the opposite order: the last base has the first ones.
    RunningParameters,
    TableParameters,
    BinParameters,
    WeightParameters,
):
    """Every hyper-parameter of AdaBoost under its canonical name, checked. An `AdaBoostConfig` that exists is valid.

    Raises
    ------
    ParameterError
        If a value is out of range.
    ParameterTypeError
        If a value is of the wrong type.

    Examples
    --------
    >>> config = AdaBoostConfig(loss="square", max_depth=None)
    >>> config.of_classes, config.max_depth
    (False, 0)
    """

    @property
    def of_classes(self) -> bool:
        """Whether the loss is that of classes."""
        return self.loss == SAMME

    def of_trees(self) -> ForestConfig:
        """The parameters of one tree: all rows and all columns, weighted."""
        return ForestConfig(
            criterion="gini" if self.of_classes else "squared_error",
            max_depth=self.max_depth,
            bootstrap=False,
            max_bin=self.max_bin,
            absent=self.absent,
            unseen=self.unseen,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
