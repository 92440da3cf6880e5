"""Estimators in files: a model file with a part that has what an estimator has besides its model. No pickle.

What is read back is not trusted: every field of the part is checked. Its field "left_out" names the parameters that no file can
hold.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection
from reprlib import repr as short_repr
from typing import TYPE_CHECKING, Any

import numpy as np

import spinney
from spinney.data.classes import are_of_labels, classes_of_labels
from spinney.errors import DataTypeError, ModelFormatError, ParameterError, ParameterTypeError
from spinney.estimators.base import listed, set_params_call
from spinney.estimators.custom import OF_ESTIMATOR
from spinney.estimators.json_values import (
    NotJsonError,
    read_auto,
    read_classes,
    read_evals,
    read_number,
    read_value,
    write_auto,
    write_classes,
    write_columns,
    write_evals,
    write_number,
    write_value,
)
from spinney.estimators.parameters import (
    ADABOOST_PARAMETERS,
    BOOSTING_PARAMETERS,
    EVERY,
    FOREST_PARAMETERS,
    ISOLATION_PARAMETERS,
)
from spinney.model.adaboost import AdaBoostModel
from spinney.model.boosted import Model
from spinney.model.forest import ForestModel
from spinney.model.isolation import IsolationModel
from spinney.model.loading import AnyModel, load_with_part, save_with_part
from spinney.params.objectives import OWN

if TYPE_CHECKING:
    from spinney.estimators.adaboost import AdaBoostBase
    from spinney.estimators.classifier import GBMClassifier
    from spinney.estimators.forest_base import ForestBase
    from spinney.estimators.isolation import IsolationForest
    from spinney.estimators.ranker import GBMRanker
    from spinney.estimators.regressor import GBMRegressor

NO_MODEL = frozenset({"n_jobs", "verbose"})  # parameters of how to run; a file does not depend on them


def save_estimator(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a model file; see `GBMBase.save`."""
    name = type(estimator).__name__
    if name not in EVERY or type(estimator) is not getattr(spinney, name):
        raise DataTypeError(
            f"a file holds estimators of the kinds {', '.join(EVERY)}, not {name}; save its `model_` instead"
        )
    model = estimator.model_
    estimator._check_parameters()
    params, unsaved = {}, list(estimator._unsaved)
    for parameter, value in estimator.get_params(deep=False).items():
        write = write_columns if parameter == "categorical" else write_value
        try:
            if parameter not in NO_MODEL and parameter not in unsaved:
                params[parameter] = write(value)
        except NotJsonError:
            unsaved.append(parameter)
    names = getattr(estimator, "feature_names_in_", None)
    part = {
        "class": name,
        "params": params,
        "left_out": unsaved,
        "named": names is not None and tuple(names) == model.feature_names,
        **_part_of(estimator),
    }
    save_with_part(model, path, part)
    if unsaved:
        warnings.warn(
            f"{name}.save left out {', '.join(unsaved)}, which no file can hold; after spinney.load_estimator, set it again "
            "with set_params before another fit",
            UserWarning,
            stacklevel=3,
        )


def _part_of(estimator: Any) -> dict[str, object]:
    """What an estimator has besides its model and its parameters."""
    if isinstance(estimator.model_, AdaBoostModel):
        return _adaboost_part(estimator)
    if isinstance(estimator.model_, IsolationModel):
        return {}
    if isinstance(estimator.model_, ForestModel):
        return _forest_part(estimator)
    classes = getattr(estimator, "classes_", None)
    return {
        # Several labels a row have no names; the model has their number.
        "classes": None if classes is None or are_of_labels(classes) else write_classes(classes),
        "evals": write_evals(estimator.evals_result_),
        "auto": write_auto(estimator.auto_),
    }


def load_estimator(
    path: str | os.PathLike[str],
) -> GBMClassifier | GBMRegressor | GBMRanker | ForestBase | AdaBoostBase | IsolationForest:
    """Read a fitted estimator from a file that its `save` wrote.

    Parameters
    ----------
    path : str or path-like
        The file. `spinney.load` reads its model alone.

    Returns
    -------
    GBMClassifier, GBMRegressor, GBMRanker, a forest or tree, AdaBoost, or IsolationForest
        It predicts what the saved one did, in the same labels. n_jobs and verbose are not in the file and have their defaults;
        a forest has oob_score_ and tree_oob_scores_, but no oob_decision_function_ or oob_prediction_.

    Warns
    -----
    UserWarning
        Parameters were left out that no file can hold, such as functions. `fit` is refused until `set_params` sets them again.

    Raises
    ------
    ModelFormatError
        The file is damaged, of a newer format, or not that of an estimator. Nothing in a file can do harm.
    OSError
        The file is missing, a folder, or cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import spinney as sp
    >>> X = np.linspace(0, 1, 100).reshape(-1, 1)
    >>> fitted = sp.GBMClassifier(n_estimators=5).fit(X, np.where(X[:, 0] < 0.5, "ash", "oak"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "trees.safetensors")
    ...     fitted.save(path)
    ...     sp.load_estimator(path).predict([[0.2], [0.8]]).tolist()
    ['ash', 'oak']
    """
    found = read_estimator(path)
    if isinstance(found, AnyModel):
        raise ModelFormatError(
            f"{os.fspath(path)!r} holds a model without an estimator; read it with spinney.load"
        )
    if found._unsaved:
        warnings.warn(
            f"{os.fspath(path)!r} was saved without {listed(found._unsaved)}, which no file can hold; it predicts as before, "
            f"but before another fit call {set_params_call(found._unsaved)}",
            UserWarning,
            stacklevel=2,
        )
    estimator: GBMClassifier | GBMRegressor | GBMRanker | ForestBase | AdaBoostBase | IsolationForest = found
    return estimator


def read_estimator(path: str | os.PathLike[str]) -> Any:
    """The estimator of a file, or its model where it holds no estimator."""
    model, part = load_with_part(path)
    if part is None:
        return model
    try:
        return _restored(part, model)
    except ModelFormatError as error:
        raise ModelFormatError(f"cannot read the estimator {os.fspath(path)!r}: {error}") from error


_FIELDS = frozenset({"class", "params", "left_out", "named"})
# By kind of model: the estimators that have such, and the fields of their part.
_OWNERS: dict[type[Any], tuple[Collection[str], frozenset[str]]] = {
    Model: (BOOSTING_PARAMETERS, _FIELDS | {"classes", "evals", "auto"}),
    ForestModel: (FOREST_PARAMETERS, _FIELDS | {"classes", "oob"}),
    AdaBoostModel: (ADABOOST_PARAMETERS, _FIELDS | {"classes"}),
    IsolationModel: (ISOLATION_PARAMETERS, _FIELDS),
}


def _restored(part: dict[str, object], model: AnyModel) -> Any:
    """A fitted estimator of a part and a model, every field of it checked."""
    owners, keys = _OWNERS[type(model)]
    if isinstance(model, Model):
        part = {"auto": None, **part}  # files of spinney up to 0.11 do not have it
    if part.keys() != keys:
        odd = min(part.keys() ^ keys)
        raise ModelFormatError(f"the estimator's part has too much or too little: {short_repr(odd)}")
    name = part["class"]
    if not isinstance(name, str) or name not in EVERY:
        raise ModelFormatError(f"the file's estimator is unknown: {short_repr(name)}")
    if name not in owners:
        raise ModelFormatError(f"the file's model is not that of a {name}")
    estimator = _made(name, part["params"], part["left_out"])
    if isinstance(model, ForestModel):
        _restore_forest(estimator, part, model)
    elif isinstance(model, AdaBoostModel):
        _restore_adaboost(estimator, part, model)
    elif isinstance(model, IsolationModel):
        estimator._set_model(model)
    else:
        _restore_classes(estimator, part["classes"], model)
    try:
        estimator._check_parameters()
    except (ParameterError, ParameterTypeError) as error:
        raise ModelFormatError(f"the estimator has a wrong parameter: {error}") from error
    named = part["named"]
    if type(named) is not bool or (named and model.feature_names is None):
        raise ModelFormatError(f"named must be whether columns have names, not {short_repr(named)}")
    estimator.n_features_in_ = model.n_features
    if named:
        estimator.feature_names_in_ = np.array(model.feature_names, dtype=object)
    if isinstance(model, Model):
        estimator.auto_ = auto = read_auto(part["auto"])
        rounds, used = model.rounds, model.rounds_to_use()
        if auto is not None and auto.metric is not None:
            rounds, used = auto.tried, auto.chosen
        estimator.evals_result_ = read_evals(part["evals"], rounds, used)
        estimator._set_model(model)
    return estimator


def _made(name: str, params: object, unsaved: object) -> Any:
    if not isinstance(params, dict) or not isinstance(unsaved, list):
        raise ModelFormatError("params must be a JSON object, and left_out a list of names")
    for parameter in (*params, *unsaved):
        if not isinstance(parameter, str) or parameter not in EVERY[name]:
            raise ModelFormatError(f"{name} has no parameter {short_repr(parameter)} in this spinney")
    if len({*params, *unsaved}) < len(params) + len(unsaved):
        raise ModelFormatError("a parameter is left out that is there, or left out twice")
    estimator = getattr(spinney, name)(**{key: read_value(value) for key, value in params.items()})
    if unsaved:
        estimator._unsaved = tuple(unsaved)
    return estimator


def _restore_classes(estimator: Any, found: object, model: Model) -> None:
    name = type(estimator).__name__
    fits = model.objective in (*OF_ESTIMATOR[name], OWN)
    if name != "GBMClassifier":
        if found is not None or model.params.num_class > 1:
            raise ModelFormatError(f"a {name} has no classes")
        if not fits:
            raise ModelFormatError(f"a {name} has no objective {model.objective!r}")
        return
    if model.params.num_target > 1:
        if found is not None or not fits:
            raise ModelFormatError(f"a {name} of {model.outputs} labels has no classes")
        estimator._set_classes(classes_of_labels(model.outputs))
        return
    classes = read_classes(found)
    fitting = (1, 2) if model.outputs == 1 else (model.outputs,)
    if not fits or len(classes) not in fitting:
        raise ModelFormatError(
            f"{len(classes)} classes do not fit a model of {model.outputs} outputs and objective {model.objective!r}"
        )
    estimator._set_classes(classes)


def _forest_part(estimator: Any) -> dict[str, object]:
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


def _restore_forest(estimator: Any, part: dict[str, object], model: ForestModel) -> None:
    """Give an estimator its model, its labels and its scores, every one checked."""
    name = type(estimator).__name__
    if model.trees < 1 or (model.trees > 1 and not hasattr(estimator, "n_estimators")):
        raise ModelFormatError(f"a {name} cannot have {model.trees} trees")
    _restore_outputs(estimator, part["classes"], model)
    try:
        estimator.max_features_ = model.config.columns_per_split(model.n_features)
        model.config.rows_per_tree(model.rows)
    except ParameterError as error:
        raise ModelFormatError(f"the model has a wrong parameter: {error}") from error
    _restore_scores(estimator, part["oob"], model)
    estimator.n_outputs_ = model.outputs
    estimator.model_ = model


def _restore_outputs(estimator: Any, found: object, model: ForestModel) -> None:
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
    estimator._set_labels(labels)


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


def _adaboost_part(estimator: Any) -> dict[str, object]:
    """Labels of a classifier."""
    return {"classes": write_classes(estimator.classes_) if estimator.model_.classes else None}


def _restore_adaboost(estimator: Any, part: dict[str, object], model: AdaBoostModel) -> None:
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
