"""Model files: a safetensors container of the trees' arrays and one JSON header; no code, nothing trusted."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from reprlib import repr as short_repr
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data.paths import check_path
from spinney.data.target_encoding import TARGET_ENCODING_DTYPES, TargetEncoding
from spinney.errors import DataTypeError, ModelFormatError
from spinney.model import adaboost_header, container, forest_header, header, isolation_header
from spinney.model.adaboost_header import AdaBoostHeader
from spinney.model.adaboost_parts import TREE_DTYPES, AdaBoostParts
from spinney.model.container import Container
from spinney.model.ensemble import Ensemble
from spinney.model.forest_header import ForestHeader
from spinney.model.forest_parts import ForestParts
from spinney.model.header import Header
from spinney.model.isolation_header import IsolationHeader
from spinney.model.isolation_parts import IsolationParts
from spinney.model.leaf_rows import LEAF_ROWS_DTYPES, TrainingRowsByLeaf
from spinney.safe_io import write_atomically
from spinney.tree import CompactForest, Forest, Sets
from spinney.tree.compact import COMPACT_DTYPES
from spinney.tree.forest import FOREST_DTYPES, SET_DTYPES
from spinney.tree.isolation import ISOLATION_ARRAYS, isolation_forest

ARRAYS = {name: (dtype,) for name, dtype in {**FOREST_DTYPES, "base_score": np.dtype(np.float64)}.items()}
# Only in a model with categorical columns.
SETS = {f"set_{name}": (dtype,) for name, dtype in SET_DTYPES.items()}
# Only in a boosted model with columns that were made from the target.
STATISTICS = {f"statistic_{name}": (dtype,) for name, dtype in TARGET_ENCODING_DTYPES.items()}
# Only in a forest that keeps the training rows of its leaves.
LEAF_ROWS = {f"leaf_row_{name}": (dtype,) for name, dtype in LEAF_ROWS_DTYPES.items()}
# Only in an AdaBoost model.
BY_TREE = {name: (dtype,) for name, dtype in TREE_DTYPES.items()}
ISOLATION = {name: (FOREST_DTYPES[name],) for name in ISOLATION_ARRAYS}
Parts = Ensemble | ForestParts | AdaBoostParts | IsolationParts


def dumps(parts: Parts, estimator: Mapping[str, object] | None = None) -> bytes:
    """Bytes of the model file; the same model gives the same bytes.

    Parameters
    ----------
    parts : Ensemble, ForestParts, AdaBoostParts or IsolationParts
        The model's parts.
    estimator : mapping, optional
        What an estimator knows beside its model, in types that JSON knows.

    Returns
    -------
    bytes
        A safetensors container.
    """
    if isinstance(parts, ForestParts):
        return container.write(_forest_arrays(parts), forest_header.encode(parts, estimator))
    if isinstance(parts, AdaBoostParts):
        by_tree = {name: np.ascontiguousarray(getattr(parts, name)) for name in TREE_DTYPES}
        arrays = _compact_arrays(parts.forest) | by_tree
        return container.write(arrays, adaboost_header.encode(parts, estimator))
    if isinstance(parts, IsolationParts):
        return container.write(_isolation_arrays(parts), isolation_header.encode(parts, estimator))
    ensemble = parts
    arrays = {name: np.ascontiguousarray(getattr(ensemble.forest, name)) for name in FOREST_DTYPES}
    arrays["base_score"] = ensemble.base_score
    if ensemble.schema.categories is not None:
        arrays |= _set_arrays(ensemble.forest.sets)
    if ensemble.statistics is not None:
        arrays |= {f"statistic_{name}": array for name, array in ensemble.statistics.arrays().items()}
    return container.write(arrays, header.encode(ensemble, estimator))


def _compact_arrays(forest: CompactForest) -> dict[str, NDArray[Any]]:
    return {name: np.ascontiguousarray(getattr(forest, name)) for name in COMPACT_DTYPES}


def _set_arrays(sets: Sets) -> dict[str, NDArray[Any]]:
    return {f"set_{name}": np.ascontiguousarray(getattr(sets, name)) for name in SET_DTYPES}


def _isolation_arrays(parts: IsolationParts) -> dict[str, NDArray[Any]]:
    arrays = {name: np.ascontiguousarray(getattr(parts.forest, name)) for name in ISOLATION_ARRAYS}
    return arrays if parts.schema.categories is None else arrays | _set_arrays(parts.forest.sets)


def _forest_arrays(parts: ForestParts) -> dict[str, NDArray[Any]]:
    arrays = _compact_arrays(parts.forest)
    if parts.leaf_rows is not None:
        for name in LEAF_ROWS_DTYPES:
            arrays[f"leaf_row_{name}"] = np.ascontiguousarray(getattr(parts.leaf_rows, name)).reshape(-1)
    return arrays


def loads(data: bytes | bytearray | memoryview) -> Parts:
    """Read the model of the bytes of a model file, trusting none of them; see `parts_of`."""
    return parts_of(data)[0]


def parts_of(data: bytes | bytearray | memoryview) -> tuple[Parts, dict[str, object] | None]:
    """Read the bytes of a model file, trusting none of them.

    Parameters
    ----------
    data : bytes
        The whole file.

    Returns
    -------
    parts : Ensemble, ForestParts, AdaBoostParts or IsolationParts
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
    found = header.read(box.text)
    if found["format"] == header.WITH_FOREST:
        forest = forest_header.decode(found)
        return _forest(box, forest), forest.estimator
    if found["format"] == header.WITH_KIND:
        return _of_kind(box, found)
    facts = header.decode(found)
    return _ensemble(box, facts), facts.estimator


def _of_kind(box: Container, found: dict[str, object]) -> tuple[Parts, dict[str, object] | None]:
    """Read a model of the kind that its header names."""
    if found.get("kind") == adaboost_header.KIND:
        boosted = adaboost_header.decode(found)
        return _adaboost(box, boosted), boosted.estimator
    if found.get("kind") == isolation_header.KIND:
        isolation = isolation_header.decode(found)
        return _isolation(box, isolation), isolation.estimator
    raise ModelFormatError(
        f"the model's kind must be {adaboost_header.KIND!r} or {isolation_header.KIND!r}, not {short_repr(found.get('kind'))}"
    )


def _ensemble(box: Container, facts: Header) -> Ensemble:
    categorical = facts.schema.categories is not None
    wanted = ARRAYS | SETS if categorical else ARRAYS
    arrays = container.take(box, wanted | STATISTICS if facts.has_statistics else wanted)
    made = (
        {name: arrays.pop(f"statistic_{name}") for name in TARGET_ENCODING_DTYPES}
        if facts.has_statistics
        else {}
    )
    base_score = arrays.pop("base_score")
    sets = _take_sets(arrays, categorical)
    if len(base_score) != facts.outputs:
        raise ModelFormatError(f"base_score has {len(base_score)} entries for {facts.outputs} outputs")
    ensemble = Ensemble(
        forest=Forest(**arrays, sets=sets),
        base_score=base_score,
        objective=facts.objective,
        params=facts.params,
        schema=facts.schema,
        best_round=facts.best_round,
        statistics=TargetEncoding.from_arrays(facts.schema, made) if made else None,
    )
    if ensemble.rounds != facts.rounds:
        raise ModelFormatError(
            f"the header counts {facts.rounds} rounds but there are trees for {ensemble.rounds}"
        )
    return ensemble


def _take_sets(arrays: dict[str, NDArray[Any]], categorical: bool) -> Sets:
    """The sets among the arrays of a file, which are taken out."""
    return Sets(**{name: arrays.pop(f"set_{name}") for name in SET_DTYPES}) if categorical else Sets.none()


def _isolation(box: Container, facts: IsolationHeader) -> IsolationParts:
    categorical = facts.schema.categories is not None
    arrays = container.take(box, ISOLATION | SETS if categorical else ISOLATION)
    sets = _take_sets(arrays, categorical)
    return IsolationParts(
        isolation_forest(**arrays, sets=sets),
        facts.params,
        facts.schema,
        facts.rows,
        facts.rows_per_tree,
        facts.offset,
    )


def _forest(box: Container, facts: ForestHeader) -> ForestParts:
    arrays = container.take(box, {**COMPACT_DTYPES, **LEAF_ROWS} if facts.leaf_rows else COMPACT_DTYPES)
    rows = {name: arrays.pop(f"leaf_row_{name}") for name in LEAF_ROWS_DTYPES} if facts.leaf_rows else {}
    forest = CompactForest(**arrays)
    if forest.trees != facts.trees:
        raise ModelFormatError(f"the header counts {facts.trees} trees but there are {forest.trees}")
    if rows:
        if len(rows["targets"]) != facts.rows * facts.outputs:
            raise ModelFormatError(
                f"leaf_row_targets has {len(rows['targets'])} entries for {facts.rows} rows of {facts.outputs} outputs"
            )
        rows["targets"] = rows["targets"].reshape(facts.rows, facts.outputs)
    return ForestParts(
        forest, facts.params, facts.schema, facts.classes, facts.outputs, facts.rows, TrainingRowsByLeaf(**rows) if rows else None
    )  # fmt: skip


def _adaboost(box: Container, facts: AdaBoostHeader) -> AdaBoostParts:
    arrays = container.take(box, {**COMPACT_DTYPES, **BY_TREE})
    by_tree = {name: arrays.pop(name) for name in TREE_DTYPES}
    forest = CompactForest(**arrays)
    if forest.trees != facts.trees:
        raise ModelFormatError(f"the header counts {facts.trees} trees but there are {forest.trees}")
    return AdaBoostParts(forest, facts.params, facts.schema, facts.classes, facts.rows, **by_tree)


def save(parts: Parts, path: str | os.PathLike[str], estimator: Mapping[str, object] | None = None) -> None:
    """Write a model file in one step: after a failure the old file is still there, whole.

    Parameters
    ----------
    parts : Ensemble, ForestParts, AdaBoostParts or IsolationParts
        The model's parts.
    path : str or path-like
        Where to write; its folder must exist.
    estimator : mapping, optional
        What an estimator knows beside its model, in types that JSON knows.
    """
    write_atomically(_checked(path), dumps(parts, estimator))


def read(path: str | os.PathLike[str]) -> tuple[Parts, dict[str, object] | None]:
    """Read a model file, trusting nothing in it.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    parts : Ensemble, ForestParts, AdaBoostParts or IsolationParts
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
    check_path(path, f"a model's path {os.fspath(path)!r:.60}")
    return path
