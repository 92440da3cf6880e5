"""Which parameters each estimator has: those of training, and some that only estimators have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spinney.params import Config, Parameter
from spinney.params.common import FRACTION, MAX_ROUNDS, VALIDATION
from spinney.params.estimators import (
    BOOSTING_ROUNDS,
    CATEGORICAL,
    CLASS_WEIGHT,
    CLASSIFICATION_OBJECTIVE,
    EVAL_METRIC,
    IMPORTANCE,
    MODELS,
    PRESET,
    PROGRESS,
    QUERY_FRACTION,
    RANKING_EVAL_METRIC,
    RANKING_OBJECTIVE,
    RANKING_PENALTY,
    REGRESSION_OBJECTIVE,
    SEED,
    STOPPING,
    TARGET_STATS,
    WARM_START,
)

_ESTIMATORS: Mapping[str, Parameter[Any]] = {
    parameter.name: parameter
    for parameter in (
        BOOSTING_ROUNDS, MAX_ROUNDS, FRACTION, VALIDATION, CLASS_WEIGHT, CATEGORICAL, PROGRESS, IMPORTANCE, WARM_START,
        EVAL_METRIC, STOPPING, SEED, TARGET_STATS, PRESET, MODELS,
    )
}  # fmt: skip


def _named(names: str) -> dict[str, Parameter[Any]]:
    """The parameters of some names, those of estimators before those of training."""
    return {name: _ESTIMATORS.get(name) or Config.parameter(name) for name in names.split()}


_GROWING = _named(
    "preset n_estimators max_rounds models learning_rate max_leaves max_depth grow_policy tree_method proposal sketch_eps "
    "min_child_samples min_child_weight gamma reg_lambda reg_alpha max_delta_step monotone_constraints interaction_constraints"
)
_SAMPLING = _named(
    "subsample sampling_method top_rate other_rate goss_warm_up leaf_values colsample_bytree colsample_bylevel "
    "colsample_bynode feature_weights"
)
_CLASSES = _named("focal_gamma focal_alpha scale_pos_weight class_weight")
_NUMBERS = _named(
    "quantile_alpha expectile_alpha huber_delta fair_c poisson_max_delta_step tweedie_variance_power "
    "aft_loss_distribution aft_loss_distribution_scale"
)
_RANKS = _named("lambdarank_truncation_level lambdarank_norm lambdarank_sigmoid label_gain")
_START = _named("base_score leaf_estimation")
_DATA = _named(
    "max_bin bundle bundle_order max_conflict_rate absent categorical unseen max_cat_to_onehot max_cat_threshold "
    "min_data_per_group cat_smooth cat_l2 cat_charge target_stats target_stats_smooth "
    "target_stats_pairs"
)
_FITTING = _named(
    "eval_metric early_stopping_rounds min_delta first_metric_only validation_fraction validation random_state n_jobs progress "
    "importance_type warm_start"
)
_FITTING_RANKS = (
    _named("eval_metric eval_at")
    | _FITTING
    | {"eval_metric": RANKING_EVAL_METRIC, "validation_fraction": QUERY_FRACTION}
)

# By estimator, in the order of the constructor. A parameter given later replaces one of its name.
ESTIMATORS: Mapping[str, Mapping[str, Parameter[Any]]] = {
    "GBMClassifier": {"objective": CLASSIFICATION_OBJECTIVE}
    | _GROWING
    | _SAMPLING
    | _CLASSES
    | _START
    | _DATA
    | _FITTING,
    "GBMRanker": {"objective": RANKING_OBJECTIVE}
    | _GROWING
    | _SAMPLING
    | _RANKS
    | _named("base_score")
    | _DATA
    | _FITTING_RANKS
    | {"reg_lambda": RANKING_PENALTY, "target_stats": Config.parameter("target_stats")},
    "GBMRegressor": {"objective": REGRESSION_OBJECTIVE}
    | _GROWING
    | _SAMPLING
    | _NUMBERS
    | _START
    | _DATA
    | _FITTING,
}
