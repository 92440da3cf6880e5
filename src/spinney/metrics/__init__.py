"""Metrics: numbers that judge scores against labels.

Enters: an `Outcome` (raw scores, outputs × rows, and the link that makes predictions of them), `Labels`. Leaves: one float.
Must not know: trees, data sets, objectives.

What is known of a metric without its formula is its row in `params/metrics.py`. Formulas of one row stand in `kernels/<name>.py`.
`registry.py` makes a metric of a row, `mean.py`, `by_class.py`, `areas.py`, `by_query.py` and `survival.py` make one number of
all rows, `checks.py` says which targets have one.
"""

from spinney.metrics.outcome import Outcome, Predicted
from spinney.metrics.registry import Judgement, Metric, get, metrics_of

__all__ = ["Judgement", "Metric", "Outcome", "Predicted", "get", "metrics_of"]
