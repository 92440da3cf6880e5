"""Model files: a safetensors container of the trees' arrays and one JSON header; no code, nothing trusted.

A `FileFormat` declares the files of a class of models: its format numbers, the fields of its header, its arrays. Files are
written and read here by these declarations alone.

A new kind of model is a frozen class beside `isolation.py` that checks itself and has a `FILE`; its places are `KINDS` here
and `AnyModel` in `loading.py`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from reprlib import repr as short_repr
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.errors import DataTypeError, ModelFormatError
from spinney.model import container, header
from spinney.model.header import Field, Parameters, Word
from spinney.params import ParameterSet
from spinney.safe_io import check_path, write_atomically
from spinney.tree import Sets
from spinney.tree.forest import SET_DTYPES

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class ArrayGroup:
    """Arrays that a file has together, or not at all.

    Attributes
    ----------
    name : str
        Of the group.
    dtypes : mapping of str to dtypes
        The dtypes that each array may have.
    of : callable
        What gives the arrays of a model; None: it has none.
    prefix : str
        Begins the names of the arrays in a file.
    optional : callable, optional
        Whether a file has them, by the fields of its header. Without it every file does.
    """

    name: str
    dtypes: Mapping[str, tuple[np.dtype[Any], ...]]
    of: Callable[[Any], Mapping[str, NDArray[Any]] | None]
    prefix: str = ""
    optional: Callable[[Mapping[str, Any]], bool] | None = None

    def is_in(self, fields: Mapping[str, Any]) -> bool:
        """Whether a file with these fields has the arrays."""
        return self.optional is None or self.optional(fields)


def attributes(holder: object, names: Mapping[str, object]) -> Arrays:
    """Attributes of an object that are arrays, by name."""
    return {name: getattr(holder, name) for name in names}


def one_dtype(dtypes: Mapping[str, np.dtype[Any]]) -> dict[str, tuple[np.dtype[Any], ...]]:
    """The same for arrays that have one dtype only."""
    return {name: (dtype,) for name, dtype in dtypes.items()}


def set_arrays() -> ArrayGroup:
    """The sets of categorical splits, which only a model with categorical columns has."""

    def arrays_of(model: Any) -> Arrays | None:
        return None if model.schema.categories is None else attributes(model.forest.sets, SET_DTYPES)

    return ArrayGroup(
        "sets", one_dtype(SET_DTYPES), arrays_of, prefix="set_", optional=lambda fields: fields["schema"].categories is not None
    )  # fmt: skip


def take_sets(arrays: dict[str, Arrays]) -> Sets:
    """The sets among the arrays of a file."""
    return Sets(**arrays["sets"]) if "sets" in arrays else Sets.none()


@dataclass(frozen=True, eq=False, kw_only=True)
class FileFormat:
    """The files of a class of models.

    Attributes
    ----------
    number : int
        The number of the format.
    kind : str
        What the header calls such a model; empty where it has no word for it.
    config : type of ParameterSet
        Its parameters.
    parameters_of : callable
        What gives those of a model.
    fields : tuple of Field
        The fields of the header behind the version and the kind, but for the parameters, which come last.
    arrays : tuple of ArrayGroup
        The arrays.
    build : callable
        Makes a model of the fields and of the groups of arrays; it checks how they fit together.
    """

    number: int
    kind: str
    config: type[ParameterSet]
    parameters_of: Callable[[Any], ParameterSet]
    fields: tuple[Field, ...]
    arrays: tuple[ArrayGroup, ...]
    build: Callable[[dict[str, Any], dict[str, Arrays]], Any]

    def describe(self, model: object) -> dict[str, object]:
        """What a model is, apart from its arrays, as the dictionary that the header has."""
        found = self.begin(model)
        for field in self._all_fields:
            found |= field.write(model)
        return found

    def dumps(self, model: object, estimator: Mapping[str, object] | None = None) -> bytes:
        """Bytes of the file of a model; the same model gives the same bytes.

        Parameters
        ----------
        model : Model, ForestModel, AdaBoostModel or IsolationModel
            The model.
        estimator : mapping, optional
            What is saved of an estimator with its model, in types that JSON has.
        """
        arrays = {
            group.prefix + name: np.ascontiguousarray(array).reshape(-1)
            for group in self.arrays
            for name, array in (group.of(model) or {}).items()
        }
        fields = self.describe(model)
        if estimator is not None:
            fields = self.with_estimator(fields)
        return container.write(arrays, header.to_text(fields, estimator))

    def read_fields(self, found: Mapping[str, object]) -> dict[str, Any]:
        """The fields of a header, of which only the format and the kind were checked."""
        self.check_keys(found)
        VERSION.read(found)
        return {field.name: field.read(found) for field in self._all_fields}

    def read_arrays(self, box: container.Container, fields: Mapping[str, Any]) -> dict[str, Arrays]:
        """The groups of arrays of a file."""
        groups = [group for group in self.arrays if group.is_in(fields)]
        wanted = {group.prefix + name: dtypes for group in groups for name, dtypes in group.dtypes.items()}
        found = container.take(box, wanted)
        return {group.name: {name: found[group.prefix + name] for name in group.dtypes} for group in groups}

    def begin(self, model: object) -> dict[str, object]:
        """The first fields of a header."""
        return {"format": self.number, "version": header.library_version(), "kind": self.kind}

    def with_estimator(self, fields: dict[str, object]) -> dict[str, object]:
        """The fields of a file that has an estimator too."""
        return fields

    def check_keys(self, found: Mapping[str, object]) -> None:
        """Refuse a header that lacks a key, or has one that it may not have."""
        header.check_keys(found, {"format", "kind", *self.keys}, {"categories", "estimator"})

    @property
    def keys(self) -> set[str]:
        """The keys of the version and of all fields."""
        return {VERSION.name}.union(*(field.keys for field in self._all_fields))

    @property
    def _all_fields(self) -> tuple[Field, ...]:
        return (*self.fields, Parameters("params", self.config, self.parameters_of))


VERSION = Word("version")
# Where the classes of models are, by the number of the format and by the kind that the header names. Their modules are imported
# when a file of that kind is read. All other formats are those of boosted trees, which name no kind.
BOOSTED = "spinney.model.boosted", "Model"
KINDS: dict[int, dict[str, tuple[str, str]]] = {
    header.WITH_FOREST: {"forest": ("spinney.model.forest", "ForestModel")},
    header.WITH_KIND: {
        "adaboost": ("spinney.model.adaboost", "AdaBoostModel"),
        "isolation": ("spinney.model.isolation", "IsolationModel"),
    },
}


def _class_of(found: Mapping[str, Any]) -> Any:
    """The class of the model that a header belongs to."""
    kinds = KINDS.get(found["format"])
    if kinds is None:
        module, name = BOOSTED
    else:
        kind = found.get("kind")
        if not isinstance(kind, str) or kind not in kinds:
            known = " or ".join(repr(one) for one in kinds)
            raise ModelFormatError(f"the model's kind must be {known}, not {short_repr(kind)}")
        module, name = kinds[kind]
    return getattr(import_module(module), name)


def loads(data: bytes | bytearray | memoryview) -> tuple[Any, dict[str, object] | None]:
    """Read the bytes of a model file, trusting none of them.

    Parameters
    ----------
    data : bytes
        The whole file.

    Returns
    -------
    model : Model, ForestModel, AdaBoostModel or IsolationModel
        Its arrays cannot be written to.
    estimator : dict or None
        What the file has of an estimator, not checked yet.

    Raises
    ------
    ModelFormatError
        Anything at all is wrong with the bytes.

    Examples
    --------
    >>> loads(b"")
    Traceback (most recent call last):
    ...
    spinney.errors.ModelFormatError: this is not a model file, or it is cut off: its size is 0 bytes
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise DataTypeError(f"a model is read from bytes, not from {type(data).__name__}")
    box = container.read(bytes(data))
    found = header.read(box.text)
    form: FileFormat = _class_of(found).FILE
    fields, estimator = form.read_fields(found), header.estimator_of(found)
    return form.build(fields, form.read_arrays(box, fields)), estimator


def save(data: bytes, path: str | os.PathLike[str]) -> None:
    """Write a model file in one step: after a failure the old file is still there, whole."""
    write_atomically(_checked(path), data)


def read(path: str | os.PathLike[str]) -> tuple[Any, dict[str, object] | None]:
    """Read a model file, trusting nothing in it; see `loads`.

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
            # Refuses most other files before they are read whole.
            container.header_length(file.read(container.PREFIX), size)
            file.seek(0)
            return loads(file.read(size))
        except ModelFormatError as error:
            raise ModelFormatError(f"cannot read the model {os.fspath(path)!r}: {error}") from error


def _checked(path: object) -> str | os.PathLike[str]:
    """A path; a number would be taken for a file that is open already."""
    if not isinstance(path, str | os.PathLike):
        raise DataTypeError(f"a model's path is a str or path-like, not {type(path).__name__}")
    check_path(path, f"a model's path {os.fspath(path)!r:.60}")
    return path
