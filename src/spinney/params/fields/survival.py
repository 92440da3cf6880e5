"""What only the loss of times in intervals takes."""

from dataclasses import dataclass

from spinney.params.choices import AFT_DISTRIBUTIONS
from spinney.params.rows import param


@dataclass(frozen=True, kw_only=True)
class SurvivalFields:
    """What only the loss of times in intervals takes."""

    aft_loss_distribution: str = param(
        "normal",
        group="objective",
        choices=AFT_DISTRIBUTIONS,
        doc="Objective aft: distribution of the logarithm of a time about its score. extreme is that of the logarithm of an "
        "exponential variable.",
    )
    aft_loss_distribution_scale: float = param(
        1.0,
        group="objective",
        low=1e-6,
        high=1e6,
        doc="Objective aft: factor on that distribution. The smaller, the surer a prediction is taken to be.",
    )
