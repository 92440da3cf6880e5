"""Parameters as formulas take them: numbers."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from spinney.params.choices import AFT_DISTRIBUTIONS
from spinney.params.config import Config


def formula_values(config: Config, names: Iterable[str]) -> NDArray[np.float64]:
    """Values of some parameters in their order: None is NaN, a distribution its place among them.

    Examples
    --------
    >>> formula_values(Config(), ["huber_delta", "focal_alpha", "aft_loss_distribution"]).tolist()
    [1.0, nan, 0.0]
    """
    return np.array([_number(getattr(config, name)) for name in names], np.float64)


def _number(value: float | str | None) -> float:
    if value is None:
        return np.nan
    return float([*AFT_DISTRIBUTIONS].index(value) if isinstance(value, str) else value)
