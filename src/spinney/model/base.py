"""What every finished model has: columns, a file, bytes."""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from spinney.data import Categories, Schema, Table, encode, match_columns, read_table
from spinney.errors import ModelFormatError
from spinney.model import file
from spinney.model.batches import PredictsBatches
from spinney.model.file import Parts
from spinney.tree import Tree, dump


class SavedModel(PredictsBatches):
    """A finished model; it never changes.

    Two models are equal (`==`) when their files would hold the same bytes. A model is pickled as those bytes.
    """

    _parts: Parts

    @classmethod
    def _of(cls, parts: Parts) -> Self:
        model = cls.__new__(cls)
        model._parts = parts
        return model

    @property
    def n_features(self) -> int:
        """Number of columns of the training table."""
        return self._parts.schema.columns

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, None when the training table had none."""
        return self._parts.schema.names

    @property
    def schema(self) -> Schema:
        """The columns of the training table: names and categories."""
        return self._parts.schema

    @property
    def absent(self) -> float:
        """What an entry that a sparse matrix does not store means: 0, or NaN for a missing value."""
        return self._parts.params.absent_value

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a safetensors file in one step: on failure an old file is still there, whole."""
        file.save(self._parts, path)

    def to_bytes(self) -> bytes:
        """Bytes of the file that `save` would write; the same model gives the same bytes."""
        return file.dumps(self._parts)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read the bytes of a model file; anything wrong with them raises `ModelFormatError`."""
        parts = file.loads(data)
        if not isinstance(parts, cls._kind()):
            raise ModelFormatError(f"these are the bytes of another model than a {cls.__name__}")
        return cls._of(parts)

    @classmethod
    @abstractmethod
    def _kind(cls) -> type[Parts]:
        """The parts that such a model is made of."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self is other or self.to_bytes() == other.to_bytes()

    def __reduce__(self) -> tuple[object, tuple[bytes]]:
        return type(self).from_bytes, (self.to_bytes(),)

    def read(self, X: object) -> Table:
        """Read a table to predict on: its columns in the order of training, categories as their numbers."""
        given = X if isinstance(X, Table) else read_table(X, allow_empty=True)
        table = match_columns(given, self.feature_names, self.n_features)
        if table.rows == 0:
            return table
        return encode(table, self._parts.schema.categories, self._parts.params.unseen)

    def _titles(self) -> tuple[Sequence[str | int] | None, Sequence[Categories | None] | None]:
        """What columns are called in a dump, and their categories."""
        return self.schema.names, self.schema.categories

    def _json(self, facts: Mapping[str, object], trees: Iterable[Tree]) -> str:
        """What is known of the model, and its trees as nested nodes, one line a node."""
        # The trees themselves stand where a file has their number.
        said = {name: value for name, value in facts.items() if name != "trees"}
        head = json.dumps(said, indent=2, ensure_ascii=False)
        names, categories = self._titles()
        told = (dump.to_json(tree, names, categories, indent=4) for tree in trees)
        return head.removesuffix("\n}") + ',\n  "trees": [\n' + ",\n".join(told) + "\n  ]\n}"
