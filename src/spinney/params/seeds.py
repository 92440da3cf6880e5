"""Seeds, and what they are drawn from."""

from __future__ import annotations

from typing import TypeGuard, Union

import numpy as np

from spinney.params.rows import INT32

Source = Union["np.random.RandomState", "np.random.Generator"]
SeedLike = int | Source | None


def is_drawn(seed: object) -> TypeGuard[Source]:
    """Whether a seed is to be drawn from a source of random numbers, which then goes on from its state.

    Examples
    --------
    >>> is_drawn(np.random.default_rng(3)), is_drawn(3), is_drawn(None)
    (True, False, False)
    """
    if seed is None or isinstance(seed, int):
        return False  # without a look at `np.random`, which NumPy imports at its first use, in 8 ms
    return isinstance(seed, np.random.RandomState | np.random.Generator)


def draw_seed(source: Source) -> int:
    """The next seed of a source of random numbers, from 0 to 2**31 - 2.

    Examples
    --------
    >>> draw_seed(np.random.default_rng(3)) == int(np.random.default_rng(3).integers(2**31 - 1))
    True
    """
    return int(source.integers(INT32) if isinstance(source, np.random.Generator) else source.randint(INT32))
