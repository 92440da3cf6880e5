"""Few rows of many, in a time that goes by how many are drawn and not by how many there are."""

import numpy as np

from spinney.jit import f64, i64, kernel, out, record
from spinney.jit.inline import inline
from spinney.sampling.kernels.bootstrap import seed_of_tree
from spinney.sampling.kernels.purposes import PURPOSE_FEW, PURPOSE_SUBSET
from spinney.sampling.kernels.random import GOLDEN, LOW_32, mixed, random_bits

# Draws, beside 16 for each wanted row, after which rows of very unequal weights are left to another way of drawing.
SPARE_DRAWS = 1024
UNIT_53 = 1.1102230246251565e-16
MASK_53 = 9007199254740991


@record
class Draws:
    """The rows of some trees. `weights` is 0 where all rows have the same chance, else the number of rows."""

    trees: i64
    rows: i64
    wanted: i64
    replace: i64
    weights: i64
    slots: i64  # a power of two, at least twice `wanted`
    cumulative: f64["weights"]
    seen: out(i64["slots"])
    chosen: out(i64["trees * wanted"])
    found: out(i64["trees"])
    keys: out(i64["trees"])  # seed of everything drawn for each tree


@inline
def fine_unit(bits):
    """53 of 64 random bits as a number in [0, 1)."""
    return float((bits >> 11) & MASK_53) * UNIT_53


@inline
def drawn_row(bits, draws):
    """The row that random bits stand for, or the number of rows where rounding led beyond the last one."""
    if draws.weights == 0:
        return (((bits >> 32) & LOW_32) * draws.rows) >> 32
    wanted = fine_unit(bits) * draws.cumulative[draws.rows - 1]
    low = np.int64(0)
    high = draws.rows
    while low < high:
        middle = (low + high) >> 1
        if draws.cumulative[middle] > wanted:
            high = middle
        else:
            low = middle + 1
    return low


@inline
def is_new(row, draws):
    """Whether a row comes for the first time; it is noted."""
    slot = mixed(row * GOLDEN) & (draws.slots - 1)
    while draws.seen[slot] >= 0:
        if draws.seen[slot] == row:
            return False
        slot = (slot + 1) & (draws.slots - 1)
    draws.seen[slot] = row
    return True


@inline
def draw_most(key, tree, draws):
    """Draw half of the rows or more: each row in its turn, with the chance that its set asks for. Returns how many."""
    found = np.int64(0)
    for i in range(draws.rows):
        chance = fine_unit(random_bits(key, PURPOSE_SUBSET, i)) * float(draws.rows - i)
        if found < draws.wanted and chance < float(draws.wanted - found):
            draws.chosen[tree * draws.wanted + found] = i
            found += 1
    return found


@inline
def draw_by_turns(key, tree, draws):
    """Draw row after row; one that comes again is drawn anew, unless rows are replaced. Returns how many."""
    for slot in range(draws.slots):
        draws.seen[slot] = -1
    found = np.int64(0)
    draw = np.int64(0)
    last = 16 * draws.wanted + SPARE_DRAWS
    while found < draws.wanted and (draws.weights == 0 or draw < last):
        row = drawn_row(random_bits(key, PURPOSE_FEW, draw), draws)
        draw += 1
        if row < draws.rows and (draws.replace != 0 or is_new(row, draws)):
            draws.chosen[tree * draws.wanted + found] = row
            found += 1
    return found


@kernel
def draw_few(seed: i64, first: i64, draws: Draws):
    """Draw the rows of trees first, first + 1, ...

    Each row that is left has, at every draw, a chance in proportion to its weight. found[t] tells how many rows tree t got: all,
    unless a few rows have nearly all of the weight.
    """
    most = draws.replace == 0 and draws.weights == 0 and 2 * draws.wanted >= draws.rows
    for t in range(draws.trees):
        key = seed_of_tree(np.int64(seed), first + t)
        draws.keys[t] = key
        draws.found[t] = draw_most(key, t, draws) if most else draw_by_turns(key, t, draws)
