"""What is known of losses without their formulas: a row each.

A new loss is one row here, and its formula in a file of its own: `objectives/kernels/<name>.py`.
"""

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


def objective_row(name: str) -> ObjectiveRow:
    """The row of an objective's canonical name."""
    if name not in OBJECTIVES:
        raise ParameterError(f"objective = {name!r} is unknown; there are {', '.join(OBJECTIVES)}")
    return OBJECTIVES[name]
