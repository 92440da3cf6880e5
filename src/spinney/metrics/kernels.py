"""Losses summed over blocks of rows: a block by one thread in order, so that the sums do not depend on the threads."""

import numpy as np

from spinney.jit import f64, i64, inline, kernel, out
from spinney.jit.math import exp, log

BLOCK = 8192

RMSE = 0
MAE = 1
LOGLOSS = 2
ERROR = 3
MLOGLOSS = 4
MERROR = 5


@inline
def log1p_exp(x):
    """log(1 + e**x) without overflow."""
    e = exp(-abs(x))
    return max(x, 0.0) + log(1.0 + e)


@inline
def loss_of(kind, i, rows, outputs, scores, y):
    """Loss of one row."""
    f = scores[i]
    if kind == RMSE:
        return (f - y) * (f - y)
    if kind == MAE:
        return abs(f - y)
    if kind == LOGLOSS:
        return y * log1p_exp(-f) + (1.0 - y) * log1p_exp(f)
    if kind == ERROR:
        return 1.0 if (f > 0.0) != (y > 0.5) else 0.0
    label = np.int64(y)
    top = f
    at = 0
    for k in range(1, outputs):
        s = scores[k * rows + i]
        if s > top:
            top = s
            at = k
    if kind == MERROR:
        return 0.0 if at == label else 1.0
    total = 0.0
    for k in range(outputs):
        total += exp(scores[k * rows + i] - top)
    return log(total) - (scores[label * rows + i] - top)


@kernel
def sum_losses(
    rank: i64, size: i64, sync: out(i64["32"]), kind: i64, rows: i64, outputs: i64, blocks: i64, weighted: i64,
    scores: f64["rows * outputs"], target: f64["rows"], weight: f64["rows * weighted"], sums: out(f64["blocks"]),
):
    """Weighted sum of the losses of each block of rows."""
    for b in range(rank, blocks, size):
        total = 0.0
        for i in range(b * BLOCK, min((b + 1) * BLOCK, rows)):
            w = weight[i] if weighted != 0 else 1.0
            if w > 0.0:
                total += w * loss_of(kind, i, rows, outputs, scores, target[i])
        sums[b] = total
