"""Drawing rows."""

import numpy as np

from spinney.jit import i32, i64, kernel, out
from spinney.sampling.random_kernels import choose

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
