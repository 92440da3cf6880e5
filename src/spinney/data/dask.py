"""Dask collections are refused here: only `spinney.dask` reads them. They are recognised by class, without importing Dask."""

from __future__ import annotations

import numpy as np

from spinney.errors import DataTypeError

PACKAGES = frozenset({"dask", "dask_expr"})
ESTIMATORS = ("GBMClassifier", "GBMRegressor", "GBMRanker")


def is_dask(value: object) -> bool:
    """Whether a value is a Dask array, data frame, series or delayed object, or a list of such.

    Examples
    --------
    >>> is_dask([[1, 2]])
    False
    """
    if type(value) is np.ndarray:
        return False  # the usual case, among others for predictions of a single row
    if isinstance(value, list | tuple) and value:
        return not isinstance(value[0], list | tuple) and is_dask(value[0])
    return any(base.__module__.partition(".")[0] in PACKAGES for base in type(value).__mro__)


def refuse_dask(value: object, what: str, reader: str | None = None) -> None:
    """Refuse a Dask collection. Otherwise it would be computed into memory and lose its names.

    Parameters
    ----------
    value : object
        An argument.
    what : str
        Its name.
    reader : str, optional
        Name of the estimator that got it.

    Raises
    ------
    DataTypeError
        The message names what `spinney.dask` has for it.
    """
    if not is_dask(value):
        return
    if reader is None:
        use = f"spinney.dask has Dataset, train, {', '.join(ESTIMATORS)} for it, or call its compute() first"
    elif reader in ESTIMATORS:
        use = f"use spinney.dask.{reader}, or call its compute() first"
    else:
        use = f"spinney.dask has no {reader}, so call its compute() first; the result must fit into memory"
    kind = type(value).__name__
    raise DataTypeError(f"{what} is a Dask collection ({kind}): {use}")
