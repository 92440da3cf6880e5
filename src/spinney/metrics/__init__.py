"""Metrics: one number for predictions and labels.

Enters: `Predictions` (raw scores, outputs × rows, and the link that makes predictions of them), `Labels`. Leaves: a
`MetricValue`. Must not depend on trees, data sets, objectives.

The declaration of a metric, which is all but its formula, is in `params/metrics.py`. `registry` has the interface of metrics,
makes built-in ones by name, and checks the labels that they need. `forms` and `survival` compute one number of all rows, by
formulas that are in `kernels/`, and `custom` has metrics that users wrote.
"""

from spinney.metrics.forms import GivenPredictions, Predictions
from spinney.metrics.registry import BuiltInMetric, Metric, MetricValue, get, metrics_of

__all__ = [
    "BuiltInMetric",
    "GivenPredictions",
    "Metric",
    "MetricValue",
    "Predictions",
    "get",
    "metrics_of",
]
