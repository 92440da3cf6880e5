"""What is known of metrics without their formulas: a row each.

A new metric is one row here, and its formula in a file of its own: `metrics/kernels/<name>.py`.
"""

from dataclasses import dataclass
from typing import Literal

from spinney.errors import ParameterError
from spinney.params.objectives import Link, objective_row


@dataclass(frozen=True, kw_only=True)
class MetricRow:
    """A metric."""

    name: str
    spellings: tuple[
        str, ...
    ] = ()  # one may stand in two rows; it then means the metric that fits the objective
    link: Link = "identity"  # it judges the scores of objectives with this link
    # How rows make a number: the mean of a formula's losses, its root, or the area under the ROC curve.
    form: Literal["mean", "root_mean", "area"] = "mean"
    higher_is_better: bool = False


METRICS: dict[str, MetricRow] = {
    row.name: row
    for row in (
        MetricRow(name="rmse", spellings=("root_mean_squared_error", "l2_root"), form="root_mean"),
        MetricRow(name="mae", spellings=("l1", "mean_absolute_error")),
        MetricRow(name="logloss", spellings=("binary_logloss", "log_loss"), link="logistic"),
        MetricRow(name="auc", spellings=("roc_auc",), link="logistic", form="area", higher_is_better=True),
        MetricRow(name="error", spellings=("binary_error",), link="logistic"),
        MetricRow(
            name="mlogloss", spellings=("multi_logloss", "multiclass_logloss", "log_loss"), link="softmax"
        ),
        MetricRow(name="merror", spellings=("multi_error", "error"), link="softmax"),
    )
}


def metric_row(name: str) -> MetricRow:
    """The row of a metric's canonical name."""
    if name not in METRICS:
        raise ParameterError(f"eval_metric = {name!r} is unknown; there are {', '.join(METRICS)}")
    return METRICS[name]


def metrics_for(objective: str) -> tuple[str, ...]:
    """Names of the metrics that can judge an objective, its own metric first.

    Examples
    --------
    >>> metrics_for("log_loss")
    ('logloss', 'auc', 'error')
    """
    row = objective_row(objective)
    others = (one.name for one in METRICS.values() if one.link == row.link and one.name != row.metric)
    return (row.metric, *others)
