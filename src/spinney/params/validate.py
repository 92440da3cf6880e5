"""Every check of a value: alone against its row of the table, then together with the others."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, TypeGuard

from spinney.errors import ParameterError, ParameterTypeError
from spinney.params import by_column, ranking
from spinney.params.metric_names import (
    at_places,
    is_spelled,
    kind_of,
    metric_row,
    metrics_for,
    name_and_place,
)
from spinney.params.metrics import METRICS, NONE
from spinney.params.objectives import OWN, SPECIFIC, objective_row, takers
from spinney.params.rows import SEED, Bounds, Row
from spinney.params.seeds import draw_seed, is_drawn
from spinney.params.several import check_several, metrics_by_output
from spinney.params.short import shown as shown  # for those who import it from here

_SEQUENCES: Mapping[str, Callable[[object, object], object]] = {
    "sequence of int, mapping or None": by_column.signs,
    "sequence of float, mapping or None": by_column.weights,
    "sequence of sequences or None": by_column.groups,
    "sequence of float or None": ranking.gains,
    "sequence of int, int or None": ranking.depths,
}
_ROUNDS = Row(name="rounds", kind="int", default=100, group="", doc="", low=0, high=2**31 - 1)


def type_name(value: object) -> str:
    """The name of a value's type, with its module where another type here has the same name.

    Examples
    --------
    >>> type_name(3)
    'int'
    """
    kind = type(value)
    return f"{kind.__module__}.{kind.__name__}" if kind.__name__ == "Dataset" else kind.__name__


def as_float(value: Real) -> float:
    """A number as a float, infinite where none can hold it.

    Examples
    --------
    >>> as_float(3), as_float(10**400)
    (3.0, inf)
    """
    try:
        return float(value)
    except OverflowError:
        return math.inf


def is_iterable(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether a value can be gone through; a NumPy array of no dimensions says that it can.

    Examples
    --------
    >>> import numpy as np
    >>> is_iterable([3]), is_iterable(3), is_iterable(np.array(3))
    (True, False, False)
    """
    return isinstance(value, Iterable) and getattr(value, "shape", None) != ()


class Said:
    """What a message says of a value. It is written out only where an error is raised: most values are right.

    Examples
    --------
    >>> f"{Said('learning_rate', -1, 'eta')} is out of range"
    "learning_rate=-1 (given as 'eta') is out of range"
    """

    __slots__ = ("_name", "_spelling", "_value")

    def __init__(self, name: str, value: object, spelling: str | None = None) -> None:
        self._name, self._value, self._spelling = name, value, spelling

    def __str__(self) -> str:
        given = "" if self._spelling in (None, self._name) else f" (given as {self._spelling!r})"
        return f"{self._name}={shown(self._value)}{given}"


def checked(row: Row, value: object, spelling: str | None = None) -> object:
    """Return the value in its canonical form and type.

    Parameters
    ----------
    row : Row
        What the table says about the parameter.
    value : object
        What the user gave.
    spelling : str or None
        Name the user gave it under, for messages.

    Returns
    -------
    object
        A value of the type in the table. Checking it again changes nothing.

    Raises
    ------
    ParameterTypeError
        If the value is of the wrong type.
    ParameterError
        If the value is out of range.
    """
    # A default is in its canonical form, unless it is None; most values are defaults. It takes 0.06 µs to see, a check 0.6.
    if value is not None and type(value) is type(row.default) and value == row.default:
        return row.default
    said = Said(row.name, value, spelling)
    if row.kind == "str":
        return _word(row, value, said)
    if row.kind == "bool":
        return _truth(value, said)
    if row.kind == "str or sequence of str":
        return _words(row, value, said)
    if value is None and row.kind.endswith("or None"):
        return row.also.get(None)
    if row.kind in _SEQUENCES:
        return _SEQUENCES[row.kind](value, said)
    if row.share is not None:
        return _count_or_share(row, row.share, value, said)
    if row.kind in ("float or str", "int or str") and isinstance(value, str):
        return _word(row, value, said)
    if row.kind == SEED and is_drawn(value):
        return draw_seed(value)
    if row.kind.startswith("int"):
        return _whole(row, value, said)
    if row.kind == "float or sequence of float" and not isinstance(value, Real):
        return _ascending(row, value, said)
    return _bounded(row, _number(row, value, said), said)


def checked_rounds(value: object) -> int:
    """Return a number of rounds, which is an argument and no parameter, as an int of 0 or more.

    Raises
    ------
    ParameterTypeError
        If it is not a whole number.
    ParameterError
        If it is negative, not finite or far too large.

    Examples
    --------
    >>> checked_rounds(3.0)
    3
    """
    found = _whole(_ROUNDS, value, Said("rounds", value))
    assert found is not None
    return found


def _truth(value: object, said: Said) -> bool:
    # NumPy's own truth values come out of grid searches. 0 and 1 are what other libraries' files hold.
    if type(value).__name__ in ("bool", "bool_") or (isinstance(value, Integral) and value in (0, 1)):
        return bool(value)
    raise ParameterTypeError(f"{said} must be True or False, not {_article(type(value).__name__)}")


def _number(row: Row, value: object, said: Said) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise ParameterTypeError(f"{said} must be {_article(row.kind)}, not {_article(type(value).__name__)}")
    number = as_float(value)
    if not math.isfinite(number):
        raise ParameterError(f"{said} must be a finite number, its range is: {row.range}")
    # Adding zero turns -0.0 into 0.0: equal configurations must also be written as equal bytes.
    return number + 0.0


def _ascending(row: Row, value: Any, said: Said) -> float | tuple[float, ...]:
    """Check several numbers, each in range; one alone is that number."""
    listed = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(listed, Sequence) or isinstance(listed, str | bytes | bytearray):
        raise ParameterTypeError(
            f"{said} must be a float or a sequence of ascending floats, not {_article(type(value).__name__)}"
        )
    if not listed:
        raise ParameterError(f"{said} is empty: give one number or several ascending ones, {row.range}")
    found = tuple(_bounded(row, _number(row, one, said), said) for one in listed)
    for one, other in pairwise(found):
        if not one < other:
            raise ParameterError(f"{said} must be ascending, each number once; {other!r} follows {one!r}")
    return found if len(found) > 1 else found[0]


def _whole(row: Row, value: object, said: Said) -> int | None:
    if isinstance(value, Integral) and not isinstance(value, bool):
        number = int(value)
    else:
        real = _number(row, value, said)
        if not real.is_integer():
            raise ParameterTypeError(f"{said} must be a whole number, {row.range}")
        number = int(real)
    if number in row.also:
        return row.also[number]
    if number in row.excluded:
        raise ParameterError(f"{said} is not allowed: {row.excluded[number]}")
    _bounded(row, number, said)
    return number


def _count_or_share(row: Row, share: Bounds, value: object, said: Said) -> int | float | str | None:
    """An int is a count and a float a share, whatever their values: 1 is one row, and 1.0 is all of them."""
    if isinstance(value, str) and row.choices:
        return _word(row, value, said)
    if isinstance(value, Integral):
        return _whole(row, value, said)
    return _bounded(row, _number(row, value, said), said, share)


def _bounded(row: Row, number: float, said: Said, bounds: Bounds | None = None) -> float:
    of = bounds or row
    too_low = of.low is not None and (number <= of.low if of.low_open else number < of.low)
    too_high = of.high is not None and (number >= of.high if of.high_open else number > of.high)
    if too_low or too_high:
        raise ParameterError(f"{said} is out of range: it must be {row.range}")
    return number


def _word(row: Row, value: object, said: Said) -> str:
    if not isinstance(value, str):
        raise ParameterTypeError(
            f"{said} must be a str, one of {row.range}, not {_article(type(value).__name__)}"
        )
    for choice, spellings in row.choices.items():
        if value == choice or value in spellings:
            return choice
    raise ParameterError(f"{said} is unknown: it must be one of {row.range}{_nearest(row, value)}")


def _words(row: Row, value: object, said: Said) -> tuple[str, ...]:
    """Check a list of words; `reconciled` chooses what a word with two meanings stands for."""
    if value is None:
        return ()
    words: Any = [value] if callable(value) else value
    if isinstance(value, str):
        words = [word.strip() for word in value.split(",")]  # as LightGBM has it: "auc,logloss"
    if not isinstance(words, Sequence) or isinstance(words, bytes | bytearray):
        raise ParameterTypeError(
            f"{said} must be a str or a sequence of str, not {_article(type(value).__name__)}"
        )
    for word in words:
        if callable(word):
            raise ParameterTypeError(
                f"{said} must hold only str, but holds a function; give functions to `train` as its argument `metrics=`"
            )
        if not isinstance(word, str):
            raise ParameterTypeError(
                f"{said} must hold only str, one or more of {row.range}; found {shown(word)}"
            )
        name, _ = name_and_place(word)
        if not any(name == choice or name in spellings for choice, spellings in row.choices.items()):
            raise ParameterError(
                f"{said} holds the unknown name {shown(word)}: it must be one or more of {row.range}"
                f"{_nearest(row, word)}"
            )
    return tuple(str.__str__(word) for word in words)


def _nearest(row: Row, word: str) -> str:
    spellings = {spelling: choice for choice, others in row.choices.items() for spelling in (*others, choice)}
    near = get_close_matches(word.lower(), spellings, n=1, cutoff=0.7)
    return f" (did you mean {spellings[near[0]]!r}?)" if near else ""


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiouAEIOU' else 'a'} {noun}"


def reconciled(values: Mapping[str, Any], defaults: Mapping[str, object]) -> dict[str, Any]:
    """Check values that are right alone against each other.

    Parameters
    ----------
    values : mapping
        Every parameter by canonical name, each in the form `checked` gives it.
    defaults : mapping
        The default of each.

    Returns
    -------
    dict
        The same, with `num_class` in canonical form, and with the places of metrics in their names.

    Raises
    ------
    ParameterError
        If two values contradict each other.
    """
    objective: str = values["objective"]
    check_several(values)
    metrics = _metrics(values, objective)
    judging = [
        name
        for metric in metrics
        if metric not in NONE
        for name in metric_row(metric, objective, values["num_class"]).parameters
    ]
    for name in SPECIFIC:
        taken = name in objective_row(objective).parameters or name in judging
        taken |= name == "label_gain" and objective == OWN  # a ranker's score goes by it
        if not taken and values[name] != defaults[name]:
            raise ParameterError(
                f"{name}={values[name]!r} needs objective={takers(name)}, but objective={objective!r}; leave it at "
                f"{defaults[name]}"
            )
    _check_leaves(values["leaf_estimation"], objective)
    if values["eval_at"] is not None and kind_of(objective) != "ranks":
        raise ParameterError(
            f"eval_at={values['eval_at']!r} needs an objective that ranks, but objective={objective!r}; leave it out"
        )
    _check_sampling(values)
    _check_proposal(values)
    return {
        **values,
        "num_class": _num_class(values["num_class"], objective),
        "eval_metric": metrics,
    }


def _check_leaves(estimation: str, objective: str) -> None:
    if estimation == "newton":
        return
    form = objective_row(objective).form
    if form == "own":
        raise ParameterError(
            "leaf_estimation='line_search' needs a loss that is known; with a function as objective leave it at 'newton'"
        )
    if form in ("pairs", "listwise"):
        raise ParameterError(
            f"leaf_estimation='line_search' needs a loss of each row alone; objective={objective!r} looks at all rows of a "
            "query, so leave it at 'newton'"
        )
    if form in ("cox", "aft"):
        raise ParameterError(
            f"leaf_estimation='line_search' needs a loss of one score and one target, but objective={objective!r}; leave it at "
            "'newton'"
        )


def _check_sampling(values: Mapping[str, Any]) -> None:
    method, subsample = values["sampling_method"], values["subsample"]
    if method == "goss":
        top, other = values["top_rate"], values["other_rate"]
        if top + other > 1.0:
            raise ParameterError(
                f"top_rate={top!r} and other_rate={other!r} add up to more than 1; they must add up to at most 1"
            )
        if subsample < 1.0:
            raise ParameterError(
                f"subsample={subsample!r} contradicts sampling_method='goss', which draws by top_rate and other_rate; "
                "leave it at 1"
            )
    elif method != "uniform" and subsample == 1.0:
        raise ParameterError(
            f"sampling_method={method!r} needs subsample below 1: it is the share of the rows that are drawn"
        )


def _check_proposal(values: Mapping[str, Any]) -> None:
    method = values["tree_method"]
    if method != "approx" and (values["proposal"] != "global" or values["sketch_eps"] is not None):
        name = "sketch_eps" if values["sketch_eps"] is not None else "proposal"
        raise ParameterError(
            f"{name}={values[name]!r} needs tree_method='approx', but tree_method={method!r}; leave it out"
        )


def _num_class(num_class: int, objective: str) -> int:
    if objective == OWN:
        return 0 if num_class == 1 else num_class
    if "num_class" in objective_row(objective).parameters:
        if num_class < 2:
            raise ParameterError(
                f"num_class={num_class} contradicts objective={objective!r}, which needs 2 or more classes"
            )
        return num_class
    if num_class > 1:
        raise ParameterError(
            f"num_class={num_class} contradicts objective={objective!r}: leave it at 0, or use "
            "objective='softmax' or 'one_vs_rest'"
        )
    return 0


def _metrics(values: Mapping[str, Any], objective: str) -> tuple[str, ...]:
    names, places = values["eval_metric"], values["eval_at"]
    fitting, several = metrics_by_output(values, metrics_for(objective, values["num_class"]))
    chosen: list[str] = []
    for name in names:
        if name in NONE or name in NONE["none"]:
            if len(names) > 1:
                raise ParameterError(
                    f"eval_metric={list(names)!r} asks for metrics and for none; give one or the other"
                )
            return ("none",)
        word, place = name_and_place(name)
        if not any(one in METRICS and is_spelled(word, METRICS[one]) for one in fitting):
            raise ParameterError(
                f"eval_metric={name!r} does not fit objective={objective!r}{several}; the metrics that fit are "
                f"{', '.join(fitting)}"
            )
        for one in at_places(word, places if place is None else [place]):
            if one in chosen:
                raise ParameterError(
                    f"eval_metric={list(names)!r} names the metric {one!r} twice; give it once"
                )
            chosen.append(one)
    return tuple(chosen)
