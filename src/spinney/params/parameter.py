"""One parameter, by the type of its values: what it accepts, how a value is checked, and the words that documentation shows.

A field of a `ParameterSet` is declared by `Int(...)`, `Float(...)`, `Choice(...)` and so on. To a type checker these give the
type of the field; what they make is an `IntParameter`, a `FloatParameter`, a `ChoiceParameter`, ... A new one has
`omit_default=True`, so that models that do not use it keep their bytes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, Generic, ParamSpec, Protocol, TypeGuard, TypeVar, Union, cast

import numpy as np

from spinney.errors import ParameterError, ParameterTypeError
from spinney.messages import nearest_choice, shown, with_article

P = ParamSpec("P")
T = TypeVar("T")

INT32 = 2**31 - 1
INT64 = 2**63 - 1

GROUPS = ("objective", "growing a tree", "regularisation", "sampling", "data", "evaluation", "running")

_LONGEST_CHOICE = 80  # characters of a docstring's line in which all choices are listed

# What a seed may be drawn from, and what may be given as a seed.
SeedSource = Union["np.random.RandomState", "np.random.Generator"]
SeedLike = int | SeedSource | None


class ShownValue:
    """A value of a parameter as a message shows it, with its name. The text is made only where an error is raised.

    Examples
    --------
    >>> f"{ShownValue('learning_rate', -1, 'eta')} is out of range"
    "learning_rate=-1 (given as 'eta') is out of range"
    """

    __slots__ = ("_name", "_spelling", "_value")

    def __init__(self, name: str, value: object, spelling: str | None = None) -> None:
        self._name, self._value, self._spelling = name, value, spelling

    def __str__(self) -> str:
        given = "" if self._spelling in (None, self._name) else f" (given as {self._spelling!r})"
        return f"{self._name}={shown(self._value)}{given}"


class _Spelled(Protocol):
    """A loss or a metric, which has other spellings of its name."""

    @property
    def spellings(self) -> tuple[str, ...]:
        """The other spellings."""


class Spellings(Mapping[str, tuple[str, ...]]):
    """Other spellings by canonical name, read from a table of losses or metrics at each look."""

    def __init__(
        self, table: Mapping[str, _Spelled], more: Mapping[str, tuple[str, ...]] | None = None
    ) -> None:
        self._table, self._more = table, more or {}

    def __getitem__(self, name: str) -> tuple[str, ...]:
        return self._more[name] if name in self._more else self._table[name].spellings

    def __iter__(self) -> Iterator[str]:
        yield from self._table
        yield from self._more

    def __len__(self) -> int:
        return len(self._table) + len(self._more)


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """A range of numbers: bounds are inclusive unless `low_open`, `high_open`.

    Examples
    --------
    >>> bounds = Bounds(low=0, high=1, low_open=True)
    >>> bounds.words, 0 in bounds, 1 in bounds
    ('> 0 and <= 1', False, True)
    """

    low: float | None = None
    high: float | None = None
    low_open: bool = False
    high_open: bool = False

    @property
    def words(self) -> str:
        """The range in words."""
        bounds = []
        if self.low is not None:
            bounds.append(f"{'>' if self.low_open else '>='} {_bound(self.low)}")
        if self.high is not None:
            bounds.append(f"{'<' if self.high_open else '<='} {_bound(self.high)}")
        return " and ".join(bounds) or "any finite number"

    def __contains__(self, number: float) -> bool:
        too_low = self.low is not None and (number <= self.low if self.low_open else number < self.low)
        too_high = self.high is not None and (number >= self.high if self.high_open else number > self.high)
        return not (too_low or too_high)


@dataclass(frozen=True, eq=False)
class Parameter(ABC, Generic[T]):
    """One parameter. What kind of values it takes is its class.

    Attributes
    ----------
    default : object
        Value when the user gives none.
    group : str
        Heading of the documentation under which it stands, one of `GROUPS`.
    doc : str
        Meaning.
    name : str
        Canonical name; a `ParameterSet` fills in that of its field.
    aliases : tuple of str
        Other spellings of the name.
    choices : mapping of str to tuple of str
        Words accepted, each with its other spellings; for a number, words that stand for one.
    optional : bool
        Whether None is accepted. True where it is the default.
    in_model : bool
        Whether a model's file holds the value: trees depend on it.
    omit_default : bool
        Whether a model's file leaves the value out while it is the default. A parameter that is added has this, so that the
        files of models that do not use it stay as they were.
    """

    default: T
    _: KW_ONLY
    group: str
    doc: str
    name: str = ""
    aliases: tuple[str, ...] = ()
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    optional: bool = False
    in_model: bool = True
    omit_default: bool = False

    def __post_init__(self) -> None:
        if self.default is None:
            object.__setattr__(self, "optional", True)

    def check(self, value: object, spelling: str | None = None) -> T:
        """Return the value in its canonical form and type.

        Parameters
        ----------
        value : object
            What the user gave.
        spelling : str or None
            Name the user gave it under, for messages.

        Returns
        -------
        object
            A value of the parameter's type. Checking it again changes nothing.

        Raises
        ------
        ParameterTypeError
            If the value is of the wrong type.
        ParameterError
            If the value is out of range.
        """
        # A default is in its canonical form, unless it is None; most values are defaults. It takes 0.06 µs to see, a check 0.6.
        if value is not None and type(value) is type(self.default) and value == self.default:
            return self.default
        if value is None and self.optional:
            return cast("T", self.none)
        return self.convert(value, ShownValue(self.name, value, spelling))

    @abstractmethod
    def convert(self, value: object, shown_value: ShownValue) -> T:
        """Check a value that is not None, or None where it is not accepted."""

    @property
    def none(self) -> object:
        """What None stands for, where it is accepted."""
        return None

    @property
    @abstractmethod
    def kind(self) -> str:
        """The type in words, as the documentation shows it."""

    @property
    @abstractmethod
    def annotation(self) -> str:
        """The type in Python, of what the user may give."""

    @property
    @abstractmethod
    def range(self) -> str:
        """The accepted values in words."""

    @property
    def docstring_kind(self) -> str:
        """The type in words, as docstrings show it."""
        return self.kind

    @property
    def accepted(self) -> str:
        """The accepted values as the page of parameters shows them, in Markdown."""
        return ", ".join(f"`{choice}`" for choice in self.choices) or f"`{self.range}`"

    def _choice(self, value: object, shown_value: ShownValue) -> str:
        """The canonical form of a word."""
        if not isinstance(value, str):
            raise ParameterTypeError(
                f"{shown_value} must be a str, one of {self.range}, not {with_article(type(value).__name__)}"
            )
        for choice, spellings in self.choices.items():
            if value == choice or value in spellings:
                return choice
        raise ParameterError(
            f"{shown_value} is unknown: it must be one of {self.range}{nearest_choice(value, self.choices)}"
        )


class BoolParameter(Parameter[bool]):
    """True or False.

    Examples
    --------
    >>> BoolParameter(True, group="running", doc="").check(0)
    False
    """

    kind, annotation, range = "bool", "bool", "True, False"

    def convert(self, value: object, shown_value: ShownValue) -> bool:
        """Accept NumPy's truth values too, which come out of grid searches, and 0 and 1 of other libraries' files."""
        if type(value).__name__ in ("bool", "bool_") or (isinstance(value, Integral) and value in (0, 1)):
            return bool(value)
        raise ParameterTypeError(
            f"{shown_value} must be True or False, not {with_article(type(value).__name__)}"
        )


class ChoiceParameter(Parameter[str]):
    """One of some words.

    Examples
    --------
    >>> ChoiceParameter("hist", choices={"hist": ("auto",), "exact": ()}, group="", doc="").check("auto")
    'hist'
    """

    kind, annotation = "str", "str"

    def convert(self, value: object, shown_value: ShownValue) -> str:
        """Find the word, or the one that it is another spelling of."""
        return self._choice(value, shown_value)

    @property
    def range(self) -> str:
        """The words."""
        return ", ".join(self.choices)

    @property
    def docstring_kind(self) -> str:
        """The words, where a line holds them."""
        choices = "{" + ", ".join(map(repr, self.choices)) + "}"
        return choices if len(choices) <= _LONGEST_CHOICE else self.kind


@dataclass(frozen=True, kw_only=True, eq=False)
class NumberParameter(Parameter[T]):
    """A number in a range, or a word that stands for one.

    Attributes
    ----------
    low, high : float or None
        Bounds, inclusive unless `low_open`, `high_open`.
    low_open, high_open : bool
        Whether `low`, `high` itself is out of range.
    also : mapping
        Values accepted outside the range, with the value each one stands for.
    excluded : mapping
        Values refused inside the range, with the reason.
    """

    low: float | None = None
    high: float | None = None
    low_open: bool = False
    high_open: bool = False
    also: Mapping[int | None, int | None] = field(default_factory=dict)
    excluded: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if None in self.also:
            object.__setattr__(self, "optional", True)

    @property
    @abstractmethod
    def _types(self) -> tuple[str, ...]:
        """The types of numbers."""

    @property
    def _accepted_types(self) -> list[str]:
        return [*self._types, *(["str"] if self.choices else []), *(["None"] if self.optional else [])]

    @property
    def kind(self) -> str:
        """Such as 'int, float or None'."""
        *others, last = self._accepted_types
        return f"{', '.join(others)} or {last}" if others else last

    @property
    def annotation(self) -> str:
        """Such as 'int | float | None'."""
        return " | ".join(self._accepted_types)

    @property
    def bounds(self) -> Bounds:
        """The range."""
        return Bounds(low=self.low, high=self.high, low_open=self.low_open, high_open=self.high_open)

    @property
    def range(self) -> str:
        """Such as '> 0 and <= 1'."""
        if self.choices:
            return ", ".join([self.bounds.words, *self.choices])
        return self.bounds.words + "".join(f", not {value}" for value in self.excluded)

    @property
    def accepted(self) -> str:
        """The range, the words, and what other values stand for."""
        return f"`{self.range}`" + "".join(
            f"; {value} means {meaning}" for value, meaning in self.also.items()
        )

    @property
    def none(self) -> object:
        """What None stands for."""
        return self.also.get(None)

    def _float(self, value: object, shown_value: ShownValue) -> float:
        """A finite number."""
        if not isinstance(value, Real) or isinstance(value, bool):
            raise ParameterTypeError(
                f"{shown_value} must be {with_article(self.kind)}, not {with_article(type(value).__name__)}"
            )
        number = as_float(value)
        if not math.isfinite(number):
            raise ParameterError(f"{shown_value} must be a finite number, its range is: {self.range}")
        # Adding zero turns -0.0 into 0.0: equal configurations must also be written as equal bytes.
        return number + 0.0

    def _int(self, value: object, shown_value: ShownValue) -> int | None:
        """A whole number in range, or what it stands for."""
        if isinstance(value, Integral) and not isinstance(value, bool):
            number = int(value)
        else:
            real = self._float(value, shown_value)
            if not real.is_integer():
                raise ParameterTypeError(f"{shown_value} must be a whole number, {self.range}")
            number = int(real)
        if number in self.also:
            return self.also[number]
        if number in self.excluded:
            raise ParameterError(f"{shown_value} is not allowed: {self.excluded[number]}")
        self._check_range(number, self.bounds, shown_value)
        return number

    def _check_range(self, number: float, bounds: Bounds, shown_value: ShownValue) -> float:
        if number not in bounds:
            raise ParameterError(f"{shown_value} is out of range: it must be {self.range}")
        return number


class IntParameter(NumberParameter[T]):
    """A whole number.

    Examples
    --------
    >>> depth = IntParameter(0, low=0, also={-1: 0, None: 0}, group="growing a tree", doc="")
    >>> depth.check(3.0), depth.check(None), depth.kind
    (3, 0, 'int or None')
    """

    _types = ("int",)

    def convert(self, value: object, shown_value: ShownValue) -> Any:
        """Accept any kind of number that is whole."""
        if self.choices and isinstance(value, str):
            return self._choice(value, shown_value)
        return self._int(value, shown_value)


class SeedParameter(IntParameter[int]):
    """A seed, or a source of random numbers from which one is drawn.

    Examples
    --------
    >>> SeedParameter(0, low=0, high=INT64, also={None: 0}, group="running", doc="").check(None)
    0
    """

    kind = "int, RandomState, Generator or None"
    annotation = "int | np.random.RandomState | np.random.Generator | None"

    def convert(self, value: object, shown_value: ShownValue) -> Any:
        """Draw a seed where the value is a source of them."""
        return draw_seed(value) if is_drawn(value) else super().convert(value, shown_value)


class FloatParameter(NumberParameter[T]):
    """A finite number.

    Examples
    --------
    >>> rate = FloatParameter(0.1, low=0, low_open=True, group="regularisation", doc="")
    >>> rate.check(1), rate.range
    (1.0, '> 0')
    """

    _types = ("float",)

    def convert(self, value: object, shown_value: ShownValue) -> Any:
        """Accept any kind of real number."""
        if self.choices and isinstance(value, str):
            return self._choice(value, shown_value)
        return self._check_range(self._float(value, shown_value), self.bounds, shown_value)


class FloatOrListParameter(FloatParameter[float | tuple[float, ...]]):
    """A number, or several ascending ones.

    Examples
    --------
    >>> level = FloatOrListParameter(0.5, low=0, high=1, group="objective", doc="")
    >>> level.check([0.1, 0.9]), level.check([0.9])
    ((0.1, 0.9), 0.9)
    """

    kind, annotation = "float or sequence of float", "float | ArrayLike"

    def convert(self, value: Any, shown_value: ShownValue) -> float | tuple[float, ...]:
        """Check each number; one alone is that number."""
        if isinstance(value, Real):
            return float(super().convert(value, shown_value))
        listed = value.tolist() if hasattr(value, "tolist") else value
        if not isinstance(listed, Sequence) or isinstance(listed, str | bytes | bytearray):
            raise ParameterTypeError(
                f"{shown_value} must be a float or a sequence of ascending floats, not {with_article(type(value).__name__)}"
            )
        if not listed:
            raise ParameterError(
                f"{shown_value} is empty: give one number or several ascending ones, {self.range}"
            )
        found = tuple(
            self._check_range(self._float(one, shown_value), self.bounds, shown_value) for one in listed
        )
        for one, other in pairwise(found):
            if not one < other:
                raise ParameterError(
                    f"{shown_value} must be ascending, each number once; {other!r} follows {one!r}"
                )
        return found if len(found) > 1 else found[0]


@dataclass(frozen=True, kw_only=True, eq=False)
class CountOrShareParameter(NumberParameter[T]):
    """A count as an int, a share as a float, whatever their values: 1 is one row, and 1.0 is all of them.

    Bounds are those of the count; `share` has those of the share.

    Examples
    --------
    >>> rows = CountOrShareParameter(None, low=1, share=Bounds(low=0, high=1), group="sampling", doc="")
    >>> rows.check(1), rows.check(1.0), rows.kind
    (1, 1.0, 'int, float or None')
    """

    share: Bounds

    _types = ("int", "float")

    @property
    def range(self) -> str:
        """Both ranges, and what else is accepted."""
        numbers = f"an int {self.bounds.words}, a float {self.share.words}"
        return ", ".join([numbers, *self.choices, *(["None"] if self.optional else [])])

    def convert(self, value: object, shown_value: ShownValue) -> Any:
        """Check the number as that which its type makes it."""
        if self.choices and isinstance(value, str):
            return self._choice(value, shown_value)
        if isinstance(value, Integral):
            return self._int(value, shown_value)
        return self._check_range(self._float(value, shown_value), self.share, shown_value)


@dataclass(frozen=True, kw_only=True, eq=False)
class AnyParameter(Parameter[Any]):
    """Values that something else checks, such as functions; `kind` and `annotation` are given."""

    kind: str = ""
    annotation: str = ""

    range = "anything"

    def convert(self, value: object, shown_value: ShownValue) -> object:
        """Leave the value as it is."""
        return value


def declares(parameter: Callable[P, Parameter[T]]) -> Callable[P, T]:
    """The same class, of which a call has the type of the parameter's values: it declares a field of a `ParameterSet`."""
    return cast("Callable[P, T]", parameter)


Bool = declares(BoolParameter)
Choice = declares(ChoiceParameter)
Int = declares(IntParameter)
Seed = declares(SeedParameter)
Float = declares(FloatParameter)
FloatOrList = declares(FloatOrListParameter)
CountOrShare = declares(CountOrShareParameter)


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
    """Whether a value can be iterated over. A NumPy array of no dimensions cannot, though it has the method.

    Examples
    --------
    >>> is_iterable([3]), is_iterable(3), is_iterable(np.array(3))
    (True, False, False)
    """
    return isinstance(value, Iterable) and getattr(value, "shape", None) != ()


def is_drawn(seed: object) -> TypeGuard[SeedSource]:
    """Whether a seed is to be drawn from a source of random numbers, whose state then moves on.

    Examples
    --------
    >>> is_drawn(np.random.default_rng(3)), is_drawn(3), is_drawn(None)
    (True, False, False)
    """
    if seed is None or isinstance(seed, int):
        return False  # without a look at `np.random`, which NumPy imports at its first use, in 8 ms
    return isinstance(seed, np.random.RandomState | np.random.Generator)


def draw_seed(source: SeedSource) -> int:
    """The next seed of a source of random numbers, from 0 to 2**31 - 2.

    Examples
    --------
    >>> draw_seed(np.random.default_rng(3)) == int(np.random.default_rng(3).integers(2**31 - 1))
    True
    """
    return int(source.integers(INT32) if isinstance(source, np.random.Generator) else source.randint(INT32))


def _bound(bound: float) -> str:
    """Write a bound, large powers of two as such: 2147483647 is '2**31 - 1'."""
    for bits in (31, 63):
        if bound == 2**bits - 1:
            return f"2**{bits} - 1"
    return str(bound)
