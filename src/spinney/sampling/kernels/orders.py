"""Random orders of rows and of columns."""

import numpy as np

from spinney.jit import Member, f64, i64, kernel, out
from spinney.sampling.kernels.random import (
    LOW_32,
    PURPOSE_COLUMNS,
    PURPOSE_FOLDS,
    PURPOSE_SHUFFLE,
    choose,
    choose_by_weight,
    random_bits,
)
from spinney.sampling.kernels.records import Orders

# --- Orders of rows


@kernel
def draw_order(count: i64, seed: i64, order: out(i64["count"])):
    """Bring the numbers from 0 to `count` - 1 into a random order, every one equally likely (Fisher and Yates)."""
    for i in range(count):
        # The product stays below 2**63: a data set has less than 2**31 rows.
        j = (((random_bits(seed, PURPOSE_FOLDS, i) >> 32) & LOW_32) * (i + 1)) >> 32
        order[i] = order[j]
        order[j] = i


# --- Orders for shuffled columns


@kernel
def draw_orders(team: Member, seed: i64, turn: i64, drawn: Orders):
    """Draw an order of the rows for each column, every order equally likely (Fisher and Yates)."""
    of_turn = random_bits(seed, PURPOSE_SHUFFLE, turn)
    for k in range(team.rank, drawn.columns, team.size):
        of_column = random_bits(of_turn, PURPOSE_SHUFFLE, drawn.column[k])
        at = k * drawn.rows
        for i in range(drawn.rows):
            drawn.orders[at + i] = i
        for i in range(drawn.rows - 1, 0, -1):
            j = (((random_bits(of_column, PURPOSE_SHUFFLE, i) >> 32) & LOW_32) * (i + 1)) >> 32
            number = drawn.orders[at + i]
            drawn.orders[at + i] = drawn.orders[at + j]
            drawn.orders[at + j] = number


# --- Columns of a tree


@kernel
def choose_columns(count: i64, wanted: i64, seed: i64, numbers: out(i64["count"])):
    """Keep `wanted` of `count` columns, at the front, in their order; every set is equally likely."""
    choose(numbers, 0, count, wanted, np.int64(seed), PURPOSE_COLUMNS)


@kernel
def choose_weighted_columns(
    count: i64,
    wanted: i64,
    seed: i64,
    weights: f64["count"],
    keys: out(f64["count"]),
    numbers: out(i64["count"]),
):
    """Keep columns with chances in proportion to their weights."""
    choose_by_weight(numbers, 0, count, wanted, np.int64(seed), PURPOSE_COLUMNS, weights, keys, 0)
