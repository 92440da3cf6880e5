"""The bag of a tree of a forest: how often it has each row."""

from spinney.jit import i32, i64, kernel, out
from spinney.jit.inline import inline
from spinney.sampling.kernels.purposes import PURPOSE_BAG, PURPOSE_SUBSET, PURPOSE_TREE
from spinney.sampling.kernels.random import LOW_32, random_bits, unit


@inline
def seed_of_tree(seed, tree):
    """Seed of everything drawn for one tree."""
    return random_bits(seed, PURPOSE_TREE, tree)


@inline
def fill_counts(seed, rows, drawn, replace, counts, at):
    """Draw so many of the rows, each draw of all rows or each row once at most, and count how often each one comes.

    The seed is that of the tree.
    """
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
