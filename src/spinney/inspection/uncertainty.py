"""Uncertainty of what a forest predicts."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from spinney.data import Table
from spinney.errors import ParameterError
from spinney.inspection.forest_leaves import each_block, each_tree, leaf_predictions, without_single_output
from spinney.inspection.kernels.forests import quadratic_forms
from spinney.inspection.out_of_bag import Bags, bags_of
from spinney.jit.team import Team, most_for, threads_for
from spinney.messages import shown
from spinney.model.forest import ForestModel
from spinney.params.common import check_truth

SHARE_PRODUCTS = 20_000_000  # from which quadratic forms are shared among threads
BLOCK_ROWS = 65_536  # training rows that are multiplied at a time; whole bytes of bits


@dataclass(frozen=True, eq=False)
class ClassUncertainty:
    """Uncertainty of the class of each row.

    Attributes
    ----------
    variance : float64[rows, classes]
        p * (1 - p) of every class: 0 where all is certain, at most .25.
    entropy : float64[rows]
        -sum p log p, in nats: 0 where all is certain, at most log(classes).
    """

    variance: NDArray[np.float64]
    entropy: NDArray[np.float64]


def class_uncertainty(probabilities: NDArray[np.float64]) -> ClassUncertainty:
    """Uncertainty of predicted classes.

    Parameters
    ----------
    probabilities : float64[rows, classes]
        Of one output.

    Examples
    --------
    >>> sure = class_uncertainty(np.array([[0.5, 0.5], [1.0, 0.0]]))
    >>> sure.variance.tolist(), sure.entropy.round(4).tolist()
    ([[0.25, 0.25], [0.0, 0.0]], [0.6931, 0.0])
    """
    logs = np.zeros_like(probabilities)
    np.log(probabilities, out=logs, where=probabilities > 0)
    # 0 added, so that no entropy is -0.
    return ClassUncertainty(probabilities * (1 - probabilities), 0.0 - (probabilities * logs).sum(axis=1))


def deviation(model: ForestModel, table: Table, n_jobs: int | None = None) -> NDArray[np.float64]:
    """Standard deviation of the trees' predictions around the forest's: the root of their mean squared distance.

    Parameters
    ----------
    model : ForestModel
        A forest of numbers.
    table : Table
        Rows to predict.
    n_jobs : int, optional
        Threads; the result does not depend on them.

    Returns
    -------
    float64 array of shape (rows,), or (rows, outputs) for several outputs
    """
    mean, squares = np.zeros((table.rows, model.outputs)), np.zeros((table.rows, model.outputs))
    tree = 0
    for tree, leaf in each_tree(model, table, n_jobs):
        predicted = leaf_predictions(model, tree)[leaf]
        before = predicted - mean
        mean += before / (tree + 1)
        squares += before * (predicted - mean)
    return without_single_output(np.sqrt(np.maximum(squares, 0.0) / (tree + 1)))


def jackknife_variance(
    model: ForestModel, table: Table, *, corrected: bool = True, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Variance of the forest's predictions, had it been trained on other rows: the jackknife after the bootstrap.

    Efron's estimate (1992) in the form of Wager, Hastie and Efron (Confidence Intervals for Random Forests, JMLR 15, 2014): n - 1
    times the mean over the n training rows of (mean of the trees that did not see the row - mean of all trees)**2. Rows that
    every tree saw are left out. That a forest has B trees only makes this too large. Their bias-corrected form (`corrected`)
    subtracts what is expected of it: n / B**2 * (1 - q) / q * (sum over trees of the squared distance from their mean), where q
    is the chance of a row to be out of a bag. With as many draws as rows (1 - q) / q is about e - 1, as they write.

    The estimate needs many trees, in the order of the training rows.

    Parameters
    ----------
    model : ForestModel
        A forest of numbers whose bags were drawn with replacement.
    table : Table
        Rows to predict.
    corrected : bool, default=True
        Whether to subtract what the finite number of trees adds.
    n_jobs : int, optional
        Threads; the result does not depend on them.

    Returns
    -------
    float64 array of shape (rows,), or (rows, outputs) for several outputs
        NaN where the correction exceeds the estimate: with so few trees it cannot be distinguished from noise.
    """
    forest, outputs = model.forest, model.outputs
    trees = forest.trees
    bags = _bags(model, trees)
    matrix, known = _out_together(bags, trees)
    factor = (bags.rows - 1) / max(known, 1)
    chance = bags.chance_out
    noise = bags.rows / trees**2 * (1 - chance) / chance if check_truth("corrected", corrected) else 0.0
    found = np.empty((table.rows, outputs))
    values = np.ascontiguousarray(forest.value.reshape(-1, outputs).T, np.float64)
    for first, leaves in each_block(model, table, n_jobs):
        places = leaves + forest.leaf_start[:-1]
        rows = len(leaves)
        threads = threads_for(n_jobs, most_for(rows * trees**2, SHARE_PRODUCTS))
        for output in range(outputs):
            predicted = values[output][places]
            apart = predicted - predicted.mean(axis=1, keepdims=True)
            forms, squares = np.empty(rows), np.empty(rows)
            with Team(threads) as team:
                team.run(quadratic_forms.bind(rows, trees, matrix, apart, forms, squares))
            found[first : first + rows, output] = factor * forms - noise * squares
    found[found < 0] = np.nan
    return without_single_output(found)


def jackknife_interval(
    model: ForestModel,
    table: Table,
    predicted: NDArray[np.float64],
    *,
    level: float = 0.95,
    corrected: bool = True,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Confidence intervals of what the forest predicts in the mean, by the jackknife after the bootstrap and normal quantiles.

    They are about how much the prediction would change with other training rows; they do not hold the target itself.

    Parameters
    ----------
    model, table, corrected, n_jobs
        As `jackknife_variance` takes them.
    predicted : float64 array of shape (rows,) or (rows, outputs)
        What the forest predicts.
    level : float, default=0.95
        Chance of an interval to hold the mean.

    Returns
    -------
    float64 array of shape (rows, 2), or (rows, outputs, 2) for several outputs
        Lower and upper ends; NaN where the variance is.
    """
    if not isinstance(level, int | float) or not 0 < level < 1:
        raise ParameterError(f"level={shown(level)} is out of range: it must be a number above 0 and below 1")
    variance = jackknife_variance(model, table, corrected=corrected, n_jobs=n_jobs)
    reach = NormalDist().inv_cdf(0.5 + level / 2) * np.sqrt(variance)
    return np.stack([predicted - reach, predicted + reach], axis=-1)


def _bags(model: ForestModel, trees: int) -> Bags:
    bags = bags_of(model, model.rows, "the jackknife")
    if not bags.replace:
        raise ParameterError(
            "the jackknife after the bootstrap needs bags drawn with replacement: train with bootstrap=True"
        )
    if trees < 2:
        raise ParameterError(
            "the jackknife needs two trees at least, and in the order of the training rows for good estimates"
        )
    return bags


def _out_together(bags: Bags, trees: int) -> tuple[NDArray[np.float64], int]:
    """For each two trees, the sum over the rows that neither saw of 1 / (trees that did not see the row)**2; and how many rows
    count: those that some tree did not see.

    The squared distances of the jackknife are quadratic forms of this matrix, which belongs to the training rows alone. Rows with
    the same number of trees are counted in whole numbers, which floats add in any order to the same bits.
    """
    packed = np.stack([np.packbits(bags.out(tree)) for tree in range(trees)])
    sizes = np.zeros(bags.rows, np.int64)
    for bits in packed:
        sizes += np.unpackbits(bits, count=bags.rows)
    counts: dict[int, NDArray[np.float64]] = {}
    for begin in range(0, bags.rows, BLOCK_ROWS):
        part = slice(begin // 8, -(-min(begin + BLOCK_ROWS, bags.rows) // 8))
        block = sizes[begin : begin + BLOCK_ROWS]
        out = np.unpackbits(packed[:, part], axis=1, count=len(block))
        for size in np.unique(block[block > 0]).tolist():
            same = out[:, block == size].astype(np.float64)
            counts[size] = counts.get(size, np.zeros((trees, trees))) + same @ same.T
    matrix = np.zeros((trees, trees))
    for size in sorted(counts):
        matrix += counts[size] / size**2
    return matrix, int((sizes > 0).sum())
