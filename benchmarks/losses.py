"""Every loss that is measured: its name in each library, and the formula that judges all of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Params = Mapping[str, Any]
Formula = Callable[[Array, Array], Array]  # target, prediction → the loss of each row

TINY = 1e-15
POWER = 1.5  # of Tweedie's variance
LEVELS = (0.05, 0.5, 0.95)  # of quantiles that are trained together


@dataclass(frozen=True)
class Loss:
    """What to ask of each library, and how its predictions are judged; a library that is not named has no such loss."""

    measure: str
    formula: Formula
    names: Mapping[str, Params] = field(default_factory=dict)
    is_log: bool = False  # raw scores are logarithms of predictions

    def mean(self, target: Array, prediction: Array, weight: Array | None = None) -> float:
        """Return the weighted mean over the rows."""
        found = self.formula(target.astype(np.float64), prediction.astype(np.float64))
        return float(np.average(found, weights=weight))


def absolute(target: Array, prediction: Array) -> Array:
    """Return |y - f|."""
    size: Array = np.abs(target - prediction)
    return size


def pinball(level: float) -> Formula:
    """Return the loss of a quantile."""
    return lambda y, f: np.maximum(level * (y - f), (level - 1.0) * (y - f))


def pinballs(levels: Sequence[float]) -> Formula:
    """Return the mean loss of several quantiles, of which predictions have a column each."""
    return lambda y, f: np.mean([pinball(level)(y, f[:, k]) for k, level in enumerate(levels)], axis=0)


def expectile(level: float) -> Formula:
    """Return the loss of an expectile."""
    return lambda y, f: np.where(y > f, level, 1.0 - level) * (y - f) ** 2


def huber(target: Array, prediction: Array) -> Array:
    """Return half the squared error up to 1, linear beyond."""
    size = absolute(target, prediction)
    return np.where(size <= 1.0, 0.5 * size**2, size - 0.5)


def pseudo_huber(target: Array, prediction: Array) -> Array:
    """Return the smooth form of huber."""
    return np.sqrt(1.0 + (target - prediction) ** 2) - 1.0


def fair(target: Array, prediction: Array) -> Array:
    """Return Fair's loss with c = 1."""
    size = absolute(target, prediction)
    return size - np.log1p(size)


def percentage(target: Array, prediction: Array) -> Array:
    """Return |y - f| as a share of |y|, which is 1 at least."""
    return absolute(target, prediction) / np.maximum(1.0, np.abs(target))


def squared_log(target: Array, prediction: Array) -> Array:
    """Return the squared difference of log(1 + y)."""
    return (np.log1p(target) - np.log1p(np.maximum(prediction, -1.0 + 1e-6))) ** 2


def poisson(target: Array, prediction: Array) -> Array:
    """Return the Poisson deviance."""
    ratio = np.where(target > 0.0, target, 1.0) / np.maximum(prediction, TINY)
    return 2.0 * (np.where(target > 0.0, target * np.log(ratio), 0.0) - target + prediction)


def gamma(target: Array, prediction: Array) -> Array:
    """Return the gamma deviance."""
    ratio = target / np.maximum(prediction, TINY)
    return 2.0 * (ratio - np.log(ratio) - 1.0)


def tweedie(target: Array, prediction: Array) -> Array:
    """Return the Tweedie deviance."""
    f = np.maximum(prediction, TINY)
    own = np.maximum(target, 0.0) ** (2.0 - POWER) / ((1.0 - POWER) * (2.0 - POWER))
    return 2.0 * (own - target * f ** (1.0 - POWER) / (1.0 - POWER) + f ** (2.0 - POWER) / (2.0 - POWER))


def log_losses(target: Array, probability: Array) -> Array:
    """Return the negative log likelihood, of one column of probabilities or of one per class."""
    likelihoods: Array = np.log(np.clip(_chosen(target, probability), TINY, 1.0))
    return -likelihoods


def focal(target: Array, probability: Array) -> Array:
    """Return the focal loss with γ = 2."""
    return (1.0 - _chosen(target, probability)) ** 2 * log_losses(target, probability)


def _chosen(target: Array, probability: Array) -> Array:
    if probability.ndim == 1:
        return np.where(target > 0, probability, 1.0 - probability)
    return probability[np.arange(len(target)), target.astype(np.int64)]


def _names(
    spinney: Params, lightgbm: Params | None = None, xgboost: Params | None = None
) -> dict[str, Params]:
    given = {"spinney": spinney, "lightgbm": lightgbm, "xgboost": xgboost}
    return {name: params for name, params in given.items() if params is not None}


def _quantile(level: float) -> Loss:
    names = _names(
        {"objective": "quantile", "quantile_alpha": level},
        {"objective": "quantile", "alpha": level},
        {"objective": "reg:quantileerror", "quantile_alpha": level},
    )
    return Loss("pinball", pinball(level), names)


def _objective(name: str, lightgbm: str | None = None, xgboost: str | None = None) -> dict[str, Params]:
    """Return the names of a loss without parameters of its own."""
    others = [None if other is None else {"objective": other} for other in (lightgbm, xgboost)]
    return _names({"objective": name}, *others)


LOSSES = {
    "squared_error": Loss(
        "mse", lambda y, f: (y - f) ** 2, _objective("squared_error", "regression", "reg:squarederror")
    ),
    "log_loss": Loss("log_loss", log_losses, _objective("log_loss", "binary", "binary:logistic")),
    "softmax": Loss("log_loss", log_losses, _objective("softmax", "multiclass", "multi:softprob")),
    "one_vs_rest": Loss("log_loss", log_losses, _objective("one_vs_rest", "multiclassova")),
    "focal": Loss("focal", focal, _objective("focal")),
    "absolute_error": Loss(
        "mae", absolute, _objective("absolute_error", "regression_l1", "reg:absoluteerror")
    ),
    "quantiles": Loss(
        "pinball",
        pinballs(LEVELS),
        _names(
            {"objective": "quantile", "quantile_alpha": LEVELS},
            xgboost={"objective": "reg:quantileerror", "quantile_alpha": LEVELS},
        ),
    ),
    **{f"quantile {level}": _quantile(level) for level in LEVELS},
    "quantile 0.1": _quantile(0.1),
    "quantile 0.9": _quantile(0.9),
    "expectile 0.9": Loss(
        "expectile", expectile(0.9), _names({"objective": "expectile", "expectile_alpha": 0.9})
    ),
    "huber": Loss(
        "huber",
        huber,
        _names({"objective": "huber", "huber_delta": 1.0}, {"objective": "huber", "alpha": 1.0}),
    ),
    "pseudo_huber": Loss(
        "pseudo_huber", pseudo_huber, _objective("pseudo_huber", xgboost="reg:pseudohubererror")
    ),
    "fair": Loss("fair", fair, _objective("fair", "fair")),
    "mape": Loss("mape", percentage, _objective("mape", "mape")),
    "squared_log_error": Loss(
        "msle", squared_log, _objective("squared_log_error", xgboost="reg:squaredlogerror")
    ),
    "poisson": Loss(
        "poisson deviance", poisson, _objective("poisson", "poisson", "count:poisson"), is_log=True
    ),
    "gamma": Loss("gamma deviance", gamma, _objective("gamma", "gamma", "reg:gamma"), is_log=True),
    "tweedie": Loss(
        "tweedie deviance",
        tweedie,
        _names(
            {"objective": "tweedie", "tweedie_variance_power": POWER},
            {"objective": "tweedie", "tweedie_variance_power": POWER},
            {"objective": "reg:tweedie", "tweedie_variance_power": POWER},
        ),
        is_log=True,
    ),
}  # fmt: skip
