"""The JSON text that a model file carries beside its arrays: the fields of a header, each of a type that reads and checks it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from reprlib import repr as short_repr
from typing import Any, NoReturn

from spinney.data import Schema
from spinney.errors import ModelFormatError, ParameterError, ParameterTypeError
from spinney.params import ParameterSet
from spinney.safe_io import parse_json

FORMAT = 7  # the newest that can be read; a model is written in the oldest that can hold it
WITH_ESTIMATOR = 4
WITH_FOREST = 5  # with an estimator or without
WITH_KIND = 6  # a model of the kind that its header names, with an estimator or without
WITH_TARGET_ENCODING = 7  # a boosted model with encoded columns, with an estimator or without
# Far beyond any version number or name of an objective, and short enough to be shown in an error.
LONGEST_WORD = 100


@dataclass(frozen=True)
class Field(ABC):
    """A part of a header, and of what a model is made of, under one name.

    Attributes
    ----------
    name : str
        Its name.
    """

    name: str

    @property
    def keys(self) -> set[str]:
        """The keys that a header must have for it."""
        return {self.name}

    @abstractmethod
    def write(self, model: Any) -> dict[str, object]:
        """The keys and values of a model, of types that JSON has."""

    @abstractmethod
    def read(self, found: Mapping[str, Any]) -> Any:
        """The value in a header, of the right type; whether it fits the arrays is for the model to check."""


@dataclass(frozen=True)
class Value(Field):
    """One value under its own key.

    Attributes
    ----------
    of : callable, optional
        What gives the value of a model; without it the attribute of that name.
    """

    of: Callable[[Any], object] | None = None

    def write(self, model: Any) -> dict[str, object]:
        """The value of a model."""
        return {self.name: (self.of or attrgetter(self.name))(model)}

    def read(self, found: Mapping[str, Any]) -> Any:
        """The value in a header."""
        return self.check(found[self.name])

    @abstractmethod
    def check(self, value: Any) -> Any:
        """The value itself, or `ModelFormatError`."""

    def refuse(self, value: object, wanted: str) -> NoReturn:
        """Raise the error for a value that is not what is wanted."""
        raise ModelFormatError(f"{self.name} must be {wanted}, not {short_repr(value)}")


class Word(Value):
    """A short text."""

    def check(self, value: Any) -> str:
        """Refuse everything else."""
        if isinstance(value, str) and 0 < len(value) <= LONGEST_WORD:
            return value
        self.refuse(value, "a short text")


class Count(Value):
    """A whole number of 0 or more."""

    def check(self, value: Any) -> int:
        """Refuse everything else."""
        if type(value) is int and value >= 0:
            return value
        self.refuse(value, "a whole number of 0 or more")


class OptionalCount(Count):
    """A whole number of 0 or more, or null."""

    def read(self, found: Mapping[str, Any]) -> int | None:
        """The number; None where it is null."""
        return None if found[self.name] is None else self.check(found[self.name])


class Real(Value):
    """A floating-point number."""

    def check(self, value: Any) -> float:
        """Refuse everything else."""
        if type(value) is float:
            return value
        self.refuse(value, "a number with a point")


class Flag(Value):
    """A truth value."""

    def check(self, value: Any) -> bool:
        """Refuse everything else."""
        if type(value) is bool:
            return value
        self.refuse(value, "true or false")


class CountList(Value):
    """A list of whole numbers, of which a model checks each."""

    def write(self, model: Any) -> dict[str, object]:
        """The numbers of a model as a list."""
        return {self.name: list(getattr(model, self.name))}

    def check(self, value: Any) -> tuple[Any, ...]:
        """Refuse what is no list."""
        if isinstance(value, list):
            return tuple(value)
        self.refuse(value, "a list of whole numbers")


class SchemaFields(Field):
    """The columns of the training table: "names", "columns" and, where some have any, "categories"."""

    @property
    def keys(self) -> set[str]:
        """The keys that all headers have."""
        return {"names", "columns"}

    def write(self, model: Any) -> dict[str, object]:
        """The columns of a model."""
        found: dict[str, object] = model.schema.to_json()
        return found

    def read(self, found: Mapping[str, Any]) -> Schema:
        """The columns in a header."""
        return Schema.from_json({key: found[key] for key in (*self.keys, "categories") if key in found})


@dataclass(frozen=True)
class Parameters(Field):
    """The parameters of a training, by name.

    Attributes
    ----------
    config : type of ParameterSet
        What they are parsed by.
    of : callable
        What gives the parameters of a model.
    """

    config: type[ParameterSet]
    of: Callable[[Any], ParameterSet]

    def write(self, model: Any) -> dict[str, object]:
        """Those that belong to the model, and not to how it was trained."""
        return {self.name: self.of(model).to_dict(model_only=True)}

    def read(self, found: Mapping[str, Any]) -> ParameterSet:
        """Refuse names and values that this version does not have."""
        given = found[self.name]
        if not isinstance(given, dict):
            raise ModelFormatError(f"params must be a JSON object, not {short_repr(given)}")
        unknown = given.keys() - {one.name for one in self.config.table() if one.in_model}
        if unknown:
            raise ModelFormatError(
                f"the model has a parameter that this spinney lacks: {short_repr(min(unknown))}"
            )
        with parameter_errors():
            return self.config.parse(given)


@contextmanager
def parameter_errors() -> Iterator[None]:
    """Errors about parameters are errors of a file here."""
    try:
        yield
    except (ParameterError, ParameterTypeError) as error:
        raise ModelFormatError(f"the model has a wrong parameter: {error}") from error


COLUMNS = SchemaFields("schema")


def to_text(fields: Mapping[str, object], estimator: Mapping[str, object] | None) -> str:
    """The fields of a model, and what is saved of an estimator, as JSON: the same model gives the same text."""
    if estimator is None:
        return _dumps(fields, sort_keys=True)
    # Metrics of an estimator have an order, which its keys keep.
    known = json.loads(_dumps(fields, sort_keys=True))
    return _dumps(known | {"estimator": dict(estimator)}, sort_keys=False)


def _dumps(fields: Mapping[str, object], sort_keys: bool) -> str:
    return json.dumps(fields, sort_keys=sort_keys, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def read(text: str) -> dict[str, object]:
    """Read the JSON text found in a file: an object of a known format; nothing else of it is checked.

    Raises
    ------
    ModelFormatError
        The text is no header, or that of a newer format.
    """
    found = parse_json(text, "the model's header")
    if not isinstance(found, dict):
        raise ModelFormatError("the model's header must be a JSON object")
    _check_format(found)
    return found


def _check_format(found: dict[str, object]) -> None:
    number = found.get("format")
    if type(number) is not int or number < 1:
        raise ModelFormatError(f"the model's format must be a number from 1, not {short_repr(number)}")
    if number > FORMAT:
        raise ModelFormatError(
            f"this model has format {number}, written by a newer version of spinney, "
            f"{short_repr(found.get('version'))}; version {library_version()} reads formats up to {FORMAT}. "
            "Update spinney to read it"
        )


def check_keys(found: Mapping[str, object], keys: set[str], allowed: set[str]) -> None:
    """Refuse a header that lacks a key, or has one that it may not have."""
    odd = (found.keys() ^ keys) - allowed
    if odd:
        raise ModelFormatError(f"the model's header has too much or too little: {short_repr(min(odd))}")


def estimator_of(found: Mapping[str, object]) -> dict[str, object] | None:
    """What a file has of an estimator, not checked yet; None for a bare model."""
    if "estimator" not in found:
        return None
    given = found["estimator"]
    if not isinstance(given, dict):
        raise ModelFormatError(f"estimator must be a JSON object, not {short_repr(given)}")
    return given


def library_version() -> str:
    """Version of this spinney."""
    import spinney

    return spinney.__version__
