"""Drawing rows with replacement, each as often as its weight says."""

import numpy as np

from spinney.jit import f64, i32, i64, kernel, out, record
from spinney.sampling.kernels.bootstrap import seed_of_tree
from spinney.sampling.kernels.purposes import PURPOSE_HEAVY
from spinney.sampling.kernels.random import random_bits

BITS_53 = 9007199254740991


@record
class Lottery:
    """Whole weights of rows, their sums up to each row, and the row with which each stretch of `1 << shift` begins."""

    rows: i64
    cells: i64
    shift: i64
    total: i64
    weight: f64["rows"]
    up_to: out(i64["rows"])
    first: out(i32["cells"])


@kernel
def draw_by_weight(seed: i64, tree: i64, drawn: i64, lottery: Lottery, counts: out(f64["lottery.rows"])):
    """How often each row is drawn. A draw is a place in the sum of all weights; the row that lies there is looked up from the
    first row of the place's stretch on.
    """
    key = seed_of_tree(seed, tree)
    total = np.int64(0)
    cell = np.int64(0)
    for i in range(lottery.rows):
        total += np.int64(lottery.weight[i])
        lottery.up_to[i] = total
        counts[i] = 0.0
        while cell < lottery.cells and (cell << lottery.shift) < total:
            lottery.first[cell] = i
            cell += 1
    for draw in range(drawn):
        bits = (random_bits(key, PURPOSE_HEAVY, draw) >> 11) & BITS_53
        place = min(np.int64(np.floor(float(bits) * (float(total) / 9007199254740992.0))), total - 1)
        row = np.int64(lottery.first[place >> lottery.shift])
        while lottery.up_to[row] <= place:
            row += 1
        counts[row] += 1.0
