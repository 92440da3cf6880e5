"""The JSON text that a model file carries beside its arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from reprlib import repr as short_repr

from spinney.data import Schema
from spinney.errors import ModelFormatError, ParameterError, ParameterTypeError
from spinney.model.ensemble import Ensemble
from spinney.params import Config, ParameterSet, check_columns
from spinney.safe_io import parse_json

FORMAT = 7  # the newest that can be read; a model is written in the oldest that can hold it
WITH_ESTIMATOR = 4
WITH_FOREST = 5  # with an estimator or without
WITH_KIND = 6  # a model of the kind that its header names, with an estimator or without
WITH_STATISTICS = (
    7  # a boosted model with columns that were made from the target, with an estimator or without
)
KEYS = frozenset(
    {"format", "version", "objective", "outputs", "columns", "names", "rounds", "best_round", "params"}
)
# Far beyond any version number or name of an objective, and short enough to be shown in an error.
LONGEST_WORD = 100


@dataclass(frozen=True)
class Header:
    """What the text says, each field of the right type; how they fit the arrays is still to be checked."""

    objective: str
    outputs: int
    schema: Schema
    rounds: int
    best_round: int | None
    params: Config
    estimator: dict[str, object] | None  # what a file knows beside the model; not checked here
    has_statistics: bool  # whether there are arrays of columns that were made from the target


def encode(ensemble: Ensemble, estimator: Mapping[str, object] | None = None) -> str:
    """Write the header of a model.

    Parameters
    ----------
    ensemble : Ensemble
        The model's parts.
    estimator : mapping, optional
        What an estimator knows beside its model, in types that JSON knows.

    Returns
    -------
    str
        JSON text; the same model gives the same text.
    """
    told = describe(ensemble)
    if estimator is not None and ensemble.statistics is None:
        told |= {"format": WITH_ESTIMATOR}
    return written(told, estimator)


def written(told: Mapping[str, object], estimator: Mapping[str, object] | None) -> str:
    """Write what is known of a model, and of an estimator where there is one."""
    if estimator is None:
        return _written(told, sort_keys=True)
    # Metrics of an estimator have an order, which its keys keep.
    known = json.loads(_written(told, sort_keys=True))
    return _written(known | {"estimator": dict(estimator)}, sort_keys=False)


def _written(told: Mapping[str, object], sort_keys: bool) -> str:
    return json.dumps(told, sort_keys=sort_keys, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def describe(ensemble: Ensemble) -> dict[str, object]:
    """Return what a model is, apart from its arrays, as the dictionary that the header holds."""
    return {
        "format": ensemble.schema.file_format if ensemble.statistics is None else WITH_STATISTICS,
        "version": library_version(),
        "objective": ensemble.objective,
        "outputs": ensemble.outputs,
        **ensemble.schema.to_json(),
        "rounds": ensemble.rounds,
        "best_round": ensemble.best_round,
        "params": ensemble.params.to_dict(model_only=True),
    }


def read(text: str) -> dict[str, object]:
    """Read the JSON text found in a file: an object of a known format, of which nothing else is known yet.

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


def decode(found: dict[str, object]) -> Header:
    """Read the header of a boosted model, trusting nothing but the number of its format.

    Parameters
    ----------
    found : dict
        What `read` gave, of a format before that of forests.

    Returns
    -------
    Header
        Its fields.

    Raises
    ------
    ModelFormatError
        It is not what `describe` gives.
    """
    has_statistics = found["format"] == WITH_STATISTICS
    has_estimator = "estimator" in found if has_statistics else found["format"] == WITH_ESTIMATOR
    keys = KEYS | {"categories"} if found["format"] in (2, 3, WITH_STATISTICS) else KEYS
    if has_estimator:
        check_keys(found, keys | {"estimator"}, {"categories"})
    else:
        check_keys(found, keys)
    word(found, "version")
    schema = schema_of(found)
    if not (has_estimator or has_statistics) and schema.file_format != found["format"]:
        raise ModelFormatError(
            f"the model has format {found['format']}, but its columns are those of format {schema.file_format}"
        )
    return Header(
        objective=word(found, "objective"),
        outputs=number(found, "outputs"),
        schema=schema,
        rounds=number(found, "rounds"),
        best_round=None if found["best_round"] is None else number(found, "best_round"),
        params=_params(found["params"], schema),
        estimator=estimator_of(found["estimator"]) if has_estimator else None,
        has_statistics=has_statistics,
    )


def check_keys(
    found: dict[str, object], keys: frozenset[str], allowed: frozenset[str] | set[str] = frozenset()
) -> None:
    """Refuse a header that lacks a key, or has one that it may not have."""
    odd = (found.keys() ^ keys) - allowed
    if odd:
        raise ModelFormatError(f"the model's header has too much or too little: {short_repr(min(odd))}")


def schema_of(found: dict[str, object]) -> Schema:
    """The columns that a header tells of."""
    return Schema.from_json({key: found[key] for key in ("names", "columns", "categories") if key in found})


def library_version() -> str:
    """Version of this spinney."""
    import spinney

    return spinney.__version__


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


def word(found: dict[str, object], key: str) -> str:
    """A short text."""
    told = found[key]
    if not isinstance(told, str) or not 0 < len(told) <= LONGEST_WORD:
        raise ModelFormatError(f"{key} must be a short text, not {short_repr(told)}")
    return told


def number(found: dict[str, object], key: str) -> int:
    """A whole number of 0 or more."""
    told = found[key]
    if type(told) is not int or told < 0:
        raise ModelFormatError(f"{key} must be a whole number of 0 or more, not {short_repr(told)}")
    return told


def estimator_of(given: object) -> dict[str, object]:
    """What a file knows of an estimator."""
    if not isinstance(given, dict):
        raise ModelFormatError(f"estimator must be a JSON object, not {short_repr(given)}")
    return given


def known_params(given: object, parameters: type[ParameterSet]) -> dict[str, object]:
    """The parameters of a model, by names that this version knows; their values are not checked."""
    if not isinstance(given, dict):
        raise ModelFormatError(f"params must be a JSON object, not {short_repr(given)}")
    unknown = given.keys() - {one.name for one in parameters.table() if one.in_model}
    if unknown:
        raise ModelFormatError(
            f"the model has a parameter that this spinney lacks: {short_repr(min(unknown))}"
        )
    return given


def _params(given: object, schema: Schema) -> Config:
    told = known_params(given, Config)
    try:
        params = Config.parse(told)
        check_columns(params, schema.names, schema.columns, schema.categorical)
    except (ParameterError, ParameterTypeError) as error:
        raise ModelFormatError(f"the model has a wrong parameter: {error}") from error
    return params
