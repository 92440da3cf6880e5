"""Which parameters each forest and tree has: scikit-learn's, with its defaults and in its order, then ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from spinney.params import ForestConfig, Parameter
from spinney.params.estimators import (
    CATEGORICAL,
    CLASS_CRITERION,
    FOREST_CLASS_WEIGHT,
    FOREST_WARM_START,
    NUMBER_CRITERION,
    OOB_SCORE,
    SEED,
    TREE_CLASS_WEIGHT,
    TREES,
    VERBOSE,
)

_NO_LIMIT = {
    name: replace(ForestConfig.parameter(name), default=None) for name in ("max_depth", "max_leaf_nodes")
}
_PARAMETERS: Mapping[str, Parameter[Any]] = {
    **{parameter.name: parameter for parameter in ForestConfig.table()},
    **_NO_LIMIT,
    **{
        parameter.name: parameter
        for parameter in (TREES, VERBOSE, OOB_SCORE, FOREST_WARM_START, CATEGORICAL, SEED)
    },
}


def _named(names: str, **changed: object) -> dict[str, Parameter[Any]]:
    """The parameters of some names; `changed` has another one of a name, or another default."""
    found = {}
    for name in names.split():
        given = changed.get(name, _PARAMETERS.get(name))
        found[name] = given if isinstance(given, Parameter) else replace(_PARAMETERS[name], default=given)
    return found


_OURS = "tree_method max_bin categorical absent unseen keep_leaf_rows"
_FOREST = (
    "n_estimators criterion max_depth min_samples_split min_samples_leaf min_weight_fraction_leaf max_features max_leaf_nodes "
    "min_impurity_decrease bootstrap oob_score n_jobs random_state verbose warm_start"
)
_TREE = (
    "criterion splitter max_depth min_samples_split min_samples_leaf min_weight_fraction_leaf max_features random_state "
    "max_leaf_nodes min_impurity_decrease"
)
_LAST = "ccp_alpha max_samples monotonic_cst"

# By estimator, in the order of the constructor.
FORESTS: Mapping[str, Mapping[str, Parameter[Any]]] = {
    "RandomForestClassifier": _named(
        f"{_FOREST} class_weight {_LAST} {_OURS}",
        criterion=CLASS_CRITERION, class_weight=FOREST_CLASS_WEIGHT, max_features="sqrt",
    ),
    "RandomForestRegressor": _named(
        f"{_FOREST} {_LAST} {_OURS}", criterion=NUMBER_CRITERION, max_features=1.0
    ),
    "ExtraTreesClassifier": _named(
        f"{_FOREST} class_weight {_LAST} {_OURS}",
        criterion=CLASS_CRITERION, class_weight=FOREST_CLASS_WEIGHT, max_features="sqrt", bootstrap=False,
    ),
    "ExtraTreesRegressor": _named(
        f"{_FOREST} {_LAST} {_OURS}", criterion=NUMBER_CRITERION, max_features=1.0, bootstrap=False
    ),
    "DecisionTreeClassifier": _named(
        f"{_TREE} class_weight ccp_alpha monotonic_cst {_OURS} n_jobs",
        criterion=CLASS_CRITERION, class_weight=TREE_CLASS_WEIGHT,
    ),
    "DecisionTreeRegressor": _named(
        f"{_TREE} ccp_alpha monotonic_cst {_OURS} n_jobs", criterion=NUMBER_CRITERION
    ),
}  # fmt: skip
