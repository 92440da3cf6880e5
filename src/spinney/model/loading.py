"""Models of any kind from and to files."""

from __future__ import annotations

import os
from collections.abc import Mapping

from spinney.model import file
from spinney.model.ensemble import Ensemble
from spinney.model.forest_model import ForestModel
from spinney.model.model import Model


def load(path: str | os.PathLike[str]) -> Model | ForestModel:
    """Read a model from a file that its `save` wrote, or the model alone from that of an estimator.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    Model or ForestModel
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


def load_with_part(
    path: str | os.PathLike[str],
) -> tuple[Model | ForestModel, dict[str, object] | None]:
    """Read a model and what its file knows of an estimator, None for a bare model; that part is not checked yet."""
    parts, estimator = file.read(path)
    model = Model._of(parts) if isinstance(parts, Ensemble) else ForestModel._of(parts)
    return model, estimator


def save_with_part(
    model: Model | ForestModel, path: str | os.PathLike[str], estimator: Mapping[str, object]
) -> None:
    """Write a model, and what an estimator knows beside it in types that JSON knows, to one file."""
    file.save(model._parts, path, estimator)
