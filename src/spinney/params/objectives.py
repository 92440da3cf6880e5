"""What is known of losses and metrics without their formulas: a row each.

A new loss or metric is one row here, and its formula in a file of its own: `objectives/kernels/<name>.py`,
`metrics/kernels/<name>.py`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from spinney.errors import ParameterError

Link = Literal["identity", "logistic", "softmax"]


@dataclass(frozen=True, kw_only=True)
class ObjectiveRow:
    """A loss."""

    name: str
    spellings: tuple[str, ...] = ()  # other ones, XGBoost's and LightGBM's among them
    metric: str  # used when none is asked for
    # How gradients are computed: row by row from one score by a formula, or from the scores of all classes.
    form: Literal["pointwise", "softmax"] = "pointwise"
    link: Link = "identity"  # what makes predictions of scores
    # What a target may be: any number, 0 to 1, or the number of a class.
    domain: Literal["numbers", "shares", "classes"] = "numbers"
    # Parameters that only some objectives take, and this one does. Its formula gets their values in this order.
    parameters: tuple[str, ...] = ()
    # How the value of a leaf follows from its rows: minus the sum of gradients over that of hessians.
    leaf_values: Literal["newton"] = "newton"


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


OBJECTIVES: dict[str, ObjectiveRow] = {
    row.name: row
    for row in (
        ObjectiveRow(
            name="squared_error",
            spellings=("regression", "reg:squarederror", "l2", "mse", "regression_l2", "mean_squared_error"),
            metric="rmse",
        ),
        ObjectiveRow(
            name="log_loss",
            spellings=("binary", "binary:logistic", "logistic"),
            metric="logloss",
            link="logistic",
            domain="shares",
            parameters=("scale_pos_weight",),
        ),
        ObjectiveRow(
            name="softmax",
            spellings=("multiclass", "multi:softprob", "multi:softmax"),
            metric="mlogloss",
            form="softmax",
            link="softmax",
            domain="classes",
            parameters=("num_class",),
        ),
    )
}

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


class Spellings(Mapping[str, tuple[str, ...]]):
    """Other spellings by canonical name, of rows as they are when it is asked."""

    def __init__(self, rows: Mapping[str, ObjectiveRow] | Mapping[str, MetricRow]) -> None:
        self._rows = rows

    def __getitem__(self, name: str) -> tuple[str, ...]:
        return self._rows[name].spellings

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def objective_row(name: str) -> ObjectiveRow:
    """The row of an objective's canonical name."""
    if name not in OBJECTIVES:
        raise ParameterError(f"objective = {name!r} is unknown; there are {', '.join(OBJECTIVES)}")
    return OBJECTIVES[name]


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
