"""Metrics: numbers that judge scores against a target.

Enters: raw scores (outputs × rows), target, weights. Leaves: one float. Must not know: trees, data sets, objectives.
A new metric is one function and one line in `_ALL`.
"""

from spinney.metrics.registry import Metric, get, metrics_of

__all__ = ["Metric", "get", "metrics_of"]
