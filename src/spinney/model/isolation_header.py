"""The JSON text that the file of an isolation forest carries beside its arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from reprlib import repr as short_repr

from spinney.data import Schema
from spinney.errors import ModelFormatError, ParameterError, ParameterTypeError
from spinney.model import header
from spinney.model.isolation_parts import IsolationParts
from spinney.params import IsolationConfig

KIND = "isolation"
KEYS = frozenset(
    {"format", "version", "kind", "rows", "rows_per_tree", "offset", "columns", "names", "params"}
)


@dataclass(frozen=True)
class IsolationHeader:
    """What the text says, each field of the right type; how they fit the arrays is still to be checked."""

    rows: int
    rows_per_tree: int
    offset: float
    schema: Schema
    params: IsolationConfig
    estimator: dict[str, object] | None  # what a file knows beside the model; not checked here


def encode(parts: IsolationParts, estimator: Mapping[str, object] | None = None) -> str:
    """Write the header of an isolation forest: JSON text, the same for the same model."""
    return header.written(describe(parts), estimator)


def describe(parts: IsolationParts) -> dict[str, object]:
    """Return what an isolation forest is, apart from its arrays, as the dictionary that the header holds."""
    return {
        "format": header.WITH_KIND,
        "version": header.library_version(),
        "kind": KIND,
        "rows": parts.rows,
        "rows_per_tree": parts.rows_per_tree,
        "offset": parts.offset,
        **parts.schema.to_json(),
        "params": parts.params.to_dict(model_only=True),
    }


def decode(found: dict[str, object]) -> IsolationHeader:
    """Read the header of an isolation forest, trusting nothing but the number of its format.

    Raises
    ------
    ModelFormatError
        It is not what `describe` gives.
    """
    if found.get("kind") != KIND:
        raise ModelFormatError(f"the model's kind must be {KIND!r}, not {short_repr(found.get('kind'))}")
    header.check_keys(found, KEYS, {"categories", "estimator"})
    header.word(found, "version")
    offset = found["offset"]
    if type(offset) is not float:
        raise ModelFormatError(f"offset must be a number with a point, not {short_repr(offset)}")
    return IsolationHeader(
        rows=header.number(found, "rows"),
        rows_per_tree=header.number(found, "rows_per_tree"),
        offset=offset,
        schema=header.schema_of(found),
        params=_params(found["params"]),
        estimator=header.estimator_of(found["estimator"]) if "estimator" in found else None,
    )


def _params(given: object) -> IsolationConfig:
    told = header.known_params(given, IsolationConfig)
    try:
        return IsolationConfig.parse(told)
    except (ParameterError, ParameterTypeError) as error:
        raise ModelFormatError(f"the model has a wrong parameter: {error}") from error
