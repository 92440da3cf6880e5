"""What is known of metrics without their formulas: a row each.

A new metric is one row here, and its formula in a file of its own: `metrics/kernels/<name>.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from spinney.params.objectives import Kind

# What objectives predict whose rows do not say.
KINDS: Mapping[str, Kind] = {
    "identity": "numbers",
    "exp": "positive",
    "logistic": "two",
    "softmax": "many",
    "one_vs_rest": "many",
}
_NUMBERS: tuple[Kind, ...] = ("numbers", "positive")
_ONE: tuple[Kind, ...] = ("numbers", "positive", "two")
_CLASSES: tuple[Kind, ...] = ("two", "many")
# Asks for no named metric at all.
NONE: Mapping[str, tuple[str, ...]] = {"none": ("None", "null", "na", "custom")}


@dataclass(frozen=True, kw_only=True)
class MetricRow:
    """A metric."""

    name: str
    # One may stand in two rows; it then means the metric that fits the objective.
    spellings: tuple[str, ...] = ()
    doc: str = ""
    fits: tuple[Kind, ...] = _NUMBERS  # it judges objectives that predict this
    # What it looks at: raw scores, predictions (of classes: probabilities), the class they speak for, or the order of the rows by
    # raw score, where there are many classes by probability.
    judges: Literal["score", "prediction", "class", "order"] = "prediction"
    # How rows make a number: the mean of a formula's losses or its root; 1 less the mean's share of the target's variance;
    # sums by class; areas under curves; the mean of what each query gets, whose name may end in a place such as @10; the
    # likelihood of events among the rows at risk; the share of pairs in order; the mean of losses of intervals.
    form: Literal[
        "mean",
        "root_mean",
        "explained",
        "by_class",
        "area",
        "by_query",
        "likelihood",
        "concordance",
        "interval",
    ] = "mean"
    formula: str = ""  # in the kernel of this name; empty: its own
    # What the target must be, beyond what the objective asks.
    target: Literal["any", "above -1", "0 or more", "above 0", "0 or 1"] = "any"
    higher_is_better: bool = False
    # Parameters whose values its formula gets, in this order.
    parameters: tuple[str, ...] = ()


_ROWS = (
    MetricRow(
        name="rmse",
        spellings=("root_mean_squared_error", "l2_root"),
        doc="root of the mean squared error",
        fits=_ONE,
        form="root_mean",
        formula="mse",
    ),
    MetricRow(
        name="mse",
        spellings=("l2", "mean_squared_error", "regression_l2"),
        doc="mean squared error",
        fits=_ONE,
    ),
    MetricRow(
        name="mae",
        spellings=("l1", "mean_absolute_error", "regression_l1"),
        doc="mean absolute error",
        fits=_ONE,
    ),
    MetricRow(
        name="r2",
        spellings=("r2_score",),
        doc="share of the target's variance that is explained; 1 is perfect",
        fits=_ONE,
        form="explained",
        formula="mse",
        higher_is_better=True,
    ),
    MetricRow(
        name="rmsle",
        spellings=("root_mean_squared_log_error",),
        doc="root of the mean squared difference of log(1 + y); predictions below -1 + 1e-6 count as that",
        form="root_mean",
        formula="msle",
        target="above -1",
    ),
    MetricRow(
        name="msle",
        spellings=("mean_squared_log_error",),
        doc="mean squared difference of log(1 + y); predictions below -1 + 1e-6 count as that",
        target="above -1",
    ),
    MetricRow(
        name="mape",
        spellings=("mean_absolute_percentage_error",),
        doc="mean absolute error as a share of the target's size",
    ),
    MetricRow(
        name="mape_floored",
        doc="the same with sizes below 1 taken for 1: the loss of objective mape, and what LightGBM calls mape",
    ),
    MetricRow(
        name="huber",
        doc="half the squared error up to huber_delta, linear beyond",
        parameters=("huber_delta",),
    ),
    MetricRow(
        name="pseudo_huber",
        spellings=("mphe", "pseudohuber"),
        doc="smooth form of huber",
        parameters=("huber_delta",),
    ),
    MetricRow(
        name="fair",
        doc="c e - c² log(1 + e / c) of the absolute error e, with c = fair_c",
        parameters=("fair_c",),
    ),
    MetricRow(
        name="pinball",
        spellings=("quantile", "mean_pinball_loss"),
        doc="absolute error, times quantile_alpha where y is larger, else times 1 - quantile_alpha; of several levels the mean",
        parameters=("quantile_alpha",),
    ),
    MetricRow(
        name="expectile",
        doc="squared error, times expectile_alpha where y is larger, else times 1 - expectile_alpha",
        parameters=("expectile_alpha",),
    ),
    MetricRow(
        name="poisson_deviance",
        spellings=("mean_poisson_deviance", "poisson-deviance"),
        doc="mean Poisson deviance",
        fits=("positive",),
        target="0 or more",
    ),
    MetricRow(
        name="gamma_deviance",
        spellings=("mean_gamma_deviance", "gamma-deviance"),
        doc="mean gamma deviance",
        fits=("positive",),
        target="above 0",
    ),
    MetricRow(
        name="tweedie_deviance",
        spellings=("mean_tweedie_deviance", "tweedie-deviance"),
        doc="mean Tweedie deviance of tweedie_variance_power",
        fits=("positive",),
        target="0 or more",
        parameters=("tweedie_variance_power",),
    ),
    MetricRow(
        name="poisson_nloglik",
        spellings=("poisson-nloglik", "poisson"),
        doc="negative log-likelihood of a Poisson distribution",
        fits=("positive",),
        target="0 or more",
    ),
    MetricRow(
        name="gamma_nloglik",
        spellings=("gamma-nloglik", "gamma"),
        doc="negative log-likelihood of an exponential distribution: y / f + log f",
        fits=("positive",),
        target="above 0",
    ),
    MetricRow(
        name="tweedie_nloglik",
        spellings=("tweedie-nloglik", "tweedie"),
        doc="the part of a Tweedie distribution's negative log-likelihood that depends on the prediction",
        fits=("positive",),
        target="0 or more",
        parameters=("tweedie_variance_power",),
    ),
    MetricRow(
        name="logloss",
        spellings=("binary_logloss", "log_loss", "binary", "cross_entropy", "xentropy"),
        doc="-log of the probability of the row's class",
        fits=("two",),
        judges="score",
    ),
    MetricRow(
        name="focal",
        doc="-log p times (1 - p) ** focal_gamma of the row's class; where given, times focal_alpha or 1 - focal_alpha",
        fits=("two",),
        judges="score",
        parameters=("focal_gamma", "focal_alpha"),
    ),
    MetricRow(
        name="auc",
        spellings=("roc_auc",),
        doc="area under the ROC curve; of many classes the mean of each class's against the rest",
        fits=("two", "many", "numbers", "positive"),
        judges="order",
        form="area",
        target="0 or 1",
        higher_is_better=True,
    ),
    MetricRow(
        name="average_precision",
        spellings=("aucpr", "auc_pr"),
        doc="area under the curve of precision by recall, in steps; of many classes the mean of each class's against the rest",
        fits=("two", "many", "numbers", "positive"),
        judges="order",
        form="area",
        target="0 or 1",
        higher_is_better=True,
    ),
    MetricRow(
        name="error",
        spellings=("binary_error",),
        doc="share of rows of another class than the scores speak for",
        fits=("two",),
        judges="class",
    ),
    MetricRow(
        name="mlogloss",
        spellings=(
            "multi_logloss",
            "multiclass_logloss",
            "log_loss",
            "multiclass",
            "softmax",
            "multiclassova",
            "ova",
        ),
        doc="-log of the probability of the row's class",
        fits=("many",),
        judges="score",
    ),
    MetricRow(
        name="merror",
        spellings=("multi_error", "error"),
        doc="share of rows of another class than the one of the largest score",
        fits=("many",),
        judges="class",
    ),
    MetricRow(
        name="auc_ovr",
        spellings=("roc_auc_ovr",),
        doc="auc of each class against the rest, their mean",
        fits=("many",),
        judges="order",
        form="area",
        higher_is_better=True,
    ),
    MetricRow(
        name="auc_ovo",
        spellings=("roc_auc_ovo",),
        doc="auc of each class against each other one, by its own probability among the rows of the two; their mean",
        fits=("many",),
        judges="order",
        form="area",
        higher_is_better=True,
    ),
    MetricRow(
        name="accuracy",
        spellings=("acc", "accuracy_score"),
        doc="share of rows of the class that the scores speak for",
        fits=_CLASSES,
        judges="class",
        form="by_class",
        higher_is_better=True,
    ),
    MetricRow(
        name="balanced_accuracy",
        spellings=("balanced_accuracy_score",),
        doc="accuracy within each class that has rows, their mean",
        fits=_CLASSES,
        judges="class",
        form="by_class",
        higher_is_better=True,
    ),
    MetricRow(
        name="f1",
        spellings=("f1_score",),
        doc="harmonic mean of precision and recall of the second of two classes; of many classes the mean of each class's",
        fits=_CLASSES,
        judges="class",
        form="by_class",
        higher_is_better=True,
    ),
    MetricRow(
        name="f1_macro",
        doc="harmonic mean of precision and recall of each class, their mean",
        fits=_CLASSES,
        judges="class",
        form="by_class",
        higher_is_better=True,
    ),
    MetricRow(
        name="brier",
        spellings=("brier_score", "brier_score_loss"),
        doc="mean squared error of the probability; of many classes the sum of each class's",
        fits=_CLASSES,
    ),
    MetricRow(
        name="ndcg",
        spellings=("lambdarank", "rank_xendcg", "xendcg", "xe_ndcg", "xe_ndcg_mart", "xendcg_mart"),
        doc="gain of a query's rows, each divided by log2(1 + place), as a share of that of the best order",
        fits=("ranks",),
        judges="order",
        form="by_query",
        higher_is_better=True,
        parameters=("label_gain",),
    ),
    MetricRow(
        name="map",
        spellings=("mean_average_precision",),
        doc="share of relevant rows among those down to each relevant row's place, their mean",
        fits=("ranks",),
        judges="order",
        form="by_query",
        higher_is_better=True,
    ),
    MetricRow(
        name="mrr",
        spellings=("MRR", "mean_reciprocal_rank"),
        doc="1 divided by the place of the first relevant row",
        fits=("ranks",),
        judges="order",
        form="by_query",
        higher_is_better=True,
    ),
    MetricRow(
        name="concordance",
        spellings=("c_index", "concordance_index"),
        doc="share of pairs of rows whose order in time is known that are predicted in it, equal predictions counting half",
        fits=("hazards", "times"),
        judges="order",
        form="concordance",
        higher_is_better=True,
    ),
    MetricRow(
        name="cox_nloglik",
        spellings=("cox-nloglik",),
        doc="negative log of the partial likelihood, the mean over events",
        fits=("hazards",),
        judges="score",
        form="likelihood",
    ),
    MetricRow(
        name="aft_nloglik",
        spellings=("aft-nloglik",),
        doc="negative log-likelihood of what is known of the time, with aft_loss_distribution about the score",
        fits=("times",),
        judges="score",
        form="interval",
        parameters=("aft_loss_distribution", "aft_loss_distribution_scale"),
    ),
    MetricRow(
        name="interval_regression_accuracy",
        spellings=("interval-regression-accuracy",),
        doc="share of predicted times within their interval",
        fits=("times",),
        form="interval",
        higher_is_better=True,
    ),
)
METRICS: dict[str, MetricRow] = {row.name: row for row in _ROWS}
