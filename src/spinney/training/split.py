"""Splitting a data set into train, validation and test parts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.binning.binned import BinnedData
from spinney.dataset import Dataset, as_dataset, binned_of
from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.messages import shown
from spinney.params.parameter import SeedLike
from spinney.training.dealing import check_truth, dealing_of


def split(
    dataset: Dataset,
    *,
    valid: float | None = None,
    test: float | None = None,
    groups: object = None,
    stratified: bool = False,
    shuffle: bool = True,
    seed: SeedLike = 0,
) -> tuple[Dataset, ...]:
    """Split a data set into a train part, a validation part and a test part, which share its cuts and codes.

    Only target, weights and margins of the rows are copied. The codes stay with `dataset`, which lives as long as a part of it
    does. Cuts were chosen from all rows, test rows included (their columns, never their targets).

    Parameters
    ----------
    dataset : Dataset
        The whole, or a part of one.
    valid, test : float or int, optional
        Size of the part: a share of the rows as a number between 0 and 1, or a number of rows as a whole number. A part
        that is not asked for is not made.
    groups : array of shape (rows,), optional
        Group of each row. A group stays whole, so sizes are met as nearly as groups allow. Without it the queries of the
        data set, where it knows some.
    stratified : bool, default=False
        Whether every part gets the same share of each value of the target.
    shuffle : bool, default=True
        Whether rows are drawn at random. Else the first rows are the train part and the last ones the test part.
    seed : int, RandomState, Generator or None, default=0
        Seed of the shuffling.

    Returns
    -------
    tuple of Dataset
        The train part, then the validation and the test part, as far as asked for. `train` takes them together. Rows keep their
        order; `index` of a part has their numbers.

    Examples
    --------
    >>> import numpy as np, spinney as sp
    >>> X = np.arange(200.0).reshape(100, 2)
    >>> train, valid, test = sp.split(sp.Dataset(X, X[:, 0]), valid=0.2, test=0.1)
    >>> train.rows, valid.rows, test.rows
    (70, 20, 10)
    >>> model = sp.train({}, train, rounds=5, valid={"valid": valid})
    """
    data = binned_of(dataset)
    wanted = {name: size for name, size in (("valid", valid), ("test", test)) if size is not None}
    if not wanted:
        raise ParameterError("split needs the size of a part: give valid, test or both, such as valid=.2")
    counts = [_count(name, size, data.rows) for name, size in wanted.items()]
    left = data.rows - sum(counts)
    if left < 1:
        sizes = " and ".join(f"{name}={size}" for name, size in wanted.items())
        raise ParameterError(f"{sizes} leave no row of {data.rows} to train on; give smaller parts")
    target = _strata(data) if check_truth("stratified", stratified) else None
    whole = data.labels.queries if groups is None else groups
    dealing = dealing_of(data.rows, target, whole, shuffle, seed)
    part = dealing.by_counts([left, *counts])
    names = ("train", *wanted)
    for k, name in enumerate(names):
        if not (part == k).any():
            if whole is None:
                raise DataError(
                    f"the {name} part gets no row: classes have too few of them; give a larger part"
                )
            one, many = ("query", "queries") if groups is None else ("group of rows", "groups")
            raise DataError(f"the {name} part gets no {one}: there are too few {many}, or they are too large")
    return tuple(
        as_dataset(data.take(np.flatnonzero(part == k), f"{name} part")) for k, name in enumerate(names)
    )


def _strata(data: BinnedData) -> NDArray[np.float64]:
    """Values of the target, of which every part gets the same share."""
    labels = data.checked_labels()
    if labels.targets > 1:
        raise DataError(
            f"stratified=True needs y of one column, but there are {labels.targets}; leave it out, or split by groups"
        )
    return labels.target


def _count(name: str, size: object, rows: int) -> int:
    """Rows of a part, at least one."""
    if isinstance(size, bool | np.bool_) or not isinstance(size, int | float | np.integer | np.floating):
        raise ParameterTypeError(f"{name}={shown(size)} must be a share between 0 and 1, or a number of rows")
    if isinstance(size, int | np.integer):
        if not 1 <= size < rows:
            raise ParameterError(
                f"{name}={shown(size)} must be a number of rows from 1 to {rows - 1}, or a share below 1"
            )
        return int(size)
    if not 0.0 < size < 1.0:
        raise ParameterError(
            f"{name}={shown(size)} must be a share above 0 and below 1, or a whole number of rows"
        )
    return max(1, round(float(size) * rows))
