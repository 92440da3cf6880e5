"""Model files: a safetensors container of the trees' arrays and one JSON header; no code, nothing trusted."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

import numpy as np

from spinney.errors import DataError, DataTypeError, ModelFormatError
from spinney.model import atomic, container, header
from spinney.model.ensemble import Ensemble
from spinney.tree import Forest, Sets
from spinney.tree.forest import FOREST_DTYPES, SET_DTYPES

ARRAYS = {**FOREST_DTYPES, "base_score": np.dtype(np.float64)}
# Only in a model with categorical columns.
SETS = {f"set_{name}": dtype for name, dtype in SET_DTYPES.items()}


def dumps(ensemble: Ensemble, estimator: Mapping[str, object] | None = None) -> bytes:
    """Bytes of the model file; the same model gives the same bytes.

    Parameters
    ----------
    ensemble : Ensemble
        The model's parts.
    estimator : mapping, optional
        What an estimator knows beside its model, in types that JSON knows.

    Returns
    -------
    bytes
        A safetensors container.
    """
    arrays = {name: np.ascontiguousarray(getattr(ensemble.forest, name)) for name in FOREST_DTYPES}
    arrays["base_score"] = ensemble.base_score
    if ensemble.schema.categories is not None:
        for name in SET_DTYPES:
            arrays[f"set_{name}"] = np.ascontiguousarray(getattr(ensemble.forest.sets, name))
    return container.write(arrays, header.encode(ensemble, estimator))


def loads(data: bytes | bytearray | memoryview) -> Ensemble:
    """Read the model of the bytes of a model file, trusting none of them; see `parts_of`."""
    return parts_of(data)[0]


def parts_of(data: bytes | bytearray | memoryview) -> tuple[Ensemble, dict[str, object] | None]:
    """Read the bytes of a model file, trusting none of them.

    Parameters
    ----------
    data : bytes
        The whole file.

    Returns
    -------
    ensemble : Ensemble
        Its arrays cannot be written to.
    estimator : dict or None
        What the file knows of an estimator, not checked yet.

    Raises
    ------
    ModelFormatError
        Anything at all is wrong with the bytes.

    Examples
    --------
    >>> parts_of(b"")
    Traceback (most recent call last):
    ...
    spinney.errors.ModelFormatError: this is not a model file, or it is cut off: its size is 0 bytes
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise DataTypeError(f"a model is read from bytes, not from {type(data).__name__}")
    box = container.read(bytes(data))
    facts = header.decode(box.text)
    categorical = facts.schema.categories is not None
    arrays = container.take(box, ARRAYS | SETS if categorical else ARRAYS)
    base_score = arrays.pop("base_score")
    sets = Sets(**{name: arrays.pop(f"set_{name}") for name in SET_DTYPES}) if categorical else Sets.none()
    if len(base_score) != facts.outputs:
        raise ModelFormatError(f"base_score has {len(base_score)} entries for {facts.outputs} outputs")
    ensemble = Ensemble(
        forest=Forest(**arrays, sets=sets),
        base_score=base_score,
        objective=facts.objective,
        params=facts.params,
        schema=facts.schema,
        best_round=facts.best_round,
    )
    if ensemble.rounds != facts.rounds:
        raise ModelFormatError(
            f"the header counts {facts.rounds} rounds but there are trees for {ensemble.rounds}"
        )
    return ensemble, facts.estimator


def save(
    ensemble: Ensemble, path: str | os.PathLike[str], estimator: Mapping[str, object] | None = None
) -> None:
    """Write a model file in one step: after a failure the old file is still there, whole.

    Parameters
    ----------
    ensemble : Ensemble
        The model's parts.
    path : str or path-like
        Where to write; its folder must exist.
    estimator : mapping, optional
        What an estimator knows beside its model, in types that JSON knows.
    """
    atomic.write(_checked(path), dumps(ensemble, estimator))


def read(path: str | os.PathLike[str]) -> tuple[Ensemble, dict[str, object] | None]:
    """Read a model file, trusting nothing in it.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    ensemble : Ensemble
        Its arrays cannot be written to.
    estimator : dict or None
        What the file knows of an estimator, not checked yet.

    Raises
    ------
    ModelFormatError
        The file is not a sound model file.
    OSError
        The file is missing, a folder, or cannot be read.
    """
    mode = os.stat(_checked(path)).st_mode
    # A pipe may never end, and opening one may wait for ever.
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ModelFormatError(f"{os.fspath(path)!r} is not a regular file; a model is read from a file")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            # Refuses most strangers before they are read whole.
            container.header_length(file.read(container.PREFIX), size)
            file.seek(0)
            return parts_of(file.read(size))
        except ModelFormatError as error:
            raise ModelFormatError(f"cannot read the model {os.fspath(path)!r}: {error}") from error


def _checked(path: object) -> str | os.PathLike[str]:
    """A path; a number would be taken for a file that is open already."""
    if not isinstance(path, str | os.PathLike):
        raise DataTypeError(f"a model's path is a str or path-like, not {type(path).__name__}")
    if "\0" in os.fsdecode(path):
        raise DataError(f"a model's path must not hold a null character, got {os.fspath(path)!r}")
    return path
