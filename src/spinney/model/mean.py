"""The mean of several models as one model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

import numpy as np

from spinney.model.model import Model
from spinney.tree import Tree, concatenate


def mean_model(models: Sequence[Model]) -> Model:
    """A model whose raw scores are the means of those of some models, of the rounds that each predicts with.

    Its trees are theirs, with values divided by the number of models: the first round of every model, then the second of
    every one, and so on. So its first rounds are about the mean of the models' first rounds.

    Parameters
    ----------
    models : sequence of Model
        At least one, of the same objective, outputs, columns and statistics of the target. The first one's parameters become
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
