"""Weights of the rows of a forest: those of the samples, times the factors of their classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import ForestTarget
from spinney.data.classes import check_class_weight, class_factors
from spinney.errors import DataError, ParameterError, ParameterTypeError
from spinney.messages import shown

PRESETS = ("balanced", "balanced_subsample")


def check_factors(class_weight: object, presets: Sequence[str] = PRESETS) -> None:
    """Refuse what no classes could have as factors; how many outputs there are is not known yet."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight in presets):
        return
    for one in class_weight if isinstance(class_weight, list | tuple) else [class_weight]:
        if not isinstance(one, Mapping):
            words = ", ".join(map(repr, presets))
            raise ParameterTypeError(
                f"class_weight={shown(class_weight)} must be {words}, None, a dict of labels and weights, or a list of such "
                "dicts, one for each output"
            )
        check_class_weight(one)


def weigh_rows(
    class_weight: object,
    labels: Sequence[NDArray[Any]],
    target: ForestTarget,
    weight: NDArray[np.float64] | None,
    *,
    draws_rows: bool,
) -> tuple[NDArray[np.float64] | None, str]:
    """Weights of the rows once the factors of the classes are applied, and where these factors came from.

    Parameters
    ----------
    class_weight : mapping of labels to numbers, sequence of such mappings, "balanced", "balanced_subsample" or None
        The factors; those of several outputs are multiplied.
    labels : sequence of ndarray
        Labels of each output's classes.
    target : ForestTarget
        Class numbers.
    weight : float64[rows], optional
        Weights of the rows before.
    draws_rows : bool
        Whether each tree has a bag of its own. If not, balanced_subsample is the same as balanced.

    Returns
    -------
    weight : float64[rows], or None
        None where every row has weight 1.
    kind : str
        "none", "given", "balanced" or, where every tree must find its own factors, "balanced_subsample".

    Examples
    --------
    >>> target = ForestTarget(np.array([[0], [1], [1], [1]]), (2,))
    >>> weight, kind = weigh_rows("balanced", [np.array(["ash", "oak"])], target, None, draws_rows=True)
    >>> weight.round(2).tolist(), kind
    ([2.0, 0.67, 0.67, 0.67], 'balanced')
    """
    if class_weight is None:
        return weight, "none"
    if isinstance(class_weight, str):
        if class_weight == "balanced_subsample" and draws_rows:
            return weight, "balanced_subsample"
        given: Sequence[Any] = ["balanced"] * target.outputs
    else:
        given = _by_output(class_weight, target.outputs)
    factors = np.ones(target.rows)
    for output, one in enumerate(given):
        codes = target.values[:, output].astype(np.int64)
        mass = np.bincount(codes, weight, len(labels[output])).astype(np.float64)
        what = "class_weight" if target.outputs == 1 else f"class_weight[{output}]"
        factors *= class_factors(what, one, labels[output], mass)[codes]
    weights = factors if weight is None else factors * weight
    if not 0 < weights.sum() < np.inf:
        raise DataError(
            f"class_weight={shown(class_weight)} leaves no row a weight above 0 and finite; give other factors"
        )
    return weights, "balanced" if isinstance(class_weight, str) else "given"


def _by_output(class_weight: object, outputs: int) -> Sequence[Any]:
    """One mapping for each output."""
    if isinstance(class_weight, Mapping):
        if outputs > 1:
            raise ParameterError(
                f"class_weight={shown(class_weight)} is one dict, but y has {outputs} outputs: give a list of {outputs} dicts, "
                "or 'balanced'"
            )
        return [class_weight]
    assert isinstance(class_weight, list | tuple)
    if len(class_weight) != outputs:
        raise ParameterError(
            f"class_weight is a list of {len(class_weight)} dicts, but y has {outputs} output(s): give one for each"
        )
    return class_weight
