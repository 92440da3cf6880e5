"""Validation data of a fit: the forms in which `fit` takes them, and the metrics that come of them."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from spinney.data import RawLabels
from spinney.errors import DataError, DataTypeError, ParameterError, ParameterTypeError
from spinney.messages import shown
from spinney.model.boosted import Model
from spinney.training.callbacks import AutoRounds, History, RoundInfo, SearchLog


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
    """How many rounds with metrics follow the one that predictions end with."""
    if auto is None or auto.metric is None:
        return model.rounds - model.rounds_to_use()
    return auto.tried - auto.chosen


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
    """Put the name of the data before the message of an error about them."""
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
