"""From the names users write to the canonical ones, and what to say about a name nobody knows."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

from spinney.errors import ParameterError, ParameterTypeError
from spinney.params.config import Config, table
from spinney.params.metric_names import kind_of
from spinney.params.presets import unsaid
from spinney.params.ranking import RANKING_LAMBDA
from spinney.params.rows import Row
from spinney.params.validate import checked, shown

_PAGE = "`python -m spinney.params` and docs/parameters.md list every parameter"

# What is an argument of `train` here and may be a parameter elsewhere.
TRAIN_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "rounds": (
        "num_boost_round",
        "n_estimators",
        "num_iterations",
        "num_iteration",
        "n_iter",
        "max_iter",
        "num_tree",
        "num_trees",
        "num_round",
        "num_rounds",
        "nrounds",
    ),
    "valid": ("evals", "valid_sets", "eval_set"),
    "callbacks": (),
}

# What LightGBM calls alpha with some objectives, which is the L1 penalty to XGBoost and here.
_LEVELS: Mapping[str, str] = {
    "quantile": "quantile_alpha for the level",
    "huber": "huber_delta for the width",
}

PRINTING = ("verbosity", "verbose", "verbose_eval", "silent")


@cache
def spellings() -> Mapping[str, Row]:
    """Every accepted spelling of a name, canonical ones included, with its row."""
    return spelled(table())


def spelled(rows: Iterable[Row]) -> Mapping[str, Row]:
    """Every accepted spelling of the names of some rows, with the row."""
    return {spelling: row for row in rows for spelling in (row.name, *row.aliases)}


def resolve(given: Mapping[str, object]) -> dict[str, object]:
    """Replace other spellings of names by the canonical ones; values stay as they are.

    Parameters
    ----------
    given : mapping
        Parameters under any accepted spelling.

    Returns
    -------
    dict
        The given parameters only, by canonical name.

    Raises
    ------
    ParameterError
        If a name is unknown, or two names are spellings of one parameter.

    Examples
    --------
    >>> resolve({"eta": 0.3, "num_leaves": 7})
    {'learning_rate': 0.3, 'max_leaves': 7}
    """
    return {row.name: value for row, _, value in named_rows(given, spellings(), TRAIN_ARGUMENTS)}


def parse(given: Mapping[str, object]) -> Config:
    """Turn what the user wrote into a checked configuration.

    Parameters
    ----------
    given : mapping
        Parameters under any accepted spelling. What is not given takes what `preset` says, else its default.

    Returns
    -------
    Config

    Raises
    ------
    ParameterError
        If a name is unknown or given twice, or a value is out of range or contradicts another one.
    ParameterTypeError
        If a value is of the wrong type.

    Examples
    --------
    >>> parse({"objective": "binary", "eta": 0.3}).learning_rate
    0.3
    >>> parse({"objective": "rank:ndcg"}).reg_lambda
    1.0
    >>> parse({"learning_rat": 0.3})
    Traceback (most recent call last):
    ...
    spinney.errors.ParameterError: unknown parameter 'learning_rat'; did you mean 'learning_rate'? \
`python -m spinney.params` and docs/parameters.md list every parameter
    """
    named = named_rows(given, spellings(), TRAIN_ARGUMENTS)
    values: dict[str, Any] = {row.name: checked(row, value, name) for row, name, value in named}
    level = _LEVELS.get(values.get("objective", ""))
    if "alpha" in given and level is not None:
        raise ParameterError(
            f"alpha={shown(given['alpha'])} has two meanings with objective={values['objective']!r}: write reg_alpha for the "
            f"L1 penalty, which is XGBoost's alpha, or {level}, which is LightGBM's"
        )
    if "objective" in values and kind_of(values["objective"]) == "ranks":
        values.setdefault("reg_lambda", RANKING_LAMBDA)
    values |= unsaid(values.get("preset"), values)
    return Config(**values)


def named_rows(
    given: Mapping[str, object], known: Mapping[str, Row], arguments: Mapping[str, tuple[str, ...]]
) -> list[tuple[Row, str, object]]:
    """Return row, spelling and value of everything given, after checking the names.

    Parameters
    ----------
    given : mapping
        Parameters under any accepted spelling.
    known : mapping
        Every accepted spelling, with its row.
    arguments : mapping
        Arguments of `train`, with other spellings, which are no parameters.
    """
    if not isinstance(given, Mapping):
        raise ParameterTypeError(
            f"params={shown(given)} must be a mapping of parameter names to values, "
            f"not an object of type {type(given).__name__}"
        )
    named: dict[str, list[str]] = {}
    for name, value in given.items():
        if not isinstance(name, str):
            raise ParameterTypeError(f"the parameter name {shown(name)} must be a str; {_PAGE}")
        if name not in known:
            raise ParameterError(_stranger(name, value, known, arguments))
        named.setdefault(known[name].name, []).append(name)
    for canonical, names in named.items():
        if len(names) > 1:
            found = " and ".join(f"{name}={shown(given[name])}" for name in names)
            raise ParameterError(f"{found} are spellings of one parameter, {canonical}; give only one")
    return [(known[name], name, value) for name, value in given.items()]


def _stranger(
    name: str, value: object, known: Mapping[str, Row], arguments: Mapping[str, tuple[str, ...]]
) -> str:
    for argument, others in arguments.items():
        if name == argument or name in others:
            return (
                f"{name}={shown(value)} is not a parameter of the model; pass it to `train` as its "
                f"argument `{argument}=`"
            )
    if name in PRINTING:
        return (
            f"unknown parameter {name!r}: nothing is printed unless a callback or a progress display is "
            f"asked for, so leave it out; {_PAGE}"
        )
    near = nearest(name, {spelling: row.name for spelling, row in known.items()})
    words = [
        repr(spelling) if spelling == canonical else f"{spelling!r} (another spelling of {canonical!r})"
        for canonical, spelling in near.items()
    ]
    meant = f" did you mean {' or '.join(words)}?" if words else ""
    return f"unknown parameter {name!r};{meant} {_PAGE}"


def nearest(name: str, known: Mapping[str, str]) -> dict[str, str]:
    """What was probably meant by a name, three at most: of spellings with their canonical names, the nearest, by the latter."""
    plain = name.lower().replace("-", "_").replace(" ", "_")
    near: dict[str, str] = {}
    for spelling in get_close_matches(plain, known, n=5, cutoff=0.75):
        near.setdefault(known[spelling], spelling)
    return dict(list(near.items())[:3])
