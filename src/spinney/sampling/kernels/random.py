"""Random numbers that depend only on what they are for: (seed, purpose, position), never on order or threads."""

import numpy as np

from spinney.jit.intrinsics import bits_of
from spinney.jit.inline import inline
from spinney.jit.math import log

GOLDEN = -7046029254386353131
MIX_1 = -4658895280553007687
MIX_2 = -7723592293110705685
LOW_32 = 4294967295


@inline
def mixed(key):
    """Scramble 64 bits (splitmix64's finaliser)."""
    z = np.int64(key)
    z = (z ^ ((z >> 30) & 17179869183)) * MIX_1
    z = (z ^ ((z >> 27) & 137438953471)) * MIX_2
    return z ^ ((z >> 31) & 8589934591)


@inline
def random_bits(seed, purpose, position):
    """64 random bits for a position of a purpose."""
    return mixed(mixed(seed + np.int64(purpose) * GOLDEN) + np.int64(position + 1) * GOLDEN)


@inline
def unit(bits):
    """The high 32 of 64 random bits as a number in [0, 1)."""
    return float((bits >> 32) & LOW_32) * 2.3283064365386963e-10


@inline
def choose(numbers, at, count, wanted, seed, purpose):
    """Keep `wanted` of the `count` numbers at `at`, each set equally likely, order kept; returns how many.

    What stands behind them means nothing any more.
    """
    kept = 0
    for i in range(count):
        wins = unit(random_bits(seed, purpose, i)) * float(count - i) < float(wanted - kept)
        # Written in any case, which is faster than asking: the next one that wins takes its place.
        numbers[at + kept] = numbers[at + i]
        kept += 1 if wins else 0
    return kept


@inline
def choose_by_weight(numbers, at, count, wanted, seed, purpose, weights, keys, keys_at):
    """As `choose`, one after another in proportion to the weight of each number; those of weight 0 are left out.

    Every number gets a waiting time, exponential with its weight as rate, and the shortest ones win (Efraimidis and Spirakis).
    """
    able = 0
    for i in range(count):
        weight = weights[numbers[at + i]]
        # Half a step up, so that no number is 0.
        waiting = -log(unit(random_bits(seed, purpose, i)) + 1.1641532182693481e-10) / (weight if weight > 0.0 else 1.0)
        keys[keys_at + i] = waiting if weight > 0.0 else float("inf")
        able += 1 if weight > 0.0 else 0
    needed = min(wanted, able)
    # The longest time that wins, by bisection: bits of positive floats have the order of the floats.
    low = np.int64(0)
    high = bits_of(float("inf"))
    while low < high:
        middle = low + ((high - low) >> 1)
        within = 0
        for i in range(count):
            within += 1 if bits_of(keys[keys_at + i]) <= middle else 0
        if within >= needed:
            high = middle
        else:
            low = middle + 1
    shorter = 0
    for i in range(count):
        shorter += 1 if bits_of(keys[keys_at + i]) < low else 0
    equal = needed - shorter
    kept = 0
    for i in range(count):
        key = bits_of(keys[keys_at + i])
        wins = key < low or (key == low and equal > 0 and weights[numbers[at + i]] > 0.0)
        if wins:
            equal -= 1 if key == low else 0
            numbers[at + kept] = numbers[at + i]
            kept += 1
    return kept
