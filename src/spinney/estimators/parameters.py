"""Which parameters each estimator has, family by family: those of training, and some that only estimators have.

Forests, AdaBoost and the isolation forest have scikit-learn's parameters, with its defaults and in its order, then ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from spinney.params import AdaBoostConfig, Config, ForestConfig, IsolationConfig, Parameter, ParameterSet
from spinney.params.common import FRACTION, MAX_ROUNDS, VALIDATION
from spinney.params.estimators import (
    ADABOOST_DEPTH,
    ADABOOST_LOSS,
    ADABOOST_ROUNDS,
    BOOSTING_ROUNDS,
    CATEGORICAL,
    CLASS_CRITERION,
    CLASS_WEIGHT,
    CLASSIFICATION_OBJECTIVE,
    ESTIMATOR,
    EVAL_METRIC,
    FOREST_CLASS_WEIGHT,
    FOREST_WARM_START,
    IMPORTANCE,
    MODELS,
    NUMBER_CRITERION,
    OOB_SCORE,
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
    TREE_CLASS_WEIGHT,
    TREES,
    VERBOSE,
    WARM_START,
)

Parameters = Mapping[str, Parameter[Any]]


def _by_name(config: type[ParameterSet], *others: Parameter[Any]) -> Parameters:
    """The parameters of training and others by name. Others replace those of their name."""
    return {parameter.name: parameter for parameter in (*config.table(), *others)}


def _select(parameters: Parameters, names: str, **changed: object) -> dict[str, Parameter[Any]]:
    """The parameters of some names. `changed` has another parameter of a name, or another default."""
    found = {}
    for name in names.split():
        given = changed.get(name, parameters[name])
        found[name] = given if isinstance(given, Parameter) else replace(parameters[name], default=given)
    return found


_BOOSTING = _by_name(
    Config,
    BOOSTING_ROUNDS, MAX_ROUNDS, FRACTION, VALIDATION, CLASS_WEIGHT, CATEGORICAL, PROGRESS, IMPORTANCE, WARM_START,
    EVAL_METRIC, STOPPING, SEED, TARGET_STATS, PRESET, MODELS,
)  # fmt: skip
_GROWING = (
    "preset n_estimators max_rounds models learning_rate max_leaves max_depth grow_policy tree_method proposal sketch_eps "
    "min_child_samples min_child_weight gamma reg_lambda reg_alpha max_delta_step monotone_constraints "
    "interaction_constraints subsample sampling_method top_rate other_rate goss_warm_up leaf_values colsample_bytree "
    "colsample_bylevel colsample_bynode feature_weights"
)
_CLASSES = "focal_gamma focal_alpha scale_pos_weight class_weight"
_NUMBERS = (
    "quantile_alpha expectile_alpha huber_delta fair_c poisson_max_delta_step tweedie_variance_power "
    "aft_loss_distribution aft_loss_distribution_scale"
)
_RANKS = "lambdarank_truncation_level lambdarank_norm lambdarank_sigmoid label_gain"
_DATA = (
    "max_bin bundle bundle_order max_conflict_rate absent categorical unseen max_cat_to_onehot max_cat_threshold "
    "min_data_per_group cat_smooth cat_l2 cat_charge target_stats target_stats_smooth target_stats_pairs"
)
_FITTING = (
    "early_stopping_rounds min_delta first_metric_only validation_fraction validation random_state n_jobs progress "
    "importance_type warm_start"
)

# By estimator, in the order of the constructor.
BOOSTING_PARAMETERS: Mapping[str, Parameters] = {
    "GBMClassifier": _select(
        _BOOSTING,
        f"objective {_GROWING} {_CLASSES} base_score leaf_estimation {_DATA} eval_metric {_FITTING}",
        objective=CLASSIFICATION_OBJECTIVE,
    ),
    "GBMRanker": _select(
        _BOOSTING,
        f"objective {_GROWING} {_RANKS} base_score {_DATA} eval_metric eval_at {_FITTING}",
        objective=RANKING_OBJECTIVE, reg_lambda=RANKING_PENALTY, target_stats=Config.parameter("target_stats"),
        eval_metric=RANKING_EVAL_METRIC, validation_fraction=QUERY_FRACTION,
    ),
    "GBMRegressor": _select(
        _BOOSTING,
        f"objective {_GROWING} {_NUMBERS} base_score leaf_estimation {_DATA} eval_metric {_FITTING}",
        objective=REGRESSION_OBJECTIVE,
    ),
}  # fmt: skip

_FORESTS = _by_name(
    ForestConfig,
    *(replace(ForestConfig.parameter(name), default=None) for name in ("max_depth", "max_leaf_nodes")),
    *(TREES, VERBOSE, OOB_SCORE, FOREST_WARM_START, CATEGORICAL, SEED),
)
_FOREST = (
    "n_estimators criterion max_depth min_samples_split min_samples_leaf min_weight_fraction_leaf max_features max_leaf_nodes "
    "min_impurity_decrease bootstrap oob_score n_jobs random_state verbose warm_start"
)
_TREE = (
    "criterion splitter max_depth min_samples_split min_samples_leaf min_weight_fraction_leaf max_features random_state "
    "max_leaf_nodes min_impurity_decrease"
)
_LAST = "ccp_alpha max_samples monotonic_cst"
_OURS = "tree_method max_bin categorical absent unseen keep_leaf_rows"

FOREST_PARAMETERS: Mapping[str, Parameters] = {
    "RandomForestClassifier": _select(
        _FORESTS, f"{_FOREST} class_weight {_LAST} {_OURS}",
        criterion=CLASS_CRITERION, class_weight=FOREST_CLASS_WEIGHT, max_features="sqrt",
    ),
    "RandomForestRegressor": _select(
        _FORESTS, f"{_FOREST} {_LAST} {_OURS}", criterion=NUMBER_CRITERION, max_features=1.0
    ),
    "ExtraTreesClassifier": _select(
        _FORESTS, f"{_FOREST} class_weight {_LAST} {_OURS}",
        criterion=CLASS_CRITERION, class_weight=FOREST_CLASS_WEIGHT, max_features="sqrt", bootstrap=False,
    ),
    "ExtraTreesRegressor": _select(
        _FORESTS, f"{_FOREST} {_LAST} {_OURS}", criterion=NUMBER_CRITERION, max_features=1.0, bootstrap=False
    ),
    "DecisionTreeClassifier": _select(
        _FORESTS, f"{_TREE} class_weight ccp_alpha monotonic_cst {_OURS} n_jobs",
        criterion=CLASS_CRITERION, class_weight=TREE_CLASS_WEIGHT,
    ),
    "DecisionTreeRegressor": _select(
        _FORESTS, f"{_TREE} ccp_alpha monotonic_cst {_OURS} n_jobs", criterion=NUMBER_CRITERION
    ),
}  # fmt: skip

_ADABOOST = _by_name(
    AdaBoostConfig, ADABOOST_LOSS, ADABOOST_DEPTH, ADABOOST_ROUNDS, ESTIMATOR, VERBOSE, CATEGORICAL, SEED
)
_ADABOOST_OURS = "max_depth resample max_bin categorical absent unseen n_jobs verbose"

ADABOOST_PARAMETERS: Mapping[str, Parameters] = {
    "AdaBoostClassifier": _select(
        _ADABOOST, f"estimator n_estimators learning_rate random_state {_ADABOOST_OURS}"
    ),
    "AdaBoostRegressor": _select(
        _ADABOOST, f"estimator n_estimators learning_rate loss random_state {_ADABOOST_OURS}",
        max_depth=3, resample=True,
    ),
}  # fmt: skip

ISOLATION_PARAMETERS: Mapping[str, Parameters] = {
    "IsolationForest": _select(
        _by_name(IsolationConfig, TREES, VERBOSE, FOREST_WARM_START, CATEGORICAL, SEED),
        "n_estimators max_samples contamination max_features bootstrap n_jobs random_state verbose warm_start categorical absent "
        "unseen",
    ),
}

_PROGRESS = (
    "nothing is printed unless it is requested, so leave it out; progress=True shows a progress bar, and `fit(callbacks=...)` "
    "calls a function after each round"
)
_VERBOSE = "nothing is printed unless it is requested, so leave it out; verbose=1 shows a progress bar"


@dataclass(frozen=True)
class Family:
    """Estimators that share a table.

    Attributes
    ----------
    estimators : mapping
        The parameters of each estimator, by its name.
    parameters : type
        The parameters of training.
    quiet : str
        The end of a message about a parameter that sets how much is printed.
    arguments : bool
        Whether `fit` takes more than X, y and weights.
    """

    estimators: Mapping[str, Parameters]
    parameters: type[ParameterSet]
    quiet: str
    arguments: bool = False


BOOSTING = Family(BOOSTING_PARAMETERS, Config, _PROGRESS, arguments=True)
FAMILIES = (
    BOOSTING,
    Family(FOREST_PARAMETERS, ForestConfig, _VERBOSE),
    Family(ADABOOST_PARAMETERS, AdaBoostConfig, _VERBOSE),
    Family(ISOLATION_PARAMETERS, IsolationConfig, _VERBOSE),
)
# The parameters of every estimator.
EVERY: Mapping[str, Parameters] = {
    name: parameters for one in FAMILIES for name, parameters in one.estimators.items()
}


def family_of(estimator: type[Any]) -> Family:
    """The family of an estimator's class, or of the one that it derives from.

    Examples
    --------
    >>> import spinney as sp
    >>> family_of(sp.AdaBoostRegressor).estimators.keys() >= {"AdaBoostClassifier"}
    True
    """
    names = {base.__name__ for base in estimator.__mro__}
    return next((one for one in FAMILIES if names & one.estimators.keys()), BOOSTING)
