"""The arguments of an estimator's methods, and what to say about one that a method does not have."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from spinney.errors import ParameterTypeError
from spinney.estimators.families import BOOSTING
from spinney.estimators.names import FIT_ARGUMENTS, canonical
from spinney.messages import nearest_names
from spinney.params.parameter_set import PRINTING

P = ParamSpec("P")
R = TypeVar("R")

# What predictions of other libraries are told by arguments, and here by arguments and methods of other names.
_ROUNDS = "use the first so many rounds with rounds=n"
_RAW = {"raw_score", "output_margin", "predict_raw_score"}
_PREDICT: Mapping[str, str] = {
    "num_iteration": _ROUNDS,
    "start_iteration": _ROUNDS,
    "iteration_range": _ROUNDS,
    "ntree_limit": _ROUNDS,
    "pred_leaf": "`apply` gives the leaf of each row in each tree",
    "init_score": "it is called base_margin here",
}


def told(method: Callable[P, R]) -> Callable[P, R]:
    """Let a method say what is right where it is given a name that it does not have. Its signature stays what it is."""
    accepted = inspect.signature(method).parameters

    @wraps(method)
    def checked(*args: P.args, **given: P.kwargs) -> R:
        for name in given:
            if name not in accepted:
                raise ParameterTypeError(_unknown_name(args[0], method.__name__, accepted, name))
        return method(*args, **given)

    return checked


def _unknown_name(estimator: Any, method: str, accepted: Collection[str], name: str) -> str:
    said = f"{type(estimator).__name__}.{method} has no argument {name}"
    right = _in_fit(estimator, name) if method == "fit" else _in_predict(estimator, name)
    if right:
        return f"{said}: {right}"
    near = nearest_names(name, {other: other for other in accepted if other != "self"})
    meant = f" did you mean {' or '.join(near)}?" if near else ""
    return f"{said};{meant} `help({type(estimator).__name__}.{method})` lists every argument"


def _in_fit(estimator: Any, name: str) -> str:
    for argument, others in FIT_ARGUMENTS.items():
        if argument not in inspect.signature(estimator.fit).parameters:
            if name == argument or name in others:
                return f"{argument} belongs to the `fit` of GBMRanker, so leave it out"
        elif name in others:
            return f"it is called {argument} here"
    if name in PRINTING:
        return BOOSTING.quiet
    known = canonical().get(name)
    if known is not None and known in inspect.signature(type(estimator)).parameters:
        return f"it is a parameter; give it to the constructor or to set_params as {known}=..."
    return ""


def _in_predict(estimator: Any, name: str) -> str:
    if name in _RAW:
        named = ("decision_function", "predict_raw", "predict")
        raw = next(one for one in named if hasattr(estimator, one))
        return f"`{raw}` gives raw scores"
    return _PREDICT.get(name, "")
