"""The parameters of a family of models together: read under any spelling, checked, written, and what a wrong name gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, ClassVar, Self

from spinney.errors import ParameterError, ParameterTypeError
from spinney.messages import nearest_names, shown
from spinney.params.parameter import Parameter

# Parameters of other libraries that set how much is printed.
PRINTING = ("verbosity", "verbose", "verbose_eval", "silent")

_PAGE = "`python -m spinney.params` and docs/parameters.md list every parameter"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ParameterSet:
    """Parameters under their canonical names, checked.

    A subclass is a frozen dataclass too, and declares its fields by `Int`, `Float`, `Choice` and so on. One that exists is
    valid: making it, also by `dataclasses.replace`, converts and checks every value, and how the values fit together.

    A group of parameters is a subclass too, of which configurations inherit. It has neither `eq` nor `repr`, which would
    take 0.2 ms of import for each group: two of them are equal only if they are one.

    Raises
    ------
    ParameterError
        If a value is out of range or contradicts another one.
    ParameterTypeError
        If a value is of the wrong type.

    Examples
    --------
    >>> from spinney.params.parameter import Int
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Depths(ParameterSet):
    ...     max_depth: int = Int(0, low=0, also={-1: 0}, aliases=("depth",), group="growing a tree", doc="Most splits.")
    >>> Depths(max_depth=-1), Depths.parse({"depth": 3})
    (Depths(max_depth=0), Depths(max_depth=3))
    """

    # Arguments of the function that trains, with other spellings, which are no parameters.
    arguments: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, value in list(vars(cls).items()):
            if isinstance(value, Parameter):
                parameter = replace(value, name=name)
                setattr(cls, name, field(default=value.default, metadata={"parameter": parameter}))

    def __post_init__(self) -> None:
        for parameter in self.table():
            value = getattr(self, parameter.name)
            if value is not parameter.default:
                object.__setattr__(self, parameter.name, parameter.check(value))
        self.check_together()

    def check_together(self) -> None:
        """Check values that are right alone against each other.

        Raises
        ------
        ParameterError
            If two values contradict each other.
        """

    @classmethod
    @cache
    def table(cls) -> tuple[Parameter[Any], ...]:
        """Every parameter, in the order of the documentation.

        Examples
        --------
        >>> from spinney.params import Config
        >>> [parameter.aliases for parameter in Config.table() if parameter.name == "learning_rate"]
        [('eta', 'shrinkage_rate')]
        """
        return tuple(one.metadata["parameter"] for one in fields(cls))

    @classmethod
    @cache
    def by_spelling(cls) -> Mapping[str, Parameter[Any]]:
        """Every parameter by every accepted spelling of its name, canonical ones included."""
        return by_spelling(cls.table())

    @classmethod
    def parameter(cls, name: str) -> Parameter[Any]:
        """The parameter of a name.

        Examples
        --------
        >>> from spinney.params import ForestConfig
        >>> ForestConfig.parameter("min_samples_leaf").range
        'an int >= 1 and <= 2**63 - 1, a float > 0 and < 1'
        """
        return cls.by_spelling()[name]

    @classmethod
    def parse(cls, given: Mapping[str, object]) -> Self:
        """Turn what the user wrote into checked parameters.

        Parameters
        ----------
        given : mapping
            Parameters under any accepted spelling. What is not given takes its default.

        Returns
        -------
        ParameterSet
            An instance of this class.

        Raises
        ------
        ParameterError
            If a name is unknown or given twice, or a value is out of range or contradicts another one.
        ParameterTypeError
            If a value is of the wrong type.

        Examples
        --------
        >>> from spinney.params import ForestConfig
        >>> ForestConfig.parse({"criterion": "gini", "seed": 7}).random_state
        7
        """
        named = match_names(given, cls.by_spelling(), cls.arguments)
        values = {parameter.name: parameter.check(value, name) for parameter, name, value in named}
        return cls(**cls._completed(given, values))

    @classmethod
    def _completed(cls, given: Mapping[str, object], values: dict[str, Any]) -> dict[str, Any]:
        """Add values that follow from those that are given.

        Parameters
        ----------
        given : mapping
            What the user wrote.
        values : dict
            The same by canonical name, each checked alone.
        """
        return values

    @classmethod
    def canonical(cls, given: Mapping[str, object]) -> dict[str, object]:
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
        >>> from spinney.params import Config
        >>> Config.canonical({"eta": 0.3, "num_leaves": 7})
        {'learning_rate': 0.3, 'max_leaves': 7}
        """
        named = match_names(given, cls.by_spelling(), cls.arguments)
        return {parameter.name: value for parameter, _, value in named}

    def having(self, **values: Any) -> Self:
        """The same with some values, by canonical name; itself where it has them.

        Examples
        --------
        >>> from spinney.params import Config
        >>> config = Config()
        >>> config.having(max_leaves=31) is config, config.having(max_leaves=7).max_leaves
        (True, 7)
        """
        changed = {name: value for name, value in values.items() if getattr(self, name) != value}
        return replace(self, **changed) if changed else self

    def to_dict(self, *, model_only: bool = False) -> dict[str, object]:
        """Return every value by canonical name, in types of JSON.

        Parameters
        ----------
        model_only : bool, default=False
            Leave out the parameters that cannot change the model, such as `n_jobs`.

        Returns
        -------
        dict
            `parse` turns it back into equal parameters.

        Examples
        --------
        >>> from spinney.params import Config
        >>> Config(eval_metric="mae").to_dict()["eval_metric"]
        ['mae']
        >>> "n_jobs" in Config(n_jobs=2).to_dict(model_only=True)
        False
        """
        values = [(parameter, getattr(self, parameter.name)) for parameter in self.table()]
        if model_only:
            values = [
                (parameter, value)
                for parameter, value in values
                if parameter.in_model and not (parameter.omit_default and value == parameter.default)
            ]
        return {parameter.name: _with_lists(value) for parameter, value in values}


def by_spelling(parameters: Iterable[Parameter[Any]]) -> dict[str, Parameter[Any]]:
    """Parameters by every accepted spelling of their names."""
    return {spelling: one for one in parameters for spelling in (one.name, *one.aliases)}


def match_names(
    given: Mapping[str, object], known: Mapping[str, Parameter[Any]], arguments: Mapping[str, tuple[str, ...]]
) -> list[tuple[Parameter[Any], str, object]]:
    """Return parameter, spelling and value of everything given, after checking the names.

    Parameters
    ----------
    given : mapping
        Values under any accepted spelling.
    known : mapping
        Every accepted spelling, with its parameter.
    arguments : mapping
        Arguments of `train`, with other spellings, which are no parameters.
    """
    if not isinstance(given, Mapping):
        raise ParameterTypeError(
            f"params={shown(given)} must be a mapping of parameter names to values, "
            f"not an object of type {type(given).__name__}"
        )
    spellings: dict[str, list[str]] = {}
    for name, value in given.items():
        if not isinstance(name, str):
            raise ParameterTypeError(f"the parameter name {shown(name)} must be a str; {_PAGE}")
        if name not in known:
            raise ParameterError(_unknown_name(name, value, known, arguments))
        spellings.setdefault(known[name].name, []).append(name)
    for canonical, names in spellings.items():
        if len(names) > 1:
            found = " and ".join(f"{name}={shown(given[name])}" for name in names)
            raise ParameterError(f"{found} are spellings of one parameter, {canonical}; give only one")
    return [(known[name], name, value) for name, value in given.items()]


def _unknown_name(
    name: str, value: object, known: Mapping[str, Parameter[Any]], arguments: Mapping[str, tuple[str, ...]]
) -> str:
    for argument, others in arguments.items():
        if name == argument or name in others:
            return (
                f"{name}={shown(value)} is not a parameter of the model; pass it to `train` as its "
                f"argument `{argument}=`"
            )
    if name in PRINTING:
        return (
            f"unknown parameter {name!r}: nothing is printed unless a callback or a progress display is given, so leave it "
            f"out; {_PAGE}"
        )
    near = nearest_names(name, {spelling: parameter.name for spelling, parameter in known.items()})
    meant = " or ".join(
        repr(spelling) if spelling == canonical else f"{spelling!r} (another spelling of {canonical!r})"
        for canonical, spelling in near.items()
    )
    return f"unknown parameter {name!r};{f' did you mean {meant}?' if meant else ''} {_PAGE}"


def _with_lists(value: object) -> object:
    return [_with_lists(item) for item in value] if isinstance(value, tuple) else value
