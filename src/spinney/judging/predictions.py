"""Predictions that users give without a model: what they mean."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import as_matrix, read_class_labels, read_table, read_vector
from spinney.data.arrays import plain_array
from spinney.data.classes import class_codes
from spinney.data.frame import frame_vector, is_frame
from spinney.errors import DataError, ParameterError
from spinney.judging.scales import Scale, called_metric
from spinney.params import Config, MetricInfo
from spinney.params.metrics import METRICS, is_spelled, name_and_cutoff

Floats = NDArray[np.float64]


def array_of(values: Any, what: str) -> NDArray[Any]:
    """Values of rows as an array, whatever they are held in."""
    if is_frame(values):
        shape: tuple[int, ...] = getattr(values, "shape", ())
        if len(shape) == 2 and shape[1] != 1:
            return as_matrix(read_table(values, what=what))
        return frame_vector(values, what)
    array = plain_array(values, what)
    if array.ndim == 0:
        raise DataError(f"{what} must hold one value for each row, got {values!r:.60}")
    return array


def read_predictions(
    metric: str, y: object, prediction: object, classes: object = None
) -> tuple[Scale, Floats, Floats]:
    """Read predictions and targets as a metric means them.

    Parameters
    ----------
    metric : str
        Name of the metric.
    y, prediction, classes : object
        As `bootstrap_interval` takes them.

    Returns
    -------
    scale : Scale
        What the predictions mean.
    values : float64[values, rows]
        The predictions.
    target : float64[rows]
        Numbers, or places of labels among the classes.
    """
    with called_metric():
        plain, _ = name_and_cutoff(metric)
    meant = [info for info in METRICS.values() if is_spelled(plain, info)]
    if not meant:
        raise ParameterError(f"metric={metric!r} is unknown; there are {', '.join(METRICS)}")
    said, rows = array_of(prediction, "prediction"), len(array_of(y, "y"))
    if said.ndim == 2 and said.shape[1] == 1:
        said = said[:, 0]
    if said.ndim not in (1, 2):
        raise DataError(f"prediction has shape {said.shape}; it must be (rows,) or (rows, classes)")
    if len(said) != rows:
        raise DataError(
            f"prediction has {len(said)} rows, but y has {rows}; give one prediction for each row"
        )
    if said.ndim == 2:
        of_classes = any("many" in info.fits or "two" in info.fits for info in meant)
        if not of_classes or array_of(y, "y").shape[1:] not in ((), (1,)):
            raise DataError(
                f"prediction has {said.shape[1]} columns, but metric={metric!r} judges one number a row; give the columns of "
                "targets or levels one by one, or a function as metric"
            )
        shares = _finite(said)
        _check_shares(shares, metric)
        labels = _classes(y, rows, classes, said.shape[1])
        scale = Scale.of_classes(len(labels), labels)
        return scale, np.ascontiguousarray(shares.T), scale.read_target(y, rows)
    info = next((one for one in meant if one.fits != ("many",)), meant[0])
    if info.fits == ("many",):
        raise DataError(
            f"metric={metric!r} needs the probability of every class; prediction must be (rows, classes)"
        )
    return _of_vector(info, y, said, rows, classes)


def _of_vector(
    info: MetricInfo, y: object, said: NDArray[Any], rows: int, classes: object
) -> tuple[Scale, Floats, Floats]:
    """One value a row: a number, a score within a query, a score or probability of the second of two classes, or a label."""
    if info.form == "by_query":
        scale = Scale(Config(objective="rank_ndcg"), raw=True)
        return scale, _finite(said).reshape(1, -1), scale.read_target(y, rows)
    if "numbers" in info.fits and info.looks_at != "order":
        scale = Scale.of_numbers()
        return scale, _finite(said).reshape(1, -1), scale.read_target(y, rows)
    if "two" not in info.fits:
        scale = Scale(Config(objective="poisson"), raw=False)
        values = _finite(said)
        if values.min() <= 0:
            at = int(np.argmax(values <= 0))
            raise DataError(
                f"metric={info.name!r} needs predictions above 0, got prediction[{at}] = {values[at]:g}"
            )
        return scale, values.reshape(1, -1), scale.read_target(y, rows)
    if info.looks_at == "class" and _are_labels(said, y, rows):
        return _of_labels(y, said, rows, classes)
    labels = _classes(y, rows, classes, 2)
    raw = info.looks_at == "order"
    values = _finite(said)
    if not raw:
        _check_shares(values, info.name)
    scale = Scale.of_classes(2, labels, raw=raw)
    return scale, values.reshape(1, -1), scale.read_target(y, rows)


def _are_labels(said: NDArray[Any], y: object, rows: int) -> bool:
    """Whether predictions are labels, and not probabilities; 0 and 1 may be either, which comes to the same."""
    if said.dtype.kind not in "biuf":
        return True
    known = set(read_class_labels(y, rows)[0].tolist())
    found = set(np.unique(said).tolist())
    if known <= {0, 1}:
        return False
    # Whole numbers are labels; so are other numbers that y has, unless they may be probabilities as well.
    return said.dtype.kind in "iu" or (found <= known and not (found <= {0, 1} and len(known) == 2))


def _of_labels(y: object, said: NDArray[Any], rows: int, classes: object) -> tuple[Scale, Floats, Floats]:
    """Labels become certain probabilities."""
    if classes is None:
        present, guessed = read_class_labels(y, rows)[0].tolist(), read_class_labels(said, rows)[0].tolist()
        if isinstance(present[0], str) != isinstance(guessed[0], str):
            raise DataError(
                f"y has labels such as {present[0]!r}, prediction such as {guessed[0]!r}; they must be of one kind"
            )
        labels = np.array(sorted({*present, *guessed}), dtype=object if isinstance(present[0], str) else None)
    else:
        labels = _given(classes)
    codes = class_codes(said, rows, labels).astype(np.int64)
    scale = Scale.of_classes(len(labels), labels)
    values = np.zeros((len(labels), rows))
    values[codes, np.arange(rows)] = 1.0
    return scale, values, scale.read_target(y, rows)


def _classes(y: object, rows: int, classes: object, count: int) -> NDArray[Any]:
    """Labels of so many classes: those given, else those of y, which may be 0, 1 and so on."""
    found = read_class_labels(y, rows)[0] if classes is None else _given(classes)
    if len(found) == count:
        return found
    if classes is None and set(found.tolist()) <= set(range(count)):
        return np.arange(count)
    raise DataError(
        f"prediction speaks of {count} classes, but {'y has' if classes is None else 'classes names'} {len(found)}; "
        "give the labels of the columns by classes"
    )


def _given(classes: object) -> NDArray[Any]:
    labels = array_of(classes, "classes")
    if labels.ndim != 1 or len(set(labels.tolist())) < len(labels):
        raise DataError(f"classes={labels.tolist()!r:.60} must be a list of distinct labels")
    return labels


def _finite(said: NDArray[Any]) -> Floats:
    """Finite numbers."""
    flat = read_vector(said.reshape(-1), said.size, "prediction", allow_none=False)
    return flat.reshape(said.shape)


def _check_shares(values: Floats, metric: str) -> None:
    wrong = (values < 0) | (values > 1)
    if wrong.any():
        found = values[wrong][0]
        raise DataError(f"metric={metric!r} needs probabilities, from 0 to 1; prediction holds {found:g}")
