"""The names of an estimator's parameters, and what to say about one that it does not have."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import cache, wraps
from typing import Any, ParamSpec

from spinney.errors import ParameterError, ParameterTypeError
from spinney.estimators.families import BOOSTING, FAMILIES, Family, family_of
from spinney.messages import nearest_names, shown
from spinney.params.parameter_set import PRINTING, by_spelling

P = ParamSpec("P")

# What is an argument of `fit` here and may be a parameter elsewhere.
FIT_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "eval_set": ("evals", "valid_sets", "valid"),
    "eval_names": (),
    "eval_sample_weight": ("sample_weight_eval_set",),
    "eval_class_weight": (),
    "eval_base_margin": ("eval_init_score", "base_margin_eval_set"),
    "sample_weight": ("weight",),
    "base_margin": ("init_score",),
    "callbacks": (),
    "init_model": ("xgb_model", "input_model", "model_input", "model_in"),
    "group": ("groups",),
    "qid": ("query_id", "group_id"),
    "eval_group": (),
    "eval_qid": (),
}
# What to say beside the name here of a parameter whose number means something else elsewhere.
_CONVERSIONS: Mapping[str, str] = {
    "gamma": "XGBoost's and LightGBM's number is twice ours, so give half of it"
}


def named(init: Callable[P, None]) -> Callable[P, None]:
    """Let a constructor say what is right where it is given a name that it does not have."""
    accepted = inspect.signature(init).parameters
    nameless = sum(one.kind is one.POSITIONAL_OR_KEYWORD for one in accepted.values())

    @wraps(init)
    def checked(*args: P.args, **given: P.kwargs) -> None:
        estimator = type(args[0])
        if len(args) > nameless:
            raise ParameterTypeError(
                f"{estimator.__name__} takes parameters by name, such as {list(accepted)[1]}=...; found "
                f"{shown(args[nameless])} without a name"
            )
        for name, value in given.items():
            if name not in accepted:
                raise ParameterTypeError(_unknown_name(estimator, accepted, name, value))
        init(*args, **given)

    return checked


def keep(estimator: object, given: Mapping[str, object]) -> None:
    """Keep what a constructor was given, untouched: scikit-learn wants it checked in `fit`, not before."""
    for name, value in given.items():
        if name != "self":
            setattr(estimator, name, value)


def check_names(estimator: object, given: Mapping[str, object]) -> None:
    """Refuse names that an estimator's constructor does not have.

    Raises
    ------
    ParameterError
        At the first of them; the message says what is right.
    """
    accepted = inspect.signature(type(estimator)).parameters
    for name, value in given.items():
        # scikit-learn writes a parameter of a parameter as outer__inner.
        if name.partition("__")[0] not in accepted:
            raise ParameterError(_unknown_name(type(estimator), accepted, name, value))


def canonical(family: Family = BOOSTING) -> Mapping[str, str]:
    """Every spelling of a parameter of training or of an estimator of a family, with its name here."""
    return _canonical(FAMILIES.index(family))


@cache
def _canonical(place: int) -> Mapping[str, str]:
    family = FAMILIES[place]
    parameters = [
        *family.parameters.table(),
        *(one for of in family.estimators.values() for one in of.values()),
    ]
    return {spelling: one.name for spelling, one in by_spelling(parameters).items()}


def _unknown_name(estimator: type[Any], accepted: Collection[str], name: str, value: object) -> str:
    said = f"{estimator.__name__} has no parameter {name}={shown(value)}"
    family = family_of(estimator)
    canonical_names = canonical(family)
    known = canonical_names.get(name)
    if known is not None and known in accepted:
        conversion = f"; {_CONVERSIONS[known]}" if known in _CONVERSIONS else ""
        if name == "alpha" and "quantile_alpha" in accepted:
            conversion = (
                "; the level of objective='quantile' is quantile_alpha, the width of 'huber' huber_delta"
            )
        return f"{said}: {name} is called {known} here{conversion}"
    for argument, others in FIT_ARGUMENTS.items():
        if (name == argument or name in others) and (family.arguments or argument == "sample_weight"):
            if argument not in inspect.signature(estimator.fit).parameters:
                return f"{said}: `{argument}=` is an argument of GBMRanker's `fit`, so leave it out"
            return f"{said}: give it to `fit` as its argument `{argument}=`"
    if name in PRINTING:
        return f"{said}: {family.quiet}"
    if known is not None:
        owners = [other for other, parameters in family.estimators.items() if known in parameters]
        return f"{said}: {f'it belongs to {owners[0]}' if owners else 'it follows from the target'}, so leave it out"
    near = nearest_names(
        name, {other: known for other, known in canonical_names.items() if known in accepted}
    )
    meant = f" did you mean {' or '.join(near)}?" if near else ""
    return f"{said};{meant} `help({estimator.__name__})` lists every parameter"
