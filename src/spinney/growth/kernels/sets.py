"""Sets of categories, as bits."""

import numpy as np

from spinney.jit.inline import inline


@inline
def has_bit(bits, number):
    """1 if a number is in a set."""
    return (bits[number >> 6] >> (number & 63)) & 1


@inline
def add_bit(bits, number):
    """Put a number into a set."""
    bits[number >> 6] |= np.int64(1) << (np.int64(number) & 63)


@inline
def copy_bits(words, source, target):
    """Copy a set."""
    for w in range(words):
        target[w] = source[w]
