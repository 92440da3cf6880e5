"""Which parameters each forest and tree has: scikit-learn's, with its defaults and in its order, then ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from spinney.estimators.parameters import CATEGORICAL, SEED, WARM_START
from spinney.params import Row, forest_table

_TABLE = {row.name: row for row in forest_table()}

TREES = Row(
    name="n_estimators",
    kind="int",
    default=100,
    group="running",
    low=1,
    high=2**31 - 1,
    aliases=("n_trees", "num_trees", "num_tree", "ntree", "num_parallel_tree"),
    doc="Number of trees.",
)
VERBOSE = Row(
    name="verbose",
    kind="int",
    default=0,
    group="running",
    low=0,
    high=2**31 - 1,
    doc="1 or more shows a progress bar while fitting.",
)
_OOB = Row(
    name="oob_score",
    kind="bool or callable",
    default=False,
    group="evaluation",
    doc="Whether to score the forest on the rows that each tree did not see: accuracy or R2, or a function f(y_true, y_pred) "
    "that gives the score. A classifier's function gets places in classes_. Needs bootstrap=True, or max_samples.",
)
CLASS_CRITERION = replace(
    _TABLE["criterion"],
    default="gini",
    choices={name: _TABLE["criterion"].choices[name] for name in ("gini", "entropy")},
    doc="What makes a split a good one: gini, entropy or log_loss, which is the same as entropy.",
)
NUMBER_CRITERION = replace(
    _TABLE["criterion"],
    choices={
        name: _TABLE["criterion"].choices[name] for name in ("squared_error", "absolute_error", "poisson")
    },
    doc="What makes a split a good one: squared_error, absolute_error (leaves then predict medians), or poisson, half of its "
    "deviance, for a target of 0 and more. friedman_mse is squared_error.",
)
_FOREST_WEIGHT = Row(
    name="class_weight",
    kind="dict, list of dicts, str or None",
    default=None,
    group="objective",
    doc="Factor on the weights of a class's rows, by label; 1 for a label that is not named; for several outputs a list of "
    "such dicts, whose factors are multiplied. 'balanced' gives all classes the same total weight, "
    "'balanced_subsample' does so in the bag of every tree.",
)
_TREE_WEIGHT = replace(
    _FOREST_WEIGHT,
    doc="Factor on the weights of a class's rows, by label; 1 for a label that is not named; for several outputs a list of "
    "such dicts, whose factors are multiplied. 'balanced' gives all classes the same total weight.",
)
_WARM_START = replace(
    WARM_START,
    doc="Whether a fitted forest keeps its trees when it is fitted again: n_estimators then counts old and new trees. Rows and "
    "parameters must be the same; the forest is then the one that a single fit makes.",
)
_NO_LIMIT = {name: replace(_TABLE[name], default=None) for name in ("max_depth", "max_leaf_nodes")}
_ROWS = {
    **_TABLE,
    **_NO_LIMIT,
    **{row.name: row for row in (TREES, VERBOSE, _OOB, _WARM_START, CATEGORICAL, SEED)},
}


def _rows(names: str, **own: object) -> dict[str, Row]:
    """The rows of some names; `own` gives the row of a name, or a default of its own."""
    found = {}
    for name in names.split():
        given = own.get(name, _ROWS.get(name))
        found[name] = given if isinstance(given, Row) else replace(_ROWS[name], default=given)
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
FORESTS: Mapping[str, Mapping[str, Row]] = {
    "RandomForestClassifier": _rows(
        f"{_FOREST} class_weight {_LAST} {_OURS}",
        criterion=CLASS_CRITERION, class_weight=_FOREST_WEIGHT, max_features="sqrt",
    ),
    "RandomForestRegressor": _rows(
        f"{_FOREST} {_LAST} {_OURS}", criterion=NUMBER_CRITERION, max_features=1.0
    ),
    "ExtraTreesClassifier": _rows(
        f"{_FOREST} class_weight {_LAST} {_OURS}",
        criterion=CLASS_CRITERION, class_weight=_FOREST_WEIGHT, max_features="sqrt", bootstrap=False,
    ),
    "ExtraTreesRegressor": _rows(
        f"{_FOREST} {_LAST} {_OURS}", criterion=NUMBER_CRITERION, max_features=1.0, bootstrap=False
    ),
    "DecisionTreeClassifier": _rows(
        f"{_TREE} class_weight ccp_alpha monotonic_cst {_OURS} n_jobs",
        criterion=CLASS_CRITERION, class_weight=_TREE_WEIGHT,
    ),
    "DecisionTreeRegressor": _rows(
        f"{_TREE} ccp_alpha monotonic_cst {_OURS} n_jobs", criterion=NUMBER_CRITERION
    ),
}  # fmt: skip
