"""What a model is made of, checked once when it is put together."""

from __future__ import annotations

from dataclasses import dataclass
from reprlib import repr as short_repr

import numpy as np
from numpy.typing import NDArray

from spinney.data import Schema
from spinney.data.categories import NUMBERS
from spinney.data.target_encoding import TargetEncoding
from spinney.errors import ModelFormatError
from spinney.params import Config, outputs_of
from spinney.tree import Forest, check
from spinney.tree.check import check_scores


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The parts of a model. One that exists is sound: a wrong part is refused when it is put together.

    Attributes
    ----------
    forest : Forest
        The trees, through arrays that cannot be written to.
    base_score : float64[outputs]
        Where the scores of a row begin.
    objective : str
        Canonical name of the objective, the same as in `params`.
    params : Config
        The parameters the model was trained with.
    schema : Schema
        The columns of the training table.
    best_round : int or None
        Number of rounds that prediction uses, None for all.
    statistics : TargetEncoding or None
        Columns that were made from the target, behind those of the table.

    Examples
    --------
    >>> from spinney.tree import concatenate
    >>> ensemble = Ensemble(concatenate([]), np.array([0.5]), "squared_error", Config(), Schema(None, 2))
    >>> ensemble.outputs, ensemble.rounds
    (1, 0)
    """

    forest: Forest
    base_score: NDArray[np.float64]
    objective: str
    params: Config
    schema: Schema
    best_round: int | None = None
    statistics: TargetEncoding | None = None

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
    def outputs(self) -> int:
        """Number of scores per row."""
        return len(self.base_score)

    @property
    def rounds(self) -> int:
        """Number of rounds: trees per output."""
        return self.forest.trees // self.outputs


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
            f"the objective is {short_repr(objective)}, but the parameters say {params.objective!r}"
        )
    wanted = outputs_of(params)
    if outputs != wanted:
        raise ModelFormatError(f"{objective!r} must have {wanted} outputs here, not {outputs}")


def check_schema(schema: Schema) -> None:
    """Refuse columns that no file could hold."""
    Schema.from_json(schema.to_json())
    texts = [("column name", name) for name in schema.names or ()]
    for categories in schema.categories or ():
        if categories is not None and categories.kind != NUMBERS:
            texts += [("category", str(value)) for value in categories.values]
    for kind, text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ModelFormatError(f"the {kind} {short_repr(text)} is no text that UTF-8 can hold") from error
