"""Breiman's account of a forest's error: the strength of its trees, and the correlation of their mistakes.

Leo Breiman, Random Forests, Machine Learning 45 (2001): sections 2 and 11, appendix II for estimates out of bag.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.data import Table
from spinney.errors import DataError
from spinney.inspection.forest_leaves import each_tree, leaf_predictions, predicted_outputs
from spinney.inspection.out_of_bag import Bags, bags_of, rows_out_of_bag
from spinney.model.forest import ForestModel
from spinney.params.common import check_truth


@dataclass(frozen=True, eq=False)
class ClassDiagnosis:
    """Margins of a forest of classes, and what follows from them.

    Attributes
    ----------
    strength : float
        Mean margin.
    correlation : float
        Between the raw margins of two trees: the variance of the margins over the square of the trees' mean standard deviation of
        raw margins. NaN where raw margins do not vary.
    bound : float
        Upper bound of the share of wrong rows, by correlation and strength: correlation * (1 - strength**2) / strength**2.
        Infinite where the strength is not above 0.
    error : float
        Share of the rows whose margin is below 0.
    margins : float64[rows]
        Share of the trees that vote for the right class, less that of the wrong class with the most votes. NaN for a row that no
        tree predicts.
    rows, trees : int
        How many rows were predicted, and by how many trees.
    out_of_bag : bool
        Whether each row was predicted only by the trees that had not seen it.
    """

    strength: float
    correlation: float
    bound: float
    error: float
    margins: NDArray[np.float64]
    rows: int
    trees: int
    out_of_bag: bool

    def __repr__(self) -> str:
        return _described(self, ("strength", "correlation", "bound", "error"))


@dataclass(frozen=True, eq=False)
class NumberDiagnosis:
    """Errors of a forest of numbers and of its trees.

    Attributes
    ----------
    error : float
        Mean squared error of the forest.
    tree_error : float
        Mean squared error of a tree, the mean over trees.
    correlation : float
        Between the residuals of two trees, weighted by their sizes: `error` over the square of the trees' mean root of
        mean squared error. NaN where no tree errs.
    bound : float
        The forest's error is no more than this: correlation * tree_error.
    rows, trees : int
        How many rows were predicted, and by how many trees.
    out_of_bag : bool
        Whether each row was predicted only by the trees that had not seen it.
    """

    error: float
    tree_error: float
    correlation: float
    bound: float
    rows: int
    trees: int
    out_of_bag: bool

    def __repr__(self) -> str:
        return _described(self, ("error", "tree_error", "correlation", "bound"))


Diagnosis = ClassDiagnosis | NumberDiagnosis


def diagnose(
    model: ForestModel,
    table: Table,
    target: NDArray[Any],
    *,
    out_of_bag: bool = False,
    n_jobs: int | None = None,
) -> Diagnosis | list[Diagnosis]:
    """Measure strength and correlation of a forest's trees.

    Every tree has one vote for a class. The standard deviation of its raw margins is the root of p1 + p2 - (p1 - p2)**2, where p1
    is the share of rows for whose class the tree votes, and p2 that for whose strongest wrong class. (Breiman's appendix prints
    p1 + p2 + (p1 - p2)**2, which is no variance.)

    Parameters
    ----------
    model : ForestModel
        The forest.
    table : Table
        Rows to predict.
    target : int64[rows, outputs] or float64[rows, outputs]
        Their class numbers, or numbers.
    out_of_bag : bool, default=False
        Whether the table is the training table, of which each row is predicted by the trees that have not seen it. Rows that
        were in every bag are left out.
    n_jobs : int, optional
        Threads; the result does not depend on them.

    Returns
    -------
    ClassDiagnosis or NumberDiagnosis
        A list of them for several outputs.
    """
    if table.rows == 0:
        raise DataError("X has no rows: a diagnosis needs one at least")
    bags = (
        bags_of(model, table.rows, "a diagnosis out of bag")
        if check_truth("out_of_bag", out_of_bag)
        else None
    )
    diagnose_outputs = _classes if model.classes else _numbers
    found = diagnose_outputs(model, table, target, bags, n_jobs)
    return found[0] if len(found) == 1 else found


def _classes(
    model: ForestModel, table: Table, target: NDArray[np.int64], bags: Bags | None, n_jobs: int | None
) -> list[Diagnosis]:
    votes = [np.zeros((table.rows, classes), np.int32) for classes in model.classes]
    counts = np.zeros(table.rows, np.int32)
    for tree, leaf in each_tree(model, table, n_jobs):
        rows, predicted = _predicted(model, tree, leaf, bags)
        counts[rows] += 1
        for output, counted in enumerate(votes):
            counted[rows, predicted[:, output]] += 1
    known = rows_out_of_bag(counts)
    rivals, margins = zip(
        *(_margins(*pair, counts) for pair in zip(votes, target.T, strict=True)), strict=True
    )
    deviations = np.zeros((len(model.classes), 0))
    for tree, leaf in each_tree(model, table, n_jobs):
        rows, predicted = _predicted(model, tree, leaf, bags)
        if len(rows):
            raw = [_deviation(predicted[:, k], target[rows, k], rivals[k][rows]) for k in range(len(votes))]
            deviations = np.column_stack([deviations, raw])
    return [
        _class_diagnosis(margin, known, deviation, bags is not None)
        for margin, deviation in zip(margins, deviations, strict=True)
    ]


def _predicted(
    model: ForestModel, tree: int, leaf: NDArray[np.int32], bags: Bags | None
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Rows that a tree is to predict, and its predictions of them, (rows, outputs)."""
    rows = np.arange(len(leaf)) if bags is None else np.flatnonzero(bags.out(tree))
    return rows, predicted_outputs(model, leaf_predictions(model, tree))[leaf[rows]]


def _margins(
    votes: NDArray[np.int32], target: NDArray[np.int64], counts: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The wrong class with the most votes, -1 where there is but one class, and the margin of every row."""
    rows = np.arange(len(votes))
    right = votes[rows, target]
    others = votes.copy()
    others[rows, target] = -1
    rival = others.argmax(axis=1)
    against = np.maximum(others[rows, rival], 0)
    rival[rival == target] = -1
    margins = np.full(len(votes), np.nan)
    known = counts > 0
    margins[known] = (right[known] - against[known]) / counts[known]
    return rival, margins


def _deviation(predicted: NDArray[np.int64], target: NDArray[np.int64], rival: NDArray[np.int64]) -> float:
    """Standard deviation of a tree's raw margins: 1 for the right class, -1 for its rival, 0 for another one."""
    right, wrong = float((predicted == target).mean()), float((predicted == rival).mean())
    return math.sqrt(max(right + wrong - (right - wrong) ** 2, 0.0))


def _class_diagnosis(
    margins: NDArray[np.float64], known: NDArray[np.bool_], deviations: NDArray[np.float64], out_of_bag: bool
) -> ClassDiagnosis:
    margin = margins[known]
    strength, deviation = float(margin.mean()), float(deviations.mean())
    correlation = float(margin.var()) / deviation**2 if deviation > 0 else math.nan
    if strength <= 0:
        bound = math.inf
    elif strength == 1:
        bound = 0.0
    else:
        bound = correlation * (1 - strength**2) / strength**2
    error = float((margin < 0).mean())
    return ClassDiagnosis(
        strength, correlation, bound, error, margins, len(margin), len(deviations), out_of_bag
    )


def _numbers(
    model: ForestModel, table: Table, target: NDArray[np.float64], bags: Bags | None, n_jobs: int | None
) -> list[Diagnosis]:
    residuals, counts = np.zeros((table.rows, model.outputs)), np.zeros(table.rows, np.int32)
    errors = []
    for tree, leaf in each_tree(model, table, n_jobs):
        rows, predicted = _predicted(model, tree, leaf, bags)
        if len(rows):
            left = target[rows] - predicted
            residuals[rows] += left
            counts[rows] += 1
            errors.append(np.square(left).mean(axis=0))
    known = rows_out_of_bag(counts)
    forest = np.square(residuals[known] / counts[known, None]).mean(axis=0)
    by_tree = np.array(errors)
    size = np.square(np.sqrt(by_tree).mean(axis=0))
    found: list[Diagnosis] = []
    for error, tree_error, scale in zip(
        forest.tolist(), by_tree.mean(axis=0).tolist(), size.tolist(), strict=True
    ):
        correlation = error / scale if scale > 0 else math.nan
        bound = correlation * tree_error if scale > 0 else 0.0
        found.append(
            NumberDiagnosis(
                error, tree_error, correlation, bound, int(known.sum()), len(errors), bags is not None
            )
        )
    return found


def _described(diagnosis: Diagnosis, names: tuple[str, ...]) -> str:
    numbers = ", ".join(f"{name}={getattr(diagnosis, name):.4g}" for name in names)
    where = ", out of bag" if diagnosis.out_of_bag else ""
    return f"{type(diagnosis).__name__}({numbers}; {diagnosis.rows} rows, {diagnosis.trees} trees{where})"
