"""Drawing rows."""

import numpy as np

from spinney.jit import f64, i32, i64, kernel, out
from spinney.sampling.random_kernels import choose, choose_by_weight

PURPOSE_ROWS = 2
PURPOSE_COLUMNS = 3


@kernel
def draw(count: i64, wanted: i64, seed: i64, numbers: out(i32["count"])):
    """Keep `wanted` of `count` numbers, at the front, in their order; every set is equally likely."""
    choose(numbers, 0, count, wanted, np.int64(seed), PURPOSE_ROWS)


@kernel
def draw_some(count: i64, wanted: i64, seed: i64, numbers: out(i64["count"])):
    """The same for columns."""
    choose(numbers, 0, count, wanted, np.int64(seed), PURPOSE_COLUMNS)


@kernel
def draw_heavy(
    count: i64, wanted: i64, seed: i64, weights: f64["count"], keys: out(f64["count"]), numbers: out(i64["count"])
):
    """The same in proportion to their weights."""
    choose_by_weight(numbers, 0, count, wanted, np.int64(seed), PURPOSE_COLUMNS, weights, keys, 0)
