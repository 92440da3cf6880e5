"""What the table says about one parameter."""

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

from spinney.params.by_column import Groups, Signs, Weights

T = TypeVar("T")

INT32 = 2**31 - 1
INT64 = 2**63 - 1

SEED = "int, RandomState, Generator or None"

GROUPS = ("objective", "growing a tree", "regularisation", "sampling", "data", "evaluation", "running")

_KINDS: Mapping[object, str] = {
    str: "str",
    bool: "bool",
    int: "int",
    Annotated[int, "drawn"]: SEED,  # an int once it is checked
    float: "float",
    int | None: "int or None",
    float | None: "float or None",
    int | float: "int or float",
    int | float | None: "int, float or None",
    float | str: "float or str",
    float | tuple[float, ...]: "float or sequence of float",
    int | float | str: "int, float or str",
    int | float | str | None: "int, float, str or None",
    tuple[str, ...]: "str or sequence of str",
    Signs | None: "sequence of int, mapping or None",
    Weights | None: "sequence of float, mapping or None",
    Groups | None: "sequence of sequences or None",
    tuple[float, ...] | None: "sequence of float or None",
    tuple[int, ...] | None: "sequence of int, int or None",
}

_NOTHING: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """A range of numbers: bounds are inclusive unless `low_open`, `high_open`.

    Examples
    --------
    >>> Bounds(low=0, high=1, low_open=True).range
    '> 0 and <= 1'
    """

    low: float | None = None
    high: float | None = None
    low_open: bool = False
    high_open: bool = False

    @property
    def range(self) -> str:
        """The range in words."""
        bounds = []
        if self.low is not None:
            bounds.append(f"{'>' if self.low_open else '>='} {_number(self.low)}")
        if self.high is not None:
            bounds.append(f"{'<' if self.high_open else '<='} {_number(self.high)}")
        return " and ".join(bounds) or "any finite number"


@dataclass(frozen=True, kw_only=True)
class Row(Bounds):
    """One parameter: its name, type, default, range, other spellings and meaning.

    Attributes
    ----------
    name : str
        Canonical name.
    kind : str
        Type in words, as the documentation shows it.
    default : object
        Value when the user gives none.
    group : str
        Heading of the documentation under which it stands, one of `GROUPS`.
    doc : str
        Meaning.
    aliases : tuple of str
        Other spellings of the name.
    low, high : float or None
        Bounds of a number, inclusive unless `low_open`, `high_open`.
    low_open, high_open : bool
        Whether `low`, `high` itself is out of range.
    choices : mapping of str to tuple of str
        Words accepted, each with its other spellings; empty for a number.
    also : mapping
        Values accepted outside the range, with the value each one stands for.
    excluded : mapping
        Values refused inside the range, with the reason.
    share : Bounds or None
        For a parameter that is a count as an int and a share as a float: the range of the share. Bounds and `excluded` are
        those of the count, and `choices` are words that stand for a number.
    in_model : bool
        Whether a model's file holds the value: it says how the trees were grown.
    omit_default : bool
        Whether a model's file leaves the value out while it is the default. A parameter that is added has this, so that the
        files of models that do not use it stay as they were.
    """

    name: str = ""
    kind: str = ""
    default: object
    group: str
    doc: str
    aliases: tuple[str, ...] = ()
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    also: Mapping[int | None, int | None] = field(default_factory=dict)
    excluded: Mapping[int, str] = field(default_factory=dict)
    share: Bounds | None = None
    in_model: bool = True
    omit_default: bool = False

    @property
    def range(self) -> str:
        """The accepted values in words.

        Examples
        --------
        >>> Row(default=1.0, group="sampling", doc="", low=0, high=1, low_open=True).range
        '> 0 and <= 1'
        """
        if self.share is not None:
            numbers = f"an int {super().range}, a float {self.share.range}"
            return ", ".join([numbers, *self.choices, *(["None"] if "None" in self.kind else [])])
        if self.kind in ("float or str", "int or str"):
            return ", ".join([super().range, *self.choices])
        if self.choices:
            return ", ".join(self.choices)
        if self.kind == "bool":
            return "True, False"
        if self.kind == "sequence of sequences or None":
            return "names or positions of columns"
        if self.kind == "sequence of float or None":
            return "0 or more, not falling"
        if self.kind == "sequence of int, int or None":
            return "1 or more"
        return super().range + "".join(f", not {value}" for value in self.excluded)


def param(
    default: T,
    *,
    group: str,
    doc: str,
    aliases: tuple[str, ...] = (),
    low: float | None = None,
    high: float | None = None,
    low_open: bool = False,
    high_open: bool = False,
    choices: Mapping[str, tuple[str, ...]] = _NOTHING,
    also: Mapping[int | None, int | None] = _NOTHING,
    excluded: Mapping[int, str] = _NOTHING,
    share: Bounds | None = None,
    in_model: bool = True,
    omit_default: bool = False,
) -> T:
    """Make a dataclass field that carries its row of the table; the arguments are those of `Row`."""
    row = Row(
        default=default,
        group=group,
        doc=doc,
        aliases=aliases,
        low=low,
        high=high,
        low_open=low_open,
        high_open=high_open,
        choices=choices,
        also=also,
        excluded=excluded,
        share=share,
        in_model=in_model,
        omit_default=omit_default,
    )
    return field(default=default, metadata={"row": row})


def share(default: float, *, group: str, doc: str, aliases: tuple[str, ...] = ()) -> float:
    """Make a field for a share of something: above 0, and 1 at most."""
    return param(default, group=group, doc=doc, aliases=aliases, low=0, high=1, low_open=True)


def row_of(parameter: Field[Any]) -> Row:
    """Return the row of a field made by `param`, with its name and type filled in."""
    row: Row = parameter.metadata["row"]
    kind = _KINDS[parameter.type]
    return replace(
        row, name=parameter.name, kind=f"{kind} or None" if None in row.also and kind != SEED else kind
    )


def _number(bound: float) -> str:
    """Write a bound, large powers of two as such: 2147483647 is '2**31 - 1'."""
    for bits in (31, 63):
        if bound == 2**bits - 1:
            return f"2**{bits} - 1"
    return str(bound)
