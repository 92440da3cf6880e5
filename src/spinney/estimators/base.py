"""What every estimator does: checks of names and of columns, and what a fit that fails leaves.

First names that a constructor or a method does not have, and errors that suggest the right ones; then columns of tables; then the
base classes.
"""

# scikit-learn has no types, so its classes are Any to a type checker.
# mypy: allow-subclassing-any

from __future__ import annotations

import inspect
import warnings
from abc import ABC
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache, wraps
from typing import Any, ClassVar, ParamSpec, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from spinney.data import Schema, Table, read_table
from spinney.data.arrays import is_dask, plain_array, refuse_dask
from spinney.data.categories import read_as_numbers
from spinney.data.frame import is_frame, refuse_duplicate_names
from spinney.data.schema import SHOWN_NAMES, named_categorical
from spinney.data.sparse import is_sparse
from spinney.data.table import Panel, column_title
from spinney.errors import DataError, DataTypeError, ParameterError, ParameterTypeError
from spinney.estimators.json_values import NotJsonError, write_columns
from spinney.estimators.parameters import BOOSTING, FAMILIES, Family, family_of
from spinney.messages import nearest_names, shown
from spinney.params import ParameterSet
from spinney.params.estimators import VERBOSE
from spinney.params.parameter import SeedLike, is_drawn
from spinney.params.parameter_set import PRINTING, by_spelling
from spinney.training.callbacks import ProgressBar, RoundInfo

P = ParamSpec("P")
R = TypeVar("R")

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
# Additions to the name here of a parameter whose number means something else elsewhere.
_CONVERSIONS: Mapping[str, str] = {
    "gamma": "XGBoost's and LightGBM's number is twice ours, so give half of it"
}


def named(init: Callable[P, None]) -> Callable[P, None]:
    """Make a constructor's error about a name that it does not have suggest the right one."""
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
    """Keep what a constructor was given, untouched: scikit-learn requires that `fit` checks it, not the constructor."""
    for name, value in given.items():
        if name != "self":
            setattr(estimator, name, value)


def check_names(estimator: object, given: Mapping[str, object]) -> None:
    """Refuse names that an estimator's constructor does not have.

    Raises
    ------
    ParameterError
        At the first of them; the message has the right name.
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
    text = f"{estimator.__name__} has no parameter {name}={shown(value)}"
    family = family_of(estimator)
    canonical_names = canonical(family)
    known = canonical_names.get(name)
    if known is not None and known in accepted:
        conversion = f"; {_CONVERSIONS[known]}" if known in _CONVERSIONS else ""
        if name == "alpha" and "quantile_alpha" in accepted:
            conversion = (
                "; the level of objective='quantile' is quantile_alpha, the width of 'huber' huber_delta"
            )
        return f"{text}: {name} is called {known} here{conversion}"
    for argument, others in FIT_ARGUMENTS.items():
        if (name == argument or name in others) and (family.arguments or argument == "sample_weight"):
            if argument not in inspect.signature(estimator.fit).parameters:
                return f"{text}: `{argument}=` is an argument of GBMRanker's `fit`, so leave it out"
            return f"{text}: give it to `fit` as its argument `{argument}=`"
    if name in PRINTING:
        return f"{text}: {family.quiet}"
    if known is not None:
        owners = [other for other, parameters in family.estimators.items() if known in parameters]
        return f"{text}: {f'it belongs to {owners[0]}' if owners else 'it follows from the target'}, so leave it out"
    near = nearest_names(
        name, {other: known for other, known in canonical_names.items() if known in accepted}
    )
    meant = f" did you mean {' or '.join(near)}?" if near else ""
    return f"{text};{meant} `help({estimator.__name__})` lists every parameter"


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
    """Make the error about an argument that a method does not have suggest the right one. The signature stays what it is."""
    accepted = inspect.signature(method).parameters

    @wraps(method)
    def checked(*args: P.args, **given: P.kwargs) -> R:
        for name in given:
            if name not in accepted:
                raise ParameterTypeError(_unknown_argument(args[0], method.__name__, accepted, name))
        return method(*args, **given)

    return checked


def _unknown_argument(estimator: Any, method: str, accepted: Collection[str], name: str) -> str:
    text = f"{type(estimator).__name__}.{method} has no argument {name}"
    right = _in_fit(estimator, name) if method == "fit" else _in_predict(estimator, name)
    if right:
        return f"{text}: {right}"
    near = nearest_names(name, {other: other for other in accepted if other != "self"})
    meant = f" did you mean {' or '.join(near)}?" if near else ""
    return f"{text};{meant} `help({type(estimator).__name__}.{method})` lists every argument"


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


COLUMN_VECTOR = (
    "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), for "
    "example using ravel()."
)


def with_columns_checked(estimator: object, X: object, *, reset: bool) -> object:
    """Keep (`reset`) or compare the number and names of columns, with warnings and errors in scikit-learn's words.

    Nothing is copied or converted, except that lists become an array. What is no table is left for the reader to refuse.
    A fitted estimator refuses columns in another order, as scikit-learn requires; the message names what takes them.
    """
    refuse_dask(X, "X", type(estimator).__name__)
    if is_frame(X):
        refuse_duplicate_names(X, "X")
    elif not is_sparse(X):
        X = plain_array(X, "X")
    if len(getattr(X, "shape", ())) != 2:
        return X
    try:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    except (TypeError, ValueError) as error:
        refusal = error
    # Refuses in our words what no table may have, as names of two kinds.
    names = read_table(X, allow_empty=True).names
    fitted = getattr(estimator, "feature_names_in_", ())
    if names is not None and set(names) == set(fitted) and hasattr(estimator, "model_"):
        raise DataError(f"{refusal}`model_.predict` takes named columns in any order.")
    kind = DataTypeError if isinstance(refusal, TypeError) else DataError
    raise kind(str(refusal).rstrip("\n"))


def categories_of_text(
    table: Table, categorical: Any, known: Schema | None = None
) -> tuple[Table, list[Warning]]:
    """Take text for categories, whatever it reads as: whether some of it is no number must not depend on the rows of a fold.

    Parameters
    ----------
    table : Table
        Rows to fit to.
    categorical : "auto" or sequence
        Columns that are named categorical.
    known : Schema, optional
        The columns of the model that the fit goes on from.

    Returns
    -------
    Table
        The same, with its columns of text declared to be categorical.
    list of Warning
        Warnings of columns of text that all reads as numbers, unless they are named or known.
    """
    named = named_categorical(categorical, table)
    found, panels = dict[int, str](), list[Panel]()
    for panel in table.panels:
        column, texts = panel.first, panel.categories or ()
        is_new = column not in named and (known is None or column in known.empty)
        if panel.as_numbers and is_new and read_as_numbers(texts):
            found[column] = panel.as_numbers
        panels.append(replace(panel, declared=True) if panel.as_numbers else panel)
    return replace(table, panels=tuple(panels)), notes_of_text(found, table.names)


def notes_of_text(found: Mapping[int, str], names: tuple[str, ...] | None) -> list[Warning]:
    """The warning of columns of text that all reads as numbers: how to make numbers of each.

    It has no numbers of rows, so that it is the same in every fold, and Python shows it once.
    """
    if not found:
        return []
    titles = [column_title(names, column) for column in found]
    first = ", ".join(titles[:SHOWN_NAMES])
    more = len(titles) - SHOWN_NAMES
    call = next(iter(found.values()))
    labels = [column if names is None else names[column] for column in found][:SHOWN_NAMES]
    return [
        DataConversionWarning(
            f"{first}{f' and {more} more' if more > 0 else ''}: text that all reads as numbers is taken as "
            f"categories, as all text is. Make it numbers, as in {call}, or pass categorical={labels!r} if it stands for "
            "categories"
        )
    ]


def is_column_vector(y: object) -> bool:
    """Whether a target is a matrix of one column, of which scikit-learn warns; the reader refuses a sparse one."""
    return not is_dask(y) and getattr(y, "shape", ())[1:] == (1,) and not is_sparse(y)


def warn_of_column_vector(y: object) -> None:
    """Warn, as scikit-learn does, of a target that is a matrix of one column."""
    if is_column_vector(y):
        warnings.warn(COLUMN_VECTOR, DataConversionWarning, stacklevel=6)


class Estimator(BaseEstimator):
    """An estimator of scikit-learn's kind, which has other spellings of its parameters in messages."""

    _unsaved: tuple[str, ...] = ()  # parameters that are not in the file from which it was loaded

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of the constructor.

        Returns
        -------
        estimator
            The estimator itself.
        """
        check_names(self, params)
        super().set_params(**params)
        if self._unsaved:
            self._unsaved = tuple(name for name in self._unsaved if name not in params)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


class TreeEstimator(Estimator, ABC):
    """Forests, AdaBoost and isolation forests: parameters of a `ParameterSet`, and rows of a fitted model."""

    random_state: SeedLike
    n_jobs: int | None
    categorical: Any

    _CONFIG: ClassVar[type[ParameterSet]]

    def _check_parameters(self) -> None:
        """Check the parameters as `fit` does, as far as that needs no table."""
        check_categorical(self.categorical)
        self._parsed(0 if is_drawn(self.random_state) else self.random_state)

    def _config(self, earlier: Any = None) -> Any:
        """The parameters of training; a seed that is drawn is the one of an earlier model, if a fit adds trees to it."""
        if earlier is not None and is_drawn(self.random_state):
            return self._parsed(earlier.config.random_state)
        return self._parsed(self.random_state)

    def _parsed(self, seed: SeedLike) -> Any:
        return self._CONFIG.parse({**self._training_parameters(), "random_state": seed})

    def _training_parameters(self) -> dict[str, object]:
        """The values of the parameters of training."""
        names = {parameter.name for parameter in self._CONFIG.table()}
        return {name: value for name, value in vars(self).items() if name in names}

    def _checked(self, X: object) -> object:
        """Rows for a fitted estimator, with their columns checked."""
        check_is_fitted(self)
        return with_columns_checked(self, X, reset=False)

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    def _read(self, X: object) -> Table:
        """The same as a table of the model."""
        X, estimator = self._checked(X), cast(Any, self)
        table: Table = estimator.model_.read(X)
        return table


@contextmanager
def restore_on_failure(estimator: Any) -> Iterator[None]:
    """A fit that fails must not leave the trees of an earlier one with columns or classes of its own.

    It leaves nothing fitted, or, with `warm_start`, what there was before.
    """
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        warm = getattr(estimator, "warm_start", False)
        if not (isinstance(warm, bool | np.bool_) and warm):
            for name in before:
                if name.endswith("_") and not name.startswith("_"):
                    delattr(estimator, name)
        raise


def refuse_unsaved(estimator: Estimator) -> None:
    """Refuse to fit an estimator without a parameter that its file could not hold: the default is another value."""
    if estimator._unsaved:
        raise ParameterError(
            f"this {type(estimator).__name__} was saved without {listed(estimator._unsaved)}, which no file can hold; before "
            f"another fit call {set_params_call(estimator._unsaved)}"
        )


def listed(names: tuple[str, ...]) -> str:
    """Names of parameters in a sentence."""
    return " and ".join(names)


def set_params_call(names: tuple[str, ...]) -> str:
    """The call that sets parameters."""
    return f"set_params({', '.join(f'{name}=...' for name in names)})"


def check_flags(estimator: object, *names: str) -> None:
    """Refuse parameters that are neither True nor False."""
    for name in names:
        value = getattr(estimator, name)
        if not isinstance(value, bool | np.bool_):
            raise ParameterTypeError(f"{name}={shown(value)} must be True or False")


def check_verbose(verbose: object) -> None:
    """Refuse what is neither True nor False nor a whole number."""
    if not isinstance(verbose, bool | np.bool_):
        VERBOSE.check(verbose)


def check_categorical(categorical: object) -> None:
    """Refuse what names no columns; which columns there are is seen when a table is fitted."""
    if not (isinstance(categorical, str) and categorical == "auto"):
        with suppress(NotJsonError):
            write_columns(categorical)


# In scikit-learn's words, by which users may filter it.
NO_MORE = "Warm-start fitting without increasing n_estimators does not fit new trees."


def check_same_parameters(old: ParameterSet, new: ParameterSet, *, free: Collection[str] = ()) -> None:
    """Refuse to add trees with other parameters than those of the trees before; parameters that are `free` may differ."""
    before = old.to_dict(model_only=True)
    for name, value in new.to_dict(model_only=True).items():
        if name not in free and before[name] != value:
            raise ParameterError(
                f"{name}={value!r} differs from {before[name]!r}, with which the trees that warm_start=True keeps were grown; "
                "leave it, or set warm_start=False"
            )


STEPS = 20  # in which a progress bar moves; each step of a forest lays the table out anew


@contextmanager
def progress_bar(title: str, trees: int, *, visible: bool, start: int = 0) -> Iterator[Callable[[int], None]]:
    """A function to call with the number of trees that are done; it moves a bar, if that is visible."""
    if not visible:
        yield lambda done: None
        return
    with ProgressBar(title) as bar:
        yield lambda done: bar(RoundInfo(done, trees, {}, start))


def trees_at_once(left: int, *, visible: bool) -> int:
    """How many trees to grow in a step: all that are left, or fewer while a bar shows them."""
    return max(1, -(-left // STEPS)) if visible else left


class Scored:
    """The score that scikit-learn's mixin behind it has, of what is in memory."""

    def score(self, X: object, y: object, sample_weight: ArrayLike | None = None) -> float:
        """How good predictions are: accuracy of a classifier, R² of a regressor.

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
