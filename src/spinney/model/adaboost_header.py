"""The JSON text that the file of an AdaBoost model carries beside its arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from reprlib import repr as short_repr

from spinney.data import Schema
from spinney.errors import ModelFormatError, ParameterError, ParameterTypeError
from spinney.model import header
from spinney.model.adaboost_parts import AdaBoostParts
from spinney.params import AdaBoostConfig

KIND = "adaboost"
KEYS = frozenset({"format", "version", "kind", "classes", "rows", "columns", "names", "trees", "params"})


@dataclass(frozen=True)
class AdaBoostHeader:
    """What the text says, each field of the right type; how they fit the arrays is still to be checked."""

    classes: tuple[int, ...]
    rows: int
    trees: int
    schema: Schema
    params: AdaBoostConfig
    estimator: dict[str, object] | None  # what a file knows beside the model; not checked here


def encode(parts: AdaBoostParts, estimator: Mapping[str, object] | None = None) -> str:
    """Write the header of an AdaBoost model: JSON text, the same for the same model."""
    return header.written(describe(parts), estimator)


def describe(parts: AdaBoostParts) -> dict[str, object]:
    """Return what an AdaBoost model is, apart from its arrays, as the dictionary that the header holds."""
    return {
        "format": header.WITH_KIND,
        "version": header.library_version(),
        "kind": KIND,
        "classes": list(parts.classes),
        "rows": parts.rows,
        **parts.schema.to_json(),
        "trees": parts.forest.trees,
        "params": parts.params.to_dict(model_only=True),
    }


def decode(found: dict[str, object]) -> AdaBoostHeader:
    """Read the header of an AdaBoost model, trusting nothing but the number of its format and its kind.

    Raises
    ------
    ModelFormatError
        It is not what `describe` gives.
    """
    header.check_keys(found, KEYS, {"categories", "estimator"})
    header.word(found, "version")
    classes = found["classes"]
    if not isinstance(classes, list):
        raise ModelFormatError(f"classes must be a list of whole numbers, not {short_repr(classes)}")
    return AdaBoostHeader(
        classes=tuple(classes),
        rows=header.number(found, "rows"),
        trees=header.number(found, "trees"),
        schema=header.schema_of(found),
        params=_params(found["params"]),
        estimator=header.estimator_of(found["estimator"]) if "estimator" in found else None,
    )


def _params(given: object) -> AdaBoostConfig:
    told = header.known_params(given, AdaBoostConfig)
    try:
        return AdaBoostConfig.parse(told)
    except (ParameterError, ParameterTypeError) as error:
        raise ModelFormatError(f"the model has a wrong parameter: {error}") from error
