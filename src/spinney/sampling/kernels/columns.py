"""Drawing columns."""

import numpy as np

from spinney.jit import f64, i64, kernel, out
from spinney.sampling.kernels.purposes import PURPOSE_COLUMNS
from spinney.sampling.kernels.random import choose, choose_by_weight


@kernel
def draw_some(count: i64, wanted: i64, seed: i64, numbers: out(i64["count"])):
    """Keep `wanted` of `count` columns, at the front, in their order; every set is equally likely."""
    choose(numbers, 0, count, wanted, np.int64(seed), PURPOSE_COLUMNS)


@kernel
def draw_heavy(
    count: i64, wanted: i64, seed: i64, weights: f64["count"], keys: out(f64["count"]), numbers: out(i64["count"])
):
    """The same in proportion to their weights."""
    choose_by_weight(numbers, 0, count, wanted, np.int64(seed), PURPOSE_COLUMNS, weights, keys, 0)
