"""The model that training gives and users hold."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney import objectives
from spinney.data import Categories, Schema, Table, read_margin
from spinney.data.target_encoding import TargetEncoding
from spinney.errors import ParameterError
from spinney.model import header
from spinney.model.ensemble import Ensemble
from spinney.model.evaluation import EvaluatesBatches
from spinney.model.importance import Kind, importance
from spinney.model.predict import Predictor
from spinney.params import Config, checked_rounds
from spinney.tree import Forest


class Model(EvaluatesBatches):
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
    statistics : TargetEncoding, optional
        Columns that were made from the target (`target_stats`). Trees know them by numbers behind those of the table's columns.

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
        statistics: TargetEncoding | None = None,
    ) -> None:
        self._parts = Ensemble(forest, base_score, objective, params, schema, best_round, statistics)

    @classmethod
    def _kind(cls) -> type[Ensemble]:
        return Ensemble

    @property
    def rounds(self) -> int:
        """Number of rounds it holds; one round is one tree for each output."""
        return self._parts.rounds

    @property
    def outputs(self) -> int:
        """Number of scores per row: 1, or one for each of several targets, levels of a quantile, or more than two classes."""
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
    def statistics(self) -> TargetEncoding | None:
        """Columns that were made from the target, None where there are none."""
        return self._parts.statistics

    @property
    def base_score(self) -> NDArray[np.float64]:
        """Where the scores of a row begin, one for each output."""
        return self._parts.base_score

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
            (rows, classes) probabilities. Several targets: (rows, targets). Several levels of a quantile: (rows, levels),
            ascending in every row.

        Raises
        ------
        DataError
            Beside tables that do not fit: the exponential of a score is beyond float64, where predictions are exponentials.
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
            (rows,) when there is one output, else (rows, outputs). Levels of a quantile are as the trees give them: they may
            cross, and only `predict` sorts them.
        """
        trees = self.rounds_to_use(rounds) * self.outputs
        table = self.read(X)
        margin = read_margin(base_margin, table.rows, self.outputs)
        start = self.base_score if margin is None else margin
        scores = self._predictor.raw_scores(start, table, trees, n_jobs)
        return scores[:, 0] if self.outputs == 1 else scores

    def raw_scores(self, table: Table, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Raw scores for a table that `read` gave, of the rounds that `predict` uses: (rows, outputs)."""
        trees = self.rounds_to_use() * self.outputs
        return self._predictor.raw_scores(self.base_score, table, trees, n_jobs)

    def predict_leaf(
        self, X: object, rounds: int | None = None, n_jobs: int | None = None
    ) -> NDArray[np.int32]:
        """Return the leaf that each row reaches in each tree. The parameters are those of `predict`.

        Returns
        -------
        int32 array of shape (rows, trees)
            Node numbers, counted from the first node of each tree. The trees stand round by round, and within a round output
            by output: that of round r (from 0) for output k is column r * outputs + k. Of several levels of a quantile, output
            k has the trees of level k, before predictions are sorted.
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
            0 for a column that no split uses. Splits on what was made of a column and the target (`target_stats`) count for
            that column, half for either of a pair.
        """
        trees = self.rounds_to_use(rounds) * self.outputs
        sources = None if self.statistics is None else self.statistics.columns_behind()
        return importance(self.forest.first(trees), self.n_features, kind, sources)

    def read(self, X: object) -> Table:
        """Read a table to predict on: as the trees know it, columns that were made from the target included."""
        table = super().read(X)
        return table if self.statistics is None or table.rows == 0 else self.statistics.add_encoded(table)

    def to_json(self) -> str:
        """Write the model for people: JSON with its header and its trees as nested nodes, one line a node.

        A split of categories lists those that go left. {"others": 12} at the end of the list are 12 rare categories that
        share a bin. With several outputs, trees stand as in `predict_leaf`.
        """
        facts = {**header.describe(self._parts), "base_score": self.base_score.tolist()}
        return self._json(facts, (self.forest.tree(t) for t in range(self.forest.trees)))

    def _titles(self) -> tuple[Sequence[str | int] | None, Sequence[Categories | None] | None]:
        names, categories = super()._titles()
        if self.statistics is None or categories is None:
            return names, categories
        known: Sequence[str | int] = range(self.n_features) if names is None else names
        made = self.statistics.titles(self.feature_names)
        return [*known, *made], [*categories, *(None for _ in made)]

    def __repr__(self) -> str:
        best = "" if self.best_round is None else f", best_round={self.best_round}"
        return (
            f"Model(objective={self.objective!r}, rounds={self.rounds}{best}, outputs={self.outputs}, "
            f"n_features={self.n_features})"
        )

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
