"""Which parameters the isolation forest has: scikit-learn's, with its defaults and in its order, then ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from spinney.estimators.forests.parameters import TREES, VERBOSE
from spinney.estimators.parameters import CATEGORICAL, SEED, WARM_START
from spinney.params import Row, isolation_table

_WARM_START = replace(
    WARM_START,
    doc="Whether a fitted forest keeps its trees when it is fitted again: n_estimators then counts old and new trees. Rows and "
    "parameters must be the same; the forest is then the one that a single fit makes.",
)
_ROWS = {
    **{row.name: row for row in isolation_table()},
    **{row.name: row for row in (TREES, VERBOSE, _WARM_START, CATEGORICAL, SEED)},
}
_NAMES = (
    "n_estimators max_samples contamination max_features bootstrap n_jobs random_state verbose warm_start categorical absent "
    "unseen"
)

# By estimator, in the order of the constructor.
ISOLATION: Mapping[str, Mapping[str, Row]] = {
    "IsolationForest": {name: _ROWS[name] for name in _NAMES.split()},
}
