"""Which parameters the two estimators have: scikit-learn's, with its defaults and in its order, then ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from spinney.estimators.forests.parameters import VERBOSE
from spinney.estimators.parameters import CATEGORICAL, SEED
from spinney.params import Row, adaboost_table

_TABLE = {row.name: row for row in adaboost_table()}

ROUNDS = Row(
    name="n_estimators",
    kind="int",
    default=50,
    group="running",
    low=1,
    high=2**31 - 1,
    aliases=("rounds", "n_trees", "num_boost_round", "num_iterations", "n_iter", "iterations", "num_trees"),
    doc="Most trees, one a round. Boosting ends before where a tree makes no mistake, or is no better than guessing.",
)
ESTIMATOR = Row(
    name="estimator",
    kind="estimator or None",
    default=None,
    group="growing a tree",
    aliases=("base_estimator",),
    doc="An estimator of scikit-learn's kind to boost in place of our trees; it is cloned for every round. Without resample=True "
    "its fit must take sample_weight. max_depth, max_bin, categorical, absent, unseen and n_jobs say nothing to it. Such a model "
    "cannot be saved to a file. None boosts our own trees.",
)
LOSS = replace(
    _TABLE["loss"],
    default="linear",
    choices={name: _TABLE["loss"].choices[name] for name in ("linear", "square", "exponential")},
    doc="What an error costs, of the errors' sizes over the largest one: linear, its square, or 1 - exp of minus it "
    "(exponential).",
)
_ROWS = {
    **_TABLE,
    "loss": LOSS,
    "max_depth": replace(_TABLE["max_depth"], doc=f"{_TABLE['max_depth'].doc} Only of our own trees."),
    **{row.name: row for row in (ROUNDS, ESTIMATOR, VERBOSE, CATEGORICAL, SEED)},
}
_NUMBER_DEFAULTS = {"max_depth": 3, "resample": True}
_OURS = "max_depth resample max_bin categorical absent unseen n_jobs verbose"


def _rows(names: str, **defaults: object) -> dict[str, Row]:
    """The rows of some names, some with a default of their own."""
    return {
        name: replace(_ROWS[name], default=defaults[name]) if name in defaults else _ROWS[name]
        for name in names.split()
    }


# By estimator, in the order of the constructor.
ADABOOST: Mapping[str, Mapping[str, Row]] = {
    "AdaBoostClassifier": _rows(f"estimator n_estimators learning_rate random_state {_OURS}"),
    "AdaBoostRegressor": _rows(
        f"estimator n_estimators learning_rate loss random_state {_OURS}", **_NUMBER_DEFAULTS
    ),
}
