"""What a digest is made of."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

import spinney as sp

Params = dict[str, Any]
Action = Callable[[], Iterable[object]]  # gives files as bytes, arrays, numbers and lists of them
Plan = tuple[str, Action]


def digest(parts: Iterable[object]) -> str:
    """Return a digest of files, arrays and numbers, in their order.

    Examples
    --------
    >>> digest([np.zeros(2), {"a": 1.0}]) == digest([np.zeros(2), {"a": 1.0}])
    True
    """
    told = hashlib.sha256()
    for part in parts:
        if isinstance(part, bytes):
            told.update(without_version(part))
        elif isinstance(part, np.ndarray):
            told.update(f"{part.dtype.str} {part.shape}".encode() + part.tobytes())
        else:
            told.update(json.dumps(part, sort_keys=True).encode())
    return told.hexdigest()[:16]


def without_version(file: bytes) -> bytes:
    """Return a model's file without the length of its header, its padding, and the version that wrote it."""
    length = int.from_bytes(file[:8], "little")
    header = json.loads(file[8 : 8 + length])
    about = json.loads(header["__metadata__"]["spinney"])
    del about["version"]
    header["__metadata__"]["spinney"] = about
    return json.dumps(header, sort_keys=True).encode() + file[8 + length :]


def model_parts(model: Any, X: Any, *more: object) -> Iterator[object]:
    """Return a model's file, its predictions, leaves and importances, and what else is given."""
    yield model.to_bytes()
    yield np.asarray(model.predict(X))
    yield np.asarray(model.predict_leaf(X))
    for kind in ("total_gain", "gain", "split", "cover", "total_cover"):
        yield np.asarray(model.importance(kind))
    yield from more


def trained(params: Params, X: Any, y: Any, *, rounds: Any = 6, **given: Any) -> Action:
    """Return what trains a model of a few rounds, with metrics on its rows and on others."""

    def act() -> Iterator[object]:
        data = sp.Dataset(X, y, **given)
        valid = {"train": data}
        if not {"base_margin", "group", "qid"} & set(given):
            some = slice(0, len(y) // 3)
            valid["other"] = sp.Dataset(X[some], y[some], reference=data, keep_table=True)
        history = sp.History()
        model = sp.train({"n_jobs": 2} | params, data, rounds, valid=valid, callbacks=[history])
        yield from model_parts(model, X, history.evals)

    return act
