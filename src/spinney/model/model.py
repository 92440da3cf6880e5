"""The model that training gives and users hold."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney import objectives
from spinney.data import Schema, Table, encode, match_columns, read_margin, read_table
from spinney.errors import ParameterError
from spinney.model import file, header
from spinney.model.ensemble import Ensemble
from spinney.model.importance import Kind, importance
from spinney.model.predict import Predictor
from spinney.params import Config, checked_rounds
from spinney.tree import Forest, dump


class Model:
    """A trained ensemble of trees; it never changes.

    Two models are equal (`==`) when their files would hold the same bytes. A model is pickled as those bytes.

    Parameters
    ----------
    forest : Forest
        Its trees, round by round and within a round output by output.
    base_score : float64[outputs]
        Where the scores of a row begin.
    objective : str
        Canonical name of the objective.
    params : Config
        The parameters it was trained with.
    schema : Schema
        The columns of the training table.
    best_round : int, optional
        Number of rounds that prediction uses; all when not given.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney.data import Schema
    >>> from spinney.params import Config
    >>> from spinney.tree import concatenate
    >>> model = Model(concatenate([]), np.array([0.5]), "squared_error", Config(), Schema(None, 2))
    >>> model
    Model(objective='squared_error', rounds=0, outputs=1, n_features=2)
    >>> Model.from_bytes(model.to_bytes()) == model
    True
    """

    _parts: Ensemble

    def __init__(
        self,
        forest: Forest,
        base_score: NDArray[np.float64],
        objective: str,
        params: Config,
        schema: Schema,
        best_round: int | None = None,
    ) -> None:
        self._parts = Ensemble(forest, base_score, objective, params, schema, best_round)

    @classmethod
    def _of(cls, parts: Ensemble) -> Model:
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
    def rounds(self) -> int:
        """Number of rounds it holds; one round is one tree for each output."""
        return self._parts.rounds

    @property
    def outputs(self) -> int:
        """Number of scores per row: 1, or the number of classes when there are more than two."""
        return self._parts.outputs

    @property
    def best_round(self) -> int | None:
        """Number of rounds that prediction uses, None for all."""
        return self._parts.best_round

    @property
    def objective(self) -> str:
        """Canonical name of the objective it was trained with."""
        return self._parts.objective

    @property
    def params(self) -> Config:
        """The parameters it was trained with."""
        return self._parts.params

    @property
    def forest(self) -> Forest:
        """Its trees; their arrays cannot be written to."""
        return self._parts.forest

    @property
    def base_score(self) -> NDArray[np.float64]:
        """Where the scores of a row begin, one for each output."""
        return self._parts.base_score

    @property
    def absent(self) -> float:
        """What an entry that a sparse matrix does not store means: 0, or NaN for a missing value."""
        return self.params.absent_value

    def predict(
        self,
        X: object,
        rounds: int | None = None,
        n_jobs: int | None = None,
        base_margin: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Predict on the scale of the target: values, or probabilities.

        Parameters
        ----------
        X : table
            NumPy array, pandas, Polars or Arrow table, or SciPy sparse matrix, with the columns of the training table. It
            may have no rows.
        rounds : int, optional
            Use the first so many rounds; 0 is the base score alone. Without it `best_round`, else all.
        n_jobs : int, optional
            Number of threads; the result does not depend on it.
        base_margin : array of shape (rows,) or (rows, outputs), optional
            Where the raw scores of each row begin, in place of the base score.

        Returns
        -------
        float64 array
            Regression: (rows,) values. Two classes: (rows,) probabilities of the second one. More classes:
            (rows, classes) probabilities.
        """
        raw = self.predict_raw(X, rounds, n_jobs, base_margin)
        return objectives.get(self.params).link(raw)

    def predict_raw(
        self,
        X: object,
        rounds: int | None = None,
        n_jobs: int | None = None,
        base_margin: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Predict raw scores: the base score plus what the trees add. The parameters are those of `predict`.

        Returns
        -------
        float64 array
            (rows,) when there is one output, else (rows, outputs).
        """
        trees = self.rounds_to_use(rounds) * self.outputs
        table = self.read(X)
        margin = read_margin(base_margin, table.rows, self.outputs)
        start = self.base_score if margin is None else margin
        scores = self._predictor.raw_scores(start, table, trees, n_jobs)
        return scores[:, 0] if self.outputs == 1 else scores

    def predict_leaf(
        self, X: object, rounds: int | None = None, n_jobs: int | None = None
    ) -> NDArray[np.int32]:
        """Return the leaf that each row reaches in each tree. The parameters are those of `predict`.

        Returns
        -------
        int32 array of shape (rows, trees)
            Node numbers, counted from the first node of each tree. The trees stand round by round, and within a round output
            by output: that of round r (from 0) for output k is column r * outputs + k.
        """
        trees = self.rounds_to_use(rounds) * self.outputs
        return self._predictor.leaf_indices(self.read(X), trees, n_jobs)

    def importance(self, kind: Kind = "gain", rounds: int | None = None) -> NDArray[np.float64]:
        """Tell how much each column matters to the splits.

        Parameters
        ----------
        kind : {"gain", "total_gain", "split", "cover", "total_cover"}
            "split" counts the splits on a column, "total_gain" and "total_cover" add up their gain and cover,
            "gain" and "cover" are the means over those splits.
        rounds : int, optional
            Look at the first so many rounds. Without it those that `predict` uses.

        Returns
        -------
        float64 array of shape (n_features,)
            0 for a column that no split uses.
        """
        trees = self.rounds_to_use(rounds) * self.outputs
        return importance(self.forest.first(trees), self.n_features, kind)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a safetensors file in one step: on failure an old file is still there, whole."""
        file.save(self._parts, path)

    def to_bytes(self) -> bytes:
        """Bytes of the file that `save` would write; the same model gives the same bytes."""
        return file.dumps(self._parts)

    @classmethod
    def from_bytes(cls, data: bytes) -> Model:
        """Read the bytes of a model file; anything wrong with them raises `ModelFormatError`."""
        return cls._of(file.loads(data))

    def to_json(self) -> str:
        """Write the model for people: JSON with its header and its trees as nested nodes, one line a node.

        A split of categories lists those that go left. {"others": 12} at the end of the list are 12 rare categories that
        share a bin.
        """
        facts = {**header.describe(self._parts), "base_score": self.base_score.tolist()}
        head = json.dumps(facts, indent=2, ensure_ascii=False)
        schema, forest = self._parts.schema, self.forest
        trees = (
            dump.to_json(forest.tree(t), schema.names, schema.categories, indent=4)
            for t in range(forest.trees)
        )
        return head.removesuffix("\n}") + ',\n  "trees": [\n' + ",\n".join(trees) + "\n  ]\n}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return self is other or self.to_bytes() == other.to_bytes()

    def __reduce__(self) -> tuple[object, tuple[bytes]]:
        return type(self).from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        best = "" if self.best_round is None else f", best_round={self.best_round}"
        return (
            f"Model(objective={self.objective!r}, rounds={self.rounds}{best}, outputs={self.outputs}, "
            f"n_features={self.n_features})"
        )

    def read(self, X: object) -> Table:
        """Read a table to predict on: its columns in the order of training, categories as their numbers."""
        table = match_columns(read_table(X, allow_empty=True), self.feature_names, self.n_features)
        if table.rows == 0:
            return table
        return encode(table, self._parts.schema.categories, self.params.unseen)

    @cached_property
    def _predictor(self) -> Predictor:
        return Predictor(self.forest, self.absent)

    def rounds_to_use(self, rounds: int | None = None) -> int:
        """Rounds that a prediction uses: those asked for, else the best one, else all."""
        if rounds is None:
            return self.rounds if self.best_round is None else self.best_round
        number = checked_rounds(rounds)
        if number > self.rounds:
            raise ParameterError(
                f"rounds={number} is out of range: it must be from 0 to {self.rounds}, the rounds of the model"
            )
        return number


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model from a file that `Model.save` wrote, or the model alone from that of an estimator.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    Model
        Equal to the one that was saved.

    Raises
    ------
    ModelFormatError
        The file is damaged, of a newer format, or not a model file. Nothing in a file can do harm.
    OSError
        The file is missing, a folder, or cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from spinney.tree import concatenate
    >>> model = Model(concatenate([]), np.array([0.5]), "squared_error", Config(), Schema(None, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "model.safetensors")
    ...     model.save(path)
    ...     load(path) == model
    True
    """
    return load_with_part(path)[0]


def load_with_part(path: str | os.PathLike[str]) -> tuple[Model, dict[str, object] | None]:
    """Read a model and what its file knows of an estimator, None for a bare model; that part is not checked yet."""
    parts, estimator = file.read(path)
    return Model._of(parts), estimator


def save_with_part(model: Model, path: str | os.PathLike[str], estimator: Mapping[str, object]) -> None:
    """Write a model, and what an estimator knows beside it in types that JSON knows, to one file."""
    file.save(model._parts, path, estimator)
