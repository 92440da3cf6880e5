"""What the file of an isolation forest knows beside its model. What is read back is not trusted."""

from __future__ import annotations

from typing import Any

from spinney.model.isolation import IsolationModel

ISOLATION_KEYS = frozenset({"class", "params", "left_out", "named"})


def restore_isolation(estimator: Any, model: IsolationModel) -> None:
    """Give an estimator its model, which knows all else."""
    estimator._take_model(model)
