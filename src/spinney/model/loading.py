"""Models of any kind from and to files."""

from __future__ import annotations

import os
from collections.abc import Mapping

from spinney.model import file
from spinney.model.adaboost import AdaBoostModel
from spinney.model.boosted import Model
from spinney.model.forest import ForestModel
from spinney.model.isolation import IsolationModel

AnyModel = Model | ForestModel | AdaBoostModel | IsolationModel


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
    """Read a model and what its file has of an estimator, None for a bare model; that part is not checked yet."""
    model, estimator = file.read(path)
    assert isinstance(model, AnyModel)
    return model, estimator


def save_with_part(model: AnyModel, path: str | os.PathLike[str], estimator: Mapping[str, object]) -> None:
    """Write a model, and what is saved of an estimator in types that JSON has, to one file."""
    file.save(model.FILE.dumps(model, estimator), path)
