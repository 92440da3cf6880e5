"""Metrics: numbers that judge scores against labels.

Enters: raw scores (outputs × rows), `Labels`. Leaves: one float. Must not know: trees, data sets, objectives.

What is known of a metric without its formula is its row in `params/metrics.py`. Its formula stands in `kernels/<name>.py`.
"""

from spinney.metrics.registry import Metric, get, metrics_of

__all__ = ["Metric", "get", "metrics_of"]
