"""The table of metrics without their formulas: which name means which, and which fit an objective.

A new metric is one `MetricInfo` here, and its formula in `metrics/kernels/`. Its entry has whether it is computed from scores or
predictions, and which kinds of objective it fits. A new link has its kind in `KINDS`, and its predictions in `metrics/forms.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from spinney.errors import ParameterError
from spinney.params.objectives import OWN, Kind, objective_info
from spinney.params.parameter import INT32

if TYPE_CHECKING:
    from spinney.params.boosting import Config

# What objectives predict that have no `kind`, by their link.
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
# Spellings of no metric at all.
NONE: Mapping[str, tuple[str, ...]] = {"none": ("None", "null", "na", "custom")}


# The largest cutoff of a metric of ranking: the number of places of a list that count.
LAST_CUTOFF = INT32


@dataclass(frozen=True, kw_only=True)
class MetricInfo:
    """A metric without its formula.

    Attributes
    ----------
    name : str
        Canonical name.
    spellings : tuple of str
        Other names. One may be that of two metrics; it then means the one that fits the objective.
    doc : str
        Meaning.
    fits : tuple of str
        What objectives predict that it fits.
    looks_at : str
        Raw scores, predictions (of classes: probabilities), the class they predict, or the order of the rows by raw score,
        where there are many classes by probability.
    form : str
        How rows make a number: the mean of a formula's losses or its root; 1 less the mean's share of the target's variance;
        sums by class; areas under curves; the mean of a value for each query, whose name may end in a cutoff such as @10; the
        likelihood of events among the rows at risk; the share of pairs in order; the mean of losses of intervals.
    formula : str
        In the kernel of this name; empty: of its own name.
    target : str
        What the target must be, beyond what the objective needs.
    higher_is_better : bool
        Whether higher values are better.
    parameters : tuple of str
        Parameters whose values its formula gets, in this order.
    """

    name: str
    spellings: tuple[str, ...] = ()
    doc: str = ""
    fits: tuple[Kind, ...] = _NUMBERS
    looks_at: Literal["score", "prediction", "class", "order"] = "prediction"
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
    formula: str = ""
    target: Literal["any", "above -1", "0 or more", "above 0", "0 or 1"] = "any"
    higher_is_better: bool = False
    parameters: tuple[str, ...] = ()


_METRICS = (
    MetricInfo(
        name="rmse",
        spellings=("root_mean_squared_error", "l2_root"),
        doc="root of the mean squared error",
        fits=_ONE,
        form="root_mean",
        formula="mse",
    ),
    MetricInfo(
        name="mse",
        spellings=("l2", "mean_squared_error", "regression_l2"),
        doc="mean squared error",
        fits=_ONE,
    ),
    MetricInfo(
        name="mae",
        spellings=("l1", "mean_absolute_error", "regression_l1"),
        doc="mean absolute error",
        fits=_ONE,
    ),
    MetricInfo(
        name="r2",
        spellings=("r2_score",),
        doc="share of the target's variance that is explained; 1 is perfect",
        fits=_ONE,
        form="explained",
        formula="mse",
        higher_is_better=True,
    ),
    MetricInfo(
        name="rmsle",
        spellings=("root_mean_squared_log_error",),
        doc="root of the mean squared difference of log(1 + y); predictions below -1 + 1e-6 count as that",
        form="root_mean",
        formula="msle",
        target="above -1",
    ),
    MetricInfo(
        name="msle",
        spellings=("mean_squared_log_error",),
        doc="mean squared difference of log(1 + y); predictions below -1 + 1e-6 count as that",
        target="above -1",
    ),
    MetricInfo(
        name="mape",
        spellings=("mean_absolute_percentage_error",),
        doc="mean absolute error as a share of the target's size",
    ),
    MetricInfo(
        name="mape_floored",
        doc="the same with sizes below 1 taken for 1: the loss of objective mape, and what LightGBM calls mape",
    ),
    MetricInfo(
        name="huber",
        doc="half the squared error up to huber_delta, linear beyond",
        parameters=("huber_delta",),
    ),
    MetricInfo(
        name="pseudo_huber",
        spellings=("mphe", "pseudohuber"),
        doc="smooth form of huber",
        parameters=("huber_delta",),
    ),
    MetricInfo(
        name="fair",
        doc="c e - c² log(1 + e / c) of the absolute error e, with c = fair_c",
        parameters=("fair_c",),
    ),
    MetricInfo(
        name="pinball",
        spellings=("quantile", "mean_pinball_loss"),
        doc="absolute error, times quantile_alpha where y is larger, else times 1 - quantile_alpha; of several levels the mean",
        parameters=("quantile_alpha",),
    ),
    MetricInfo(
        name="expectile",
        doc="squared error, times expectile_alpha where y is larger, else times 1 - expectile_alpha",
        parameters=("expectile_alpha",),
    ),
    MetricInfo(
        name="poisson_deviance",
        spellings=("mean_poisson_deviance", "poisson-deviance"),
        doc="mean Poisson deviance",
        fits=("positive",),
        target="0 or more",
    ),
    MetricInfo(
        name="gamma_deviance",
        spellings=("mean_gamma_deviance", "gamma-deviance"),
        doc="mean gamma deviance",
        fits=("positive",),
        target="above 0",
    ),
    MetricInfo(
        name="tweedie_deviance",
        spellings=("mean_tweedie_deviance", "tweedie-deviance"),
        doc="mean Tweedie deviance of tweedie_variance_power",
        fits=("positive",),
        target="0 or more",
        parameters=("tweedie_variance_power",),
    ),
    MetricInfo(
        name="poisson_nloglik",
        spellings=("poisson-nloglik", "poisson"),
        doc="negative log-likelihood of a Poisson distribution",
        fits=("positive",),
        target="0 or more",
    ),
    MetricInfo(
        name="gamma_nloglik",
        spellings=("gamma-nloglik", "gamma"),
        doc="negative log-likelihood of an exponential distribution: y / f + log f",
        fits=("positive",),
        target="above 0",
    ),
    MetricInfo(
        name="tweedie_nloglik",
        spellings=("tweedie-nloglik", "tweedie"),
        doc="the part of a Tweedie distribution's negative log-likelihood that depends on the prediction",
        fits=("positive",),
        target="0 or more",
        parameters=("tweedie_variance_power",),
    ),
    MetricInfo(
        name="logloss",
        spellings=("binary_logloss", "log_loss", "binary", "cross_entropy", "xentropy"),
        doc="-log of the probability of the row's class",
        fits=("two",),
        looks_at="score",
    ),
    MetricInfo(
        name="focal",
        doc="-log p times (1 - p) ** focal_gamma of the row's class; where given, times focal_alpha or 1 - focal_alpha",
        fits=("two",),
        looks_at="score",
        parameters=("focal_gamma", "focal_alpha"),
    ),
    MetricInfo(
        name="auc",
        spellings=("roc_auc",),
        doc="area under the ROC curve; of many classes the mean of each class's against the rest",
        fits=("two", "many", "numbers", "positive"),
        looks_at="order",
        form="area",
        target="0 or 1",
        higher_is_better=True,
    ),
    MetricInfo(
        name="average_precision",
        spellings=("aucpr", "auc_pr"),
        doc="area under the curve of precision by recall, in steps; of many classes the mean of each class's against the rest",
        fits=("two", "many", "numbers", "positive"),
        looks_at="order",
        form="area",
        target="0 or 1",
        higher_is_better=True,
    ),
    MetricInfo(
        name="error",
        spellings=("binary_error",),
        doc="share of rows of another class than the predicted one",
        fits=("two",),
        looks_at="class",
    ),
    MetricInfo(
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
        looks_at="score",
    ),
    MetricInfo(
        name="merror",
        spellings=("multi_error", "error"),
        doc="share of rows of another class than the one of the largest score",
        fits=("many",),
        looks_at="class",
    ),
    MetricInfo(
        name="auc_ovr",
        spellings=("roc_auc_ovr",),
        doc="auc of each class against the rest, their mean",
        fits=("many",),
        looks_at="order",
        form="area",
        higher_is_better=True,
    ),
    MetricInfo(
        name="auc_ovo",
        spellings=("roc_auc_ovo",),
        doc="auc of each class against each other one, by its own probability among the rows of the two; their mean",
        fits=("many",),
        looks_at="order",
        form="area",
        higher_is_better=True,
    ),
    MetricInfo(
        name="accuracy",
        spellings=("acc", "accuracy_score"),
        doc="share of rows of the predicted class",
        fits=_CLASSES,
        looks_at="class",
        form="by_class",
        higher_is_better=True,
    ),
    MetricInfo(
        name="balanced_accuracy",
        spellings=("balanced_accuracy_score",),
        doc="accuracy within each class that has rows, their mean",
        fits=_CLASSES,
        looks_at="class",
        form="by_class",
        higher_is_better=True,
    ),
    MetricInfo(
        name="f1",
        spellings=("f1_score",),
        doc="harmonic mean of precision and recall of the second of two classes; of many classes the mean of each class's",
        fits=_CLASSES,
        looks_at="class",
        form="by_class",
        higher_is_better=True,
    ),
    MetricInfo(
        name="f1_macro",
        doc="harmonic mean of precision and recall of each class, their mean",
        fits=_CLASSES,
        looks_at="class",
        form="by_class",
        higher_is_better=True,
    ),
    MetricInfo(
        name="brier",
        spellings=("brier_score", "brier_score_loss"),
        doc="mean squared error of the probability; of many classes the sum of each class's",
        fits=_CLASSES,
    ),
    MetricInfo(
        name="ndcg",
        spellings=("lambdarank", "rank_xendcg", "xendcg", "xe_ndcg", "xe_ndcg_mart", "xendcg_mart"),
        doc="gain of a query's rows, each divided by log2(1 + place), as a share of that of the best order",
        fits=("ranks",),
        looks_at="order",
        form="by_query",
        higher_is_better=True,
        parameters=("label_gain",),
    ),
    MetricInfo(
        name="map",
        spellings=("mean_average_precision",),
        doc="share of relevant rows among those down to each relevant row's place, their mean",
        fits=("ranks",),
        looks_at="order",
        form="by_query",
        higher_is_better=True,
    ),
    MetricInfo(
        name="mrr",
        spellings=("MRR", "mean_reciprocal_rank"),
        doc="1 divided by the place of the first relevant row",
        fits=("ranks",),
        looks_at="order",
        form="by_query",
        higher_is_better=True,
    ),
    MetricInfo(
        name="concordance",
        spellings=("c_index", "concordance_index"),
        doc="share of pairs of rows whose order in time is known that are predicted in it, equal predictions counting half",
        fits=("hazards", "times"),
        looks_at="order",
        form="concordance",
        higher_is_better=True,
    ),
    MetricInfo(
        name="cox_nloglik",
        spellings=("cox-nloglik",),
        doc="negative log of the partial likelihood, the mean over events",
        fits=("hazards",),
        looks_at="score",
        form="likelihood",
    ),
    MetricInfo(
        name="aft_nloglik",
        spellings=("aft-nloglik",),
        doc="negative log-likelihood of what is known of the time, with aft_loss_distribution about the score",
        fits=("times",),
        looks_at="score",
        form="interval",
        parameters=("aft_loss_distribution", "aft_loss_distribution_scale"),
    ),
    MetricInfo(
        name="interval_regression_accuracy",
        spellings=("interval-regression-accuracy",),
        doc="share of predicted times within their interval",
        fits=("times",),
        form="interval",
        higher_is_better=True,
    ),
)
METRICS: dict[str, MetricInfo] = {one.name: one for one in _METRICS}


def metric_info(name: str, objective: str, num_class: int = 0) -> MetricInfo:
    """The metric that a name of any spelling, with a cutoff or without, means beside an objective.

    Examples
    --------
    >>> metric_info("log_loss", "log_loss").name, metric_info("log_loss", "softmax", 3).name
    ('logloss', 'mlogloss')
    """
    metric, _ = name_and_cutoff(name)
    fitting = [METRICS[one] for one in metrics_for(objective, num_class) if one in METRICS]
    for one in (*fitting, *METRICS.values()):
        if is_spelled(metric, one):
            return one
    raise ParameterError(f"eval_metric = {name!r} is unknown; there are {', '.join(METRICS)}")


def is_spelled(name: str, metric: MetricInfo) -> bool:
    """Whether a name without a cutoff is one of this metric."""
    return name == metric.name or name in metric.spellings


def _takes_cutoff(name: str) -> bool:
    return any(one.form == "by_query" and is_spelled(name, one) for one in METRICS.values())


def name_and_cutoff(name: str) -> tuple[str, int | None]:
    """A metric's name, and its cutoff, None where the name has none.

    Examples
    --------
    >>> name_and_cutoff("ndcg@10"), name_and_cutoff("rmse")
    (('ndcg', 10), ('rmse', None))
    """
    metric, at, cutoff = name.partition("@")
    if not at:
        return name, None
    if not _takes_cutoff(metric) or not cutoff.isdecimal() or not 1 <= int(cutoff[:11]) <= LAST_CUTOFF:
        takes = [one.name for one in METRICS.values() if one.form == "by_query"]
        raise ParameterError(
            f"eval_metric={name!r} is unknown: only {', '.join(takes)} take a cutoff, as in ndcg@10, a whole number of 1 or more"
        )
    return metric, int(cutoff)


def at_cutoffs(metric: str, cutoffs: Iterable[int] | None) -> tuple[str, ...]:
    """The names of a metric of ranking with these cutoffs; other metrics have one name.

    Examples
    --------
    >>> at_cutoffs("ndcg", (5, 10)), at_cutoffs("ndcg@3", (5, 10)), at_cutoffs("rmse", (5, 10))
    (('ndcg@5', 'ndcg@10'), ('ndcg@3',), ('rmse',))
    """
    if cutoffs is None or not _takes_cutoff(metric):
        return (metric,)
    return tuple(f"{metric}@{cutoff}" for cutoff in cutoffs)


def kind_of(objective: str) -> Kind:
    """What an objective predicts.

    Examples
    --------
    >>> kind_of("log_loss")
    'two'
    """
    loss = objective_info(objective)
    return loss.kind or KINDS[loss.link]


def metrics_for(objective: str, num_class: int = 0) -> tuple[str, ...]:
    """Names of the metrics that fit an objective, its own metric first if it has one.

    A function's scores are numbers, which may rank rows, or, if there are several, one for each class. Either way they predict a
    class: one score above 0 the second of two.

    Examples
    --------
    >>> metrics_for("log_loss")[:4]
    ('logloss', 'rmse', 'mse', 'mae')
    >>> metrics_for("own", 3)
    ('merror', 'accuracy', 'balanced_accuracy', 'f1', 'f1_macro')
    """
    if objective == OWN:
        several = num_class > 1
        classes: Kind = "many" if several else "two"
        return tuple(
            one.name
            for one in METRICS.values()
            if ({"numbers", "ranks"} & {*one.fits} and not several)
            or (one.looks_at == "class" and classes in one.fits)
        )
    own, kind = objective_info(objective).metric, kind_of(objective)
    others = [one.name for one in METRICS.values() if kind in one.fits and one.name != own]
    return (*(() if own in NONE else (own,)), *others)


def resolve_metrics(config: Config) -> tuple[str, ...]:
    """The metrics of a configuration, each with the cutoffs of `eval_at` in its name.

    Raises
    ------
    ParameterError
        If a metric does not fit the objective, is named twice, or stands beside none.
    """
    objective, names = config.objective, config.eval_metric
    fitting, outputs = _metrics_for_outputs(config)
    chosen: list[str] = []
    for name in names:
        if name in NONE or name in NONE["none"]:
            if len(names) > 1:
                raise ParameterError(
                    f"eval_metric={list(names)!r} names metrics and none at all; give one or the other"
                )
            return ("none",)
        metric, cutoff = name_and_cutoff(name)
        if not any(one in METRICS and is_spelled(metric, METRICS[one]) for one in fitting):
            raise ParameterError(
                f"eval_metric={name!r} does not fit objective={objective!r}{outputs}; the metrics that fit are "
                f"{', '.join(fitting)}"
            )
        for one in at_cutoffs(metric, config.eval_at if cutoff is None else [cutoff]):
            if one in chosen:
                raise ParameterError(
                    f"eval_metric={list(names)!r} names the metric {one!r} twice; give it once"
                )
            chosen.append(one)
    return tuple(chosen)


def _metrics_for_outputs(config: Config) -> tuple[tuple[str, ...], str]:
    """Names of the metrics that fit the objective and its number of outputs, and what messages show of the outputs."""
    levels, targets, classes = config.quantile_alpha, config.num_target, config.num_class
    if isinstance(levels, tuple):
        return ("pinball",), f" with quantile_alpha={list(levels)!r}"
    fitting = metrics_for(config.objective, classes)
    if config.objective != OWN:
        return fitting, ""
    if classes > 1 and targets > 1:
        return ("none",), f" with num_class={classes} and num_target={targets}"
    return fitting, f" with num_class={classes}" if classes > 1 else ""
