"""The table of losses without their formulas, and their outputs: columns of the target, levels of a quantile, classes.

A new loss is one `ObjectiveInfo` here, and its formula in `objectives/kernels/`. It names the loss's link, the domain of its
target, the score to start from and how leaves get their values; functions of the first three are in `objectives/base.py` and
`objectives/starts.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from spinney.errors import ParameterError

if TYPE_CHECKING:
    from spinney.params.boosting import Config

Link = Literal["identity", "exp", "logistic", "softmax", "one_vs_rest"]
# What an objective predicts: numbers, numbers above 0, the probability of the second of two classes, those of all classes; scores
# that rank the rows of a query; hazards and times of survival.
Kind = Literal["numbers", "positive", "two", "many", "ranks", "hazards", "times"]
# The objective of a model whose loss was a function of the user's. It cannot be given by this name, only by the function.
OWN = "own"


@dataclass(frozen=True, kw_only=True)
class ObjectiveInfo:
    """A loss without its formula.

    Attributes
    ----------
    name : str
        Canonical name.
    spellings : tuple of str
        Other names, XGBoost's and LightGBM's among them.
    metric : str
        Name of its own metric, which is used where none is given.
    form : str
        How gradients are computed: row by row from one score by a formula, from the scores of all classes, from pairs of rows of
        a query or all of them, from all rows at risk, from the ends of intervals, or by a function of the user's.
    link : str
        What makes predictions of scores.
    kind : str, optional
        What it predicts, if that does not follow from its link.
    domain : str
        What a target may be: any number, above -1, 0 or more, above 0, 0 to 1, the number of a class, or a relevance; a time and
        an event, or the ends of an interval; what the function takes.
    start : str
        Where scores of a loss of one score start, the constant with the least loss: a mean, the log of one, the mean on the
        scale of log(1 + y), log-odds, a quantile, or wherever the sum of gradients is 0.
    parameters : tuple of str
        Parameters that only some objectives take, and this one does. Its formula gets their values in this order.
    leaf_values : str
        How the value of a leaf follows from its rows: minus the sum of gradients over that of hessians, a quantile of what is
        left of the target, or a search along the step.
    longest_step : float
        Largest absolute leaf value where max_delta_step is 0; 0 means no limit.
    weights : str
        What a weight means: how many rows a row counts for, or only how much it counts beside the others.
    """

    name: str
    spellings: tuple[str, ...] = ()
    metric: str
    form: Literal["pointwise", "softmax", "one_vs_rest", "pairs", "listwise", "cox", "aft", "own"] = (
        "pointwise"
    )
    link: Link = "identity"
    kind: Kind | None = None
    domain: Literal[
        "numbers",
        "above -1",
        "0 or more",
        "above 0",
        "shares",
        "classes",
        "relevance",
        "relevant",
        "events",
        "intervals",
        "anything",
    ] = "numbers"
    start: Literal["mean", "log_mean", "mean_log", "log_odds", "quantile", "root"] = "mean"
    parameters: tuple[str, ...] = ()
    leaf_values: Literal["newton", "quantile", "line_search"] = "newton"
    longest_step: float = 0.0
    weights: Literal["counts", "ratios"] = "counts"


# Parameters of losses that are sums over pairs of rows.
_PAIRS = ("lambdarank_truncation_level", "lambdarank_norm", "lambdarank_sigmoid")
_OBJECTIVES = (
    ObjectiveInfo(
        name="squared_error",
        spellings=(
            "regression",
            "reg:squarederror",
            "reg:linear",
            "l2",
            "mse",
            "regression_l2",
            "mean_squared_error",
            "l2_root",
            "rmse",
            "root_mean_squared_error",
        ),
        metric="rmse",
    ),
    ObjectiveInfo(
        name="squared_log_error",
        spellings=("reg:squaredlogerror", "msle", "mean_squared_log_error"),
        metric="rmsle",
        domain="above -1",
        start="mean_log",
    ),
    ObjectiveInfo(
        name="absolute_error",
        spellings=("reg:absoluteerror", "regression_l1", "l1", "mae", "mean_absolute_error"),
        metric="mae",
        start="quantile",
        leaf_values="quantile",
    ),
    ObjectiveInfo(
        name="huber",
        metric="huber",
        start="root",
        parameters=("huber_delta",),
        leaf_values="line_search",
    ),
    ObjectiveInfo(
        name="pseudo_huber",
        spellings=("reg:pseudohubererror", "pseudohuber"),
        metric="pseudo_huber",
        start="root",
        parameters=("huber_delta",),
    ),
    ObjectiveInfo(name="fair", metric="fair", start="root", parameters=("fair_c",)),
    ObjectiveInfo(
        name="quantile",
        spellings=("reg:quantileerror", "pinball"),
        metric="pinball",
        start="quantile",
        parameters=("quantile_alpha",),
        leaf_values="quantile",
    ),
    ObjectiveInfo(
        name="expectile",
        spellings=("reg:expectileerror",),
        metric="expectile",
        start="root",
        parameters=("expectile_alpha",),
    ),
    ObjectiveInfo(
        name="mape",
        spellings=("mean_absolute_percentage_error",),
        metric="mape_floored",
        start="quantile",
        leaf_values="quantile",
    ),
    ObjectiveInfo(
        name="poisson",
        spellings=("count:poisson",),
        metric="poisson_deviance",
        link="exp",
        domain="0 or more",
        start="log_mean",
        parameters=("poisson_max_delta_step",),
    ),
    ObjectiveInfo(
        name="gamma",
        spellings=("reg:gamma",),
        metric="gamma_deviance",
        link="exp",
        domain="above 0",
        start="log_mean",
    ),
    ObjectiveInfo(
        name="tweedie",
        spellings=("reg:tweedie",),
        metric="tweedie_deviance",
        link="exp",
        domain="0 or more",
        start="log_mean",
        parameters=("tweedie_variance_power",),
    ),
    ObjectiveInfo(
        name="log_loss",
        spellings=("binary", "binary:logistic", "logistic", "reg:logistic", "cross_entropy", "xentropy"),
        metric="logloss",
        link="logistic",
        domain="shares",
        start="log_odds",
        parameters=("scale_pos_weight",),
    ),
    ObjectiveInfo(
        name="focal",
        spellings=("focal_loss",),
        metric="focal",
        link="logistic",
        domain="shares",
        start="root",
        parameters=("focal_gamma", "focal_alpha", "scale_pos_weight"),
    ),
    ObjectiveInfo(
        name="softmax",
        spellings=("multiclass", "multi:softprob", "multi:softmax"),
        metric="mlogloss",
        form="softmax",
        link="softmax",
        domain="classes",
        parameters=("num_class",),
    ),
    ObjectiveInfo(
        name="one_vs_rest",
        spellings=("multiclassova", "multiclass_ova", "ova", "ovr"),
        metric="mlogloss",
        form="one_vs_rest",
        link="one_vs_rest",
        domain="classes",
        parameters=("num_class",),
    ),
    ObjectiveInfo(
        name="rank_ndcg",
        spellings=("rank:ndcg", "lambdarank", "lambdamart"),
        metric="ndcg",
        form="pairs",
        kind="ranks",
        domain="relevance",
        parameters=(*_PAIRS, "label_gain"),
    ),
    ObjectiveInfo(
        name="rank_map",
        spellings=("rank:map",),
        metric="map",
        form="pairs",
        kind="ranks",
        domain="relevant",
        parameters=_PAIRS,
    ),
    ObjectiveInfo(
        name="rank_pairwise",
        spellings=("rank:pairwise", "pairwise", "ranknet"),
        metric="ndcg",
        form="pairs",
        kind="ranks",
        domain="relevance",
        parameters=(*_PAIRS, "label_gain"),
    ),
    ObjectiveInfo(
        name="rank_xendcg",
        spellings=("xendcg", "xe_ndcg", "xe_ndcg_mart", "xendcg_mart"),
        metric="ndcg",
        form="listwise",
        kind="ranks",
        domain="relevance",
        parameters=("label_gain",),
    ),
    ObjectiveInfo(
        name="cox",
        spellings=("survival:cox",),
        metric="cox_nloglik",
        form="cox",
        link="exp",
        kind="hazards",
        domain="events",
        # The Newton step of rows without an event is -1 at the least. That of early events whose hazard was thought small is
        # their number over almost nothing, which ends in scores of 25 000. The limit costs no concordance: of rows held out of
        # four generated tables, twelve seeds, it is -0.001 +- 0.002 to +0.005 +- 0.004 above that without a limit.
        longest_step=1.0,
        weights="ratios",
    ),
    ObjectiveInfo(
        name="aft",
        spellings=("survival:aft",),
        metric="aft_nloglik",
        form="aft",
        link="exp",
        kind="times",
        domain="intervals",
        parameters=("aft_loss_distribution", "aft_loss_distribution_scale"),
        # Far from a time the logistic and the extreme distribution have almost no curvature: without penalties scores of 1e16
        # follow. Concordance of held-out rows with limits of 1, 2, 5, 15 and none, five seeds, logarithms of times of standard
        # deviation 6, normal distribution: 0.924, 0.940, 0.942, 0.941, 0.941.
        longest_step=5.0,
    ),
    ObjectiveInfo(name=OWN, metric="none", form="own", domain="anything", parameters=("num_class",)),
)
OBJECTIVES: dict[str, ObjectiveInfo] = {one.name: one for one in _OBJECTIVES}
# Parameters that only some objectives take; the others leave them at their defaults.
SPECIFIC = tuple(dict.fromkeys(name for one in _OBJECTIVES for name in one.parameters if name != "num_class"))


def objective_info(name: str) -> ObjectiveInfo:
    """The loss of a canonical name."""
    if name not in OBJECTIVES:
        raise ParameterError(f"objective = {name!r} is unknown; there are {', '.join(OBJECTIVES)}")
    return OBJECTIVES[name]


def objectives_taking(parameter: str) -> str:
    """The objectives that take a parameter, in words.

    Examples
    --------
    >>> objectives_taking("huber_delta")
    "'huber' or 'pseudo_huber'"
    """
    return " or ".join(repr(one.name) for one in OBJECTIVES.values() if parameter in one.parameters)


def takes_targets(objective: str) -> bool:
    """Whether a target may have several columns, each with a tree a round.

    Examples
    --------
    >>> takes_targets("squared_error"), takes_targets("softmax")
    (True, False)
    """
    loss = objective_info(objective)
    return loss.form in ("pointwise", "own") and loss.kind is None


def levels_of(config: Config) -> tuple[float, ...]:
    """The levels of quantiles."""
    level = config.quantile_alpha
    return level if isinstance(level, tuple) else (level,)


def outputs_of(config: Config) -> int:
    """Scores of a row: one for each class, column of the target or level of a quantile.

    Examples
    --------
    >>> from spinney.params import Config
    >>> outputs_of(Config(num_target=3)), outputs_of(Config(objective="quantile", quantile_alpha=[0.1, 0.9]))
    (3, 2)
    """
    return config.num_class if config.num_class > 1 else max(config.num_target, len(levels_of(config)))


def is_by_output(config: Config) -> bool:
    """Whether each output is a prediction of its own, and not the score of a class."""
    return config.num_target > 1 or len(levels_of(config)) > 1


def link_of(config: Config) -> str:
    """What makes predictions of scores: that of the objective, but levels of a quantile are sorted."""
    return "sorted" if len(levels_of(config)) > 1 else objective_info(config.objective).link


def values_by_output(config: Config, names: Iterable[str]) -> list[list[Any]]:
    """Values of some parameters for each output.

    Examples
    --------
    >>> from spinney.params import Config
    >>> values_by_output(Config(objective="quantile", quantile_alpha=[0.1, 0.9]), ["quantile_alpha", "fair_c"])
    [[0.1, 1.0], [0.9, 1.0]]
    """
    values = [getattr(config, name) for name in names]
    return [
        [value[output] if isinstance(value, tuple) else value for value in values]
        for output in range(outputs_of(config))
    ]


def check_outputs(config: Config) -> None:
    """Refuse several outputs that an objective cannot have, or that contradict each other.

    Raises
    ------
    ParameterError
        Naming the parameters.
    """
    objective, targets, level = config.objective, config.num_target, config.quantile_alpha
    if targets > 1 and not takes_targets(objective):
        raise ParameterError(
            f"num_target={targets} contradicts objective={objective!r}, which is for y of one column; leave it at 1, and "
            "train a model for each column"
        )
    if not isinstance(level, tuple):
        return
    if objective != "quantile":
        raise ParameterError(
            f"quantile_alpha={list(level)!r} needs objective='quantile', but objective={objective!r}; give one level"
        )
    if targets > 1:
        raise ParameterError(
            f"quantile_alpha={list(level)!r} has several levels and num_target={targets}: levels take y of one column; give one "
            "level, or train a model for each column"
        )
