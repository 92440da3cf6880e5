"""Bags of rows: bootstrap samples, draws by weight, and small samples of a large table."""

import numpy as np

from spinney.jit import f64, i32, i64, inline, kernel, out, record
from spinney.sampling.kernels.random import (
    GOLDEN,
    LOW_32,
    PURPOSE_BAG,
    PURPOSE_SMALL_SAMPLE,
    PURPOSE_SUBSET,
    PURPOSE_TREE,
    PURPOSE_WEIGHTED_BAG,
    mixed,
    random_bits,
    unit,
)

# --- Bootstrap samples: how often the bag of a tree has each row


@inline
def seed_of_tree(seed, tree):
    """Seed of all draws for one tree."""
    return random_bits(seed, PURPOSE_TREE, tree)


@inline
def fill_counts(seed, rows, drawn, replace, counts, at):
    """Draw rows with replacement or without, and count how often each one is drawn. The seed is that of the tree."""
    if replace != 0:
        for i in range(rows):
            counts[at + i] = 0
        for draw in range(drawn):
            row = (((random_bits(seed, PURPOSE_BAG, draw) >> 32) & LOW_32) * rows) >> 32
            counts[at + row] += 1
    else:
        kept = 0
        for i in range(rows):
            wins = kept < drawn and (
                unit(random_bits(seed, PURPOSE_SUBSET, i)) * float(rows - i) < float(drawn - kept)
            )
            counts[at + i] = 1 if wins else 0
            kept += 1 if wins else 0


@kernel
def count_draws(seed: i64, tree: i64, rows: i64, drawn: i64, replace: i64, counts: out(i32["rows"])):
    """How often a tree's bag has each row."""
    fill_counts(seed_of_tree(seed, tree), rows, drawn, replace, counts, 0)


# --- Draws with replacement, in proportion to weights


BITS_53 = 9007199254740991


@record
class WeightTable:
    """Whole weights of rows, their sums up to each row, and the row at which each cell of `1 << shift` begins."""

    rows: i64
    cells: i64
    shift: i64
    total: i64
    weight: f64["rows"]
    up_to: out(i64["rows"])
    first: out(i32["cells"])


@kernel
def draw_by_weight(seed: i64, tree: i64, drawn: i64, table: WeightTable, counts: out(f64["table.rows"])):
    """How often each row is drawn. A draw is a position in the sum of all weights; its row is looked up from the first row of the
    position's cell on.
    """
    key = seed_of_tree(seed, tree)
    total = np.int64(0)
    cell = np.int64(0)
    for i in range(table.rows):
        total += np.int64(table.weight[i])
        table.up_to[i] = total
        counts[i] = 0.0
        while cell < table.cells and (cell << table.shift) < total:
            table.first[cell] = i
            cell += 1
    for draw in range(drawn):
        bits = (random_bits(key, PURPOSE_WEIGHTED_BAG, draw) >> 11) & BITS_53
        place = min(np.int64(np.floor(float(bits) * (float(total) / 9007199254740992.0))), total - 1)
        row = np.int64(table.first[place >> table.shift])
        while table.up_to[row] <= place:
            row += 1
        counts[row] += 1.0


# --- Small samples, in a time that depends on how many rows are drawn and not on how many there are


# Draws besides 16 for each row wanted, after which the rest is left to `bags._finish`: weights are very unequal.
SPARE_DRAWS = 1024
UNIT_53 = 1.1102230246251565e-16
MASK_53 = 9007199254740991


@record
class SmallSamples:
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
    found: out(i64["trees"])  # rows that were drawn of those wanted
    keys: out(i64["trees"])  # seed of all draws for each tree


@inline
def fine_unit(bits):
    """53 of 64 random bits as a number in [0, 1)."""
    return float((bits >> 11) & MASK_53) * UNIT_53


@inline
def drawn_row(bits, samples):
    """The row that random bits choose, or the number of rows where rounding led beyond the last one."""
    if samples.weights == 0:
        return (((bits >> 32) & LOW_32) * samples.rows) >> 32
    wanted = fine_unit(bits) * samples.cumulative[samples.rows - 1]
    low = np.int64(0)
    high = samples.rows
    while low < high:
        middle = (low + high) >> 1
        if samples.cumulative[middle] > wanted:
            high = middle
        else:
            low = middle + 1
    return low


@inline
def is_new(row, samples):
    """Whether a row is drawn for the first time; it is put into the hash table `seen`."""
    slot = mixed(row * GOLDEN) & (samples.slots - 1)
    while samples.seen[slot] >= 0:
        if samples.seen[slot] == row:
            return False
        slot = (slot + 1) & (samples.slots - 1)
    samples.seen[slot] = row
    return True


@inline
def draw_most(key, tree, samples):
    """Draw half of the rows or more: row after row, so that every set is equally likely. Returns how many."""
    found = np.int64(0)
    for i in range(samples.rows):
        chance = fine_unit(random_bits(key, PURPOSE_SUBSET, i)) * float(samples.rows - i)
        if found < samples.wanted and chance < float(samples.wanted - found):
            samples.chosen[tree * samples.wanted + found] = i
            found += 1
    return found


@inline
def draw_by_turns(key, tree, samples):
    """Draw one row after another; a row that is drawn again is skipped, unless rows are replaced. Returns how many."""
    for slot in range(samples.slots):
        samples.seen[slot] = -1
    found = np.int64(0)
    draw = np.int64(0)
    last = 16 * samples.wanted + SPARE_DRAWS
    while found < samples.wanted and (samples.weights == 0 or draw < last):
        row = drawn_row(random_bits(key, PURPOSE_SMALL_SAMPLE, draw), samples)
        draw += 1
        if row < samples.rows and (samples.replace != 0 or is_new(row, samples)):
            samples.chosen[tree * samples.wanted + found] = row
            found += 1
    return found


@kernel
def draw_small_samples(seed: i64, first: i64, samples: SmallSamples):
    """Draw the rows of trees first, first + 1, ...

    Each row that is left has, at every draw, a chance in proportion to its weight. found[t] is the number of rows of tree t: all,
    unless a few rows have nearly all of the weight.
    """
    most = samples.replace == 0 and samples.weights == 0 and 2 * samples.wanted >= samples.rows
    for t in range(samples.trees):
        key = seed_of_tree(np.int64(seed), first + t)
        samples.keys[t] = key
        samples.found[t] = draw_most(key, t, samples) if most else draw_by_turns(key, t, samples)
