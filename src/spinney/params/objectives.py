"""What is known of losses without their formulas: a row each.

A new loss is one row here, and its formula in a file of its own: `objectives/kernels/<name>.py`.
"""

from dataclasses import dataclass
from typing import Literal

from spinney.errors import ParameterError

Link = Literal["identity", "exp", "logistic", "softmax", "one_vs_rest"]
# What an objective predicts: numbers, numbers above 0, the probability of the second of two classes, those of all classes; scores
# that rank the rows of a query; hazards and times of survival.
Kind = Literal["numbers", "positive", "two", "many", "ranks", "hazards", "times"]
# The objective of a model whose loss was a function of the user's. Nobody can name it: it is trained by giving the function.
OWN = "own"


@dataclass(frozen=True, kw_only=True)
class ObjectiveRow:
    """A loss."""

    name: str
    spellings: tuple[str, ...] = ()  # other ones, XGBoost's and LightGBM's among them
    metric: str  # used when none is asked for
    # How gradients are computed: row by row from one score by a formula, from the scores of all classes, from pairs of rows of a
    # query or all of them, from all rows at risk, from the ends of intervals, or by a function of the user's.
    form: Literal["pointwise", "softmax", "one_vs_rest", "pairs", "listwise", "cox", "aft", "own"] = (
        "pointwise"
    )
    link: Link = "identity"  # what makes predictions of scores
    kind: Kind | None = None  # what it predicts, if its link does not say so
    # What a target may be: any number, above -1, 0 or more, above 0, 0 to 1, the number of a class, or a relevance; a time and an
    # event, or the ends of an interval; what the function takes.
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
    # Where scores of a loss of one score start, the constant with the least loss: a mean, the log of one, the mean on the
    # scale of log(1 + y), log-odds, a quantile, or wherever the sum of gradients is 0.
    start: Literal["mean", "log_mean", "mean_log", "log_odds", "quantile", "root"] = "mean"
    # Parameters that only some objectives take, and this one does. Its formula gets their values in this order.
    parameters: tuple[str, ...] = ()
    # How the value of a leaf follows from its rows: minus the sum of gradients over that of hessians, a quantile of what is left
    # of the target, or a search along the step.
    leaf_values: Literal["newton", "quantile", "line_search"] = "newton"
    # Largest absolute leaf value where max_delta_step is 0; 0 means no limit.
    longest_step: float = 0.0
    # What a weight says: how many rows a row counts for, or only how much it counts beside the others.
    weights: Literal["counts", "ratios"] = "counts"


# Parameters of losses that are sums over pairs of rows.
_PAIRS = ("lambdarank_truncation_level", "lambdarank_norm", "lambdarank_sigmoid")
_ROWS = (
    ObjectiveRow(
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
    ObjectiveRow(
        name="squared_log_error",
        spellings=("reg:squaredlogerror", "msle", "mean_squared_log_error"),
        metric="rmsle",
        domain="above -1",
        start="mean_log",
    ),
    ObjectiveRow(
        name="absolute_error",
        spellings=("reg:absoluteerror", "regression_l1", "l1", "mae", "mean_absolute_error"),
        metric="mae",
        start="quantile",
        leaf_values="quantile",
    ),
    ObjectiveRow(
        name="huber",
        metric="huber",
        start="root",
        parameters=("huber_delta",),
        leaf_values="line_search",
    ),
    ObjectiveRow(
        name="pseudo_huber",
        spellings=("reg:pseudohubererror", "pseudohuber"),
        metric="pseudo_huber",
        start="root",
        parameters=("huber_delta",),
    ),
    ObjectiveRow(name="fair", metric="fair", start="root", parameters=("fair_c",)),
    ObjectiveRow(
        name="quantile",
        spellings=("reg:quantileerror", "pinball"),
        metric="pinball",
        start="quantile",
        parameters=("quantile_alpha",),
        leaf_values="quantile",
    ),
    ObjectiveRow(
        name="expectile",
        spellings=("reg:expectileerror",),
        metric="expectile",
        start="root",
        parameters=("expectile_alpha",),
    ),
    ObjectiveRow(
        name="mape",
        spellings=("mean_absolute_percentage_error",),
        metric="mape_floored",
        start="quantile",
        leaf_values="quantile",
    ),
    ObjectiveRow(
        name="poisson",
        spellings=("count:poisson",),
        metric="poisson_deviance",
        link="exp",
        domain="0 or more",
        start="log_mean",
        parameters=("poisson_max_delta_step",),
    ),
    ObjectiveRow(
        name="gamma",
        spellings=("reg:gamma",),
        metric="gamma_deviance",
        link="exp",
        domain="above 0",
        start="log_mean",
    ),
    ObjectiveRow(
        name="tweedie",
        spellings=("reg:tweedie",),
        metric="tweedie_deviance",
        link="exp",
        domain="0 or more",
        start="log_mean",
        parameters=("tweedie_variance_power",),
    ),
    ObjectiveRow(
        name="log_loss",
        spellings=("binary", "binary:logistic", "logistic", "reg:logistic", "cross_entropy", "xentropy"),
        metric="logloss",
        link="logistic",
        domain="shares",
        start="log_odds",
        parameters=("scale_pos_weight",),
    ),
    ObjectiveRow(
        name="focal",
        spellings=("focal_loss",),
        metric="focal",
        link="logistic",
        domain="shares",
        start="root",
        parameters=("focal_gamma", "focal_alpha", "scale_pos_weight"),
    ),
    ObjectiveRow(
        name="softmax",
        spellings=("multiclass", "multi:softprob", "multi:softmax"),
        metric="mlogloss",
        form="softmax",
        link="softmax",
        domain="classes",
        parameters=("num_class",),
    ),
    ObjectiveRow(
        name="one_vs_rest",
        spellings=("multiclassova", "multiclass_ova", "ova", "ovr"),
        metric="mlogloss",
        form="one_vs_rest",
        link="one_vs_rest",
        domain="classes",
        parameters=("num_class",),
    ),
    ObjectiveRow(
        name="rank_ndcg",
        spellings=("rank:ndcg", "lambdarank", "lambdamart"),
        metric="ndcg",
        form="pairs",
        kind="ranks",
        domain="relevance",
        parameters=(*_PAIRS, "label_gain"),
    ),
    ObjectiveRow(
        name="rank_map",
        spellings=("rank:map",),
        metric="map",
        form="pairs",
        kind="ranks",
        domain="relevant",
        parameters=_PAIRS,
    ),
    ObjectiveRow(
        name="rank_pairwise",
        spellings=("rank:pairwise", "pairwise", "ranknet"),
        metric="ndcg",
        form="pairs",
        kind="ranks",
        domain="relevance",
        parameters=(*_PAIRS, "label_gain"),
    ),
    ObjectiveRow(
        name="rank_xendcg",
        spellings=("xendcg", "xe_ndcg", "xe_ndcg_mart", "xendcg_mart"),
        metric="ndcg",
        form="listwise",
        kind="ranks",
        domain="relevance",
        parameters=("label_gain",),
    ),
    ObjectiveRow(
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
    ObjectiveRow(
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
    ObjectiveRow(name=OWN, metric="none", form="own", domain="anything", parameters=("num_class",)),
)
OBJECTIVES: dict[str, ObjectiveRow] = {row.name: row for row in _ROWS}
# Parameters that only some objectives take; the others leave them at their defaults.
SPECIFIC = tuple(dict.fromkeys(name for row in _ROWS for name in row.parameters if name != "num_class"))


def objective_row(name: str) -> ObjectiveRow:
    """The row of an objective's canonical name."""
    if name not in OBJECTIVES:
        raise ParameterError(f"objective = {name!r} is unknown; there are {', '.join(OBJECTIVES)}")
    return OBJECTIVES[name]


def takers(parameter: str) -> str:
    """The objectives that take a parameter, in words.

    Examples
    --------
    >>> takers("huber_delta")
    "'huber' or 'pseudo_huber'"
    """
    return " or ".join(repr(row.name) for row in OBJECTIVES.values() if parameter in row.parameters)
