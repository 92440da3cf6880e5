"""Rows on their way into a data set, and the forms in which validation data may be given to `fit`."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import validate_data

from spinney.data import Labels, RawLabels, Schema, Table, read_table
from spinney.data.arrays import is_dask, plain_array, refuse_dask
from spinney.data.categories import read_as_numbers
from spinney.data.frame import is_frame, refuse_duplicate_names
from spinney.data.schema import SHOWN_NAMES, named_categorical
from spinney.data.sparse import is_sparse
from spinney.data.table import Panel, column_title
from spinney.dataset import Dataset
from spinney.errors import DataError, DataTypeError, ParameterError, ParameterTypeError
from spinney.messages import shown
from spinney.model.boosted import Model
from spinney.params import Config
from spinney.training.callbacks import AutoRounds, History, RoundInfo, SearchLog

COLUMN_VECTOR = (
    "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), for "
    "example using ravel()."
)


def binned(table: Table, labels: Labels, **options: Any) -> Dataset:
    """The data set of a table with labels; the options are those of `Dataset`."""
    given: Any = {"weight": labels.weight, "base_margin": labels.margin, "qid": labels.queries}
    return Dataset(table, labels.target, **given, **options)


@dataclass(frozen=True, eq=False)
class FitInputs:
    """What a fit has before columns are binned.

    Attributes
    ----------
    config : Config
        The parameters of training.
    schema : Schema, optional
        The columns of the model that it goes on from.
    labels : Labels
        Of the rows to train on, with the weights to train with.
    held : Labels, optional
        Of the rows that are held out.
    chosen : bool[rows], optional
        Which rows are.
    """

    config: Config
    schema: Schema | None
    labels: Labels
    held: Labels | None
    chosen: NDArray[np.bool_] | None


def with_columns_checked(estimator: object, X: object, *, reset: bool) -> object:
    """Let scikit-learn note (`reset`) or compare the number and names of columns; warnings and our errors have its words.

    Nothing is copied or converted, except that lists become an array. What is no table is left for the reader to refuse.
    A fitted estimator refuses columns in another order, as scikit-learn asks, and says what takes them.
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
    # Says in our words what no table may have, as names of two kinds.
    names = read_table(X, allow_empty=True).names
    known = getattr(estimator, "feature_names_in_", ())
    if names is not None and set(names) == set(known) and hasattr(estimator, "model_"):
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
        What the user is to be warned of: columns of text that all reads as numbers, unless they are named or known.
    """
    named = named_categorical(categorical, table)
    found, panels = dict[int, str](), list[Panel]()
    for panel in table.panels:
        column, texts = panel.first, panel.categories or ()
        learnt = column not in named and (known is None or column in known.empty)
        if panel.as_numbers and learnt and read_as_numbers(texts):
            found[column] = panel.as_numbers
        panels.append(replace(panel, declared=True) if panel.as_numbers else panel)
    return replace(table, panels=tuple(panels)), notes_of_text(found, table.names)


def notes_of_text(found: Mapping[int, str], names: tuple[str, ...] | None) -> list[Warning]:
    """The warning of columns of text that all reads as numbers: how to make numbers of each.

    It says nothing of their rows, so that it is the same in every fold, and Python shows it once.
    """
    if not found:
        return []
    titles = [column_title(names, column) for column in found]
    shown = ", ".join(titles[:SHOWN_NAMES])
    more = len(titles) - SHOWN_NAMES
    call = next(iter(found.values()))
    labels = [column if names is None else names[column] for column in found][:SHOWN_NAMES]
    return [
        DataConversionWarning(
            f"{shown}{f' and {more} more' if more > 0 else ''}: text that all reads as numbers is taken as "
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


@dataclass(frozen=True)
class RawData:
    """Validation data, or the training data, as the user gave them.

    Attributes
    ----------
    X : object
        The table.
    labels : RawLabels
        Target, weights, starting scores and queries.
    class_weight : object
        Factors on the weights of the classes, where given.
    """

    X: object
    labels: RawLabels
    class_weight: object = None

    def is_same(self, given: RawData) -> bool:
        """Whether these are the training data themselves, without weights or margins."""
        own, other = self.labels, given.labels
        same = ((self.X, given.X), (own.y, other.y), (own.group, other.group), (own.qid, other.qid))
        absent = (other.base_margin, own.weight, own.base_margin, self.class_weight)
        return all(one is two for one, two in same) and all(value is None for value in absent)


def evaluations(
    eval_set: object,
    eval_sample_weight: object,
    eval_base_margin: object,
    eval_class_weight: object = None,
    eval_group: object = None,
    eval_qid: object = None,
) -> list[RawData]:
    """Read `eval_set`: one pair (X, y), or a list of pairs with lists of weights and the like.

    Examples
    --------
    >>> [found.labels.where for found in evaluations([([[1.0]], [2.0]), ([[3.0]], [4.0])], None, None)]
    ['eval_set[0]', 'eval_set[1]']
    >>> [found.labels.where for found in evaluations(([[1.0]], [2.0]), [1.0], None)]
    ['eval_set']
    """
    given = {
        "eval_sample_weight": eval_sample_weight,
        "eval_base_margin": eval_base_margin,
        "eval_class_weight": eval_class_weight,
        "eval_group": eval_group,
        "eval_qid": eval_qid,
    }
    if eval_set is None:
        for name, value in given.items():
            if value is not None:
                raise ParameterError(f"{name} is given without an eval_set that it could belong to")
        return []
    if not isinstance(eval_set, list | tuple):
        raise DataTypeError(
            f"eval_set must be a pair (X, y) or a list of such pairs, got {type(eval_set).__name__}"
        )
    if isinstance(eval_set, tuple) and len(eval_set) == 2 and not isinstance(eval_set[0], tuple):
        X, y = eval_set
        return [_raw_data("eval_set", X, y, [_alone(value, y) for value in given.values()])]
    every = [_one_each(name, value, len(eval_set)) for name, value in given.items()]
    found = []
    for place, pair in enumerate(eval_set):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise DataTypeError(f"eval_set[{place}] must be a pair (X, y), got {_described(pair)}")
        X, y = pair
        found.append(_raw_data(f"eval_set[{place}]", X, y, [values[place] for values in every]))
    return found


def _raw_data(where: str, X: object, y: object, others: list[object]) -> RawData:
    weight, margin, factors, group, qid = others
    labels = RawLabels(y, weight, margin, group, qid, where=where, weight_name="eval_sample_weight")
    return RawData(X, labels, factors)


def single_evaluation(
    X_val: object, y_val: object, sample_weight_val: object, eval_set: object
) -> list[RawData]:
    """Read `X_val`, `y_val` and `sample_weight_val`, as scikit-learn names them: one table or none.

    Examples
    --------
    >>> [found.labels.where for found in single_evaluation([[1.0]], [2.0], None, None)]
    ['X_val and y_val']
    """
    if X_val is None and y_val is None:
        if sample_weight_val is not None:
            raise ParameterError("sample_weight_val is given without X_val and y_val; give all three")
        return []
    if y_val is None:
        raise ParameterError("X_val is given, but y_val is not; give both")
    if X_val is None:
        raise ParameterError("y_val is given, but X_val is not; give both")
    if eval_set is not None:
        raise ParameterError(
            "X_val and y_val are given beside eval_set; give validation data in one form only"
        )
    labels = RawLabels(y_val, sample_weight_val, where="X_val and y_val", weight_name="sample_weight_val")
    return [RawData(X_val, labels)]


def names_of_sets(eval_names: object, count: int) -> list[str]:
    """Names of the validation data in the results.

    Examples
    --------
    >>> names_of_sets(None, 2), names_of_sets(["early", "late"], 2)
    (['validation_0', 'validation_1'], ['early', 'late'])
    """
    if eval_names is None:
        return [f"validation_{place}" for place in range(count)]
    if not isinstance(eval_names, list | tuple) or not all(isinstance(name, str) for name in eval_names):
        raise ParameterTypeError(f"eval_names must be a list of str, got {shown(eval_names)}")
    if len(eval_names) != count:
        raise ParameterError(
            f"eval_names={shown(eval_names)} has {len(eval_names)} names, but there are {count} sets of validation data"
        )
    if len(set(eval_names)) < count:
        raise ParameterError(
            f"eval_names={shown(eval_names)} holds a name twice; give each set one of its own"
        )
    return [str(name) for name in eval_names]


def best_values(evals: Mapping[str, Mapping[str, list[float]]], after: int) -> dict[str, dict[str, float]]:
    """Metrics after the last of the rounds that predictions use; `after` is how many rounds follow it.

    Examples
    --------
    >>> best_values({"late": {"rmse": [3.0, 1.0, 2.0]}}, 1)
    {'late': {'rmse': 1.0}}
    """
    return {
        name: {metric: values[-1 - after] for metric, values in found.items()}
        for name, found in evals.items()
    }


def rounds_after_best(model: Model, auto: AutoRounds | None) -> int:
    """How many rounds of known metrics follow the one that predictions end with."""
    if auto is None or auto.metric is None:
        return model.rounds - model.rounds_to_use()
    return auto.tried - auto.chosen


def check_columns_of_target(target: NDArray[np.float64], wanted: int) -> None:
    """Refuse validation rows whose target has other columns than that of the training rows."""
    given = 1 if target.ndim == 1 else target.shape[1]
    if given != wanted:
        raise DataError(
            f"y has {given} column{'s' * (given > 1)}, but that of the training rows has {wanted}"
        )


class FirstHistory(SearchLog):
    """A callback that keeps the metrics of the first of several trainings, those whose mean is the model, and all searches.

    Attributes
    ----------
    evals : dict
        As those of `History`.
    before : mapping
        The metrics of the model that the training goes on from.
    """

    def __init__(self) -> None:
        super().__init__()
        self._history = History()
        self._begun = 0
        self.before: Mapping[str, Mapping[str, float]] = {}

    @property
    def evals(self) -> dict[str, dict[str, list[float]]]:
        """The metrics by data set and name, one value per round."""
        return self._history.evals

    def begin(self, rounds: int) -> None:
        """Count the trainings."""
        self._begun += 1

    def __call__(self, info: RoundInfo) -> None:
        """Keep the values of a round."""
        if self._begun == 1:
            self._history(info)
            self.before = info.before


def first_values(
    evals: Mapping[str, Mapping[str, list[float]]], rounds: int
) -> dict[str, dict[str, list[float]]]:
    """Metrics of the first rounds."""
    return {
        name: {metric: values[:rounds] for metric, values in found.items()} for name, found in evals.items()
    }


@contextmanager
def naming(where: str) -> Iterator[None]:
    """Say in the message of an error about data which data they were."""
    try:
        yield
    except DataTypeError as error:
        raise DataTypeError(f"{where}: {error}") from error
    except ValueError as error:
        raise DataError(f"{where}: {error}") from error


def _one_each(name: str, values: object, count: int) -> Sequence[object]:
    if values is None:
        return [None] * count
    if not isinstance(values, list | tuple) or len(values) != count:
        raise DataError(
            f"{name} must be a list with an entry, or None, for each of the {count} pairs of eval_set, "
            f"got {_described(values)}"
        )
    return values


def _alone(values: object, y: object) -> object:
    """What is given for one pair; a list of one entry stands for that, unless there is one row that it may belong to."""
    if isinstance(values, list | tuple) and len(values) == 1:
        plain = isinstance(values[0], numbers.Real | np.generic)
        one_row = isinstance(y, Sized) and len(y) == 1
        return values if plain or one_row else values[0]
    return values


def _described(value: object) -> str:
    kind = type(value).__name__
    return f"a {kind} of {len(value)}" if isinstance(value, list | tuple) else f"a {kind}"
