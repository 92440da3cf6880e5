"""The forms in which validation data may be given to `fit`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from spinney.errors import DataError, DataTypeError, ParameterError


@dataclass(frozen=True)
class Evaluation:
    """Validation data as the user gave them.

    Attributes
    ----------
    where : str
        What to call them in messages.
    X, y, weight, margin : object
        Table, target, and weights and starting scores where given.
    weight_name : str
        Argument of `fit` that the weights were given as.
    """

    where: str
    X: object
    y: object
    weight: object
    margin: object
    weight_name: str = "eval_sample_weight"


def evaluations(eval_set: object, eval_sample_weight: object, eval_base_margin: object) -> list[Evaluation]:
    """Read `eval_set`: one pair (X, y), or a list of pairs with a list of weights and of margins.

    Examples
    --------
    >>> [found.where for found in evaluations([([[1.0]], [2.0]), ([[3.0]], [4.0])], None, None)]
    ['eval_set[0]', 'eval_set[1]']
    >>> [found.where for found in evaluations(([[1.0]], [2.0]), [1.0], None)]
    ['eval_set']
    """
    given = {"eval_sample_weight": eval_sample_weight, "eval_base_margin": eval_base_margin}
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
        return [Evaluation("eval_set", X, y, eval_sample_weight, eval_base_margin)]
    weights, margins = (_one_each(name, value, len(eval_set)) for name, value in given.items())
    found = []
    for place, pair in enumerate(eval_set):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise DataTypeError(f"eval_set[{place}] must be a pair (X, y), got {_described(pair)}")
        X, y = pair
        found.append(Evaluation(f"eval_set[{place}]", X, y, weights[place], margins[place]))
    return found


def single_evaluation(
    X_val: object, y_val: object, sample_weight_val: object, eval_set: object
) -> list[Evaluation]:
    """Read `X_val`, `y_val` and `sample_weight_val`, as scikit-learn names them: one table or none.

    Examples
    --------
    >>> [found.where for found in single_evaluation([[1.0]], [2.0], None, None)]
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
    return [Evaluation("X_val and y_val", X_val, y_val, sample_weight_val, None, "sample_weight_val")]


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


def _described(value: object) -> str:
    kind = type(value).__name__
    return f"a {kind} of {len(value)}" if isinstance(value, list | tuple) else f"a {kind}"
