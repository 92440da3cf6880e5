"""What the file of a forest or a single tree knows beside its model. What is read back is not trusted."""

from __future__ import annotations

from reprlib import repr as short_repr
from typing import Any

import numpy as np

from spinney.errors import ModelFormatError, ParameterError
from spinney.estimators.written import read_classes, read_number, write_classes, write_number
from spinney.model.forest import ForestModel

FOREST_KEYS = frozenset({"class", "params", "left_out", "classes", "named", "oob"})


def forest_part(estimator: Any) -> dict[str, object]:
    """Labels of each output, and scores out of bag."""
    labels = estimator._labels if estimator.model_.classes else None
    scored = hasattr(estimator, "oob_score_")
    return {
        "classes": None if labels is None else [write_classes(one) for one in labels],
        "oob": {
            "score": write_number(estimator.oob_score_),
            "trees": [write_number(one) for one in estimator.tree_oob_scores_.tolist()],
        }
        if scored
        else None,
    }


def restore_forest(estimator: Any, part: dict[str, object], model: ForestModel) -> None:
    """Give an estimator its model, its labels and its scores, every one checked."""
    name = type(estimator).__name__
    if model.trees < 1 or (model.trees > 1 and not hasattr(estimator, "n_estimators")):
        raise ModelFormatError(f"a {name} cannot have {model.trees} trees")
    _restore_classes(estimator, part["classes"], model)
    try:
        estimator.max_features_ = model.config.columns_per_split(model.n_features)
        model.config.rows_per_tree(model.rows)
    except ParameterError as error:
        raise ModelFormatError(f"the model has a wrong parameter: {error}") from error
    _restore_scores(estimator, part["oob"], model)
    estimator.n_outputs_ = model.outputs
    estimator.model_ = model


def _restore_classes(estimator: Any, found: object, model: ForestModel) -> None:
    name = type(estimator).__name__
    if not hasattr(estimator, "class_weight"):
        if found is not None or model.classes:
            raise ModelFormatError(f"a {name} has no classes")
        return
    if not isinstance(found, list):
        raise ModelFormatError(
            f"classes must be a list with the labels of each output, not {short_repr(found)}"
        )
    labels = [read_classes(one) for one in found]
    if not labels or tuple(map(len, labels)) != model.classes:
        raise ModelFormatError(
            f"labels of {list(map(len, labels))} classes do not fit a model of {model.classes}"
        )
    estimator._take_labels(labels)


def _restore_scores(estimator: Any, found: object, model: ForestModel) -> None:
    if found is None:
        return
    if (
        not isinstance(found, dict)
        or found.keys() != {"score", "trees"}
        or not hasattr(estimator, "oob_score")
    ):
        raise ModelFormatError(
            f"scores out of bag must be those of a forest and of its trees, not {short_repr(found)}"
        )
    trees = found["trees"]
    if not isinstance(trees, list) or len(trees) != model.trees:
        raise ModelFormatError(f"there must be a score out of bag for each of {model.trees} trees")
    estimator.oob_score_ = read_number(found["score"])
    estimator.tree_oob_scores_ = np.array([read_number(one) for one in trees])
