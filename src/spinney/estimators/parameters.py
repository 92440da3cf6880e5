"""Which parameters each estimator has: rows of the table of parameters, and some that only estimators have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from spinney.params import Row, table
from spinney.params.names import TRAIN_ARGUMENTS
from spinney.params.ranking import RANKING_LAMBDA
from spinney.training.auto_arguments import AUTO, FRACTION, MAX_ROUNDS, SHARE, VALIDATION

_TABLE = {row.name: row for row in table()}

ROUNDS = Row(
    name="n_estimators",
    kind="int or str",
    default=AUTO,
    group="running",
    low=1,
    high=2**31 - 1,
    choices={AUTO: ()},
    aliases=tuple(name for name in ("rounds", *TRAIN_ARGUMENTS["rounds"]) if name != "n_estimators"),
    doc="Rounds of boosting. A round is one tree, or one for each class where there are more than two, each target or each "
    "level. auto finds how many are right: it stops when the metric has not improved for 25 rounds, or for "
    "early_stopping_rounds, on the last pair of eval_set; without one it holds out a tenth of the rows, or "
    "validation_fraction of them, and fits small tables again on all rows. Below 300 rows, or with eval_metric none, it does 100 "
    "rounds (10 / learning_rate if that is more, 30 / learning_rate if that is less), but no more than max_rounds.",
)
# What says of a function in place of a name.
_OWN_LOSS = (
    "Or a function f(y_true, y_pred), or f(y_true, y_pred, weight), that gives gradients and hessians by raw score; what the "
    "first form gives is multiplied by the weights. The model then predicts raw scores. Its attribute `loss`, a function of the "
    "same arguments that gives one number, is the metric where eval_metric names none; n_estimators=auto needs one of the two."
)
_REGRESSION = replace(
    _TABLE["objective"],
    kind="str or callable",
    doc="Loss: squared_error, squared_log_error, absolute_error, huber, pseudo_huber, fair, quantile, expectile, mape, poisson, "
    f"gamma or tweedie, or for times that are not all known, cox or aft; the guide has a table of them. {_OWN_LOSS}",
)
_CLASSIFICATION = replace(
    _TABLE["objective"],
    kind="str, callable or None",
    default=None,
    doc="Loss: log_loss or focal for two classes, softmax or one_vs_rest for more of them (for two they are log_loss). None "
    f"takes log_loss for two, softmax for more. {_OWN_LOSS} y_true are places in classes_; y_pred "
    "has a column for each of more than two classes.",
)
_RANKING = replace(
    _TABLE["objective"],
    kind="str or callable",
    default="rank_ndcg",
    doc="Loss: rank_ndcg (LambdaMART), rank_map, rank_pairwise or rank_xendcg. Or a function f(y_true, y_pred), or "
    "f(y_true, y_pred, weight), that gives gradients and hessians by score; what the first form gives is multiplied by the "
    "weights. y_true has the number of each row's query as `queries`, None where no queries are known.",
)
_QUERIES_HELD_OUT = replace(
    FRACTION,
    doc="Share of the queries to hold out as validation data, with all of their rows; without queries, share of the rows. They "
    f"are not trained on, except that auto may fit all rows at its end. None holds out {SHARE:g} for auto, else nothing.",
)
_CLASS_WEIGHT = Row(
    name="class_weight",
    kind="dict, list of dicts, str or None",
    default=None,
    group="objective",
    aliases=("class_weights",),
    doc="Factor on the weights of a class's rows, by label; 1 for a label that is not named. 'balanced' gives all classes the "
    "same total weight, sample_weight counted: scikit-learn's compute_class_weight with its sample_weight. (Its "
    "HistGradientBoostingClassifier counts rows there, not their weights.) Where rows have several labels, the factors of all "
    "of them are multiplied: a dict of 0 and 1 for every label, a list of one for each, or 'balanced'. Validation data that are "
    "given are not weighted by it; rows that are held out are.",
)
CATEGORICAL = Row(
    name="categorical",
    kind="'auto' or list of str, int or bool",
    default="auto",
    group="data",
    aliases=(
        "categorical_feature",
        "categorical_features",
        "cat_feature",
        "cat_features",
        "categorical_column",
    ),
    doc="Columns whose whole numbers, dates, times or intervals are categories: by name as text, by position as a whole number, "
    "or as a mask of one truth value a column. "
    "Columns of text and of a frame's categories always are categorical; text that all reads as numbers is so with a "
    "warning, unless it is named.",
)
_PROGRESS = Row(
    name="progress",
    kind="bool",
    default=False,
    group="running",
    doc="Show a progress bar while fitting.",
)
IMPORTANCE = Row(
    name="importance_type",
    kind="str",
    default="total_gain",
    group="running",
    choices={"gain": (), "total_gain": (), "split": ("weight",), "cover": (), "total_cover": ()},
    doc="What feature_importances_ shares out: split (or weight) counts the splits on a column, total_gain and total_cover add "
    "up their gain and cover, gain and cover are the means over those splits. LightGBM's gain is total_gain here.",
)
WARM_START = Row(
    name="warm_start",
    kind="bool",
    default=False,
    group="running",
    doc="Whether a fitted estimator goes on from its trees when it is fitted again: n_estimators, which must be a number, then "
    "counts old and new rounds. Early stopping goes on too: the metric to beat is that of the trees so far.",
)
_STOPPING = replace(
    _TABLE["early_stopping_rounds"],
    doc="Stop after this many rounds in which the last metric, or the first with first_metric_only, did not get better on the "
    "last validation data. None never stops, but with n_estimators=auto after 25.",
)
_METRIC = replace(
    _TABLE["eval_metric"],
    kind="str, callable, or list of them",
    doc="Metrics to compute on the validation data; the page of parameters tells which names fit an objective. Empty or None "
    "takes the objective's own. A function f(y_true, y_pred) or f(y_true, y_pred, weight) gives a number that is better when "
    "lower, or (name, value, higher_is_better); a classifier's y_true are places in classes_, and its y_pred probabilities, or "
    "raw scores where objective is a function. Losses may be given as functions, scores as scikit-learn's scorers, "
    "which are better when higher.",
)
_RANKING_METRIC = replace(
    _METRIC,
    doc="Metrics to compute on the validation data: ndcg, map or mrr, which may end in a place, such as ndcg@10. Empty or None "
    "takes the objective's own. A function f(y_true, y_pred) or f(y_true, y_pred, weight) gives a number that is better when "
    "lower, or (name, value, higher_is_better); y_pred are scores, and y_true has the number of each row's query as `queries`.",
)
SEED = replace(
    _TABLE["random_state"],
    default=None,
    doc="Seed of everything drawn at random. None is the same as 0, so that every fit can be repeated. A RandomState or a "
    "Generator gives each fit a seed of its own, drawn by randint(2**31 - 1) or integers(2**31 - 1).",
)
_RANKING_PENALTY = replace(_TABLE["reg_lambda"], default=RANKING_LAMBDA, doc="L2 penalty on leaf values.")
# With cat_charge, .9 % less loss on nine tables with a column of more than 100 categories. With means for columns of more than 8,
# 1.5 % more on a table of few, large categories, which sets tell apart as well.
_STATISTICS = replace(_TABLE["target_stats"], default=100)
_PRESET = replace(
    _TABLE["preset"],
    doc=f"{_TABLE['preset'].doc} A parameter that has its default value counts as not given.",
)
_MODELS = replace(
    _TABLE["models"],
    kind="int or None",
    default=None,
    doc=f"{_TABLE['models'].doc} None is 1, or what the preset sets.",
)
_OWN = {
    row.name: row
    for row in (
        ROUNDS, MAX_ROUNDS, FRACTION, VALIDATION, _CLASS_WEIGHT, CATEGORICAL, _PROGRESS, IMPORTANCE, WARM_START, _METRIC,
        _STOPPING, SEED, _STATISTICS, _PRESET, _MODELS,
    )
}  # fmt: skip


def _rows(names: str) -> dict[str, Row]:
    """The rows of some names, those of estimators before the table's."""
    return {name: _OWN.get(name) or _TABLE[name] for name in names.split()}


_GROWING = _rows(
    "preset n_estimators max_rounds models learning_rate max_leaves max_depth grow_policy tree_method proposal sketch_eps "
    "min_child_samples min_child_weight gamma reg_lambda reg_alpha max_delta_step monotone_constraints interaction_constraints"
)
_SAMPLING = _rows(
    "subsample sampling_method top_rate other_rate goss_warm_up leaf_values colsample_bytree colsample_bylevel "
    "colsample_bynode feature_weights"
)
_CLASSES = _rows("focal_gamma focal_alpha scale_pos_weight class_weight")
_NUMBERS = _rows(
    "quantile_alpha expectile_alpha huber_delta fair_c poisson_max_delta_step tweedie_variance_power "
    "aft_loss_distribution aft_loss_distribution_scale"
)
_RANKS = _rows("lambdarank_truncation_level lambdarank_norm lambdarank_sigmoid label_gain")
_START = _rows("base_score leaf_estimation")
_DATA = _rows(
    "max_bin bundle bundle_order max_conflict_rate absent categorical unseen max_cat_to_onehot max_cat_threshold "
    "min_data_per_group cat_smooth cat_l2 cat_charge target_stats target_stats_smooth "
    "target_stats_pairs"
)
_FITTING = _rows(
    "eval_metric early_stopping_rounds min_delta first_metric_only validation_fraction validation random_state n_jobs progress "
    "importance_type warm_start"
)
_FITTING_RANKS = (
    _rows("eval_metric eval_at")
    | _FITTING
    | {"eval_metric": _RANKING_METRIC, "validation_fraction": _QUERIES_HELD_OUT}
)

# By estimator, in the order of the constructor. A row given later replaces one of its name.
ESTIMATORS: Mapping[str, Mapping[str, Row]] = {
    "GBMClassifier": {"objective": _CLASSIFICATION}
    | _GROWING
    | _SAMPLING
    | _CLASSES
    | _START
    | _DATA
    | _FITTING,
    "GBMRanker": {"objective": _RANKING}
    | _GROWING
    | _SAMPLING
    | _RANKS
    | _rows("base_score")
    | _DATA
    | _FITTING_RANKS
    | {"reg_lambda": _RANKING_PENALTY, "target_stats": _TABLE["target_stats"]},
    "GBMRegressor": {"objective": _REGRESSION} | _GROWING | _SAMPLING | _NUMBERS | _START | _DATA | _FITTING,
}
