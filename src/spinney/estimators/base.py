"""What every estimator does with its parameters and the arguments of its methods, and with names that it does not have."""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import cache, wraps
from typing import Any, ParamSpec, Self, TypeVar

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from spinney.data.arrays import refuse_dask
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
                raise ParameterTypeError(_unknown_parameter(estimator, accepted, name, value))
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
            raise ParameterError(_unknown_parameter(type(estimator), accepted, name, value))


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


def _unknown_parameter(estimator: type[Any], accepted: Collection[str], name: str, value: object) -> str:
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


R = TypeVar("R")

# Arguments of predictions in other libraries, for which spinney has arguments or methods of other names.
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


def suggest_arguments(method: Callable[P, R]) -> Callable[P, R]:
    """Let the error about an argument that a method does not have suggest the right one. The signature stays what it is."""
    accepted = inspect.signature(method).parameters

    @wraps(method)
    def checked(*args: P.args, **given: P.kwargs) -> R:
        for name in given:
            if name not in accepted:
                raise ParameterTypeError(_unknown_argument(args[0], method.__name__, accepted, name))
        return method(*args, **given)

    return checked


def _unknown_argument(estimator: Any, method: str, accepted: Collection[str], name: str) -> str:
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


class Estimator(BaseEstimator):
    """An estimator of scikit-learn's kind, which knows its parameters' other spellings and what a file could not hold of it."""

    _left_out: tuple[str, ...] = ()  # parameters that the file it was loaded from does not have

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of the constructor.

        Returns
        -------
        estimator
            The estimator itself.
        """
        check_names(self, params)
        super().set_params(**params)
        if self._left_out:
            self._left_out = tuple(name for name in self._left_out if name not in params)
        return self


def refuse_left_out(estimator: Estimator) -> None:
    """Refuse to fit an estimator that lacks a parameter which its file could not hold: the default is another one."""
    if estimator._left_out:
        raise ParameterError(
            f"this {type(estimator).__name__} was saved without {listed(estimator._left_out)}, which no file can hold; before "
            f"another fit call {setting(estimator._left_out)}"
        )


def listed(names: tuple[str, ...]) -> str:
    """Names of parameters in a sentence."""
    return " and ".join(names)


def setting(names: tuple[str, ...]) -> str:
    """The call that sets parameters."""
    return f"set_params({', '.join(f'{name}=...' for name in names)})"


class Scored:
    """The score that scikit-learn's mixin behind it has, of what is in memory."""

    def score(self, X: object, y: object, sample_weight: ArrayLike | None = None) -> float:
        """Tell how good predictions are: accuracy of a classifier, R² of a regressor.

        Parameters
        ----------
        X : table
            The columns of `fit`, in the same order.
        y : array of shape (rows,) or (rows, outputs)
            The target.
        sample_weight : array of shape (rows,), optional
            Weights of the rows.

        Returns
        -------
        float
            1 is perfect.
        """
        refuse_dask(y, "y", type(self).__name__)
        refuse_dask(sample_weight, "sample_weight", type(self).__name__)
        mixin: Any = super()
        return float(mixin.score(X, y, sample_weight))
