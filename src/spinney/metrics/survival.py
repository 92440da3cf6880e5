"""Metrics of survival times, which may be censored: partial likelihood, concordance, means over intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from spinney.data import Labels, Spans, risk_sets, spans_of_events, spans_of_intervals
from spinney.data.kernels.risk_sets import RiskSets
from spinney.errors import DataError
from spinney.jit import allocate
from spinney.metrics.forms import Predictions, mean_loss, scaled
from spinney.metrics.kernels.survival import PAIRS, Sweep, count_pairs, partial_likelihood
from spinney.params import Config, MetricInfo, aft_values, kind_of
from spinney.params.objectives import Kind

# The forms of these metrics.
SURVIVAL_FORMS = ("likelihood", "concordance", "interval")
# Lower and upper ends of times, by the kind of target.
_SPANS: Mapping[Kind, Callable[[Labels], Spans]] = {"hazards": spans_of_events, "times": spans_of_intervals}


def survival_metric(info: MetricInfo, config: Config, predictions: Predictions, labels: Labels) -> float:
    """The value of a metric of survival times."""
    if info.form == "likelihood":
        return likelihood(predictions, labels)
    if info.form == "concordance":
        return concordance(kind_of(config.objective), predictions, labels)
    values = predictions.values if info.looks_at == "prediction" else predictions.scores
    return mean_loss(info.name, values, labels, np.array(aft_values(config)), predictions.team)


def likelihood(predictions: Predictions, labels: Labels) -> float:
    """Mean over events of log S - F, S being the sum of e^F over the rows at risk. NaN without an event."""
    sets = labels.cached(_scaled_risk_sets)
    sums = np.empty(sets.blocks)
    predictions.team.run(partial_likelihood.bind(sets, predictions.raw[0], sums))
    total = math.fsum(sets.event)
    if total == 0.0:
        return math.nan
    # Weights were divided by a power of two, and S by as much.
    return math.fsum(sums) / total + _exponent(labels) * math.log(2.0)


def concordance(kind: Kind, predictions: Predictions, labels: Labels) -> float:
    """Share of the pairs of known order that are predicted in it; equal predictions count half. NaN without such a pair."""
    found = labels.cached(_SPANS[kind])
    weight = scaled(labels).weight
    sweep = allocate(
        Sweep,
        rows=labels.rows,
        bounded=len(found.earlier),
        lower=found.lower,
        upper=found.upper,
        later=found.later,
        earlier=found.earlier,
    )
    pairs = np.empty(PAIRS)
    weights = np.empty(0) if weight is None else weight
    # The earlier of two rows should have the higher hazard, but the lower time.
    falling = int(kind == "times")
    count_pairs(sweep, falling, int(weight is not None), weights, *predictions.order, pairs)
    right, tied, known = pairs.tolist()
    return (right + 0.5 * tied) / known if known > 0.0 else math.nan


def check_survival(info: MetricInfo, config: Config, labels: Labels) -> None:
    """Refuse labels without an event, or without a pair of rows whose order is known.

    Raises
    ------
    DataError
        Naming the metric.
    """
    counted = np.ones(labels.rows, np.bool_) if labels.weight is None else labels.weight > 0
    if info.form == "likelihood" and not (labels.target[:, 1] > 0)[counted].any():
        raise DataError(
            f"eval_metric={info.name!r} needs a row with an event and a weight above 0, but every row is censored; give rows "
            "with events, or another metric"
        )
    if info.form == "concordance" and not _has_pair(
        labels.cached(_SPANS[kind_of(config.objective)]), counted
    ):
        raise DataError(
            f"eval_metric={info.name!r} needs two rows with weights above 0 of which one certainly comes first; give more "
            "rows, or another metric"
        )


def _has_pair(found: Spans, counted: NDArray[np.bool_]) -> bool:
    lower, upper, exact = found.lower[counted], found.upper[counted], found.exact[counted]
    return bool(lower.max() > upper.min()) or bool(np.isin(upper[exact], lower[~exact]).any())


def _scaled_risk_sets(labels: Labels) -> RiskSets:
    return risk_sets(scaled(labels))


def _exponent(labels: Labels) -> int:
    return 0 if labels.weight is None else int(np.frexp(labels.weight.max())[1])
