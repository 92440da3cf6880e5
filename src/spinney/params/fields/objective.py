"""The loss, and what only some losses take."""

from dataclasses import dataclass

from spinney.params.choices import Spellings
from spinney.params.objectives import OBJECTIVES
from spinney.params.rows import INT32, param


@dataclass(frozen=True, kw_only=True)
class ObjectiveFields:
    """The loss, and what only some losses take."""

    objective: str = param(
        "squared_error",
        group="objective",
        choices=Spellings(OBJECTIVES),
        aliases=("objective_type", "app", "application", "loss"),
        doc="Loss: squared_error for numbers, log_loss for two classes, softmax for more of them.",
    )
    num_class: int = param(
        0,
        group="objective",
        low=0,
        high=INT32,
        aliases=("num_classes", "n_classes"),
        doc="Number of classes. softmax needs 2 or more; other objectives leave it at 0 (1 is read as 0).",
    )
    scale_pos_weight: float = param(
        1.0,
        group="objective",
        low=0,
        low_open=True,
        doc="Weight of the rows of the positive class, for log_loss only.",
    )
    base_score: float | None = param(
        None,
        group="objective",
        doc="Raw score that every row starts from: for log_loss the log-odds, not a probability as in "
        "XGBoost. None takes the constant with the least loss.",
    )
