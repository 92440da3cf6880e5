"""Rows in a random order."""

from spinney.jit import i64, kernel, out
from spinney.sampling.kernels.purposes import PURPOSE_FOLDS
from spinney.sampling.kernels.random import LOW_32, random_bits


@kernel
def draw_order(count: i64, seed: i64, order: out(i64["count"])):
    """Bring the numbers from 0 to `count` - 1 into a random order, every one equally likely (Fisher and Yates)."""
    for i in range(count):
        # The product stays below 2**63: a data set has less than 2**31 rows.
        j = (((random_bits(seed, PURPOSE_FOLDS, i) >> 32) & LOW_32) * (i + 1)) >> 32
        order[i] = order[j]
        order[j] = i
