"""The families of estimators: each has a table of parameters of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spinney.estimators.adaboost.parameters import ADABOOST
from spinney.estimators.forests.parameters import FORESTS
from spinney.estimators.isolation.parameters import ISOLATION
from spinney.estimators.parameters import ESTIMATORS
from spinney.params import AdaBoostConfig, Config, ForestConfig, IsolationConfig, Parameter, ParameterSet

_PROGRESS = (
    "nothing is printed unless it is asked for, so leave it out; progress=True shows a progress bar, and `fit(callbacks=...)` "
    "calls a function after each round"
)
_VERBOSE = "nothing is printed unless it is asked for, so leave it out; verbose=1 shows a progress bar"


@dataclass(frozen=True)
class Family:
    """Estimators that share a table.

    Attributes
    ----------
    estimators : mapping
        The parameters of each estimator, by its name.
    parameters : type
        The parameters of training.
    quiet : str
        The end of a message about a parameter that sets how much is printed.
    arguments : bool
        Whether `fit` takes more than X, y and weights.
    """

    estimators: Mapping[str, Mapping[str, Parameter[Any]]]
    parameters: type[ParameterSet]
    quiet: str
    arguments: bool = False


BOOSTING = Family(ESTIMATORS, Config, _PROGRESS, arguments=True)
FAMILIES = (
    BOOSTING,
    Family(FORESTS, ForestConfig, _VERBOSE),
    Family(ADABOOST, AdaBoostConfig, _VERBOSE),
    Family(ISOLATION, IsolationConfig, _VERBOSE),
)
# The parameters of every estimator.
EVERY: Mapping[str, Mapping[str, Parameter[Any]]] = {
    name: parameters for one in FAMILIES for name, parameters in one.estimators.items()
}


def family_of(estimator: type[Any]) -> Family:
    """The family of an estimator's class, or of the one that it derives from.

    Examples
    --------
    >>> import spinney as sp
    >>> family_of(sp.AdaBoostRegressor).estimators.keys() >= {"AdaBoostClassifier"}
    True
    """
    names = {base.__name__ for base in estimator.__mro__}
    return next((one for one in FAMILIES if names & one.estimators.keys()), BOOSTING)
