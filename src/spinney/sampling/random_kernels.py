"""Random numbers that depend only on what they are for: (seed, purpose, position), never on order or threads."""

import numpy as np

from spinney.jit.kernel import inline

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
    """Keep `wanted` of the `count` numbers at `at`, each set equally likely, order kept; returns how many."""
    needed = wanted
    kept = 0
    for i in range(count):
        u = unit(random_bits(seed, purpose, i))
        if u * float(count - i) < float(needed):
            numbers[at + kept] = numbers[at + i]
            kept += 1
            needed -= 1
    return kept
