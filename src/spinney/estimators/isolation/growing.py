"""Growing the trees that an isolation forest asks for: all at once, in steps that a bar shows, or on top of older ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Table
from spinney.errors import DataError, ParameterError
from spinney.estimators.forests.growing import STEPS, progress_bar
from spinney.model.isolation import IsolationModel
from spinney.params import IsolationConfig
from spinney.params.estimators import TREES
from spinney.training.isolation import encoded, refuse_infinite_values, train_isolation
from spinney.tree.isolation import concatenate_forests

AUTO_OFFSET = -0.5


def past_of(estimator: Any) -> IsolationModel | None:
    """The model that a fit adds trees to."""
    if not estimator.warm_start or "model_" not in vars(estimator):
        return None
    past: IsolationModel = estimator.model_
    return past


def grown(
    estimator: Any,
    config: IsolationConfig,
    table: Table,
    weight: NDArray[np.float64] | None,
    past: IsolationModel | None,
) -> IsolationModel:
    """Grow the trees that an estimator lacks; the forest is the same in one step or in many."""
    trees = TREES.check(estimator.n_estimators)
    if past is not None:
        _check_past(past, config, table, trees)
    known = None if past is None else past.schema
    if known is not None and known.names is None:
        known = replace(known, names=table.names)
    rows, schema = encoded(table, estimator.categorical, weight, known, config.unseen)
    refuse_infinite_values(rows, config.n_jobs)
    parts = [] if past is None else [past]
    done = sum(part.trees for part in parts)
    step = max(1, -(-(trees - done) // STEPS)) if estimator.verbose else trees - done
    with progress_bar(bool(estimator.verbose), done, trees) as moved:
        while done < trees:
            more = min(step, trees - done)
            parts.append(
                train_isolation(config, rows, schema, more, first=done, weight=weight, n_jobs=config.n_jobs)
            )
            done += more
            moved(done)
    drawn = parts[0].rows_per_tree
    if past is None and len(parts) == 1 and config.contamination == "auto":
        return parts[0]
    forest = concatenate_forests([part.forest for part in parts])
    model = IsolationModel(forest, config, schema, table.rows, drawn, AUTO_OFFSET)
    if config.contamination == "auto":
        return model
    scores = model.scores_of(rows, config.n_jobs)
    offset = float(np.percentile(scores, 100.0 * float(config.contamination)))
    return IsolationModel(forest, config, schema, table.rows, drawn, offset)


def _check_past(past: IsolationModel, config: IsolationConfig, table: Table, trees: int) -> None:
    """Refuse rows and parameters with which a single fit would have made other trees."""
    if trees < past.trees:
        raise ParameterError(
            f"n_estimators={trees} must be larger or equal to the {past.trees} trees that warm_start=True keeps"
        )
    if table.rows != past.rows:
        raise DataError(
            f"warm_start=True adds trees on the same rows: the fitted forest grew on {past.rows} rows, but these are {table.rows}"
        )
    old, new = past.config.to_dict(model_only=True), config.to_dict(model_only=True)
    for name, value in new.items():
        if name != "contamination" and old[name] != value:
            raise ParameterError(
                f"{name}={value!r} differs from {old[name]!r}, with which the trees that warm_start=True keeps were grown; "
                "leave it, or set warm_start=False"
            )
