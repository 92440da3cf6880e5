"""The JSON text that the file of a forest carries beside its arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from reprlib import repr as short_repr

from spinney.data import Schema
from spinney.errors import ModelFormatError, ParameterError, ParameterTypeError
from spinney.model import header
from spinney.model.forest_parts import ForestParts
from spinney.params import ForestConfig

KIND = "forest"
KEYS = frozenset(
    {"format", "version", "kind", "classes", "outputs", "rows", "columns", "names", "trees", "leaf_rows", "params"}
)  # fmt: skip


@dataclass(frozen=True)
class ForestHeader:
    """What the text says, each field of the right type; how they fit the arrays is still to be checked."""

    classes: tuple[int, ...]
    outputs: int
    rows: int
    trees: int
    leaf_rows: bool
    schema: Schema
    params: ForestConfig
    estimator: dict[str, object] | None  # what a file knows beside the model; not checked here


def encode(parts: ForestParts, estimator: Mapping[str, object] | None = None) -> str:
    """Write the header of a forest: JSON text, the same for the same model."""
    return header.written(describe(parts), estimator)


def describe(parts: ForestParts) -> dict[str, object]:
    """Return what a forest is, apart from its arrays, as the dictionary that the header holds."""
    return {
        "format": header.WITH_FOREST,
        "version": header.library_version(),
        "kind": KIND,
        "classes": list(parts.classes),
        "outputs": parts.outputs,
        "rows": parts.rows,
        **parts.schema.to_json(),
        "trees": parts.forest.trees,
        "leaf_rows": parts.leaf_rows is not None,
        "params": parts.params.to_dict(model_only=True),
    }


def decode(found: dict[str, object]) -> ForestHeader:
    """Read the header of a forest, trusting nothing but the number of its format.

    Raises
    ------
    ModelFormatError
        It is not what `describe` gives.
    """
    header.check_keys(found, KEYS, {"categories", "estimator"})
    if found["kind"] != KIND:
        raise ModelFormatError(f"the model's kind must be {KIND!r}, not {short_repr(found['kind'])}")
    header.word(found, "version")
    classes = found["classes"]
    if not isinstance(classes, list):
        raise ModelFormatError(f"classes must be a list of whole numbers, not {short_repr(classes)}")
    if type(found["leaf_rows"]) is not bool:
        raise ModelFormatError(f"leaf_rows must be true or false, not {short_repr(found['leaf_rows'])}")
    return ForestHeader(
        classes=tuple(classes),
        outputs=header.number(found, "outputs"),
        rows=header.number(found, "rows"),
        trees=header.number(found, "trees"),
        leaf_rows=found["leaf_rows"],
        schema=header.schema_of(found),
        params=_params(found["params"]),
        estimator=header.estimator_of(found["estimator"]) if "estimator" in found else None,
    )


def _params(given: object) -> ForestConfig:
    told = header.known_params(given, ForestConfig)
    try:
        return ForestConfig.parse(told)
    except (ParameterError, ParameterTypeError) as error:
        raise ModelFormatError(f"the model has a wrong parameter: {error}") from error
