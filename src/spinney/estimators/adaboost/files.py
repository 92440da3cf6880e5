"""What the file of an AdaBoost estimator knows beside its model. What is read back is not trusted."""

from __future__ import annotations

from typing import Any

from spinney.errors import ModelFormatError
from spinney.estimators.written import read_classes, write_classes
from spinney.model.adaboost import AdaBoostModel

ADABOOST_KEYS = frozenset({"class", "params", "left_out", "classes", "named"})


def adaboost_part(estimator: Any) -> dict[str, object]:
    """Labels of a classifier."""
    return {"classes": write_classes(estimator.classes_) if estimator.model_.classes else None}


def restore_adaboost(estimator: Any, part: dict[str, object], model: AdaBoostModel) -> None:
    """Give an estimator its model and its labels, every one checked."""
    found = part["classes"]
    if hasattr(estimator, "loss"):
        if found is not None or model.classes:
            raise ModelFormatError(f"a {type(estimator).__name__} has no classes")
    else:
        labels = read_classes(found)
        if (len(labels),) != model.classes:
            raise ModelFormatError(f"labels of {len(labels)} classes do not fit a model of {model.classes}")
        estimator.classes_, estimator.n_classes_ = labels, len(labels)
    estimator.model_ = model
