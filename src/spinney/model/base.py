"""What every finished model has: columns, a file, bytes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

from spinney.data import Categories, Table, encode, match_columns, read_table
from spinney.errors import ModelFormatError
from spinney.model import file
from spinney.model.batches import PredictsBatches
from spinney.model.file import FileFormat
from spinney.tree import Tree, dump


class SavedModel(PredictsBatches):
    """A finished model; it never changes.

    Two models are equal (`==`) when their files would hold the same bytes. A model is pickled as those bytes.
    """

    FILE: ClassVar[FileFormat]

    @property
    def n_features(self) -> int:
        """Number of columns of the training table."""
        return self.schema.columns

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the columns, None when the training table had none."""
        return self.schema.names

    @property
    def absent(self) -> float:
        """What an entry that a sparse matrix does not store means: 0, or NaN for a missing value."""
        absent: float = self._config.absent_value
        return absent

    @property
    def _config(self) -> Any:
        """The parameters it was trained with."""
        return self.FILE.parameters_of(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a safetensors file in one step: on failure an old file is still there, whole."""
        file.save(self.to_bytes(), path)

    def to_bytes(self) -> bytes:
        """Bytes of the file that `save` would write; the same model gives the same bytes."""
        return self.FILE.dumps(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read the bytes of a model file; anything wrong with them raises `ModelFormatError`."""
        model, _ = file.loads(data)
        if not isinstance(model, cls):
            raise ModelFormatError(f"these are the bytes of another model than a {cls.__name__}")
        return model

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
        return encode(table, self.schema.categories, self._config.unseen)

    def _titles(self) -> tuple[Sequence[str | int] | None, Sequence[Categories | None] | None]:
        """What columns are called in a dump, and their categories."""
        return self.schema.names, self.schema.categories

    def _json(self, facts: Mapping[str, object], trees: Iterable[Tree]) -> str:
        """What is known of the model, and its trees as nested nodes, one line a node."""
        # The trees themselves stand where a file has their number.
        others = {name: value for name, value in facts.items() if name != "trees"}
        head = json.dumps(others, indent=2, ensure_ascii=False)
        names, categories = self._titles()
        texts = (dump.to_json(tree, names, categories, indent=4) for tree in trees)
        return head.removesuffix("\n}") + ',\n  "trees": [\n' + ",\n".join(texts) + "\n  ]\n}"
