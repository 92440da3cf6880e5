"""Continuing from a model: what it must have in common with a training, and where scores start then.

Rows walk down the old trees first, by their values or, where the table is gone, by their bins. Trees are added in the same order
as in the training of the model, and rounds are counted on from there. So scores, seeds and bytes are those of one training.
"""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.binning.cuts import Cuts, cuts_of
from spinney.data import Schema
from spinney.data.target_encoding import TargetEncoding
from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.growth.grown_tree import replay
from spinney.jit.team import Team
from spinney.model.base import SavedModel
from spinney.model.boosted import Model
from spinney.model.predict import Predictor
from spinney.objectives.base import LARGEST_TARGET
from spinney.params import Config
from spinney.target_encoding.columns import add_encoded
from spinney.tree import Tree


class InitialModel:
    """The rounds that a training goes on from: those that the model predicts with.

    Parameters
    ----------
    model : Model
        It must fit the training: see `check_compatible`.

    Attributes
    ----------
    rounds : int
        How many there are.
    trees : list of Tree
        Their trees, in the order they were grown.
    base_score : float64[outputs]
        Where the scores of a row begin.
    statistics : TargetEncoding, optional
        Columns of the trees behind those of the table.
    schema : Schema
        Columns of the table.
    """

    def __init__(self, model: Model) -> None:
        self.rounds = model.rounds_to_use()
        forest = model.forest.first(self.rounds * model.outputs)
        self.trees: list[Tree] = [forest.tree(t) for t in range(forest.trees)]
        self.base_score, self.statistics, self.schema = model.base_score, model.statistics, model.schema
        self._predictor = Predictor(forest, model.absent)

    def add_to(self, scores: NDArray[np.float64], data: BinnedData, what: str, team: Team) -> None:
        """Add the trees to scores, outputs × rows, one after the other as a training does: the bits are the same.

        Rows walk by their values or, where the table is gone but the trees were grown on the data set's cuts, by their bins.
        """
        if not self.trees:
            return
        if data.raw.available:
            table = data.raw.table(what)
            if self.statistics is not None:
                table = self.statistics.add_encoded(table)
            scores[:] = self._predictor.raw_scores(scores.T.copy(), table, len(self.trees), team.size).T
        else:
            self._replay(scores, data, what, team)
        if not np.abs(scores).max(initial=0.0) <= LARGEST_TARGET:
            raise DataError(
                f"init_model gives rows of {what} scores beyond ±{LARGEST_TARGET:g}, which cannot be trained on"
            )

    def fits(self, cuts: Cuts) -> bool:
        """Whether the trees split at these cuts."""
        try:
            for tree in self.trees:
                numeric = (tree.feature >= 0) & (cuts.categorical[tree.feature] == 0)
                cuts.bins_below(tree.feature[numeric], tree.threshold[numeric])
        except DataError:
            return False
        return True

    def _encoded_cuts(self, statistics: TargetEncoding) -> Cuts:
        """Cuts of encoded columns that separate rows as the trees do: where these split."""
        features, thresholds = (
            np.concatenate([getattr(tree, name) for tree in self.trees]) for name in ("feature", "threshold")
        )
        splits = thresholds < np.finfo(np.float64).max  # above the last bin there is no cut
        made = range(statistics.columns, statistics.columns + statistics.encoded_count)
        return cuts_of([np.unique(thresholds[splits & (features == column)]) for column in made])

    def _replay(self, scores: NDArray[np.float64], data: BinnedData, what: str, team: Team) -> None:
        coded = data
        if self.statistics is not None and len(data.cuts.bins) == data.columns:
            coded = add_encoded(data, self.statistics, team, self._encoded_cuts(self.statistics))
        try:
            for block in coded.scan(team):
                matrix = block.own_matrix()
                for t, tree in enumerate(self.trees):
                    own = scores[t % len(scores), block.begin : block.end]
                    replay(tree, 0, matrix, coded.cuts, own[None], team)
        except DataError:
            data.raw.table(what)  # raises that it is gone, and what to do
            raise


def continued(earlier: InitialModel, schema: Schema) -> Schema:
    """The columns of a model that goes on, where those of the data set are as `check_columns` wants them.

    A column without values in the data set may have had some before, and the other way round.
    """
    return replace(earlier.schema.filled(schema.categories), names=schema.names)


def load_init_model(init_model: object, config: Config, schema: Schema) -> InitialModel | None:
    """What a training with these parameters and columns goes on from; None stays None."""
    model = model_of(init_model)
    if model is None:
        return None
    check_compatible(model, config, schema)
    return InitialModel(model)


def model_of(init_model: object) -> Model | None:
    """The model that `init_model` stands for: a model, a fitted estimator's, or that of a file; None stays None."""
    if init_model is None or isinstance(init_model, Model):
        return init_model
    from spinney.model.forest import ForestModel  # every kind of model, for a training that goes on
    from spinney.model.loading import load

    found = (
        load(init_model)
        if isinstance(init_model, str | os.PathLike)
        else getattr(init_model, "model_", init_model)
    )
    if isinstance(found, Model):
        return found
    if isinstance(found, SavedModel):
        other = "forest" if isinstance(found, ForestModel) else type(found).__name__
        raise ParameterError(f"init_model is a {other}; boosting goes on from a boosted model")
    if isinstance(init_model, type):
        raise ParameterTypeError(
            "init_model must be a Model, a fitted estimator or the path of a model file, not the class "
            f"{init_model.__name__}"
        )
    kind, why = type(init_model), ""
    if callable(getattr(init_model, "fit", None)):
        ours = any(base.__module__.partition(".")[0] == "spinney" for base in kind.__mro__)
        why = (
            " that is not fitted"
            if ours
            else ", which is of another library: its trees cannot be gone on from"
        )
    raise ParameterTypeError(
        f"init_model must be a Model, a fitted estimator or the path of a model file, not a {kind.__name__}{why}"
    )


def check_compatible(model: Model, config: Config, schema: Schema, what: str = "init_model") -> None:
    """Refuse a model, called `what`, that a training with these parameters and columns cannot go on from.

    Raises
    ------
    ParameterError
        A parameter differs that old and new trees must share.
    DataError
        The columns differ.
    """
    old = model.params
    shared = ["objective", "num_class", "num_target", "absent"]
    if isinstance(old.quantile_alpha, tuple) or isinstance(config.quantile_alpha, tuple):
        shared.append("quantile_alpha")
    for name in shared:
        if getattr(config, name) != getattr(old, name):
            raise ParameterError(
                f"{name}={getattr(config, name)!r} differs from {what}'s {getattr(old, name)!r}; give the same"
            )
    if config.base_score is not None and (model.base_score != config.base_score).any():
        shown = ", ".join(f"{score:g}" for score in model.base_score[:10])
        raise ParameterError(
            f"base_score={config.base_score:g} differs from that of {what}, {shown}, which is kept; leave it out"
        )
    check_columns(model.schema, schema, what)


def check_columns(old: Schema, new: Schema, what: str = "init_model") -> None:
    """Refuse columns that are not those of a model, in the same order and with the same categories."""
    if new.columns != old.columns:
        raise DataError(f"{what} has {old.columns} columns, but the data set has {new.columns}")
    if old.names is not None and new.names is not None and old.names != new.names:
        at = next(at for at, pair in enumerate(zip(old.names, new.names, strict=True)) if len(set(pair)) > 1)
        other = "in its order" if set(old.names) == set(new.names) else "of its names"
        raise DataError(
            f"column {at} of the data set is {new.names[at]!r}, but that of {what} is {old.names[at]!r}; give columns {other}"
        )
    nothing, empty = (None,) * old.columns, (set(old.empty), set(new.empty))
    for at, pair in enumerate(zip(old.categories or nothing, new.categories or nothing, strict=True)):
        if pair[0] == pair[1] or at in empty[0] or (pair[0] is None and at in empty[1]):
            continue
        title = f"column {at}" if old.names is None else f"column {old.names[at]!r}"
        kinds = ["one of numbers" if one is None else "categorical" for one in pair]
        if kinds[0] != kinds[1]:
            raise DataError(f"{title} is {kinds[0]} in {what}, but {kinds[1]} in the data set")
        raise DataError(
            f"{title} has other categories than in init_model, or other numbers for them: make the Dataset with "
            "schema=init_model.schema"
        )
