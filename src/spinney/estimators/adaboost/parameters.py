"""Which parameters the two estimators have: scikit-learn's, with its defaults and in its order, then ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from spinney.params import AdaBoostConfig, Parameter
from spinney.params.estimators import (
    ADABOOST_DEPTH,
    ADABOOST_LOSS,
    ADABOOST_ROUNDS,
    CATEGORICAL,
    ESTIMATOR,
    SEED,
    VERBOSE,
)

_PARAMETERS: Mapping[str, Parameter[Any]] = {
    **{parameter.name: parameter for parameter in AdaBoostConfig.table()},
    **{
        parameter.name: parameter
        for parameter in (
            ADABOOST_LOSS, ADABOOST_DEPTH, ADABOOST_ROUNDS, ESTIMATOR, VERBOSE, CATEGORICAL, SEED,
        )
    },
}  # fmt: skip
_NUMBER_DEFAULTS = {"max_depth": 3, "resample": True}
_OURS = "max_depth resample max_bin categorical absent unseen n_jobs verbose"


def _named(names: str, **defaults: object) -> dict[str, Parameter[Any]]:
    """The parameters of some names, some with another default."""
    return {
        name: replace(_PARAMETERS[name], default=defaults[name]) if name in defaults else _PARAMETERS[name]
        for name in names.split()
    }


# By estimator, in the order of the constructor.
ADABOOST: Mapping[str, Mapping[str, Parameter[Any]]] = {
    "AdaBoostClassifier": _named(f"estimator n_estimators learning_rate random_state {_OURS}"),
    "AdaBoostRegressor": _named(
        f"estimator n_estimators learning_rate loss random_state {_OURS}", **_NUMBER_DEFAULTS
    ),
}
