"""The loss, and what only some losses take."""

from dataclasses import dataclass

from spinney.params.choices import LEAF_ESTIMATIONS, Spellings
from spinney.params.objectives import OBJECTIVES
from spinney.params.rows import INT32, param


@dataclass(frozen=True, kw_only=True)
class ObjectiveFields:
    """The loss, and what only some losses take."""

    objective: str = param(
        "squared_error",
        group="objective",
        choices=Spellings(OBJECTIVES),
        aliases=("objective_type", "app", "application", "loss"),
        doc="Loss; the guide has a table of them. squared_error for numbers, log_loss for two classes, softmax for more of "
        "them. `train` also takes a function here; `own` is the objective of its models.",
    )
    num_class: int = param(
        0,
        group="objective",
        low=0,
        high=INT32,
        aliases=("num_classes", "n_classes"),
        doc="Number of classes: 2 or more for softmax and one_vs_rest. For an objective of your own, the number of scores of a "
        "row. Other objectives leave it at 0 (1 is read as 0).",
    )
    num_target: int = param(
        1,
        group="objective",
        low=1,
        high=INT32,
        aliases=("num_targets", "n_targets"),
        doc="Columns of the target, each with a tree a round: for losses of numbers, for log_loss and focal (several labels a "
        "row), and for objectives of your own. `train` takes it from the data set where it is not given.",
    )
    scale_pos_weight: float = param(
        1.0,
        group="objective",
        low=0,
        low_open=True,
        doc="Weight of the rows of the positive class, for log_loss and focal only.",
    )
    base_score: float | None = param(
        None,
        group="objective",
        doc="Raw score that every row starts from: for log_loss the log-odds, not a probability as in "
        "XGBoost, for poisson, gamma, tweedie, cox and aft the logarithm. None takes the constant with the least loss, "
        "0 for cox and an objective of your own.",
    )
    quantile_alpha: float | tuple[float, ...] = param(
        0.5,
        group="objective",
        low=0,
        high=1,
        low_open=True,
        high_open=True,
        aliases=("quantile",),
        doc="Level of objective quantile: the share of rows that should lie below the prediction. Or several ascending "
        "levels, each with a tree a round; predictions then have a column for each level, and do not cross.",
    )
    expectile_alpha: float = param(
        0.5,
        group="objective",
        low=0,
        high=1,
        low_open=True,
        high_open=True,
        doc="Level of objective expectile: weight of squared errors where the target is above the prediction; below it they "
        "weigh 1 - expectile_alpha. 0.5 gives the mean.",
    )
    huber_delta: float = param(
        1.0,
        group="objective",
        low=1e-30,
        high=1e30,
        aliases=("huber_slope",),
        doc="Error up to which huber is quadratic, and about which pseudo_huber turns from quadratic to linear. The default is "
        "XGBoost's; LightGBM's, under the name alpha, is 0.9.",
    )
    fair_c: float = param(
        1.0,
        group="objective",
        low=1e-30,
        high=1e30,
        doc="Error about which objective fair turns from quadratic to nearly linear.",
    )
    poisson_max_delta_step: float = param(
        0.7,
        group="objective",
        low=0,
        high=10,
        doc="Objective poisson multiplies its hessians by e to the power of this, which keeps steps short while the mean is "
        "still far away. LightGBM's parameter; XGBoost's max_delta_step does the same and limits leaves too.",
    )
    tweedie_variance_power: float = param(
        1.5,
        group="objective",
        low=1,
        high=2,
        low_open=True,
        high_open=True,
        doc="Objective tweedie: the variance is proportional to the mean to this power. Near 1 it is Poisson-like, near 2 "
        "gamma-like.",
    )
    focal_gamma: float = param(
        2.0,
        group="objective",
        low=0,
        high=100,
        doc="Objective focal multiplies the log loss of a row by (1 - p) to this power, p being the probability of its class. 0 "
        "gives log_loss.",
    )
    focal_alpha: float | None = param(
        None,
        group="objective",
        low=0,
        high=1,
        low_open=True,
        high_open=True,
        doc="Factor on the focal loss of the positive class; the other class gets 1 - focal_alpha. None weighs both alike.",
    )
    leaf_estimation: str = param(
        "newton",
        group="objective",
        choices=LEAF_ESTIMATIONS,
        doc="How leaf values are found. newton: minus the sum of gradients over that of hessians; absolute_error, quantile and "
        "mape take quantiles of what is left of the target, huber searches. line_search: trees are fitted to gradients alone, "
        "and each leaf gets the value with the least loss.",
    )
