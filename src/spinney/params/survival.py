"""What formulas of times in intervals take."""

from spinney.params.choices import AFT_DISTRIBUTIONS
from spinney.params.config import Config


def aft_values(config: Config) -> tuple[float, float]:
    """The place of the distribution among all, and its scale.

    Examples
    --------
    >>> aft_values(Config(objective="aft", aft_loss_distribution="logistic"))
    (1.0, 1.0)
    """
    place = [*AFT_DISTRIBUTIONS].index(config.aft_loss_distribution)
    return float(place), config.aft_loss_distribution_scale
