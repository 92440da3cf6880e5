"""Which parameters the isolation forest has: scikit-learn's, with its defaults and in its order, then ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spinney.params import IsolationConfig, Parameter
from spinney.params.estimators import CATEGORICAL, FOREST_WARM_START, SEED, TREES, VERBOSE

_PARAMETERS: Mapping[str, Parameter[Any]] = {
    **{parameter.name: parameter for parameter in IsolationConfig.table()},
    **{parameter.name: parameter for parameter in (TREES, VERBOSE, FOREST_WARM_START, CATEGORICAL, SEED)},
}
_NAMES = (
    "n_estimators max_samples contamination max_features bootstrap n_jobs random_state verbose warm_start categorical absent "
    "unseen"
)

# By estimator, in the order of the constructor.
ISOLATION: Mapping[str, Mapping[str, Parameter[Any]]] = {
    "IsolationForest": {name: _PARAMETERS[name] for name in _NAMES.split()},
}
