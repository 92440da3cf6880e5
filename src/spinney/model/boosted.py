"""`Model`, the boosted trees that training gives and users hold; and the mean of several as one (`mean_model`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from operator import attrgetter
from reprlib import repr as short_repr
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney import objectives
from spinney.data import Categories, Schema, Table, read_margin
from spinney.data.schema import check_schema
from spinney.data.target_encoding import TARGET_ENCODING_DTYPES, TargetEncoding
from spinney.errors import ModelFormatError, ParameterError
from spinney.model import header
from spinney.model.base import EnsembleView
from spinney.model.evaluation import EvaluatesBatches
from spinney.model.file import ArrayGroup, Arrays, FileFormat, attributes, one_dtype, set_arrays, take_sets
from spinney.model.header import COLUMNS, Count, OptionalCount, Word
from spinney.model.importance import Kind, importance
from spinney.model.predict import Predictor
from spinney.params import Config, check_columns, checked_rounds, outputs_of
from spinney.tree import Forest, Tree, check, concatenate
from spinney.tree.check import check_scores
from spinney.tree.forest import FOREST_DTYPES


@dataclass(frozen=True, eq=False, repr=False)
class Model(EvaluatesBatches):
    """A trained ensemble of boosted trees; it never changes, and one that exists is sound: a wrong part is refused.

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
        The target encoding (`target_stats`). In trees, encoded columns have numbers behind those of the table's columns.

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

    forest: Forest
    base_score: NDArray[np.float64]
    objective: str
    params: Config
    schema: Schema
    best_round: int | None = None
    statistics: TargetEncoding | None = None

    FILE: ClassVar[FileFormat]

    def __post_init__(self) -> None:
        _check_base_score(self.base_score)
        _check_objective(self.objective, self.params, self.outputs)
        check_schema(self.schema)
        columns, counts, made = self.schema.columns, self.schema.category_counts, self.statistics
        if made is not None:
            made.check(self.schema, self.outputs)
            columns, counts = columns + made.encoded_count, made.all_counts(counts)
        check(self.forest, columns, self.outputs, counts)
        check_scores(self.forest, self.base_score)
        best = self.best_round
        if best is not None and (type(best) is not int or not 0 <= best <= self.rounds):
            raise ModelFormatError(f"best_round must be a whole number from 0 to {self.rounds}, not {best!r}")
        # What was checked must stay as it was: kernels walk these arrays without looking.
        base_score = self.base_score.copy()
        base_score.flags.writeable = False
        object.__setattr__(self, "base_score", base_score)
        object.__setattr__(self, "forest", self.forest.read_only())
        if made is not None:
            object.__setattr__(self, "statistics", made.read_only())

    @property
    def rounds(self) -> int:
        """Number of rounds it holds; one round is one tree for each output."""
        return self.forest.trees // self.outputs

    @property
    def outputs(self) -> int:
        """Number of scores per row: 1, or one for each of several targets, levels of a quantile, or more than two classes."""
        return len(self.base_score)

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
        """How much each column matters to the splits.

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
        """Read a table to predict on, with its encoded columns."""
        table = super().read(X)
        return table if self.statistics is None or table.rows == 0 else self.statistics.add_encoded(table)

    def to_json(self) -> str:
        """Write the model for people: JSON with its header and its trees as nested nodes, one line a node.

        A split of categories lists those that go left. {"others": 12} at the end of the list are 12 rare categories that
        share a bin. With several outputs, trees stand as in `predict_leaf`.
        """
        facts = {**self.FILE.describe(self), "base_score": self.base_score.tolist()}
        return self._json(facts, (self.forest.tree(t) for t in range(self.forest.trees)))

    def _view(self) -> EnsembleView:
        """The trees that `predict` uses; sums are raw scores."""
        forest = self.forest.first(self.rounds_to_use() * self.outputs)
        return EnsembleView(forest, forest.tree, self.base_score)

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
        """Rounds that a prediction uses: those given, else the best one, else all."""
        if rounds is None:
            return self.rounds if self.best_round is None else self.best_round
        number = checked_rounds(rounds)
        if number > self.rounds:
            raise ParameterError(
                f"rounds={number} is out of range: it must be from 0 to {self.rounds}, the rounds of the model"
            )
        return number


def _check_base_score(base_score: NDArray[np.float64]) -> None:
    if base_score.dtype != np.float64 or base_score.ndim != 1 or not len(base_score):
        raise ModelFormatError(
            f"base_score must be one row of float64, one for each output; it is {base_score.dtype} "
            f"of shape {base_score.shape}"
        )
    if not np.isfinite(base_score).all():
        found = base_score[~np.isfinite(base_score)][0]
        raise ModelFormatError(f"base_score holds {found}; it must be finite")


def _check_objective(objective: str, params: Config, outputs: int) -> None:
    if objective != params.objective:
        raise ModelFormatError(
            f"the objective is {short_repr(objective)}, but that of the parameters is {params.objective!r}"
        )
    wanted = outputs_of(params)
    if outputs != wanted:
        raise ModelFormatError(f"{objective!r} must have {wanted} outputs here, not {outputs}")


class BoostedFormat(FileFormat):
    """The files of boosted trees, which were the first: their format has a number for what they hold, and no kind."""

    def begin(self, model: Any) -> dict[str, object]:
        """The number of the oldest format that can hold the model, and the version."""
        encodes = model.statistics is not None
        number = header.WITH_TARGET_ENCODING if encodes else model.schema.file_format
        return {"format": number, "version": header.library_version()}

    def with_estimator(self, fields: dict[str, object]) -> dict[str, object]:
        """The same with the number of the format that has an estimator."""
        if fields["format"] == header.WITH_TARGET_ENCODING:
            return fields
        return fields | {"format": header.WITH_ESTIMATOR}

    def check_keys(self, found: Mapping[str, object]) -> None:
        """Refuse a header that lacks a key of its format, or has one of another."""
        number, keys = found["format"], {"format", *self.keys}
        if number in (2, 3, header.WITH_TARGET_ENCODING):
            keys.add("categories")
        if number == header.WITH_ESTIMATOR or (
            number == header.WITH_TARGET_ENCODING and "estimator" in found
        ):
            header.check_keys(found, {*keys, "estimator"}, {"categories"})
        else:
            header.check_keys(found, keys, set())

    def read_fields(self, found: Mapping[str, object]) -> dict[str, Any]:
        """The fields, with whether the file has a target encoding."""
        fields = super().read_fields(found)
        number, oldest = found["format"], fields["schema"].file_format
        if number not in (header.WITH_ESTIMATOR, header.WITH_TARGET_ENCODING) and number != oldest:
            raise ModelFormatError(
                f"the model has format {number}, but its columns are those of format {oldest}"
            )
        return fields | {"encodes": number == header.WITH_TARGET_ENCODING}


def _build(fields: dict[str, Any], arrays: dict[str, Arrays]) -> Model:
    schema, outputs = fields["schema"], fields["outputs"]
    with header.parameter_errors():
        check_columns(fields["params"], schema.names, schema.columns, schema.categorical)
    base_score = arrays["trees"].pop("base_score")
    if len(base_score) != outputs:
        raise ModelFormatError(f"base_score has {len(base_score)} entries for {outputs} outputs")
    model = Model(
        forest=Forest(**arrays["trees"], sets=take_sets(arrays)),
        base_score=base_score,
        objective=fields["objective"],
        params=fields["params"],
        schema=schema,
        best_round=fields["best_round"],
        statistics=TargetEncoding.from_arrays(schema, arrays["encoding"]) if fields["encodes"] else None,
    )
    if model.rounds != fields["rounds"]:
        raise ModelFormatError(
            f"the header counts {fields['rounds']} rounds but there are trees for {model.rounds}"
        )
    return model


Model.FILE = BoostedFormat(
    number=1,
    kind="",
    config=Config,
    parameters_of=attrgetter("params"),
    fields=(Word("objective"), Count("outputs"), COLUMNS, Count("rounds"), OptionalCount("best_round")),
    arrays=(
        ArrayGroup(
            "trees",
            one_dtype({**FOREST_DTYPES, "base_score": np.dtype(np.float64)}),
            lambda model: attributes(model.forest, FOREST_DTYPES) | {"base_score": model.base_score},
        ),
        set_arrays(),
        ArrayGroup(
            "encoding",
            one_dtype(TARGET_ENCODING_DTYPES),
            lambda model: None if model.statistics is None else model.statistics.arrays(),
            prefix="statistic_",
            optional=lambda fields: bool(fields["encodes"]),
        ),
    ),
    build=_build,
)


def mean_model(models: Sequence[Model]) -> Model:
    """A model whose raw scores are the means of those of some models, of the rounds that each predicts with.

    Its trees are theirs, with values divided by the number of models: the first round of every model, then the second of
    every one, and so on. So its first rounds are about the mean of the models' first rounds.

    Parameters
    ----------
    models : sequence of Model
        At least one, of the same objective, outputs, columns and target encoding. The first one's parameters become
        the mean's.

    Returns
    -------
    Model
        One model stays what it is.

    Examples
    --------
    >>> import spinney as sp
    >>> X = np.linspace(0, 1, 50).reshape(-1, 1)
    >>> low, high = (sp.train({}, sp.Dataset(X, X[:, 0] + shift), 3) for shift in (0.0, 1.0))
    >>> mean = mean_model([low, high])
    >>> mean.rounds, np.allclose(mean.predict(X), (low.predict(X) + high.predict(X)) / 2)
    (6, True)
    """
    first = models[0]
    if len(models) == 1:
        return first
    for model in models:
        one, other = first.statistics, model.statistics
        assert one is other or (one is not None and other is not None and one.same(other))
    base_score = np.mean([model.base_score for model in models], axis=0)
    by_round = zip_longest(*(_rounds(model, len(models)) for model in models), fillvalue=())
    trees = [tree for together in by_round for one in together for tree in one]
    forest = concatenate(trees)
    return Model(forest, base_score, first.objective, first.params, first.schema, statistics=first.statistics)


def _rounds(model: Model, count: int) -> list[list[Tree]]:
    """The trees of each round that a model predicts with, for a mean of so many models."""
    outputs = model.outputs
    trees = [model.forest.tree(t) for t in range(model.rounds_to_use() * outputs)]
    shares = [replace(tree, value=tree.value / count) for tree in trees]
    return [shares[t : t + outputs] for t in range(0, len(shares), outputs)]
