"""Predictions after each round."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from spinney.data import Table, read_margin
from spinney.model.model import Model
from spinney.model.predict import Predictor
from spinney.tree import concatenate


def staged_scores(
    model: Model, X: object, n_jobs: int | None, base_margin: object = None, rounds: int | None = None
) -> Iterator[NDArray[np.float64]]:
    """Raw scores after the first round, the second and so on, up to `rounds`, else to those that `Model.predict_raw` uses.

    Every round walks its own trees only, and needs no memory beyond the scores. What is given is checked at once.

    Returns
    -------
    iterator of float64 arrays
        A new one each round, shaped as `Model.predict_raw` gives it; the last one has its bits.
    """
    last = model.rounds_to_use(rounds)
    table = model.read(X)
    margin = read_margin(base_margin, table.rows, model.outputs)
    return _after_each(model, table, model.base_score if margin is None else margin, last, n_jobs)


def _after_each(
    model: Model, table: Table, scores: NDArray[np.float64], last: int, n_jobs: int | None
) -> Iterator[NDArray[np.float64]]:
    outputs = model.outputs
    for done in range(last):
        trees = [model.forest.tree(t) for t in range(done * outputs, (done + 1) * outputs)]
        scores = Predictor(concatenate(trees), model.absent).raw_scores(scores, table, outputs, n_jobs)
        yield scores[:, 0].copy() if outputs == 1 else scores.copy()
