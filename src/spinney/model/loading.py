"""Models of any kind from and to files."""

from __future__ import annotations

import os
from collections.abc import Mapping

from spinney.model import file
from spinney.model.adaboost_model import AdaBoostModel
from spinney.model.base import SavedModel
from spinney.model.forest_model import ForestModel
from spinney.model.isolation_model import IsolationModel
from spinney.model.model import Model

AnyModel = Model | ForestModel | AdaBoostModel | IsolationModel
_MODELS: tuple[type[SavedModel], ...] = (Model, ForestModel, AdaBoostModel, IsolationModel)


def load(path: str | os.PathLike[str]) -> AnyModel:
    """Read a model from a file that its `save` wrote, or the model alone from that of an estimator.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    Model, ForestModel, AdaBoostModel or IsolationModel
        Equal to the one that was saved.

    Raises
    ------
    ModelFormatError
        The file is damaged, of a newer format, or not a model file. Nothing in a file can do harm.
    OSError
        The file is missing, a folder, or cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from spinney.data import Schema
    >>> from spinney.params import Config
    >>> from spinney.tree import concatenate
    >>> model = Model(concatenate([]), np.array([0.5]), "squared_error", Config(), Schema(None, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "model.safetensors")
    ...     model.save(path)
    ...     load(path) == model
    True
    """
    return load_with_part(path)[0]


def load_with_part(path: str | os.PathLike[str]) -> tuple[AnyModel, dict[str, object] | None]:
    """Read a model and what its file knows of an estimator, None for a bare model; that part is not checked yet."""
    parts, estimator = file.read(path)
    kind = next(kind for kind in _MODELS if isinstance(parts, kind._kind()))
    model = kind._of(parts)
    assert isinstance(model, AnyModel)
    return model, estimator


def save_with_part(model: AnyModel, path: str | os.PathLike[str], estimator: Mapping[str, object]) -> None:
    """Write a model, and what an estimator knows beside it in types that JSON knows, to one file."""
    file.save(model._parts, path, estimator)
